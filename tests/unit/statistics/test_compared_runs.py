"""Measures that compare a run with the baseline of its seed: mCE in an artifact's tables."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from hypersphere.errors import HypersphereError
from hypersphere.statistics import measure
from hypersphere.statistics.corruption_errors import BENCHMARK

from .world import PAPER, World, at

Make = Callable[..., World]
LIKE_FOG, LIKE_SNOW = BENCHMARK[::2], BENCHMARK[1::2]
"""Eight corruptions, whose errors vary with severity, and seven, whose errors do not."""
Errors = tuple[float, float, float, float]
"""On clean images; of corruptions like fog at severities 1 and 4, and at 2 and 5; of those like snow."""


def errors(clean: float, first: float, second: float, snow: float) -> dict[str, float]:
    """The errors of the whole benchmark, by reading. The mean of those like fog is that of ``first`` and ``second``."""
    at = {1: first, 2: second, 3: (first + second) / 2, 4: first, 5: second}
    fog = {f"corruption={name};severity={s}": at[s] for name in LIKE_FOG for s in at}
    return (
        {"corruption=none": clean} | fog | {f"corruption={name};severity={s}": snow for name in LIKE_SNOW for s in at}
    )


def mean(like_fog: float, like_snow: float) -> float:
    """Over the benchmark's corruptions, in percent."""
    return 100 * (8 * like_fog + 7 * like_snow) / 15


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


def say(world: World, variant: str, of_seeds: list[Errors | None]) -> None:
    """The errors of a variant, for each seed; half of them with AugMix. None: its run diverged."""
    for cell, given in zip(
        world.cells("robust", at(variant=variant, augmentation="standard", measure="mce")), of_seeds, strict=True
    ):
        assert cell.run is not None
        assert cell.target is not None
        if given is None:
            world.status[cell.run.name] = "diverged"
            continue
        digest = world.plan.protocols["norms"]["corruptions"].digest
        said: dict[tuple[int, str, str, str], float | None] = {
            (cell.epoch, cell.target.name, "corruption_error", f"augmentation={name};{way}"): share * value
            for name, share in (("standard", 1.0), ("augmix", 0.5))
            for way, value in errors(*given).items()
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
        ("cut3", "mce", "standard", [mean(90 / 60, 1), mean(1, 20 / 40)]),
        ("cut3", "relative_mce", "standard", [mean(70 / 40, 1), mean(20 / 40, 0)]),
        ("cut3", "relative_mce", "augmix", [mean(70 / 40, 1) / 2, mean(20 / 40, 0) / 2]),
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


@pytest.mark.parametrize("variant", ["default", "cut3"])
def test_an_incomplete_benchmark_is_a_sentence(make_world: Make, variant: str) -> None:
    """Of the run or of its baseline; left out of the mean, a severity would lower it."""
    world = make_world(seeds=[0], paper=DOCUMENT)
    for name in ("default", "cut3"):
        say(world, name, [(10, 20, 40, 30)])
    (cell,) = world.cells("robust", at(variant=variant, augmentation="standard", measure="mce"))
    assert cell.run is not None
    said = world.said[cell.run.name, world.plan.protocols["norms"]["corruptions"].digest]
    for key in [key for key in said if key[3].endswith("corruption=fog;severity=5")]:
        del said[key]
    words = rf"{cell.run.name}.*: no corruption_error of fog at severity 5 at epoch 100 on digits; mce is of the whole"
    with pytest.raises(HypersphereError, match=words):
        world.measure("robust")


def test_a_baseline_that_is_not_measured_is_a_sentence(make_world: Make) -> None:
    world = make_world(seeds=[0], paper=DOCUMENT)
    for name in ("default", "cut3"):
        say(world, name, [(10, 20, 40, 30)])
    world.write("robust")
    measured = [cell for cell in world.plan.artifacts["norms", "robust"] if "cut3" in cell.text]
    world.plan.artifacts["norms", "robust"][:] = measured
    with pytest.raises(HypersphereError, match=r"^norms/robust: .*has no measured baseline to compare with$"):
        measure.build(world.plan, "norms", "robust")


def test_an_artifact_must_name_its_baseline(make_world: Make) -> None:
    table = {key: value for key, value in TABLE.items() if key != "baseline"}
    with pytest.raises(HypersphereError, match=r"baseline: mce compares with one; name its cell"):
        make_world(paper=DOCUMENT | {"artifacts": {"robust": table}})
