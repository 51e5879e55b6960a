"""Mean corruption errors after Hendrycks and Dietterich's definitions: by hand, in a table, and from records alone."""

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hypersphere.config import cells as config_cells
from hypersphere.config import records
from hypersphere.config.coordinates import parse
from hypersphere.config.plan import Plan
from hypersphere.config.records import Measurement, Record
from hypersphere.datasets import corrupting as severities
from hypersphere.errors import HypersphereError
from hypersphere.probes import corruption
from hypersphere.statistics import gather, measure
from hypersphere.statistics.corruption_errors import BENCHMARK, CLEAN, corruption_errors, mce

from ...fixtures import Refused
from ...golden.released import released
from .world import PAPER, Make, World, at


def of(clean: float = 0.0, **errors: list[float]) -> dict[tuple[str, int], float]:
    """Errors at severities 1, 2 …"""
    by_place = {
        (name, at): value for name, values in errors.items() for at, value in enumerate(values, 1)
    }
    return {(CLEAN, 0): clean, **by_place}


def test_by_hand() -> None:
    """The mean is of ratios, and is not the ratio of means; without a baseline that errs there is no number."""
    ours, base = of(10, fog=[20, 40], snow=[30, 30]), of(15, fog=[40, 40], snow=[20, 60])
    assert mce(ours, base) == pytest.approx(100 * (60 / 80 + 60 / 80) / 2)
    assert mce(ours, base, relative=True) == pytest.approx(100 * (40 / 50 + 40 / 50) / 2)
    assert mce(of(fog=[80], snow=[10]), of(fog=[40], snow=[20])) == pytest.approx(
        100 * (2 + 0.5) / 2
    )
    for clean in (40, 50):
        assert math.isnan(mce(ours, base | of(clean), relative=True))
    assert math.isnan(mce(ours, of(fog=[0])))


def test_values_are_sorted_by_corruption_and_severity() -> None:
    """Speckle noise is none of the benchmark's fifteen; the number of test images is that of clean ones."""
    said = {
        "augmix;corruption=none": 5,
        "augmix;corruption=fog;severity=1": 6,
        "augmix;corruption=fog;severity=2": 7,
    }
    said |= {
        "augmix;corruption=speckle_noise;severity=2": 90,
        "standard;corruption=fog;severity=1": 91,
    }
    at = {name: parse(f"augmentation={name}", "") for name in said}
    answers = {
        ("corruption_error", at[name]): {"value": value, "n_test": 10.0 * value}
        for name, value in said.items()
    }
    answers["norm", at["augmix;corruption=none"]] = {"value": 2.0, "n_test": 3.0}
    assert corruption_errors(answers, {"augmentation": "augmix"}) == (of(5, fog=[6, 7]), 50)


def test_names_are_those_of_the_datasets_and_of_the_probe() -> None:
    """They are written twice, so that tables are made without importing what makes images."""
    assert severities.BENCHMARK == BENCHMARK
    assert corruption.CLEAN == CLEAN


# In an artifact's tables: each run is compared with the baseline of its seed.

LIKE_FOG, LIKE_SNOW = BENCHMARK[::2], BENCHMARK[1::2]
"""Eight corruptions, whose errors vary with severity, and seven, whose errors do not."""
Errors = tuple[float, float, float, float]
"""On clean images; of corruptions like fog at severities 1 and 4, and at 2 and 5; of those like snow."""
ROBUST: dict[str, Any] = {
    **{"draw": "table", "title": "Corruptions", "by": "corruptions"},
    "rows": {"variant": ["default", "cut3"], "augmentation": ["standard", "augmix"]},
    "columns": {"measure": ["mce", "relative_mce"]},
    "fixed": {"method": "simclr", "dataset": "ten"},
    "baseline": {"variant": "default", "augmentation": "standard"},
}
DOCUMENT = {
    "evaluations": {**PAPER["evaluations"], "corruptions": {"probe": {"name": "corruption"}}},
    "artifacts": {"robust": ROBUST},
}


def mean(like_fog: float, like_snow: float) -> float:
    return 100 * (8 * like_fog + 7 * like_snow) / 15


