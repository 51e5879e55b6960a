"""Encoders of several digits are probed on images of one digit (lecture, Tables 3 and 4; erratum S15)."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from hypersphere.config.cells import Cell
from hypersphere.config.claims import Claim, load
from hypersphere.config.run import Dataset
from hypersphere.datasets import multidigits as module
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays, Split
from hypersphere.probes.frozen import PROBE

from .released import ROOT, released

SCALES = ("paper", "laptop", "quick")
"""Those that train on MultiDigits."""
FEW = 20
CANVAS = 112
"""Pixels, where a set names no others (slide on larger objects, Fig. 2b)."""
PLACE = re.compile(r"lecture\.t4\.(?P<row>.+)\.multidigits\.digit(?P<digit>[12])\.size\d+")
"""The id of a printed number of Table 4."""
Digits = Callable[[Dataset], tuple[int, int]]


class Probed(NamedTuple):
    """A cell of an encoder that is trained on MultiDigits."""

    trained: dict[str, Any]
    """How its training images are composed."""
    target: Dataset
    """What is probed."""
    cell: Cell

    @property
    def number(self) -> tuple[object, ...]:
        """What its value depends on: cells with equal ones show one measured number."""
        cell = self.cell
        assert cell.run
        assert cell.how
        return cell.run.name, cell.epoch, self.target.name, cell.how.digest, cell.reading


@pytest.fixture
def digits(monkeypatch: pytest.MonkeyPatch) -> Digits:
    """A function: canvas and side of the one digit of each image that a probe of a set is fitted on or asked about.

    In place of MNIST are full squares, as bright as their class. The function looks at the pixels alone: what is not
    black is one square, and its brightness is that of the label, so that a network can read every image.
    """
    shades = (np.arange(10) + 1) * 25
    squares = np.broadcast_to(shades[:, None, None, None], (10, 28, 28, 3)).astype(np.uint8)
    scans = Split(squares, {CLASS: np.arange(10)})
    about = {"source": "squares", "licence": "none", "citation": "none"}
    monkeypatch.setattr(
        module, "mnist", lambda root, download: Arrays({TRAIN: scans, TEST: scans}, {}, about)
    )

    def seen(dataset: Dataset) -> tuple[int, int]:
        assert dataset.source is not None
        asked = {**dataset.source.parameters, "scans": "mnist", "train": FEW, "test": FEW}
        splits = module.multidigits(Path("unused"), False, **asked).splits
        found = set()
        for split in (splits.get(PROBE, splits[TRAIN]), splits[TEST]):
            for image, label in zip(split.images[np.arange(FEW)], split.labels[CLASS], strict=True):
                rows, columns = np.nonzero(image.any(axis=2))
                side = int(np.ptp(rows)) + 1
                assert (int(np.ptp(columns)) + 1, len(rows)) == (side, side**2), (
                    f"{dataset.name}: not one digit"
                )
                assert np.unique(image[rows, columns]).tolist() == [shades[label]], dataset.name
                found.add((len(image), side))
        assert len(found) == 1, f"{dataset.name}: {found}"
        return found.pop()

    return seen


def probed(scale: str) -> list[Probed]:
    """The lecture's cells of such encoders."""
    found = []
    for cell in released(scale).cells:
        source = cell.run.dataset.source if cell.run else None
        if (
            cell.paper == "lecture"
            and source
            and source.name == "multidigits"
            and cell.how
            and cell.target
        ):
            found.append(Probed(source.parameters, cell.target, cell))
    assert found
    return found


def table_4(scale: str) -> Iterator[tuple[Claim, re.Match[str], Probed]]:
    """The printed numbers of Table 4 that a scale has a cell for, with the parts of their ids."""
    cells = {(one.cell.artifact, one.cell.text): one for one in probed(scale)}
    claims = load(ROOT / "papers" / "lecture" / "claims.csv")
    for claim in claims:
        place, one = PLACE.fullmatch(claim.id), cells.get((claim.artifact, claim.text))
        if place and one:
            yield claim, place, one


@pytest.mark.parametrize("scale", SCALES)
def test_a_probe_sees_one_digit_on_the_canvas_of_the_training_images(
    scale: str, digits: Digits
) -> None:
    pairs = {
        (one.trained.get("canvas", CANVAS), one.target.name): one.target for one in probed(scale)
    }
    for (canvas, _), target in pairs.items():
        assert digits(target)[0] == canvas, target.name


@pytest.mark.parametrize("scale", SCALES)
def test_a_number_of_table_4_is_of_the_digit_that_its_row_names(scale: str, digits: Digits) -> None:
    """The first digit has the size of the first one that the encoder was trained on, and so has the second."""
    seen = set()
    for claim, place, one in table_4(scale):
        _, side = digits(one.target)
        assert side == one.trained["side" if place["digit"] == "1" else "second_side"], claim.id
        seen.add(place["digit"])
    assert seen == {"1", "2"}


@pytest.mark.parametrize("scale", SCALES)
def test_two_digits_of_equal_size_are_one_number(scale: str) -> None:
    """They are printed equal in every row, for the untrained network too. The test reads what a number depends on."""
    printed: dict[str, list[float | None]] = defaultdict(list)
    measured: dict[str, list[tuple[object, ...]]] = defaultdict(list)
    for claim, place, one in table_4(scale):
        if one.trained["side"] == one.trained["second_side"]:
            printed[place["row"]].append(claim.reported)
            measured[place["row"]].append(one.number)
    assert measured
    for row, numbers in measured.items():
        assert printed[row] == printed[row][:1] * 2, row
        assert numbers == numbers[:1] * 2, row
