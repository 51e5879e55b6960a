"""The code that decides a result, as one digest: the import closure of the modules used, without what only speaks.

A reworded sentence makes nothing again, and a changed operator everything that it is part of. Two means serve this.
Modules that decide no byte are silent: they and what they import are left out. In all others comments, docstrings,
layout and the words of errors, assertions, notes and warnings are taken out of the syntax tree before it is hashed.
Where it is unclear whether a statement only speaks, it counts.
"""

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from hypersphere import files

PACKAGE = Path(__file__).parents[1]
"""The folder of the package's own sources."""

SILENT = frozenset(
    f"hypersphere.{name}"
    for name in (
        # What went wrong, in words; how bytes that others decide are put on the disk and read back.
        *("errors", "files"),
        # Which runs there are and which cell shows what, not what a run is: `declared.run`, `declared.recipe` and
        # `declared.registry` give a run's fields their meaning and defaults, and count.
        *(f"declared.{module}" for module in ("artifacts", "cells", "config", "plan", "resolve", "settings")),
        *(f"declared.{module}" for module in ("lookup", "validation")),
        # What keeps results whole. It refuses, waits, stops and records.
        *(f"integrity.{module}" for module in ("evidence", "lock", "manifest", "provenance", "recovery")),
        *(f"integrity.{module}" for module in ("sources", "stop")),
        # What arrives is checked against published checksums.
        "datasets.download",
        # Who trains where, what was finished before, and what the machine did to it. The numerical switches are in
        # `training.determinism` and what is trained on in `training.images`, which count.
        *(f"training.{module}" for module in ("device", "failures", "pretrain", "snapshots")),
        # A resume state holds what the loop gives it and gives back the same bits: training that was interrupted must
        # end as if it was not, or it is a defect. What a tensor is when it is saved, as weights or in a state, is
        # decided in `training.weights`, which counts.
        "training.checkpoint",
    )
)
"""Modules that decide no byte of any result."""


def exists(module: str) -> bool:
    """Whether this package has a module of this dotted name."""
    return _path(module) is not None


def closure(modules: Iterable[str]) -> dict[str, str]:
    """Every module that ``modules`` import, directly or not, and that is not silent, with what counts of its source.

    Names of other packages, and of members of modules, are passed over; a silent module's imports are not followed.

    Args:
        modules: dotted names.

    Returns:
        Source texts by the modules' dotted names, sorted.
    """
    waiting, seen = list(modules), {}
    while waiting:
        module = waiting.pop()
        path = _path(module)
        if path is None or module in seen or module in SILENT:
            continue
        seen[module], imports = _parsed(path, path.stat().st_mtime_ns)
        waiting += imports
    return dict(sorted(seen.items()))


def code_digest(*modules: str) -> str:
    """Digest of the import closure of ``modules``, in any order, as it was when this process first asked for it."""
    return _digest(PACKAGE, frozenset(modules))


def forget() -> None:
    """Look at the sources again when next asked, for they have changed under this process."""
    _digest.cache_clear()


def stripped(source: str) -> str:
    """What counts of a module's source text."""
    return ast.unparse(_Speechless().visit(ast.parse(source)))


@cache
def _digest(package: Path, modules: frozenset[str]) -> str:
    return files.digest(closure(modules))


def _path(module: str) -> Path | None:
    """The source file of a module of this package; None for a name inside a module, or of another package."""
    package, *names = module.split(".")
    stem = PACKAGE.joinpath(*names)
    candidates = (stem.with_suffix(".py"), stem / "__init__.py") if package == "hypersphere" else ()
    return next((path for path in candidates if path.is_file()), None)


@cache
def _parsed(path: Path, changed_ns: int) -> tuple[str, frozenset[str]]:
    """What counts of a file's source, and what it imports."""
    source = stripped(path.read_text(encoding="utf-8"))
    return source, frozenset(_imports(ast.parse(source)))


def _imports(tree: ast.Module) -> set[str]:
    """Dotted names of this package that a module imports, anywhere in it; a name may be a module's member."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] == "hypersphere"}


class _Speechless(ast.NodeTransformer):
    """Takes out what only speaks. A raise keeps its condition, its exception's type and its cause."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Docstrings, notes and warnings go; any other statement stays."""
        return None if isinstance(node.value, ast.Constant) or _is_note(node.value) else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """``raise X(…)`` becomes ``raise X``."""
        if isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        return self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """The condition alone stays."""
        node.msg = None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        """What is imported for annotations alone is never run."""
        return None if ast.unparse(node.test) == "TYPE_CHECKING" and not node.orelse else self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """A block that lost its last statement does nothing."""
        super().generic_visit(node)
        if getattr(node, "body", None) == [] and not isinstance(node, ast.Module):
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node


_ACTS = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
"""What an expression may do besides having a value."""
_STREAMS = ("sys.stdout", "sys.stderr")


def _is_note(statement: ast.expr) -> bool:
    """Whether a statement prints or warns and does nothing else: it writes to no file, and its arguments only read."""
    if not isinstance(statement, ast.Call) or ast.unparse(statement.func) not in ("print", "warnings.warn"):
        return False
    said = [*statement.args, *(keyword.value for keyword in statement.keywords)]
    elsewhere = [word.value for word in statement.keywords if word.arg in ("file", None)]
    reads = not any(isinstance(node, _ACTS) for argument in said for node in ast.walk(argument))
    return reads and all(ast.unparse(stream) in _STREAMS for stream in elsewhere)
