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

## Images that are there more than once

`hypersphere prepare` counts images that are equal, pixel by pixel, as they are prepared: after decoding and resizing,
before any view is drawn. It says how many of a split are also in train, are equal to one under another label (in the
split or in train), or to an earlier one of the split. The dataset's manifest keeps the counts (`repeated`), and so do
records. Where an image is also in train or under two labels, tables, claims and the report say so beside the number.
Near duplicates (another crop, other compression) are not looked for. Sentences are compared as numbers of words, and
only those that are also in train are said.

| dataset | split | images | also in train | under another label | equal to an earlier one |
| --- | --- | --: | --: | --: | --: |
| CIFAR-10 | train | 50,000 | | 0 | 0 |
| CIFAR-10 | test | 10,000 | 0 | 0 | 0 |
| CIFAR-100 | train | 50,000 | | 18 | 14 |
| CIFAR-100 | test | 10,000 | 10 | 10 | 2 |
| MNIST | train | 60,000 | | 0 | 0 |
| MNIST | test | 10,000 | 0 | 0 | 0 |

These ten images move an accuracy on CIFAR-100 by at most 0.1 points. Of smaller images more are equal:
`hypersphere prepare` says how many of each prepared set.

A dataset that an earlier version prepared was not counted, and is used as it is. Remove its folder to have it counted:
its arrays get the same bytes, so that no finished run is trained again. Probes measure again.
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
