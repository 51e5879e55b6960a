"""Sentences and number formats that all outputs share. They name the scale of every result."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from hypersphere.config import rules
from hypersphere.config.artifacts import HISTORY, Paper, Protocol
from hypersphere.config.cells import Cell
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.run import Dataset, Run
from hypersphere.config.verdicts import Verdict
from hypersphere.report.results import ArtifactResults, Results, settles
from hypersphere.wording import counted

NOT_RUN = Verdict.NOT_RUN
CONTROLS = {"chance": "chance", "pixels": "raw pixels", "untrained": "untrained encoder"}
FEW = 4
"""Up to so many values are listed one by one; of more, only the first and the last."""


def number(value: float, decimals: int) -> str:
    """A fixed number of decimals, a real minus sign; an en dash for a missing number."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "diverges"
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def signed(value: float, decimals: int) -> str:
    """As ``number``, with a plus sign."""
    text = number(value, decimals)
    return f"+{text}" if not math.isnan(value) and float(f"{value:.{decimals}f}") > 0 else text


def interval(low: float, high: float, decimals: int, sign: bool = True) -> str:
    """``[+0.1, +2.3]``, or an en dash where there is none."""
    if math.isnan(low) or math.isnan(high):
        return "–"
    show = signed if sign else number
    return f"[{show(low, decimals)}, {show(high, decimals)}]"


def p_value(value: float) -> str:
    """Three decimals, or ``<0.001``."""
    return "–" if math.isnan(value) else "<0.001" if value < 0.0005 else f"{value:.3f}"


def published(text: str, decimals: int) -> str:
    """A published number with its printed decimals, at least the metric's. Text that is no number stays."""
    try:
        value = float(text)
    except ValueError:
        return text
    return number(value, max(decimals, len(text.partition(".")[2])))


def confidence(config: Config) -> str:
    """The level of every interval: ``95 %``."""
    return f"{100 * rules.load(config.root).confidence:g} %"


def scale_line(config: Config) -> str:
    """The scale's name, level and description."""
    return f"Scale {config.scale_name} (level {config.scale.level}): {config.scale.describe}."


def heading(config: Config, printed: str | None) -> str:
    """``Table 5 at scale quick``."""
    return f"{printed} at scale {config.scale_name}" if printed else f"At scale {config.scale_name}"


def notice(config: Config) -> str:
    """Whether results of this scale count as a reproduction, in one or two sentences."""
    if settles(config):
        return "The published setting, under the readings and choices listed with each claim."
    if config.scale.level == "paper":
        return "Not a reproduction: numbers of the published scale were changed for this run of the pipeline."
    kind = {
        "quick": "a check that the whole pipeline works, with smaller data, encoder and schedule than published",
        "laptop": "a reduced setting, with a smaller encoder and a shorter schedule than published",
    }[config.scale.level]
    return f"Not a reproduction: {kind}. No encoder trained at this scale counts for or against a published number."


def short_notice(config: Config) -> str:
    """The notice in two or three words."""
    return "Published setting." if settles(config) else "Not a reproduction."


def seeds(listed: Sequence[int]) -> str:
    """``n = 5 (seeds 0, 1, 2, 3, 4)``."""
    return f"n = {len(listed)} ({'seed' if len(listed) == 1 else 'seeds'} {', '.join(map(str, listed))})"


def conditions(about: ArtifactResults) -> str:
    """The seeds that one artifact's cells have, and their device and torch release."""
    rows = about.measurements.dropna(subset="seed")
    of_cell = {tuple(sorted(map(int, cell["seed"]))) for _, cell in rows.groupby("coordinates")}
    numbers = sorted({len(one) for one in of_cell})
    every = sorted({seed for one in of_cell for seed in one})
    text = seeds(every) if len(numbers) < 2 and len(of_cell) < 2 else _some(numbers, every)
    return f"{text}; device {about.devices()}; torch {about.torch()}."


def _some(numbers: Sequence[int], every: Sequence[int]) -> str:
    """``n = 1 to 3 (of seeds 0, 1, 2)``: cells differ in their seeds."""
    between = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    return f"n = {between} (of seeds {', '.join(map(str, every))})"


def seeds_of_scale(plan: Plan) -> str:
    """The seeds of tables, and of sweeps if they differ; those of records, where all numbers come from records."""
    if plan.records is not None:
        recorded = sorted({run.seed for run in plan.runs.values()})
        return _some([1, len(recorded)] if len(recorded) > 1 else [1], recorded) if recorded else NOT_RUN
    tables, sweeps = plan.config.scale.seeds.tables, plan.config.scale.seeds.sweeps
    return seeds(tables) if tables == sweeps else f"{seeds(tables)}; in sweeps {seeds(sweeps)}"


