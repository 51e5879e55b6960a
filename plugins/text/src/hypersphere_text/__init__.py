"""Sentences: corpora and tasks of text, and an encoder that learns from neighbouring sentences (Quick Thoughts)."""
