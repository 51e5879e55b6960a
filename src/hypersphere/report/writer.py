"""Writes all tables: csv to compute with, Markdown to read, TeX to paste."""

import csv
import html
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from hypersphere.files import write_text
from hypersphere.report import claims
from hypersphere.report.shown import Context, Grid, Head, Line, Shown

_TEX = {
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"<": "$<$", ">": "$>$", "|": "$|$", "[": "{[}", "]": "{]}", "\n": " "},
    **{"–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\dots{}", "\N{NO-BREAK SPACE}": "~"},
    **{"−": "$-$", "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "→": r"$\to$", "∞": r"$\infty$"},
    **{"≤": r"$\le$", "≥": r"$\ge$", "≠": r"$\ne$", "≈": r"$\approx$", "∈": r"$\in$", "√": r"$\surd$"},
    **{"‖": r"$\|$", "°": r"$^\circ$", "²": "$^2$", "³": "$^3$", "₀": "$_0$", "₁": "$_1$", "₂": "$_2$"},
}
_MARKDOWN = {"|": "&#124;", "*": "&#42;", "`": "&#96;", "\n": " "}
_NUMERIC = re.compile(r"[\[(+−]?\d.*|[–]?|not run|diverge[ds]|baseline")


def write(context: Context, shown: Shown, numbers: str) -> None:
    """Write ``results/<scale>/tables/<paper>/<artifact>.{csv,md,tex}``; ``numbers`` is the csv."""
    grid = shown.grid
    assert grid is not None
    texts = {
        ".csv": numbers,
        ".md": as_markdown(shown.title, grid, shown.notes),
        ".tex": as_tex(shown.title, grid, shown.notes, f"tab:{context.paper.paper}-{context.name}"),
    }
    if context.name in context.paper.measured:
        judged = claims.of_artifact(context.results, context.paper.paper, context.name)
        if judged is not None and judged.grid is not None:
            texts[".md"] += "\n" + as_markdown(judged.title, judged.grid, judged.notes)
            label = f"tab:{context.paper.paper}-{judged.id}"
            texts[".tex"] += "\n" + as_tex(judged.title, judged.grid, judged.notes, label)
    for path in context.results.plan.outputs(context.paper.paper, context.name):
        write_text(path, texts[path.suffix])


