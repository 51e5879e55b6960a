"""Find a component by name, and check its parameters, without importing it.

One rule for every kind of component: YAML's ``{name: nt_xent, temperature: 0.5}`` is the function ``nt_xent`` in
``objectives/nt_xent.py``, and its keyword-only arguments, with their annotations and defaults, are the only schema
there is. Signatures are read from the syntax tree, so that building the DAG never imports torch and a run depends on
no component that it does not use.
"""

import ast
import importlib
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from ctypes.util import find_library
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, Field, NonNegativeFloat, PositiveFloat, create_model

from hypersphere import files
from hypersphere.config.validation import NonNegativeInt, PositiveInt, Strict, not_one_of
from hypersphere.errors import HypersphereError
from hypersphere.wording import renewed

Kind = Literal[
    "objectives",
    "logits",
    "gradients",
    "initialisations",
    "methods",
    "encoders",
    "datasets",
    "probes",
    "simulations",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
PAIRS = (("z_a", "z_b"), ("p", "z"), ("q", "k"))
"""Objectives' names for two aligned batches of embeddings: views, prediction and target, query and key."""
PAIR = "pair"
"""The name of those two batches in the methods' GIVES."""
TO_LOGITS = "to_logits"
"""Objectives' name for the map from cosines to logits, which is a component of its own."""

# The kind of a component in objectives/, by what its function returns: a scalar loss, logits computed from cosines,
# embeddings with another gradient, or nothing (it changes a model in place).
_ROLES: dict[str, Kind] = {
    "Float[Tensor, '']": "objectives",
    "Float[Tensor, 'n m']": "logits",
    "Float[Tensor, 'n d']": "gradients",
    "None": "initialisations",
}
_RETURNS = {"datasets": "Arrays", "probes": "ProbeResult", "simulations": "Study"}
"""What a component returns in folders that also hold helper functions of a file's own name."""
DRAWN = Path(__file__).parents[1] / "report" / "kinds"
"""The folder with a file for each kind of artifact: each value of ``draw``."""
BACKEND = "MUJOCO_GL"
"""The environment variable by which MuJoCo's users choose how to render: egl, osmesa or glfw."""
Fraction = Annotated[float, Field(ge=0, le=1)]

# The names that an annotation of a keyword-only argument may use.
_TYPES: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "Literal": Literal,
    "Fraction": Fraction,
    "PositiveInt": PositiveInt,
    "NonNegativeInt": NonNegativeInt,
    "PositiveFloat": PositiveFloat,
    "NonNegativeFloat": NonNegativeFloat,
}


def module_name(kind: Kind, name: str) -> str:
    """The dotted module that holds a component."""
    module = f"hypersphere.{_folder(kind).name}.{name}"
    return f"{module}.compute" if kind == "simulations" else module


@cache
def _folder(kind: Kind) -> Path:
    return Path(__file__).parents[1] / ("objectives" if kind in _ROLES.values() else kind)


def _file(kind: Kind, name: str) -> Path:
    """A study has a folder of its own, where compute.py stands beside draw.py."""
    return _folder(kind) / name / "compute.py" if kind == "simulations" else _folder(kind) / f"{name}.py"


def _name(path: Path) -> str:
    return path.parent.name if path.stem == "compute" else path.stem


@cache
def _function(path: Path) -> ast.FunctionDef | None:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == _name(path):
            return node
    return None


@cache
def names(kind: Kind) -> tuple[str, ...]:
    """All components of a kind, sorted: the files that define a function of their own name."""
    folder, found = _folder(kind), []
    for path in folder.glob("*/compute.py" if kind == "simulations" else "[a-z]*.py"):
        if function := _function(path):
            returns = ast.unparse(function.returns) if function.returns else ""
            role = _ROLES.get(returns) if folder.name == "objectives" else kind
            if role == kind and returns == _RETURNS.get(kind, returns):  # else a helper, not a component
                found.append(_name(path))
    return tuple(sorted(found))


