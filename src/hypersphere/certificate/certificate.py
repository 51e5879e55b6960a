"""Everything that is measured of one encoder on one dataset, and its controls, as one value."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere.certificate.claims import Accuracy, Claim, Measure, Verdict, accuracy, judge
from hypersphere.certificate.encoder import resized
from hypersphere.config.recipe import Views
from hypersphere.datasets.store import Prepared
from hypersphere.probes.alignment_uniformity import alignment_uniformity
from hypersphere.probes.frozen import Foreign, Frozen
from hypersphere.probes.geometry import geometry
from hypersphere.probes.knn import knn
from hypersphere.probes.linear import ITERATIONS, PENALTY, linear

ENCODER, UNTRAINED, PIXELS = "this encoder", "untrained", "raw pixels"
"""What is measured: the encoder, the same network with weights drawn from a seed, and the images as they are."""
VIEWS = Views()
"""How two views of an image are drawn for the geometry: with the defaults of ours."""
TEMPERATURE = 0.1
LARGEST = 32
"""The side, in pixels, to which larger images are reduced before they are measured as raw pixels."""
GEOMETRY = ("effective_rank", "alignment", "uniformity", "norm")
"""The measures of two views of test images that a certificate shows."""

Accuracies = Mapping[Measure, Accuracy]


@dataclass(frozen=True)
class Judged:
    """A claim, what is found, and where the claim lies."""

    claim: Claim
    found: Accuracy
    verdict: Verdict


@dataclass(frozen=True)
class Certificate:
    """What one encoder reaches. Accuracies are in percent, with intervals over test images."""

    accuracies: Mapping[str, Accuracies]
    """By what is measured: ``ENCODER``, ``UNTRAINED`` and ``PIXELS``."""
    geometry: Mapping[str, Mapping[str, float]]
    """The measures ``GEOMETRY`` of two views, by what is measured; raw pixels have none."""
    claims: tuple[Judged, ...]

    @property
    def overclaimed(self) -> bool:
        """Whether a claim lies above its interval."""
        return any(one.verdict == "above the interval" for one in self.claims)

    def not_above(self, measure: Measure) -> list[str]:
        """The controls that the encoder is not shown to be above: its interval reaches down to their accuracy."""
        low = self.accuracies[ENCODER][measure].low
        controls = (UNTRAINED, PIXELS)
        return [name for name in controls if self.accuracies[name][measure].value >= low]


class Pixels(nn.Module):
    """The control: images as vectors, reduced to at most ``LARGEST`` pixels a side."""

    def forward(self, images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n d"]:
        """One vector for each image."""
        if images.shape[-1] > LARGEST:
            images = resized(images, LARGEST)
        return images.flatten(1)


def measure(
    encoder: nn.Module,
    untrained: nn.Module,
    data: Prepared,
    device: torch.device,
    k: int,
    claims: tuple[Claim, ...],
    say: Callable[[str], None],
) -> Certificate:
    """Measure an encoder and its controls; nothing of them is trained.

    Args:
        encoder: maps [n, 3, h, w] to [n, d].
        untrained: the same network with its initial weights.
        k: neighbours that vote.
        say: is told what was measured, as soon as it is.
    """
    accuracies: dict[str, Accuracies] = {}
    shapes: dict[str, Mapping[str, float]] = {}
    for name, module in ((ENCODER, encoder), (UNTRAINED, untrained), (PIXELS, Pixels())):
        frozen = Frozen(module, nn.Identity(), data, device, run=Foreign((VIEWS, VIEWS)))
        found = _accuracies(frozen, k)
        accuracies[name] = found
        say(", ".join(f"{name}: {one} {value.value:.1f}" for one, value in found.items()))
        if name != PIXELS:
            shapes[name] = _geometry(frozen)
    judged = []
    for claim in claims:
        found_of_it = accuracies[ENCODER][claim.measure]
        judged.append(Judged(claim, found_of_it, judge(claim, found_of_it)))
    return Certificate(accuracies, shapes, tuple(judged))


def _accuracies(frozen: Frozen, k: int) -> Accuracies:
    """The linear probe and the vote of the nearest neighbours."""
    fitted = linear(frozen)
    voted = knn(frozen, k=k, temperature=TEMPERATURE)
    return {
        "linear": accuracy(fitted.values["linear_top1"], fitted.n),
        "knn": accuracy(voted.values["knn_top1"], voted.n),
    }


def _geometry(frozen: Frozen) -> Mapping[str, float]:
    """The shape of the features on the sphere, of two views of at most 2,000 test images."""
    values = geometry(frozen).values | alignment_uniformity(frozen).values
    return {name: values[name] for name in GEOMETRY}


def protocols(k: int) -> dict[str, Any]:
    """How the accuracies are measured, for the record."""
    return {
        "linear": {"penalty": PENALTY, "iterations": ITERATIONS, "fitted_on": "all train images"},
        "knn": {"k": k, "temperature": TEMPERATURE},
        "views": VIEWS.model_dump(mode="json"),
    }
