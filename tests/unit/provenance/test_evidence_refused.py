"""No record is taken at its word: what is impossible, contradictory or altered is refused, with its table and field.

The records are real ones of ``evidence/laptop1``: three seeds of one run, one that diverged, and one of a control task.
"""

import csv
import dataclasses
import io
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from hypersphere.config import plan as planning
from hypersphere.config import records
from hypersphere.config.plan import Plan
from hypersphere.config.records import Record
from hypersphere.errors import HypersphereError
from hypersphere.provenance import evidence

from .test_evidence_use import changed, rewrite

ROOT = Path(__file__).resolve().parents[3]
SCALE = "laptop1"
Content = dict[str, Any]
Change = Callable[[Content], None]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planning.make(ROOT, {"scale": SCALE})


@pytest.fixture(scope="module")
def sample(plan: Plan) -> list[Record]:
    """Their tables are small; the first one is changed by the tests."""
    every = [one for of in records.read_all(plan.config.evidence).values() for one in of]
    measured = [one for one in every if len(one.evaluations) == 4 and one.pixels and one.status == "finished"]
    first = next(one for one in measured if sum(_but_seed(one) == _but_seed(other) for other in measured) >= 3)
    seeds = [one for one in measured if _but_seed(one) == _but_seed(first)][:3]
    diverged = next(one for one in every if one.status == "diverged")
    control = next(one for one in every if one.run.kind == "control")
    return [*seeds, diverged, control]


def _but_seed(record: Record) -> Content:
    return record.run.model_dump(exclude={"seed"})


@pytest.fixture
def folder(tmp_path: Path, sample: list[Record]) -> Path:
    """The sample's tables."""
    place = tmp_path / SCALE
    rewrite(place, sample)
    return place


def read(folder: Path, plan: Plan) -> list[Record]:
    return records.read_folder(folder, SCALE, plan.config.expected)


def test_the_sample_is_sound(folder: Path, plan: Plan, sample: list[Record]) -> None:
    assert read(folder, plan) == sample


def setting(path: str, value: object) -> Change:
    """Replace a field of a record: ``evaluations.0.value``."""

    def change(content: Content) -> None:
        *keys, last = (int(key) if key.isdigit() else key for key in path.split("/"))
        for key in keys:
            content = content[key]  # type: ignore[index]
        content[last] = value  # type: ignore[index]

    return change


def twice(content: Content) -> None:
    content["evaluations"].append(content["evaluations"][0] | {"value": 22.0})


def longer_history(content: Content) -> None:
    content["history"].append(content["history"][-1] | {"epoch": content["epochs"] + 1})


def of_another_run(content: Content) -> None:
    content["run"]["optimiser"]["learning_rate"] = 0.5


