"""The tables of a paper's runs: whole, the same whatever the machine, and a change of a field is seen in that field."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere.command import runs
from hypersphere.config import plan as planning
from hypersphere.config import registry
from hypersphere.config.plan import Plan

from ...fixtures import Planned
from ...golden.released import released


def table(plan: Plan, paper: str) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """The rows and the YAML of a paper, as other programs read them."""
    listed = runs.rows(plan, paper)
    return [*csv.DictReader(io.StringIO(runs.as_csv(listed)))], yaml.safe_load(runs.as_yaml(listed))


def paths(tree: dict[str, Any], above: str = "") -> dict[str, Any]:
    """The innermost fields of nested ones by path, but for those that are null."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            found |= paths(value, f"{above}{key}.")
        elif value is not None:
            found[f"{above}{key}"] = value
    return found


def numbers(text: str) -> set[int]:
    """The whole numbers of ``0-4 10``."""
    found: set[int] = set()
    for part in text.split():
        first, _, last = part.partition("-")
        found |= {*range(int(first), int(last or first) + 1)}
    return found


def value(text: str) -> Any:
    """A cell's number, list or truth value, or its text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def as_text(fields: dict[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True)


@pytest.mark.parametrize("paper", ["embedding_norms", "lmcl"])
def test_a_row_and_what_all_share_are_every_field_of_the_runs_of_its_seeds(paper: str) -> None:
    plan = released("quick")
    rows, common = table(plan, paper)
    found, expected = set(), set()
    for row in rows:
        own = {path: value(text) for path, text in row.items() if path not in runs.HEAD and text}
        dataset = {"name": row["images"]} | common["images"][row["images"]]
        content = as_text(paths(common["all runs"]) | own), as_text(paths(dataset))
        found |= {(seed, *content) for seed in numbers(row["seeds"])}
    for run in [
        run for key in plan.made_artifacts if key[0] == paper for run in plan.runs_of(*key).values()
    ]:
        whole = paths(run.model_dump(mode="json", exclude={"seed", "dataset"}))
        dataset = paths(run.dataset.model_dump(mode="json", exclude_defaults=True))
        expected.add((run.seed, as_text(whole), as_text(dataset)))
    assert found == expected


def test_a_changed_field_of_one_variant_is_seen_in_that_field_of_its_rows_alone(
    planned: Planned,
) -> None:
    before, common = table(planned(), "p")
    after, common_after = table(planned(paper={"variants.cut.initialisation.c": 3.25}), "p")
    assert common == common_after
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert {old["variant"] for old, _ in changed} == {"cut"}
    for old, new in changed:
        assert {key for key in old if old[key] != new[key]} == {"initialisation.c"}
        assert new["initialisation.c"] == "3.25"


def test_a_changed_field_of_all_runs_is_seen_once(planned: Planned) -> None:
    (before, common), (after, common_after) = (
        table(planned(), "p"),
        table(planned(scale={"epochs": 7}), "p"),
    )
    assert before == after
    assert (
        common_after["all runs"]["schedule"]["epochs"]
        == 7
        != common["all runs"]["schedule"]["epochs"]
    )


def test_runs_that_this_machine_cannot_train_are_listed(
    planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = table(planned(), "p")
    monkeypatch.setattr(
        registry, "unusable", lambda kind, name: "no such program" if name == "knn" else ""
    )
    plan = planned()
    assert all(cell.missing for cell in plan.cells)
    assert table(plan, "p") == expected


@pytest.mark.parametrize(
    ("seeds", "text"), [([3], "3"), ([1, 0, 2], "0-2"), ([0, 1, 4, 9, 10], "0-1 4 9-10")]
)
def test_seeds_are_a_list_of_ranges(seeds: list[int], text: str) -> None:
    assert runs.ranges(seeds) == text


def test_the_command_writes_into_the_folder_of_each_paper(
    tiny_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = planning.make(tiny_root)
    runs.build(plan)
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert {path.parent.parent for path in written} == {
        plan.config.folders[paper] for paper, _ in plan.made_artifacts
    }
    assert {path.name for path in written} == {"tiny.csv", "tiny.yaml"}
    assert all(path.read_text() == runs.tables(plan)[path] for path in written)
