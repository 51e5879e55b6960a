"""scorecard.json: the numbers that the scorecard shows, for `dvc metrics` and for other programs."""

import math
from typing import Any

from hypersphere.present import claims
from hypersphere.present.results import Results


def numbers(results: Results) -> dict[str, Any]:
    """How many claims have each verdict, and the mean and n of every cell that was measured.

    All of it stands under the name of the scale, and a cell says what it was really measured on where that is another
    dataset, so that no number is read without either. Counts are by what answers a claim, and by whose it is:
    ``quick: claims: printed: {not run: 40}``, ``quick: embedding_norms: table5: method=simclr;…: {mean: 83.2, n: 5}``.

    Raises:
        HypersphereError: a results file is missing.
    """
    measured, studied, stated = claims.apart(claims.entries(results))
    kinds = {"claims": measured, "exact studies": studied, "theorems": stated}
    counts = {kind: {count.origin: _by_verdict(count) for count in claims.counts(own)} for kind, own in kinds.items()}
    cells = {paper: _cells(results, paper) for paper in results.config.papers}
    return {results.config.scale_name: {**counts, **{paper: found for paper, found in cells.items() if found}}}


def _by_verdict(count: claims.Count) -> dict[str, int]:
    return {verdict: many for verdict, _, many in count.verdicts}


def _cells(results: Results, paper: str) -> dict[str, Any]:
    """The measured cells of each artifact made from runs, controls among them."""
    measured = results.config.papers[paper].measured
    return {
        name: {cell: _cell(row) for cell, row in results.artifact(paper, name).summary.items() if _known(row)}
        for name in results.made(paper)
        if name in measured
    }


def _known(row: dict[str, Any]) -> bool:
    return not math.isnan(row["mean"]) or _whole(row["n_diverged"]) > 0


def _whole(value: float) -> int:
    return 0 if math.isnan(value) else int(value)


def _cell(row: dict[str, Any]) -> dict[str, float | int | str]:
    """The mean over n pretrainings; n = 0 for chance and raw pixels, which are one number and no mean of runs."""
    mean = {} if math.isnan(row["mean"]) else {"mean": row["mean"]}
    lost, on = _whole(row["n_diverged"]), row["measured_on"]
    elsewhere = {"measured_on": on} if on and on != row["dataset"] else {}
    return {**mean, "n": _whole(row["n"]), **({"diverged": lost} if lost else {}), **elsewhere}
