"""JSON schemas of the YAML files of a project, by which an editor completes and checks them.

They are made of the models that read the files, of their docstrings, and of the parameters of all components, those of
plug-ins too. What compares two fields, or two files, is only checked when the files are read.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.artifacts import Paper
from hypersphere.config.difference import KINDS
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config, PaperScale, Scale, Settings
from hypersphere.config.run import Dataset, Run
from hypersphere.config.validation import Strict

Schema = dict[str, Any]
FOLDER = Path("config") / "schemas"
"""Holds a file for each kind of YAML file, relative to the project."""
MODELS: dict[str, type[BaseModel]] = {
    "config": Settings,
    "scale": Scale,
    "paper": Paper,
    "paper_scale": PaperScale,
    "run": Run,
}
"""The model of each kind of file whose whole is one mapping of fields."""
DATASETS = "datasets"
"""The kind of file that has a dataset for each key."""
OF_PAPER = ("run", "methods", "variants")
"""The fields of a paper that hold fields of runs, or a mapping of names to such fields."""
PARTS = ("Views", "Optimiser", "Schedule", "Batch")
"""The models of parts of a run, of which a file may give some fields."""
REF = "#/$defs/"


def of_project() -> dict[str, Schema]:
    """The schema of each kind of file, by the kind."""
    every = _definitions()
    found = {kind: _whole({"$ref": REF + model.__name__}, every) for kind, model in MODELS.items()}
    listed = {"type": "object", "additionalProperties": {"$ref": f"{REF}Unnamed"}}
    found[DATASETS] = _whole(listed, every)
    return found


def build(config: Config) -> None:
    """Write the schemas into config/schemas of a project."""
    for kind, schema in of_project().items():
        path = config.root / FOLDER / f"{kind}.json"
        files.write_json(path, schema)
        print(path)


def _whole(schema: Schema, every: Schema) -> Schema:
    """A schema with the definitions that it needs."""
    needed: Schema = {}
    waiting = [*_names_in(schema)]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = every[name]
            waiting += _names_in(every[name])
    head = {"$schema": "http://json-schema.org/draft-07/schema#"}
    return {**head, **schema, "$defs": needed}


def _names_in(value: Any) -> Iterator[str]:
    """The names of the definitions that a part of a schema refers to."""
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"].removeprefix(REF)
        for inner in value.values():
            yield from _names_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names_in(inner)


@cache
def _definitions() -> Schema:
    """All definitions by name: of the models, of some fields of a run, and of the components of each kind."""
    models: list[type[BaseModel]] = [*MODELS.values(), Dataset]
    _, whole = models_json_schema([(model, "validation") for model in models])
    defs: Schema = whole["$defs"]
    documented = {model.__name__: model for model in _below(Strict)}
    for name, schema in defs.items():
        _tidy(schema)
        for field, text in _docstrings(documented[name]).items() if name in documented else ():
            schema["properties"].get(field, {})["description"] = text
    del defs["Component"]
    for kind in registry.KINDS:
        defs[kind] = _components(kind)
    for name in PARTS:
        fields = {**defs[name]["properties"]}
        defs[f"{name}Fields"] = {**defs[name], "properties": fields, "required": []}
    # an override of a scale may keep the paper's own number
    epochs = defs["ScheduleFields"]["properties"].pop("epochs")
    given = {"anyOf": [epochs, {"const": "published"}]}
    defs["ScheduleFields"]["properties"] |= {"epochs": given}
    defs["RunFields"] = _run_fields(defs["Run"])
    _correct(defs)
    return defs


def _below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The models that inherit from one."""
    for one in model.__subclasses__():
        yield one
        yield from _below(one)


