"""papers/*/claims.csv: whose a claim is, and what a claims file may say."""

import re
from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from hypersphere.config.claims import (
    PRINTED,
    SIGNS,
    Claim,
    load,
    why_not_made,
    why_not_measured,
)
from hypersphere.config.coordinates import text
from hypersphere.config.errata import load_errata
from hypersphere.config.measures import MEASURES
from hypersphere.exact import theorems

from ...fixtures import Planned, Refused
from ...golden.released import ROOT, configured
from .conftest import CELL, COMPARED, FIELDS, VALUE, table


@cache
def claims() -> list[Claim]:
    return [
        claim for file in sorted((ROOT / "papers").glob("*/claims.csv")) for claim in load(file)
    ]


@pytest.mark.parametrize("setting", ["batch.size=512;epoch=100", "epoch=100;batch.size=512.0"])
def test_the_coordinates_of_a_claim_are_those_of_a_cell(tmp_path: Path, setting: str) -> None:
    (claim,) = load(table(tmp_path, {"setting": setting, "reported": "56.5"}))
    assert claim.coordinates == {**CELL, "measure": "knn_top1", "batch.size": 512, "epoch": 100}
    assert (
        claim.text
        == "method=simclr;variant=cut;dataset=cats;batch.size=512;epoch=100;measure=knn_top1"
    )
    empty = {"method": "", "variant": "", "setting": "beta=1;m1=0.4", "metric": "", "reported": "3"}
    (claim,) = load(table(tmp_path, empty))
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
def test_a_baseline_is_a_variant_or_the_coordinates_that_differ(
    tmp_path: Path, baseline: str, expected: str
) -> None:
    row = {"kind": "comparison", "baseline": baseline, "setting": "logits.s=10", "reported": "4.5"}
    (claim,) = load(table(tmp_path, row))
    assert text(claim.compared_with) == expected
    assert claim.reported == 4.5  # as the paper prints it


HEADER = f"id,kind,origin,{FIELDS}"
UNREADABLE = {
    "empty": ("p.csv: line 1", ""),
    "two columns": ("p.csv: line 1", "id,kind\n"),
    "one more": ("p.csv: line 1", f"{HEADER},note\n"),
    "a derived one": ("p.csv: line 1", f"{HEADER},level\n"),
    "one less": ("p.csv: line 1", HEADER.replace(",origin", "")),
    "one twice": ("p.csv: line 1", f"{HEADER},kind\n"),
    "short": ("p.csv: line 2", f"{HEADER}\na,value\n"),
    "long": ("p.csv: line 2", f"{HEADER}\n{'x,' * 16}x\n"),
    "huge": ("p.csv: line 2", f"{HEADER}\n{'x' * 200_000}\n"),
    "quotes": ("p.csv: line 2", f'{HEADER}\n"a"b\n'),
    "latin1": ("p.csv", f"{HEADER}\ncaf\udce9\n"),
}


