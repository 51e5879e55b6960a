"""Made-up rows of results/report/{claims,ladder,criteria,findings}.csv, on documents of the released config."""

import math
from typing import Any

import pandas as pd

from hypersphere.provenance import columns, tables

EMPTY: dict[str, Any] = {
    name: math.nan if kind == "number" else "" for name, kind in columns.KNOWN.items()
}


def comparison(
    name: str, printed: float | str, ours: float = math.nan, half: float = 1.0, **given: Any
) -> dict[str, Any]:
    """A comparison of encoders: MoCo v3 with emphasised positives on CIFAR-10, with an interval of 2 ``half``."""
    row = {
        **{
            "id": name,
            "kind": "comparison",
            "origin": "printed",
            "answered_by": "encoder",
            "paper": "margins",
        },
        **{
            "artifact": "table2",
            "method": "mocov3",
            "variant": "pos",
            "baseline": "baseline",
            "dataset": "cifar10",
        },
        **{
            "metric": "linear_top1",
            "reading": "as printed",
            "source": "Table 2",
            "reported": f"{printed}",
        },
        **{"settle": "make reproduce SCALE=paper ONLY=margins/table2", "gpu_hours": 120.0},
    }
    if math.isnan(ours):
        row |= {
            "rung": "nothing",
            "answer": "not tested",
            "certainty": "none",
            "verdict": "not run",
        }
    else:
        row |= {
            **{
                "rung": "laptop",
                "scale": "laptop",
                "answer": "cannot tell",
                "certainty": "very low",
            },
            **{
                "verdict": "laptop only",
                "direction": "unclear",
                "measured": f"{ours}",
                "n": 5.0,
                "device": "cpu",
            },
            **{
                "low": ours - 2 * half,
                "high": ours + 2 * half,
                "seeds": "0 1 2 3 4",
                "reasons": "n = 3",
            },
            **{
                "low_unadjusted": ours - half,
                "high_unadjusted": ours + half,
                "differs": "batches of 64 for 256",
            },
        }
    return EMPTY | row | given


def table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return tables.as_read(pd.DataFrame(rows, columns=list(columns.KNOWN)), columns.KNOWN)


def stated(name: str, kind: str, answer: str, **given: Any) -> dict[str, Any]:
    """A theorem or a text's sentence, and its answer."""
    found = {
        "id": name,
        "kind": kind,
        "origin": "printed",
        "answered_by": kind,
        "paper": "margins",
        "answer": answer,
    }
    found |= {
        "sentence": f"Sentence {name}",
        "artifact": name,
        "reading": "as printed",
        "source": "Eq. 1",
    }
    if kind == "sentence":
        found |= {"kind": "comparison", "rung": "own_table", "certainty": "none", "verdict": answer}
        return (
            EMPTY
            | found
            | {"study": "sentences", "metric": "share", "measured": "50", "n": 4.0}
            | given
        )
    found |= {"rung": "proof", "certainty": "high", "verdict": "no counterexample"}
    drawn = {"draws": 100.0, "met": 90.0, "violated": 0.0, "measured": "0.5"}
    if answer == "fails":
        found |= {
            "verdict": "refuted",
            "counterexample": '{"theta": [0.0], "left": 0.8, "right": 0.5}',
        }
        drawn["violated"] = 7.0
    return EMPTY | found | drawn | given


NORMS = {"paper": "embedding_norms", "artifact": "table5", "method": "simsiam", "variant": "cut9"}
NORMS |= {"baseline": "default", "dataset": "cifar10_lt", "metric": "knn_top1"}
CLAIMS = [
    stated("theorem.false", "theorem", "fails", reading="M2"),
    stated("theorem.true", "theorem", "holds", certainty="moderate"),
    stated("text.one", "sentence", "its table bears it", artifact="sentences"),
    comparison("pos.gain", 1.25, -8.8, floored="variant", runs="one two"),
    comparison("pos.small", 1.0, 0.5, 3.0, variant="ratio"),
    comparison("pos.later", 2.0, variant="curv", origin="implied"),
    comparison(
        "cut.gain", 14.7, -10.0, answer="opposite", direction="opposite", certainty="low", **NORMS
    ),
]
FEWER = CLAIMS[3] | {"scale": "workstation", "measured": "-3.0", "n": 2.0, "reasons": "n = 2"}
"""What another scale says of a claim that has better evidence."""
FINDING = {
    **{
        "id": "cut",
        "paper": "embedding_norms",
        "question": "Does cut-initialisation help SimSiam?",
    },
    **{
        "outcome": "opposite",
        "headline": "A cut harms SimSiam.",
        "sentence": "A cut harms SimSiam. It loses 10 points.",
    },
    **{"lead": "1", "about": "cut.gain", "leading": "cut.gain"},
    **{"certainty": "low", "reasons": "few images", "holds": 0, "direction_only": 0, "fails": 0},
    **{"opposite": 1, "cannot_tell": 0, "not_tested": 0},
}
UNKNOWN = FINDING | {
    **{
        "id": "rest",
        "paper": "several",
        "question": "What do we not know?",
        "outcome": "cannot tell",
    },
    **{
        "headline": "Almost all.",
        "sentence": "Almost all. Our encoders are small.",
        "lead": "not known",
    },
    **{"about": "pos.gain pos.small", "leading": "pos.gain", "certainty": "none", "reasons": ""},
}
FINDINGS = [FINDING, UNKNOWN]
