"""A loss of my own, for hypersphere."""
