"""Exact studies at their published size, a folder each: compute.py needs no encoder, draw.py reads its tables."""
