"""Write results/<scale>/statistics/<paper>/<artifact>/: the tidy tables that an artifact is drawn from."""

from collections import Counter

from hypersphere.config import kinds
from hypersphere.config import rules as rules_file
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.provenance import pictures, tables
from hypersphere.statistics import effects, gather, single_images


def build(plan: Plan, paper: str, artifact: str) -> None:
    """Write measurements.csv, summary.csv, effects.csv, runs.csv and what the kind reads about single images.

    docs/results.md lists the columns.

    Raises:
        HypersphereError: the scale does not make this artifact, or a file is missing, altered or malformed. Nothing has
            been written.
    """
    if (paper, artifact) not in plan.made:
        names = ", ".join("/".join(key) for key in plan.made)
        raise HypersphereError(
            f"'{paper}/{artifact}' is not one of those that scale {plan.config.scale_name} makes: {names}"
        )
    declared, cells = plan.config.papers[paper].measured[artifact], plan.artifacts[paper, artifact]
    judged_by, measurer = rules_file.load(plan.config.root), gather.Measurer(plan)
    rows = gather.measurements(measurer.rows(cells, declared))
    controls = gather.measurements([*measurer.rows(plan.controls[paper, artifact]), *measurer.controls(cells)])
    seeds = Counter(cell.text for cell in cells)  # a seed that is not there was declared all the same
    of_tables = [gather.summary(table, judged_by.confidence, seeds) for table in (rows, controls) if len(table)]
    summaries = gather.stack(of_tables, gather.SUMMARY)
    found = effects.of_artifact(rows, declared, seeds, judged_by)
    level = gather.levels(summaries)
    summaries["level"] = [level.get(cell, "") for cell in summaries["coordinates"]]
    found["level"] = [
        level.get(cell) or level.get(baseline, "")
        for cell, baseline in zip(found["coordinates"], found["baseline"], strict=True)
    ]
    written = {
        "measurements": (gather.stack([rows, controls], gather.MEASUREMENTS), gather.MEASUREMENTS),
        "summary": (summaries, gather.SUMMARY),
        "effects": (found, effects.COLUMNS),
        "runs": (gather.runs(plan, plan.runs_of(paper, artifact)), gather.RUNS),
    }
    folder, images, also = plan.artifact_folder(paper, artifact), kinds.kind(declared.draw).images, []
    if "distribution.csv" in images:
        written["distribution"] = (single_images.distribution(plan, cells, rows), single_images.DISTRIBUTION)
    if "points.csv" in images:
        written["points"] = (single_images.points(plan, cells, rows), single_images.POINTS)
    if "pictures.csv" in images:
        table, stacked = single_images.pictures(plan, cells, rows)
        written["pictures"] = (table, single_images.PICTURES)
        also.append(folder / "pictures.png")
        pictures.write(also[0], stacked)
    tables.write(folder, written, also)
