"""config/papers/*/claims.csv: whose a claim is, and what a claims file may say."""

import csv
import re
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere.config import claims as printed
from hypersphere.config import project
from hypersphere.config.claims import PRINTED, Claim, load, load_errata, why_not_made, why_not_measured
from hypersphere.config.coordinates import text
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.theory import build

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "config" / "papers").glob("*/claims.csv"))
FIELDS = (
    "artifact,method,variant,baseline,dataset,setting,metric,reported,reported_std,reading,sentence,source,direction"
)


@cache
def claims() -> list[Claim]:
    """Of every paper."""
    return [claim for file in FILES for claim in load(file)]


def written(folder: Path, origin: str, reading: str) -> Path:
    file = folder / "p.csv"
    file.write_text(f'id,kind,origin,{FIELDS}\na,theorem,{origin},t,,,,,,,,,{reading},"it holds",Theorem 1,\n')
    return file


@pytest.mark.parametrize(
    ("origin", "reading"), [("printed", PRINTED), ("ours", PRINTED), ("corrected", "M7"), ("ours", "M7")]
)
def test_a_claim_is_printed_corrected_or_ours(tmp_path: Path, origin: str, reading: str) -> None:
    (claim,) = load(written(tmp_path, origin, reading))
    assert (claim.origin, claim.reading) == (origin, reading)


@pytest.mark.parametrize(
    ("origin", "reading", "message"),
    [
        ("corrected", PRINTED, r"reading: must be an erratum where origin is corrected"),
        ("theirs", PRINTED, r"origin: input should be 'printed', 'implied', 'corrected' or 'ours' \(given: 'theirs'\)"),
    ],
)
def test_a_wrong_origin_is_one_sentence(tmp_path: Path, origin: str, reading: str, message: str) -> None:
    with pytest.raises(HypersphereError, match=rf"p\.csv: line 2 \(a\)\.{message}"):
        load(written(tmp_path, origin, reading))


def test_an_origin_is_required(tmp_path: Path) -> None:
    file = written(tmp_path, "printed", PRINTED)
    file.write_text(file.read_text().replace(",origin", "").replace(",printed", ""))
    with pytest.raises(HypersphereError, match="line 1: the columns must be"):
        load(file)


# Coordinates

VALUE = {"kind": "value", "origin": "printed", "artifact": "t", "reading": PRINTED, "metric": "knn_top1"}
CELL = {"method": "simclr", "variant": "cut", "dataset": "cats"}
COMPARED = {"kind": "comparison", "baseline": "baseline"}


def table(folder: Path, *rows: dict[str, str]) -> Path:
    """A file of claims a, b, c …, each of which begins as ``VALUE`` and ``CELL`` do."""
    file = folder / "p.csv"
    with file.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, ["id", "kind", "origin", *FIELDS.split(",")], restval="", lineterminator="\n")
        writer.writeheader()
        for name, row in zip("abcdefgh", rows, strict=False):
            writer.writerow({"id": name, **VALUE, **CELL, **row})
    return file


@pytest.mark.parametrize("setting", ["batch.size=512;epoch=100", "epoch=100;batch.size=512.0"])
def test_the_coordinates_of_a_claim_are_those_of_a_cell(tmp_path: Path, setting: str) -> None:
    (claim,) = load(table(tmp_path, {"setting": setting, "reported": "56.5"}))
    assert claim.coordinates == {**CELL, "measure": "knn_top1", "batch.size": 512, "epoch": 100}
    assert claim.text == "method=simclr;variant=cut;dataset=cats;batch.size=512;epoch=100;measure=knn_top1"


def test_what_a_claim_leaves_empty_is_no_coordinate(tmp_path: Path) -> None:
    row = {"method": "", "variant": "", "setting": "beta=1;m1=0.4", "metric": "", "reported": "3"}
    (claim,) = load(table(tmp_path, row))
    assert claim.text == "dataset=cats;beta=1;m1=0.4"


