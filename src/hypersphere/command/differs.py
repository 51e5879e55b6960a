"""``hypersphere differs``: why a number is not the published one.

It lists the settings in which a run differs from the published run of a claim, says what each is worth by recorded
runs, and names the run that would tell most. Nothing is trained or written.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere.command.templates import fill
from hypersphere.config import claims as ledger
from hypersphere.config import coordinates, hyperparameters, settings
from hypersphere.config import plan as planning
from hypersphere.config.cells import Cell
from hypersphere.config.claims import Claim
from hypersphere.config.difference import Change, between
from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config, Layer, scale_names
from hypersphere.config.resolve import Layers
from hypersphere.config.run import Dataset, Run, read
from hypersphere.config.validation import (
    COMMAND_LINE,
    check_name,
    not_one_of,
    read_mapping,
    validate,
)
from hypersphere.errors import HypersphereError
from hypersphere.statistics import worth
from hypersphere.statistics.judged_records import recorded_scales
from hypersphere.statistics.worth import Worth

PUBLISHED = "paper"
"""The scale whose runs are the published ones."""


class Line(NamedTuple):
    """One setting that differs, as it is shown."""

    setting: str
    published: str
    yours: str
    worth: str
    source: str


def differs(config: Config, given: Sequence[str], claim: str, number: float | None) -> None:
    """Print in which settings a run differs from the published run of a claim, and what each is worth.

    ``given`` are files with settings of the run and settings as ``PATH=VALUE``; what they leave out is as published.
    ``number`` is what the run measured, in the unit of the claim's metric.

    Raises:
        HypersphereError: no trained encoder answers the claim, or a setting is not valid.
    """
    shared = config.shared_settings
    if PUBLISHED not in scale_names(config.root):
        raise HypersphereError(
            f"differs: config/scales/{PUBLISHED}.yaml: the file is missing; its runs are the published ones"
        )
    published = planning.make(config.root, shared | {"scale": PUBLISHED})
    stated, cell = find(published, claim)
    if number is not None and stated.reported is None:
        raise HypersphereError("differs: --number: the paper prints no number for this claim")
    if number is not None and stated.kind != "value":
        raise HypersphereError(
            f"differs: --number: {claim} is a difference; name the claim of one of its two numbers"
        )
    assert cell.run is not None
    changes = between(cell.run, described(config, cell.run, given))
    known = hyperparameters.load(config.folders[cell.paper])
    sources = {setting: hyperparameters.source_of(known, cell, setting) for setting in changes}
    worths: list[Worth] = []
    if changes:
        scales = recorded_scales(config.root)
        recorded = shared | {"evidence_only": True}
        plans = (planning.make(config.root, recorded | {"scale": scale}) for scale in scales)
        worths = worth.of_changes(plans, changes, stated.coordinates)
    print(answer(stated, changes, sources, worths, number))
    print(f"whole: hypersphere plan --set scale={PUBLISHED} --yaml {cell.run.name}")


def find(plan: Plan, name: str) -> tuple[Claim, Cell]:
    """The claim of that name, and the cell with the published run of its number; of a comparison, the variant's."""
    claims = {}
    for paper in plan.config.papers:
        for claim in ledger.of(plan.config, paper):
            claims[claim.id] = paper, claim
    if name not in claims:
        raise HypersphereError(f"differs: --claim: {not_one_of(name, claims)}")
    paper, claim = claims[name]
    for cell in plan.artifacts.get((paper, claim.artifact), []):
        if cell.run is not None and cell.text == claim.text:
            return claim, cell
    raise HypersphereError(f"differs: --claim: {name} is not about a run")


def described(config: Config, published: Run, given: Sequence[str]) -> Run:
    """The run that files and settings describe, laid over the published run in their order.

    A file with all fields that a run needs is a whole run, whose other fields have their defaults.
    """
    fields = published.model_dump(exclude={"seed", "dataset"})
    dataset = published.dataset
    layers = [Layer(COMMAND_LINE, "published", {}), Layer(COMMAND_LINE, "published", fields)]
    for word in given:
        file, own = _read(word)
        if "dataset" in own:
            dataset = _dataset(config, file, own["dataset"])
        needed = {name for name, field in Run.model_fields.items() if field.is_required()}
        if needed <= own.keys():
            own = read(file).model_dump(exclude={"dataset", "seed"})
            layers = layers[:1]
        changed = {key: value for key, value in own.items() if key not in ("seed", "dataset")}
        layers.append(Layer(file, "", changed))
    return Layers(*layers).run(dataset)


def _read(word: str) -> tuple[Path, dict[str, Any]]:
    """The fields of one argument, and where they are written: in a file, or on the command line."""
    _, equals, _ = word.partition("=")
    if not equals or Path(word).is_file():
        return Path(word), read_mapping(Path(word))
    return COMMAND_LINE, coordinates.nest(settings.parse([word]))


