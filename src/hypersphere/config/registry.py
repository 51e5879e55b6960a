"""Find a component by name, and check its parameters, without importing it.

One rule for every kind of component: YAML's ``{name: nt_xent, temperature: 0.5}`` is the function ``nt_xent`` in
``objectives/nt_xent.py``, and its keyword-only arguments, with their annotations and defaults, are the only schema
there is. Signatures are read from the syntax tree, so that building the DAG never imports torch and a run depends on
no component that it does not use.

The same folders of plug-ins count. A plug-in is an installed distribution whose entry point in the group
``hypersphere.components`` names its package.
"""

import ast
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, NonNegativeFloat, PositiveFloat, create_model

from hypersphere import files
from hypersphere.config.validation import Fraction, NonNegativeInt, PositiveInt, Strict, not_one_of
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
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The kinds of components that take parameters."""
Named = Kind | Literal["trainers", "kinds"]
"""Trainers are named by a run's kind, and the kinds of artifacts by ``draw``."""
GROUP = "hypersphere.components"
"""The group of entry points of plug-ins. Each value is the name of a top-level package."""
CHECKOUT = Path(__file__).parents[3]
PAIRS = (("z_a", "z_b"), ("p", "z"), ("q", "k"))
"""Objectives' names for two aligned batches of embeddings: views, prediction and target, query and key."""
PAIR = "pair"
"""The name of those two batches in the methods' GIVES."""
TO_LOGITS = "to_logits"
"""Objectives' name for the map from cosines to logits, which is a component of its own."""

# The kind of a component in a folder objectives/, by what its function returns: a scalar loss, logits computed from
# cosines, embeddings with another gradient, or nothing (it changes a model in place).
_ROLES: dict[str, Kind] = {
    "Float[Tensor, '']": "objectives",
    "Float[Tensor, 'n m']": "logits",
    "Float[Tensor, 'n d']": "gradients",
    "None": "initialisations",
}
OBJECTIVES = (*_ROLES.values(),)
"""The kinds of components in a folder objectives/."""
_RETURNS = {"datasets": "Arrays", "probes": "ProbeResult"}
"""What a component returns in folders that also hold helper functions of a file's own name."""
_DEEPER = {"trainers": "training/trainers", "kinds": "report/kinds"}
"""Folders that lie deeper in our own package than in a plug-in's."""
_FUNCTIONS = {"trainers": "pretrain", "kinds": "draw"}
"""What a component's function is called, if not like its file."""

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


class Package(NamedTuple):
    """A package that has components."""

    name: str
    folder: Path
    distribution: str
    missing: str = ""
    """Why it cannot be imported; empty if it can."""

    def folder_of(self, kind: Named) -> Path:
        """Its folder of a kind of components."""
        folder = "objectives" if kind in OBJECTIVES else kind
        ours = self.name == "hypersphere"
        return self.folder / (_DEEPER.get(folder, folder) if ours else folder)


@cache
def packages() -> tuple[Package, ...]:
    """Our own package, the installed plug-ins, and those of the checkout that are not installed."""
    by_name = {"hypersphere": Package("hypersphere", Path(__file__).parents[1], "hypersphere")}
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.value):
        distribution = point.dist.name if point.dist else point.name
        spec = find_spec(point.value) if point.value.isidentifier() else None
        if spec is None or spec.submodule_search_locations is None:
            raise HypersphereError(
                f"{distribution}: its entry point of the group {GROUP} names {point.value}, which is not a package here"
            )
        folder = Path(next(iter(spec.submodule_search_locations)))
        by_name.setdefault(point.value, Package(point.value, folder, distribution))
    for file in sorted(CHECKOUT.glob("plugins/*/pyproject.toml")):
        project = files.read_toml(file)["project"]
        distribution = project["name"]
        folder = file.parent
        place = folder.relative_to(CHECKOUT).as_posix()
        advice = f"{distribution} is not installed: pip install ./{place}"
        for name in project["entry-points"][GROUP].values():
            missing = "" if find_spec(name) else advice
            by_name.setdefault(name, Package(name, folder / "src" / name, distribution, missing))
    return tuple(by_name.values())


class Found(NamedTuple):
    """Where a component is."""

    file: Path
    package: Package
    function: ast.FunctionDef

    @property
    def place(self) -> str:
        """The path of its file in the checkout; empty for one outside."""
        inside = self.file.is_relative_to(CHECKOUT)
        return self.file.relative_to(CHECKOUT).as_posix() if inside else ""


