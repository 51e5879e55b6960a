"""``hypersphere probe``: what somebody else's encoder is worth, by stated protocols, as a page and a sealed record."""
