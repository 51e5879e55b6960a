"""Figures and tables of exact studies: the drawing itself is in drawings/<paper>/<artifact>.py.

A drawing module has ``note(table)``, plain sentences on what was computed, and either ``SIZE`` (inches, as printed) and
``draw(figure, table)``, or ``rows(table, claims)``, a head and a body of text.
"""

import importlib
import io
import re
import textwrap
from collections import Counter
from types import ModuleType
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from hypersphere.declared.artifacts import Paper, Studied, StudyFigure, StudyTable
from hypersphere.declared.config import Config
from hypersphere.errors import HypersphereError
from hypersphere.files import replacing, write_text
from hypersphere.present import style
from hypersphere.present.results import Results
from hypersphere.present.table import escape

SIZE_NOTICE = "Exact study at its published size, the same at every scale; one CPU thread, no trained encoder."
INCH_OF_SMALL_TEXT = 20
"""Characters of the small print that fit an inch."""


HASHED = re.compile(r"\b([a-zA-Z])[0-9a-f]{10}\b")
"""How matplotlib names the parts of a drawing."""
LONG = re.compile(r"scale\([^)]*\)|-?\d+\.\d{4,}(?![\w.])")
"""Coordinates, and the scales that glyphs are drawn at, which stay."""


def build(config: Config, paper: str, artifact: str) -> None:
    """Write figures/<paper>/<artifact>.{svg,png,csv}, or tables/<paper>/<artifact>.{csv,md,tex}.

    Raises:
        HypersphereError: no such artifact at this scale, or a results file is missing.
    """
    if artifact not in config.studied(paper):
        raise HypersphereError(f"{paper}: no exact study makes '{artifact}' at scale {config.scale_name}")
    declared, results = config.papers[paper].studied[artifact], Results(config)
    table = results.simulated(paper, artifact)
    if isinstance(declared, StudyFigure):
        stem = config.results / "figures" / paper / artifact
        with style.applied():
            figure = draw(config, paper, artifact, table)
            write_text(stem.with_suffix(".svg"), as_svg(figure))
            with replacing(stem.with_suffix(".png")) as temporary:
                figure.savefig(temporary, format="png", dpi=style.PNG_DPI, metadata=style.PNG_METADATA)
    else:
        stem = config.results / "tables" / paper / artifact
        head, body = rows(results, paper, artifact, table)
        notes = caption(results, config.papers[paper], artifact)
        write_text(stem.with_suffix(".md"), _markdown(heading(declared), head, body, notes))
        write_text(stem.with_suffix(".tex"), _tex(heading(declared), head, body, notes, f"tab:{paper}-{artifact}"))
    source = config.results / "simulations" / paper / f"{artifact}.csv"
    write_text(stem.with_suffix(".csv"), source.read_text(encoding="utf-8"))


def as_svg(figure: Figure) -> str:
    """The drawing as text, the same each time.

    The last bits of a layout depend on where its parts lie in memory. Matplotlib prints more of them than can be seen,
    and names clipping areas by a hash of all of them: numbers are rounded to a thousandth of a point, and these areas
    numbered as they come.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", dpi=style.PNG_DPI, metadata=style.SVG_METADATA)
    names: dict[str, str] = {}
    named = HASHED.sub(lambda found: names.setdefault(found[0], f"{found[1]}{len(names)}"), buffer.getvalue())
    return LONG.sub(lambda found: found[0] if found[0].startswith("scale") else f"{float(found[0]) + 0.0:.3f}", named)


def drawing(paper: str, artifact: str) -> ModuleType:
    """drawings/<paper>/<artifact>.py.

    Raises:
        HypersphereError: there is none.
    """
    name = f"hypersphere.present.drawings.{paper}.{artifact}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        raise HypersphereError(f"present/drawings/{paper}/{artifact}.py: the file is missing") from None


def heading(declared: Studied) -> str:
    """``Figure 2a: steps to convergence``, or that it is ours."""
    return f"{declared.printed}: {declared.title}" if declared.printed else f"{declared.title} (ours)"


def draw(config: Config, paper: str, artifact: str, table: pd.DataFrame) -> Figure:
    """The drawing between its heading and its small print: what was computed, and at which size."""
    module, declared = drawing(paper, artifact), config.papers[paper].studied[artifact]
    width, height = module.SIZE
    below = f"{paper}/{artifact}. {module.note(table)} {SIZE_NOTICE}"
    small = textwrap.wrap(below, int(INCH_OF_SMALL_TEXT * (width - 0.2)))
    title = textwrap.wrap(heading(declared), int(13 * (width - 0.2)))
    top, bottom = 0.12 + 0.17 * len(title), 0.1 + 0.128 * len(small)
    whole = height + top + bottom
    figure = Figure(figsize=(width, whole), layout="constrained")
    # A part of its own, so that a legend outside of the axes keeps clear of heading and small print.
    grid = figure.add_gridspec(3, 1, height_ratios=(top, height, bottom), hspace=0)
    module.draw(figure.add_subfigure(grid[1, 0]), table)
    figure.text(0.1 / width, 1 - 0.06 / whole, "\n".join(title), fontsize=9.5, fontweight="bold", ha="left", va="top")
    figure.text(
        0.1 / width, 0.05 / whole, "\n".join(small), fontsize=6.8, color="#444444", va="bottom", linespacing=1.3
    )
    return figure


def rows(results: Results, paper: str, artifact: str, table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Head and body of a study's table, printed numbers beside ours."""
    claims = results.claims
    claims = claims[(claims["paper"] == paper) & (claims["artifact"] == artifact)]
    claims = claims.assign(**{name: pd.to_numeric(claims[name], errors="coerce") for name in ("reported", "measured")})
    head, body = drawing(paper, artifact).rows(table, claims)
    return head, body