def _tidy(schema: Any) -> None:
    """Remove the titles, which only repeat the names of fields."""
    if isinstance(schema, dict):
        if isinstance(schema.get("title"), str):
            del schema["title"]
        for inner in schema.values():
            _tidy(inner)
    elif isinstance(schema, list):
        for inner in schema:
            _tidy(inner)


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """What stands below each field of a model in its source."""
    (declared,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(declared, ast.ClassDef)
    found = {}
    for field, below in zip(declared.body, declared.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            text = ast.literal_eval(below.value)
            found[ast.unparse(field.target)] = " ".join(text.split())
    return found


def _components(kind: registry.Kind) -> Schema:
    """A component of a kind: its name, and the parameters of the component of that name.

    A file that changes some parameters need not name the component; then it may have the parameters of any.
    """
    names = registry.names(kind)
    parameters: Schema = {}
    cases = []
    for name in names:
        own = registry.schema(kind, name).model_json_schema()["properties"]
        _tidy(own)
        parameters |= dict.fromkeys(own, True)
        is_named = {"properties": {"name": {"const": name}}, "required": ["name"]}
        takes = {"properties": {"name": True, **own}, "additionalProperties": False}
        cases.append({"if": is_named, "then": takes})
    return {
        "type": "object",
        "properties": {**parameters, "name": {"enum": [*names]}},
        "additionalProperties": False,
        "allOf": cases,
    }


def _run_fields(run: Schema) -> Schema:
    """Some fields of a run, each of which may give some parameters, or be null where a run can do without it."""
    fields: Schema = {}
    for field, schema in run["properties"].items():
        if field in KINDS:
            fields[field] = {"anyOf": [{"$ref": REF + KINDS[field]}, {"type": "null"}]}
        elif field in ("views", "views_b"):
            fields[field] = {"anyOf": [{"$ref": f"{REF}ViewsFields"}, {"type": "null"}]}
        elif "$ref" in schema:
            fields[field] = {"$ref": f"{schema['$ref']}Fields"}
        else:
            fields[field] = schema
    del fields["dataset"], fields["seed"]
    return {"type": "object", "properties": fields, "additionalProperties": False}


def _correct(defs: Schema) -> None:
    """Say what the models' own code says of their fields, and the types of the fields do not."""
    some_fields = {"$ref": f"{REF}RunFields"}
    paper = defs["Paper"]["properties"]
    for field in OF_PAPER:
        own = some_fields if field == "run" else _by_name(some_fields)
        paper[field] = {**own, "description": paper[field].get("description", "")}
    for name in ("Override", "ScaleOverride"):
        defs[name]["properties"]["set"] = some_fields
    fields = defs["Run"]["properties"]
    for field, kind in KINDS.items():
        given = {"allOf": [{"$ref": REF + kind}], "required": ["name"]}
        optional = field not in defs["Run"]["required"]
        fields[field] = {"anyOf": [given, {"type": "null"}]} if optional else given
    source = {"anyOf": [{"$ref": f"{REF}datasets"}, {"type": "null"}]}
    defs["Dataset"]["properties"]["source"] = source
    fields["kind"] = {"enum": [*registry.names("trainers")]}
    defs["Protocol"]["properties"]["probe"] = {"$ref": f"{REF}probes"}
    defs["Protocol"]["anyOf"] = [{"required": [key]} for key in ("probe", "like")]
    del defs["Protocol"]["required"]
    measured = defs["Measured"]["properties"]
    measured["measure"] = {"enum": [*sorted(MEASURES), None]}
    measured["draw"] = {"enum": [*registry.artifact_kinds("runs")]}
    defs["Studied"]["properties"]["draw"] = {"enum": [*registry.artifact_kinds("study")]}
    unnamed = {key: one for key, one in defs["Dataset"]["properties"].items() if key != "name"}
    defs["Unnamed"] = {"type": "object", "properties": unnamed, "additionalProperties": False}
    numbers = {"type": "array", "items": {"type": "integer", "minimum": 0}}
    defs["Seeds"] = {"anyOf": [numbers, defs["Seeds"]]}
    defs["OpenChoice"] = {"anyOf": [{"type": "string"}, defs["OpenChoice"]]}
    only = defs["Settings"]["properties"]["only"]
    defs["Settings"]["properties"]["only"] = {"anyOf": [{"type": "string"}, only]}


def _by_name(schema: Schema) -> Schema:
    """A mapping of names to what a schema describes."""
    return {"type": "object", "additionalProperties": schema}