def conditions_of_scale(results: Results) -> str:
    """Seeds, device and torch release of everything at this scale."""
    device, torch = (distinct(results.runs[name]) for name in ("device", "torch"))
    return f"{seeds_of_scale(results.plan)}; device {device}; torch {torch}."


def distinct(values: Iterable[Any]) -> str:
    """The different values, sorted; ``not run`` if there is none."""
    return ", ".join(sorted({str(value) for value in values if value})) or NOT_RUN


def batch(run: Run) -> str:
    """``256``, or ``1024 (4 × 256)`` if gradients are accumulated."""
    size, micro = run.batch.size, run.batch.micro
    return str(size) if size == micro else f"{size} ({size // micro} × {micro})"


def component(value: Any) -> str:
    """``resnet (depth 50, stem cifar)``."""
    inside = ", ".join(_parameter(key.replace("_", " "), item) for key, item in value.parameters.items())
    return value.name.replace("_", " ") + (f" ({inside})" if inside else "")


def _parameter(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return name if value else f"no {name}"
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"


def several(values: Iterable[str]) -> str:
    """The different values, in the given order: ``64``, ``64, 128``, or ``0.5 to 40`` if there are many."""
    listed = list(dict.fromkeys(values))
    return ", ".join(listed) if len(listed) <= FEW else f"{listed[0]} to {listed[-1]}"


def measured_cells(plan: Plan, paper: str, artifact: str) -> list[Cell]:
    """The cells of an artifact that this scale measures, for its first seed."""
    cells = [cell for cell in plan.artifacts.get((paper, artifact), []) if cell.run is not None and not cell.missing]
    return [cell for cell in cells if cell.run and cells[0].run and cell.run.seed == cells[0].run.seed]


def protocol(plan: Plan, paper: Paper, artifact: str) -> str:
    """Encoder, epochs, batch and probes of an artifact's runs."""
    cells = measured_cells(plan, paper.paper, artifact)
    if not cells:
        return f"Protocol: {NOT_RUN} at this scale."
    by_method: dict[str, list[Run]] = {}
    for cell in cells:
        by_method.setdefault(paper.label(str(cell.coordinates["method"])), []).append(_run(cell))
    settings: dict[str, list[str]] = {}
    for name, runs in by_method.items():
        epochs, sizes = several(str(run.schedule.epochs) for run in runs), several(map(batch, runs))
        settings.setdefault(f"{counted(epochs, 'epoch')}, batch {sizes}", []).append(name)
    trained = "; ".join(f"{', '.join(names)} {setting}" for setting, names in settings.items())
    encoders = _encoders(cells)
    shown = " or ".join(encoders) if len(encoders) <= FEW else f"{encoders[0]} and {len(encoders) - 1} others"
    untrained = _encoders(plan.controls[paper.paper, artifact])
    note = f" (the untrained one is {', '.join(untrained)})" if untrained and len(encoders) > len(untrained) else ""
    probes = dict.fromkeys(_probe(plan.protocols[paper.paper], cell.protocol) for cell in cells)
    return f"Protocol: encoder {shown}{note}; {trained}; {'; '.join(probes)}."


def _run(cell: Cell) -> Run:
    assert cell.run is not None
    return cell.run


def _encoders(cells: Iterable[Cell]) -> list[str]:
    return list(dict.fromkeys(component(_run(cell).encoder) for cell in cells))


def _probe(protocols: dict[str, Protocol], name: str) -> str:
    if name == HISTORY:
        return "norm and loss from the training history"
    chosen = protocols[name]
    where = " on the head's output" if chosen.layer == "embeddings" else ""
    return f"probed by {component(chosen.probe)}{where}{', on another dataset' if chosen.transfer else ''}"


def stand_in(config: Config, dataset: str, paper: str) -> str:
    """``measured on digits_lt``: the stand-in for a published dataset; empty if it was measured itself."""
    used = _used(config, dataset, paper)
    if used is None:
        return f"{NOT_RUN} at this scale"
    if used.source is None:
        return f"{NOT_RUN}: no loader yet"
    other = replacement(config, dataset, paper)
    return f"measured on {other}" if other else ""


def replacement(config: Config, dataset: str, paper: str) -> str:
    """The dataset that is measured in place of a published one; empty if that itself is measured, or none."""
    used = _used(config, dataset, paper)
    return "" if used is None or used.source is None or used.name == dataset else used.name


def _used(config: Config, dataset: str, paper: str) -> Dataset | None:
    declared = dataset in config.scale.datasets or dataset in config.datasets
    return config.used(dataset, paper) if declared else None


def standing_in(config: Config, dataset: str, paper: Paper) -> str:
    """``CIFAR-10 unb. (measured on digits_lt)``."""
    note = stand_in(config, dataset, paper.paper)
    return f"{paper.label(dataset)} ({note})" if note else paper.label(dataset)
