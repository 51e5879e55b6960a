"""No record is taken at its word: what is impossible, contradictory or altered is refused, with its table and field.

The records are real ones of ``evidence/laptop1``: three seeds of one run, one that diverged, and one of a control task.
No scale has that name any more, so that its records stay readable without one.
"""

import csv
import dataclasses
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hypersphere.config import records
from hypersphere.config.records import Record
from hypersphere.errors import HypersphereError
from hypersphere.provenance import evidence

from ...fixtures import Refused
from ...golden.released import ROOT, released
from ..provenance.test_evidence import changed, of_another_protocol, rewrite, setting

SCALE = "laptop1"


@pytest.fixture(scope="module")
def sample() -> list[Record]:
    """Their tables are small; the first one is changed by the tests."""
    every = [*chain.from_iterable(records.read_all(ROOT / records.FOLDER / SCALE).values())]
    of_run: dict[str, list[Record]] = {}
    for one in every:
        if len(one.evaluations) == 4 and one.pixels and one.status == "finished":
            of_run.setdefault(one.run.model_dump_json(exclude={"seed"}), []).append(one)
    seeds = next(same for same in of_run.values() if len(same) >= 3)[:3]
    diverged = next(one for one in every if one.status == "diverged")
    control = next(one for one in every if one.run.kind == "control")
    return [*seeds, diverged, control]


@pytest.fixture
def folder(tmp_path: Path, sample: list[Record]) -> Path:
    place = tmp_path / SCALE
    rewrite(place, sample)
    return place


def read(folder: Path) -> list[Record]:
    return records.read_folder(folder, SCALE, "laptop")


FIRST = "byol-cosinelogits0.5-cifar10_5k_16px-s0-…"
SECOND = "byol-cosinelogits0.5-cifar10_5k_16px-s1-…"
FOURTH = "simclr-gradscale1-cifar100_lt_5k_16px-s0-…"
"""Runs of ``sample``."""
CASES: list[tuple[str, object, str]] = [
    *(("evaluations/0/value", value, "value") for value in (150.0, -3.0, 1e308, None)),
    ("pixels/0/value", 150.0, "value"),
    *(("evaluations/0/classes", value, "classes") for value in (1, None, 7)),
    *(("evaluations/0/n_test", value, "n_test") for value in (0, None, 50)),
    ("evaluations/0/epoch", 101, "epoch"),
    ("pixels/0/epoch", 1, "epoch"),
    *(("evaluations/0/measure", value, "measure") for value in ("knn_top3", "norm")),
    ("evaluations/0/protocol", "01234567", "protocol"),
    ("evaluations/0/status", "diverged", "status"),
    ("evaluations/0/status", "undefined", "value"),
    ("pixels/0/status", "undefined", "value"),
    ("status", "diverged", "status"),
    ("level", "paper", "level"),
    ("scale", "paper", "scale"),
    ("files", {}, "files"),
    ("epochs", 99, "epochs"),
    ("history", [], "epoch"),
    ("history/3/epoch", 3.0, "epoch"),
    *(("history/3/loss", value, "loss") for value in (None, 1e308)),
    ("history/3/norm", -1.0, "norm"),
    ("numerics/precision", "float16", "numerics: precision"),
    ("environment/packages", {}, "environment: packages"),
    ("device", {}, "device"),
    ("run/optimiser/learning_rate", 0.5, "name"),
]
"""What is set in a record, and the field that is named."""
TABLE_OF = {"evaluations": "measurements", "pixels": "measurements", "history": "history"}


@pytest.mark.parametrize(("path", "value", "field"), CASES, ids=str)
def test_an_impossible_record_is_refused(
    folder: Path, sample: list[Record], refused: Refused, path: str, value: object, field: str
) -> None:
    rewrite(folder, [changed(sample[0], setting(path, value)), *sample[1:]])
    table = "measurements" if path == "status" else TABLE_OF.get(path.split("/")[0], "runs")
    with refused(f"laptop1/{table}.csv", FIRST, field):
        read(folder)


def test_a_protocol_that_no_table_has_and_data_of_another_run_are_refused(
    folder: Path, sample: list[Record], refused: Refused
) -> None:
    unknown = changed(sample[0], setting("evaluations/0/by", "01234567"))
    rewrite(folder, [unknown, *sample[1:]])
    with refused("laptop1/measurements.csv", "by"):
        read(folder)
    rewrite(folder, [changed(sample[0], setting("data", "0" * 64)), *sample[1:]])
    with refused("laptop1/runs.csv", SECOND, "data"):  # which was trained on the same set
        read(folder)


