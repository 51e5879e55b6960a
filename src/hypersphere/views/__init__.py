"""Random augmentation: keyed draws, and the operations that they parametrise.

Nothing here knows of methods or of training.
"""
