"""Why an artifact is not made: one wording, whoever asks."""

from collections.abc import Callable
from typing import Any

import pytest

from hypersphere.declared.plan import Plan
from hypersphere.declared.reasons import why_not_made

ROWS = {"method.variant": ["simclr.cut"]}
TABLE = {"draw": "table", "title": "A table", "rows": ROWS, "measure": "knn_top1"}
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
