"""``make dag``: the picture of the DAG, docs/images/dag.svg, by kind of step.

It shows each kind of rule once, with the steps that its jobs take, how often, and the command that takes them by hand.
Order and commands are those of the rules in workflow/rules: a test compares them. The numbers are counted in the plan.
"""

import html
from pathlib import Path
from typing import NamedTuple

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config.cells import Cell
from hypersphere.config.plan import Plan
from hypersphere.statistics import judged_records
from hypersphere.wording import counted

PICTURE = Path("docs/images/dag.svg")
"""In the repository."""
SCALES = ("quick", "paper")
"""The scales whose jobs are shown; steps are counted at the last one."""


class Box(NamedTuple):
    """A kind of rule in the picture."""

    rule: str
    """Its name; ``*`` stands for a paper, or for some of its artifacts."""
    command: str
    steps: tuple[str, ...]
    """What its jobs do; after a bar how often, with the numbers of ``amounts``."""
    after: dict[str, str]
    """The rules whose results it takes, each with the way of its arrow (``corners``)."""
    row: int
    lane: str = "left"
    """A key of ``LANES``."""


BOXES = (
    Box(
        "prepare",
        "hypersphere prepare",
        (
            "Download, check|{sources} sources",
            "Build: imbalance, pairs, bias, corruption|{datasets} datasets, {imbalanced} with imbalanced classes",
        ),
        {},
        0,
    ),
    Box(
        "pretrain",
        "hypersphere pretrain",
        ("Pretrain, a run for each seed|{runs} runs",),
        {"prepare": "down"},
        1,
    ),
    Box(
        "evaluate",
        "hypersphere evaluate",
        ("Linear probe|{linear}", "kNN|{knn}", "Transfer|{transfer}", "Other probes|{other}"),
        {"pretrain": "down"},
        2,
    ),
    Box(
        "artifact_*",
        "hypersphere artifact",
        ("Means, differences, t-tests|of {artifacts}", "Tables|{tables}", "Figures|{figures}"),
        {"evaluate": "down"},
        3,
    ),
    Box(
        "claims",
        "hypersphere claims",
        ("Verdict on each published number|",),
        {"artifact_*": "down", "copy_*": "back"},
        4,
    ),
    Box(
        "record",
        "hypersphere pack",
        ("Rows of evidence/, for the target records|{runs} runs",),
        {"evaluate": "left"},
        5,
    ),
    Box("theory", "hypersphere theory", ("Theorems, identities|",), {}, 0, lane="right"),
    Box("simulate_*", "hypersphere simulate", ("Exact studies|{studies}",), {}, 1, lane="right"),
    Box(
        "copy_*",
        "cp",
        ("Copy into the scale|",),
        {"theory": "right", "simulate_*": "right"},
        2,
        lane="right",
    ),
    Box(
        "studies_*",
        "hypersphere studies",
        ("Tables, figures|{studies}",),
        {"copy_*": "down"},
        3,
        lane="right",
    ),
    Box(
        "scorecard",
        "hypersphere scorecard",
        ("Page of the scale|",),
        {"claims": "across", "studies_*": "down"},
        4,
        lane="right",
    ),
    Box(
        "judge_records",
        "hypersphere report --records",
        ("Verdicts from evidence/|",),
        {},
        5,
        lane="right",
    ),
    Box(
        "write_report",
        "hypersphere report",
        ("Best evidence of each claim|", "Findings|", "results/report: page, PDF|"),
        {"judge_records": "down", "theory": "right", "simulate_*": "right", "claims": "between"},
        6,
        lane="both",
    ),
)


ACCURACIES, OTHER = ("linear", "knn", "transfer"), "other"
"""Kinds of probes: how the names of their measures begin, and all else."""


def amounts(plan: Plan) -> dict[str, int]:
    """How often each step is done at a scale."""
    sources = {
        dataset.source.name for dataset in plan.datasets.values() if dataset.source is not None
    }
    drawn = [plan.config.papers[paper].artifacts[name].draw for paper, name in plan.made_artifacts]
    return {
        "sources": len(sources),
        "datasets": len(plan.datasets),
        "imbalanced": sum(dataset.imbalance is not None for dataset in plan.datasets.values()),
        "runs": len(plan.runs),
        **probed(plan),
        "artifacts": len(drawn),
        "tables": drawn.count("table"),
        "figures": len(drawn) - drawn.count("table"),
        "studies": len(plan.chosen_studies),
    }