CASES: list[tuple[Change, str, str]] = [
    (setting("evaluations/0/value", 150.0), "measurements", "value: .*must be from 0 to 100"),
    (setting("evaluations/0/value", -3.0), "measurements", "value: .*must be from 0 to 100"),
    (setting("evaluations/0/value", 1e308), "measurements", "value: .*must be from 0 to 100"),
    (setting("pixels/0/value", 150.0), "measurements", "value: .*must be from 0 to 100"),
    (setting("evaluations/0/value", None), "measurements", "value: .*is missing, and the run finished"),
    (setting("evaluations/0/classes", 1), "measurements", "classes: .*must be at least 2"),
    (setting("evaluations/0/classes", None), "measurements", "classes: .*must be at least 2"),
    (setting("evaluations/0/classes", 7), "measurements", "classes: .*in the record of"),
    (setting("evaluations/0/n_test", 0), "measurements", "n_test: .*must be at least 1"),
    (setting("evaluations/0/n_test", None), "measurements", "n_test: .*must be at least 1"),
    (setting("evaluations/0/n_test", 50), "measurements", "n_test: .*is 50, and .* has 2000"),
    (setting("evaluations/0/epoch", 101), "measurements", "epoch: .*must be at most 100"),
    (setting("pixels/0/epoch", 1), "measurements", "epoch: .*must be at most 0"),
    (setting("evaluations/0/measure", "knn_top3"), "measurements", "measure: .*'knn_top3' is not one of"),
    (setting("evaluations/0/measure", "norm"), "measurements", "measure: .*does not give it"),
    (setting("evaluations/0/protocol", "01234567"), "measurements", "protocol: .*is not the digest of the probe"),
    (setting("evaluations/0/by", "01234567"), "measurements", "by: .*01234567 is not described"),
    (setting("evaluations/0/status", "diverged"), "measurements", "status: .*cannot be diverged"),
    (setting("status", "diverged"), "measurements", "status: .*cannot be finished where the run is diverged"),
    (twice, "measurements", "is there twice"),
    (setting("level", "paper"), "runs", "level: is paper, and the scale's is laptop"),
    (setting("scale", "paper"), "runs", "scale: is paper, among records of laptop1"),
    (setting("data", "0" * 64), "runs", "data: 0000000000000000 is not that of|data: .* is not that of"),
    (setting("data", "none"), "runs", "data: must be 64 hex digits"),
    (setting("code", "newer"), "runs", "code: must be 16 hex digits"),
    (setting("files/encoder.safetensors", "none"), "runs", "files: encoder.safetensors: must be 64 hex digits"),
    (setting("files", {}), "runs", "files: has no checksum of encoder.safetensors"),
    (setting("epochs", 99), "runs", "epochs: a run of 100 epochs cannot be finished after 99"),
    (setting("history", []), "history", "epoch: must be 1 to 100, each once"),
    (longer_history, "history", "epoch: must be 1 to 100, each once"),
    (setting("history/3/epoch", 3.0), "history", "epoch: must be 1 to 100, each once"),
    (setting("history/3/loss", None), "history", "loss: epoch 4: must be finite"),
    (setting("history/3/loss", 1e308), "history", "loss: epoch 4: must be finite"),
    (setting("history/3/norm", -1.0), "history", "norm: epoch 4: is negative"),
    (setting("seconds", -1.0), "runs", "seconds: must be between"),
    (setting("numerics/precision", "float16"), "runs", "numerics: precision: unknown"),
    (setting("environment/packages", {}), "runs", "environment: packages: needs torch"),
    (setting("device", {}), "runs", "device: needs name and type"),
    (of_another_run, "runs", "name: the record's content is named"),
]


