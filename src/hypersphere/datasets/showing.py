"""The page docs/datasets.md, from data/datasets.csv: ``python -m hypersphere.datasets.showing docs/datasets.md``."""

import sys
from pathlib import Path

from hypersphere import files
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.published import Published

HEAD = """# Datasets

Generated from `data/datasets.csv` by `python -m hypersphere.datasets.showing docs/datasets.md`. Code reads
addresses and checksums from that table and from nowhere else. `data/README.md` says how data are stored and fetched,
and `config/datasets.yaml` which part of a dataset is used, at which size. None of these files is in this repository.

A file is fetched from its address and, if that fails, from its archive, a second place with the same bytes.
"""


def page(table: dict[str, Published]) -> str:
    """The page in Markdown."""
    rows, sections = ["| name | dataset | size | licence |", "| --- | --- | --: | --- |"], []
    for one in table.values():
        sizes = [file.bytes for file in one.files.values()]
        known = [size for size in sizes if size is not None]
        size = _size(sum(known)) if sizes and len(known) == len(sizes) else ""
        words = one.title.lower().replace(" ", "-")
        anchor = "".join(c for c in words if c.isalnum() or c == "-")  # as GitHub names it
        rows.append(f"| `{one.name}` | [{one.title}](#{anchor}) | {size} | {one.licence} |")
        content = one.content[:1].upper() + one.content[1:]
        sections += [f"## {one.title}", "", f"{content}. Version: {one.version}. <{one.homepage}>", ""]
        sections += [f"Licence: {one.licence}.", "", f"Cite: {one.citation}.", ""]
        if not one.files:
            sections += ["Not downloaded: put the folder into `data/raw` or `data_root`.", ""]
            continue
        sections += ["| file | bytes | md5 | address |", "| --- | --: | --- | --- |"]
        for file in one.files.values():
            places = [f"<{address}>" for address in (file.address, file.archive_address) if address]
            size = "" if file.bytes is None else f"{file.bytes:,}"
            sections.append(f"| `{file.name}` | {size} | `{file.md5}` | {'; archive '.join(places)} |")
        sections.append("")
    return "\n".join([HEAD, *rows, "", *sections])


def _size(count: int) -> str:
    """For example ``2.6 GB``."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if count >= 10**power:
            return f"{count / 10**power:.3g} {unit}"
    return f"{count} bytes"


if __name__ == "__main__":
    files.write_text(Path(sys.argv[1]), page(published.table()))
