"""scorecard.json: the scorecard's numbers, for `dvc metrics` and other programs."""

import math
from typing import Any

from hypersphere.report import claims
from hypersphere.report.results import Results


def numbers(results: Results) -> dict[str, Any]:
    """The number of claims for each verdict, and the mean and n of every measured cell.

    All is under the name of the scale, and a cell names the dataset that stood in for its own, so that no number is
    read without either. Counts are by what answers a claim, and by the claim's origin:
    ``quick: claims: printed: {not run: 40}``, ``quick: embedding_norms: table5: method=simclr;…: {mean: 83.2, n: 5}``.

    Raises:
        HypersphereError: a results file is missing.
    """
    measured, studied, stated = claims.apart(claims.entries(results))
    kinds = {"claims": measured, "exact studies": studied, "theorems": stated}
    counts = {
        kind: {count.origin: _by_verdict(count) for count in claims.counts(entries)} for kind, entries in kinds.items()
    }
    cells = {paper: _cells(results, paper) for paper in results.config.papers}
    return {results.config.scale_name: {**counts, **{paper: of_paper for paper, of_paper in cells.items() if of_paper}}}


def _by_verdict(count: claims.Count) -> dict[str, int]:
    return {verdict: number for verdict, _, number in count.verdicts}


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
    """The mean over n pretrainings; n = 0 for chance and raw pixels, which are no means of runs."""
    mean = {} if math.isnan(row["mean"]) else {"mean": row["mean"]}
    diverged, on = _whole(row["n_diverged"]), row["measured_on"]
    stand_in = {"measured_on": on} if on and on != row["dataset"] else {}
    return {**mean, "n": _whole(row["n"]), **({"diverged": diverged} if diverged else {}), **stand_in}
