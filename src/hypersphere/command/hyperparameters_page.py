"""Write the tables of docs/hyperparameters.md: every setting that a document prints, and what our runs have.

``python -m hypersphere.command.hyperparameters_page docs/hyperparameters.md`` writes them from each document's
hyperparameters.csv, which tests/golden/test_hyperparameters.py compares with the runs of the published scale.
"""

import csv
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from hypersphere import files
from hypersphere.config import coordinates
from hypersphere.config import project as cfg
from hypersphere.config.artifacts import Paper
from hypersphere.wording import renewed

BEGIN, END = "<!-- hyperparameters -->", "<!-- end -->"
ROOT = Path(__file__).parents[3]
FILE = "hyperparameters.csv"
HEAD = ("where", "of", "setting", "printed", "ours, if another")


class Row(NamedTuple):
    """One printed hyperparameter: the document, and the columns of its hyperparameters.csv."""

    paper: str
    artifact: str
    method: str
    variant: str
    dataset: str
    setting: str
    path: str
    printed: str
    ours: str
    reading: str
    source: str


def rows(config: cfg.Config) -> tuple[Row, ...]:
    """All rows of all documents."""
    listed = []
    for paper, folder in config.folders.items():
        if (file := folder / FILE).is_file():
            with file.open(newline="", encoding="utf-8") as handle:
                listed += [Row(paper, **line) for line in csv.DictReader(handle)]
    return tuple(listed)


def tables(config: cfg.Config, settings: Iterable[Row]) -> str:
    """A section for each document in Markdown; settings that differ by dataset alone share a line."""
    parts: list[str] = []
    for paper in config.papers.values():
        lines: dict[tuple[str, ...], list[Row]] = {}
        for row in (row for row in settings if row.paper == paper.paper):
            lines.setdefault((row.source, row.artifact, _of(paper, row), row.path, row.reading), []).append(row)
        if lines:
            parts += [f"## {paper.title}", "", _line(HEAD), _line(["---"] * len(HEAD))]
            for (source, _, of, path, reading), same in lines.items():
                ours = _values(paper, [row for row in same if row.ours], "ours")
                reason = "" if reading == "as printed" else f" ({reading})"
                cells = source, of, f"`{path}`", _values(paper, same, "printed"), f"{ours}{reason}".strip()
                parts.append(_line(cells))
            parts.append("")
    return "\n".join(parts).rstrip()


def _of(paper: Paper, row: Row) -> str:
    """``MoCo v3, + pos.; batch.size = 512``; else the artifacts whose runs are meant."""
    names = [paper.label(name) for names in (row.method, row.variant) for name in names.split()]
    point = coordinates.parse(row.setting, FILE)
    texts = [f"{key} = {coordinates.show(value)}" for key, value in point.items() if key != row.path]
    if row.path in point:
        texts.append("swept")
    printed = dict.fromkeys(paper.artifacts[name].printed or name for name in row.artifact.split())
    return "; ".join(filter(None, (", ".join(names), ", ".join(texts)))) or ", ".join(printed) or "every run"


def _values(paper: Paper, same: list[Row], column: str) -> str:
    """``0.1``, or ``CIFAR-10 0.1, CIFAR-100 0.5``."""
    texts = []
    for row in same:
        datasets = ", ".join(paper.label(name) for name in row.dataset.split())
        texts.append(f"{datasets} {getattr(row, column)}".strip())
    return "; ".join(texts)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    config = cfg.load(ROOT, {"scale": "paper"})
    text = tables(config, rows(config))
    files.write_text(path, renewed(path.read_text(encoding="utf-8"), BEGIN, END, text))
