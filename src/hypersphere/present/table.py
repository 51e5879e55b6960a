"""A published table, rebuilt: csv to compute with, md to read, tex to paste."""

import csv
import io
import math

from hypersphere.declared.config import Config
from hypersphere.errors import HypersphereError
from hypersphere.files import write_text
from hypersphere.present.cells import Cell, Row, Sheet, sheet
from hypersphere.present.results import Results

FIELDS = (
    *("row", "method", "variant", "dataset", "measured_on", "probed_on", "mean", "std", "n", "low", "high"),
    *("n_diverged", "effect", "effect_low", "effect_high", "p_holm", "published", "scale"),
)
_TEX = (
    {"\\": r"\textbackslash{}"}
    | {c: f"\\{c}" for c in "&%$#_{}"}
    | {
        **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "−": r"$-$", "×": r"$\times$"},
        **{"→": r"$\to$", "–": "--", "“": "``", "”": "''", "<": r"$<$", ">": r"$>$", "[": "{[}", "]": "{]}"},
    }
)


def build(config: Config, paper: str, artifact: str) -> None:
    """Write ``results/<scale>/tables/<paper>/<artifact>.{csv,md,tex}``.

    Raises:
        HypersphereError: no such table, or a results file is missing.
    """
    if paper not in config.papers:
        raise HypersphereError(f"'{paper}' is not one of {', '.join(config.papers)}")
    layout = sheet(config, config.papers[paper], artifact, Results(config))
    folder = config.results / "tables" / paper
    write_text(folder / f"{artifact}.csv", as_csv(layout))
    write_text(folder / f"{artifact}.md", as_markdown(layout))
    write_text(folder / f"{artifact}.tex", as_tex(layout, f"tab:{paper}-{artifact}"))


def as_csv(layout: Sheet) -> str:
    """One line per cell."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(FIELDS)
    for row in layout.rows:
        for cell in row.cells:
            writer.writerow(_fields(layout, row, cell))
    return buffer.getvalue()


def _fields(layout: Sheet, row: Row, cell: Cell) -> list[str | int]:
    key: list[str | int] = [row.key, row.method, row.variant, cell.column.dataset]
    key += [cell.column.measured_on or "", cell.column.probed_on or ""]
    ours: list[str | int] = [_plain(cell.mean), _plain(cell.std), cell.n, _plain(cell.low), _plain(cell.high)]
    effect = [_plain(value) for value in (cell.effect, cell.effect_low, cell.effect_high, cell.p_holm)]
    return [*key, *ours, cell.n_diverged, *effect, cell.published, layout.scale]


def _plain(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))


def as_markdown(layout: Sheet) -> str:
    """A GitHub table, the scale above it and the notes below."""
    heads = ["Method", "Variant"]
    for column in layout.columns:
        note = f"<br>{column.note}" if column.note else ""
        heads.append(f"{column.label}{note}<br>**ours ({layout.scale} scale)**")
        if column.has_published:
            heads.append(f"{column.label}<br>**published**")
    lines = [f"### {layout.title}", "", f"**{layout.notes[0]}**", ""]
    lines += [_pipes(heads), _pipes([":--", ":--", *["--:"] * (len(heads) - 2)])]
    for row in layout.rows:
        cells = [row.labels[0], row.labels[1]]
        for cell in row.cells:
            cells.append(cell.ours + (f"<br>{cell.difference}" if cell.difference else ""))
            if cell.column.has_published:
                cells.append(cell.printed)
        lines.append(_pipes([f"*{text}*" for text in cells] if row.control else cells))
    return "\n".join([*lines, "", *[f"- {note}" for note in layout.notes[1:]]]) + "\n"


def _pipes(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def as_tex(layout: Sheet, label: str) -> str:
    """A ``table`` environment for booktabs; nothing else is needed."""
    spec = "ll" + "".join("rr" if column.has_published else "r" for column in layout.columns)
    lines = [
        "% Generated; needs \\usepackage{booktabs}.",
        "\\begin{table}",
        "\\centering\\small",
        f"\\caption{{{escape(layout.title)}. {escape(layout.notes[0])}}}",
        f"\\label{{{label}}}",
        f"\\begin{{tabular}}{{{spec}}}",
        "\\toprule",
        *_tex_head(layout),
        "\\midrule",
    ]
    for index, row in enumerate(layout.rows):
        if row.control and not layout.rows[index - 1].control:
            lines.append("\\midrule")
        lines += _tex_row(row)
    lines += ["\\bottomrule", "\\end{tabular}", ""]
    lines += [f"\\par\\footnotesize {escape(note)}" for note in layout.notes[1:]]
    return "\n".join([*lines, "\\end{table}"]) + "\n"


def _tex_head(layout: Sheet) -> list[str]:
    names, notes, kinds, rules, at = ["", ""], ["", ""], ["Method", "Variant"], [], 3
    for column in layout.columns:
        width = 2 if column.has_published else 1
        names.append(f"\\multicolumn{{{width}}}{{c}}{{{escape(column.label)}}}")
        notes.append(f"\\multicolumn{{{width}}}{{c}}{{\\footnotesize {escape(column.note)}}}")
        kinds += [escape(f"ours ({layout.scale} scale)"), *["published"] * (width - 1)]
        rules.append(f"\\cmidrule(lr){{{at}-{at + width - 1}}}")
        at += width
    noted = [_ampersands(notes)] if any(column.note for column in layout.columns) else []
    return [_ampersands(names), *noted, "".join(rules), _ampersands(kinds)]


def _tex_row(row: Row) -> list[str]:
    first, second = [escape(row.labels[0]), escape(row.labels[1])], ["", ""]
    for cell in row.cells:
        first.append(escape(cell.ours))
        second.append(f"\\footnotesize {escape(cell.difference)}" if cell.difference else "")
        if cell.column.has_published:
            first.append(escape(cell.printed))
            second.append("")
    return [_ampersands(first), *([_ampersands(second)] if any(second) else [])]


def _ampersands(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def escape(text: str) -> str:
    """Text in which TeX sees no command."""
    return "".join(_TEX.get(character, character) for character in text)
