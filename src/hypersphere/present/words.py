"""The sentences and number formats that every output shares, so that none is shown without its scale."""

import math
from typing import Any

from hypersphere.declared import plan, rules
from hypersphere.declared.artifacts import Measured, Paper
from hypersphere.declared.config import Config
from hypersphere.declared.run import Run
from hypersphere.present.results import Results, settles

NOT_RUN = "not run"
CONTROLS = {"chance": "chance", "pixels": "raw pixels", "untrained": "untrained encoder"}


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
    """Three decimals, or that it is smaller."""
    return "–" if math.isnan(value) else "<0.001" if value < 0.0005 else f"{value:.3f}"


def published(text: str, decimals: int) -> str:
    """A published number as printed, with at least the metric's decimals; empty where none is."""
    try:
        value = float(text)
    except ValueError:
        return text
    return number(value, max(decimals, len(text.partition(".")[2])))


def confidence(config: Config) -> str:
    """The level of every interval: ``95 %``."""
    return f"{100 * rules.load(config.root).confidence:g} %"


def scale_line(config: Config) -> str:
    """Which scale this is, and what that means."""
    return f"Scale {config.scale_name} (level {config.scale.level}): {config.scale.describe}."


def heading(config: Config, printed: str | None) -> str:
    """``Table 5 at scale quick``: nothing rebuilt is named without its scale."""
    return f"{printed} at scale {config.scale_name}" if printed else f"At scale {config.scale_name}"


def notice(config: Config) -> str:
    """The sentence that keeps a small result from posing as a reproduction."""
    if settles(config):
        return "The published setting, under the readings and choices listed with each claim."
    if config.scale.level == "paper":
        return "Not a reproduction: numbers of the published scale were changed for this run of the pipeline."
    kind = {
        "quick": "a check that the whole pipeline works, with smaller data, encoder and schedule than published",
        "laptop": "a reduced setting, with a smaller encoder and a shorter schedule than published",
    }[config.scale.level]
    return f"Not a reproduction: {kind}. No encoder trained at this scale counts for or against a published number."


def seeds(config: Config) -> str:
    """``n = 5 (seeds 0, 1, 2, 3, 4)``."""
    listed = ", ".join(map(str, config.scale.seeds))
    return f"n = {len(config.scale.seeds)} ({'seed' if len(config.scale.seeds) == 1 else 'seeds'} {listed})"


def short_notice(config: Config) -> str:
    """The notice in three words."""
    return "Published setting." if settles(config) else "Not a reproduction."


def conditions(config: Config, results: Results) -> str:
    """n, device and library of everything at this scale."""
    return f"{seeds(config)}; device {results.devices()}; torch {results.torch()}."


def used_datasets(config: Config, artifact: Measured) -> list[str]:
    """The datasets that this scale really measures an artifact's columns on."""
    return [used for column in artifact.columns if (used := config.scale.datasets[column]) is not None]


def run_of(config: Config, paper: Paper, row: str, dataset: str) -> Run:
    """The run (first seed) of a row ``method.variant`` on a dataset."""
    method, _, variant = row.partition(".")
    return plan.resolve(config, paper, method, variant, config.datasets[dataset], config.scale.seeds[0])


def batch(run: Run) -> str:
    """``256``, or ``1024 (4 × 256)`` where gradients are accumulated."""
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


def protocol(config: Config, paper: Paper, artifact: Measured) -> str:
    """Encoder, epochs and batch of the runs of an artifact."""
    datasets = used_datasets(config, artifact)
    if not datasets:
        return f"Protocol: {NOT_RUN} at this scale."
    settings: dict[str, dict[str, None]] = {}
    encoders: dict[str, None] = {}
    for row in artifact.rows:
        run = run_of(config, paper, row, datasets[0])
        name = paper.label(row.partition(".")[0])
        settings.setdefault(f"{run.schedule.epochs} epochs, batch {batch(run)}", {})[name] = None
        encoders[component(run.encoder)] = None
    trained = "; ".join(f"{', '.join(names)} {setting}" for setting, names in settings.items())
    # One row of controls stands for all methods: epoch 0 of the first one's encoder (statistics/gather.py).
    untrained = f" (the untrained one is {next(iter(encoders))})" if len(encoders) > 1 else ""
    return f"Protocol: encoder {' or '.join(encoders)}{untrained}; {trained}."


def stand_in(config: Config, dataset: str) -> str:
    """``measured on digits_lt``: what a published dataset was measured on; empty where on itself."""
    used = config.scale.datasets.get(dataset)
    if used is None:
        return f"{NOT_RUN} at this scale"
    return "" if used == dataset else f"measured on {used}"


def standing_in(config: Config, dataset: str, paper: Paper) -> str:
    """``CIFAR-10 unb. (measured on digits_lt)``."""
    note = stand_in(config, dataset)
    return f"{paper.label(dataset)} ({note})" if note else paper.label(dataset)
