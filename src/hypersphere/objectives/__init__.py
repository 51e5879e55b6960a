"""Losses, maps to logits, gradient transforms and initialisations: one small pure function per equation.

Each is in the file of its name. None of them knows of devices, queues, gathering or configuration, and
``from hypersphere.objectives.nt_xent import nt_xent`` needs torch and numpy alone.

Arguments mean the same everywhere, and a function lists only what it adds or reads otherwise. ``z_a`` and ``z_b`` are
embeddings of two views of n images, not normalised: row i of one is the positive of row i of the other; so are the
predictions ``p`` with their targets ``z``, and the queries ``q`` with their keys ``k``. ``index`` numbers each row's
image in a ``bank``, which has every image's embedding when it was last seen, a constant. ``temperature`` is t, in units
of cosine. ``cosines``, cos theta, are those of n anchors with their m candidates; ``targets``, p, are 1 for an anchor's
positive and 0 for its negatives.

Unless a function says otherwise, a loss is the mean over its anchors, which are all 2n embeddings where it treats the
views alike, and else the n rows of its first argument; logarithms of probabilities are in nats. A map to logits returns
them in nats. All but ``margin_logits`` change gradients alone: their values are those of ``cosine_logits`` bit for bit.

Numerics are the same, too: every log-sum-exp subtracts its maximum, and a zero embedding counts as cosine 0.
"""
