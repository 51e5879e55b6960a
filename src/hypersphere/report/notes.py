"""Notes on an artifact made from runs: scale, what is shown, seeds, device, protocol, what is missing."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from hypersphere.config.artifacts import HISTORY, Measured, Paper, Studied
from hypersphere.config.cells import SHARED, Cell, untrained
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.provenance.likeness import unlike
from hypersphere.report import words
from hypersphere.report.artifact import Points
from hypersphere.report.results import settles
from hypersphere.wording import counted


def of(points: Points, *shown: str) -> tuple[str, ...]:
    """All notes, of which the first one names the scale, and ``shown`` says what cells, lines or bands are.

    ``Not run, of 20: 4 cells (nothing stands for stl10 at this scale).`` Shared numbers count together.
    """
    plan, key = points.results.plan, (points.paper.paper, points.name)
    absent = [cell.missing for cell in points.every if cell.missing]
    reasons = Counter(f"{SHARED} another cell" if why.startswith(SHARED) else why for why in absent)
    listed = "; ".join(f"{counted(count, 'cell')} ({why})" for why, count in reasons.items())
    left_out = "Rows, columns and panels of which nothing was run are left out."
    not_kept = (
        plan.records is not None and not plan.controls[key] and untrained(plan.artifacts[key])
    )
    every = (
        words.scale_note(points.config),
        " ".join(filter(None, shown)),
        shared(points),
        f"Conditions: {conditions(points)}",
        protocol(plan, points.paper, points.name),
        f"Not run, of {len(points.every)}: {listed}. {left_out}" if listed else "",
        "Without the untrained encoder, of which no record is kept." if not_kept else "",
        repeated(points),
        unjudged(points.artifact),
    )
    return tuple(filter(None, every))


def small(points: Points) -> str:
    """Scale, data, n, device and protocol in a line, for a figure without its caption."""
    worth = "Published setting." if settles(points.config) else "Not a reproduction."
    runs = protocol(points.results.plan, points.paper, points.name)
    said = (f"Scale {points.config.scale_name}. {worth}", shared(points), conditions(points), runs)
    return " ".join(filter(None, said))


def several(points: Points) -> bool:
    """Whether any cell has more than one pretraining."""
    return any(cell.count("n") > 1 for cell in points.every)


def over(points: Points, pretrainings: str = "independent pretrainings") -> str:
    """What a number of a cell is: ``mean over independent pretrainings``, or ``one pretraining each (n = 1)``."""
    return f"mean over {pretrainings}" if several(points) else "one pretraining each (n = 1)"


def measures(points: Points) -> str:
    """The labels of what is shown: ``embedding norm; kNN accuracy (%)``."""
    return "; ".join(dict.fromkeys(cell.label for cell in points.every))


def measured(points: Points) -> str:
    """Every measure that is shown: ``kNN accuracy (%; weighted k-nearest-neighbour vote)``."""
    every = dict.fromkeys(cell.measure for cell in points.every)
    return "; ".join(f"{one.label} ({one.unit or 'no unit'}; {one.what})" for one in every)


def unjudged(artifact: Measured | Studied) -> str:
    """Why our numbers cannot judge those of the document; empty if they can."""
    return (
        f"Cannot be judged: {artifact.cannot_be_judged.rstrip('.')}."
        if artifact.cannot_be_judged
        else ""
    )


def repeated(points: Points) -> str:
    """``Mind: of CIFAR-100, images also in train: 10 of 10,000 in test.``: repeated images of the probed datasets."""
    label = points.paper.label
    said = {row["probed_on"]: row["repeated"] for row in points.summary.values() if row["repeated"]}
    return (
        f"Mind: {'. '.join(f'of {label(name)}, {text}' for name, text in said.items())}."
        if said
        else ""
    )


def shared(points: Points) -> str:
    """``Everywhere: SimCLR, digits (for CIFAR-10).``: the coordinates that all cells share; empty without any."""
    fixed = dict(points.every[0].coordinates)
    for cell in points.every:
        fixed = {key: value for key, value in fixed.items() if cell.coordinates.get(key) == value}
    on_axes = {"measure", *chain.from_iterable(map(words.varying, points.artifact.axes.values()))}
    text = points.called(fixed, [key for key in fixed if key not in on_axes])
    return f"Everywhere: {text.rstrip('.')}." if text else ""


def published(points: Points, where: str, beside_others: bool = False) -> str:
    """Where the published numbers come from, or that they are of other data, which only a table shows; empty: none."""
    if all(cell.claim is None for cell in points.every):
        return ""
    document = f"{points.artifact.printed or 'the paper'} of “{points.paper.title}”"
    if not beside_others and all(cell.beside is None for cell in points.every):
        return f"The numbers of {document} are of other data: the verdicts list them."
    return f"{where} {document}: published images, encoder and schedule."


def seeds(listed: Sequence[int], numbers: Sequence[int] = ()) -> str:
    """``n = 5 (seeds 0, 1, 2, 3, 4)``, or ``n = 1 to 3 (of seeds 0, 1, 2)`` of cells with these numbers of them."""
    every = (
        f"{'seed' if len(listed) == 1 and not numbers else 'seeds'} {', '.join(map(str, listed))}"
    )
    if not numbers:
        return f"n = {len(listed)} ({every})"
    return f"n = {' to '.join(str(end) for end in dict.fromkeys((numbers[0], numbers[-1])))} (of {every})"


def conditions(points: Points) -> str:
    """The seeds that one artifact's cells have, and their device and torch release."""
    rows = points.table("measurements").dropna(subset="seed")
    of_cell = {tuple(sorted(map(int, cell["seed"]))) for _, cell in rows.groupby("coordinates")}
    numbers = sorted({len(one) for one in of_cell}) if len(of_cell) > 1 else []
    every = sorted(set().union(*of_cell))
    runs = points.table("runs")
    device, torch = (words.distinct(runs[name]) for name in ("device", "torch"))
    return (
        "; ".join([seeds(every, numbers), f"device {device}", f"torch {torch}", *unlike(runs)])
        + "."
    )


