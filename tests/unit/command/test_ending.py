"""What the console says at the end, of a project of the tests."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere.command import ending
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan

Planned = Callable[..., Plan]


def write(plan: Plan, **files: str) -> None:
    for name, text in files.items():
        path = plan.config.results / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_what_was_done_the_verdicts_the_files_and_the_next_command(planned: Planned) -> None:
    plan = planned()
    rows = ["id,origin,verdict", "a,printed,not run", "b,printed,refuted", "c,printed,not run", "d,ours,refuted"]
    write(
        plan,
        claims_dot_csv="\n".join([*rows, "e,corrected,exact (erratum)\n"]),
        scorecard_dot_html="",
        paper_dot_pdf="",
    )
    assert ending.finished(plan, 27, 751.0, 1) == [
        "done in 12:31: 27 jobs, 1 run trained",
        "3 printed claims: 2 not run, 1 refuted",
        "open   results/small/scorecard.html and results/small/paper.pdf",
        "next   make verify SCALE=small",
    ]


def test_nothing_to_do_is_said_in_the_same_form(planned: Planned) -> None:
    plan = planned()
    write(plan, claims_dot_csv="id,origin,verdict\na,printed,not run\n", scorecard_dot_html="", paper_dot_pdf="")
    lines = ending.finished(plan, 0, 1.0, 0)
    assert lines[0] == "nothing to do: every result is up to date"
    assert [line.split()[0] for line in lines[1:]] == ["1", "open", "next"]


def test_what_does_not_exist_is_not_named(planned: Planned) -> None:
    assert ending.finished(planned(), 1, 1.0, 0) == [
        "done in 0:01: 1 job, 0 runs trained",
        "next   make verify SCALE=small",
    ]


def test_of_chosen_artifacts_their_own_files_and_verdicts_are_named_and_how_to_make_the_rest(planned: Planned) -> None:
    """claims.csv of the scale is not made then: one that exists may be of other results."""
    plan = planned(config={"only": ["p/table"]})
    write(plan, claims_dot_csv="id,origin,verdict\na,printed,refuted\n", scorecard_dot_html="")
    write(plan, tables__p__table_dot_md="", tables__p__table_dot_tex="")
    write(plan, statistics__p__table__claims_dot_csv="id,origin,verdict\na,printed,quick only\nb,ours,not run\n")
    assert ending.finished(plan, 3, 5.0, 2)[1:] == [
        "1 printed claim: 1 quick only",
        "open   results/small/tables/p/table.md",
        "next   make verify SCALE=small ONLY=p/table",
        "rest   make reproduce SCALE=small",
    ]


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({}, "SCALE=small"),
        ({"epochs": 3, "seeds": [0, 1]}, "SCALE=small 'SET=epochs=3 '\"'\"'seeds=[0,1]'\"'\"''"),
        ({"device": "cpu"}, "SCALE=small SET=device=cpu"),
        ({"scale": "small", "only": ["p"]}, "SCALE=small ONLY=p"),
    ],
)
def test_the_next_command_has_the_settings_of_this_one(
    project: Callable[..., Path], overrides: dict[str, Any], words: str
) -> None:
    config = planning.make(project(config={"device": "auto"}), overrides).config
    assert ending.next_command(config) == f"make verify {words}"


def test_runs_trained_since_the_start_are_counted(planned: Planned) -> None:
    plan = planned()
    for name, when in zip(plan.runs, (100.0, 200.0, 300.0), strict=False):
        manifest = plan.run_folder(name) / "manifest.json"
        manifest.parent.mkdir(parents=True)
        manifest.write_text(json.dumps({}))
        os.utime(manifest, (when, when))
    assert [ending.trained_since(plan, when) for when in (0.0, 200.0, 400.0)] == [3, 2, 0]


def test_a_rebuild_that_failed_says_how_far_it_came() -> None:
    said = ending.failed(20, 57, 1, 751.0)
    assert said.startswith(
        "stopped after 12:31: 20 of 57 jobs done, 1 failed as shown above. Mend the cause and run the same"
    )


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00"), (65, "1:05"), (59.6, "1:00"), (3600, "1:00:00"), (7210, "2:00:10")]
)
def test_clock(seconds: float, text: str) -> None:
    assert ending.clock(seconds) == text
