"""Write the table of docs/methods.md that says which objective trains with which method.

``python -m hypersphere.config.compatibility PAGE`` writes it. Nothing is listed by hand: a method's file declares
what it gives, and an objective's signature what it needs.
"""

import sys
from pathlib import Path

from hypersphere import files, page_parts
from hypersphere.config import registry

BEGIN, END = "<!-- compatibility -->", "<!-- end -->"


def table() -> str:
    """The table in Markdown, objectives by methods: ``yes``, ``added`` (as a regulariser only) or nothing."""
    methods = registry.names("methods")
    rows = [["objective", *(f"`{method}`" for method in methods)], ["---", *[":-:"] * len(methods)]]
    rows += [[f"`{name}`", *(_cell(method, name) for method in methods)] for name in registry.names("objectives")]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(method: str, objective: str) -> str:
    if registry.misfit(method, objective) is None:
        return "yes"
    return "added" if registry.misfit(method, objective, main=False) is None else ""


def renewed(page: str) -> str:
    """The page, with a new table between its two marks."""
    return page_parts.renewed(page, BEGIN, END, table())


if __name__ == "__main__":
    path = Path(sys.argv[1])
    files.write_text(path, renewed(path.read_text(encoding="utf-8")))
