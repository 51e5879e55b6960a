"""Notes on an artifact made from runs: scale, what is shown, seeds, device, protocol, what is missing."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pandas as pd

from hypersphere.config.artifacts import HISTORY, Measured, Paper, Studied
from hypersphere.config.cells import SHARED, is_made, untrained_controls
from hypersphere.config.coordinates import Scalar
from hypersphere.config.plan import Plan
from hypersphere.provenance.likeness import unlike
from hypersphere.report import words
from hypersphere.report.artifact import Points
from hypersphere.report.rendering import Sentences
from hypersphere.report.results import settles
from hypersphere.wording import count_of

SENTENCES = Sentences("""
{% macro absent(every, reasons) %}
{% if reasons %}
Not run, of {{ every }}: {% for why, count in reasons.items() -%}
{{ count | counted("cell") }} ({{ why }}){{ "; " if not loop.last }}
{%- endfor %}. Rows, columns and panels of which nothing was run are left out.
{% endif %}
{% endmacro %}

{% macro repeated(datasets) %}
{% if datasets %}
Mind: {% for name, images in datasets.items() %}of {{ name }}, {{ images }}{{ ". " if not loop.last }}{% endfor %}.
{% endif %}
{% endmacro %}

{% macro published(where, printed, title, beside) %}
{% if beside %}
{{ where }} {{ printed or "the paper" }} of “{{ title }}”: published images, encoder and schedule.
{% else %}
The numbers of {{ printed or "the paper" }} of “{{ title }}” are of other data: the verdicts list them.
{% endif %}
{% endmacro %}

{% macro seeds(listed, numbers) %}
{% if numbers %}
n = {{ numbers[0] }}{{ " to %d" | format(numbers[-1]) if numbers[-1] > numbers[0] }}
(of seeds {{ listed | join(", ") }})
{% else %}
n = {{ listed | length }} ({{ "seed" if listed | length == 1 else "seeds" }} {{ listed | join(", ") }})
{% endif %}
{% endmacro %}

{% macro component(name, parameters) %}
{{ name.replace("_", " ") }}{% for key, value in parameters.items() -%}
{{ " (" if loop.first else ", " }}{{ "no " if value is false }}{{ key.replace("_", " ") }}
{%- if value is float %} {{ "%g" | format(value) }}{% elif value is not boolean %} {{ value }}{% endif %}
{{ ")" if loop.last }}
{%- endfor %}
{% endmacro %}

{% macro encoders(trained, untrained, most) %}
encoder {% if trained | length <= most %}{{ trained | join(" or ") }}
{%- else %}{{ trained[0] }} and {{ trained | length - 1 }} others{% endif %}
{% if 0 < untrained | length < trained | length %} (the untrained one is {{ untrained | join(", ") }}){% endif %}
{% endmacro %}

{% macro probe(component, protocol) %}
probed by {{ component }}{{ " on the head's output" if protocol.layer == "embeddings" }}
{{- ", on another dataset" if protocol.transfer }}
{% endmacro %}