@pytest.mark.parametrize(
    ("column", "text", "field"),
    [
        ("code", "newer", "code"),
        ("data", "none", "data"),
        ("files", '{"encoder.safetensors": "none"}', "files.encoder.safetensors"),
        ("files", "[]", "files"),
        ("seconds", "-1.0", "seconds"),
        ("seconds", "NaN", "seconds"),
        ("epochs", "many", "epochs"),
        ("epochs", "", "epochs"),
        ("peak_memory_mb", "1.5", "peak_memory_mb"),
    ],
)
def test_a_field_that_is_no_such_value_is_refused(
    folder: Path, refused: Refused, column: str, text: str, field: str
) -> None:
    runs = pd.read_csv(folder / "runs.csv", dtype=str, keep_default_na=False)
    runs.loc[0, column] = text
    runs.to_csv(folder / "runs.csv", index=False)
    with refused("laptop1/runs.csv", FIRST, field):
        read(folder)


def test_what_is_there_twice_is_refused(
    folder: Path, sample: list[Record], refused: Refused
) -> None:
    """An answer, an epoch of training, and the weights or the history of another seed; the sample itself is sound."""
    assert read(folder) == sample
    first, second = (one.model_dump(mode="json") for one in sample[:2])
    answers, history = first["evaluations"], first["history"]
    weights, lines = (
        {name: first["files"][name]} for name in ("encoder.safetensors", "history.csv")
    )
    copied = second["files"] | weights
    taken = {"history": history, "files": second["files"] | lines}
    after = history[-1] | {"epoch": first["epochs"] + 1}
    for one, change, place in (
        (
            first,
            {"evaluations": [*answers, answers[0] | {"value": 22.0}]},
            ["measurements.csv", FIRST],
        ),
        (first, {"history": [*history, after]}, ["history.csv", FIRST, "epoch"]),
        (second, {"files": copied}, ["runs.csv", SECOND, "files", "encoder.safetensors"]),
        (second, taken, ["history.csv", SECOND]),
        (second, {"history": history}, ["history.csv", SECOND]),
    ):
        forged = Record.model_validate(one | change)
        rewrite(folder, [forged if record.name == forged.name else record for record in sample])
        with refused(f"laptop1/{place[0]}", *place[1:]):
            read(folder)


@pytest.mark.parametrize(("value", "field"), [(1.0, "value"), (None, "status")])
def test_a_diverged_run_has_no_number_and_is_not_finished(
    folder: Path, sample: list[Record], refused: Refused, value: float | None, field: str
) -> None:
    at = next(place for place, one in enumerate(sample[3].evaluations) if one.status == "diverged")
    status = "finished" if value is None else "diverged"
    change = setting(f"evaluations/{at}/value", value), setting(f"evaluations/{at}/status", status)
    rewrite(folder, [*sample[:3], changed(changed(sample[3], change[0]), change[1])])
    with refused("laptop1/measurements.csv", FOURTH, field):
        read(folder)


def test_of_a_finished_run_a_measure_may_be_undefined_and_of_a_diverged_one_it_is_diverged(
    folder: Path, sample: list[Record], refused: Refused
) -> None:
    """Of its encoder and of raw pixels; the classes are of the data, and stay."""
    none = {"value": None, "n_test": None, "status": "undefined"}
    for of in ("evaluations", "pixels"):
        without = changed(
            sample[0], *(setting(f"{of}/0/{field}", value) for field, value in none.items())
        )
        rewrite(folder, [without, *sample[1:]])
        assert read(folder) == [without, *sample[1:]]
        rewrite(folder, [changed(without, setting(f"{of}/0/classes", None)), *sample[1:]])
        with refused("laptop1/measurements.csv", FIRST, "classes"):
            read(folder)
    at = next(place for place, one in enumerate(sample[3].evaluations) if one.status == "diverged")
    rewrite(
        folder,
        [
            *sample[:3],
            changed(sample[3], setting(f"evaluations/{at}/status", "undefined")),
            sample[4],
        ],
    )
    with refused("laptop1/measurements.csv", FOURTH, "status"):
        read(folder)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no UTF-8": lambda path: path.write_bytes(path.read_bytes()[:-3] + b"\xff\n"),
    "an open quote": lambda path: path.write_bytes(path.read_bytes() + b'"'),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-4]),
    "no header": lambda path: path.write_bytes(path.read_bytes().partition(b"\n")[2]),
    "a short row": lambda path: path.write_text(path.read_text() + "1,2,3\n"),
    "a row twice": lambda path: path.write_text(
        path.read_text() + path.read_text().splitlines()[-1] + "\n"
    ),
}


NAMES = [*records.TABLES]
PAIRS = [*zip(DAMAGES, NAMES, strict=True), *zip(DAMAGES, [*NAMES[1:], NAMES[0]], strict=True)]
"""Each kind of damage of two tables, so that each table has two kinds."""
DAMAGED = {
    ("a row twice", "environments"): ["environment"],
    ("a row twice", "runs"): ["key"],
    ("a short row", "measurements"): ["line 57"],
    ("a short row", "runs"): ["line 7"],
    ("an open quote", "datasets"): ["line 3"],
    ("an open quote", "protocols"): ["line 8"],
    ("cut short", "history"): ["curl-default-control_swingup_48px-s0-…"],
    ("cut short", "protocols"): ["environment"],
    ("no header", "history"): ["line 1"],
    ("no header", "measurements"): ["line 1"],
}
"""The line, the column or the run that is named; of other damage the file alone."""