def caption(results: Results, paper: Paper, artifact: str) -> list[str]:
    """What was computed, at which size, and what the claims that it bears on came to."""
    note = drawing(paper.paper, artifact).note(results.simulated(paper.paper, artifact))
    return [SIZE_NOTICE, note, *_bound(results, paper, artifact)]


def tables(config: Config, paper: Paper, results: Results) -> list[dict[str, Any]]:
    """Every table of a paper's exact studies at this scale: id, title, head, body and notes."""
    found = []
    for key, declared in config.studied(paper.paper).items():
        if isinstance(declared, StudyTable):
            head, body = rows(results, paper.paper, key, results.simulated(paper.paper, key))
            notes = caption(results, paper, key)
            found.append({"id": key, "title": heading(declared), "head": head, "body": body, "notes": notes})
    return found


def figures(config: Config, paper: Paper, results: Results) -> list[dict[str, Any]]:
    """Every figure of them: id, title, width in inches, what stands for it (alt) and caption.

    The drawing itself says what was computed and at which size; the caption need not repeat it.
    """
    found = []
    for key, declared in config.studied(paper.paper).items():
        if isinstance(declared, StudyFigure):
            notice, note, *bound = caption(results, paper, key)
            inches = drawing(paper.paper, key).SIZE[0]
            shown = {"alt": f"{notice} {note}", "caption": " ".join(bound)}
            found.append({"id": key, "title": heading(declared), "inches": inches, **shown})
    return found


def _bound(results: Results, paper: Paper, artifact: str) -> list[str]:
    """``Claims: 6 reproduced, 1 refuted. It shows Theorem 3.4 (refuted).``."""
    claims = results.claims[results.claims["paper"] == paper.paper]
    own = Counter(claims[claims["artifact"] == artifact]["verdict"])
    texts = [f"Its claims: {', '.join(f'{count} {verdict}' for verdict, count in own.items())}."] if own else []
    shows = claims[claims["id"].isin(paper.studied[artifact].shows)]
    shown = [f"{row['source']} ({row['verdict']})" for row in shows.to_dict("records")]
    return texts + ([f"It shows {', '.join(shown)}."] if shown else [])


def _markdown(title: str, head: list[str], body: list[list[str]], notes: list[str]) -> str:
    def line(cells: list[str]) -> str:
        return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"

    lines = [f"### {title}", "", f"**{notes[0]}**", "", line(head), line([":--"] * len(head)), *map(line, body)]
    return "\n".join([*lines, "", *[f"- {note}" for note in notes[1:]]]) + "\n"


def _tex(title: str, head: list[str], body: list[list[str]], notes: list[str], label: str) -> str:
    def line(cells: list[str]) -> str:
        return f"{' & '.join(map(escape, cells))} \\\\"

    lines = ["% Generated; needs \\usepackage{booktabs}.", "\\begin{table}", "\\centering\\small"]
    lines += [f"\\caption{{{escape(title)}. {escape(notes[0])}}}", f"\\label{{{label}}}"]
    lines += [f"\\begin{{tabular}}{{{'l' * len(head)}}}", "\\toprule", line(head), "\\midrule", *map(line, body)]
    lines += ["\\bottomrule", "\\end{tabular}", "", *[f"\\par\\footnotesize {escape(note)}" for note in notes[1:]]]
    return "\n".join([*lines, "\\end{table}"]) + "\n"
