"""Write docs/datasets.md from data/datasets.csv: contents, licences, citations, files and checksums of all datasets.

``python -m hypersphere.datasets.showing.catalogue docs/datasets.md`` writes it. A dataset with a picture in
``docs/images/datasets`` is shown; ``python -m hypersphere.datasets.showing.grid`` draws one.
"""

import sys
from pathlib import Path

from hypersphere import files
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.published import Published

IMAGES = "images/datasets"
HEAD = """# Datasets

Generated from `data/datasets.csv` by `python -m hypersphere.datasets.showing.catalogue docs/datasets.md`. Code reads
addresses and checksums from that table and from nowhere else. `data/README.md` says how data are stored and fetched,
and `config/datasets.yaml` which part of a dataset is used, at which size. None of these files is in this repository.

A file is fetched from its address and, if that fails, from its archive, a second place with the same bytes. A
dataset without a picture could not be had where this page was made; nothing is drawn in its place.
"""


def page(table: dict[str, Published], pictures: set[str]) -> str:
    """The page in Markdown.

    Args:
        table: the published datasets by name.
        pictures: names of those that have a picture; others are not shown.
    """
    sections = [_section(dataset, dataset.name in pictures) for dataset in table.values()]
    return "\n".join([HEAD, _overview(table), *sections])


def _overview(table: dict[str, Published]) -> str:
    rows = ["| name | dataset | size | licence |", "| --- | --- | --: | --- |"]
    for one in table.values():
        sizes = [file.bytes for file in one.files.values()]
        known = [size for size in sizes if size is not None]
        size = _size(sum(known)) if sizes and len(known) == len(sizes) else ""
        rows.append(f"| `{one.name}` | [{one.title}](#{_anchor(one.title)}) | {size} | {one.licence} |")
    return "\n".join([*rows, ""])


def _section(one: Published, pictured: bool) -> str:
    lines = [f"## {one.title}", "", f"{_sentence(one.content)}. Version: {one.version}. <{one.homepage}>", ""]
    if pictured:
        lines += [f"![Images of {one.title}]({IMAGES}/{one.name}.png)", ""]
    lines += [f"Licence: {one.licence}.", "", f"Cite: {one.citation}.", ""]
    if not one.files:
        return "\n".join([*lines, "Not downloaded: put the folder into `data/raw` or `data_root`.", ""])
    lines += ["| file | bytes | md5 | address |", "| --- | --: | --- | --- |"]
    for file in one.files.values():
        places = [f"<{address}>" for address in (file.address, file.archive_address) if address]
        size = "" if file.bytes is None else f"{file.bytes:,}"
        lines.append(f"| `{file.name}` | {size} | `{file.md5}` | {'; archive '.join(places)} |")
    return "\n".join([*lines, ""])


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _anchor(title: str) -> str:
    """The name that GitHub gives a heading."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c == "-")


def _size(count: int) -> str:
    """For example ``2.6 GB``."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if count >= 10**power:
            return f"{count / 10**power:.3g} {unit}"
    return f"{count} bytes"


def pictures(folder: Path) -> set[str]:
    """Names of the datasets that have a picture beside the page in ``folder``."""
    return {path.stem for path in (folder / IMAGES).glob("*.png")}


if __name__ == "__main__":
    path = Path(sys.argv[1])
    files.write_text(path, page(published.table(), pictures(path.parent)))