def component(value: Any) -> str:
    """``resnet (depth 50, stem cifar)``."""
    inside = []
    for key, item in value.parameters.items():
        name = key.replace("_", " ")
        if isinstance(item, bool):
            inside.append(name if item else f"no {name}")
        else:
            inside.append(f"{name} {item:g}" if isinstance(item, float) else f"{name} {item}")
    return value.name.replace("_", " ") + (f" ({', '.join(inside)})" if inside else "")


def protocol(plan: Plan, paper: Paper, artifact: str) -> str:
    """Encoder, epochs, batch and probes of an artifact's runs."""
    by_seed: dict[int, list[Cell]] = {}
    for cell in plan.artifacts.get((paper.paper, artifact), []):
        if cell.run and not cell.missing:
            by_seed.setdefault(cell.run.seed, []).append(cell)
    if not by_seed:
        return f"Protocol: {words.NOT_RUN} at this scale."
    cells = next(iter(by_seed.values()))
    trained = "; ".join(_trained(paper, cells))
    probes = "; ".join(dict.fromkeys(_probe(plan, paper, cell.protocol) for cell in cells))
    return f"Protocol: encoder {_encoders(plan, paper, artifact, cells)}; {trained}; {probes}."


def _trained(paper: Paper, cells: Sequence[Cell]) -> Iterator[str]:
    """``SimCLR, BYOL 100 epochs, batch 64``."""
    by_method: dict[str, list[Run]] = {}
    for cell in cells:
        if cell.run:
            by_method.setdefault(paper.label(str(cell.coordinates["method"])), []).append(cell.run)
    methods: dict[str, list[str]] = {}
    for name, runs in by_method.items():
        epochs = words.several(str(run.schedule.epochs) for run in runs)
        setting = f"{counted(epochs, 'epoch')}, batch {words.several(map(_batch, runs))}"
        methods.setdefault(setting, []).append(name)
    return (f"{', '.join(names)} {setting}" for setting, names in methods.items())


def _batch(run: Run) -> str:
    """``256``; ``256 (4 × 64)`` where gradients are accumulated; ``4096 in 8 parts`` where the encoder takes parts."""
    size, micro, parts = run.batch.size, run.batch.micro, run.batch.parts
    passes = str(size) if size == micro else f"{size} ({size // micro} × {micro})"
    return passes if parts == 1 else f"{passes} in {parts} parts"


def _encoders(plan: Plan, paper: Paper, artifact: str, cells: Sequence[Cell]) -> str:
    encoders = list(dict.fromkeys(component(cell.run.encoder) for cell in cells if cell.run))
    listed = (
        " or ".join(encoders)
        if len(encoders) <= words.FEW
        else f"{encoders[0]} and {len(encoders) - 1} others"
    )
    untrained = {
        component(cell.run.encoder): None
        for cell in plan.controls[paper.paper, artifact]
        if cell.run
    }
    note = (
        f" (the untrained one is {', '.join(untrained)})"
        if 0 < len(untrained) < len(encoders)
        else ""
    )
    return listed + note


def _probe(plan: Plan, paper: Paper, name: str) -> str:
    if name == HISTORY:
        return "norm and loss from the training history"
    protocol = plan.protocols[paper.paper][name]
    where = " on the head's output" if protocol.layer == "embeddings" else ""
    where += ", on another dataset" if protocol.transfer else ""
    return f"probed by {component(protocol.probe)}{where}"
