"""Which recorded runs the released tables of the laptop scale show, and how they are compared.

What is expected is read from the tables of evidence by pandas, and computed by scipy and numpy.
"""

import json
from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from hypersphere.config import cells as of_cells
from hypersphere.config import claims as ledger
from hypersphere.config import coordinates, registry, rules
from hypersphere.config.cells import Cell
from hypersphere.config.plan import Plan
from hypersphere.config.records import FOLDER, read_all
from hypersphere.config.run import Run
from hypersphere.statistics import measure
from hypersphere.statistics.judge import Judge

from .released import ROOT, from_records, released

RULES = rules.load(ROOT)
Place = tuple[Any, ...]
"""A run's content without its seed, and what was measured of it: protocol, epoch, target, measure and reading."""


@cache
def recorded() -> dict[Place, dict[int, float]]:
    """The recorded values of the laptop scale by seed; nan where a run diverged."""
    runs, measured = (
        pd.read_csv(ROOT / FOLDER / "laptop" / f"{name}.csv", keep_default_na=False)
        for name in ("runs", "measurements")
    )
    read = {
        key: Run.model_validate_json(text)
        for key, text in zip(runs["key"], runs["run"], strict=True)
    }
    seeds = {key: run.seed for key, run in read.items()}
    as_text = {key: content_of(run) for key, run in read.items()}
    found: dict[Place, dict[int, float]] = defaultdict(dict)
    for row in measured[measured["of"] == "run"].to_dict("records"):
        place = (
            as_text[row["key"]],
            row["protocol"],
            row["epoch"],
            row["target"],
            row["measure"],
            row["reading"],
        )
        found[place].setdefault(seeds[row["key"]], float(row["value"] or "nan"))
    return found


def content_of(run: Run) -> str:
    """A run but for its seed; what was recorded before a field was added has the field's default."""
    return json.dumps(run.model_dump(mode="json", exclude={"seed"}), sort_keys=True)


def values(cell: Cell) -> dict[int, float]:
    """What is recorded of a cell's number, by seed."""
    assert cell.run
    assert cell.how
    assert cell.target
    place = content_of(cell.run), cell.how.digest, cell.epoch, cell.target.name
    return recorded().get((*place, cell.how.of_probe(cell.measure), cell.reading), {})


def shown(plan: Plan, studied: bool) -> dict[tuple[str, str, str], list[Cell]]:
    """The cells of tables and sweeps, or of studies, by their place."""
    found = defaultdict(list)
    for cell in plan.cells:
        if (
            cell.run
            and bool(plan.config.papers[cell.paper].measured[cell.artifact].plan) == studied
        ):
            found[cell.paper, cell.artifact, cell.text].append(cell)
    return found


def seeds(cells: list[Cell]) -> set[int]:
    return {cell.run.seed for cell in cells if cell.run}


def test_a_table_shows_every_recorded_seed_of_its_runs_but_those_of_choices() -> None:
    plan, made = from_records("laptop"), shown(released("laptop"), studied=False)
    tuning = {
        seed for one in plan.config.papers["ours"].studies.values() for seed in one.seeds.tuning
    }
    more = 0
    for place, cells in shown(plan, studied=False).items():
        artifact = plan.config.papers[place[0]].measured[place[1]]
        of_images = bool(registry.artifact_kind(artifact.draw).images)  # which no record has
        if (
            made[place][0].missing
            or of_images
            or cells[0].how is None
            or not isinstance(artifact.seeds, str)
        ):
            continue
        measured = [cell for cell in cells if not cell.missing]
        assert seeds(measured) == values(cells[0]).keys() - tuning, place
        more += len(measured) > len(made[place])
    assert more


def test_a_seed_is_missing_only_if_it_is_declared() -> None:
    plan, scale = from_records("laptop"), released("laptop").config.scale.seeds
    for place, cells in shown(plan, studied=False).items():
        paper, artifact, _ = place
        at_scale = plan.config.at_scale[paper].artifacts.get(artifact)
        own = (at_scale and at_scale.seeds) or plan.config.papers[paper].measured[artifact].seeds
        declared = getattr(scale, own) if isinstance(own, str) else own
        assert seeds([cell for cell in cells if cell.missing]) <= {*declared} <= seeds(cells)
        assert len(seeds(cells)) == len(cells)


def test_a_study_keeps_to_the_seeds_of_its_plan() -> None:
    from_evidence, whole = (
        shown(plan, studied=True) for plan in (from_records("laptop"), released("laptop"))
    )
    assert {place: seeds(cells) for place, cells in from_evidence.items()} == {
        place: seeds(cells) for place, cells in whole.items()
    }


