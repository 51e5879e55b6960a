"""The site's page of equations: each loss with its place, what it does, its errata and its exact figures.

All is taken from where it is decided: losses from their docstrings, which have a paragraph ``Geometry:`` and may have
one ``Figure:`` with the ids of artifacts; pictures from the results of any scale, because an exact figure is the same
at all.
"""

import ast
import re
from collections.abc import Sequence
from pathlib import Path

from hypersphere.config import registry
from hypersphere.config.claims import NOT_MADE_YET, load_errata
from hypersphere.config.project import Config
from hypersphere.report.proofs import NAMES

PLACE = "explanation/equations.md"
HEAD = """# Each equation with its figure

Every loss of the documents: the equation, where it is printed, what it does, its errata, the function that computes it,
and the exact figures that show it, where there are some. The choices that are ours in a figure are in
[figures.md](../figures.md). [Theorems](../reference/theorems.md) have a page of their own."""


def paragraphs(kind: registry.Kind, name: str) -> list[str]:
    """The docstring of a loss, map to logits, gradient transform or initialisation, up to its arguments."""
    module = ast.parse(registry.components(kind)[name].file.read_text(encoding="utf-8"))
    function = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == name)
    text = ast.get_docstring(function) or ""
    return re.split(r"^(?:Args|Returns|Numerics):", text, flags=re.MULTILINE)[0].strip().split("\n\n")


def figures(said: Sequence[str]) -> list[str]:
    """The artifacts, as ``paper/artifact``, that the paragraph ``Figure:`` names."""
    return [key for one in said if one.startswith("Figure: ") for key in re.findall(r"\w+/\w+", one)]


def page(config: Config, results: Path, kinds: Sequence[tuple[str, registry.Kind]]) -> tuple[str, dict[str, Path]]:
    """Losses by their kind, which has a title; and the files of the page's pictures, by where the site has them.

    ``results`` holds a folder for each scale.
    """
    known = {one.id for one in load_errata(config)}
    lines: list[str] = [HEAD]
    pictures: dict[str, Path] = {}
    for title, kind in kinds:
        lines += ["", f"## {title}"]
        for name in registry.names(kind):
            equation, *others = said = paragraphs(kind, name)
            lines += ["", f"### {name}", "", "```text", equation.replace("``", ""), "```"]
            for one in others:
                lines += ["", one.replace("Geometry:", "**Geometry:**")] if not one.startswith("Figure: ") else []
            lines += ["", f"Computed by [`{name}`][{registry.module_name(kind, name)}.{name}]."]
            named = dict.fromkeys(re.findall(rf"\b{NAMES.pattern}\b", " ".join(said)))
            links = [f"[{one}](../reference/errata.md#{one})" for one in named if one in known]
            lines += ["", f"What is wrong in print, or open: {', '.join(links)}."] if links else []
            for key in figures(said):
                lines += ["", _figure(config, results, key, pictures)]
    return "\n".join(lines), pictures


def _figure(config: Config, results: Path, key: str, pictures: dict[str, Path]) -> str:
    """An exact figure, which joins the pictures; if it is not made yet, a line that says so."""
    paper, artifact = key.split("/")
    declared, name = config.papers[paper].studied[artifact], key.replace("/", "-")
    title = f"{declared.printed}: {declared.title}" if declared.printed else declared.title
    made = max(results.glob(f"*/figures/{key}.svg"), key=lambda file: file.stat().st_mtime_ns, default=None)
    if made is None:
        return f"*{title}: {NOT_MADE_YET}; `make reproduce ONLY={key}` draws it, without training.*"
    pictures[f"explanation/figures/{name}.svg"] = made
    return f"![{title}](figures/{name}.svg)\n\n*{title}.*"