@pytest.mark.parametrize(
    ("baseline", "expected"),
    [
        ("baseline", "method=simclr;variant=baseline;dataset=cats;logits.s=10;measure=knn_top1"),
        ("logits.s=1", "method=simclr;variant=cut;dataset=cats;logits.s=1;measure=knn_top1"),
        (
            "method=simsiam;variant=hot;epoch=50",
            "method=simsiam;variant=hot;dataset=cats;logits.s=10;epoch=50;measure=knn_top1",
        ),
    ],
)
def test_a_baseline_is_a_variant_or_the_coordinates_that_differ(tmp_path: Path, baseline: str, expected: str) -> None:
    row = {"kind": "comparison", "baseline": baseline, "setting": "logits.s=10", "reported": "4.5"}
    (claim,) = load(table(tmp_path, row))
    assert text(claim.compared_with) == expected
    assert claim.reported == 4.5  # as the paper prints it


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"setting": "epoch 120, tau 0.07"}, "setting: 'epoch 120, tau 0.07' is not key=value"),
        ({"setting": "epoch=1;epoch=2"}, "setting: epoch is given twice"),
        ({"setting": "variant=hot"}, "setting: variant has a column of its own"),
        ({"setting": "epoch=3;measure=norm"}, "setting: measure has a column of its own"),
        (COMPARED | {"baseline": "logits.s=1,2"}, "baseline: 'logits.s=1,2' is not key=value"),
        ({"metric": "top1"}, "metric: 'top1' is not one of"),
        ({"reported": "nan"}, "reported: must be a number, or inf for steps that never end"),
        (COMPARED | {"direction": "equal", "metric": "norm"}, "direction: 'equal' needs a metric with a margin"),
        (COMPARED | {"direction": "smaller"}, "direction: input should be 'larger' or 'equal'"),
        ({"kind": "guess"}, "kind: input should be 'value', 'comparison' or 'theorem'"),
    ],
)
def test_a_claim_that_cannot_be_read_is_one_sentence(tmp_path: Path, row: dict[str, str], words: str) -> None:
    with pytest.raises(HypersphereError) as caught:
        load(table(tmp_path, {"reported": "1", "setting": ""}, {"reported": "2", "setting": "epoch=1"} | row))
    assert str(caught.value).startswith(f"{tmp_path / 'p.csv'}: line 3 (b).{words}")


# What a comparison reports


def test_a_comparison_reports_the_difference_of_its_two_printed_values(tmp_path: Path) -> None:
    """61.1 - 56.5 is 4.6, and not 4.6000000000000014."""
    others: list[dict[str, str]] = [  # each is another number: of another setting, measure, reading, artifact, dataset
        {"reported": "1", "setting": "epoch=50"},
        {"reported": "2", "metric": "knn_top5"},
        {"reported": "3", "origin": "corrected", "reading": "M7"},
        {"reported": "4", "artifact": "t2"},
        {"reported": "5", "dataset": "dogs"},
    ]
    rows = [COMPARED, {"reported": "61.1"}, {"variant": "baseline", "reported": "56.5"}, *others]
    assert load(table(tmp_path, *rows))[0].reported == 4.6


def test_a_comparison_of_settings_reports_theirs(tmp_path: Path) -> None:
    rows = [
        COMPARED | {"setting": "logits.s=10", "baseline": "logits.s=1"},
        {"setting": "logits.s=10.0", "reported": "60"},
        {"setting": "logits.s=1", "reported": "62.5"},
    ]
    assert load(table(tmp_path, *rows))[0].reported == -2.5


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{}], "a: reported: a value claim needs the printed number"),
        (
            [COMPARED, {"reported": "61.1"}],
            "a: needs exactly one value claim for 'method=simclr;variant=baseline;dataset=cats;measure=knn_top1' of t; "
            "there are 0",
        ),
        (
            [COMPARED, {"reported": "61.1"}, {"reported": "61.2"}, {"variant": "baseline", "reported": "50"}],
            "a: needs exactly one value claim for 'method=simclr;variant=cut;dataset=cats;measure=knn_top1' of t; "
            "there are 2",
        ),
    ],
)
def test_a_number_that_is_not_there_is_said(tmp_path: Path, rows: list[dict[str, str]], words: str) -> None:
    with pytest.raises(HypersphereError) as caught:
        load(table(tmp_path, *rows))
    assert str(caught.value) == f"{tmp_path / 'p.csv'}: {words}"