@pytest.mark.parametrize(("change", "table", "said"), CASES, ids=[said[:40] for _, _, said in CASES])
def test_an_impossible_record_is_refused(
    folder: Path, plan: Plan, sample: list[Record], change: Change, table: str, said: str
) -> None:
    rewrite(folder, [changed(sample[0], change), *sample[1:]])
    with pytest.raises(HypersphereError, match=said) as caught:
        read(folder, plan)
    assert str(caught.value).startswith(f"{folder / table}.csv: {sample[0].name.partition('-')[0]}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [1.0, None])
def test_a_diverged_run_has_no_number_and_is_not_finished(
    folder: Path, plan: Plan, sample: list[Record], value: float | None
) -> None:
    at = next(place for place, one in enumerate(sample[3].evaluations) if one.status == "diverged")
    status = "finished" if value is None else "diverged"
    change = setting(f"evaluations/{at}/value", value), setting(f"evaluations/{at}/status", status)
    rewrite(folder, [*sample[:3], changed(changed(sample[3], change[0]), change[1])])
    with pytest.raises(HypersphereError, match=r"a run that diverged has none|cannot be finished where the run is"):
        read(folder, plan)


@pytest.mark.parametrize("field", ["files", "history"])
def test_two_seeds_cannot_have_one_runs_weights_or_history(
    folder: Path, plan: Plan, sample: list[Record], field: str
) -> None:
    copied = changed(sample[1], setting(field, sample[0].model_dump(mode="json")[field]))
    rewrite(folder, [sample[0], copied, *sample[2:]])
    with pytest.raises(
        HypersphereError, match=rf"runs\.csv: {copied.name}: {field}.*: equals that of {sample[0].name}"
    ):
        read(folder, plan)


def test_what_the_config_does_not_declare_is_not_taken_in(
    tmp_path: Path, folder: Path, plan: Plan, sample: list[Record]
) -> None:
    """It may be read: the config's own protocols change, and what they replaced stays."""
    elsewhere = dataclasses.replace(plan, config=plan.config.model_copy(update={"root": tmp_path / "project"}))

    def of_another_protocol(content: Content) -> None:
        from hypersphere import files

        for one in (*content["evaluations"], *content["pixels"]):
            about = content["evaluated_by"][one["by"]]
            about["protocol"]["probe"]["another"] = 1
            one["protocol"] = files.digest(about["protocol"], 8)
        digests = {by: files.digest(about, 8) for by, about in content["evaluated_by"].items()}
        content["evaluated_by"] = {digests[by]: about for by, about in content["evaluated_by"].items()}
        for one in (*content["evaluations"], *content["pixels"]):
            one["by"] = digests[one["by"]]

    for change, said in (
        (of_another_protocol, "measurements.csv: .*: protocol: .*the config declares no"),
        (setting("evaluations/0/target", "cifar"), "measurements.csv: .*: target: 'cifar' is not one of"),
    ):
        rewrite(folder, [changed(sample[0], change), *sample[1:]])
        read(folder, plan)
        with pytest.raises(HypersphereError, match=said):
            evidence.take_in(elsewhere, folder)
    assert not elsewhere.config.evidence.exists()
    rewrite(folder, sample)
    assert evidence.take_in(elsewhere, folder) == sample


# Files


FILES: list[tuple[Callable[[Path], object], str]] = [
    (lambda path: path.write_bytes(path.read_bytes()[:-3] + b"\xff\n"), "not a table in UTF-8 text"),
    (lambda path: path.write_bytes(path.read_bytes() + b'"'), "not a table"),
    (lambda path: path.write_bytes(path.read_bytes()[:-4]), "altered|fields|digest|seal|must be|has no"),
    (lambda path: path.write_bytes(path.read_bytes().partition(b"\n")[2]), "its columns must be"),
    (lambda path: path.write_text(path.read_text() + "1,2,3\n"), "has 3 fields"),
    (lambda path: path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n"), "twice|altered|epoch"),
]


@pytest.mark.parametrize("name", records.TABLES)
@pytest.mark.parametrize(("damage", "said"), FILES, ids=[said[:40] for _, said in FILES])
def test_a_damaged_table_is_a_sentence(
    folder: Path, plan: Plan, name: str, damage: Callable[[Path], object], said: str
) -> None:
    damage(folder / f"{name}.csv")
    with pytest.raises(HypersphereError, match=said) as caught:
        read(folder, plan)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


# Fuzz

TEXTS = st.one_of(
    st.sampled_from(["", "0", "1", "-1", "nan", "inf", "1e308", "true", "null", "{}", "[]", "diverged", "paper", "٣"]),
    st.integers(-5, 5000).map(str),
    st.floats().map(repr),
    st.text(max_size=8),
)


def read_or_sentence(folder: Path, plan: Plan) -> list[Record] | str:
    try:
        return read(folder, plan)
    except HypersphereError as error:
        return str(error)


def table_rows(folder: Path, name: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO((folder / f"{name}.csv").read_text(encoding="utf-8"), newline="")))


def write_rows(folder: Path, name: str, rows: list[list[str]]) -> None:
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle, lineterminator="\n").writerows(rows)


@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_changed_field_or_row_is_refused_or_changes_no_number(
    data: st.DataObject, folder: Path, plan: Plan, sample: list[Record]
) -> None:
    rewrite(folder, sample)
    name = data.draw(st.sampled_from(sorted(records.TABLES)))
    rows = table_rows(folder, name)
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
        write_rows(folder, name, rows)
    except UnicodeEncodeError:
        return
    found = read_or_sentence(folder, plan)
    if isinstance(found, str):
        assert str(folder) in found
        assert "\n" not in found
        return
    by_key = {record.key: record for record in found}
    assert by_key == {record.key: record for record in sample}


JSON = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**12),
    st.floats(),
    st.text(max_size=6),
    st.just({}),
    st.just([]),
    st.just([1]),
    st.just({"name": "knn"}),
)


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*at, key)
        yield from places(inner, (*at, key))


@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_changed_value_under_a_new_seal_is_refused_or_read_as_it_is(
    data: st.DataObject, folder: Path, plan: Plan, sample: list[Record]
) -> None:
    """Whoever forges a record can seal it; what cannot be is refused in a sentence all the same."""
    content = sample[0].model_dump(mode="json")
    chosen = random.Random(data.draw(st.integers(0, 10**6))).choice(list(places(content)))
    inner: Any = content
    for key in chosen[:-1]:
        inner = inner[key]
    inner[chosen[-1]] = data.draw(JSON)
    try:
        forged = Record.model_validate(content)
    except ValidationError:
        return
    try:
        rewrite(folder, [forged, *sample[1:]])
    except (UnicodeEncodeError, records.WrongError):
        return
    found = read_or_sentence(folder, plan)
    if isinstance(found, str):
        assert str(folder) in found
        assert "\n" not in found
    else:
        assert found[0].model_dump() == forged.model_dump()