@pytest.mark.parametrize(("place", "content"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_of_claims_that_cannot_be_read(
    tmp_path: Path, refused: Refused, place: str, content: str
) -> None:
    (tmp_path / "p.csv").write_text(content, errors="surrogateescape")
    with refused(place):
        load(tmp_path / "p.csv")


BASELINE = {"variant": "baseline", "reported": "56.5"}
# each is another number: of another setting, measure, reading, artifact, dataset
OTHERS: list[dict[str, str]] = [
    {"reported": "1", "setting": "epoch=50"},
    {"reported": "2", "metric": "knn_top5"},
    {"reported": "3", "origin": "corrected", "reading": "M7"},
    {"reported": "4", "artifact": "t2"},
    {"reported": "5", "dataset": "dogs"},
]
EQUAL = COMPARED | {"direction": "equal"}
BY_SETTING = [
    COMPARED | {"setting": "logits.s=10", "baseline": "logits.s=1"},
    {"setting": "logits.s=10.0", "reported": "60"},
    {"setting": "logits.s=1", "reported": "62.5"},
]


@pytest.mark.parametrize(
    ("rows", "reported", "level"),
    [
        # and not 4.6000000000000014
        ([COMPARED, {"reported": "61.1"}, BASELINE, *OTHERS], 4.6, 56.5),
        (BY_SETTING, -2.5, 62.5),
        ([EQUAL, {"reported": "56.4"}, BASELINE], -0.1, 56.5),
        # no accuracy
        (
            [row | {"metric": "norm"} for row in (COMPARED, {"reported": "0.9"}, BASELINE)],
            -55.6,
            None,
        ),
        ([row | {"metric": "mce"} for row in (EQUAL, {"reported": "57"}, BASELINE)], 0.5, 56.5),
        ([COMPARED | {"direction": "larger"}], None, None),
        ([EQUAL], None, None),  # of a figure that prints no number
        ([{"kind": "comparison", "variant": ""}], None, None),
    ],
)
def test_a_comparison_reports_the_difference_of_its_two_printed_values_if_it_has_them(
    tmp_path: Path, rows: list[dict[str, str]], reported: float | None, level: float | None
) -> None:
    """The baseline's value decides the margin; it is no column, so that nobody types it."""
    said = load(table(tmp_path, *rows))[0]
    assert (said.reported, said.level) == (reported, level)


def test_what_is_printed_as_a_loss_is_no_sentence_of_gain() -> None:
    """Ours would else confirm a gain by measuring a loss."""

    def printed_gain(claim: Claim) -> float:
        """Above 0 if the printed difference is a gain, below 0 if a loss; where no value is better, more is a gain."""
        if claim.direction == "equal":
            return 0.0
        difference = SIGNS.get(claim.direction or "", claim.reported or 0.0)
        return (
            -difference if claim.metric and MEASURES[claim.metric].better == "lower" else difference
        )

    of_losses = (
        "A published loss, against the sentence: ",
        "Dino, whose objective has no cosine similarity, does not benefit from a cut.",
        "Larger batches slow down convergence.",
        "Larger objects suppress the learning of smaller ones.",
        "The best s grows with the batch: at our smallest batch,",
        "At s = 1 an extremely small c does matter,",
        "The curve matters more as s grows: at s = 40",
        "Distances tell right pairs of sentences from wrong ones more accurately with the regulariser than without, "
        "or with the debiased loss: right pairs are nearer.",
        "Under Adam too, a cut keeps norms small.",
        "After one epoch pairs are on opposite halves more often without negatives",
        "SimSiam's norms can shrink without weight decay",
        "A usual weight decay lowers norms.",
        "Excessive weight decay makes encoders collapse.",
        "On unbalanced classes, too, weight decay controls the norms.",
        "Where initial weights are multiplied, convergence is slower",
        "The contrastive accuracy does not go with the linear probe's",
    )
    told = [claim for claim in claims() if claim.kind == "comparison" and printed_gain(claim)]
    assert sum(printed_gain(claim) < 0 for claim in told) > 20
    assert [
        one.id for one in told if one.sentence.startswith(of_losses) != (printed_gain(one) < 0)
    ] == []


def test_readings_are_errata_and_what_an_erratum_reads_or_is_ours_is_not_counted_as_printed() -> (
    None
):
    """Of a printed number or sentence, and of what somebody makes of it, only one is the document's."""
    assert {part for claim in claims() for part in claim.reading.split(", ")} <= {
        PRINTED,
        *(one.id for one in LEDGER),
    }
    assert {claim.origin for claim in claims()} == {"printed", "corrected", "ours"}
    for claim in claims():
        assert claim.origin != "printed" or claim.reading == PRINTED, claim.id
        assert claim.origin == "ours" or not re.search(r"(^|[(;,] ?)ours\b", claim.source), claim.id


TABLE = {
    "draw": "table",
    "title": "A table",
    "rows": {"method.variant": ["simclr.cut"]},
    "measure": "knn_top1",
}
STUDY = {"draw": "study_table", "title": "A study", "study": "printed_numbers"}


def artifact_of(*datasets: str, **fields: Any) -> dict[str, Any]:
    return {**TABLE, "columns": {"dataset": list(datasets)}, **fields}


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
        (STUDY, {}, ""),
        (STUDY | {"needs": ["human_labels"]}, {}, "needs human labels, which are not here"),
        (STUDY | {"needs": ["human_labels"]}, {"provides": ["human_labels"]}, ""),
    ],
)
def test_why(
    planned: Planned, artifact: dict[str, Any], scale: dict[str, Any], reason: str
) -> None:
    plan = planned(paper={"artifacts.a": artifact}, scale=scale)
    assert why_not_made(plan, "p", "a") == reason
    assert why_not_made(plan, "p", "x") == "no artifact of this name is declared"


