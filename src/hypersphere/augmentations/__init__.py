"""Random augmentation: keyed draws, and the operations that use them. Independent of methods and training."""