def probed(plan: Plan) -> dict[str, int]:
    """How often a probe of each kind measures a run: at one epoch, on one dataset. Controls count, too."""
    found: dict[str, set[tuple[str, int, str, str]]] = {
        kind: set() for kind in (*ACCURACIES, OTHER)
    }
    controls = (cell for cells in plan.controls.values() for cell in cells)
    for cell in (*plan.cells, *controls):
        if (
            cell.run is not None
            and cell.target is not None
            and cell.how is not None
            and not cell.missing
        ):
            place = cell.run.name, cell.epoch, cell.target.name, cell.how.digest
            found[kind_of_probe(cell)].add(place)
    return {kind: len(places) for kind, places in found.items()}


def kind_of_probe(cell: Cell) -> str:
    """The kind of accuracy that a cell measures, such as ``transfer`` of ``transfer_top1``; else ``other``."""
    kind = cell.measure.partition("_")[0]
    return kind if kind in ACCURACIES else OTHER


def jobs(plan: Plan) -> dict[str, int]:
    """How many jobs each kind of rule has at a scale where nothing is finished."""
    papers_with_studies = sum(
        bool(plan.config.exact_artifacts(paper)) for paper in plan.config.papers
    )
    return {
        "prepare": len(plan.prepared_together),
        **dict.fromkeys(("pretrain", "evaluate", "record"), len(plan.batches)),
        "artifact_*": len(plan.drawn_together),
        **dict.fromkeys(("theory", "claims", "scorecard", "write_report"), 1),
        **dict.fromkeys(("simulate_*", "studies_*"), papers_with_studies),
        "copy_*": 1 + papers_with_studies,
        "judge_records": len(judged_records.recorded_scales(plan.config.root)),
    }


LANES = {"left": (30, 550), "right": (592, 862), "both": (30, 862)}
"""Left and right edge of the boxes, in pixels."""
WIDTH, MARGIN, TOP, PITCH, HEIGHT, GAP, APART = 890, 12, 80, 100, 86, 8, 16
MONO = "monospace"
TITLE = "From data to the report: each rule, and the steps that its jobs take"
SUBTITLE = (
    "Bold: a rule of the Snakefile; at the bottom of its box, the command that it calls. White: the steps that its",
    "jobs take, and how often at the published scale. An arrow: what waits for what. Orange: without data and runs.",
)
GREY, LINE = "#6B6B6B", "#8A8A8A"
EXACT = {"theory", "simulate_*", "copy_*", "studies_*"}
"""What needs no data and no runs."""
ORANGE, BLUE = "#FBEADD", "#E4F0F8"
"""Behind it, and behind all else: the figures' orange and blue, lighter."""
Point = tuple[float, float]


class Frame(NamedTuple):
    """Where a box stands, in pixels."""

    left: float
    right: float
    top: float

    @property
    def bottom(self) -> float:
        return self.top + HEIGHT

    @property
    def middle(self) -> float:
        return self.top + HEIGHT / 2


def frame(box: Box) -> Frame:
    """The place of a box."""
    return Frame(*LANES[box.lane], TOP + PITCH * box.row)


def corners(way: str, start: Frame, end: Frame) -> list[Point]:
    """The corners of an arrow from a box to another: straight, or beside the boxes that stand between them."""
    center = (start.left + start.right) / 2
    left, right = start.left - APART, start.right + APART
    high, low = end.top + 14, start.bottom - 14
    ways: dict[str, list[Point]] = {
        "down": [(center, start.bottom), (center, end.top)],
        "across": [(start.right, start.middle), (end.left, end.middle)],
        "left": [
            (start.left, start.middle),
            (left, start.middle),
            (left, end.middle),
            (end.left, end.middle),
        ],
        "right": [
            (start.right, start.middle),
            (right, start.middle),
            (right, end.middle),
            (end.right, end.middle),
        ],
        "back": [(start.left, start.middle), (left, start.middle), (left, high), (end.right, high)],
        "between": [(start.right, low), (right, low), (right, end.top)],
    }
    return ways[way]


