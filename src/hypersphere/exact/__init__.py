"""What a theorem and an exact study are, and how they are run: numbers without data or trained encoders.

It knows no paper: theorems and studies of papers are in their folders (``papers/<id>/theorems.py`` and ``studies/``).
"""