def test_a_sentence_of_no_effect_knows_the_printed_difference_and_its_baseline(tmp_path: Path) -> None:
    """The baseline's 56.5 decides the margin; it is no column, so that nobody types it."""
    rows = [COMPARED | {"direction": "equal"}, {"reported": "56.4"}, {"variant": "baseline", "reported": "56.5"}]
    (said, *_) = load(table(tmp_path, *rows))
    assert (said.reported, said.level) == (-0.1, 56.5)
    file = table(tmp_path, *rows)
    file.write_text(file.read_text().replace(",direction", ",direction,level", 1))
    with pytest.raises(HypersphereError, match="the columns must be"):
        load(file)


@pytest.mark.parametrize("row", [COMPARED | {"direction": "larger"}, {"kind": "comparison", "variant": ""}])
def test_a_sentence_without_a_number_reports_none(tmp_path: Path, row: dict[str, str]) -> None:
    assert load(table(tmp_path, row))[0].reported is None


@pytest.mark.parametrize(
    ("metric", "second", "refused"),
    [
        ("knn_top1", "-0.5", True),
        ("knn_top1", "0.5", False),
        ("mce", "0.5", True),  # of two errors the lower is a gain
        ("mce", "-0.5", False),
    ],
)
def test_one_sentence_is_not_of_a_printed_gain_and_of_a_loss(
    tmp_path: Path, metric: str, second: str, refused: bool
) -> None:
    first = "-2" if metric == "mce" else "2"
    said = COMPARED | {"sentence": "The cut helps.", "metric": metric}
    rows = [said | {"id": "a", "reported": first}, said | {"id": "b", "reported": second, "dataset": "dogs"}]
    with pytest.raises(HypersphereError, match="b: sentence: is also that of a") if refused else nullcontext():
        load(table(tmp_path, *rows))
    load(table(tmp_path, rows[0], rows[1] | {"sentence": "Not here."}))


def test_an_id_twice_is_said(tmp_path: Path) -> None:
    with pytest.raises(HypersphereError, match=r"p\.csv: line 3: id: 'a' is given twice$"):
        load(table(tmp_path, {"reported": "1"}, {"reported": "2", "id": "a"}))


# Of the five documents


SAY_LOSS = (
    "A printed loss, against the sentence: ",
    "Dino, whose objective has no cosine similarity, does not benefit from a cut.",
    "Larger batches slow down convergence.",
    "Larger objects suppress the learning of smaller ones.",
)
"""How a sentence begins that is said of a printed loss."""


def test_what_is_printed_as_a_loss_is_no_sentence_of_gain() -> None:
    """Ours would else confirm a gain by measuring a loss."""
    losses = [claim for claim in claims() if claim.kind == "comparison" and claim.printed_gain < 0]
    assert len(losses) > 20
    assert [claim.id for claim in losses if not claim.sentence.startswith(SAY_LOSS)] == []
    gains = [claim for claim in claims() if claim.kind == "comparison" and claim.printed_gain > 0]
    assert [claim.id for claim in gains if claim.sentence.startswith(SAY_LOSS)] == []


def test_every_reading_is_as_printed_or_errata() -> None:
    known = {entry.id for entry in load_errata(project.load(ROOT, {}))}
    readings = {part for claim in claims() for part in claim.reading.split(", ")}
    assert readings - {PRINTED} <= known


