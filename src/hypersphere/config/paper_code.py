"""The code in a paper's folder: its theorems, and its exact studies.

The folder is the package ``papers.<id>``, wherever it lies:

- ``theorems.py`` assigns ``STATEMENTS``;
- ``front.py`` has a function ``front``, which draws the picture above all; one paper may have it;
- ``studies/<study>/compute.py`` has a function ``<study>``, and ``draw.py`` beside it one for each artifact.

Exact studies that every paper may name are in ``hypersphere/exact/``, and their drawings in
``hypersphere/report/drawings/``.
"""

import ast
import importlib
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from hypersphere.config import registry
from hypersphere.errors import HypersphereError

PACKAGE = "papers"
THEOREMS = "theorems"
STUDIES = "studies"
FRONT = "front"
SHARED = Path(__file__).parents[1] / "exact"
"""The folder of the exact studies that every paper may name."""

_folders: dict[str, Path] = {}


class StudyCode(NamedTuple):
    """The code of an exact study."""

    file: Path
    """The file of its function."""
    compute: str
    """The dotted module of its function."""
    draw: str
    """The dotted module that draws its artifacts."""

    @property
    def missing(self) -> str:
        """Why it cannot run on this machine, and what to install; empty if nothing is known to be missing."""
        needs = registry.constant_of(self.file, "NEEDS", None)
        return registry.missing(needs) if needs else ""


def admit(folders: Mapping[str, Path]) -> None:
    """Make the code of papers importable, by the paper's name, and forget what other folders held under that name."""
    package = _papers()
    for name, folder in folders.items():
        if _folders.get(name) == folder:
            continue
        own = f"{PACKAGE}.{name}"
        for module in [*sys.modules]:
            if module == own or module.startswith(f"{own}."):
                del sys.modules[module]
        sys.modules[own] = _package(own, [str(folder)])
        setattr(package, name, sys.modules[own])
        _folders[name] = folder


def _papers() -> ModuleType:
    """The package of all papers: the checkout's if it can be imported, or else an empty package."""
    try:
        return importlib.import_module(PACKAGE)
    except ModuleNotFoundError:
        return sys.modules.setdefault(PACKAGE, _package(PACKAGE, []))


def _package(name: str, path: list[str]) -> ModuleType:
    """A package whose modules are in these folders."""
    package = ModuleType(name)
    package.__path__ = path
    return package


def folders() -> tuple[tuple[str, Path], ...]:
    """The names and folders of the papers whose code is importable."""
    return tuple(_folders.items())


def module_file(module: str) -> Path | None:
    """The file of a module of a paper, by its dotted name; None without such a file."""
    package, _, inside = module.partition(".")
    paper, *names = inside.split(".")
    if package != PACKAGE or paper not in _folders or not names:
        return None
    file = _folders[paper].joinpath(*names).with_suffix(".py")
    return file if file.is_file() else None


def load(module: str, name: str) -> Any:
    """A function or a value of a module; whatever is wrong in a paper's own module is one sentence."""
    file = module_file(module)
    with blaming(file) if file else nullcontext():
        loaded = importlib.import_module(module)
    if not hasattr(loaded, name):
        raise HypersphereError(f"{file or module}: has no {name}")
    return getattr(loaded, name)


@contextmanager
def blaming(file: Path, what: str = "") -> Iterator[None]:
    """Turn an error of a paper's own code into a sentence with its file, the line there, and what was computed."""
    try:
        yield
    except HypersphereError:
        raise
    except Exception as error:
        raise HypersphereError(_blame(file, error, what)) from error


def _blame(file: Path, error: Exception, what: str) -> str:
    """The sentence on an error in a file. It names the last line that ran there, or the one that Python cannot read."""
    kind = type(error).__name__
    if isinstance(error, SyntaxError):
        return f"{error.filename}: line {error.lineno}: {kind}: {error.msg}"
    words = [what, kind, str(error)]
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == str(file):
            words.insert(0, f"line {frame.lineno}")
            break
    return ": ".join([str(file), *filter(None, words)])


def theorems(paper: str) -> str | None:
    """The dotted module of a paper's theorems; None without that file."""
    module = f"{PACKAGE}.{paper}.{THEOREMS}"
    return module if module_file(module) else None


def front() -> str | None:
    """The dotted module that draws the picture above all; None if no paper has it. Of several, the first by name."""
    modules = [f"{PACKAGE}.{paper}.{FRONT}" for paper in sorted(_folders)]
    return next(filter(module_file, modules), None)


def study(paper: str, name: str) -> StudyCode | None:
    """The code of an exact study: the paper's own, or one that every paper may name; None without either."""
    own = f"{PACKAGE}.{paper}.{STUDIES}.{name}"
    if file := module_file(f"{own}.compute"):
        return StudyCode(file, f"{own}.compute", f"{own}.draw")
    if name in shared_studies():
        file = SHARED / f"{name}.py"
        return StudyCode(file, f"hypersphere.exact.{name}", f"hypersphere.report.drawings.{name}")
    return None


def studies(paper: str) -> list[str]:
    """The names of the exact studies that a paper can name, sorted."""
    own = _folders[paper].glob(f"{STUDIES}/*/compute.py")
    return sorted({*(file.parent.name for file in own), *shared_studies()})


@cache
def shared_studies() -> tuple[str, ...]:
    """The names of the exact studies that every paper may name."""
    return tuple(file.stem for file in sorted(SHARED.glob("[a-z]*.py")) if _returns_a_study(file))


def _returns_a_study(file: Path) -> bool:
    """Whether a file defines an exact study: a function of the file's name that returns one."""
    function = registry.definitions(file).get(file.stem)
    returns = function.returns if isinstance(function, ast.FunctionDef) else None
    return returns is not None and ast.unparse(returns) == "ExactStudy"
