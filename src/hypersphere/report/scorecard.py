"""scorecard.html: the page of one scale, with the runs behind each number; and scorecard.json, its numbers."""

import math
from typing import Any

from hypersphere.config.plan import Plan
from hypersphere.files import write_json, write_text
from hypersphere.provenance import manifest, tables
from hypersphere.report import counts, html, page, words
from hypersphere.report.artifact import Points
from hypersphere.report.proofs import OfScale
from hypersphere.report.results import Results

COUNTED = {
    "encoder": "claims",
    "study": "exact studies",
    "theorem": "theorems",
    "sentence": "sentences",
}
"""The names of counts in scorecard.json, by what answers the claims."""


def build(plan: Plan) -> None:
    """Write ``results/<scale>/scorecard.{html,json}`` from all results that exist, and their manifest."""
    results, config = Results(plan), plan.config
    folder = config.results
    files = [folder / "scorecard.html", folder / "scorecard.json"]
    shown = page.of_scale(results)
    proofs = OfScale(config, frozenset(shown.entries), folder, plan)
    write_text(files[0], html.render(shown, proofs, folder))
    write_json(files[1], numbers(results))
    manifest.seal(folder / manifest.SCORECARD, files)


def numbers(results: Results) -> dict[str, Any]:
    """The number of claims for each verdict, and the mean and n of every measured cell, for `dvc metrics`.

    All is under the name of the scale, and a cell names the dataset that stood in for its own, so that no number is
    read without either; n = 0 for chance and raw pixels, which are no means of runs. Counts are by what answers a
    claim, and by the claim's origin: ``quick: claims: printed: {not run: 40}``,
    ``quick: mine: table5: method=simclr;…: {mean: 83.2, n: 5}``.
    """
    found: dict[str, Any] = {}
    for count in counts.of_claims(tables.rows(results.claims)):
        found.setdefault(COUNTED[count.kind], {})[count.origin] = count.verdicts
    for paper, declared in results.config.papers.items():
        for artifact in results.with_numbers(paper):
            if artifact in declared.measured:
                cells = _cells(Points(results, declared, artifact))
                found.setdefault(paper, {})[artifact] = cells
    return {results.config.scale_name: found}


def _cells(points: Points) -> dict[str, dict[str, float | int | str]]:
    """The numbers of an artifact's cells, by coordinates; what has neither a mean nor a lost run is left out."""
    found = {}
    for at, row in points.summary.items():
        cell: dict[str, float | int | str] = {**words.seeds_without_value(row)}
        if not math.isnan(row["mean"]):
            cell["mean"] = row["mean"]
        if cell:
            if row["measured_on"] not in ("", row["dataset"]):
                cell["measured_on"] = row["measured_on"]
            found[at] = cell | {"n": words.whole(row["n"])}
    return found