@pytest.mark.parametrize(
    ("paper", "artifact", "variant"),
    [
        ("margins", "table2_knn", "pos"),
        ("embedding_norms", "table5", "gradscale"),
        ("embedding_norms", "table5", "cut9"),
    ],
)
def test_all_runs_of_both_arms_are_compared(paper: str, artifact: str, variant: str) -> None:
    """By scipy's test of Welch of all that is recorded and was not tuned on, the baseline's A/A runs too."""
    plan = from_records("laptop")
    study = plan.config.papers["ours"].studies["step_size"]
    effects = measure.judged_tables(plan, paper, artifact, RULES)["effects"]
    (row,) = (one for one in effects.to_dict("records") if one["variant"] == variant)
    cells = {cell.text: cell for cell in plan.artifacts[paper, artifact] if not cell.missing}
    arms = []
    for text in (row["coordinates"], row["baseline"]):
        arms.append(
            [value for seed, value in values(cells[text]).items() if seed not in study.seeds.tuning]
        )
    expected = stats.ttest_ind(*arms, equal_var=False)
    assert row["effect"] == pytest.approx(np.mean(arms[0]) - np.mean(arms[1]))
    assert row["p"] == pytest.approx(expected.pvalue)
    assert [row["low"], row["high"]] == pytest.approx([*expected.confidence_interval(0.95)])
    assert (row["n_variant"], row["n_baseline"], row["n_missing"]) == (
        len(arms[0]),
        len(arms[1]),
        0,
    )
    assert len(arms[0]) >= len(study.seeds.confirmation)
    assert len(arms[1]) >= len(study.seeds.confirmation) + len(study.seeds.again)


# Pairs


@cache
def of_all_records() -> Plan:
    """What the laptop scale declares, measured by the records of all scales: those of runs of the same content."""
    plan, records = released("laptop"), dict(from_records("laptop").records or {})
    for folder in sorted((ROOT / FOLDER).glob("*/runs.csv")):
        if folder.parent.name != "laptop":
            records |= read_all(folder.parent)
    return replace(
        plan, cells=tuple(of_cells.mark(plan.cells, plan.config, records)), records=records
    )


def test_arms_of_a_published_table_are_paired_only_where_a_pilot_correlates_over_seeds() -> None:
    """By more than 0.5: below it, pairs lose more by their fewer degrees of freedom than they gain."""
    plan, paired = of_all_records(), 0
    for (paper, name), cells in plan.artifacts.items():
        artifact = plan.config.papers[paper].measured[name]
        if artifact.test != "paired" or artifact.plan:
            continue
        made = measure.judged_tables(plan, paper, name, RULES)["measurements"]
        by_seed = made.dropna(subset="seed").pivot_table(
            index="seed", columns="coordinates", values="value"
        )
        compared = [tuple(map(coordinates.text, pair)) for pair in artifact.comparisons]
        pilots = [by_seed[[*pair]].dropna() for pair in compared if {*pair} <= {*by_seed}]
        assert pilots, f"{paper}/{name}: no record of a pilot"
        for pilot in pilots:
            assert len(pilot) > 2
            assert np.corrcoef(pilot.to_numpy().T)[0, 1] > 0.5, (paper, name, *pilot)
        assert {cell.text for cell in cells} >= {*by_seed} - {
            cell for cell in by_seed if "control" in cell
        }
        paired += len(pilots)
    assert paired


def test_claims_of_paired_arms_have_the_intervals_of_pairs() -> None:
    """Table 4 of LMCL, by scipy's test of pairs over the seeds that both arms have."""
    plan = of_all_records()
    made = measure.judged_tables(plan, "lmcl", "table4", RULES)
    judge = Judge(plan, plan.config.papers["lmcl"], "table4", made, RULES)
    by_seed = (
        made["measurements"]
        .dropna(subset="seed")
        .pivot_table(index="seed", columns="coordinates", values="value")
    )
    compared = 0
    for claim in ledger.of(plan.config, "lmcl"):
        if claim.artifact != "table4" or claim.kind != "comparison":
            continue
        pair = by_seed[[claim.text, coordinates.text(claim.compared_with)]].dropna()
        judged, expected = judge.of(claim), stats.ttest_rel(pair.iloc[:, 0], pair.iloc[:, 1])
        interval = judged["low_unadjusted"], judged["high_unadjusted"]
        assert interval == pytest.approx([*expected.confidence_interval(0.95)])
        assert judged["measured"] == pytest.approx(
            float(pair.iloc[:, 0].mean() - pair.iloc[:, 1].mean())
        )
        assert judged["n"] == len(pair)
        compared += 1
    assert compared