def test_what_an_erratum_reads_is_not_counted_as_printed() -> None:
    """Of a printed number or sentence, and of what somebody makes of it, only one is the document's."""
    assert not [claim.id for claim in claims() if claim.origin == "printed" and claim.reading != PRINTED]


def test_a_source_that_says_ours_is_ours() -> None:
    def says_so(claim: Claim) -> bool:
        return re.search(r"(^|[(;,] ?)ours\b", claim.source) is not None

    assert [claim.id for claim in claims() if says_so(claim) and claim.origin != "ours"] == []
    assert {claim.origin for claim in claims()} == {"printed", "corrected", "ours"}


ROWS = {"method.variant": ["simclr.cut"]}
TABLE = {"draw": "table", "title": "A table", "rows": ROWS, "measure": "knn_top1"}
STUDY = {"draw": "study_table", "title": "A study", "study": "cosine_field"}


def artifact_of(*datasets: str, **fields: Any) -> dict[str, Any]:
    return TABLE | {"columns": {"dataset": list(datasets)}} | fields


@pytest.mark.parametrize(
    ("artifact", "scale", "reason"),
    [
        (artifact_of("cats"), {}, ""),
        (artifact_of("cats", "birds"), {}, ""),  # something can be measured
        (artifact_of("birds"), {}, "no loader for birds yet"),
        (
            artifact_of("birds", "dogs"),
            {"datasets": {"dogs": None}},
            "no loader for birds yet; nothing stands for dogs at this scale",
        ),
        (artifact_of("cats", missing="runs on text"), {}, "runs on text"),
        (artifact_of("cats"), {"leaves_out": ["p/a"]}, "left out at this scale"),
        (STUDY, {}, ""),
        (STUDY | {"needs": ["human_labels"]}, {}, "needs human labels, which are not here"),
        (STUDY | {"needs": ["human_labels"]}, {"provides": ["human_labels"]}, ""),
    ],
)
def test_why(planned: Callable[..., Plan], artifact: dict[str, Any], scale: dict[str, Any], reason: str) -> None:
    plan = planned(paper={"artifacts.a": artifact}, scale=scale)
    assert why_not_made(plan, "p", "a") == reason


def test_what_is_not_declared(planned: Callable[..., Plan]) -> None:
    assert why_not_made(planned(), "p", "x") == "no artifact of this name is declared"


def claim(artifact: str = "table", **fields: str) -> Claim:
    """A printed number of cats under SimCLR with a cut initialisation, or what is changed."""
    empty = dict.fromkeys(("baseline", "setting", "sentence", "source"), "")
    named = {"method": "simclr", "variant": "cut", "dataset": "cats", "metric": "knn_top1"}
    number = {"reported": "50", "reported_std": None, "reading": PRINTED}
    whole = {
        "id": "c",
        "kind": "value",
        "origin": "printed",
        "artifact": artifact,
        **empty,
        **named,
        **number,
        **fields,
    }
    return Claim.model_validate(whole)


PLACE = "method=simclr;variant={};dataset={};measure=knn_top1"


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (claim(), ""),
        (claim(kind="comparison", baseline="baseline"), ""),
        (claim(dataset="dogs"), "nothing stands for dogs at this scale"),
        (claim(kind="comparison", baseline="dataset=dogs"), "nothing stands for dogs at this scale"),
        (claim(variant="hot"), f"no cell of table has the coordinates {PLACE.format('hot', 'cats')}"),
        (
            claim(variant="baseline", kind="comparison", baseline="cut"),
            f"table does not compare {PLACE.format('baseline', 'cats')} with {PLACE.format('cut', 'cats')}",
        ),
        (claim("study"), ""),
        (claim("needy"), "needs human labels, which are not here"),
        (claim("text"), "runs on text"),
        (claim("nothing"), "no artifact of this name is declared"),
    ],
)
def test_why_a_claim_is_not_measured(planned: Callable[..., Plan], one: Claim, reason: str) -> None:
    """One seed of a table on cats and dogs, for which nothing stands; two studies; and a table of another kind."""
    artifacts = {
        "study": STUDY,
        "needy": STUDY | {"needs": ["human_labels"]},
        "text": artifact_of("cats", missing="runs on text"),
    }
    paper = {f"artifacts.{name}": artifact for name, artifact in artifacts.items()}
    plan = planned(paper=paper, scale={"datasets": {"dogs": None}})
    assert why_not_measured(plan, "p", one) == reason


