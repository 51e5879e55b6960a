"""Source without its words: what of a file decides, and what only explains it.

Comments, docstrings, layout and the words of errors decide nothing. Whatever is compared by a digest of its code goes
through here, so that a reworded sentence makes nothing stale, and a changed operator does.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from hypersphere import files
from hypersphere.errors import HypersphereError


class WithoutWords(ast.NodeTransformer):
    """Removes docstrings, the words of errors, and imports for annotations, which are never run.

    Expressions stay as they are, because they have no statements.
    """

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """Turn ``raise X(…)`` into ``raise X``: its condition, its exception's type and its cause stay."""
        if isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        return node

    def visit_If(self, node: ast.If) -> ast.AST | None:
        if ast.unparse(node.test) == "TYPE_CHECKING" and not node.orelse:
            return None
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Look only into blocks, and put ``pass`` into one that lost its last statement."""
        if isinstance(node, ast.mod | ast.stmt | ast.ExceptHandler | ast.match_case):
            super().generic_visit(node)
            if getattr(node, "body", None) == [] and not isinstance(node, ast.Module):
                node.body = [ast.Pass()]  # type: ignore[union-attr]
        return node


def behind(file: Path, name: str) -> str | None:
    """The bare code of what a file defines as ``name``, and of all in the file that it uses; None: it defines no such.

    Types of arguments and results are words, too. What is imported counts by its name and origin.
    """
    if not file.is_file():
        return None
    try:
        tree = ast.parse(files.read_text(file))
    except ValueError as error:
        raise HypersphereError(f"{file}: is not valid Python ({error})") from None
    except SyntaxError as error:
        raise HypersphereError(
            f"{file}: line {error.lineno}: is not valid Python ({error.msg})"
        ) from None
    defined: dict[str, ast.stmt] = {}
    for statement in tree.body:
        defined |= dict.fromkeys(_defines(statement), statement)
    sources: dict[str, str] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one in defined and one not in sources:
            bare = _without_types(WithoutWords().visit(defined[one]))
            sources[one] = ast.unparse(bare)
            waiting += [node.id for node in ast.walk(bare) if isinstance(node, ast.Name)]
    return "\n".join(sources[one] for one in sorted(sources)) if name in sources else None


def _defines(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top of a file defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from map(ast.unparse, targets)


def _without_types(statement: ast.AST) -> ast.AST:
    """The statement without the types of arguments and results."""
    for node in ast.walk(statement):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    return statement