def _dataset(config: Config, file: Path, value: Any) -> Dataset:
    """A dataset by its name in config/datasets.yaml, or with all its fields."""
    if isinstance(value, str):
        check_name(value, config.datasets, f"{file}: dataset")
        return config.datasets[value]
    return validate(Dataset, value, file, "dataset")


def answer(
    claim: Claim,
    changes: Mapping[str, Change],
    sources: Mapping[str, str],
    worths: Sequence[Worth],
    number: float | None,
) -> str:
    """The answer in words: the settings that differ, what they explain, and what to run.

    ``sources`` are the places where the paper states its values, by setting; empty where no place is known.
    """
    assert claim.metric is not None
    measure = MEASURES[claim.metric]
    unit = "points" if measure.unit == "%" else measure.unit
    explaining = worth.explaining(worths, changes)
    known = worth.by_setting(explaining)
    decimals = measure.decimals
    lines = []
    for setting, change in changes.items():
        stated = f" ({sources[setting]})" if sources[setting] else ""
        shown = change._replace(first=change.first + stated)
        told, source = _told(setting, change, known.get(setting), worths, decimals)
        lines.append(Line(setting, *shown, told, source))
    gap = None if number is None or claim.reported is None else number - claim.reported
    effect = sum(one.effect for one in explaining)
    low = sum(one.low for one in explaining)
    high = sum(one.high for one in explaining)
    text = fill(
        "differs.txt",
        claim=claim,
        measure=measure,
        unit=unit,
        number=number,
        gap=None if gap is None else _beside(gap, decimals, unit),
        lines=lines,
        changes=changes,
        known=len(known),
        together=_interval(effect, low, high, decimals),
        rest=None if gap is None else f"{gap - effect:+.{decimals}f} {unit}".rstrip(),
        next=_most_telling(changes, sources, worths, f".{decimals}f", unit),
    )
    return "\n".join(line.rstrip() for line in text.splitlines())


def _beside(gap: float, decimals: int, unit: str) -> str:
    """Where a number is beside the published one: ``2.5 points lower``."""
    if round(gap, decimals) == 0:
        return "the same"
    size = f"{abs(gap):.{decimals}f} {unit}".rstrip()
    return f"{size} lower" if gap < 0 else f"{size} higher"


def _told(
    setting: str, change: Change, known: Worth | None, worths: Sequence[Worth], decimals: int
) -> tuple[str, str]:
    """A setting's worth and where it was measured; without a worth, what records have at the nearest values."""
    if known is not None:
        first, *_ = known.changes
        moved = _interval(known.effect, known.low, known.high, decimals)
        return (moved, _source(known)) if setting == first else (f"with {first}", "")
    nearest = worth.nearest(worths, setting, change)
    if nearest is None:
        return "unknown", ""
    (other,) = nearest.changes.values()
    moved = _interval(nearest.effect, nearest.low, nearest.high, decimals)
    return "unknown", f"nearest: {other.first} to {other.second}, {moved}; {_source(nearest)}"


def _interval(effect: float, low: float, high: float, decimals: int) -> str:
    """``-2.0 (-3.3 to -0.7)``."""
    return f"{effect:+.{decimals}f} ({low:+.{decimals}f} to {high:+.{decimals}f})"


def _source(one: Worth) -> str:
    """Where a worth was measured, and in how many runs."""
    runs = f"{one.n_first} against {one.n_second} runs"
    return f"{one.scale}: {one.method} on {one.dataset} of {one.paper}, {runs}"


def _most_telling(
    changes: Mapping[str, Change],
    sources: Mapping[str, str],
    worths: Sequence[Worth],
    digits: str,
    unit: str,
) -> tuple[list[str], str] | None:
    """The settings to take as published in the run that would tell most, and why; None: no setting differs.

    A setting that no record varies comes first: the dataset, or one that the paper states, before the others. Then
    comes the setting whose nearest records differ most, then the widest interval.
    """
    explaining = worth.explaining(worths, changes)
    known = worth.by_setting(explaining)
    unknown = [setting for setting in changes if setting not in known]
    unknown.sort(key=lambda setting: not sources[setting] and setting != "dataset")
    moves = {}
    for setting in unknown:
        nearest = worth.nearest(worths, setting, changes[setting])
        if nearest is None:
            return [setting], "no recorded run varies this setting alone"
        moves[setting] = abs(nearest.effect)
    if moves:
        setting = max(moves, key=lambda one: moves[one])
        moved = f"{moves[setting]:{digits}} {unit}".rstrip()
        return [setting], f"the nearest recorded values differ by {moved}"
    if not explaining:
        return None
    widest = max(explaining, key=lambda one: one.high - one.low)
    return [*widest.changes], "its worth has the widest interval"
