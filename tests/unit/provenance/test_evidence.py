"""Records are complete, stand in for runs, and none makes a verdict better than its evidence."""

import csv
import hashlib
import itertools
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config import records, rules
from hypersphere.config.plan import Plan
from hypersphere.config.records import Record
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.errors import NotFiniteError
from hypersphere.probes import evaluate, knn
from hypersphere.provenance import digests, evidence
from hypersphere.statistics import gather, measure
from hypersphere.training import loop
from hypersphere.training.pretrain import pretrain

from ...fixtures import Refused
from ...harm import flip

Change = Callable[[dict[str, Any]], None]
COUNTED = {
    "dataset": "other-01234567",
    "data": "0" * 64,
    "counts": '{"of":"images","splits":{"train":{"again":1,"images":2,"in_train":0,"two_labels":{"class":0}}}}',
}
"""What records say of the repeated images of a dataset."""
TINY = ("turned", "upright")
"""The datasets of the project's small scale."""


# Packing


@pytest.fixture
def run(tiny_plan: Plan, finished: Path) -> Run:
    """Trained and evaluated, with its batch."""
    shutil.copytree(finished / "results", tiny_plan.config.root / "results")
    return tiny_plan.batches[0].runs[0]


def packed(plan: Plan, run: Run) -> Record:
    (record,) = records.read_folder(
        evidence.pack(plan, run), plan.config.scale_name, plan.config.scale.level
    )
    return record


def digests_of(plan: Plan, run: Run) -> dict[str, str]:
    """Of the protocols, by their probe."""
    protocols = {name: one.protocol for name, one in plan.evaluations[run.name].items()}
    return {one.probe.name: name for name, one in protocols.items() if one.probe}


def test_a_small_run_is_packed_beside_its_results(tiny_plan: Plan, run: Run) -> None:
    record = packed(tiny_plan, run)
    assert (tiny_plan.config.root / "results" / "tiny" / "evidence" / "runs.csv").exists()
    assert not (tiny_plan.config.root / "evidence" / "tiny").exists()
    assert record.run == run
    assert (record.scale, record.level, record.status, record.epochs) == (
        "tiny",
        "quick",
        "finished",
        4,
    )
    assert [row["epoch"] for row in record.history] == [1, 2, 3, 4]
    paths = [tiny_plan.evaluation_file(run.name, name) for name in tiny_plan.evaluations[run.name]]
    table = pd.concat(pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths)
    columns = ["protocol", "epoch", "measure", "target", "reading", "n_test", "classes", "status"]
    recorded = [[str(getattr(one, name)) for name in columns] for one in record.evaluations]
    assert recorded == table[columns].values.tolist()
    assert [one.value for one in record.evaluations] == table["value"].astype(float).tolist()
    by_probe = digests_of(tiny_plan, run)
    manifest = files.read_json(tiny_plan.run_folder(run.name) / "manifest.json")
    assert (record.files, record.code, record.data) == (
        manifest["files"],
        manifest["code"],
        manifest["data"],
    )
    assert {(one.protocol, one.measure, one.target) for one in record.pixels} == {
        *((by_probe["knn"], f"knn_top{k}", "upright") for k in (1, 5)),
        *(
            (by_probe["linear"], f"linear_top{k}", on)
            for k in (1, 5)
            for on in ("turned", "upright")
        ),
    }
    for one in record.evaluations:
        about, asked = (
            record.evaluated_by[one.by],
            tiny_plan.evaluations[run.name][one.protocol].protocol,
        )
        assert about.code == digests.protocol_digest(asked, run)
        assert about.protocol == asked.model_dump(mode="json", include={"probe", "layer"})
        assert about.device == {"type": "cpu", "name": "cpu"}


