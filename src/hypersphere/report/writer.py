"""Writes the files of all artifacts: csv to compute with, drawings, and tables as Markdown to read and TeX to paste."""

import html
import importlib
import re
import unicodedata
from collections.abc import Iterable
from itertools import chain
from typing import Any

import pandas as pd

from hypersphere.config import registry
from hypersphere.files import write_text
from hypersphere.provenance.manifest import seal
from hypersphere.report import entries, studies
from hypersphere.report.artifact import Context, Grid, Head, Points, Shown, Text
from hypersphere.report.results import Results

_TEX = {
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"<": "$<$", ">": "$>$", "|": "$|$", "[": "{[}", "]": "{]}", "\n": " "},
    **{
        "–": "--",
        "—": "---",
        "“": "``",
        "”": "''",
        "‘": "`",
        "’": "'",
        "…": r"\dots{}",
        "\N{NO-BREAK SPACE}": "~",
    },
    **{
        "−": "$-$",
        "±": r"$\pm$",
        "×": r"$\times$",
        "·": r"$\cdot$",
        "→": r"$\to$",
        "∞": r"$\infty$",
    },
    **{
        "≤": r"$\le$",
        "≥": r"$\ge$",
        "≠": r"$\ne$",
        "≈": r"$\approx$",
        "∈": r"$\in$",
        "√": r"$\surd$",
    },
    **{
        "‖": r"$\|$",
        "°": r"$^\circ$",
        "²": "$^2$",
        "³": "$^3$",
        "₀": "$_0$",
        "₁": "$_1$",
        "₂": "$_2$",
    },
}
_MARKDOWN = {"|": "&#124;", "*": "&#42;", "`": "&#96;", "\n": " "}
_NUMERIC = re.compile(r"[\[(+−]?\d.*|[–]?|not run|diverge[ds]|baseline")


def build(results: Results, paper: str, name: str) -> None:
    """Write the csv of an artifact's numbers, its table (md, tex) or drawing (svg, png), and their manifest."""
    about, kind = _found(results, paper, name)
    (*outputs, sealed), numbers = results.config.outputs(paper, name), kind.numbers(about)
    if kind.FOLDER == "figures":
        from hypersphere.report import figures, style  # matplotlib, which no table needs

        with style.applied():
            figures.save(kind.draw(about), outputs, numbers)
        seal(sealed, outputs)
        return
    judged = entries.of_artifact(results, paper, name) if isinstance(about, Points) else None
    shown = [show(results, paper, name), *([judged] if judged else [])]
    texts = {
        ".csv": numbers,
        ".md": "\n".join(map(as_markdown, shown)),
        ".tex": "\n".join(as_tex(one, f"tab:{paper}-{one.id}") for one in shown),
    }
    for path in outputs:
        write_text(path, texts[path.suffix])
    seal(sealed, outputs)


def _found(results: Results, paper: str, name: str) -> tuple[Context, Any]:
    """What a kind is given of an artifact, and the module of its kind."""
    declared = results.config.papers[paper]
    kind = importlib.import_module(registry.module_name("kinds", declared.artifacts[name].draw))
    return (Points if kind.OF == "runs" else Context)(results, declared, name), kind


def show(results: Results, paper: str, name: str) -> Shown:
    """The artifact as the page of its scale shows it."""
    about, kind = _found(results, paper, name)
    printed, title = about.artifact.printed, about.artifact.title
    if kind.OF == "runs":
        title = f"{f'{printed} at' if printed else 'At'} scale {results.config.scale_name}: {title}"
    else:
        title = f"{printed}: {title}" if printed else f"{title} (ours)"
    shown = Shown(name, title, kind.notes(about))
    if kind.FOLDER == "tables":
        return shown._replace(grid=kind.draw(about))
    return shown if kind.OF == "runs" else shown._replace(inches=studies.of_artifact(about).size[0])