@cache
def schema(kind: Kind, name: str) -> type[BaseModel]:
    """A pydantic model of a component's keyword-only arguments."""
    if name not in names(kind):
        raise HypersphereError(not_one_of(name, names(kind)))
    function = _function(_file(kind, name))
    assert function is not None
    fields: dict[str, Any] = {}
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        annotation = ast.unparse(argument.annotation) if argument.annotation else "None"
        kind_of_value = eval(annotation, {"__builtins__": {}}, _TYPES)
        fields[argument.arg] = (kind_of_value, ... if default is None else ast.literal_eval(default))
    if function.args.kwarg:  # ``**mlp``: all that the component ``mlp`` takes
        others = schema(kind, function.args.kwarg.arg).model_fields
        fields |= {name: (field.annotation, field) for name, field in others.items()}
    model = create_model(name, __base__=Strict, **fields)
    model.owner = name
    return model


@cache
def tensors(kind: Kind, name: str) -> tuple[str, ...]:
    """The names of a component's positional arguments: what its caller must pass."""
    function = _function(_file(kind, name))
    assert function is not None
    return tuple(argument.arg for argument in function.args.args)


@cache
def needs(objective: str) -> tuple[str, ...]:
    """What a method must give an objective: ``pair`` for two aligned batches, then names of other arguments."""
    arguments = tensors("objectives", objective)
    others = arguments[2:] if arguments[:2] in PAIRS else arguments
    return (*([PAIR] if arguments[:2] in PAIRS else []), *(name for name in others if name != TO_LOGITS))


def takes_logits(objective: str) -> bool:
    """Whether an objective leaves the map from cosines to logits open."""
    return TO_LOGITS in tensors("objectives", objective)


def read_constant(kind: Kind, name: str, constant: str, default: Any) -> Any:
    """The literal that a component's file assigns to ``constant``, read without importing it.

    A method declares what it gives its objective (GIVES), which of that the objective must take (USES), how many views
    it takes (VIEWS, by default 2) and the only encoders that it can train (ENCODERS, by default all).
    """
    return read_literal(_file(kind, name), constant, default)


def read_literal(file: Path, constant: str, default: Any) -> Any:
    """The literal that a file of this package assigns to ``constant`` at its top level, read without importing it."""
    node = _assignments(file).get(constant)
    if node is None:
        return default
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise HypersphereError(
            f"{file}: {constant} must be a literal, because it is read without importing the file: {ast.unparse(node)}"
        ) from None


@cache
def _assignments(file: Path) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            found |= {ast.unparse(target): node.value for target in node.targets}
        elif isinstance(node, ast.AnnAssign) and node.value:
            found[ast.unparse(node.target)] = node.value
    return found


class ArtifactKind(NamedTuple):
    """A value of an artifact's ``draw``: the literals that its file in report/kinds/ assigns, in capitals."""

    of: Literal["runs", "study"]
    axes: dict[str, bool]
    """The axes that it takes; True for a required one."""
    folder: Literal["tables", "figures"]
    formats: tuple[str, ...]
    """The endings of the files that it writes."""
    images: tuple[str, ...]
    """The statistics of single images that it reads: distribution.csv, or pictures.csv and pictures.png."""


@cache
def artifact_kinds(of: str) -> tuple[str, ...]:
    """The kinds of artifacts made from ``runs`` or from a ``study``, sorted."""
    return tuple(sorted(path.stem for path in DRAWN.glob("[a-z]*.py") if read_literal(path, "OF", None) == of))


@cache
def artifact_kind(name: str) -> ArtifactKind:
    """The kind of artifact of that name, which must exist."""
    defaults: dict[str, Any] = {"of": None, "axes": {}, "folder": None, "formats": (), "images": ()}
    file = DRAWN / f"{name}.py"
    return ArtifactKind(**{key: read_literal(file, key.upper(), default) for key, default in defaults.items()})


