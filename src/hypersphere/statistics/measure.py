"""Write results/<scale>/statistics/<paper>/<artifact>/: the tidy tables that an artifact is drawn from."""

from collections import Counter

from hypersphere.config import registry
from hypersphere.config import rules as rules_file
from hypersphere.config.plan import Plan
from hypersphere.provenance import columns, pictures, tables
from hypersphere.statistics import effects, gather, single_images


def build(plan: Plan, paper: str, artifact: str) -> None:
    """Write measurements.csv, summary.csv, effects.csv, runs.csv and what the kind reads about single images.

    docs/results.md lists the columns. After an error nothing has been written.
    """
    declared, cells = plan.config.papers[paper].measured[artifact], plan.artifacts[paper, artifact]
    rules, measurer = rules_file.load(plan.config.root), gather.Measurer(plan)
    rows = gather.measurements(measurer.rows(cells, declared))
    controls = gather.measurements([*measurer.rows(plan.controls[paper, artifact]), *measurer.controls(cells)])
    seeds = Counter(cell.text for cell in cells)  # a seed that is not there was declared all the same
    of_tables = [gather.summary(table, rules.confidence, seeds) for table in (rows, controls) if len(table)]
    summaries = gather.stack(of_tables, columns.SUMMARY)
    found = effects.of_artifact(rows, declared, seeds, rules)
    level = gather.levels(summaries)
    summaries["level"] = [level.get(cell, "") for cell in summaries["coordinates"]]
    compared = zip(found["coordinates"], found["baseline"], strict=True)
    found["level"] = [level.get(cell) or level.get(baseline, "") for cell, baseline in compared]
    written = {
        "measurements": gather.stack([rows, controls], columns.MEASUREMENTS),
        "summary": summaries,
        "effects": found,
        "runs": gather.runs(plan, plan.runs_of(paper, artifact)),
    }
    folder, images, also = plan.artifact_folder(paper, artifact), registry.artifact_kind(declared.draw).images, []
    if "distribution.csv" in images:
        written["distribution"] = single_images.distribution(plan, cells, rows)
    if "points.csv" in images:
        written["points"] = single_images.points(plan, cells, rows)
    if "pictures.csv" in images:
        written["pictures"], stacked = single_images.pictures(plan, cells, rows)
        also.append(folder / "pictures.png")
        pictures.write(also[0], stacked)
    tables.write(folder, {name: (table, columns.TABLES[name]) for name, table in written.items()}, also)
