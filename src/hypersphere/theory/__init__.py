"""Theorems and identities as statements that draws can contradict."""