def as_csv(fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Tidy lines under a header; a missing number is an empty field."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(fields)
    writer.writerows([plain(value) for value in row] for row in rows)
    return buffer.getvalue()


def plain(value: Any) -> str:
    """A value in a tidy table: all digits of a number, whole numbers without a point, nothing for NaN or None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(int(value)) if value.is_integer() else repr(float(value))
    return str(value)


def as_markdown(title: str, grid: Grid, notes: Sequence[str]) -> str:
    """A GitHub table. The first note, which names the scale, is above it; the others are below."""
    sides = [":--" if side == "l" else "--:" for side in alignment(grid)]
    heads = [*map(_md, grid.corner), *map(_md_head, _columns(grid))]
    lines = [f"### {_md(title)}", "", f"**{_md(notes[0])}**", "", _pipes(heads), _pipes(sides)]
    lines += [_md_line(line) for line in grid.lines]
    return "\n".join([*lines, "", *[f"- {_md(note)}" for note in notes[1:]]]) + "\n"


def _md(text: str) -> str:
    """Text without HTML, and without what Markdown takes for mark-up, a link or the end of a cell."""
    for character, instead in _MARKDOWN.items():
        text = html.escape(text, quote=False) if character == "|" else text
        text = text.replace(character, instead)
    return text.replace("](", "]&#40;")


def _md_head(heads: Sequence[Head]) -> str:
    """The headings over one column, one below the other. The innermost of several is bold."""
    texts = [_md(head.text) for head in heads]
    if len(texts) > 1 and texts[-1]:
        texts[-1] = f"**{texts[-1]}**"
    noted = [part for text, head in zip(texts, heads, strict=True) for part in (text, _md(head.note))]
    return "<br>".join(filter(None, noted))


def _md_line(line: Line) -> str:
    cells = [*map(_md, line.labels), *["<br>".join(filter(None, map(_md, cell))) for cell in line.cells]]
    return _pipes([f"*{text}*" if text else "" for text in cells] if line.control else cells)


def _pipes(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def as_tex(title: str, grid: Grid, notes: Sequence[str], label: str) -> str:
    """A ``table`` environment, which needs booktabs and nothing else."""
    lines = [
        "% Generated; needs \\usepackage{booktabs}.",
        "\\begin{table}",
        "\\centering\\small",
        f"\\caption{{{escape(title)}. {escape(notes[0])}}}",
        f"\\label{{{label}}}",
        f"\\begin{{tabular}}{{{alignment(grid)}}}",
        "\\toprule",
        *_tex_head(grid),
        "\\midrule",
    ]
    for at, line in enumerate(grid.lines):
        if at and line.control and not grid.lines[at - 1].control:
            lines.append("\\midrule")
        lines += _tex_line(line)
    lines += ["\\bottomrule", "\\end{tabular}", ""]
    lines += [f"\\par\\footnotesize {escape(note)}" for note in notes[1:]]
    return "\n".join([*lines, "\\end{table}"]) + "\n"


def _tex_head(grid: Grid) -> list[str]:
    """The rows of headings. The innermost is beside the names of the label columns."""
    lines: list[str] = []
    blank = [""] * len(grid.corner)
    for depth, heads in enumerate(grid.head):
        last = depth == len(grid.head) - 1
        lines.append(_ampersands([*(map(escape, grid.corner) if last else blank), *map(_tex_span, heads)]))
        if any(head.note for head in heads):
            noted = [_tex_span(Head(head.note, "", head.span), "\\footnotesize ") for head in heads]
            lines.append(_ampersands([*blank, *noted]))
        if not last:
            lines.append(_rules(heads, len(grid.corner) + 1))
    return [line for line in lines if line]


def _tex_span(head: Head, before: str = "") -> str:
    text = before + escape(head.text) if head.text else ""
    return f"\\multicolumn{{{head.span}}}{{c}}{{{text}}}" if head.span > 1 else text


def _rules(heads: Sequence[Head], at: int) -> str:
    """A rule under each heading of more than one column."""
    rules = []
    for head in heads:
        if head.span > 1 and head.text:
            rules.append(f"\\cmidrule(lr){{{at}-{at + head.span - 1}}}")
        at += head.span
    return "".join(rules)


def _tex_line(line: Line) -> list[str]:
    first = [*map(escape, line.labels), *[escape(cell.main) for cell in line.cells]]
    below = [f"\\footnotesize {escape(cell.second)}" if cell.second else "" for cell in line.cells]
    second = [*[""] * len(line.labels), *below]
    return [_ampersands(first), *([_ampersands(second)] if any(second) else [])]


def _ampersands(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def escape(text: str) -> str:
    """Text without TeX commands. Characters that pdfTeX's fonts lack are written as mathematics."""
    return "".join(_TEX.get(character) or _greek(character) or character for character in text)


def _greek(character: str) -> str:
    name = unicodedata.name(character, "").split()
    if name[:1] != ["GREEK"] or "LETTER" not in name:
        return ""
    letter = name[-1].replace("LAMDA", "LAMBDA")
    return f"$\\{letter.title() if 'CAPITAL' in name else letter.lower()}$"


def alignment(grid: Grid) -> str:
    """``llrr``: labels and columns of words are left-aligned, columns of numbers right-aligned."""
    columns = zip(*(line.cells for line in grid.lines), strict=True) if grid.lines else []
    sides = ["r" if all(_NUMERIC.fullmatch(cell.main) for cell in column) else "l" for column in columns]
    return "l" * len(grid.corner) + "".join(sides or "l" * len(_columns(grid)))


def _columns(grid: Grid) -> list[tuple[Head, ...]]:
    """The headings over each column of cells, outermost first."""
    rows = [[head for head in heads for _ in range(head.span)] for heads in grid.head]
    return list(zip(*rows, strict=True))