def test_the_repeated_images_of_a_runs_datasets_go_with_its_record(
    tiny_plan: Plan, run: Run, refused: Refused
) -> None:
    """Of the dataset it was trained on and of those it was probed on. Another count of the same bytes is refused."""
    folder = evidence.pack(tiny_plan, run)
    prepared = {
        one.folder: store.open(tiny_plan.data_folder(one))
        for name, one in tiny_plan.datasets.items()
        if name in TINY
    }
    assert records.repeated_images(folder) == {name: one.repeated for name, one in prepared.items()}
    rows = records.read_tables(folder)["datasets"]
    assert {row["dataset"]: row["data"] for row in rows} == {
        name: one.digest for name, one in prepared.items()
    }
    before = {path.name: path.read_bytes() for path in folder.glob("*.csv")}
    assert evidence.pack(tiny_plan, run) == folder
    assert {path.name: path.read_bytes() for path in folder.glob("*.csv")} == before
    (record,) = records.read_folder(folder, "tiny")
    for field, value in (("data", "0" * 64), ("counts", "{}")):
        with refused("results/tiny/evidence/datasets.csv", "turned-…", field):
            evidence.add(folder, [record], tiny_plan, [rows[0] | {field: value}])
    own = (folder / "datasets.csv").read_text()
    counts = ["datasets.csv", "turned-…", "counts"]
    for wrong, (table, *place) in (
        (own.replace(record.data, "0" * 64), ["runs.csv", run.name, "data"]),
        (own.replace('""in_train""', '""in_trian""'), [*counts, "splits.test.in_trian"]),
        (own.replace('{""of""', '""of""'), counts),
        (own + own.splitlines()[1] + "\n", ["datasets.csv", "dataset"]),
    ):
        assert wrong != own
        (folder / "datasets.csv").write_text(wrong)
        with refused(f"results/tiny/evidence/{table}", *place):
            records.read_folder(folder, "tiny")
    (folder / "datasets.csv").unlink()  # as records of before are
    assert records.read_folder(folder, "tiny") == [record]
    assert records.repeated_images(folder) == {}


