"""What is said of how numbers were made, in words."""

from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest

from hypersphere.report import notes, pages, words


def protocol(world: Any, name: str) -> str:
    """Of an artifact of the fixture's first paper."""
    return notes.protocol(world.plan, world.plan.config.papers["alpha"], name)


def test_a_protocol_is_that_of_the_runs_at_this_scale(quick: Any, published: Any) -> None:
    """Read off the fixture's YAML by hand: 100 epochs become 10, a batch of 64 is halved."""
    assert protocol(quick, "table1") == "Protocol: encoder resnet8; Plain 10 epochs, batch 32; probed by knn (k 20)."
    assert protocol(published, "table1") == protocol(quick, "table1").replace("10 ep", "100 ep").replace("32", "64")


def test_settings_that_a_sweep_varies_are_all_named(quick: Any) -> None:
    assert "Plain 10 epochs, batch 32, 64 (2 × 32);" in protocol(quick, "sweep")


def test_accumulated_batches_say_of_what(quick: Any) -> None:
    assert "Large 10 epochs, batch 64 (4 × 16);" in protocol(quick, "later")


@pytest.mark.parametrize("name", ["only_faces", "robustness", "texts", "skipped"])
def test_what_no_cell_is_measured_of_was_not_run(quick: Any, name: str) -> None:
    assert protocol(quick, name) == "Protocol: not run at this scale."


@pytest.mark.parametrize(
    ("values", "text"),
    [(["64"], "64"), (["64", "64", "128"], "64, 128"), (list("12345"), "1 to 5"), ([], "")],
)
def test_several_values(values: list[str], text: str) -> None:
    assert words.several(values) == text


def test_one_epoch_is_singular_in_a_protocol(make: Any) -> None:
    assert "Plain 1 epoch, batch 32;" in protocol(make(epochs=1), "table1")


def test_seeds_are_those_of_the_artifacts_own_list(quick: Any) -> None:
    config = quick.plan.config
    assert notes.seeds(config.scale.seeds.sweeps) == "n = 1 (seed 0)"
    assert pages.scale(quick.results)["seeds"] == "n = 2 (seeds 0, 1); in sweeps n = 1 (seed 0)"


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
