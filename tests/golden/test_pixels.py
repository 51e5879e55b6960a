"""Which published runs normalise pixels, and by which mean and deviation: as the documents, or the code that they take
settings from, have it.
"""

import pytest

from hypersphere.config.recipe import Normalisation

from .published import planned_cells

CIFAR = Normalisation(mean=(0.4914, 0.4822, 0.4465), std=(0.2023, 0.1994, 0.2010))
"""As in the code of debiased and of hard-negative contrastive learning."""
IMAGENET = Normalisation(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))
"""torchvision's."""


def expected(paper: str, method: str, dataset: str) -> Normalisation | None:
    if paper == "double_metric":  # App. C.1 names it, without numbers (D19)
        return IMAGENET if dataset == "tiny_imagenet" else CIFAR
    # the compared methods' recommended values (L32); CMC's streams convert colours themselves
    if paper == "lmcl":
        of_streams = dataset == "imagenet100" and method in ("cmc", "dcl", "hcl")
        return None if of_streams else IMAGENET if dataset == "imagenet100" else CIFAR
    if paper == "lecture" and method in ("end_to_end", "memory_bank", "moco"):  # MoCo's recipe
        return IMAGENET
    return None  # norms: its authors' code has none (N44); margins and SimCLR name none


@pytest.mark.parametrize(
    "paper", ["margins", "embedding_norms", "lmcl", "double_metric", "lecture"]
)
def test_pixels_are_normalised_as_the_document_or_its_sources_say(paper: str) -> None:
    """Of every printed table and figure; the recipe is the published one, whatever open choices vary."""
    compared = 0
    for cell in planned_cells(paper):
        if (
            cell.run is not None
            and cell.run.kind == "image"
            and not str(cell.coordinates["variant"]).startswith("open_")
        ):
            named = str(cell.coordinates["method"]), str(cell.coordinates["dataset"])
            assert cell.run.views.normalisation == expected(paper, *named), cell.text
            compared += 1
    assert compared > 50
