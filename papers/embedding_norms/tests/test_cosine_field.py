"""Gradient fields against Proposition 3.1's formula, steps against Pythagoras, and what must not be counted as held."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from hypersphere.exact.study import ExactStudy
from papers.embedding_norms.studies.cosine_field import compute as cosine_field
from tests.unit.exact.shared import held


@pytest.fixture(scope="module")
def study() -> ExactStudy:
    return cosine_field.cosine_field(None)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_the_field_is_proposition_3_1s(power: float) -> None:
    """(north less its part along z) over ||z||, times ||z||^p."""
    points = cosine_field.lattice()
    for (x, y), found in zip(
        points.tolist(), cosine_field.field(points, power).tolist(), strict=True
    ):
        norm = math.hypot(x, y)
        along = y / norm
        expected = [
            norm ** (power - 1) * (0 - along * x / norm),
            norm ** (power - 1) * (1 - along * y / norm),
        ]
        assert found == pytest.approx(expected, abs=1e-13)


def test_a_step_obeys_pythagoras() -> None:
    """Appendix A.3: the squared norm grows by (rate · sin / norm)²."""
    points = cosine_field.circle(1.0, np.linspace(0.1, 6.2, 50))
    path = cosine_field.descend(points, rate=0.3, steps=5)
    assert torch.equal(path[0], points)
    assert path.shape == (6, 50, 2)
    for before, after in pairwise(path):
        square = before.square().sum(dim=-1)
        sine = before[:, 0] / square.sqrt()
        grown = square + (0.3 * sine) ** 2 / square
        assert after.square().sum(dim=-1).tolist() == pytest.approx(grown.tolist(), rel=1e-12)


def test_the_cosine_on_a_circle_is_the_angles_sine(study: ExactStudy) -> None:
    table = study.tables["figS1"]
    assert table["cosine"].tolist() == pytest.approx(np.sin(table["angle"]).tolist(), abs=1e-12)
    assert sorted(table.loc[table["kind"] == "circle", "radius"].unique()) == [0.5, 1, 2]


def test_every_sentence_holds(study: ExactStudy) -> None:
    """All five follow from Proposition 3.1."""
    assert len(study.answers) == 5
    assert all(holds == places for holds, places in held(study).values())


def test_figure_1_shows_what_its_caption_says(study: ExactStudy) -> None:
    parts = dict(list(study.tables["fig1"].groupby("kind")))
    points = {kind: part[["x", "y"]].to_numpy() for kind, part in parts.items()}
    length = {kind: np.linalg.norm(part, axis=1) for kind, part in points.items()}
    assert length["projection"] == pytest.approx([1.0] * cosine_field.OUTPUTS)
    assert points["projection"] * length["output"][:, None] == pytest.approx(
        points["output"], abs=1e-12
    )
    highlighted = parts["highlighted"]["length"].to_numpy()
    assert highlighted / highlighted[1] == pytest.approx([2, 1, 0.5])
    assert (np.diff(length["trajectory"]) > 0).all()
    assert parts["norm"].groupby("rate")["norm"].last().is_monotonic_increasing


def test_figure_6_shows_both_powers_at_the_same_points(study: ExactStudy) -> None:
    table = study.tables["fig6"]
    plain, scaled = (table[table["power"] == power].reset_index() for power in (0, 1))
    assert plain[["x", "y"]].equals(scaled[["x", "y"]])
    ratio = (scaled["length"] / plain["length"]).to_numpy()
    assert ratio == pytest.approx(np.hypot(plain["x"], plain["y"]).to_numpy(), rel=1e-12)
