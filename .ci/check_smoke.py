"""Whether a table of the smoke scale is of the real CIFAR-10, complete, and says that it is no reproduction.

python .ci/check_smoke.py RESULTS OFFICIAL, in the checkout: RESULTS is results/smoke-<digest>, OFFICIAL holds the
published cifar-10-batches-py. Images are compared with the published ones pixel by pixel, not by a checksum of ours.
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np

DATASET, TABLE, LABEL = "cifar10_lt_tenth", "tables/embedding_norms/table5", "Not a reproduction"
COUNTS = {"train": [int(500 * 1.5**-i) for i in range(10)], "test": [200] * 10}
"""A tenth of the imbalanced set's formula: class i, from 0, keeps int(5000 * 1.5^-i) images."""


def measured(table: Path) -> str:
    """Check that each cell of the dataset has a number and that the table is labelled; say how many there are."""
    with table.with_suffix(".csv").open(encoding="utf-8") as handle:
        rows = [row for row in csv.DictReader(handle) if row["measured_on"] == DATASET]
    empty = [row["coordinates"] for row in rows if not row["mean"]]
    if empty or not rows:
        sys.exit(f"{table.with_suffix('.csv')}: no number measured on {DATASET} for {empty or 'any cell'}")
    if LABEL not in table.with_suffix(".md").read_text(encoding="utf-8"):
        sys.exit(f"{table.with_suffix('.md')}: does not say `{LABEL}`")
    return f"{len(rows)} cells measured on {DATASET}, and labelled: {LABEL}"


def published(images: np.ndarray, index: np.ndarray, official: Path) -> bool:
    """Whether all images [n, 32, 32, 3] stand in the published batches as raw bytes, as far apart as their numbers say.

    The batches are pickles, and are not unpickled: an image's bytes, colour by colour, lie in them one after another.
    """
    order = np.argsort(index)
    wanted = [(int(index[i]), images[i].transpose(2, 0, 1).tobytes()) for i in order]
    for number in range(1, 6):
        content = (official / "cifar-10-batches-py" / f"data_batch_{number}").read_bytes()
        before: tuple[int, int] | None = None  # number of the image found last, and where it begins
        while wanted and (at := content.find(wanted[0][1], before[1] if before else 0)) >= 0:
            image, pixels = wanted.pop(0)
            if before and at - before[1] != (image - before[0]) * len(pixels):
                return False
            before = image, at
    return not wanted


def prepared(folder: Path, official: Path) -> str:
    """Check the counts of the prepared dataset, and its images against the published ones; say how many there are."""
    counts = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["counts"]
    if counts != COUNTS:
        sys.exit(f"{folder / 'manifest.json'}: counts are {counts}, not {COUNTS}")
    images, index = (np.load(folder / "train" / f"{name}.npy") for name in ("images", "index"))
    if not published(images, index, official):
        sys.exit(f"{folder / 'train' / 'images.npy'}: not the published images")
    return f"{len(images)} training images, pixel by pixel those of the published CIFAR-10"


if __name__ == "__main__":
    results, official = map(Path, sys.argv[1:])
    (folder,) = Path("data/processed").glob(f"{DATASET}-*")
    print(f"{measured(results / TABLE)}\n{prepared(folder, official)}")