LEDGER = printed.load_errata(project.load(ROOT, {}))
STATEMENTS = {statement.id for paper in build.documents() for statement in build.statements(paper)}
ANSWERED = {claim.id for file in (ROOT / "config" / "papers").glob("*/claims.csv") for claim in printed.load(file)}
"""Claims: test_present_studies.py checks that exact studies answer those of their artifacts."""
ENTRY: dict[str, Any] = {
    "id": "M1",
    "place": "Eq. 10",
    "kind": "breaks",
    "printed": "x",
    "chosen": "y",
    "decided": "z",
    "tests": [],
}


def test_every_test_and_statement_that_is_named_exists(missing_tests: Callable[[list[str]], list[str]]) -> None:
    named = [name for entry in LEDGER for name in entry.tests]
    assert len(named) > 100
    assert missing_tests([name for name in named if name not in STATEMENTS | ANSWERED]) == []


def test_what_can_be_executed_is_shown() -> None:
    assert [entry.id for entry in LEDGER if entry.kind in ("breaks", "claim") and not entry.tests] == []


def test_ids_carry_their_documents_letter() -> None:
    letters = {
        "margins": "M",
        "lmcl": "L",
        "embedding_norms": "N",
        "lecture": "S",
        "double_metric": "D",
        "several": "X",
    }
    for entry in LEDGER:
        assert entry.id.startswith(letters[entry.document])
    assert {entry.document for entry in LEDGER} == set(letters)


def test_entries_stand_in_the_order_of_their_numbers() -> None:
    for letter in "MLNSDX":
        ids = [entry.id for entry in LEDGER if entry.id.startswith(letter)]
        numbers = [
            (int(number), suffix) for number, suffix in (re.fullmatch(r".(\d+)([a-z]?)", i).groups() for i in ids)
        ]  # type: ignore[union-attr]
        assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        (
            [ENTRY | {"kind": "oops"}],
            r"errata\.yaml: M1\.kind: .*'breaks', 'ambiguous', 'claim', 'typo' or 'extraction'",
        ),
        ([ENTRY | {"printed": " "}], r"errata\.yaml: M1\.printed: "),
        ([ENTRY | {"page": 3}], r"errata\.yaml: M1\.page: unknown; .*llowed: id, document, place"),
        ([{k: v for k, v in ENTRY.items() if k != "decided"}], r"errata\.yaml: M1\.decided: this key is required"),
        ([ENTRY | {"document": "lmcl"}], r"errata\.yaml: M1\.document: its folder says which document it is about"),
        ([ENTRY, ENTRY], r"errata\.yaml: id: M1 is given twice"),
        ({"M1": ENTRY}, r"errata\.yaml: must be a list of entries"),
    ],
)
def test_a_wrong_entry_is_one_sentence(tmp_path: Path, entries: Any, sentence: str) -> None:
    loaded = project.load(ROOT, {})
    folders = dict.fromkeys(loaded.papers, tmp_path / "nothing") | {"margins": tmp_path}
    config = loaded.model_copy(update={"root": tmp_path, "folders": folders})
    (tmp_path / printed.ERRATA).write_text(yaml.safe_dump(entries))
    with pytest.raises(HypersphereError, match=sentence):
        printed.load_errata(config)