def test_why_not_where_the_paper_leaves_it_out(planned: Planned) -> None:
    plan = planned(paper={"artifacts.a": artifact_of("cats")}, at_scale={"leaves_out": ["a"]})
    assert why_not_made(plan, "p", "a") == "left out at this scale"


def claim(artifact: str = "table", **fields: str) -> Claim:
    """A printed number of cats under SimCLR with a cut initialisation, or what is changed."""
    empty = dict.fromkeys(("baseline", "setting", "sentence", "source"), "")
    own = {"id": "c", "artifact": artifact, "reported": "50", "reported_std": None}
    return Claim.model_validate({**VALUE, **CELL, **empty, **own, **fields})


PLACE = "method=simclr;variant={};dataset={};measure=knn_top1"


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (claim(), ""),
        (claim(kind="comparison", baseline="baseline"), ""),
        (claim(dataset="dogs"), "nothing stands for dogs at this scale"),
        (
            claim(kind="comparison", baseline="dataset=dogs"),
            "nothing stands for dogs at this scale",
        ),
        (
            claim(variant="hot"),
            f"no cell of table has the coordinates {PLACE.format('hot', 'cats')}",
        ),
        (
            claim(variant="baseline", kind="comparison", baseline="cut"),
            f"table does not compare {PLACE.format('baseline', 'cats')} with {PLACE.format('cut', 'cats')}",
        ),
        (claim("study"), ""),
        (claim("nothing"), "no artifact of this name is declared"),
    ],
)
def test_why_a_claim_is_not_measured(planned: Planned, one: Claim, reason: str) -> None:
    """Of a study, and of a table on cats and on dogs, for which nothing stands."""
    plan = planned(paper={"artifacts.study": STUDY}, scale={"datasets": {"dogs": None}})
    assert why_not_measured(plan, "p", one) == reason


CONFIG = configured()
LEDGER = load_errata(CONFIG)


def test_what_can_be_executed_is_shown_by_tests_and_statements_that_exist(
    missing_tests: Callable[[list[str]], list[str]],
) -> None:
    """Or by claims: statistics/test_studies.py checks that exact studies answer those of their artifacts."""
    known = {
        statement.id for paper in CONFIG.papers for statement in theorems.statements(CONFIG, paper)
    }
    known |= {claim.id for claim in claims()}
    named = [*chain.from_iterable(entry.tests for entry in LEDGER)]
    assert len(named) > 100
    assert missing_tests([name for name in named if name not in known]) == []
    assert [
        entry.id for entry in LEDGER if entry.kind in ("breaks", "claim") and not entry.tests
    ] == []


def test_entries_carry_their_documents_letter_and_stand_in_the_order_of_their_numbers() -> None:
    documents = ("margins", "lmcl", "embedding_norms", "lecture", "double_metric", "several")
    assert {entry.document for entry in LEDGER} == {*documents}
    for letter, document in zip("MLNSDX", documents, strict=True):
        ids = [entry.id for entry in LEDGER if entry.document == document]
        numbers = [
            (int(number), suffix)
            for i in ids
            for number, suffix in re.findall(rf"^{letter}(\d+)([a-z]?)$", i)
        ]
        assert numbers == sorted(numbers)
        assert len(numbers) == len(ids)
