"""Networks from images [n, 3, h, w] to features [n, feature_dim]. No heads, no losses."""
