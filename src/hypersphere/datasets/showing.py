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
    lines = [HEAD]
    for one in table.values():
        lines += [f"## {one.title}", "", f"`{one.name}`: {one.content}. Version: {one.version}. <{one.homepage}>", ""]
        lines += [f"Licence: {one.licence}.", "", f"Cite: {one.citation}.", ""]
        if one.files:
            lines += ["| file | bytes | md5 | address |", "| --- | --: | --- | --- |"]
        else:
            lines.append("Not downloaded: put the folder into `data/raw` or `data_root`.")
        for file in one.files.values():
            places = "; archive ".join(f"<{address}>" for address in (file.address, file.archive_address) if address)
            size = "" if file.bytes is None else f"{file.bytes:,}"
            lines.append(f"| `{file.name}` | {size} | `{file.md5}` | {places} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    files.write_text(Path(sys.argv[1]), page(published.table()))