class Components(Mapping[str, Found]):
    """All components of a kind by their names, sorted: the files that define a function of their own name.

    A file is parsed when its name is asked for: parsing all of them would take half of the time in which a small
    project is planned.
    """

    def __init__(self, kind: Named) -> None:
        self._kind = kind
        self._files: dict[str, list[tuple[Path, Package]]] = {}
        for package in packages():
            for path in package.folder_of(kind).glob("[a-z]*.py"):
                self._files.setdefault(path.stem, []).append((path, package))

    def __getitem__(self, name: str) -> Found:
        component = _find(self._kind, name, tuple(self._files.get(name, ())))
        if component is None:
            raise KeyError(name)
        return component

    def __iter__(self) -> Iterator[str]:
        return (name for name in sorted(self._files) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def components(kind: Named) -> Components:
    """All components of a kind."""
    return Components(kind)


@cache
def _find(kind: Named, name: str, places: tuple[tuple[Path, Package], ...]) -> Found | None:
    """The component of that name among the files that may hold it; None: each defines a helper at most."""
    component = None
    for path, package in places:
        function = definitions(path).get(_FUNCTIONS.get(kind, name))
        if not isinstance(function, ast.FunctionDef):
            continue
        returns = ast.unparse(function.returns) if function.returns else ""
        role = _ROLES.get(returns) if kind in OBJECTIVES else kind
        if role != kind or returns != _RETURNS.get(kind, returns):
            continue
        if component is not None:
            other = component.package.distribution
            raise HypersphereError(f"{path}: {name} is the name of a component of {other}")
        component = Found(path, package, function)
    return component


@cache
def definitions(path: Path) -> dict[str, ast.AST]:
    """The functions of a file, and the values that it assigns, at its top level, by name."""
    try:
        tree = ast.parse(files.read_text(path))
    except (SyntaxError, ValueError) as error:
        raise HypersphereError(
            f"{path}: is not valid Python ({str(error).replace('<unknown>, ', '')})"
        ) from None
    nodes: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            nodes[node.name] = node
        elif isinstance(node, ast.Assign):
            nodes |= {ast.unparse(target): node.value for target in node.targets}
        elif isinstance(node, ast.AnnAssign) and node.value:
            nodes[ast.unparse(node.target)] = node.value
    return nodes


def module_name(kind: Named, name: str) -> str:
    """The dotted module that holds a component."""
    file, package, _ = components(kind)[name]
    return ".".join((package.name, *file.relative_to(package.folder).with_suffix("").parts))


def names(kind: Named) -> tuple[str, ...]:
    """The names of all components of a kind, sorted."""
    return tuple(components(kind))


@cache
def schema(kind: Kind, name: str) -> type[BaseModel]:
    """A pydantic model of a component's keyword-only arguments."""
    if name not in components(kind):
        raise HypersphereError(not_one_of(name, names(kind)))
    file, _, function = components(kind)[name]
    fields: dict[str, Any] = {}
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        annotation = ast.unparse(argument.annotation) if argument.annotation else ""
        try:
            kind_of_value = eval(annotation, {"__builtins__": {}}, _TYPES)
            fields[argument.arg] = (
                kind_of_value,
                ... if default is None else ast.literal_eval(default),
            )
        except (NameError, SyntaxError, TypeError, ValueError):
            raise HypersphereError(
                f"{file}: {argument.arg} of {name} cannot be read without importing the file: it needs an annotation "
                f"made of {', '.join(_TYPES)}, and its default must be a literal"
            ) from None
    if function.args.kwarg:  # ``**mlp``: all that the component ``mlp`` takes
        others = schema(kind, function.args.kwarg.arg).model_fields
        fields |= {name: (field.annotation, field) for name, field in others.items()}
    model = create_model(name, __base__=Strict, **fields)
    model.owner = name
    return model


@cache
def checked_components(kind: Kind, name: str) -> dict[str, Any]:
    """The components of that name that were checked, by the text of what was given for them.

    A plan has thousands, and dozens of distinct ones.
    """
    return {}


@cache
def tensors(kind: Kind, name: str) -> tuple[str, ...]:
    """The names of a component's positional arguments: what its caller must pass."""
    return tuple(argument.arg for argument in components(kind)[name].function.args.args)


@cache
def needs(objective: str) -> tuple[str, ...]:
    """What a method must give an objective: ``pair`` for two aligned batches, then names of other arguments."""
    arguments = tensors("objectives", objective)
    others = [name for name in arguments if name != TO_LOGITS]
    return (PAIR, *others[2:]) if arguments[:2] in PAIRS else tuple(others)


def read_constant(kind: Named, name: str, constant: str, default: Any) -> Any:
    """The literal that a component's file assigns to ``constant``, read without importing it.

    A method declares what it gives its objective (GIVES), which of that the objective must take (USES), how many views
    it takes (VIEWS, by default 2) and the only encoders that it can train (ENCODERS, by default all). A method and an
    encoder declare whether they have batch norm (BATCH_NORM: True, or the parameters that give it; by default no). A
    trainer declares whether its runs see augmented views of images (IMAGES, by default no).
    """
    return constant_of(components(kind)[name].file, constant, default)


def constant_of(file: Path, constant: str, default: Any) -> Any:
    """The literal that a file assigns to ``constant``, read without importing it; ``default`` if it assigns none."""
    node = definitions(file).get(constant)
    if node is None:
        return default
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise HypersphereError(
            f"{file}: {constant} must be a literal, because it is read without importing the file: {ast.unparse(node)}"
        ) from None


class ArtifactKind(NamedTuple):
    """A value of an artifact's ``draw``: the literals that its file in kinds/ assigns, in capitals."""

    of: Literal["runs", "study"]
    axes: dict[str, bool]
    """The axes that it takes; True for a required one."""
    folder: Literal["tables", "figures"]
    images: tuple[str, ...]
    """The statistics of single images that it reads: distribution.csv, or pictures.csv and pictures.png."""


@cache
def artifact_kinds(of: str) -> tuple[str, ...]:
    """The kinds of artifacts made from ``runs`` or from a ``study``, sorted."""
    return tuple(name for name in names("kinds") if read_constant("kinds", name, "OF", None) == of)


@cache
def artifact_kind(name: str) -> ArtifactKind:
    """The kind of artifact of that name, which must exist."""
    defaults: dict[str, Any] = {"of": None, "axes": {}, "folder": None, "images": ()}
    return ArtifactKind(
        **{key: read_constant("kinds", name, key.upper(), one) for key, one in defaults.items()}
    )


@cache
def misfit(method: str, objective: str, main: bool = True) -> str | None:
    """Why a method cannot train with an objective, or None if it can.

    A regulariser, which is not the ``main`` objective, need not take all that the method uses.
    """
    given = read_constant("methods", method, "GIVES", ())
    used = read_constant("methods", method, "USES", ())
    taken = needs(objective)
    if not_given := [name for name in taken if name not in given]:
        return f"{objective} needs {_in_words(not_given)}; {method} gives {_in_words(given)}"
    not_taken = [name for name in used if name not in taken]
    if not_taken and main:
        fitting = [one for one in names("objectives") if {*used} <= {*needs(one)} <= {*given}]
        return (
            f"{objective} takes no {_in_words(not_taken)}, and {method} needs an objective that does: "
            f"{', '.join(fitting)}"
        )
    return None


def _in_words(arguments: Iterable[str]) -> str:
    return ", ".join("two batches of embeddings" if name == PAIR else name for name in arguments)


@cache
def unusable(kind: Named, name: str) -> str:
    """Why a component cannot be used on this machine, and what to install; empty if nothing is known to be missing."""
    package = components(kind)[name].package
    needs = read_constant(kind, name, "NEEDS", None)
    return package.missing or (missing(needs) if needs else "")


@cache
def missing(needs: str) -> str:
    """What is not here of what a file ``NEEDS``, and what to install; empty if nothing is known to be missing.

    A file that needs more than its package declares names a plug-in, or a module whose function ``missing()`` says it.
    That module is imported for a plan, so it imports the standard library alone.
    """
    plug_in = next((one for one in packages() if one.name == needs), None)
    return plug_in.missing if plug_in else importlib.import_module(needs).missing()


def load(kind: Kind, name: str) -> Callable[..., Any]:
    """Import a component and return its function."""
    return getattr(importlib.import_module(module_name(kind, name)), name)