@pytest.mark.parametrize(("damage", "name"), PAIRS)
def test_a_damaged_table_is_a_sentence(
    folder: Path, refused: Refused, name: str, damage: str
) -> None:
    DAMAGES[damage](folder / f"{name}.csv")
    with refused(f"laptop1/{name}.csv", *DAMAGED.get((damage, name), [])):
        read(folder)


def of_scale(scale: str, folder: Path) -> Record:
    """The first record of a scale, written to a folder; reading all of them would take long."""
    tables = records.read_tables(ROOT / records.FOLDER / scale)
    key = tables["runs"][0]["key"]
    folder.mkdir()
    for name, rows in tables.items():
        own = [row for row in rows if row.get("key", key) == key]
        pd.DataFrame(own, columns=list(records.TABLES[name])).to_csv(
            folder / f"{name}.csv", index=False
        )
    (record,) = records.read_folder(folder, scale)
    return record


def test_a_field_that_runs_have_had_since_leaves_the_seals_of_before(sample: list[Record]) -> None:
    """With the value that they had without saying so; another value of it is another content."""
    record, *_ = sample
    content = record.model_dump(mode="json")
    assert content["run"]["optimiser"].pop("scaling") == "linear"
    assert Record.model_validate(content).seal == record.seal
    content["run"]["optimiser"]["scaling"] = "none"
    assert Record.model_validate(content).seal != record.seal
    for change in ({"side": 8}, {"normalisation": {"mean": [0, 0, 0], "std": [1, 1, 1]}}):
        content = record.model_dump(mode="json")
        content["run"]["views"] |= change
        content["run"]["views_b"] = None
        assert Record.model_validate(content).seal != record.seal


def test_what_the_config_does_not_declare_is_not_taken_in(tmp_path: Path, refused: Refused) -> None:
    """It may be read: the config's own protocols change, and what they replaced stays."""
    plan, folder = released("laptop"), tmp_path / "laptop"
    declared = [of_scale("laptop", folder)]
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "config").symlink_to(ROOT / "config")
    elsewhere = dataclasses.replace(
        plan, config=plan.config.model_copy(update={"root": tmp_path / "project"})
    )
    changes = {
        "protocol": of_another_protocol,
        "target": setting("evaluations/0/target", "cifar"),
    }
    for field, change in changes.items():
        rewrite(folder, [changed(declared[0], change)])
        records.read_folder(folder, "laptop")
        with refused("laptop/measurements.csv", declared[0].name, field):
            evidence.take_in(elsewhere, folder)
    assert not elsewhere.config.evidence.exists()
    rewrite(folder, declared)
    assert evidence.take_in(elsewhere, folder) == declared


TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            "0",
            "1",
            "-1",
            "nan",
            "inf",
            "1e308",
            "true",
            "null",
            "{}",
            "[]",
            "diverged",
            "paper",
            "٣",
        ]
    ),
    st.integers(-5, 5000).map(str),
    st.floats().map(repr),
    st.text(max_size=8),
)


@given(data=st.data())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_one_changed_field_or_row_is_refused_or_changes_no_number(
    data: st.DataObject, folder: Path, sample: list[Record]
) -> None:
    rewrite(folder, sample)
    name = data.draw(st.sampled_from(sorted(records.TABLES)))
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as handle:
        rows = list(csv.reader(handle))
    at = data.draw(st.integers(1, len(rows) - 1))
    how = data.draw(st.sampled_from(["field", "field", "field", "lost", "twice", "swapped"]))
    if how == "lost":
        del rows[at]
    elif how == "twice":
        rows.insert(at, rows[at])
    elif how == "swapped":
        other = data.draw(st.integers(1, len(rows) - 1))
        rows[at], rows[other] = rows[other], rows[at]
    else:
        column = data.draw(st.integers(0, len(rows[0]) - 1))
        rows[at] = [*rows[at][:column], data.draw(TEXTS), *rows[at][column + 1 :]]
    try:
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as handle:
            csv.writer(handle, lineterminator="\n").writerows(rows)
    except UnicodeEncodeError:
        return
    try:
        found = read(folder)
    except HypersphereError as error:
        said = str(error)
        assert str(folder) in said
        assert "\n" not in said
        return
    known = {one.key: one for one in sample}
    assert all(known.get(one.key) == one for one in found)
    assert len(found) == len(sample) - ((how, name) == ("lost", "runs"))  # golden/test_evidence.py
