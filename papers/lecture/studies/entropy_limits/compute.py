"""The possible entropies of a contrastive distribution: SimCLR's Table 5, as the lecture shows it.

The distribution is the softmax of an anchor's logits, cosine/temperature, over n = 4096 examples (caption of Table 5).
The caption does not say whether the anchor is one of them; n = 4095 moves every limit here by less than 0.001 nat. A
printed entropy is a mean over anchors, which obeys the limits of one anchor.
"""

from math import log

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from hypersphere.config.claims import load
from hypersphere.exact.study import Context, ExactStudy, between, everywhere, only, stack

EXAMPLES = 4096
UNIFORM = log(EXAMPLES)
ROUNDING = 0.05  # nats: half of the last printed decimal
TEMPERATURES = np.geomspace(0.02, 2.0, 161)


def two_level_entropy(k: Int[np.ndarray, "k"], n: int, gap: float) -> Float[np.ndarray, "k"]:
    """Entropy in nats of the softmax of n logits, k of them ``gap`` above the others."""
    # log of the sum minus the gap, exact near 0
    above = np.log(k) + np.log1p((n - k) / k * np.exp(-gap))
    of_upper = k * np.exp(-above) * above
    of_lower = (n - k) * np.exp(-above - gap) * (above + gap)
    return of_upper + of_lower


def limits(n: int, temperature: float) -> tuple[float, float, int]:
    """Limits of the entropy of a softmax of n logits that are free in [-1/temperature, 1/temperature].

    The highest entropy is ln n, at equal logits. For the lowest, let R = exp(2/temperature). The possible distributions
    are those with p_i <= R p_j for all i and j: a convex polytope. Entropy is strictly concave, so it is least at a
    vertex, that is, at a point from which no line leads inside in both directions. At a vertex the largest p is R times
    the smallest; otherwise no bound would be tight, and every small move would stay inside. No p lies strictly between
    the two; otherwise it could be raised or lowered, and all p scaled to sum 1, without leaving the polytope. So the
    logits have two levels, 2/temperature apart, with k of n at the top. The n - 1 values of k are tried.

    Returns:
        The lowest and the highest entropy in nats, and the number of logits at the top where it is lowest.
    """
    k = np.arange(1, n)
    entropies = two_level_entropy(k, n, 2 / temperature)
    least = int(entropies.argmin())
    return float(entropies[least]), log(n), int(k[least])


def entropy_limits(context: Context) -> ExactStudy:
    """The limits by temperature, and at each printed row; sentences about all six and about the highest one."""
    table = table5_limits(context)
    possible = map(between, table["claim"], table["lowest"], table["highest"])
    at_1 = only(table, temperature=1)
    answers = [
        *possible,
        everywhere("lecture.table5_entropy.at_most_uniform", table["printed"] <= UNIFORM),
        everywhere(
            "lecture.table5_entropy.uniform_at_1",
            (at_1["printed"] - UNIFORM).abs() <= ROUNDING,
        ),
    ]
    return ExactStudy({"table5_entropy": table5_entropy(table), "table5_limits": table}, answers)


def table5_limits(context: Context) -> pd.DataFrame:
    """The limits at each printed row.

    The rows are claims with the coordinates ``normalised`` and ``objective.temperature``, in nats. Without
    normalisation logits have no bounds, and the lowest entropy is 0.
    """
    rows = []
    for claim in load(context.config.claims_file(context.paper)):
        if claim.artifact != "table5_limits" or claim.reported is None:
            continue
        normalised = claim.coordinates["normalised"]
        temperature = float(claim.coordinates["objective.temperature"])
        lowest, highest, at_top = limits(EXAMPLES, temperature) if normalised else (0.0, UNIFORM, 1)
        rows.append(
            {
                "claim": claim.id,
                "normalised": normalised,
                "temperature": claim.coordinates["objective.temperature"],
                "printed": claim.reported,
                "lowest": lowest,
                "at_top": at_top,
                "highest": highest,
            }
        )
    return pd.DataFrame(rows).assign(examples=EXAMPLES)


def table5_entropy(table: pd.DataFrame) -> pd.DataFrame:
    """Curves of both limits by temperature, and the printed rows of normalised embeddings."""
    every = [limits(EXAMPLES, float(temperature)) for temperature in TEMPERATURES]
    curves = pd.DataFrame(every, columns=["lowest", "highest", "at_top"]).assign(
        temperature=TEMPERATURES
    )
    normalised = table[table["normalised"]]
    return stack(
        [
            curve("lowest", curves, "lowest"),
            curve("highest", curves, "highest"),
            curve("printed", normalised, "printed"),
            curve("row lowest", normalised, "lowest"),
        ]
    )


def curve(series: str, table: pd.DataFrame, column: str) -> pd.DataFrame:
    columns = {
        "series": series,
        "temperature": table["temperature"],
        "entropy": table[column],
    }
    return pd.DataFrame(columns).assign(examples=EXAMPLES)