def as_markdown(shown: Shown) -> str:
    """A GitHub table. The first note, which names the scale, is above it; the others are below."""
    assert shown.grid is not None
    grid, first, *others = shown.grid, *shown.notes
    sides = [":--" if side == "l" else "--:" for side in alignment(grid)]
    heads = list(map(_md, grid.corner))
    # the innermost of several headings is bold
    for over in zip(*map(_spread, grid.head), strict=True):
        parts = list[str]()
        for head in over:
            bold = len(over) > 1 and head is over[-1] and head.text
            parts += [f"**{_md(head.text)}**" if bold else _md(head.text), _md(head.note)]
        heads.append("<br>".join(filter(None, parts)))
    lines = [f"### {_md(shown.title)}", "", f"**{_md(first)}**", "", pipes(heads), pipes(sides)]
    for line in grid.lines:
        cells = [
            *map(_md, line.labels),
            *("<br>".join(filter(None, map(_md, cell))) for cell in line.cells),
        ]
        lines.append(
            pipes([f"*{text}*" if text else "" for text in cells] if line.control else cells)
        )
    return "\n".join([*lines, "", *[f"- {_md(note)}" for note in others]]) + "\n"


def _spread(heads: Iterable[Head]) -> list[Head]:
    """A heading for each column."""
    return list(chain.from_iterable([head] * head.span for head in heads))


def _md(text: str) -> str:
    """Text without HTML, and without what Markdown takes for mark-up, a link or the end of a cell."""
    for character, instead in _MARKDOWN.items():
        text = html.escape(text, quote=False) if character == "|" else text
        text = text.replace(character, instead)
    return text.replace("](", "]&#40;")


def pipes(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def as_tex(shown: Shown, label: str) -> str:
    """A ``table`` environment, which needs booktabs and nothing else."""
    assert shown.grid is not None
    grid, first, *others = shown.grid, *shown.notes
    levels: list[list[str]] = []
    for heads in grid.head:
        spread = _spread(heads)
        for names in ([head.text for head in spread], [head.note for head in spread]):
            levels += [names] if any(names) else []
    named = [[*[""] * len(grid.corner), *level] for level in levels]
    named[-1][: len(grid.corner)] = grid.corner
    columns = [list(map(escape, level)) for level in named]
    rows = []
    for at, line in enumerate(grid.lines):
        first_control = at and line.control and not grid.lines[at - 1].control
        cells = [*map(escape, line.labels), *(escape(cell.main) for cell in line.cells)]
        rows.append([("\\midrule " if first_control else "") + cells[0], *cells[1:]])
        below = [
            f"\\footnotesize {escape(cell.second)}" if cell.second else "" for cell in line.cells
        ]
        rows += [[*[""] * len(line.labels), *below]] if any(below) else []
    table = pd.DataFrame(
        rows, columns=pd.MultiIndex.from_arrays(columns) if len(columns) > 1 else columns[0]
    )
    lines = [
        "% Generated; needs \\usepackage{booktabs}.",
        "\\begin{table}",
        "\\centering\\small",
        f"\\caption{{{escape(shown.title)}. {escape(first)}}}",
        f"\\label{{{label}}}",
        table.style.hide().to_latex(hrules=True, multicol_align="c", column_format=alignment(grid)),
        *[f"\\par\\footnotesize {escape(note)}" for note in others],
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text without TeX commands. Characters that pdfTeX's fonts lack are written as mathematics."""
    escaped = ""
    for character in text:
        name = unicodedata.name(character, "").split()
        if name[:1] == ["GREEK"] and "LETTER" in name:
            letter = name[-1].replace("LAMDA", "LAMBDA")
            escaped += f"$\\{letter.title() if 'CAPITAL' in name else letter.lower()}$"
        else:
            escaped += _TEX.get(character, character)
    return escaped


def _is_number(cell: Text) -> bool:
    return _NUMERIC.fullmatch(cell.main) is not None


def alignment(grid: Grid) -> str:
    """``llrr``: labels and columns of words are left-aligned, columns of numbers right-aligned."""
    columns = zip(*(line.cells for line in grid.lines), strict=True) if grid.lines else []
    sides = ["r" if all(map(_is_number, column)) else "l" for column in columns]
    return "l" * len(grid.corner) + "".join(sides or "l" * sum(head.span for head in grid.head[-1]))
