"""Find a component by name, and check its parameters, without importing it.

One rule for every kind of component: YAML's ``{name: nt_xent, temperature: 0.5}`` is the function ``nt_xent`` in
``objectives/nt_xent.py``, and its keyword-only arguments, with their annotations and defaults, are the only schema
there is. Signatures are read from the syntax tree, so that building the DAG never imports torch and a run depends on
no component that it does not use.
"""

import ast
import importlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pydantic
from pydantic import BaseModel, ConfigDict, Field, create_model

from hypersphere.errors import HypersphereError

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
"""How objectives call two aligned batches of embeddings: views, prediction and target, query and key."""
PAIR = "pair"
"""How the methods' GIVES calls them."""
TO_LOGITS = "to_logits"
"""How an objective calls the map from cosines to logits, which is a component of its own."""

# What a component of objectives/ is for, by what its function returns: a scalar loss, logits made of cosines,
# embeddings with another gradient, or nothing (it changes a model in place).
_ROLES: dict[str, Kind] = {
    "Float[Tensor, '']": "objectives",
    "Float[Tensor, 'n m']": "logits",
    "Float[Tensor, 'n d']": "gradients",
    "None": "initialisations",
}
_RETURNS = {"datasets": "Arrays", "simulations": "Study"}
"""What a component returns in folders that hold helpers of the same form."""
Fraction = Annotated[float, Field(ge=0, le=1)]

# What an annotation of a keyword-only argument may say.
_TYPES: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "Literal": Literal,
    "Fraction": Fraction,
    **{
        name: getattr(pydantic, name) for name in ("PositiveInt", "NonNegativeInt", "PositiveFloat", "NonNegativeFloat")
    },
}


def module_name(kind: Kind, name: str) -> str:
    """The dotted module that holds a component."""
    return f"hypersphere.{_folder(kind).name}.{name}"


def _folder(kind: Kind) -> Path:
    return Path(__file__).parents[1] / ("objectives" if kind in _ROLES.values() else kind)


def _kind(folder: Path, function: ast.FunctionDef) -> str:
    returns = ast.unparse(function.returns) if function.returns else ""
    if returns != _RETURNS.get(folder.name, returns):  # a helper, not a component
        return ""
    return _ROLES.get(returns, "") if folder.name == "objectives" else folder.name


def _function(path: Path) -> ast.FunctionDef | None:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == path.stem:
            return node
    return None


@cache
def names(kind: Kind) -> tuple[str, ...]:
    """All components of a kind, sorted: the files that define a function of their own name."""
    folder = _folder(kind)
    found = {path.stem: _function(path) for path in folder.glob("[a-z]*.py")}
    return tuple(sorted(name for name, function in found.items() if function and _kind(folder, function) == kind))


@cache
def schema(kind: Kind, name: str) -> type[BaseModel]:
    """A pydantic model of a component's keyword-only arguments.

    Raises:
        HypersphereError: no such component; the sentence lists those there are.
    """
    if name not in names(kind):
        raise HypersphereError(f"'{name}' is not one of {', '.join(names(kind))}")
    function = _function(_folder(kind) / f"{name}.py")
    assert function is not None
    fields: dict[str, Any] = {}
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        annotation = ast.unparse(argument.annotation) if argument.annotation else "None"
        kind_of_value = eval(annotation, {"__builtins__": {}}, _TYPES)
        fields[argument.arg] = (kind_of_value, ... if default is None else ast.literal_eval(default))
    config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)
    return create_model(name, __config__=config, **fields)


@cache
def tensors(kind: Kind, name: str) -> tuple[str, ...]:
    """The names of a component's positional arguments: what it has to be given when it is called."""
    function = _function(_folder(kind) / f"{name}.py")
    assert function is not None
    return tuple(argument.arg for argument in function.args.args)


@cache
def needs(objective: str) -> tuple[str, ...]:
    """What a method has to give an objective: ``pair`` for two aligned batches, then names of other arguments."""
    taken = tensors("objectives", objective)
    named = taken[2:] if taken[:2] in PAIRS else taken
    return (*([PAIR] if taken[:2] in PAIRS else []), *(name for name in named if name != TO_LOGITS))


def takes_logits(objective: str) -> bool:
    """Whether an objective leaves the map from cosines to logits open."""
    return TO_LOGITS in tensors("objectives", objective)


def constant(kind: Kind, name: str, which: str, default: Any) -> Any:
    """A literal that a component's file assigns to ``which``, read without importing it.

    A method says what it gives its objective (GIVES), which of that the objective must take (USES), how many views it
    looks at (VIEWS, 2 unless said) and which encoders alone it can train (ENCODERS).
    """
    return literal(_folder(kind) / f"{name}.py", which, default)


def literal(file: Path, which: str, default: Any) -> Any:
    """A literal that a file of this package assigns to ``which`` at its top level, read without importing it."""
    node = _assigned(file).get(which)
    return default if node is None else ast.literal_eval(node)


@cache
def _assigned(file: Path) -> dict[str, ast.expr]:
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return {ast.unparse(node.targets[0]): node.value for node in body if isinstance(node, ast.Assign)}


@cache
def misfit(method: str, objective: str, main: bool = True) -> str | None:
    """Why a method cannot train with an objective, or None if it can; ``main``: not as a regulariser."""
    given, lacking = constant("methods", method, "GIVES", ()), _lacking(method, objective)
    if lacking:
        return f"{objective} needs {_words(lacking)}; {method} gives {_words(given)}"
    unused = _unused(method, objective)
    if unused and main:
        able = [name for name in names("objectives") if not _lacking(method, name) and not _unused(method, name)]
        return f"{objective} takes no {_words(unused)}, which {method} is about; it trains with {', '.join(able)}"
    return None


def _lacking(method: str, objective: str) -> list[str]:
    given = constant("methods", method, "GIVES", ())
    return [name for name in needs(objective) if name not in given]


def _unused(method: str, objective: str) -> list[str]:
    return [name for name in constant("methods", method, "USES", ()) if name not in needs(objective)]


def _words(given: Iterable[str]) -> str:
    return ", ".join("two batches of embeddings" if name == PAIR else name for name in given)


@cache
def trained_kinds() -> tuple[str, ...]:
    """The kinds of runs that can be trained: the files of training/trainers."""
    folder = Path(__file__).parents[1] / "training" / "trainers"
    return tuple(sorted(path.stem for path in folder.glob("[a-z]*.py")))


def load(kind: Kind, name: str) -> Callable[..., Any]:
    """Import a component and return its function."""
    return getattr(importlib.import_module(module_name(kind, name)), name)
