"""Why an artifact is not made, or a claim not measured: one wording, whoever asks."""

from collections.abc import Callable
from typing import Any

import pytest

from hypersphere.config.claims import PRINTED, Claim, why_not_made, why_not_measured
from hypersphere.config.plan import Plan

ROWS = {"method.variant": ["simclr.cut"]}
TABLE = {"draw": "table", "title": "A table", "rows": ROWS, "measure": "knn_top1"}
TEXT = "runs on text"
STUDY = {"draw": "study_table", "title": "A study", "study": "cosine_field"}


def table(*datasets: str, **fields: Any) -> dict[str, Any]:
    return TABLE | {"columns": {"dataset": list(datasets)}} | fields


@pytest.mark.parametrize(
    ("artifact", "scale", "reason"),
    [
        (table("cats"), {}, ""),
        (table("cats", "birds"), {}, ""),  # something can be measured
        (table("birds"), {}, "no loader for birds yet"),
        (
            table("birds", "dogs"),
            {"datasets": {"dogs": None}},
            "no loader for birds yet; nothing stands for dogs at this scale",
        ),
        (table("cats", missing="runs on text"), {}, "runs on text"),
        (table("cats"), {"leaves_out": ["p/a"]}, "left out at this scale"),
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


CELL = "method=simclr;variant={};dataset={};measure=knn_top1"


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (claim(), ""),
        (claim(kind="comparison", baseline="baseline"), ""),
        (claim(dataset="dogs"), "nothing stands for dogs at this scale"),
        (claim(kind="comparison", baseline="dataset=dogs"), "nothing stands for dogs at this scale"),
        (claim(variant="hot"), f"no cell of table has the coordinates {CELL.format('hot', 'cats')}"),
        (
            claim(variant="baseline", kind="comparison", baseline="cut"),
            f"table does not compare {CELL.format('baseline', 'cats')} with {CELL.format('cut', 'cats')}",
        ),
        (claim("study"), ""),
        (claim("needy"), "needs human labels, which are not here"),
        (claim("text"), "runs on text"),
        (claim("nothing"), "no artifact of this name is declared"),
    ],
)
def test_why_a_claim_is_not_measured(planned: Callable[..., Plan], one: Claim, reason: str) -> None:
    """One seed of a table on cats and dogs, for which nothing stands; two studies; and a table of another kind."""
    artifacts = {"study": STUDY, "needy": STUDY | {"needs": ["human_labels"]}, "text": table("cats", missing=TEXT)}
    paper = {f"artifacts.{name}": artifact for name, artifact in artifacts.items()}
    plan = planned(paper=paper, scale={"datasets": {"dogs": None}})
    assert why_not_measured(plan, "p", one) == reason
