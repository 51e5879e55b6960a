"""One artifact's tidy tables: results/<scale>/statistics/<paper>/<artifact>/, all that it is drawn from."""

from hypersphere.declared import kinds
from hypersphere.declared import rules as rules_file
from hypersphere.declared.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.integrity import tables
from hypersphere.statistics import effects, gather


def build(plan: Plan, paper: str, artifact: str) -> None:
    """Write measurements.csv, summary.csv, effects.csv, distribution.csv and runs.csv (columns: docs/results.md).

    Raises:
        HypersphereError: no such artifact at this scale, or a file is missing, altered or not as expected; nothing has
            been written.
    """
    if (paper, artifact) not in plan.made:
        known = ", ".join("/".join(key) for key in plan.made)
        raise HypersphereError(
            f"'{paper}/{artifact}' is not one of those that scale {plan.config.scale_name} makes: {known}"
        )
    declared, cells = plan.config.papers[paper].measured[artifact], plan.artifacts[paper, artifact]
    judged_by, measurer = rules_file.load(plan.config.root), gather.Measurer(plan)
    own = gather.measurements(measurer.rows(cells))
    controls = gather.measurements([*measurer.rows(plan.controls[paper, artifact]), *measurer.controls(cells)])
    summaries = [gather.summary(rows, judged_by.confidence) for rows in (own, controls) if len(rows)]
    written = {
        "measurements": (gather.stack([own, controls], gather.MEASUREMENTS), gather.MEASUREMENTS),
        "summary": (gather.stack(summaries, gather.SUMMARY), gather.SUMMARY),
        "effects": (effects.of_artifact(own, declared, judged_by), effects.COLUMNS),
        "runs": (gather.runs(plan, plan.runs_of(paper, artifact)), gather.RUNS),
    }
    if kinds.kind(declared.draw).images:
        written["distribution"] = (gather.distribution(plan, cells, own), gather.DISTRIBUTION)
    tables.write(plan.artifact_folder(paper, artifact), written)