def say(world: World, variant: str, of_seeds: list[Errors | None]) -> None:
    """The errors of a variant, for each seed; half of them with AugMix. None: its run diverged.

    The mean of those like fog is that of the two which are given.
    """
    cell = at(variant=variant, augmentation="standard", measure="mce")
    for seed, given in enumerate(of_seeds):
        run = world.run("robust", cell, seed)
        if given is None:
            world.status[run] = "diverged"
            continue
        clean, first, second, snow = given
        fog = {1: first, 2: second, 3: (first + second) / 2, 4: first, 5: second}
        of_all = dict.fromkeys(LIKE_FOG, fog) | dict.fromkeys(LIKE_SNOW, dict.fromkeys(fog, snow))
        errors = {
            f"corruption={name};severity={s}": error
            for name, of in of_all.items()
            for s, error in of.items()
        }
        world.said[run, world.plan.protocols["norms"]["corruptions"].digest] = {
            (100, "digits", "corruption_error", f"augmentation={name};{reading}"): share * value
            for name, share in (("standard", 1.0), ("augmix", 0.5))
            for reading, value in [("corruption=none", clean), *errors.items()]
        }


def test_each_seed_is_compared_with_its_own_baseline(make_world: Make) -> None:
    """Without either run there is no number."""
    world, nan = make_world(seeds=[0, 1, 2, 3], paper=DOCUMENT), math.nan
    say(world, "default", [(10, 20, 40, 30), (10, 30, 30, 40), None, (10, 30, 30, 40)])
    say(world, "cut3", [(10, 30, 60, 30), (20, 30, 30, 20), (10, 30, 60, 30), None])
    table = world.tidy("robust")
    for variant, name, augmentation, expected in (
        ("default", "mce", "standard", [100, 100, nan, 100]),
        ("default", "relative_mce", "standard", [100, 100, nan, 100]),
        ("default", "mce", "augmix", [50, 50, nan, 50]),  # over the errors without AugMix
        ("cut3", "mce", "standard", [mean(90 / 60, 1), mean(1, 20 / 40), nan, nan]),
        ("cut3", "relative_mce", "standard", [mean(70 / 40, 1), mean(20 / 40, 0), nan, nan]),
        ("cut3", "relative_mce", "augmix", [mean(70 / 40, 1) / 2, mean(20 / 40, 0) / 2, nan, nan]),
    ):
        rows = table.loc[at(variant=variant, augmentation=augmentation, measure=name)]
        assert rows["value"].tolist() == pytest.approx(expected, nan_ok=True)
        assert (rows["status"] == "diverged").tolist() == [math.isnan(one) for one in expected]
        assert rows["n_test"].dropna().unique().tolist() == [100]
    assert not table["coordinates"].str.contains("control").any()


LACKS = {
    "a severity": "corruption=fog;severity=5",
    "clean images": "corruption=none",
    "the cells": None,
}
WORDS = {
    "a severity": "no corruption_error of fog at severity 5 at epoch 100 on digits",
    "clean images": "no corruption_error of clean images at epoch 100 on digits",
    "the cells": "no measured baseline",
}
"""What an error says of each of ``LACKS``."""


@pytest.mark.parametrize(
    "lacks",
    ["a severity of default", "a severity of cut3", "clean images of cut3", "the cells of default"],
)
def test_an_incomplete_benchmark_or_baseline_is_refused(
    make_world: Make, refused: Refused, lacks: str
) -> None:
    """A severity of the run or of its baseline that is left out of the mean would change it."""
    world = make_world(seeds=[0], paper=DOCUMENT)
    for name in ("default", "cut3"):
        say(world, name, [(10, 20, 40, 30)])
    what, _, lost = lacks.partition(" of ")
    run = world.run("robust", at(variant=lost, augmentation="standard", measure="mce"))
    said = world.said[run, world.plan.protocols["norms"]["corruptions"].digest]
    for key in [key for key in said if LACKS[what] and key[3].endswith(str(LACKS[what]))]:
        del said[key]
    world.write("robust")
    cells = world.plan.artifacts["norms", "robust"]
    if what == "the cells":
        cells[:] = [cell for cell in cells if lost not in cell.text]
    with refused("norms/robust" if what == "the cells" else f"simclr-{lost}-digits-s0-…"):
        measure.build(world.plan, "norms", "robust")
    with pytest.raises(HypersphereError, match=WORDS[what]):
        measure.build(world.plan, "norms", "robust")


# From records alone, of a table of the laptop scale.

KEY = "double_metric", "cifar10_c"
ERRORS = pd.DataFrame(
    [
        (variant, augmentation, corruption, severity)
        for variant, augmentation in itertools.product(("nt_xent", "dm3"), ("standard", "augmix"))
        for corruption, severity in [
            (CLEAN, 0),
            *itertools.product((*BENCHMARK, "speckle_noise"), range(1, 6)),
        ]
    ],
    columns=["variant", "augmentation", "corruption", "severity"],
)
"""Errors of each variant's run, drawn at random."""
ERRORS["value"] = np.random.default_rng(0).uniform(20, 80, len(ERRORS))


