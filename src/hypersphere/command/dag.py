"""``make dag``: the picture of the DAG, docs/images/dag.svg, by kind of step.

It shows each kind of rule once, with the steps that its jobs take, how often, and the command that takes them by hand.
dag.yaml lists the boxes and templates/dag.svg draws them. Order and commands are those of the rules in workflow/rules:
a test compares them. The numbers are counted in the plan.
"""

from collections import Counter
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from hypersphere import files
from hypersphere.command.templates import fill
from hypersphere.config import plan as planning
from hypersphere.config.cells import is_probed
from hypersphere.config.plan import Plan
from hypersphere.statistics import judged_records
from hypersphere.wording import count_of

PICTURE = Path("docs/images/dag.svg")
"""The file of the picture, in the repository."""
SCALES = ("quick", "paper")
"""The scales whose jobs are shown; steps are counted at the last one."""
LANES = {"left": (30, 550), "right": (592, 862), "both": (30, 862)}
"""Left and right edge of the boxes, in pixels."""
TOP, PITCH, HEIGHT = 80, 100, 86
"""The top of the first row, from row to row, and of a box: pixels."""


class Box(NamedTuple):
    """A kind of rule in the picture, as dag.yaml says it."""

    rule: str
    command: str
    steps: dict[str, str]
    after: dict[str, str]
    row: int
    lane: str
    exact: bool = False

    @property
    def left(self) -> int:
        return LANES[self.lane][0]

    @property
    def right(self) -> int:
        return LANES[self.lane][1]

    @property
    def top(self) -> int:
        return TOP + PITCH * self.row

    @property
    def bottom(self) -> int:
        return self.top + HEIGHT

    @property
    def middle(self) -> float:
        return self.top + HEIGHT / 2


LISTED = files.read_yaml(Path(__file__).with_name("dag.yaml"))
BOXES = [Box(**fields) for fields in LISTED]
ACCURACIES = ("linear", "knn", "transfer")
"""Kinds of probes by how the names of their measures begin; all else is ``other``."""


def amounts(plan: Plan) -> dict[str, int]:
    """How often each step is done at a scale."""
    datasets = plan.datasets.values()
    sources = {dataset.source.name for dataset in datasets if dataset.source is not None}
    papers = plan.config.papers
    drawn = [papers[paper].artifacts[name].draw for paper, name in plan.made_artifacts]
    return {
        "sources": len(sources),
        "datasets": len(datasets),
        "imbalanced": sum(dataset.imbalance is not None for dataset in datasets),
        "runs": len(plan.runs),
        **probe_counts(plan),
        "artifacts": len(drawn),
        "tables": drawn.count("table"),
        "figures": len(drawn) - drawn.count("table"),
        "studies": len(plan.chosen_studies),
    }


def probe_counts(plan: Plan) -> Counter[str]:
    """How often a probe of each kind measures a run: at one epoch, on one dataset. Controls count, too."""
    measured = set()
    for cell in filter(is_probed, chain(plan.cells, *plan.controls.values())):
        kind = cell.measure.partition("_")[0]  # ``transfer`` of ``transfer_top1``
        place = cell.run.name, cell.epoch, cell.target.name, cell.how.digest
        measured.add((kind if kind in ACCURACIES else "other", place))
    return Counter(kind for kind, _ in measured)


def jobs(plan: Plan) -> dict[str, int]:
    """How many jobs each kind of rule has at a scale where nothing is finished."""
    studied = [paper for paper in plan.config.papers if plan.config.exact_artifacts(paper)]
    return {
        "prepare": len(plan.prepared_together),
        **dict.fromkeys(("pretrain", "evaluate", "record"), len(plan.batches)),
        "artifact_*": len(plan.drawn_together),
        **dict.fromkeys(("theory", "claims", "scorecard", "write_report"), 1),
        **dict.fromkeys(("simulate_*", "studies_*"), len(studied)),
        "copy_*": 1 + len(studied),
        "judge_records": len(judged_records.recorded_scales(plan.config.root)),
    }


def svg(plans: dict[str, Plan]) -> str:
    """The picture, of the plans of ``SCALES``."""
    of_scale = {scale: jobs(plan) for scale, plan in plans.items()}
    in_words = {}
    for box in BOXES:
        numbers = {scale: found[box.rule] for scale, found in of_scale.items()}
        in_words[box.rule] = jobs_in_words(numbers)
    numbers = amounts(plans[SCALES[-1]])
    picture = fill(
        "dag.svg",
        boxes=BOXES,
        named={box.rule: box for box in BOXES},
        jobs=in_words,
        numbers={name: f"{number:,}" for name, number in numbers.items()},
    )
    return f"{picture}\n"


def jobs_in_words(numbers: dict[str, int]) -> str:
    """``1 job``, or ``8 jobs at quick, 61 at paper``."""
    (scale, first), *others = numbers.items()
    if {*numbers.values()} == {first}:
        return count_of(first, "job")
    parts = [f"{count_of(first, 'job')} at {scale}"]
    parts += [f"{many:,} at {other}" for other, many in others]
    return ", ".join(parts)


def build(root: Path) -> None:
    """Write the picture of a repository."""
    plans = {scale: planning.make(root, {"scale": scale}) for scale in SCALES}
    files.write_text(root / PICTURE, svg(plans))


if __name__ == "__main__":
    build(Path.cwd())
