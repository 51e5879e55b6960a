"""Records that fool are refused, or said beside the number: where they are taken in, and where they are read.

The records are made up: of runs of a small project, with numbers drawn at random, and without any training. What cannot
be told is listed in docs/evidence.md, and some of it here, so that the list stays true.
"""

import csv
import functools
import hashlib
import json
import re
import shutil
import zlib
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config import records, rules
from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import Plan
from hypersphere.config.records import Record
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.provenance import evidence, likeness
from hypersphere.statistics import gather, judge, judged_records, measure

from ...fixtures import Names
from .test_evidence import Change, changed, of_another_protocol, of_its_history, rewrite, setting

LAPTOP = {"scale": "laptop"}
SEEDS = (0, 1, 2)
ENVIRONMENT = {"packages": {"torch": "2.13.0"}, "python": "3.11.7"}
CPU = {"name": "cpu", "type": "cpu"}
NUMERICS = {"threads": 1, "precision": "float32", "tf32_convolutions": False}


def sha256(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def made_up(plan: Plan, run: Run) -> Record:
    """A finished run's record, with every answer that the plan asks of its first seed."""
    draw = np.random.default_rng([run.seed, zlib.crc32(_but_seed(run).encode())]).uniform
    first = next(one for one in plan.runs.values() if _but_seed(one) == _but_seed(run))
    history = [
        {"epoch": float(at), "loss": draw(1, 2), "norm": draw(5, 6), "learning_rate": 0.1}
        for at in range(1, run.schedule.epochs + 1)
    ]
    answers: dict[tuple[object, ...], dict[str, Any]] = {}
    measured_by = {}
    for cell in plan.cells:
        if cell.run != first or cell.missing or cell.how is None or cell.target is None:
            continue
        about = {
            "protocol": cell.how.model_dump(mode="json", include={"probe", "layer"}),
            "code": "0" * 16,
        }
        about |= {"device": CPU, "threads": 1, "environment": ENVIRONMENT}
        by, name = files.digest(about, 8), cell.how.of_probe(cell.measure)
        measured_by[by] = about
        place = {
            "epoch": cell.epoch,
            "protocol": cell.how.digest,
            "measure": name,
            "target": cell.target.name,
        }
        found = {
            "value": round(draw(1, 2), 2),
            "n_test": 30,
            "classes": 10,
            "status": "finished",
            "by": by,
        }
        answers.setdefault(
            (*place.values(), cell.reading), place | {"reading": cell.reading} | found
        )
    weights = {
        name: sha256(run.name, name) for name in ("encoder.safetensors", "heads.safetensors")
    }
    content: dict[str, Any] = {"files": weights, "history": history}
    of_its_history(content)
    return Record.model_validate(
        {
            **{
                "name": run.name,
                "scale": "laptop",
                "level": "laptop",
                "run": run.model_dump(mode="json"),
            },
            **{
                "status": "finished",
                "epochs": run.schedule.epochs,
                "code": "0" * 16,
                "data": sha256(run.dataset.name),
            },
            **{
                "device": CPU,
                "numerics": NUMERICS,
                "environment": ENVIRONMENT,
                "seconds": 9.0,
                "peak_memory_mb": 99,
            },
            **content,
            **{"evaluations": list(answers.values()), "pixels": [], "evaluated_by": measured_by},
        }
    )


def _but_seed(run: Run) -> str:
    return run.model_dump_json(exclude={"seed"})


@pytest.fixture
def root(tiny_root: Path) -> Path:
    """A project of a scale ``laptop``, of which nothing is trained."""
    scale = tiny_root / "config" / "scales" / "tiny.yaml"
    text = (
        scale.read_text()
        .replace("scale: tiny", "scale: laptop")
        .replace("level: quick", "level: laptop")
    )
    scale.with_name("laptop.yaml").write_text(text.replace("seeds: [0]", f"seeds: {[*SEEDS]}"))
    return tiny_root


@pytest.fixture
def plan(root: Path) -> Plan:
    return planning.make(root, LAPTOP)


@pytest.fixture
def sound(plan: Plan) -> list[Record]:
    """Three seeds of the baseline, and of a variant, on one dataset: first the baseline's."""
    found = [
        one for name, one in plan.runs.items() if re.match(r"simclr-(default|cut3)-upright", name)
    ]
    return [
        made_up(plan, run)
        for run in sorted(found, key=lambda run: (run.initialisation is not None, run.seed))
    ]


def copy_as(original: Record, run: Run) -> Record:
    """The record of one run entered as that of another."""
    as_run = setting("run", run.model_dump(mode="json")), setting("name", run.name)
    return changed(original, *as_run)


def history_of(change: Change) -> Change:
    """A change of the history, with the checksum of its file made anew."""

    def both(content: dict[str, Any]) -> None:
        change(content)
        of_its_history(content)

    return both


def one_digit(place: str) -> Change:
    """The last digit of a number or a checksum is another."""

    def change(content: dict[str, Any]) -> None:
        inner: Any = content
        *keys, last = (int(key) if key.isdigit() else key for key in place.split("/"))
        for key in keys:
            inner = inner[key]
        value = inner[last]
        inner[last] = (
            value[:-1] + ("1" if value[-1] == "0" else "0")
            if isinstance(value, str)
            else value + 1e-3
        )

    return change


def new_weights(content: dict[str, Any]) -> None:
    content["files"]["encoder.safetensors"] = sha256(content["name"], "others")


NEW_HISTORY = history_of(
    lambda content: [one_digit(f"history/{at}/loss")(content) for at in range(4)]
)
Members = dict[str, Callable[[list[Record]], list[Record]]]


def with_first(*changes: Change) -> Callable[[list[Record]], list[Record]]:
    return lambda sound: [changed(sound[0], *changes), *sound[1:]]


def unchecked(**fields: object) -> Callable[[list[Record]], list[Record]]:
    """As a table may have it, and no record."""
    return lambda sound: [sound[0].model_copy(update=fields), *sound[1:]]


def copied_seed(*changes: Change) -> Callable[[list[Record]], list[Record]]:
    """The baseline's first seed, entered as its second one."""
    return lambda sound: [sound[0], changed(copy_as(sound[0], sound[1].run), *changes), *sound[2:]]


REFUSED: dict[str, tuple[str, Members]] = {
    "a copied seed": (
        "runs.csv: simclr-default-upright-s1-…: files: encoder.safetensors",
        copied_seed(),
    ),
    "a copied seed with one digit of its weights changed": (
        "history.csv: simclr-default-upright-s1-…",
        copied_seed(one_digit("files/encoder.safetensors")),
    ),
    "a copied seed with one digit of its history changed": (
        "history.csv: simclr-default-upright-s1-…",
        copied_seed(new_weights, history_of(one_digit("history/2/norm"))),
    ),
    "a copied seed with half of its history changed": (
        "history.csv: simclr-default-upright-s1-…",
        copied_seed(new_weights, NEW_HISTORY),
    ),
    "a copied seed of another variant": (
        "history.csv: simclr-cut3-upright-s1-…",
        lambda sound: [
            *sound[:4],
            changed(copy_as(sound[0], sound[4].run), new_weights),
            *sound[5:],
        ],
    ),
    "one digit of a loss": (
        "history.csv: simclr-default-upright-s0-…",
        with_first(one_digit("history/1/loss")),
    ),
    "one digit of a norm": (
        "history.csv: simclr-default-upright-s0-…",
        with_first(one_digit("history/3/norm")),
    ),
    "one digit of a rate": (
        "history.csv: simclr-default-upright-s0-…",
        with_first(one_digit("history/0/learning_rate")),
    ),
    "one digit of the history's checksum": (
        "history.csv: simclr-default-upright-s0-…",
        with_first(one_digit("files/history.csv")),
    ),
    "an unknown reading": (
        "measurements.csv: simclr-default-upright-s0-…: reading",
        with_first(setting("evaluations/0/reading", "moon=full")),
    ),
    "no reading": (
        "measurements.csv: simclr-default-upright-s0-…: reading",
        with_first(setting("evaluations/0/reading", "split")),
    ),
    "a reading of the run": (
        "measurements.csv: simclr-default-upright-s0-…: reading",
        with_first(setting("evaluations/0/reading", "seed=3")),
    ),
    "a reading in another order": (
        "measurements.csv: simclr-default-upright-s0-…: reading",
        with_first(setting("evaluations/0/reading", "bucket=1;split=test")),
    ),
    "markup as device": (
        "runs.csv: simclr-default-upright-s0-…: device.name",
        unchecked(device={"type": "cpu", "name": "<b>cpu</b>"}),
    ),
    "a link as device": (
        "runs.csv: simclr-default-upright-s0-…: device.name",
        unchecked(device={"type": "cpu", "name": "[cpu](javascript:alert)"}),
    ),
    "a formula as device": (
        "runs.csv: simclr-default-upright-s0-…: device.name",
        unchecked(device={"type": "cpu", "name": "$x$"}),
    ),
    "two lines as device": (
        "runs.csv: simclr-default-upright-s0-…: device.name",
        unchecked(device={"type": "cpu", "name": "cpu\n# Title"}),
    ),
    "no device": (
        "runs.csv: simclr-default-upright-s0-…: device.name",
        unchecked(device={"type": "cpu", "name": ""}),
    ),
    "markup as release": (
        "runs.csv: simclr-default-upright-s0-…: environment: packages",
        with_first(setting("environment/packages/torch", "<i>2</i>")),
    ),
    "true threads": (
        "runs.csv: simclr-default-upright-s0-…: numerics",
        with_first(setting("numerics/threads", True)),
    ),
    "no plan's digest": ("runs.csv: simclr-default-upright-s0-…: plan", unchecked(plan="a plan")),
    "half a plan": (
        "runs.csv: simclr-default-upright-s0-…: plan",
        unchecked(plan="ours/step_size"),
    ),
    "four epochs at once": (
        "runs.csv: simclr-default-upright-s0-…: seconds",
        with_first(setting("seconds", 0.0)),
    ),
    "the published level": (
        "runs.csv: simclr-default-upright-s0-…: level",
        with_first(setting("level", "paper")),
    ),
    "the published scale": (
        "runs.csv: simclr-default-upright-s0-…: scale",
        with_first(setting("scale", "paper")),
    ),
    "a precision that is none": (
        "runs.csv: simclr-default-upright-s0-…: numerics: precision",
        with_first(setting("numerics/precision", "float16")),
    ),
}
"""Refused where records are taken in and where they are read, by one sentence."""


def refusals(
    root: Path, plan: Plan, content: Callable[[Path], object], tmp_path: Path
) -> list[str]:
    """What is said where ``content`` is taken in, and where it is read; without the folders."""
    said = []
    given, kept = tmp_path / "given", root / "evidence" / "laptop"
    content(given)
    with pytest.raises(HypersphereError) as caught:
        evidence.take_in(plan, given)
    said.append(str(caught.value).replace(str(given), "…"))
    assert not kept.exists()
    content(kept)
    with pytest.raises(HypersphereError) as caught:
        planning.make(root, LAPTOP | {"evidence_only": True})
    said.append(str(caught.value).replace(str(kept), "…"))
    return said


def test_sound_records_are_taken_in_and_read(
    root: Path, plan: Plan, sound: list[Record], tmp_path: Path
) -> None:
    """Without a word: the control of all tables below."""
    rewrite(tmp_path / "given", sound)
    assert evidence.take_in(plan, tmp_path / "given") == sound
    read = recorded(root)
    assert read.runs.keys() == {one.name for one in sound}
    assert uncounted(read) == []
    about = gather.runs(read, read.runs)
    assert likeness.unlike(about) == []
    assert set(about["alike"]) == {""}
    assert set(about["records"]) == {1}


def recorded(root: Path) -> Plan:
    return planning.make(root, LAPTOP | {"evidence_only": True})


def uncounted(plan: Plan) -> list[str]:
    assert plan.records is not None
    every = [*chain.from_iterable(plan.records.values())]
    return list(evidence.undeclared_records(plan, every, plan.config.evidence))


@pytest.mark.parametrize("member", REFUSED)
def test_a_record_that_fools_is_refused(
    root: Path, plan: Plan, sound: list[Record], tmp_path: Path, names: Names, member: str
) -> None:
    place, forge = REFUSED[member]
    records_of = forge(sound)
    imported, read = refusals(root, plan, lambda folder: rewrite(folder, records_of), tmp_path)
    assert imported == read
    names(read, f"…/{place}")


def test_a_history_without_numbers_is_of_no_file() -> None:
    """Each lost number can be nan or either infinity, so that forty of them could be those of 3^40 files."""
    rows = [
        {"epoch": float(at), "loss": None, "norm": None, "learning_rate": 0.1}
        for at in range(1, 21)
    ]
    # orders of the three columns after the epoch
    assert len(list(records._checksums(rows[:1]))) == 3**2 * 6
    assert list(records._checksums(rows)) == []


def rewritten(folder: Path, table: str, column: str, text: Callable[[str], str]) -> None:
    """Change the first row's field that is not empty, and make the seal of its measurements anew."""
    path = folder / f"{table}.csv"
    rows = list(csv.DictReader(path.open(newline="", encoding="utf-8")))
    row = next(one for one in rows if one[column])
    row[column] = text(row[column])
    if table == "measurements":
        together = [one for one in rows if one["seal"] == row["seal"] and one["key"] == row["key"]]
        for one in together:
            one["seal"] = ""
        seal = records.seal_of(together)
        for one in together:
            one["seal"] = seal
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


SPELLINGS: dict[str, Callable[[str], str]] = {
    "a low line": lambda text: f"{text[0]}_{text[1:]}" if len(text) > 1 else f"0_{text}",
    "a blank before": lambda text: f" {text}",
    "a blank after": lambda text: f"{text} ",
    "a tab": lambda text: f"{text}\t",
    "a line's end": lambda text: f"{text}\n",
    "no-break blank": lambda text: f"{text}\N{NO-BREAK SPACE}",
    "a plus": lambda text: f"+{text}",
    "a leading zero": lambda text: f"0{text}",
    "a thousands comma": lambda text: f"1,{text}",
    "a decimal comma": lambda text: f"{text},5",
    "too large": lambda text: "1e400",
    "infinite": lambda text: "inf",
    "no number": lambda text: "NaN",
    "hexadecimal": lambda text: "0x1p3",
    "other digits": lambda text: "٣",
    "a full-width digit": lambda text: "９",
    "true": lambda text: "true",
    "a bare point": lambda text: f"{text.partition('.')[0]}.",
    "no digit before the point": lambda text: ".5",
    "two points": lambda text: "1.2.3",
    "a minus alone": lambda text: "-",
    "a fraction": lambda text: "1/2",
    "a percent sign": lambda text: f"{text}%",
}
COLUMNS = [
    (table, column)
    for table, columns in records.NUMBERS.items()
    for column in columns
    if column != "return"
]


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_number_in_an_odd_spelling_is_refused(
    root: Path, plan: Plan, sound: list[Record], tmp_path: Path, table: str, column: str
) -> None:
    """Whichever table and column it is in, though the same rows are sealed anew."""
    for number, (spelling, text) in enumerate(SPELLINGS.items()):
        folder = tmp_path / str(number) / "laptop"
        rewrite(folder, sound[:2])
        rewritten(folder, table, column, text)
        reads = functools.partial(records.read_all, folder, "laptop")
        for reading in (reads, functools.partial(evidence.take_in, plan, folder)):
            with pytest.raises(HypersphereError) as caught:
                reading()
            said = str(caught.value)
            assert said.startswith(f"{folder / table}.csv: "), (spelling, said)
            assert f": {column}: " in said, (spelling, said)
            assert "\n" not in said


def alone(*tables: str) -> Callable[[Path], None]:
    """Of these tables nothing but the header is left."""

    def empty(folder: Path) -> None:
        for name in tables:
            path = folder / f"{name}.csv"
            path.write_text(path.read_text().partition("\n")[0] + "\n")

    return empty


def without(*tables: str) -> Callable[[Path], None]:
    def remove(folder: Path) -> None:
        for name in tables:
            (folder / f"{name}.csv").unlink()

    return remove


# older records have no counts of repeated images
NEEDED = [name for name in records.TABLES if name != "datasets"]
EMPTIED = {
    **{f"no {name}": without(name) for name in NEEDED},
    **{f"an empty {name}": alone(name) for name in NEEDED},
    **{f"{name} alone": without(*(other for other in NEEDED if other != name)) for name in NEEDED},
    "headers alone": alone(*NEEDED),
    "no measurements and no protocols": without("measurements", "protocols"),
    "empty runs and history": alone("runs", "history"),
    "an empty file": lambda folder: (folder / "runs.csv").write_text(""),
    "a link to nothing": lambda folder: (
        (folder / "runs.csv").unlink(),
        (folder / "runs.csv").symlink_to("nowhere"),
    ),
}


@pytest.mark.parametrize("member", EMPTIED)
def test_a_table_that_is_missing_or_empty_is_refused(
    root: Path, plan: Plan, sound: list[Record], tmp_path: Path, member: str
) -> None:
    """And the scale is still one that the report reads, so that it does not pass for one without records."""

    def content(folder: Path) -> None:
        rewrite(folder, sound)
        EMPTIED[member](folder)

    imported, read = refusals(root, plan, content, tmp_path)
    assert imported == read or "holds no records" in imported
    assert re.search(r"(runs|history|measurements|protocols|environments)\.csv", read)
    assert judged_records.recorded_scales(root) == ["laptop"]


def test_who_adds_records_mends_what_a_kill_left(
    root: Path, plan: Plan, sound: list[Record]
) -> None:
    """The first tables alone, of the first record of all."""
    kept = plan.config.evidence
    for count in range(1, len(records.TABLES)):
        rewrite(kept, sound)
        without(*list(records.TABLES)[count:])(kept)
        assert evidence.add(kept, sound, plan) == sound
        assert records.read_folder(kept, "laptop", "laptop") == sound
        shutil.rmtree(kept)


def test_a_run_that_nothing_probed_has_a_record_without_measurements(
    root: Path, plan: Plan, sound: list[Record]
) -> None:
    """Its number is of its history."""
    bare = [changed(one, setting("evaluations", []), setting("evaluated_by", {})) for one in sound]
    assert evidence.add(plan.config.evidence, bare, plan) == bare
    assert records.read_folder(plan.config.evidence, "laptop", "laptop") == bare


def another_run(content: dict[str, Any]) -> None:
    """A rate that no arm has."""
    content["run"]["optimiser"]["learning_rate"] = 0.0123
    content["name"] = Run.model_validate_json(json.dumps(content["run"])).name


def another_dataset(content: dict[str, Any]) -> None:
    content["run"]["dataset"]["test_per_class"] = 1
    content["name"] = Run.model_validate_json(json.dumps(content["run"])).name


UNDECLARED: dict[str, tuple[str, Change]] = {
    "a protocol": ("measurements.csv: simclr-default-upright-s0-…: protocol", of_another_protocol),
    "a target": (
        "measurements.csv: simclr-default-upright-s0-…: target",
        setting("evaluations/0/target", "moon"),
    ),
    "a target of pixels": (
        "measurements.csv: simclr-default-upright-s0-…: target",
        lambda content: content["pixels"].append(
            content["evaluations"][-1] | {"target": "moon", "epoch": 0}
        ),
    ),
    "a run": ("runs.csv: simclr-default-upright-s0-…: run", another_run),
    "a dataset": ("runs.csv: simclr-default-upright-s0-…: run: dataset", another_dataset),
    "another digest": (
        "runs.csv: simclr-default-upright-s0-…: plan",
        setting("plan", "embedding_norms/study=01234567"),
    ),
    "another study": (
        "runs.csv: simclr-default-upright-s0-…: plan",
        setting("plan", "ours/step_size=240dde24"),
    ),
    "a second plan": (
        "runs.csv: simclr-default-upright-s0-…: plan",
        setting("plan", "ours/losses=eec5ca90;ours/step_size=240dde24"),
    ),
}


@pytest.mark.parametrize("member", UNDECLARED)
def test_what_nothing_declares_is_not_taken_in_and_where_it_is_read_it_is_said_and_counts_for_nothing(
    root: Path, plan: Plan, sound: list[Record], tmp_path: Path, names: Names, member: str
) -> None:
    """It may be of an earlier config, and stays."""
    place, change = UNDECLARED[member]
    strange = changed(sound[0], change)
    rewrite(tmp_path / "given", [strange, *sound[1:]])
    with pytest.raises(HypersphereError) as caught:
        evidence.take_in(plan, tmp_path / "given")
    names(caught.value, f"given/{place}")
    rewrite(root / "evidence" / "laptop", [*sound[1:], strange])
    read = recorded(root)
    (said,) = uncounted(read)
    assert strange.name in said
    assert said.rpartition("csv: ")[2] == str(caught.value).rpartition("csv: ")[2]


# Beside the number


def numbers(plan: Plan) -> tuple[dict[str, pd.DataFrame], dict[str, dict[str, Any]]]:
    """The tables of one artifact, and the claims of the project by id."""
    made = measure.judged_tables(plan, "embedding_norms", "table5", rules.load(plan.config.root))
    return made, {row["id"]: row for row in judge.of_encoders(plan).to_dict("records")}


def all_seeds(*changes: Change) -> Callable[[list[Record]], list[Record]]:
    """The baseline entered as the variant, every seed."""
    return lambda sound: [
        *sound[:3],
        *(changed(copy_as(sound[at], sound[3 + at].run), *changes) for at in range(3)),
    ]


def in_one_arm(*changes: Change) -> Callable[[list[Record]], list[Record]]:
    return lambda sound: [*sound[:3], *(changed(one, *changes) for one in sound[3:])]


TWINS = r"simclr-\S+-s(\d)-\S+ and simclr-\S+ trained alike"
CUDA = setting("device", {"name": "NVIDIA H100", "type": "cuda"})
TF32 = setting("numerics/tf32_convolutions", True)
SAID: dict[str, tuple[Callable[[list[Record]], list[Record]], str]] = {
    "the baseline as a variant, one seed": (
        lambda sound: [*sound[:3], copy_as(sound[0], sound[3].run), *sound[4:]],
        TWINS,
    ),
    "the baseline as a variant, every seed": (all_seeds(), rf"({TWINS}.*){{3}}"),
    "such a copy with other weights": (all_seeds(new_weights), TWINS),
    "such a copy with one digit of its history changed": (
        all_seeds(new_weights, history_of(one_digit("history/3/loss"))),
        TWINS,
    ),
    "such a copy with another history": (all_seeds(NEW_HISTORY), TWINS),
    "a GPU in one arm": (in_one_arm(CUDA), "runs of cpu and cuda are mixed"),
    "a GPU for one seed": (
        lambda sound: [*sound[:5], changed(sound[5], CUDA)],
        "runs of cpu and cuda are mixed",
    ),
    "bfloat16 in one arm": (
        in_one_arm(setting("numerics/precision", "bfloat16")),
        "runs of bfloat16 and float32 are mixed",
    ),
    "tf32 in one arm": (
        lambda sound: [
            changed(one, CUDA, *([TF32] if at > 2 else [])) for at, one in enumerate(sound)
        ],
        "runs of float32 and tf32 are mixed",
    ),
}


@pytest.mark.parametrize("member", SAID)
def test_arms_that_are_one_or_were_made_otherwise_are_said_beside_the_number(
    root: Path, plan: Plan, sound: list[Record], tmp_path: Path, member: str
) -> None:
    """They may be sound: a variant that never acts, and runs of two machines. Nothing is read from them."""
    change, expected = SAID[member]
    rewrite(tmp_path / "given", change(sound))
    evidence.take_in(plan, tmp_path / "given")
    read = recorded(root)
    made, judged = numbers(read)
    assert re.search(expected, "; ".join(likeness.unlike(made["runs"])))
    compared = [
        row for row in judged.values() if row["kind"] == "comparison" and "cut3" in row["runs"]
    ]
    assert compared
    for row in compared:
        assert re.search(expected, row["why"])
        assert row["answer"] == "cannot tell"


def test_where_a_second_record_of_a_run_stands_decides_nothing_and_it_is_said(
    root: Path, sound: list[Record]
) -> None:
    """Of another code, with other numbers, before or behind the first; and one of another precision never speaks."""
    other_code = setting("code", "1" * 16), setting("evaluations/0/value", 99.0), new_weights
    second = changed(sound[0], *other_code)
    third = changed(sound[0], setting("numerics/precision", "bfloat16"), *other_code)
    found = []
    for order in ([*sound, second, third], [third, second, *sound], [second, *sound, third]):
        rewrite(root / "evidence" / "laptop", order)
        read = recorded(root)
        assert read.records is not None
        found.append(read.records[sound[0].name])
        _, judged = numbers(read)
        said = {row["why"] for row in judged.values() if sound[0].name in row["runs"].split()}
        assert said
        assert all("1 run of several records, of which one counts" in why for why in said)
    assert found[0] == found[1] == found[2]
    assert {one.key for one in found[0]} == {one.key for one in (sound[0], second, third)}
    assert found[0][-1] == third


def test_a_published_scale_of_other_settings_is_not_taken_in_and_counts_for_nothing(
    root: Path, sound: list[Record], tmp_path: Path
) -> None:
    """A record of the laptop scale, entered under evidence/paper as one of the published scale."""
    scale = root / "config" / "scales" / "laptop.yaml"
    text = (
        scale.read_text()
        .replace("scale: laptop", "scale: paper")
        .replace("level: laptop", "level: paper")
    )
    scale.with_name("paper.yaml").write_text(text.replace("epochs: 4", "epochs: 8"))
    posing = [changed(one, setting("scale", "paper"), setting("level", "paper")) for one in sound]
    rewrite(tmp_path / "given", posing)
    published = planning.make(root, {"scale": "paper"})
    with pytest.raises(
        HypersphereError, match=r"runs.csv: simclr-\S+: run: no artifact of scale paper asks for it"
    ):
        evidence.take_in(published, tmp_path / "given")
    rewrite(root / "evidence" / "paper", posing)
    read = planning.make(root, {"scale": "paper", "evidence_only": True})
    assert read.runs == {}
    assert len(uncounted(read)) == len(posing)


# What cannot be told, and what must not be refused


def test_two_variants_whose_settings_are_one_are_one_run(plan: Plan) -> None:
    """So that no two records of different names stand for them."""
    run = next(one for one in plan.runs.values() if one.initialisation is None)
    same = Run.model_validate_json(run.model_dump_json())
    assert same.name == run.name


@pytest.mark.parametrize(
    ("member", "change"),
    [
        ("a forged value, sealed anew", setting("evaluations/0/value", 99.0)),
        ("a forged history, with its checksum", history_of(one_digit("history/1/loss"))),
        ("another initial number", setting("seconds", 1234.0)),
    ],
)
def test_what_cannot_be_told_is_listed_in_the_docs(
    root: Path, plan: Plan, sound: list[Record], tmp_path: Path, member: str, change: Change
) -> None:
    """It is taken in. If it is refused one day, the list has one entry less."""
    rewrite(tmp_path / "given", [changed(sound[0], change), *sound[1:]])
    assert len(evidence.take_in(plan, tmp_path / "given")) == len(sound)
    assert uncounted(recorded(root)) == []


def test_collapsed_and_diverged_runs_may_be_alike(
    root: Path, plan: Plan, sound: list[Record]
) -> None:
    """A collapsed run has one loss and norm in all epochs. One that diverges at once has none, and weights of nan."""

    def collapsed(content: dict[str, Any]) -> None:
        for row in content["history"]:
            row |= {"loss": 2.0794415, "norm": 0.0}

    def diverged(content: dict[str, Any]) -> None:
        content["history"] = [content["history"][0] | {"loss": None, "norm": None}]
        content |= {"status": "diverged", "epochs": 1}
        content["files"]["encoder.safetensors"] = "2" * 64
        for answer in content["evaluations"]:
            if answer["epoch"]:
                answer |= {"value": None, "n_test": None, "classes": None, "status": "diverged"}

    for change in (collapsed, diverged):
        both = [changed(one, history_of(change)) for one in sound[:3]]
        rewrite(root / "evidence" / "laptop", [*both, *sound[3:]])
        assert records.read_folder(root / "evidence" / "laptop", "laptop", "laptop")[:3] == both


def test_measures_are_in_range_for_the_made_up_values() -> None:
    """The control of ``made_up``: a value of 1 to 2 is possible for each measure of the project."""
    assert all(
        MEASURES[name].low <= 1 and MEASURES[name].high >= 2
        for name in ("knn_top1", "linear_top1", "norm")
    )
