"""Notes on an artifact made from runs: scale, what is shown, seeds, device, protocol, what is missing."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from hypersphere.config.artifacts import HISTORY, Measured, Paper, Studied
from hypersphere.config.cells import SHARED, untrained
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.provenance.likeness import unlike
from hypersphere.report import words
from hypersphere.report.artifact import Points
from hypersphere.report.results import settles
from hypersphere.wording import counted


def of(points: Points, *shown: str) -> tuple[str, ...]:
    """All notes, of which the first one names the scale, and ``shown`` says what cells, lines or bands are."""
    plan = points.results.plan
    key = points.paper.paper, points.name
    is_kept = plan.records is None or plan.controls[key] or not untrained(plan.artifacts[key])
    every = (
        words.scale_note(points.config),
        " ".join(filter(None, shown)),
        shared(points),
        f"Conditions: {conditions(points)}",
        protocol(plan, points.paper, points.name),
        _absent(points),
        "" if is_kept else "Without the untrained encoder, of which no record is kept.",
        repeated(points),
        unjudged(points.artifact),
    )
    return tuple(filter(None, every))


def _absent(points: Points) -> str:
    """``Not run, of 20: 4 cells (nothing stands for stl10 at this scale).``; shared numbers count together."""
    reasons = Counter(
        f"{SHARED} another cell" if cell.missing.startswith(SHARED) else cell.missing
        for cell in points.every
        if cell.missing
    )
    if not reasons:
        return ""
    listed = "; ".join(f"{counted(count, 'cell')} ({why})" for why, count in reasons.items())
    left_out = "Rows, columns and panels of which nothing was run are left out."
    return f"Not run, of {len(points.every)}: {listed}. {left_out}"


def small(points: Points) -> str:
    """Scale, data, n, device and protocol in a line, for a figure without its caption."""
    worth = "Published setting." if settles(points.config) else "Not a reproduction."
    scale = f"Scale {points.config.scale_name}. {worth}"
    runs = protocol(points.results.plan, points.paper, points.name)
    return " ".join(filter(None, (scale, shared(points), conditions(points), runs)))


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
    why = artifact.cannot_be_judged
    return f"Cannot be judged: {why.rstrip('.')}." if why else ""


def repeated(points: Points) -> str:
    """``Mind: of CIFAR-100, images also in train: 10 of 10,000 in test.``: repeated images of the probed datasets."""
    found = dict[str, str]()
    for row in points.summary.values():
        if row["repeated"]:
            found[row["probed_on"]] = (
                f"of {points.paper.label(row['probed_on'])}, {row['repeated']}"
            )
    return f"Mind: {'. '.join(found.values())}." if found else ""


def shared(points: Points) -> str:
    """``Everywhere: SimCLR, digits (for CIFAR-10).``: the coordinates that all cells share; empty without any."""
    on_axes = {"measure"}.union(*map(words.varying, points.artifact.axes.values()))
    first = points.every[0].coordinates
    keys = []
    for key, value in first.items():
        everywhere = all(cell.coordinates.get(key) == value for cell in points.every)
        if everywhere and key not in on_axes:
            keys.append(key)
    text = points.called(first, keys).rstrip(".")
    return f"Everywhere: {text}." if text else ""


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
    every = ", ".join(map(str, listed))
    if numbers:
        ends = dict.fromkeys((numbers[0], numbers[-1]))
        return f"n = {' to '.join(map(str, ends))} (of seeds {every})"
    return f"n = {len(listed)} ({'seed' if len(listed) == 1 else 'seeds'} {every})"


def conditions(points: Points) -> str:
    """The seeds that one artifact's cells have, and their device and torch release."""
    rows = points.table("measurements").dropna(subset="seed").astype({"seed": int})
    of_cell = set(rows.groupby("coordinates")["seed"].agg(frozenset))
    numbers = sorted(set(map(len, of_cell))) if len(of_cell) > 1 else []
    runs = points.table("runs")
    parts = (
        seeds(sorted(frozenset().union(*of_cell)), numbers),
        f"device {words.distinct(runs['device'])}",
        f"torch {words.distinct(runs['torch'])}",
        *unlike(runs),
    )
    return f"{'; '.join(parts)}."


def component(value: Any) -> str:
    """``resnet (depth 50, stem cifar)``."""
    inside = []
    for key, item in value.parameters.items():
        name = key.replace("_", " ")
        if isinstance(item, bool):
            inside.append(name if item else f"no {name}")
        else:
            number = f"{item:g}" if isinstance(item, float) else item
            inside.append(f"{name} {number}")
    name = value.name.replace("_", " ")
    return f"{name} ({', '.join(inside)})" if inside else name


def protocol(plan: Plan, paper: Paper, artifact: str) -> str:
    """Encoder, epochs, batch and probes of an artifact's runs, those of one seed."""
    every = []
    for cell in plan.artifacts.get((paper.paper, artifact), ()):
        if cell.run and not cell.missing:
            about = {
                "seed": cell.run.seed,
                "method": paper.label(str(cell.coordinates["method"])),
                "epochs": str(cell.run.schedule.epochs),
                "batch": _batch(cell.run),
                "encoder": component(cell.run.encoder),
                "probe": _probe(plan, paper, cell.protocol),
            }
            every.append(about)
    if not every:
        return f"Protocol: {words.NOT_RUN} at this scale."
    table = pd.DataFrame(every)
    runs = table[table["seed"] == table["seed"][0]]
    controls = [cell.run for cell in plan.controls[paper.paper, artifact] if cell.run]
    initial = dict.fromkeys(component(run.encoder) for run in controls)
    encoders = _encoders(list(runs["encoder"].unique()), list(initial))
    return f"Protocol: {'; '.join([encoders, *_trained(runs), *runs['probe'].unique()])}."


def _trained(runs: pd.DataFrame) -> Iterator[str]:
    """``SimCLR, BYOL 100 epochs, batch 64``."""
    of_method = runs.groupby("method", sort=False)[["epochs", "batch"]].agg(words.several)
    of_method["setting"] = [
        f"{counted(epochs, 'epoch')}, batch {batch}"
        for epochs, batch in of_method.itertuples(index=False)
    ]
    for setting, alike in of_method.groupby("setting", sort=False):
        yield f"{', '.join(alike.index)} {setting}"


def _batch(run: Run) -> str:
    """``256``; ``256 (4 × 64)`` where gradients are accumulated; ``4096 in 8 parts`` where the encoder takes parts."""
    size, micro, parts = run.batch.size, run.batch.micro, run.batch.parts
    passes = str(size) if size == micro else f"{size} ({size // micro} × {micro})"
    return passes if parts == 1 else f"{passes} in {parts} parts"


def _encoders(encoders: Sequence[str], untrained: Sequence[str]) -> str:
    """The encoders of runs, and the untrained encoders of their controls if those are fewer."""
    listed = " or ".join(encoders)
    if len(encoders) > words.FEW:
        listed = f"{encoders[0]} and {len(encoders) - 1} others"
    is_fewer = 0 < len(untrained) < len(encoders)
    note = f" (the untrained one is {', '.join(untrained)})" if is_fewer else ""
    return f"encoder {listed}{note}"


def _probe(plan: Plan, paper: Paper, name: str) -> str:
    if name == HISTORY:
        return "norm and loss from the training history"
    protocol = plan.protocols[paper.paper][name]
    where = " on the head's output" if protocol.layer == "embeddings" else ""
    where += ", on another dataset" if protocol.transfer else ""
    return f"probed by {component(protocol.probe)}{where}"
