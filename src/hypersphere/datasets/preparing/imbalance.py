"""Class imbalance: how many training images each class keeps, and which.

Norms paper, Sec. 6: class sizes fall exponentially. Read as "class i keeps int(head · ratio^-i) images, i from 0", the
paper's numbers give 14,736 images of CIFAR-10 (head 5,000, ratio 1.5) and 14,620 of CIFAR-100 (500, 1.034): the
"roughly 15K" of its text. The paper does not say which images are kept; here a keyed permutation per class decides, or,
with ``keep: first``, the official order, as in the authors' code.
"""

import numpy as np
from jaxtyping import Int64

from hypersphere import prng
from hypersphere.config.run import Imbalance
from hypersphere.errors import HypersphereError


def counts(imbalance: Imbalance, classes: int) -> list[int]:
    """Images kept of each class, largest first."""
    return [int(imbalance.head * imbalance.ratio**-i) for i in range(classes)]


def choose(labels: Int64[np.ndarray, "N"], imbalance: Imbalance, classes: int) -> Int64[np.ndarray, "K"]:
    """Original numbers of the kept images, ascending.

    The order in which a class keeps images depends only on the seed and the class, or is the official one: a smaller
    head or a larger ratio keeps a subset.

    Raises:
        HypersphereError: a class has fewer images than it should keep, or would keep none.
    """
    kept = []
    for label, count in enumerate(counts(imbalance, classes)):
        members = np.flatnonzero(labels == label)
        if not 1 <= count <= len(members):
            raise HypersphereError(
                f"imbalance: head {imbalance.head} and ratio {imbalance.ratio:g} keep {count} images of class {label}; "
                f"it has {len(members)}, and must keep at least one"
            )
        if imbalance.keep == "drawn":
            members = members[prng.permutation(len(members), imbalance.seed, "imbalance", label)]
        kept.append(members[:count])
    return np.sort(np.concatenate(kept)).astype(np.int64)
