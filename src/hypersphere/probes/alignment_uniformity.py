"""Alignment and uniformity of embeddings (Wang & Isola 2020)."""

from hypersphere.arguments import PositiveFloat, PositiveInt
from hypersphere.datasets.types import TEST
from hypersphere.objectives.alignment import alignment
from hypersphere.objectives.uniformity import uniformity
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import directions
from hypersphere.probes.result import ProbeResult
from hypersphere.probes.view_pairs import view_pairs

MEASURES = ("alignment", "uniformity")
RUN = True


def alignment_uniformity(
    frozen: Frozen, *, images: PositiveInt = 2000, power: PositiveFloat = 2.0, t: PositiveFloat = 2.0
) -> ProbeResult:
    """The two losses of Wang & Isola 2020 (Sec. 4.1) as measures, on two views of test images.

    Args:
        images: time and memory grow with their square.
        power: of the distance in alignment.
        t: inverse width of uniformity's Gaussian, per unit of squared distance.

    Returns:
        ``alignment``, between 0 and 2^power, and ``uniformity``, between -4t and 0, both better if lower.
    """
    found = view_pairs(frozen, TEST, images, least=2)
    a, b = directions(found.first), directions(found.second)
    values = {"alignment": float(alignment(a, b, power=power)), "uniformity": float(uniformity(a, b, t=t))}
    return ProbeResult(values, n=len(a))
