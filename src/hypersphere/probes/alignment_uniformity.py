"""Alignment and uniformity of embeddings (Wang & Isola 2020)."""

from hypersphere.objectives.alignment import alignment
from hypersphere.objectives.uniformity import uniformity
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import directions
from hypersphere.probes.result import ProbeResult
from hypersphere.probes.view_pairs import view_pairs

MEASURES = ("alignment", "uniformity")


def alignment_uniformity(frozen: Frozen) -> ProbeResult:
    """The two losses of Wang & Isola 2020 (Sec. 4.1) as measures, on two views of test images.

    Returns:
        ``alignment``, the mean squared distance, between 0 and 4; and ``uniformity``, for a Gaussian of exp(-2 times
        the squared distance), between -8 and 0. Both are better if lower.
    """
    a, b = (directions(side) for side in view_pairs(frozen)[:2])
    values = {
        "alignment": float(alignment(a, b, power=2.0)),
        "uniformity": float(uniformity(a, b, t=2.0)),
    }
    return ProbeResult(values, n=len(a))