def text(x: float, y: float, words: str, **look: str | int) -> str:
    """Words that begin at a point, or as ``look`` says."""
    said = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in look.items())
    return f'<text x="{x:g}" y="{y:g}"{said}>{html.escape(words)}</text>'


def arrow(points: list[Point]) -> str:
    """A line with a head at its end."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{LINE}" stroke-width="1.5" marker-end="url(#head)"/>'


def drawn(box: Box, number: str, numbers: dict[str, int]) -> list[str]:
    """A box: its rule with the number of jobs, its steps, and its command."""
    place = frame(box)
    shape = f'x="{place.left}" y="{place.top}" width="{place.right - place.left}" height="{HEIGHT}" rx="6"'
    parts = [f'<rect {shape} fill="{ORANGE if box.rule in EXACT else BLUE}"/>']
    parts.append(
        text(
            place.left + 10,
            place.top + 17,
            box.rule,
            font_size=13,
            font_weight="bold",
            font_family=MONO,
        )
    )
    parts.append(text(place.right - 10, place.top + 17, number, text_anchor="end", fill=GREY))
    parts.append(
        text(
            place.left + 10,
            place.bottom - 7,
            box.command,
            fill=GREY,
            font_size=11,
            font_family=MONO,
        )
    )
    steps = [
        step.format(**{name: f"{many:,}" for name, many in numbers.items()}).split("|")
        for step in box.steps
    ]
    room = place.right - place.left - 20 - GAP * (len(steps) - 1)
    letters = [4 + max(map(len, step)) for step in steps]
    left = place.left + 10.0
    for (name, amount), long in zip(steps, letters, strict=True):
        wide = room * long / sum(letters)
        shape = f'x="{left:.1f}" y="{place.top + 24}" width="{wide:.1f}" height="34" rx="4"'
        parts.append(f'<rect {shape} fill="white"/>')
        middle = round(left + wide / 2, 1)
        parts.append(text(middle, place.top + (38 if amount else 45), name, text_anchor="middle"))
        if amount:
            parts.append(
                text(middle, place.top + 52, amount, text_anchor="middle", fill=GREY, font_size=11)
            )
        left += wide + GAP
    return parts


def svg(plans: dict[str, Plan]) -> str:
    """The picture, of the plans of ``SCALES``."""
    frames = {box.rule: frame(box) for box in BOXES}
    counts = {scale: jobs(plan) for scale, plan in plans.items()}
    numbers = amounts(plans[SCALES[-1]])
    parts = [text(MARGIN, 24, TITLE, font_size=17, font_weight="bold")]
    parts += [text(MARGIN, 44 + 16 * at, line, fill="#444444") for at, line in enumerate(SUBTITLE)]
    for box in BOXES:
        parts += [
            arrow(corners(way, frames[rule], frames[box.rule])) for rule, way in box.after.items()
        ]
    for box in BOXES:
        parts += drawn(
            box, jobs_in_words({scale: count[box.rule] for scale, count in counts.items()}), numbers
        )
    height = frames[BOXES[-1].rule].bottom + MARGIN
    shape = f'<path d="M0 0 7 4 0 8Z" fill="{LINE}"/>'
    head = f'<marker id="head" orient="auto" markerWidth="7" markerHeight="8" refX="6" refY="4">{shape}</marker>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{TITLE}" font-family="sans-serif" font-size="12" fill="#222">\n<defs>{head}</defs>\n'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def jobs_in_words(numbers: dict[str, int]) -> str:
    """``1 job``, or ``8 jobs at quick, 61 at paper``."""
    first, *others = numbers.items()
    if all(many == first[1] for _, many in others):
        return counted(first[1], "job")
    return ", ".join(
        [
            f"{counted(first[1], 'job')} at {first[0]}",
            *(f"{many:,} at {scale}" for scale, many in others),
        ]
    )


def build(root: Path) -> None:
    """Write the picture of a repository."""
    files.write_text(
        root / PICTURE, svg({scale: planning.make(root, {"scale": scale}) for scale in SCALES})
    )


if __name__ == "__main__":
    build(Path.cwd())
