"""Whether results of the smoke scale are of the real CIFAR-10, and claim nothing.

python .ci/check_smoke.py RESULTS OFFICIAL, in the checkout: RESULTS is results/smoke-<digest>, OFFICIAL holds the
published cifar-10-batches-py. Images are compared with the published ones pixel by pixel, not by a checksum of ours.
"""

import csv
import json
import pickle
import sys
from pathlib import Path

import numpy as np

DATASET = "cifar10_lt_tenth"
COUNTS = {"train": [int(500 * 1.5**-i) for i in range(10)], "test": [200] * 10}
"""A tenth of the imbalanced set's formula: class i, from 0, keeps int(5000 * 1.5^-i) images."""


def judged(results: Path) -> str:
    """Check that every claim of the dataset reads `quick only`; say how many there are."""
    with (results / "claims.csv").open(encoding="utf-8") as handle:
        rows = [row for row in csv.DictReader(handle) if row["measured_on"] == DATASET]
    verdicts = {row["verdict"] for row in rows}
    if verdicts != {"quick only"}:
        sys.exit(f"{results / 'claims.csv'}: claims measured on {DATASET} read {sorted(verdicts)}, not `quick only`")
    return f"{len(rows)} claims measured on {DATASET}, all `quick only`"


def published(official: Path) -> np.ndarray:
    """All 50,000 training images, [50000, 32, 32, 3] uint8, in the published order."""
    files = [official / "cifar-10-batches-py" / f"data_batch_{number}" for number in range(1, 6)]
    planes = [pickle.loads(file.read_bytes(), encoding="bytes")[b"data"] for file in files]
    return np.concatenate(planes).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)


def prepared(folder: Path, official: Path) -> str:
    """Check the counts of the prepared dataset, and its images against the published ones; say how many there are."""
    counts = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["counts"]
    if counts != COUNTS:
        sys.exit(f"{folder / 'manifest.json'}: counts are {counts}, not {COUNTS}")
    images, index = np.load(folder / "train_images.npy"), np.load(folder / "train_index.npy")
    if not np.array_equal(images, published(official)[index]):
        sys.exit(f"{folder / 'train_images.npy'}: not the published images")
    return f"{len(images)} training images, pixel by pixel those of the published CIFAR-10"


if __name__ == "__main__":
    results, official = map(Path, sys.argv[1:])
    (folder,) = Path("data/processed").glob(f"{DATASET}-*")
    print(f"{judged(results)}\n{prepared(folder, official)}")
