"""Records stand in for runs, and no record makes a verdict better than its evidence."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere import files
from hypersphere.declared import plan as planning
from hypersphere.declared import records, rules
from hypersphere.declared.plan import Plan
from hypersphere.declared.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.integrity import evidence
from hypersphere.statistics import gather

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def root(laptop_root: Path) -> Path:
    """The project whose three finished runs of the scale ``laptop`` are packed."""
    trained = trained_plan(laptop_root)
    for run in trained.batches[0].runs:
        evidence.pack(trained, run)
    return laptop_root


def trained_plan(root: Path) -> Plan:
    return planning.make(root, {"scale": "laptop"})


def recorded_plan(root: Path) -> Plan:
    return planning.make(root, {"scale": "laptop", "evidence_only": True})


def paths(root: Path) -> list[Path]:
    return sorted((root / "evidence" / "laptop").glob("*.json"))


def changed(path: Path, folder: Path, change: Change) -> Path:
    """A copy of a record in ``folder``, changed, under the name that its content asks for."""
    content = json.loads(path.read_text())
    change(content)
    record = records.Record.model_validate(content)
    files.write_json(folder / record.file_name, content)
    return folder / record.file_name


def elsewhere(content: dict[str, Any]) -> None:
    content["device"]["name"] = "another processor"


def test_packed_runs_are_found_without_their_results(root: Path) -> None:
    trained = trained_plan(root)
    shutil.rmtree(root / "results")
    plan = recorded_plan(root)
    assert plan.runs.keys() == {run.name for run in trained.batches[0].runs}
    assert plan.batches == ()
    assert plan.config.results == root / "results" / "laptop-evidence"
    lost = {cell.missing for cell in plan.cells if cell.run and cell.run.name not in plan.runs}
    assert "no record of this run in evidence/laptop" in lost


def test_records_give_the_same_numbers_as_the_runs(root: Path) -> None:
    trained, recorded = trained_plan(root), recorded_plan(root)
    for key in recorded.made:
        cells = [cell for cell in recorded.artifacts[key] if not cell.missing]
        wanted = {(cell.text, cell.run.name) for cell in cells if cell.run}
        same = [cell for cell in trained.artifacts[key] if cell.run and (cell.text, cell.run.name) in wanted]
        assert len(cells) == len(same) > 0
        tables = [
            gather.measurements([*measurer.rows(some), *measurer.controls(some)])
            for measurer, some in ((gather.Measurer(trained), same), (gather.Measurer(recorded), cells))
        ]
        assert tables[0].drop(columns="value").equals(tables[1].drop(columns="value"))
        assert tables[0]["value"].tolist() == pytest.approx(tables[1]["value"].tolist(), nan_ok=True, abs=0)
    names = list(recorded.runs)
    assert gather.runs(trained, names).equals(gather.runs(recorded, names))


def without_start(content: dict[str, Any]) -> None:
    content["evaluations"] = [one for one in content["evaluations"] if one["epoch"] != 0]


def with_another_rate(content: dict[str, Any]) -> None:
    content["run"]["optimiser"]["learning_rate"] = 0.5
    content["name"] = Run.model_validate(content["run"]).name


def test_an_untrained_encoder_is_that_of_any_record_of_equal_weights(root: Path, tmp_path: Path) -> None:
    """Of a run that differs in its rate alone; where no record has one, the artifact is made without."""
    key = ("embedding_norms", "table5")
    (control,) = {cell.run.name: cell for cell in recorded_plan(root).controls[key] if cell.run}.values()
    numbers = gather.Measurer(recorded_plan(root)).rows([control])
    (kept,) = (path for path in paths(root) if path.name.startswith(control.run.name))
    other = changed(kept, tmp_path, with_another_rate)
    for path in paths(root):
        changed(path, path.parent, without_start)
    assert recorded_plan(root).controls[key] == []
    shutil.copy(other, kept.parent)
    (control,) = recorded_plan(root).controls[key]
    assert other.name.startswith(control.run.name)
    (row,) = gather.Measurer(recorded_plan(root)).rows([control])
    assert row | {"run": numbers[0]["run"]} == numbers[0]


def test_an_artifact_of_single_images_is_not_made_of_records(root: Path) -> None:
    reasons = set(recorded_plan(root).missing("embedding_norms", "spread_of_norms").values())
    assert "records of evidence hold no values of single images" in reasons


# No verdict is better than its evidence


def numbers_of_seeds(plan: Plan) -> dict[str, int]:
    confidence = rules.load(plan.config.root).confidence
    rows = gather.measurements(gather.Measurer(plan).rows(plan.artifacts["embedding_norms", "table5"]))
    table = gather.summary(rows, confidence, {})
    return dict(zip(table["coordinates"], table["n"], strict=True))


def test_a_seed_counts_once_whatever_its_replicates(root: Path) -> None:
    before = numbers_of_seeds(recorded_plan(root))
    for path in paths(root):
        changed(path, path.parent, elsewhere)
    plan = recorded_plan(root)
    assert plan.records is not None
    assert all(len(replicates) == 2 for replicates in plan.records.values())
    assert numbers_of_seeds(plan) == before
    assert before


def test_a_record_measured_by_another_protocol_does_not_count(root: Path) -> None:
    for path in paths(root):
        text = path.read_text()
        for digest in json.loads(text)["evaluated_by"]:
            text = text.replace(digest, "0" * 8)
        path.write_text(text)
    assert not [cell for cell in recorded_plan(root).artifacts["embedding_norms", "table5"] if not cell.missing]


def test_a_record_of_another_scale_is_refused(root: Path, tmp_path: Path) -> None:
    path = paths(root)[0]
    path.write_text(path.read_text().replace('"scale": "laptop"', '"scale": "paper"'))
    with pytest.raises(HypersphereError, match="scale: is paper, in the folder of laptop"):
        recorded_plan(root)
    (tmp_path / "given").mkdir()
    shutil.move(path, tmp_path / "given")
    with pytest.raises(HypersphereError, match="scale: is paper, and records of laptop are taken in"):
        evidence.take_in(trained_plan(root), tmp_path / "given")


def test_a_changed_number_makes_another_scale_without_evidence(root: Path) -> None:
    assert planning.make(root, {"scale": "laptop", "evidence_only": True, "threads": 2}).runs == {}


# Import


@pytest.fixture
def given(root: Path, tmp_path: Path) -> Path:
    """The records in a folder of their own; the project has none."""
    folder = tmp_path / "given"
    shutil.move(root / "evidence" / "laptop", folder)
    return folder


def test_records_are_taken_in_and_twice_is_once(root: Path, given: Path) -> None:
    plan, content = trained_plan(root), {path.name: path.read_bytes() for path in given.iterdir()}
    for _ in range(2):
        assert {path.name for path in evidence.take_in(plan, given)} == content.keys()
        assert {path.name: path.read_bytes() for path in paths(root)} == content


def contradict_weights(content: dict[str, Any]) -> None:
    content["files"]["encoder.safetensors"] = "0" * 64


def contradict_value(content: dict[str, Any]) -> None:
    content["evaluations"][0]["value"] += 1


@pytest.mark.parametrize(("change", "said"), [(contradict_weights, "files: differs"), (contradict_value, "gave other")])
def test_one_contradiction_and_nothing_is_taken_in(root: Path, given: Path, change: Change, said: str) -> None:
    plan = trained_plan(root)
    last = max(given.iterdir())
    plan.config.evidence.mkdir(parents=True)
    changed(last, plan.config.evidence, change)
    with pytest.raises(HypersphereError, match=said) as caught:
        evidence.take_in(plan, given)
    assert last.name in str(caught.value)
    assert [path.name for path in paths(root)] == [last.name]


def test_of_two_protocol_codes_the_newer_answers_are_kept(root: Path, given: Path) -> None:
    plan = trained_plan(root)
    evidence.take_in(plan, given)
    path = min(given.iterdir())

    def probed_again(content: dict[str, Any]) -> None:
        digest = content["evaluations"][0]["protocol"]
        content["evaluated_by"] = {digest: content["evaluated_by"][digest] | {"code": "newer"}}
        content["evaluations"] = [one for one in content["evaluations"] if one["protocol"] == digest]
        content["evaluations"][0]["value"] = 12.5

    before = records.read(plan.config.evidence / path.name)
    changed(path, given, probed_again)
    evidence.take_in(plan, given)
    after = records.read(plan.config.evidence / path.name)
    first = before.evaluations[0].protocol
    assert after.answers(first)[0].value == 12.5
    assert after.evaluated_by.keys() == before.evaluated_by.keys()
    for digest in before.evaluated_by.keys() - {first}:
        assert after.answers(digest) == before.answers(digest)


def test_an_empty_folder_is_a_sentence(root: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(HypersphereError, match=r"holds no record \(\*\.json\)"):
        evidence.take_in(trained_plan(root), tmp_path / "empty")


def test_showing_records_downloads_nothing(root: Path, tmp_path: Path) -> None:
    """A study that needs people's labels is made if they are there; where runs are trained, they are downloaded."""
    paper = root / "config" / "papers" / "embedding_norms.yaml"
    study = "  people:\n    draw: study_table\n    title: t\n    study: human_labels\n    needs: [human_labels]\n"
    paper.write_text(paper.read_text().replace("artifacts:\n", f"artifacts:\n{study}", 1))
    scale = root / "config" / "scales" / "laptop.yaml"
    scale.write_text(scale.read_text() + "provides: [human_labels]\n")
    assert "people" in trained_plan(root).config.studied("embedding_norms")
    assert "people" not in recorded_plan(root).config.studied("embedding_norms")
    (root / "data" / "raw" / "human").mkdir(parents=True)
    assert "people" in recorded_plan(root).config.studied("embedding_norms")
