""".ci/run: which steps it takes with and without the real CIFAR, and that its check of the images can fail.

The steps themselves are stood in for by a `make` that writes down what it is asked, and the published images by made-up
ones in the published layout; with the real ones, .ci/run itself is the test.
"""

import csv
import itertools
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypersphere.declared import registry

from .conftest import REPOSITORY

CHECK = REPOSITORY / ".ci" / "check_smoke.py"
DOCUMENTS = ("claims.csv", "scorecard.html", "paper.pdf", "report.html")
MAKE = """\
#!/bin/sh
# A stand-in for make, for tests: it makes nothing, and writes down what it is asked.
echo "$*" >> asked.log
case "$*" in "report SCALE=smoke"*) echo results/smoke-0/report.html ;; esac
"""


def write_measurements(folder: Path, gain: float, seeds: int = 5, without: str = "") -> None:
    """Of every method, each seed untrained at 20 + seed points, and trained ``gain`` more, a point up or down."""
    folder = folder / "lecture" / "methods_untrained"
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[object, ...]] = [("method", "seed", "epoch", "final", "measure", "value")]
    rows += [("control", seed, 0, False, "linear_top1", 99) for seed in range(seeds)]
    for method in registry.names("methods"):
        for seed, measure in itertools.product(range(seeds), ("linear_top1", "knn_top1")):
            if method != without:
                rows.append((method, seed, 0, False, measure, 20 + seed))
                rows.append((method, seed, 20, True, measure, 20 + seed + gain + (-1) ** seed))
    with (folder / "measurements.csv").open("w", newline="") as handle:
        csv.writer(handle).writerows(rows)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with .ci, the stand-in for make, this interpreter as .venv/bin/python, and documents at two scales."""
    root = tmp_path / "checkout"
    shutil.copytree(REPOSITORY / ".ci", root / ".ci")
    for folder in ("results/quick", "results/smoke-0"):
        (root / folder).mkdir(parents=True)
        for name in DOCUMENTS:
            (root / folder / name).write_text("something\n")
    write_measurements(root / "results" / "quick" / "statistics", gain=10.0)
    for path, text in (("bin/make", MAKE), (".venv/bin/python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')):
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(text)
        (root / path).chmod(0o755)
    return root


def run(checkout: Path, archives: Path) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run .ci/run; what it said, and what it asked of make."""
    path = f"{checkout / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "HYPERSPHERE_TEST_SHARED": str(archives)}
    done = subprocess.run([checkout / ".ci" / "run"], env=environment, capture_output=True, text=True, check=False)
    return done, (checkout / "asked.log").read_text().splitlines()


def test_without_the_archives_smoke_is_skipped_and_said_so(checkout: Path, tmp_path: Path) -> None:
    done, asked = run(checkout, tmp_path / "nowhere")
    assert done.returncode == 0, done.stderr
    assert f"skipped: there is no unpack.py in {tmp_path / 'nowhere'}" in done.stdout
    assert asked == ["test", "test-long", "lint", "reproduce", "report"]


def test_a_missing_document_fails(checkout: Path, tmp_path: Path) -> None:
    """The control of the test above."""
    (checkout / "results" / "quick" / "paper.pdf").write_text("")
    done, _ = run(checkout, tmp_path / "nowhere")
    assert done.returncode != 0
    assert "results/quick/paper.pdf: missing or empty" in done.stderr


