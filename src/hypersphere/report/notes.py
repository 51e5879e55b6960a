"""Notes on an artifact made from runs: scale, what is shown, seeds, device, protocol, what is missing."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from hypersphere.config.artifacts import HISTORY, Measured, Paper, Studied
from hypersphere.config.cells import SHARED, untrained
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.report import words
from hypersphere.report.artifact import Points
from hypersphere.wording import counted


def heading(points: Points) -> str:
    """``Table 5 at scale quick: kNN accuracy``."""
    printed, scale = points.artifact.printed, points.config.scale_name
    return f"{f'{printed} at' if printed else 'At'} scale {scale}: {points.artifact.title}"


def of(points: Points, *shown: str) -> tuple[str, ...]:
    """All notes, of which the first one names the scale, and ``shown`` says what cells, lines or bands are."""
    every = (
        words.scale_note(points.config),
        words.joined(*shown),
        shared(points),
        f"Conditions: {conditions(points)}",
        protocol(points.results.plan, points.paper, points.name),
        *_absent(points),
        unjudged(points.artifact),
    )
    return tuple(filter(None, every))


def small(points: Points) -> str:
    """Scale, data, n, device and protocol in a line, for a figure without its caption."""
    scale = f"Scale {points.config.scale_name}. {words.short_notice(points.config)}"
    return words.joined(
        scale, shared(points), conditions(points), protocol(points.results.plan, points.paper, points.name)
    )


def measures(points: Points) -> str:
    """The labels of what is shown: ``embedding norm; kNN accuracy (%)``."""
    return "; ".join(dict.fromkeys(cell.label for cell in points.every))


def measured(points: Points) -> str:
    """Every measure that is shown: ``kNN accuracy (%; weighted k-nearest-neighbour vote)``."""
    every = dict.fromkeys(cell.measure for cell in points.every)
    return "; ".join(f"{one.label} ({one.unit or 'no unit'}; {one.what})" for one in every)


def unjudged(artifact: Measured | Studied) -> str:
    """Why our numbers cannot judge those of the document; empty if they can."""
    return f"Cannot be judged: {artifact.cannot_be_judged.rstrip('.')}." if artifact.cannot_be_judged else ""


def shared(points: Points) -> str:
    """``Everywhere: SimCLR, digits (for CIFAR-10).``: the coordinates that all cells share; empty without any."""
    shown = {"measure", *(key for axis in points.axes.values() for key in words.varying(axis))}
    text = points.called(points.fixed, [key for key in points.fixed if key not in shown])
    return f"Everywhere: {text.rstrip('.')}." if text else ""


def _absent(points: Points) -> tuple[str, str]:
    """Cells that were not run, by reason, and an untrained encoder of which no record is kept; empty without any.

    ``Not run, of 20: 4 cells (nothing stands for stl10 at this scale).`` Shared numbers count together.
    """
    reasons = Counter(
        f"{SHARED} another cell" if cell.missing.startswith(SHARED) else cell.missing
        for cell in points.every
        if cell.missing
    )
    listed = "; ".join(f"{counted(count, 'cell')} ({why})" for why, count in reasons.items())
    left_out = "Rows, columns and panels of which nothing was run are left out."
    missing = f"Not run, of {len(points.every)}: {listed}. {left_out}" if listed else ""
    plan, key = points.results.plan, (points.paper.paper, points.name)
    if plan.records is None or plan.controls[key] or not untrained(plan.artifacts[key]):
        return missing, ""
    return missing, "Without the untrained encoder, of which no record is kept."


def published(points: Points, where: str, beside_others: bool = False) -> str:
    """Where the published numbers come from, or that they are of other data, which only a table shows; empty: none."""
    if all(cell.claim is None for cell in points.every):
        return ""
    document = f"{points.artifact.printed or 'the document'} of “{points.paper.title}”"
    if not beside_others and all(cell.beside is None for cell in points.every):
        return f"The numbers of {document} are of other data: the verdicts list them."
    return f"{where} {document}: published images, encoder and schedule."


def seeds(listed: Sequence[int]) -> str:
    """``n = 5 (seeds 0, 1, 2, 3, 4)``."""
    return f"n = {len(listed)} ({'seed' if len(listed) == 1 else 'seeds'} {', '.join(map(str, listed))})"


def some_seeds(numbers: Sequence[int], every: Sequence[int]) -> str:
    """``n = 1 to 3 (of seeds 0, 1, 2)``: cells differ in their seeds."""
    between = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    return f"n = {between} (of seeds {', '.join(map(str, every))})"


def conditions(points: Points) -> str:
    """The seeds that one artifact's cells have, and their device and torch release."""
    rows = points.table("measurements").dropna(subset="seed")
    of_cell = {tuple(sorted(map(int, cell["seed"]))) for _, cell in rows.groupby("coordinates")}
    numbers = sorted({len(one) for one in of_cell})
    every = sorted({seed for one in of_cell for seed in one})
    text = seeds(every) if len(of_cell) < 2 else some_seeds(numbers, every)
    device, torch = (words.distinct(points.table("runs")[name]) for name in ("device", "torch"))
    return f"{text}; device {device}; torch {torch}."


def batch(run: Run) -> str:
    """``256``, or ``1024 (4 × 256)`` if gradients are accumulated."""
    size, micro = run.batch.size, run.batch.micro
    return str(size) if size == micro else f"{size} ({size // micro} × {micro})"


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
    listed = plan.artifacts.get((paper.paper, artifact), [])
    cells = [(cell, cell.run) for cell in listed if cell.run and not cell.missing]
    if not cells:
        return f"Protocol: {words.NOT_RUN} at this scale."
    cells = [(cell, run) for cell, run in cells if run.seed == cells[0][1].seed]
    by_method: dict[str, list[Run]] = {}
    for cell, run in cells:
        by_method.setdefault(paper.label(str(cell.coordinates["method"])), []).append(run)
    settings: dict[str, list[str]] = {}
    for name, runs in by_method.items():
        epochs, sizes = words.several(str(run.schedule.epochs) for run in runs), words.several(map(batch, runs))
        settings.setdefault(f"{counted(epochs, 'epoch')}, batch {sizes}", []).append(name)
    trained = "; ".join(f"{', '.join(names)} {setting}" for setting, names in settings.items())
    encoders = _encoders(run for _, run in cells)
    shown = " or ".join(encoders) if len(encoders) <= words.FEW else f"{encoders[0]} and {len(encoders) - 1} others"
    untrained = _encoders(cell.run for cell in plan.controls[paper.paper, artifact] if cell.run)
    note = f" (the untrained one is {', '.join(untrained)})" if untrained and len(encoders) > len(untrained) else ""
    probes = dict.fromkeys(_probe(plan, paper, cell.protocol) for cell, _ in cells)
    return f"Protocol: encoder {shown}{note}; {trained}; {'; '.join(probes)}."


def _encoders(runs: Iterable[Run]) -> list[str]:
    return list(dict.fromkeys(component(run.encoder) for run in runs))


def _probe(plan: Plan, paper: Paper, name: str) -> str:
    if name == HISTORY:
        return "norm and loss from the training history"
    chosen = plan.protocols[paper.paper][name]
    where = " on the head's output" if chosen.layer == "embeddings" else ""
    return f"probed by {component(chosen.probe)}{where}{', on another dataset' if chosen.transfer else ''}"
