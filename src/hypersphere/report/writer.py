"""Writes the files of all artifacts: csv to compute with, drawings, and tables as Markdown to read and TeX to paste."""

import html
import importlib
import re
from collections.abc import Iterable
from itertools import chain
from typing import Any

import jinja2
import pandas as pd

from hypersphere.config import registry
from hypersphere.files import write_text
from hypersphere.provenance.manifest import seal
from hypersphere.report import entries, studies
from hypersphere.report.artifact import Context, Grid, Head, Points, Shown, Text
from hypersphere.report.results import Results
from hypersphere.report.tex import escape

_MARKDOWN = str.maketrans({"|": "&#124;", "*": "&#42;", "`": "&#96;", "\n": " "})
_NUMERIC = re.compile(r"[\[(+−]?\d.*|[–]?|not run|diverge[ds]|baseline")


def build(results: Results, paper: str, name: str) -> None:
    """Write the csv of an artifact's numbers, its table (md, tex) or drawing (svg, png), and their manifest."""
    about, kind = _context_and_kind(results, paper, name)
    *outputs, sealed = results.config.outputs(paper, name)
    numbers = kind.numbers(about)
    if kind.FOLDER == "figures":
        from hypersphere.report import figures, style  # matplotlib, which no table needs

        with style.house_style():
            figures.save(kind.draw(about), outputs, numbers)
    else:
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


def _context_and_kind(results: Results, paper: str, name: str) -> tuple[Context, Any]:
    """What a kind is given of an artifact, and the module of its kind."""
    declared = results.config.papers[paper]
    kind = importlib.import_module(registry.module_name("kinds", declared.artifacts[name].draw))
    return (Points if kind.OF == "runs" else Context)(results, declared, name), kind


def show(results: Results, paper: str, name: str) -> Shown:
    """The artifact as the page of its scale shows it."""
    about, kind = _context_and_kind(results, paper, name)
    printed, title = about.artifact.printed, about.artifact.title
    if kind.OF == "runs":
        title = f"{f'{printed} at' if printed else 'At'} scale {results.config.scale_name}: {title}"
    else:
        title = f"{printed}: {title}" if printed else f"{title} (ours)"
    shown = Shown(name, title, kind.notes(about))
    if kind.FOLDER == "tables":
        return shown._replace(grid=kind.draw(about))
    return shown if kind.OF == "runs" else shown._replace(inches=studies.of_artifact(about).size[0])


_AS_MARKDOWN = jinja2.Template(
    """\
### {{ md(shown.title) }}

**{{ md(shown.notes[0]) }}**

{% for line in lines %}
{{ pipes(line) }}
{% endfor %}

{% for note in shown.notes[1:] %}
- {{ md(note) }}
{% endfor %}
""",
    trim_blocks=True,
    keep_trailing_newline=True,
)
"""A table in Markdown. It stands here because digests of artifacts are of code."""


def as_markdown(shown: Shown) -> str:
    """A GitHub table. The first note, which names the scale, is above it; the others are below."""
    assert shown.grid is not None
    grid = shown.grid
    heads = list(map(_md, grid.corner))
    for over in zip(*map(_head_of_each, grid.head), strict=True):
        parts = list[str]()
        for head in over:
            innermost = len(over) > 1 and head is over[-1] and head.text
            parts += [f"**{_md(head.text)}**" if innermost else _md(head.text), _md(head.note)]
        heads.append(_stack(parts))
    lines = [heads, [":--" if side == "l" else "--:" for side in alignment(grid)]]
    for line in grid.lines:
        cells = [*map(_md, line.labels), *(_stack(map(_md, cell)) for cell in line.cells)]
        lines.append([text and f"*{text}*" for text in cells] if line.control else cells)
    return _AS_MARKDOWN.render(shown=shown, lines=lines, pipes=pipes, md=_md)


def _stack(parts: Iterable[str]) -> str:
    """Lines of one cell."""
    return "<br>".join(filter(None, parts))


def _head_of_each(heads: Iterable[Head]) -> list[Head]:
    """A heading for each column."""
    return list(chain.from_iterable([head] * head.span for head in heads))


def _md(text: str) -> str:
    """Text without HTML, and without what Markdown takes for mark-up, a link or the end of a cell."""
    return html.escape(text, quote=False).translate(_MARKDOWN).replace("](", "]&#40;")


def pipes(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def as_tex(shown: Shown, label: str) -> str:
    """A ``table`` environment, which needs booktabs and nothing else."""
    assert shown.grid is not None
    grid = shown.grid
    first, *others = map(escape, shown.notes)
    lines = [
        "% Generated; needs \\usepackage{booktabs}.",
        "\\begin{table}",
        "\\centering\\small",
        f"\\caption{{{escape(shown.title)}. {first}}}",
        f"\\label{{{label}}}",
        pd.DataFrame(_tex_rows(grid), columns=_tex_columns(grid))
        .style.hide()
        .to_latex(hrules=True, multicol_align="c", column_format=alignment(grid)),
        *(f"\\par\\footnotesize {note}" for note in others),
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _tex_columns(grid: Grid) -> pd.Index:
    """The headings, a level for each line of them; those of the labels are in the last one."""
    levels = list[list[str]]()
    for heads in grid.head:
        spread = _head_of_each(heads)
        names = [escape(head.text) for head in spread]
        notes = [escape(head.note) for head in spread]
        levels += [level for level in (names, notes) if any(level)]
    blank = [""] * len(grid.corner)
    named = [[*blank, *level] for level in levels[:-1]]
    named.append([*map(escape, grid.corner), *levels[-1]])
    return pd.MultiIndex.from_arrays(named) if len(named) > 1 else pd.Index(named[0])


def _tex_rows(grid: Grid) -> list[list[str]]:
    """The lines, with a rule above the controls, and the second lines of cells below."""
    rows = list[list[str]]()
    above = True
    for line in grid.lines:
        first, *cells = *map(escape, line.labels), *(escape(cell.main) for cell in line.cells)
        rule = "\\midrule " if line.control and not above else ""
        rows.append([rule + first, *cells])
        if any(cell.second for cell in line.cells):
            blank = [""] * len(line.labels)
            second = [escape(cell.second) for cell in line.cells]
            rows.append([*blank, *(text and f"\\footnotesize {text}" for text in second)])
        above = line.control
    return rows


def _is_number(cell: Text) -> bool:
    return _NUMERIC.fullmatch(cell.main) is not None


def alignment(grid: Grid) -> str:
    """``llrr``: labels and columns of words are left-aligned, columns of numbers right-aligned."""
    columns = zip(*(line.cells for line in grid.lines), strict=True) if grid.lines else []
    sides = ["r" if all(map(_is_number, column)) else "l" for column in columns]
    return "l" * len(grid.corner) + "".join(sides or "l" * sum(head.span for head in grid.head[-1]))
