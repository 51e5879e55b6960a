"""Theorems and identities, as statements that random inputs can contradict."""