{% macro batch(size, micro, parts) %}
{{ size }}{{ " (%d × %d)" | format(size // micro, micro) if size != micro }}
{{- " in %d parts" | format(parts) if parts > 1 }}
{% endmacro %}
""")


def of(points: Points, *shown: str) -> tuple[str, ...]:
    """All notes, of which the first one names the scale, and ``shown`` says what cells, lines or bands are."""
    plan = points.results.plan
    key = points.paper.paper, points.name
    is_kept = (
        plan.records is None or plan.controls[key] or not untrained_controls(plan.artifacts[key])
    )
    every = (
        words.scale_note(points.config),
        " ".join(filter(None, shown)),
        shared_coordinates(points),
        f"Conditions: {conditions(points)}",
        protocol(plan, points.paper, points.name),
        SENTENCES("absent", len(points.every), _reasons(points)),
        "" if is_kept else "Without the untrained encoder, of which no record is kept.",
        repeated_images(points),
        why_not_judged(points.artifact),
    )
    return tuple(filter(None, every))


def _reasons(points: Points) -> Counter[str]:
    """How many cells were not run, by the reason; shared numbers count together."""
    reasons = [cell.missing for cell in points.every if cell.missing]
    return Counter(f"{SHARED} another cell" if why.startswith(SHARED) else why for why in reasons)


def small(points: Points) -> str:
    """Scale, data, n, device and protocol in a line, for a figure without its caption."""
    worth = "Published setting." if settles(points.config) else "Not a reproduction."
    scale = f"Scale {points.config.scale_name}. {worth}"
    runs = protocol(points.results.plan, points.paper, points.name)
    return " ".join(filter(None, (scale, shared_coordinates(points), conditions(points), runs)))


def several(points: Points) -> bool:
    """Whether any cell has more than one pretraining."""
    return any(cell.count("n") > 1 for cell in points.every)


def over(points: Points, pretrainings: str = "independent pretrainings") -> str:
    """What a number of a cell is: ``mean over independent pretrainings``, or ``one pretraining each (n = 1)``."""
    return f"mean over {pretrainings}" if several(points) else "one pretraining each (n = 1)"


def measures(points: Points) -> str:
    """The labels of what is shown: ``embedding norm; kNN accuracy (%)``."""
    return "; ".join(dict.fromkeys(cell.label for cell in points.every))


def measures_in_full(points: Points) -> str:
    """Every measure that is shown: ``kNN accuracy (%; weighted k-nearest-neighbour vote)``."""
    every = dict.fromkeys(cell.measure for cell in points.every)
    return "; ".join(f"{one.label} ({one.unit or 'no unit'}; {one.what})" for one in every)


def why_not_judged(artifact: Measured | Studied) -> str:
    """Why our numbers cannot judge those of the document; empty if they can."""
    why = artifact.cannot_be_judged
    return f"Cannot be judged: {why.rstrip('.')}." if why else ""


def repeated_images(points: Points) -> str:
    """``Mind: of CIFAR-100, images also in train: 10 of 10,000 in test.``: repeated images of the probed datasets."""
    found = dict[str, str]()
    for row in points.summary.values():
        if row["repeated"]:
            found[points.paper.label(row["probed_on"])] = row["repeated"]
    return SENTENCES("repeated", found)


def shared_coordinates(points: Points) -> str:
    """``Everywhere: SimCLR, digits (for CIFAR-10).``: the coordinates that all cells share; empty without any."""
    on_axes = {"measure"}.union(*map(words.varying, points.artifact.axes.values()))
    shared: dict[str, Scalar] = dict(points.every[0].coordinates)
    for cell in points.every:
        shared = {key: one for key, one in shared.items() if cell.coordinates.get(key) == one}
    keys = [key for key in shared if key not in on_axes]
    text = points.name_by(shared, keys).rstrip(".")
    return f"Everywhere: {text}." if text else ""


def published_source(points: Points, where: str, beside_others: bool = False) -> str:
    """Where the published numbers come from, or that they are of other data, which only a table shows; empty: none."""
    if all(cell.claim is None for cell in points.every):
        return ""
    beside = beside_others or any(cell.beside for cell in points.every)
    return SENTENCES("published", where, points.artifact.printed, points.paper.title, beside)


def seeds(listed: Sequence[int], numbers: Sequence[int] = ()) -> str:
    """``n = 5 (seeds 0, 1, 2, 3, 4)``, or ``n = 1 to 3 (of seeds 0, 1, 2)`` of cells with these numbers of them."""
    return SENTENCES("seeds", listed, numbers)


def conditions(points: Points) -> str:
    """The seeds that one artifact's cells have, and their device and torch release."""
    rows = points.table("measurements").dropna(subset="seed").astype({"seed": int})
    of_cell = set(rows.groupby("coordinates")["seed"].agg(frozenset))
    numbers = sorted(set(map(len, of_cell))) if len(of_cell) > 1 else []
    runs = points.table("runs")
    parts = (
        seeds(sorted(set(rows["seed"])), numbers),
        f"device {words.distinct(runs['device'])}",
        f"torch {words.distinct(runs['torch'])}",
        *unlike(runs),
    )
    return f"{'; '.join(parts)}."


def component(value: Any) -> str:
    """``resnet (depth 50, stem cifar)``."""
    return SENTENCES("component", value.name, value.parameters)


def protocol(plan: Plan, paper: Paper, artifact: str) -> str:
    """Encoder, epochs, batch and probes of an artifact's runs, those of one seed."""
    every = []
    for cell in filter(is_made, plan.artifacts.get((paper.paper, artifact), ())):
        run = cell.run
        about = {
            "seed": run.seed,
            "method": paper.label(str(cell.coordinates["method"])),
            "epochs": str(run.schedule.epochs),
            "batch": SENTENCES("batch", run.batch.size, run.batch.micro, run.batch.parts),
            "encoder": component(run.encoder),
            "probe": _probe(plan, paper, cell.protocol),
        }
        every.append(about)
    if not every:
        return f"Protocol: {words.NOT_RUN} at this scale."
    table = pd.DataFrame(every)
    runs = table[table["seed"] == table["seed"][0]]
    controls = [cell.run for cell in plan.controls[paper.paper, artifact] if cell.run]
    initial = dict.fromkeys(component(run.encoder) for run in controls)
    encoders = SENTENCES("encoders", list(runs["encoder"].unique()), list(initial), words.FEW)
    return f"Protocol: {'; '.join([encoders, *_schedules(runs), *runs['probe'].unique()])}."


def _schedules(runs: pd.DataFrame) -> Iterator[str]:
    """``SimCLR, BYOL 100 epochs, batch 64``."""
    of_method = runs.groupby("method", sort=False)[["epochs", "batch"]].agg(words.several)
    epochs = of_method["epochs"].map(partial(count_of, noun="epoch"))
    settings = epochs + ", batch " + of_method["batch"]
    for setting, alike in settings.groupby(settings, sort=False):
        yield f"{', '.join(alike.index)} {setting}"


def _probe(plan: Plan, paper: Paper, name: str) -> str:
    if name == HISTORY:
        return "norm and loss from the training history"
    protocol = plan.protocols[paper.paper][name]
    return SENTENCES("probe", component(protocol.probe), protocol)
