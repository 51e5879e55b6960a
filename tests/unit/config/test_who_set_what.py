"""`hypersphere plan RUN` names the layers of each field: for every run of every scale, they give the value shown.

What a layer holds is looked up here in the YAML or CSV that is named, and which layers speak of a field is found field
by field: nothing of the code that merges layers is used.
"""

import csv
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import pytest
import yaml

from hypersphere import files
from hypersphere.config.cells import Cell
from hypersphere.config.coordinates import READINGS
from hypersphere.config.plan import leaves
from hypersphere.config.run import Run

from ...golden.released import ROOT, configured, released

SCALES = sorted(path.stem for path in (ROOT / "config" / "scales").glob("*.yaml"))
STEP = re.compile(r"(?P<file>\S+): (?P<section>\S+)(?: \((?P<computes>.+)\))?")
"""A layer as it is named: ``config/scales/quick.yaml: batch_divisor (divided by 4)``."""


class Place(NamedTuple):
    """A file and a section of it."""

    file: str
    section: str


class Layer(NamedTuple):
    """What one section says of a run."""

    place: Place
    fields: dict[str, Any]
    of_scale: bool = False


@cache
def read(file: str) -> Any:
    """What a file holds; of a paper that changes nothing at a scale, nothing."""
    if "/scales/" in file and not (ROOT / file).is_file():
        return {}
    text = (ROOT / file).read_text(encoding="utf-8")
    if file.endswith(".yaml"):
        return yaml.load(text, yaml.CSafeLoader) or {}
    chosen = [row for row in csv.DictReader(text.splitlines()) if row["chosen"] == "yes"]
    return {row["arm"]: row["value"] for row in chosen}


