"""The tables of docs/laptop.md, written anew from the records:

python -m tests.unit.laptop.page
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from . import double_metric, lecture, lmcl, margins, norms
from .records import ROOT, Row

PAGE = ROOT / "docs" / "laptop.md"
TABLES: Mapping[str, Callable[[list[Row]], list[Row]]] = MappingProxyType(
    {
        "encoder": norms.norm_rows,
        "trained on": norms.learnt_rows,
        "run": norms.precision_rows,
        "intervention": norms.intervention_rows,
        "reading": norms.reading_rows,
        "cut by weight decay": norms.decay_rows,
        "probe": norms.probe_rows,
        "method": margins.table2_rows,
        "method on CIFAR-100": margins.cifar100_rows,
        "s": margins.sweep_rows,
        "learning rate": margins.rate_rows,
        "loss on Colored MNIST": double_metric.colour_rows,
        "loss on the sphere": double_metric.sphere_rows,
        "τ": double_metric.temperature_rows,
        "digits": lecture.digit_rows,
        "method of the lecture": lecture.method_rows,
        "loss on CIFAR-10": lmcl.image_rows,
        "loss, 126 negatives": lmcl.summed_image_rows,
        "sentences": lmcl.sentence_rows,
        "+ DP minus without": lmcl.polarisation_rows,
        "summed + DP minus without": lmcl.summed_rows,
        "distances": lmcl.distance_rows,
        "task": lmcl.word_rows,
        "agent": lmcl.agent_rows,
    }
)
"""By the heading of the first column. A function is given the lines that the page has, for columns of words."""


def table(page: str, first_heading: str) -> str:
    """The page's table whose first column has that heading, without its last line break; it may be indented."""
    found = re.findall(rf"^ *\| {re.escape(first_heading)} \|.*(?:\n *\|.*)*", page, re.MULTILINE)
    assert len(found) == 1, f"docs/laptop.md has {len(found)} tables that begin with {first_heading}"
    return str(found[0])


def rows(text: str) -> list[Row]:
    """The cells of a table below its heading."""
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines()[2:]]


def written(page: str) -> str:
    """The page, with every table's lines as the records have them."""
    for heading, made in TABLES.items():
        old = table(page, heading)
        indent = old[: len(old) - len(old.lstrip())]
        head = old.splitlines()[:2]
        body = [f"{indent}| {' | '.join(row)} |" for row in made(rows(old))]
        page = page.replace(old, "\n".join([*head, *body]))
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