def drawing(study: str) -> str:
    """The dotted module that draws the artifacts of an exact study."""
    return f"hypersphere.simulations.{study}.draw"


@cache
def misfit(method: str, objective: str, main: bool = True) -> str | None:
    """Why a method cannot train with an objective, or None if it can.

    A regulariser, which is not the ``main`` objective, need not take all that the method uses.
    """
    given, used = (read_constant("methods", method, constant, ()) for constant in ("GIVES", "USES"))
    if not_given := [name for name in needs(objective) if name not in given]:
        return f"{objective} needs {_listed(not_given)}; {method} gives {_listed(given)}"
    if main and (not_taken := [name for name in used if name not in needs(objective)]):
        fitting = [one for one in names("objectives") if {*used} <= {*needs(one)} <= {*given}]
        return (
            f"{objective} takes no {_listed(not_taken)}, and {method} needs an objective that does: "
            f"{', '.join(fitting)}"
        )
    return None


def _listed(arguments: Iterable[str]) -> str:
    return ", ".join("two batches of embeddings" if name == PAIR else name for name in arguments)


@cache
def trained_kinds() -> tuple[str, ...]:
    """The kinds of runs that can be trained: one file of training/trainers each."""
    folder = Path(__file__).parents[1] / "training" / "trainers"
    return tuple(sorted(path.stem for path in folder.glob("[a-z]*.py")))


def load(kind: Kind, name: str) -> Callable[..., Any]:
    """Import a component and return its function."""
    return getattr(importlib.import_module(module_name(kind, name)), name)


@cache
def no_renderer() -> str:
    """Why control tasks cannot be simulated here, and what to install; empty if nothing is known to be missing.

    A backend that the user chose is believed, so that a plan can be made on another machine than the one that renders.
    """
    for module, package in (("dm_control", "dm-control"), ("mujoco", "mujoco")):
        if find_spec(module) is None:
            return f"{package} is not installed; with Python 3.11 or 3.12: pip install 'hypersphere[control]'"
    if sys.platform != "linux" or os.environ.get(BACKEND) or _renderer():
        return ""
    return "nothing here renders without a screen; install libegl1 and libgl1-mesa-dri, or libosmesa6"


def choose_renderer() -> None:
    """Choose how to render, unless the user has: in software or on a GPU, without a screen. Call it before dm_control.

    Mesa's software renderer and triton, which torch loads with its first optimiser, each bring an LLVM. The process
    crashes if triton is loaded second, so it is loaded here.
    """
    with suppress(ImportError):
        importlib.import_module("triton")
    if sys.platform == "linux" and (found := _renderer()):
        os.environ.setdefault(BACKEND, found)


def _renderer() -> str:
    libraries = {"egl": "EGL", "osmesa": "OSMesa"}
    return next((backend for backend, library in libraries.items() if find_library(library)), "")


MARKS = "<!-- compatibility -->", "<!-- end -->"


def with_compatibility(page: str) -> str:
    """The page docs/methods.md with a new table, between its marks, of which objective trains with which method.

    A cell says ``yes``, ``added`` (as a regulariser only) or nothing.
    """

    def cell(method: str, objective: str) -> str:
        if misfit(method, objective) is None:
            return "yes"
        return "added" if misfit(method, objective, main=False) is None else ""

    methods = names("methods")
    rows = [["objective", *(f"`{method}`" for method in methods)], ["---", *[":-:"] * len(methods)]]
    rows += [[f"`{name}`", *(cell(method, name) for method in methods)] for name in names("objectives")]
    return renewed(page, *MARKS, "\n".join(f"| {' | '.join(row)} |" for row in rows))


if __name__ == "__main__":  # python -m hypersphere.config.registry docs/methods.md
    files.write_text(Path(sys.argv[1]), with_compatibility(Path(sys.argv[1]).read_text(encoding="utf-8")))
