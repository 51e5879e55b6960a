"""A digest of the code that decides a result: the import closure of the modules used, without its words.

A reworded sentence must not make results stale, and a changed operator must. So modules that decide no byte of a result
are silent: they and their imports are left out. In all others, comments, docstrings, layout and the words of errors
are removed from the syntax tree before it is hashed. In doubt a statement counts. A
module's table (``measures.csv`` beside ``measures.py``, and the plug-ins' tables of that name) counts with it.
"""

import ast
import importlib.util
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from hypersphere import files
from hypersphere.config import paper_code, registry
from hypersphere.config.bare_code import WithoutWords

PACKAGE = Path(__file__).parents[1]

# Sentences about errors; how bytes that other modules decide are written and read back.
_WORDS = ("errors", "files")
# Which runs there are, and which cell shows which. What a run is does count: `config.run`, `config.recipe` and
# `config.registry` give its fields their meaning and defaults.
_PLANNING = (
    "config.artifacts",
    "config.cells",
    "file_names",
    "config.project",
    "config.plan",
    "config.resolve",
    "config.validation",
)
# Keeping results whole: these refuse, wait, stop and record, and say what is finished.
_KEEPING = (
    "provenance.digests",
    "provenance.evidence",
    "provenance.manifest",
    "provenance.markers",
    "provenance.sources",
    "provenance.state",
    "provenance.stop",
)
# Downloads are checked against published checksums. Which process trains where, what was finished before, and failures
# of the machine; counts of operations. The numerical switches are in `training.determinism`, which counts. A resume
# state returns the bits that it was given: training that was interrupted ends with the same bytes as training that was
# not, or it is a defect. `training.weights` decides how a tensor is saved, and counts.
_RUNNING = (
    "datasets.reading.download",
    "training.checkpoint",
    "training.device",
    "training.pretrain",
    "training.work",
)
SILENT = frozenset(
    f"hypersphere.{module}" for module in (*_WORDS, *_PLANNING, *_KEEPING, *_RUNNING)
)
"""The modules that decide no byte of a result."""


def closure(modules: Iterable[str]) -> dict[str, str]:
    """What counts of the source of ``modules`` and of all that they import, directly or not, by dotted name, sorted.

    Silent modules and their imports are left out; names of other packages and of members of modules are skipped.
    """
    plug_ins = [one.folder for one in registry.packages() if one.name != "hypersphere"]
    sources = {}
    seen = set(SILENT)
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        path = None if module in seen else source_of(module)
        seen.add(module)
        if path is None:
            continue
        source, imports = _parse(path, module, path.stat().st_mtime_ns)
        tables = [path.with_suffix(".csv"), *(folder / f"{path.stem}.csv" for folder in plug_ins)]
        texts = [files.read_text(table) for table in tables if table.is_file()]
        sources[module] = "".join([source, *texts])
        waiting += imports
    return dict(sorted(sources.items()))


def code_digest(*modules: str) -> str:
    """Digest of the import closure of ``modules``, as it was at the first call in this process."""
    return _code_digest(modules, paper_code.folders())


@cache
def _code_digest(modules: tuple[str, ...], papers: tuple[tuple[str, Path], ...]) -> str:
    """The digest of ``code_digest``, where the code of papers is in these folders."""
    return files.digest(closure(modules))


def forget() -> None:
    """Read the sources again at the next call, because they have changed since the first."""
    _code_digest.cache_clear()
    _source_in_a_package.cache_clear()


def source_of(module: str) -> Path | None:
    """The source file of a module of our package, of a plug-in or of a paper, by its dotted name.

    None for a name in a module, and for a module of another package.
    """
    return paper_code.module_file(module) or _source_in_a_package(module)


@cache
def _source_in_a_package(module: str) -> Path | None:
    """The source file of a module of our package or of a plug-in; None for any other name."""
    package, *names = module.split(".")
    folders = {one.name: one.folder for one in registry.packages()} | {"hypersphere": PACKAGE}
    if package in folders:
        stem = folders[package].joinpath(*names)
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file():
                return path
    return None


@cache
def _parse(path: Path, module: str, changed_ns: int) -> tuple[str, frozenset[str]]:
    """The part of a file's source that counts, and the names that it imports, anywhere in it."""
    tree = ast.parse(files.read_text(path))
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    counted = Counted(package)
    source = ast.unparse(counted.visit(tree))
    return source, frozenset(counted.imported)


class Counted(WithoutWords):
    """Notes what is imported by the code that stays."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.imported: set[str] = set()

    def visit_Import(self, node: ast.Import) -> ast.AST:  # noqa: N802
        self.imported |= {alias.name for alias in node.names}
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:  # noqa: N802
        origin = importlib.util.resolve_name("." * node.level + (node.module or ""), self.package)
        self.imported |= {origin} | {f"{origin}.{alias.name}" for alias in node.names}
        return node
