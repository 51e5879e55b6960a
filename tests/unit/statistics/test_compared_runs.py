"""Measures that compare a run with the baseline of its seed: mCE in an artifact's tables."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from hypersphere.errors import HypersphereError
from hypersphere.statistics import measure

from .world import PAPER, World, at

Make = Callable[..., World]
WAYS = ("corruption=none", "corruption=fog;severity=1", "corruption=fog;severity=2", "corruption=snow;severity=1")
READINGS = tuple(f"augmentation={name};{way}" for name in ("standard", "augmix") for way in WAYS)
TABLE: dict[str, Any] = {
    "draw": "table",
    "title": "Corruptions",
    "rows": {"variant": ["default", "cut3"], "augmentation": ["standard", "augmix"]},
    "columns": {"measure": ["mce", "relative_mce"]},
    "fixed": {"method": "simclr", "dataset": "ten"},
    "baseline": {"variant": "default", "augmentation": "standard"},
    "by": "corruptions",
}
DOCUMENT: dict[str, Any] = {
    "evaluations": {**PAPER["evaluations"], "corruptions": {"probe": {"name": "corruption"}}},
    "artifacts": {"robust": TABLE},
}


def say(world: World, variant: str, errors: list[tuple[float, ...] | None]) -> None:
    """The errors of a variant at ``WAYS``, for each seed; half of them with AugMix. None: its run diverged."""
    for cell, values in zip(
        world.cells("robust", at(variant=variant, augmentation="standard", measure="mce")), errors, strict=True
    ):
        assert cell.run is not None
        assert cell.target is not None
        if values is None:
            world.status[cell.run.name] = "diverged"
            continue
        digest = world.plan.protocols["norms"]["corruptions"].digest
        said: dict[tuple[int, str, str, str], float | None] = {
            (cell.epoch, cell.target.name, "corruption_error", reading): value
            for reading, value in zip(READINGS, (*values, *(value / 2 for value in values)), strict=True)
        }
        world.said[cell.run.name, digest] = said


def test_each_seed_is_compared_with_its_own_baseline(make_world: Make) -> None:
    world = make_world(seeds=[0, 1], paper=DOCUMENT)
    say(world, "default", [(10, 20, 40, 30), (10, 30, 30, 40)])
    say(world, "cut3", [(10, 30, 60, 30), (20, 30, 30, 20)])
    world.measure("robust")
    table = world.table("robust", "measurements")
    for variant, name, augmentation, expected in (
        ("default", "mce", "standard", [100, 100]),
        ("default", "relative_mce", "standard", [100, 100]),
        ("default", "mce", "augmix", [50, 50]),  # over the errors without AugMix
        ("cut3", "mce", "standard", [100 * (90 / 60 + 1) / 2, 100 * (1 + 20 / 40) / 2]),
        ("cut3", "relative_mce", "standard", [100 * (70 / 40 + 1) / 2, 100 * (20 / 40 + 0) / 2]),
        ("cut3", "relative_mce", "augmix", [50 * (70 / 40 + 1) / 2, 50 * (20 / 40 + 0) / 2]),
    ):
        rows = table.loc[at(variant=variant, augmentation=augmentation, measure=name)]
        assert rows["value"].tolist() == pytest.approx(expected)
        assert rows["n_test"].tolist() == [100, 100]
    assert not table["coordinates"].str.contains("control").any()


def test_without_either_run_there_is_no_number(make_world: Make) -> None:
    world = make_world(seeds=[0, 1], paper=DOCUMENT)
    say(world, "default", [None, (10, 30, 30, 40)])
    say(world, "cut3", [(10, 30, 60, 30), None])
    world.measure("robust")
    rows = world.table("robust", "measurements").loc[at(variant="cut3", augmentation="standard", measure="mce")]
    assert rows["status"].tolist() == ["diverged", "diverged"]
    assert all(map(math.isnan, rows["value"]))


def test_a_baseline_that_is_not_measured_is_a_sentence(make_world: Make) -> None:
    world = make_world(seeds=[0], paper=DOCUMENT)
    world.write("robust")
    measured = [cell for cell in world.plan.artifacts["norms", "robust"] if "cut3" in cell.text]
    world.plan.artifacts["norms", "robust"][:] = measured
    with pytest.raises(HypersphereError, match=r"^norms/robust: .*has no measured baseline to compare with$"):
        measure.build(world.plan, "norms", "robust")


def test_an_artifact_must_name_its_baseline(make_world: Make) -> None:
    table = {key: value for key, value in TABLE.items() if key != "baseline"}
    with pytest.raises(HypersphereError, match=r"baseline: mce compares with one; name its cell"):
        make_world(paper=DOCUMENT | {"artifacts": {"robust": table}})
