"""The page docs/datasets.md, from data/datasets.csv: ``python -m hypersphere.datasets.showing docs/datasets.md``."""

import sys
from pathlib import Path

from hypersphere import files
from hypersphere.provenance import data_files

HEAD = """# Datasets

Generated from `data/datasets.csv` by `python -m hypersphere.datasets.showing docs/datasets.md`. Code reads
addresses and checksums from that table and from nowhere else. `data/README.md` says how data are stored and fetched,
and `config/datasets.yaml` which part of a dataset is used, at which size. None of these files is in this repository.

A file is fetched from its address and, if that fails, from its archive, a second place with the same bytes.
"""

NOWHERE = "Not downloaded: put the folder into `data/raw` or `data_root`."


def page() -> str:
    """The page in Markdown."""
    lines = [HEAD.rstrip()]
    for row in data_files.rows(data_files.TABLE):
        if row["title"]:  # the first row of a dataset
            about = f"`{row['dataset']}`: {row['content']}. Version: {row['version']}. <{row['homepage']}>"
            lines.append(f"\n## {row['title']}\n\n{about}\n\nLicence: {row['licence']}.\n\nCite: {row['citation']}.\n")
            lines.append("| file | bytes | md5 | address |\n| --- | --: | --- | --- |" if row["file"] else NOWHERE)
        if row["file"]:
            addresses = filter(None, (row["address"], row["archive_address"]))
            places = "; archive ".join(f"<{address}>" for address in addresses)
            size = f"{int(row['bytes']):,}" if row["bytes"] else ""
            lines.append(f"| `{row['file']}` | {size} | `{row['checksum']}` | {places} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    files.write_text(Path(sys.argv[1]), page())
