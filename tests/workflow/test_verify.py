"""`hypersphere verify`: what is whole is said to be, and anything else is named."""

import re
import subprocess
from pathlib import Path

import pytest

from .conftest import RUNS, Checkout

# Different runs, because of one run only the first thing wrong is said.
HELD = {
    "runs/simclr-cut3-upright-s0-*/encoder.safetensors": "bytes are not those of its manifest",
    "runs/simclr-cut3-upright-s1-*/snapshots/*": "bytes are not those of its manifest",
    "runs/simsiam-cut9-upright-s0-*/history.csv": "bytes are not those of its manifest",
    "runs/simsiam-cut9-upright-s1-*/manifest.json": "altered since it was written",
    "evaluations/simclr-default-turned-s0-*/????????.csv": "bytes are not those of its manifest",
    "evaluations/simclr-default-turned-s1-*/*.turned.csv": "bytes are not those of its manifest",
    "evaluations/pixels-upright/*.json": "altered since it was written",
}
REBUILT = (
    "statistics/embedding_norms/table5/summary.csv",
    "theory.csv",
    "claims.csv",
    "tables/embedding_norms/table5.md",
    "figures/embedding_norms/norms_over_epochs.png",
    "scorecard.html",
    "paper.pdf",
)


def verify(place: Checkout, *options: str) -> subprocess.CompletedProcess[str]:
    return place.hypersphere("verify", *options)


def flip(path: Path, other: str = "7") -> None:
    """Change one byte, in a text to one that leaves it a text: a digit."""
    content = bytearray(path.read_bytes())
    digits = [i for i, byte in enumerate(content) if chr(byte).isdigit() and chr(byte) != other]
    content[digits[len(digits) // 2]] = ord(other)
    path.write_bytes(content)


def test_finished_results_pass_and_a_run_trained_and_probed_again_has_the_same_bytes(finished: Checkout) -> None:
    name = next((finished.results / "runs").glob("simsiam-cut9-upright-s1-*")).name
    done = verify(finished, "--rerun", name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{name}: finished after 2 epochs" in done.stdout
    counts = dict(re.findall(r"^(.+): (\d+ of \d+) as they should be$", done.stdout, flags=re.MULTILINE))
    assert counts["datasets"] == "2 of 2"
    assert counts["runs"] == f"{RUNS} of {RUNS}"
    # kNN and norms of twenty runs, kNN of the lecture's, and of the raw pixels of two datasets
    assert counts["evaluations"] == "43 of 43"
    assert counts["trained and probed again"] == "1 of 1"
    assert counts["markers"] == "5 of 5"
    assert len(counts) == 6


def test_a_flipped_byte_in_what_has_a_manifest_and_a_missing_run_are_named(copy: Checkout) -> None:
    """The control of the test above."""
    paths = {path: words for pattern, words in HELD.items() for path in sorted(copy.results.glob(pattern))[:1]}
    assert len(paths) == len(HELD)
    (array,) = copy.root.glob("data/processed/upright-*/test/images.npy")
    paths[array] = "bytes are not those of its manifest"
    for path in paths:
        flip(path)
    missing = copy.run_folder("simsiam-default-turned-s0") / "manifest.json"
    missing.unlink()
    done = verify(copy)
    assert done.returncode == 2
    for path, words in (paths | {missing: "the file is missing"}).items():
        assert re.search(rf"^differs: {re.escape(str(path))}: .*{words}", done.stdout, flags=re.MULTILINE), path
    assert "datasets: 1 of 2 as they should be" in done.stdout
    assert f"runs: {RUNS - 5} of {RUNS} as they should be" in done.stdout
    assert len(done.stderr.strip().splitlines()) == 1
    assert (array.parents[1] / "manifest.json").exists()  # verifying changes nothing


def test_a_flipped_byte_in_what_is_rebuilt_is_named(copy: Checkout) -> None:
    for name in REBUILT:
        flip(copy.results / name)
    done = verify(copy)
    assert done.returncode == 2
    (said,) = [line for line in done.stdout.splitlines() if line.startswith("differs: ")]
    assert said == f"differs: {copy.results}: {', '.join(sorted(REBUILT))}: differ when made again"


def test_other_code_is_named_and_gives_other_bytes(copy: Checkout) -> None:
    """The control of the test above: the same run, its loss twice as large."""
    copy.edit("src/hypersphere/objectives/negative_cosine.py", "return ", "return 2 * ")
    name = next((copy.results / "runs").glob("simsiam-cut9-upright-s1-*")).name
    done = verify(copy, "--rerun", name)
    assert done.returncode == 2
    assert f"runs/{name}/manifest.json: code: not those of this checkout" in done.stdout
    assert f"runs: {RUNS - 8} of {RUNS} as they should be" in done.stdout  # SimSiam: two rows, two datasets, two seeds
    assert re.search(
        rf"runs/{name}: encoder\.safetensors, heads\.safetensors, history\.csv, .*: differ when made again", done.stdout
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rerun", "none"], "no run 'none' at scale"),
        (["--set", "scale=paper"], "no such folder; `make reproduce` makes it"),
    ],
)
def test_what_is_not_there_is_a_sentence(finished: Checkout, options: list[str], words: str) -> None:
    done = verify(finished, *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
