"""JSON schemas: they are current, take every released file, and refuse what the models refuse of one field."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from hypersphere import files
from hypersphere.command import cli
from hypersphere.config import json_schema, registry
from hypersphere.provenance import stop

from ...fixtures import Project
from ...golden.released import ROOT, released

FILES = {
    "config": ["config/config.yaml"],
    "datasets": ["config/datasets.yaml"],
    "scale": ["config/scales/*.yaml"],
    "paper": ["papers/*/paper.yaml", "examples/mine/paper.yaml"],
    "paper_scale": ["papers/*/scales/*.yaml", "examples/mine/scales/*.yaml"],
}
"""The files that each schema is of."""
HEAD = re.compile(r"# yaml-language-server: \$schema=(\S+)\n")


def listed() -> Iterator[tuple[str, Path]]:
    """The released files, each with its schema's kind."""
    for kind, patterns in FILES.items():
        for pattern in patterns:
            for path in sorted(ROOT.glob(pattern)):
                yield kind, path


def complaints(kind: str, content: Any) -> list[str]:
    """What is wrong with a file, by jsonschema."""
    schema = json.loads((ROOT / json_schema.FOLDER / f"{kind}.json").read_text())
    return [error.message for error in Draft7Validator(schema).iter_errors(content)]


def test_the_released_schemas_are_those_of_the_models_and_the_components() -> None:
    """`hypersphere schema` writes them anew."""
    for kind, schema in json_schema.of_project().items():
        Draft7Validator.check_schema(schema)
        assert files.read_json(ROOT / json_schema.FOLDER / f"{kind}.json") == schema, kind


def test_every_file_names_its_schema_in_its_first_line_and_is_valid() -> None:
    found = list(listed())
    assert len(found) > 30
    for kind, path in found:
        text = path.read_text(encoding="utf-8")
        head = HEAD.match(text)
        assert head, path
        assert Path(os.path.normpath(path.parent / head[1])) == (
            ROOT / json_schema.FOLDER / f"{kind}.json"
        ), path
        assert complaints(kind, files.read_yaml(path)) == [], path


@pytest.mark.parametrize("scale", ["quick", "laptop"])
def test_every_run_is_valid_as_its_file(scale: str) -> None:
    runs = list(released(scale).runs.values())
    # of each method one is enough: a run has the fields of all others
    for run in {run.method.name: run for run in runs}.values():
        assert complaints("run", yaml.safe_load(run.as_yaml())) == []


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("config", "scal", "quick"),
        ("config", "device", "gpu"),
        ("datasets", "cifar10.sorce", {}),
        ("datasets", "cifar10.source.classes", "ten"),
        ("scale", "epochs", "many"),
        ("scale", "threads", 0),
        ("scale", "seeds", "0, 1"),
        ("paper", "titel", "A paper"),
        ("paper", "run.optimizer", {}),
        ("paper", "run.batch.size", 2.5),
        ("paper", "run.encoder.name", "resnet19"),
        ("paper", "run.encoder", {"name": "resnet8", "depth": 18}),
        ("paper", "methods.simclr.objective.temperatur", 1),
        ("paper", "variants.pos.logits", {"name": "cosine_logits", "s": 2}),
        ("paper", "evaluations.linear.probe.name", "linaer"),
        ("paper", "artifacts.table2.draw", "tabel"),
        ("paper", "artifacts.table2.measure", "linear_top2"),
        ("paper", "open_choices.all", [{"choise": "weight decay"}]),
        ("run", "seed", -1),
        ("run", "method", {"hidden": 8}),
        ("run", "views.hue", "strong"),
    ],
)
def test_a_mistake_in_one_field_is_seen(kind: str, path: str, value: object) -> None:
    """The control is the file without the mistake, which is valid."""
    of_kind = {
        "config": ROOT / "config/config.yaml",
        "datasets": ROOT / "config/datasets.yaml",
        "scale": ROOT / "config/scales/laptop.yaml",
        "paper": ROOT / "papers/margins/paper.yaml",
    }
    if kind == "run":
        content = yaml.safe_load(next(iter(released("quick").runs.values())).as_yaml())
    else:
        content = files.read_yaml(of_kind[kind])
    assert complaints(kind, content) == []
    inner = content
    *outer, last = path.split(".")
    for key in outer:
        inner = inner[key]
    inner[last] = value
    assert complaints(kind, content) != []


def test_fields_and_components_have_the_words_and_the_parameters_of_their_sources() -> None:
    schema = json_schema.of_project()["paper"]["$defs"]
    described = schema["Measured"]["properties"]["printed"]["description"]
    assert described == "Its name in the document; None: it is ours."
    for kind in registry.KINDS:
        names = schema[kind]["properties"]["name"]["enum"] if kind in schema else []
        assert kind == "datasets" or names == list(registry.names(kind))


def test_a_project_of_its_own_gets_them_and_a_new_paper_names_them(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = project()
    monkeypatch.chdir(root)
    monkeypatch.setattr(stop, "exit_in_order", lambda: None)
    assert cli.main(["schema"]) == 0
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert cli.main(["new-paper", "there", "--in", str(elsewhere)]) == 0
    assert cli.main(["new-paper", "here"]) == 0
    for folder in (root / "papers" / "here", elsewhere / "there"):
        for path in [folder / "paper.yaml", *folder.glob("scales/*.yaml")]:
            head = HEAD.match(path.read_text())
            assert head, path
            assert (path.parent / head[1]).resolve().is_file(), path