@pytest.fixture(scope="module")
def recorded() -> tuple[Plan, dict[str, tuple[Record, ...]]]:
    """The plan, and a record of each run with ``ERRORS``."""
    plan, known = released("laptop"), dict[str, tuple[Record, ...]]()
    for cell in plan.artifacts[KEY]:
        assert cell.run
        assert cell.how
        assert cell.target
        answers = []
        for row in ERRORS[ERRORS["variant"] == cell.coordinates["variant"]].itertuples():
            severity = "" if row.corruption == CLEAN else f";severity={row.severity}"
            answers.append(
                Measurement.model_construct(
                    **{
                        "epoch": cell.epoch,
                        "protocol": cell.how.digest,
                        "target": cell.target.name,
                    },
                    **{
                        "measure": "corruption_error",
                        "value": row.value,
                        "n_test": 500,
                        "status": "finished",
                    },
                    reading=f"augmentation={row.augmentation};corruption={row.corruption}{severity}",
                )
            )
        run = {"name": cell.run.name, "run": cell.run, "plan": "", "evaluations": answers}
        known[cell.run.name] = (Record.model_construct(**run),)
    return plan, known


def run_of(plan: Plan, variant: str) -> str:
    return next(
        c.run.name for c in plan.artifacts[KEY] if c.run and c.coordinates["variant"] == variant
    )


@pytest.mark.parametrize("lost", ["a run", "a severity", "the baseline"])
def test_what_records_lack_is_a_reason_and_ends_nothing(
    recorded: tuple[Plan, dict[str, tuple[Record, ...]]],
    lost: str,
) -> None:
    plan, every = recorded
    base, other = (run_of(plan, variant) for variant in ("nt_xent", "dm3"))
    known = dict(every)
    if lost == "a severity":
        (record,) = known[other]
        fewer = [
            one for one in record.evaluations if "corruption=fog;severity=3" not in one.reading
        ]
        known[other] = (record.model_copy(update={"evaluations": fewer}),)
    else:
        del known[base if lost == "the baseline" else other]
    marked = config_cells.mark(plan.artifacts[KEY], plan.config, known)
    rest = dataclasses.replace(plan, cells=tuple(marked), records=known)
    assert len(
        gather.Measurer(rest).rows(marked, plan.config.papers[KEY[0]].measured[KEY[1]])
    ) < len(marked)
    (reason,) = {cell.missing for cell in marked if cell.run and cell.run.name == other}
    assert reason.endswith("evidence/laptop") or "the record in evidence/laptop" in reason
    assert ("baseline" in reason) == (lost != "a run")


@pytest.mark.parametrize("status", records.WITHOUT_VALUE)
def test_a_record_without_a_value_is_counted_and_not_missing(
    recorded: tuple[Plan, dict[str, tuple[Record, ...]]], status: str
) -> None:
    """It has one row for all readings, and its baseline has a row for each."""
    plan, every = recorded
    name = run_of(plan, "dm3")
    (record,) = every[name]
    none = {"value": None, "n_test": None, "reading": "", "status": status}
    without = [record.evaluations[0].model_copy(update=none)]
    known = every | {name: (record.model_copy(update={"evaluations": without}),)}
    marked = config_cells.mark(plan.artifacts[KEY], plan.config, known)
    rest = dataclasses.replace(plan, cells=tuple(marked), records=known)
    rows = gather.Measurer(rest).rows(marked, plan.config.papers[KEY[0]].measured[KEY[1]])
    statuses = {(row["run"] == name, row["status"]) for row in rows if row["measure"] == "mce"}
    assert statuses == {(True, status), (False, "finished")}


def test_mean_corruption_errors_are_those_of_the_records(
    recorded: tuple[Plan, dict[str, tuple[Record, ...]]],
) -> None:
    """The expected means are of pandas, by the definition: severities are summed before the ratio is taken."""
    plan, known = recorded
    cells = config_cells.mark(plan.artifacts[KEY], plan.config, known)
    of_records = dataclasses.replace(plan, cells=tuple(cells), records=known)
    rows = gather.Measurer(of_records).rows(cells, plan.config.papers[KEY[0]].measured[KEY[1]])
    sums = ERRORS.groupby(["variant", "augmentation", "corruption"])["value"].sum()
    base = sums["nt_xent", "standard"][list(BENCHMARK)]
    found = {}
    for cell, row in zip(cells, rows, strict=True):
        if cell.measure == "mce":
            found[cell.coordinates["variant"], cell.coordinates["augmentation"]] = row["value"]
    assert found["nt_xent", "standard"] == 100
    assert len(found) == 4
    for place, value in found.items():
        assert value == pytest.approx(100 * float((sums[place][list(BENCHMARK)] / base).mean()))