def within(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def listed(value: Any, key: str) -> Iterator[Any]:
    """Every value of that key, however deep, and each of a list of them."""
    if isinstance(value, list):
        for inner in value:
            yield from listed(inner, key)
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key and isinstance(inner, list):
                yield from inner
            elif name == key:
                yield inner
            yield from listed(inner, key)


@cache
def held(place: Place, path: str) -> list[Any]:
    """What a section says of a field: its value there, or each one that an artifact or a study lists."""
    kind, *rest = place.section.split(".", 1)
    if path == "seed":
        seeds = within(read(place.file), *place.section.split("."))
        return [*chain.from_iterable(seeds.values())] if isinstance(seeds, dict) else seeds
    if place.file.endswith(".csv"):
        values = dict(part.split("=") for part in read(place.file)[place.section].split(";"))
        return [float(values[path])]
    if kind in ("artifacts", "studies"):
        return list(listed(within(read(place.file), kind, *rest), path))
    section = within(read(place.file), *place.section.split("."))
    if place.section.endswith(".divide"):
        return [section[path]]
    if not isinstance(section, dict):  # what a scale says of one field
        return [section]
    if kind == "overrides":
        section = section["set"]
    return [within(section, *path.split("."))]


def declares(cell: Cell) -> Place:
    """The section that declares a cell: an artifact, or the study that makes it."""
    file = f"papers/{cell.paper}/paper.yaml"
    if cell.artifact in read(file).get("artifacts", {}):
        return Place(file, f"artifacts.{cell.artifact}")
    makers = [
        name for name in read(file)["studies"] if re.fullmatch(rf"{name}(_[a-z]+)?", cell.artifact)
    ]
    return Place(file, f"studies.{max(makers, key=len)}")


def lender(cell: Cell) -> str:
    """The document that declares its method and variant."""
    borrows = read(declares(cell).file).get("borrows", {})
    return str(borrows.get(cell.coordinates["method"], cell.paper))


def matches(when: dict[str, Any], point: dict[str, Any]) -> bool:
    wanted = {key: value if isinstance(value, list) else [value] for key, value in when.items()}
    return all(point.get(key) in values for key, values in wanted.items())


def selected(cell: Cell) -> Layer:
    """The values that were selected for the arm of a study's cell; an A/A arm has those of the first, its baseline."""
    place = declares(cell)
    file = f"papers/{cell.paper}/selected/{place.section.partition('.')[2]}.csv"
    of_cell = {f"{key}={value}" for key, value in cell.coordinates.items()} - {"variant=again"}
    again = cell.coordinates["variant"] == "again"
    for arm, values in read(file).items():
        parts = set(arm.split(";"))
        if again:
            parts = {part for part in parts if not part.startswith("variant=")}
        if parts <= of_cell:
            paths = (part.split("=") for part in values.split(";"))
            return Layer(Place(file, arm), {path: float(value) for path, value in paths})
    raise KeyError(cell.text)


def layers(cell: Cell, scale: str) -> Iterator[Layer]:
    """All that set fields of a cell's run, from the first word to the last; only factors are not among them."""
    file, at_scale = f"papers/{lender(cell)}/paper.yaml", f"config/scales/{scale}.yaml"
    document = read(file)
    identity = {key: cell.coordinates[key] for key in ("method", "variant", "dataset")}
    paths = {key: value for key, value in cell.coordinates.items() if "." in key}
    asking = [
        Layer(declares(cell), {path: value for path, value in paths.items() if value != "best"})
    ]
    if "best" in paths.values():
        asking.append(selected(cell))
    point = dict(identity)
    for layer in asking:
        point |= layer.fields
    method, variant = str(identity["method"]), str(identity["variant"])
    of_variant = document["variants"][variant]
    yield Layer(Place(file, "run"), document.get("run", {}))
    yield Layer(Place(file, f"methods.{method}"), document["methods"][method])
    yield Layer(Place(file, f"variants.{variant}"), of_variant)
    for at, one in enumerate(document.get("overrides", [])):
        if matches(one["when"], point):
            yield Layer(Place(file, f"overrides.{at}"), one["set"])
    for of_scale in (at_scale, f"papers/{lender(cell)}/scales/{scale}.yaml"):
        for at, one in enumerate(read(of_scale).get("overrides", [])):
            when, fields = one.get("when", {}), dict(one.get("set", {}))
            if "name" in of_variant.get("encoder", {}) and "variant" not in when:
                fields.pop("encoder", None)
            if matches(when, point):
                yield Layer(Place(of_scale, f"overrides.{at}"), fields, of_scale=True)
    for layer in asking:
        for path, value in layer.fields.items():
            if not path.endswith(".times"):
                field, key = path.split(".")
                yield Layer(layer.place, {field: {key: value}})


def setters(said: list[Layer]) -> dict[str, Place]:
    """Who set each field, by its path, of the layers that no later one drops."""
    found: dict[str, dict[str, Place]] = {}
    names: dict[str, Any] = {}
    for layer in said:
        for field, value in layer.fields.items():
            # nobody set it, or somebody set it to null
            absent = field not in found or field in found[field]
            if not isinstance(value, dict):
                found[field], names[field] = {field: layer.place}, None
            elif not (absent and layer.of_scale and "name" not in value):
                replaces = "name" in value and value["name"] != names.get(field)
                if absent or replaces:
                    found[field] = {}
                names[field] = value.get("name", names.get(field))
                for key, inner in value.items():
                    path = f"{field}.{key}"
                    deeper = (
                        [f"{path}.{part}" for part in inner] if isinstance(inner, dict) else [path]
                    )
                    above = {
                        known
                        for known in found[field]
                        if known == path or known.startswith(f"{path}.")
                    }
                    # mean and std in place of null, or null in theirs
                    for known in above - {*deeper}:
                        del found[field][known]
                    found[field] |= dict.fromkeys(deeper, layer.place)
    every: dict[str, Place] = {}
    for of_field in found.values():
        every |= of_field
    return every


def given(steps: list[re.Match[str]], path: str, run: Run) -> list[Any]:
    """What the named layers give a field: each one's own number must be what the layer holds."""
    values: list[Any] = []
    for step in steps:
        place, computes = Place(step["file"], step["section"]), step["computes"]
        if computes is None:
            values = held(place, path)
            continue
        does, _, number = computes.rpartition(" ")
        if does == "divided by":
            assert int(number) in held(place, path)
            values = [value // int(number) for value in values]
        elif does == "times":
            assert float(number) in held(place, f"{path}.times")
            values = [float(Fraction(str(value)) * Fraction(number)) for value in values]
        else:  # times 10 / 100, of epochs and of what shrinks with them
            own = int(does.split()[1])
            assert own in (
                held(place, path) if path == "schedule.epochs" else [run.schedule.epochs]
            )
            values = [max(1, round(own * value / int(number))) for value in values]
    return values


def of_epochs(scale: str, said: list[Layer]) -> Place | None:
    """The section of a scale that says how long it trains a run; None: as published."""
    place, epochs = (
        Place(f"config/scales/{scale}.yaml", "epochs"),
        read(f"config/scales/{scale}.yaml")["epochs"],
    )
    for layer in said:
        if layer.of_scale and "epochs" in layer.fields.get("schedule", {}):
            place, epochs = layer.place, layer.fields["schedule"]["epochs"]
    return None if epochs == "published" else place


def of_dataset(cell: Cell, scale: str) -> Place:
    """The section that says which dataset is used."""
    published = str(cell.coordinates["dataset"])
    for file in (f"papers/{cell.paper}/scales/{scale}.yaml", f"config/scales/{scale}.yaml"):
        if published in read(file).get("datasets", {}):
            return Place(file, f"datasets.{published}")
    return declares(cell)


def of_seed(cell: Cell, scale: str) -> Place:
    """The section that lists its seeds: a study has its own; tables and sweeps have those of the scale."""
    place, file = declares(cell), f"config/scales/{scale}.yaml"
    declared = within(read(place.file), *place.section.split("."))
    if place.section.startswith("studies.") or isinstance(declared.get("seeds"), list):
        return Place(place.file, f"{place.section}.seeds")
    if cell.coordinates["variant"] in declared.get("seeds_of", {}):
        return Place(place.file, f"{place.section}.seeds_of")
    own = (
        read(f"papers/{cell.paper}/scales/{scale}.yaml").get("artifacts", {}).get(cell.artifact, {})
    )
    which = own.get("seeds") or declared.get("seeds", "tables")
    pairs = configured(scale).papers[cell.paper].measured[cell.artifact].comparisons
    if which == "sweeps" and "compared" in read(file)["seeds"]:
        compared = [
            {k: v for k, v in one.items() if k not in READINGS} for pair in pairs for one in pair
        ]
        which = (
            "compared"
            if {k: v for k, v in cell.coordinates.items() if k not in READINGS} in compared
            else which
        )
    return Place(file, f"seeds.{which}")


def wrong(cell: Cell, run: Run, scale: str, rows: list[tuple[str, str, str]]) -> Iterator[str]:
    """The fields of a run whose layers are not those named, or do not give the value shown."""
    said = list(layers(cell, scale))
    shown = {
        ".".join(path): value
        for path, value in leaves(run.model_dump(mode="json", exclude={"dataset"}))
    }
    shown["dataset"] = run.dataset.name
    assert sorted(path for path, _, _ in rows) == sorted(shown)
    expected = setters(said)
    if run.kind != "image":  # views are of images
        expected = {
            path: place for path, place in expected.items() if not path.startswith("views.")
        }
    expected |= {"dataset": of_dataset(cell, scale), "seed": of_seed(cell, scale)}
    for path, text, where in rows:
        steps = [step for step in map(STEP.fullmatch, where.split("; ")) if step]
        named = [Place(step["file"], step["section"]) for step in steps if not step["computes"]]
        first = expected.get(path)
        if path == "schedule.epochs" and len(steps) == 1:
            first = of_epochs(scale, said) or first
        if named != ([first] if first else []):
            yield f"{path}: {where} is named, and {first} sets it"
        elif first and shown[path] not in given(steps, path, run):
            yield f"{path}: {text} is shown, and {where} gives {given(steps, path, run)}"


@pytest.mark.parametrize("scale", SCALES)
def test_each_value_is_that_of_the_layers_named_and_a_default_is_in_none_that_is_left(
    scale: str,
) -> None:
    plan = released(scale)
    first: dict[str, Cell] = {}
    for cell in plan.cells:
        if cell.run is not None and cell.run.name in plan.runs:
            first.setdefault(cell.run.name, cell)
    seen: set[tuple[object, ...]] = set()
    untrue: dict[str, list[str]] = {}
    for name, cell in first.items():
        assert cell.run is not None
        assert cell.resolved is not None
        alike = cell.resolved.run.name, cell.paper, cell.artifact  # but for the seed
        if alike not in seen:
            seen.add(alike)
            untrue[name] = list(wrong(cell, cell.run, scale, plan.explain(name)))
    assert {name: fields for name, fields in untrue.items() if fields} == {}, f"{len(untrue)} runs"


@pytest.mark.parametrize("scale", SCALES)
def test_a_run_that_is_printed_whole_and_read_again_is_the_same(scale: str) -> None:
    """One of each description, whatever its seed; of those, every fifth."""
    runs = {
        cell.resolved.run.name: cell.run
        for cell in released(scale).cells
        if cell.resolved and cell.run
    }
    for run in [*runs.values()][::5]:
        again = Run.model_validate(files.parse_yaml(run.as_yaml()))
        assert (again, again.name) == (run, run.name)


def test_every_document_says_how_its_rates_follow_the_batch() -> None:
    """Of the published runs of one paper, method and variant, one."""
    plan, unsaid, seen = released("paper"), list[str](), set[tuple[object, ...]]()
    for cell in plan.cells:
        arm = (
            cell.paper,
            cell.coordinates["method"],
            cell.coordinates["variant"],
            cell.coordinates["dataset"],
        )
        if cell.run is None or cell.run.name not in plan.runs or arm in seen:
            continue
        seen.add(arm)
        said = {path: where for path, _, where in plan.explain(cell.run.name)}
        unsaid += [cell.run.name] if "default" in said["optimiser.scaling"] else []
    assert len({paper for paper, *_ in seen}) > 4
    assert unsaid == []


def of_evaluation(paper: str, name: str) -> dict[str, Any]:
    """The parameters that a paper gives the probe of an evaluation, filled in from the one that it is like."""
    declared = read(f"papers/{paper}/paper.yaml")["evaluations"][name]
    below = of_evaluation(paper, declared["like"]) if "like" in declared else {}
    return below | declared.get("probe", {})


@pytest.mark.parametrize("scale", SCALES)
def test_each_parameter_of_a_probe_is_that_of_the_layer_named_and_no_later_one_has_it(
    scale: str,
) -> None:
    """Of a run for each evaluation of each document."""
    plan, wrong = released(scale), list[str]()
    first: dict[tuple[str, str], str] = {}
    for cell in plan.cells:
        if cell.run is not None and cell.how is not None and not cell.missing:
            first.setdefault((cell.paper, cell.protocol), cell.run.name)
    for run in dict.fromkeys(first.values()):
        for what, text, where in plan.explain_probes(run):
            evaluation, _, parameter = what.partition(": ")
            (paper, name), (probe, key) = evaluation.split("/"), parameter.split(".")
            layers = {f"papers/{paper}/paper.yaml: evaluations.{name}": of_evaluation(paper, name)}
            layers[f"config/scales/{scale}.yaml: probes.{probe}"] = (
                read(f"config/scales/{scale}.yaml").get("probes", {}).get(probe, {})
            )
            own = f"papers/{paper}/scales/{scale}.yaml"
            at_scale = read(own).get("evaluations", {}).get(name, {})
            if "name" in at_scale:  # another probe, which keeps no parameter of the paper's
                layers[f"papers/{paper}/paper.yaml: evaluations.{name}"] = {}
            layers[f"{own}: evaluations.{name}"] = at_scale
            place, last = next(
                (place, one[key]) for place, one in reversed(layers.items()) if key in one
            )
            if (where, text) != (
                place,
                last if isinstance(last, str) else files.canonical_json(last),
            ):
                wrong.append(f"{what}: {text} of {where} is shown, and {place} gives {last}")
    assert first
    assert wrong == []