def test_a_diverged_run_is_packed(tiny_plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its history holds a loss that is not a number, which JSON cannot."""
    run = tiny_plan.batches[0].runs[0]
    step, losses = loop._step, iter([0.0, 0.0, float("nan"), 0.0])  # of two steps an epoch

    def diverging(*arguments: Any) -> tuple[Tensor, Tensor]:
        mean, embeddings = step(*arguments)
        return mean + torch.tensor([next(losses), 0.0]), embeddings

    monkeypatch.setattr(loop, "_step", diverging)
    pretrain(tiny_plan, [run])
    evaluate.evaluate_runs(tiny_plan, [run])
    record = packed(tiny_plan, run)
    assert (record.status, record.epochs) == ("diverged", 2)
    assert record.history[-1]["loss"] is None
    assert record.history[0]["loss"] is not None
    trained = {
        (m.status, m.value, m.n_test, m.classes, m.reading) for m in record.evaluations if m.epoch
    }
    assert trained == {("diverged", None, None, None, "")}
    # its initial weights are any run's
    assert {m.status for m in record.evaluations if not m.epoch} == {"finished"}


def test_what_is_altered_or_not_measured_is_refused(
    tiny_plan: Plan, run: Run, refused: Refused
) -> None:
    """However many of its protocols are there."""
    measured = tiny_plan.evaluation_file(run.name, digests_of(tiny_plan, run)["knn"])
    for path in (tiny_plan.run_folder(run.name) / "encoder.safetensors", measured):
        content = path.read_bytes()
        for harm in (flip, Path.unlink):
            harm(path)
            with refused(path):
                evidence.pack(tiny_plan, run)
            path.write_bytes(content)
    evidence.pack(tiny_plan, run)
    proof = tiny_plan.run_folder(run.name) / "manifest.json"
    files.write_sealed(proof, files.read_sealed(proof) | {"epochs": 3})
    with refused("results/tiny/evidence/runs.csv", run.name, "epochs"):  # where the record would go
        evidence.pack(tiny_plan, run)


# Records in the place of runs


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


def kept(root: Path) -> list[Record]:
    return records.read_folder(root / "evidence" / "laptop", "laptop")


def rewrite(folder: Path, content: Iterable[Record]) -> None:
    """Tables of these records alone, under seals of their own, whatever they say."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tables: dict[str, list[records.Row]] = {name: [] for name in records.TABLES}
    tables["datasets"] = [COUNTED]
    for record in content:
        for name, rows in records.rows(record).items():
            tables[name] += [
                row
                for row in rows
                if name in ("history", "measurements") or row not in tables[name]
            ]
    for name, columns in records.TABLES.items():
        with (folder / f"{name}.csv").open("w", newline="") as handle:
            writer = csv.DictWriter(handle, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(tables[name])


def changed(record: Record, *changes: Change) -> Record:
    content = record.model_dump(mode="json")
    for change in changes:
        change(content)
    return Record.model_validate(content)


def setting(path: str, value: object) -> Change:
    """Replace a field of a record: ``evaluations/0/value``."""

    def change(content: dict[str, Any]) -> None:
        inner: Any = content
        *keys, last = (int(key) if key.isdigit() else key for key in path.split("/"))
        for key in keys:
            inner = inner[key]
        inner[last] = value

    return change


ELSEWHERE, OTHER_CODE = (
    setting("device/name", "another processor"),
    setting("code", "0123456789abcdef"),
)


def of_its_history(content: dict[str, Any]) -> None:
    """The checksum of history.csv, as training writes it, is that of the record's history."""
    written = pd.DataFrame(content["history"]).astype({"epoch": int})[
        ["epoch", "loss", "norm", "learning_rate"]
    ]
    content["files"]["history.csv"] = hashlib.sha256(
        written.to_csv(index=False, na_rep="nan").encode()
    ).hexdigest()


def of_another_protocol(content: dict[str, Any]) -> None:
    """Every answer is by a protocol that the config does not declare."""
    digests = {}
    for by, about in list(content["evaluated_by"].items()):
        about["protocol"]["probe"]["another"] = 1
        del content["evaluated_by"][by]
        digests[by] = files.digest(about, 8), files.digest(about["protocol"], 8)
        content["evaluated_by"][digests[by][0]] = about
    for answer in (*content["evaluations"], *content["pixels"]):
        answer["by"], answer["protocol"] = digests[answer["by"]]


def test_packed_runs_are_found_without_their_results(root: Path) -> None:
    trained = trained_plan(root)
    shutil.rmtree(root / "results")
    plan = recorded_plan(root)
    assert plan.runs.keys() == {run.name for run in trained.batches[0].runs}
    assert plan.batches == ()
    assert plan.config.results == root / "results" / "laptop-evidence"
    lost = {cell.missing for cell in plan.cells if cell.run and cell.run.name not in plan.runs}
    assert "no record of this run in evidence/laptop" in lost
    reasons = set(plan.missing("embedding_norms", "spread_of_norms").values())
    assert "records of evidence hold no values of single images" in reasons
    # another scale
    assert planning.make(root, {"scale": "laptop", "evidence_only": True, "threads": 2}).runs == {}


def test_records_give_the_same_numbers_as_the_runs(root: Path) -> None:
    trained, recorded = trained_plan(root), recorded_plan(root)
    for key in recorded.made_artifacts:
        cells = [cell for cell in recorded.artifacts[key] if not cell.missing]
        wanted = {(cell.text, cell.run.name) for cell in cells if cell.run}
        same = [
            cell
            for cell in trained.artifacts[key]
            if cell.run and (cell.text, cell.run.name) in wanted
        ]
        assert len(cells) == len(same) > 0
        tables = [
            pd.DataFrame([*measurer.rows(some), *measurer.controls(some)]).astype(
                {"seed": "Int64", "n_test": "Int64"}
            )
            for measurer, some in (
                (gather.Measurer(trained), same),
                (gather.Measurer(recorded), cells),
            )
        ]
        assert tables[0].drop(columns="value").equals(tables[1].drop(columns="value"))
        assert tables[0]["value"].tolist() == pytest.approx(
            tables[1]["value"].tolist(), nan_ok=True, abs=0
        )
    names = list(recorded.runs)
    assert gather.runs(trained, names).equals(gather.runs(recorded, names))


def test_a_finished_run_of_which_a_measure_is_undefined_is_kept_and_counts_as_it_did(
    laptop_root: Path, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of its probes finds nothing to measure; all others stay."""

    def nothing(*vectors: Tensor, **how: object) -> Tensor:
        raise NotFiniteError("the scores are NaN")

    shutil.copytree(finished / "data", laptop_root / "data", dirs_exist_ok=True)
    trained = trained_plan(laptop_root)
    first, *others = trained.batches[0].runs
    trained.evaluation_file(first.name, digests_of(trained, first)["knn"]).unlink()
    with monkeypatch.context() as patch:
        patch.setattr(knn, "vote", nothing)
        evaluate.evaluate_runs(trained, [first])
    for run in (first, *others):
        evidence.pack(trained, run)
    (record,) = (one for one in kept(laptop_root) if one.name == first.name)
    assert {one.status for one in record.answers(digests_of(trained, first)["knn"])} == {
        "undefined"
    }
    assert {one.status for one in record.answers(digests_of(trained, first)["linear"])} == {
        "finished"
    }
    counts = []
    for plan in (trained, recorded_plan(laptop_root)):
        cells = [
            cell
            for cell in plan.artifacts["embedding_norms", "table5"]
            if cell.run == first and not cell.missing
        ]
        counts.append([row["status"] for row in gather.Measurer(plan).rows(cells)])
    assert counts[0] == counts[1] == ["undefined"]


def test_an_untrained_encoder_is_that_of_any_record_of_equal_weights(root: Path) -> None:
    """Of a run that differs in its rate alone; where no record has one, the artifact is made without."""
    key = ("embedding_norms", "table5")
    (control,) = {
        cell.run.name: cell for cell in recorded_plan(root).controls[key] if cell.run
    }.values()
    numbers = gather.Measurer(recorded_plan(root)).rows([control])
    (own,) = (record for record in kept(root) if record.name == control.run.name)
    others = [
        changed(
            record,
            lambda one: one.update(
                evaluations=[each for each in one["evaluations"] if each["epoch"]]
            ),
        )
        for record in kept(root)
    ]
    rewrite(root / "evidence" / "laptop", others)
    assert recorded_plan(root).controls[key] == []
    faster = changed(own, setting("run/optimiser/learning_rate", 0.5))
    other = changed(faster, setting("name", faster.run.name))
    rewrite(root / "evidence" / "laptop", [*others, other])
    (control,) = recorded_plan(root).controls[key]
    assert control.run.name == other.name
    (row,) = gather.Measurer(recorded_plan(root)).rows([control])
    assert row | {"run": numbers[0]["run"]} == numbers[0]


def test_a_seed_counts_once_whatever_its_replicates(root: Path) -> None:
    def numbers_of_seeds(plan: Plan) -> dict[str, int]:
        table = measure.judged_tables(
            plan, "embedding_norms", "table5", rules.load(plan.config.root)
        )["summary"]
        return dict(zip(table["coordinates"], table["n"], strict=True))

    before = numbers_of_seeds(recorded_plan(root))
    replicates = [
        changed(record, change) for change in (ELSEWHERE, OTHER_CODE) for record in kept(root)
    ]
    rewrite(root / "evidence" / "laptop", [*kept(root), *replicates])
    plan = recorded_plan(root)
    assert all(len(of_run) == 3 for of_run in plan.records.values())
    assert numbers_of_seeds(plan) == before
    assert before
    rewrite(
        root / "evidence" / "laptop",
        [changed(record, of_another_protocol) for record in kept(root)],
    )
    assert not [
        cell
        for cell in recorded_plan(root).artifacts["embedding_norms", "table5"]
        if not cell.missing
    ]


def test_of_replicates_float32_speaks_first_and_then_what_confirms_a_study_and_a_cpu(
    root: Path,
) -> None:
    """And then the least key, wherever they stand."""
    first = kept(root)[0]
    gpu = changed(first, setting("device", {"name": "a GPU", "type": "cuda"}))
    confirms = changed(first, setting("plan", "ours/any=01234567"), setting("code", "2" * 16))
    rounded = changed(first, setting("numerics/precision", "bfloat16"))
    plain = sorted(
        [first, changed(first, ELSEWHERE), changed(first, OTHER_CODE)], key=lambda one: one.key
    )
    expected = [confirms, *plain, gpu, rounded]
    for replicates in (expected, expected[::-1], [*expected[3:], *expected[:3]]):
        rewrite(root / "evidence" / "laptop", replicates)
        ((*found,),) = records.read_all(root / "evidence" / "laptop").values()
        assert found == expected


@pytest.fixture
def given(root: Path, tmp_path: Path) -> Path:
    """The records in a folder of their own; the project has none."""
    folder = tmp_path / "given"
    shutil.move(root / "evidence" / "laptop", folder)
    return folder


def test_records_that_come_at_once_are_all_there_once(root: Path, given: Path) -> None:
    """As jobs of several batches add them: each waits for the lock of the folder. Each comes twice here."""
    plan, content = trained_plan(root), records.read_folder(given, "laptop")
    with ThreadPoolExecutor(6) as pool:
        added = list(
            pool.map(lambda record: evidence.add(plan.config.evidence, [record], plan), content * 2)
        )
    assert sorted(map(len, added)) == [0] * len(content) + [1] * len(content)
    assert {one.key: one for one in kept(root)} == {one.key: one for one in content}
    assert len(kept(root)) == len(content)


def tables_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


def test_records_are_taken_in_once_and_those_of_another_code_of_training_beside_them(
    root: Path, given: Path, tmp_path: Path, refused: Refused
) -> None:
    plan, content = trained_plan(root), records.read_folder(given, "laptop")
    assert evidence.take_in(plan, given) == content
    assert kept(root) == content
    before = tables_of(plan.config.evidence)
    assert evidence.take_in(plan, given) == []
    assert tables_of(plan.config.evidence) == before
    first = content[0]
    value = first.evaluations[0].value or 0.0
    anew = {
        "code": "0123456789abcdef",
        "files/encoder.safetensors": "0" * 64,
        "evaluations/0/value": value + 1,
    }
    rewrite(given, [changed(first, *(setting(place, said) for place, said in anew.items()))])
    evidence.take_in(plan, given)
    of_run = records.read_all(plan.config.evidence)[first.name]
    assert len(of_run) == 2
    assert first in of_run
    assert all(
        table.startswith(before[name]) for name, table in tables_of(plan.config.evidence).items()
    )
    (tmp_path / "empty").mkdir()
    with refused("empty"):
        evidence.take_in(plan, tmp_path / "empty")


def test_one_contradiction_and_nothing_is_taken_in(
    root: Path, given: Path, refused: Refused
) -> None:
    plan = trained_plan(root)
    last = records.read_folder(given, "laptop")[-1]
    for place, table, field in (
        ("files/encoder.safetensors", "runs", "files"),
        ("history/0/loss", "runs", "files"),  # its checksum
        ("evaluations/0/value", "measurements", "value"),
    ):
        changes = setting(place, "0" * 64 if "files" in place else 12.34), of_its_history
        rewrite(plan.config.evidence, [changed(last, *changes)])
        before = tables_of(plan.config.evidence)
        with refused(f"evidence/laptop/{table}.csv", last.name, field):
            evidence.take_in(plan, given)
        assert tables_of(plan.config.evidence) == before


def test_answers_of_more_protocols_are_added_to_a_record_that_is_there(
    root: Path, given: Path
) -> None:
    plan, whole = trained_plan(root), records.read_folder(given, "laptop")

    def without_pixels_and_norms(content: dict[str, Any]) -> None:
        content["pixels"] = []
        content["evaluations"] = [one for one in content["evaluations"] if one["measure"] != "norm"]
        used = {one["by"] for one in content["evaluations"]}
        content["evaluated_by"] = {
            by: about for by, about in content["evaluated_by"].items() if by in used
        }

    rewrite(plan.config.evidence, [changed(record, without_pixels_and_norms) for record in whole])
    before = tables_of(plan.config.evidence)
    evidence.take_in(plan, given)
    assert all(
        content.startswith(before[name])
        for name, content in tables_of(plan.config.evidence).items()
    )
    by_place = [
        sorted(one.evaluations, key=lambda answer: answer.place) for one in (*kept(root), *whole)
    ]
    assert by_place[: len(whole)] == by_place[len(whole) :]
    assert [record.pixels for record in kept(root)] == [record.pixels for record in whole]


@pytest.mark.parametrize("tables", range(len(records.TABLES)))
def test_a_kill_between_two_tables_adds_nothing_and_the_next_writer_mends_it(
    root: Path, given: Path, tables: int
) -> None:
    """As a kill leaves them: so many tables with the new rows, half of the next in its temporary file."""
    plan, whole = trained_plan(root), records.read_folder(given, "laptop")
    rewrite(plan.config.evidence, whole[:1])
    before = kept(root)
    for name in list(records.TABLES)[:tables]:
        shutil.copy(given / f"{name}.csv", plan.config.evidence)
    (plan.config.evidence / ".runs.csv.0123abcd.part").write_text("half")
    assert kept(root) == before
    evidence.take_in(plan, given)
    assert kept(root) == whole
    assert sorted(path.name for path in plan.config.evidence.glob("*.csv")) == sorted(
        tables_of(given)
    )
    assert not list(plan.config.evidence.glob(".*.part"))


@pytest.mark.parametrize("name", records.TABLES)
def test_a_table_whose_columns_come_in_another_order_is_written_as_before(
    root: Path, given: Path, name: str
) -> None:
    """Whatever the order, one more record gives the bytes that it gives without; and they can be read."""
    plan, (first, *rest) = trained_plan(root), records.read_folder(given, "laptop")
    rewrite(plan.config.evidence, [first])
    before = tables_of(plan.config.evidence)
    evidence.add(plan.config.evidence, rest, plan)
    expected, columns = tables_of(plan.config.evidence), records.TABLES[name]
    orders = {
        columns[::-1],
        (*columns[1:], columns[0]),
        *itertools.islice(itertools.permutations(columns), 1, 4),
    }
    for order in orders - {columns}:
        for file, content in before.items():
            (plan.config.evidence / file).write_bytes(content)
        path = plan.config.evidence / f"{name}.csv"
        pd.read_csv(path, dtype=str, keep_default_na=False)[list(order)].to_csv(path, index=False)
        evidence.add(plan.config.evidence, rest, plan)
        assert tables_of(plan.config.evidence) == expected
        assert kept(root) == [first, *rest]


@pytest.mark.parametrize("name", ["environments", "protocols", "runs"])
def test_a_table_whose_rows_come_in_another_order_gets_no_row_twice(
    root: Path, given: Path, name: str
) -> None:
    """Where the order says nothing but which came first: it stays, and new rows follow."""
    plan, content = trained_plan(root), records.read_folder(given, "laptop")
    some, rest = [content[0], changed(content[1], ELSEWHERE)], content[2:]
    rewrite(plan.config.evidence, some)
    path = plan.config.evidence / f"{name}.csv"
    header, *lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([header, *lines[::-1]]))
    evidence.add(plan.config.evidence, rest, plan)
    assert path.read_text().startswith("".join([header, *lines[::-1]]))
    assert {one.key for one in kept(root)} == {one.key for one in (*some, *rest)}


def test_rows_of_runs_that_are_lost_are_not_taken_away(root: Path, given: Path) -> None:
    """As a bad merge leaves runs.csv: one run is there, one comes again, and the rows of all others stay."""
    plan, whole = trained_plan(root), records.read_folder(given, "laptop")
    rewrite(plan.config.evidence, whole)
    runs, history = plan.config.evidence / "runs.csv", plan.config.evidence / "history.csv"
    before = history.read_bytes()
    runs.write_text("".join(runs.read_text().splitlines(keepends=True)[:2]))
    assert kept(root) == whole[:1]
    assert evidence.add(plan.config.evidence, whole[1:2], plan) == whole[1:2]
    assert len(whole) > 2
    assert history.read_bytes() == before
