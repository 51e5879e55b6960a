"""Write the table of docs/cost.md: what the published scale would cost.

``python -m hypersphere.command.cost_page docs/cost.md`` writes it, in a minute. Nothing in it is measured.
"""

import sys
from pathlib import Path

from hypersphere import files, page_parts
from hypersphere.command import cost, rates
from hypersphere.command.cost import Cost
from hypersphere.config import plan as planning

BEGIN, END = "<!-- cost -->", "<!-- end -->"
ROOT = Path(__file__).parents[3]


def table(costs: Cost) -> str:
    """The table and its notes in Markdown: a row for each document, bold, each artifact, and all together."""
    header, *rows = cost.table(costs, verbose=True)
    lines = [["document, artifact", *header[1:]], ["---", *["--:"] * (len(header) - 1)]]
    lines += [[_name(first), *others] for first, *others in rows]
    notes = [f"- **{note[: cost.TITLE].strip()}**: {note[cost.TITLE :]}" for note in cost.notes(costs, verbose=True)]
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), "", *notes])


def _name(first: str) -> str:
    """Artifacts are indented in the command's table."""
    return f"`{first.strip()}`" if first.startswith(" ") else f"**{first}**"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    costs = cost.of(planning.make(ROOT, {"scale": "paper", "device": "cuda"}), rates.GPU)
    files.write_text(path, page_parts.renewed(path.read_text(encoding="utf-8"), BEGIN, END, table(costs)))
