"""Sentences about printed numbers; expected places are counted by hand, of a table of four cells, or by plain loops."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from hypersphere.config.claims import load
from hypersphere.exact import sentences as study
from hypersphere.exact.study import ExactStudy

from ..printed import PAPERS, differences, table
from .shared import context, held

HEAD = (
    "id,kind,origin,artifact,method,variant,baseline,dataset,setting,metric,reported,reported_std,reading,"
    "sentence,source"
)
CELLS = {
    ("plain", "ten"): 80.4,
    ("new", "ten"): 81.9,
    ("plain", "hundred"): 50.0,
    ("new", "hundred"): 49.9,
}


def made(root: Path, checks: str) -> ExactStudy:
    """The study of a paper that prints ``CELLS``, and has one sentence, of these checks."""
    folder = root / "papers" / "p"
    folder.mkdir(parents=True)
    rows = [
        f"{variant}.{data},value,printed,t,simclr,{variant},,{data},,knn_top1,{number},,as printed,,T"
        for (variant, data), number in CELLS.items()
    ]
    rows.append("said,comparison,corrected,sentences,,,,,,share,,,M7,it says so,T")
    (folder / "claims.csv").write_text("\n".join([HEAD, *rows]) + "\n")
    (folder / "sentences.yaml").write_text(f"said:\n{checks}\n")
    return study.sentences(context("p", folder.parent))


@pytest.mark.parametrize(
    ("check", "holds", "places"),
    [
        ("{cells: {artifact: t, variant: new}, minus: {variant: plain}, is: above}", 1, 2),
        ("{cells: {artifact: t, variant: new}, minus: {variant: plain}, is: below}", 1, 2),
        ("{cells: {artifact: t, variant: new}, minus: {variant: plain}, is: at least, than: 1.5}", 1, 2),
        ("{cells: {artifact: t, variant: new}, minus: {variant: plain}, is: above, than: 1.5}", 0, 2),
        ("{cells: {artifact: t, variant: new}, minus: {variant: plain}, is: within, than: 0.1}", 1, 2),
        ("{cells: {artifact: t, variant: new}, minus: {variant: plain}, is: at most, than: 1.5}", 2, 2),
        ("{cells: {artifact: t, variant: new, dataset: ten}, minus: {variant: plain}, is: below, than: 1.5}", 0, 1),
        ("{cells: {artifact: t, dataset: ten}, is: between, than: [80, 81]}", 1, 2),
        ("{cells: {artifact: t}, take: range, by: [dataset], is: below, than: 1.5}", 1, 2),
        ("{cells: {artifact: t}, take: range, is: at most, than: 32}", 1, 1),
        ("{cells: {artifact: t}, take: largest, by: [variant], is: above, than: 81}", 1, 2),
        ("{cells: {artifact: t, variant: new}, minus: {variant: plain}, take: mean, is: at most, than: 0.7}", 1, 1),
        ("{cells: {artifact: t, dataset: ten}, take: mean, less: {dataset: hundred}, is: below, than: 31.4}", 1, 1),
        ("{cells: {artifact: t, variant: new}, minus: {dataset: [ten, hundred], variant: plain}, is: above}", 1, 2),
        (
            "{cells: {artifact: t, variant: new}, minus: {dataset: [ten, hundred], variant: plain}, against: any, "
            "is: below}",
            1, 2,
        ),
    ],
)  # fmt: skip
def test_places_that_hold(tmp_path: Path, check: str, holds: int, places: int) -> None:
    """Gains are 1.5 and -0.1, the means of datasets 81.15 and 49.95; 81.9 - 80.4 is 1.5, not 1.5000000000000142."""
    (answer,) = made(tmp_path, f"  checks: [{check}]").answers
    assert (answer.id, answer.reading) == ("said", "M7")
    assert answer.arms == {"held": [holds], "places": [places], "needed": [places]}


@pytest.mark.parametrize(("holds", "needed"), [("all", 4), ("most", 3), ("some", 1)])
def test_how_many_places_a_sentence_speaks_of(tmp_path: Path, holds: str, needed: int) -> None:
    found = made(
        tmp_path, f"  checks: [{{cells: {{artifact: t}}, is: above, than: 81}}]\n  holds: {holds}"
    )
    assert found.answers[0].arms["needed"] == [needed]
    (row,) = found.tables["sentences"].to_dict("records")
    assert (row["held"], row["places"], row["asked"]) == (1, 4, holds)
    assert (
        row["fails"] == "method=simclr;variant=plain;dataset=ten;artifact=t;measure=knn_top1: 80.4"
    )


@pytest.mark.parametrize(
    ("field", "checks"),
    [
        (
            "said_too",
            "{cells: {artifact: t}, is: above}]\nsaid_too:\n  checks: [{cells: {artifact: t}, is: above}",
        ),
        ("said.checks.0.cells", "{cells: {artifact: u}, is: above}"),
        ("said.checks.0.cells", "{cells: {artifact: t}, minus: {variant: old}, is: above}"),
        (
            "said.checks.0.minus",
            "{cells: {artifact: t, variant: new}, minus: {variant: new}, is: above}",
        ),
        ("said.checks.0.than", "{cells: {artifact: t}, is: between, than: 1}"),
        ("said.checks.0.take", "{cells: {artifact: t}, less: {variant: new}, is: above}"),
        ("said.checks.0.cells", "{cells: {variant: new}, is: above}"),
        ("said.checks.0.is", "{cells: {artifact: t}, is: nearly}"),
        (
            "said.checks.0.less",
            "{cells: {artifact: t}, take: mean, by: [dataset], less: {dataset: ten}, is: above}",
        ),
    ],
)
def test_a_wrong_check_is_one_sentence(
    tmp_path: Path, field: str, checks: str, refused: Any
) -> None:
    with refused("papers/p/sentences.yaml", field):
        made(tmp_path, f"  checks: [{checks}]")


# Of the five documents


@pytest.mark.parametrize(
    "paper", sorted(path.parent.name for path in PAPERS.glob("*/sentences.yaml"))
)
def test_every_sentence_is_a_claim_and_every_claim_a_sentence(paper: str) -> None:
    claims = load(PAPERS / paper / "claims.csv")
    told = {claim.id for claim in claims if claim.artifact == "sentences"}
    assert {answer.id for answer in study.sentences(context(paper)).answers} == told


def test_counts_by_plain_loops() -> None:
    found, above, places = held(study.sentences(context("margins"))), 0, 0
    for artifact, method in product(("table2", "table3"), ("mocov3", "simclr")):
        gains = differences(
            table("margins", artifact, "variant", "dataset", {"method": method}),
            "ratio",
            "baseline",
        )
        above, places = above + sum(gain > 0 for gain in gains), places + len(gains)
    assert found["margins.sentences.ratio"] == (above, places) == (16, 16)
    found = held(study.sentences(context("lmcl")))
    for claim, artifact, method, columns, least in (
        ("quick_thought", "table4", "qt", "target", 1),
        ("curl", "table5", "curl", "dataset", 1e-9),
    ):
        gains = differences(
            table("lmcl", artifact, "variant", columns, {"method": method}), "dp", "default"
        )
        assert found[f"lmcl.sentences.{claim}"] == (
            sum(gain >= least for gain in gains),
            len(gains),
        ), claim