def test_with_the_archives_smoke_runs_on_them_and_is_checked(checkout: Path, tmp_path: Path) -> None:
    """Nothing was trained here, so the check at the end has to fail; and the unpacked images must be gone."""
    archives = tmp_path / "archives"
    archives.mkdir()
    (archives / "unpack.py").write_text("import sys\nprint('unpacked into', sys.argv[1])\n")
    done, asked = run(checkout, archives)
    folder = done.stdout.split("unpacked into ")[1].split()[0]
    assert [line.split()[:2] for line in asked[-2:]] == [["reproduce", "SCALE=smoke"], ["report", "SCALE=smoke"]]
    assert f"data_root={folder}" in asked[-2]
    assert done.returncode != 0
    assert "check_smoke.py" in done.stderr
    assert not Path(folder).exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"gain": 1.0}, "no better than untrained: byol, cmc, "),  # 1.2 ± 1.36: the interval reaches below zero
        ({"gain": 10.0, "without": "dino"}, "the lecture's table lacks dino"),
        ({"gain": 10.0, "seeds": 4}, "the lecture's table lacks a seed of a method"),
    ],
)
def test_a_method_that_learns_nothing_fails(
    checkout: Path, tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    """By hand: gains 2, 0, 2, 0, 2 have the mean 1.2 and, with t(4) = 2.776, the half width 1.36."""
    write_measurements(checkout / "results" / "quick" / "statistics", **changes)
    done, _ = run(checkout, tmp_path / "nowhere")
    assert done.returncode != 0
    assert sentence in done.stderr


def test_methods_that_learn_are_listed(checkout: Path, tmp_path: Path) -> None:
    """Gains 11, 9, 11, 9, 11 by hand."""
    done, _ = run(checkout, tmp_path / "nowhere")
    assert "dino: linear probe +10.2 ± 1.4, kNN +10.2 ± 1.4 (n = 5)" in done.stdout


class Smoke:
    """Made-up published images, a dataset prepared of them, and a claim: what the check reads."""

    def __init__(self, root: Path) -> None:
        self.root, self.official, self.results = root, root / "official", root / "results" / "smoke-0"
        self.prepared = root / "data" / "processed" / "cifar10_lt_tenth-0"
        for folder in (self.official / "cifar-10-batches-py", self.results, self.prepared / "train"):
            folder.mkdir(parents=True)
        planes = np.random.default_rng(0).integers(0, 256, (5, 10, 3, 32, 32), dtype=np.uint8)
        for number, batch in enumerate(planes, 1):
            file = self.official / "cifar-10-batches-py" / f"data_batch_{number}"
            file.write_bytes(pickle.dumps({b"data": batch.reshape(10, -1)}))
        self.index = np.array([3, 17, 49])
        self.images = np.stack([planes[i // 10, i % 10].transpose(1, 2, 0) for i in self.index])
        # A tenth of the imbalanced set as docs and papers print it: 1,470 training images, 2,000 test images.
        self.counts = {"train": [500, 333, 222, 148, 98, 65, 43, 29, 19, 13], "test": [200] * 10}
        self.verdict = "quick only"

    def check(self) -> subprocess.CompletedProcess[str]:
        """Write everything, and check it."""
        np.save(self.prepared / "train" / "images.npy", self.images)
        np.save(self.prepared / "train" / "index.npy", self.index)
        (self.prepared / "manifest.json").write_text(json.dumps({"counts": self.counts}))
        with (self.results / "claims.csv").open("w", newline="") as handle:
            rows = [("a", "cifar10_lt_tenth", self.verdict), ("b", "", "not run")]
            rows.append(("c", "cifar10_lt_tenth", "cannot be judged"))
            csv.writer(handle).writerows([("id", "measured_on", "verdict"), *rows])
        command = [sys.executable, str(CHECK), str(self.results), str(self.official)]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)


def test_published_images_and_claims_that_claim_nothing_pass(tmp_path: Path) -> None:
    done = Smoke(tmp_path).check()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 claims measured on cifar10_lt_tenth, all `quick only`\n3 training images")


def brighten(smoke: Smoke) -> None:
    """One colour of one pixel of one image, by one."""
    smoke.images[1, 2, 3, 0] ^= 1


def swap(smoke: Smoke) -> None:
    """The right images under each other's numbers."""
    smoke.index = smoke.index[::-1]


def lose(smoke: Smoke) -> None:
    """A test image fewer."""
    smoke.counts["test"][9] -= 1


def pose(smoke: Smoke) -> None:
    """A small result that poses as a reproduction."""
    smoke.verdict = "reproduced"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (brighten, "train/images.npy: not the published images"),
        (swap, "train/images.npy: not the published images"),
        (lose, "manifest.json: counts are"),
        (pose, "claims.csv: claims measured on cifar10_lt_tenth read ['reproduced'], not `quick only`"),
    ],
    ids=["one pixel", "numbers swapped", "one image fewer", "a verdict"],
)
def test_anything_else_fails(tmp_path: Path, change: Callable[[Smoke], None], named: str) -> None:
    """The control of the test above."""
    smoke = Smoke(tmp_path)
    change(smoke)
    done = smoke.check()
    assert done.returncode != 0
    assert named in done.stderr
