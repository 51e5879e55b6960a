"""What is said of how numbers were made, in words."""

from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest

from hypersphere.report import notes, pages, words


@pytest.mark.parametrize(
    ("values", "text"),
    [(["64"], "64"), (["64", "64", "128"], "64, 128"), (list("12345"), "1 to 5"), ([], "")],
)
def test_several_values(values: list[str], text: str) -> None:
    assert words.several(values) == text


def test_cells_with_other_seeds_are_said_to_have_them(quick: Any) -> None:
    """The conditions of an artifact are those of its own measurements, whatever the scale asks for."""

    def conditions(**seeds: list[int]) -> str:
        rows = [{"coordinates": cell, "seed": float(seed)} for cell, some in seeds.items() for seed in some]
        rows.append({"coordinates": "chance", "seed": float("nan")})
        runs = pd.DataFrame([{"device": "cpu", "torch": "2"}])
        about = SimpleNamespace(table={"measurements": pd.DataFrame(rows), "runs": runs}.get)
        return notes.conditions(cast(Any, about)).partition(";")[0]

    assert conditions(a=[0, 1], b=[0, 1]) == "n = 2 (seeds 0, 1)"
    assert conditions(a=[0], b=[0]) == "n = 1 (seed 0)"
    assert conditions(a=[0, 1, 2], b=[0]) == "n = 1 to 3 (of seeds 0, 1, 2)"
    assert conditions(a=[0, 1], b=[1, 2]) == "n = 2 (of seeds 0, 1, 2)"


def test_equal_lists_of_seeds_are_said_once(make: Any) -> None:
    assert pages.scale(make(seeds=[4, 7]).results)["seeds"] == "n = 2 (seeds 4, 7)"


def standing(world: Any, name: str) -> str:
    """A dataset with what is measured in its place, in the fixture's first paper."""
    config = world.plan.config
    return words.standing(config, config.papers["alpha"], {"dataset": name}, ["dataset"])


def test_what_stands_for_a_dataset(quick: Any, make: Any) -> None:
    assert standing(quick, "photos") == "digits (for Photos)"
    assert standing(quick, "faces").endswith(" (not run at this scale)")
    assert standing(quick, "undeclared") == "undeclared (not run at this scale)"
    themselves = make(other_datasets="themselves")
    assert standing(themselves, "faces").endswith(" (not run: no loader yet)")
    assert "(" not in standing(themselves, "digits")
