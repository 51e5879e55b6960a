"""Exact studies: curves, counts and small simulations without a trained encoder, at their published size."""
