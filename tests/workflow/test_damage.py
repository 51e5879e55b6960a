"""What is damaged or cannot be written is one sentence naming the file, and the next run mends it: whole pipelines.

The same, file by file and harm by harm, is in tests/unit (test_manifest.py, test_recovery.py, datasets/test_store.py).
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import TINY, Checkout
from .test_bytes import RESULTS, RUNS, differing

SETTINGS = " ".join(f"--set '{setting}'" for setting in TINY)


def flip(path: Path) -> None:
    """One byte, in a place where a text stays a text of the same form: a digit."""
    content = bytearray(path.read_bytes())
    digits = [i for i, byte in enumerate(content) if chr(byte) in "12345678"]
    content[digits[len(digits) // 2]] += 1
    path.write_bytes(content)


def fails(place: Checkout, target: str, *said: str) -> None:
    """Ask for a rule or file, which must fail with these words on the console, and no traceback."""
    done = place.snakemake("--cores", "2", target)
    text = done.stdout + done.stderr
    assert done.returncode != 0, text
    for words in said:
        assert words in text, text
    assert "Traceback" not in text


def same(place: Checkout, finished: Checkout) -> bool:
    """Whether everything there is to compare has the bytes it had before the damage."""
    return differing(place.files(*RUNS, *RESULTS), finished.files(*RUNS, *RESULTS)) == set()


def test_an_altered_array_fails_the_runs_that_need_it_and_is_prepared_again(copy: Checkout, finished: Checkout) -> None:
    (array,) = copy.root.glob("data/processed/digits_lt-*/train/images.npy")
    before = array.read_bytes()
    array.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    shutil.rmtree(next((copy.results / "runs").glob("simsiam-cut9-digits_lt-s1-*")))
    said = f"{array}: the file's bytes are not those of its manifest; run again, or: hypersphere prepare digits_lt"
    fails(copy, "runs", said)
    copy.make("--cores", "2", "runs")
    assert array.read_bytes() == before
    assert same(copy, finished)


@pytest.mark.long
def test_altered_weights_and_evaluations_are_made_again(copy: Checkout, finished: Checkout) -> None:
    """The evaluations that read the weights are lost too, or nobody would look at the weights."""
    weights = next((copy.results / "runs").glob("simclr-cut3-digits_lt-s1-*/encoder.safetensors"))
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    next((copy.results / "evaluations").glob("simclr-digits_lt-*.csv")).unlink()
    altered = next((copy.results / "evaluations").glob("simsiam-turned_digits_lt-*.csv"))
    flip(altered)
    assert not same(copy, finished)  # the control
    fails(copy, "statistics", f"{weights}: the file's bytes are not those of its manifest")
    fails(copy, "statistics", f"{altered}: the file's bytes are not those of its manifest")
    copy.make("--cores", "2", "statistics")
    assert same(copy, finished)


@pytest.mark.long
def test_an_altered_history_and_altered_tidy_tables_are_made_again(copy: Checkout, finished: Checkout) -> None:
    history = next((copy.results / "runs").glob("simclr-cut3-digits_lt-s1-*/history.csv"))
    flip(history)
    (copy.results / "statistics" / "effects.csv").unlink()  # so that somebody reads the history
    fails(copy, "statistics", f"{history}: the file's bytes are not those of its manifest; run again")
    copy.make("--cores", "2", "statistics")
    assert same(copy, finished)
    table = (copy.results / "tables" / "embedding_norms" / "table5.csv").relative_to(copy.root).as_posix()
    flip(copy.results / "claims.csv")  # newer than what it was made from: Snakemake takes it for a result
    fails(copy, table, f"{copy.results / 'claims.csv'}: the file's bytes are not those of its manifest")
    copy.make("--cores", "2", table)
    assert same(copy, finished)
    claims = (copy.results / "claims.csv").relative_to(copy.root).as_posix()
    flip(copy.results / "theory.csv")
    (copy.root / claims).unlink()  # so that somebody reads it
    fails(copy, claims, f"{copy.results / 'theory.csv'}: the file's bytes are not those of its manifest")
    copy.make("--cores", "2", claims)
    assert same(copy, finished)


@pytest.mark.long
def test_what_is_missing_or_truncated_is_made_again_at_once(copy: Checkout, finished: Checkout) -> None:
    """Presence, and the size of arrays, are looked at before jobs are planned: no run has to fail first."""
    next((copy.results / "runs").glob("simclr-cut3-digits_lt-s1-*/encoder.safetensors")).unlink()
    next((copy.results / "runs").glob("simsiam-cut9-digits_lt-s0-*/snapshots/*")).unlink()
    (array,) = copy.root.glob("data/processed/turned_digits_lt-*/test/labels-class.npy")
    array.write_bytes(array.read_bytes()[:-8])
    (marker,) = (copy.results / "batches").glob("simsiam-turned_digits_lt-*.json")
    marker.write_text(marker.read_text()[:-20])
    (copy.results / "evaluations" / "pixels-digits_lt.json").unlink()
    assert not same(copy, finished)
    copy.make("--cores", "2")
    assert same(copy, finished)


# What cannot be written. A small or read-only file system needs a mount, which an unprivileged user namespace allows.


def mounted(place: Checkout, folder: str, script: str) -> str:
    """Run ``script`` in the checkout, in a namespace of its own where ``folder`` may be mounted over."""
    probe = subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, text=True, check=False
    )
    if probe.returncode:
        pytest.skip(f"mounting a file system is not permitted here: {probe.stderr.strip()}")
    (place.root / folder).mkdir(parents=True, exist_ok=True)
    lines = f'set -e; hypersphere() {{ {sys.executable} src/hypersphere "$@" {SETTINGS}; }}; {script}'
    done = place.run("unshare", "-rm", "bash", "-c", lines)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def place(fresh: Checkout, tmp_path: Path) -> tuple[Checkout, str]:
    """A checkout in which only the digits are prepared, and the name of a run on them."""
    made = Checkout(tmp_path / "checkout", fresh.environment)
    shutil.copytree(fresh.root, made.root, ignore=shutil.ignore_patterns(".snakemake"))
    settings = [part for setting in TINY for part in ("--set", setting)]
    done = made.hypersphere("prepare", "digits_lt", *settings)
    assert done.returncode == 0, done.stderr
    planned = made.hypersphere("plan", *settings).stdout.split()
    return made, next(word for word in planned if word.startswith("simclr-default-digits_lt-s0-"))


@pytest.mark.parametrize(
    ("size", "file"), [("100k", "snapshots/epoch-0000.safetensors"), ("700k", "resume.safetensors")]
)
def test_a_full_disk_is_a_sentence_and_the_next_run_goes_on(place: tuple[Checkout, str], size: str, file: str) -> None:
    """The untrained encoder takes 0.3 MB and the resume state 0.8: the disk is full at the first, or at the second."""
    checkout, run = place
    said = mounted(
        checkout,
        "results",
        f"mount -t tmpfs -o size={size} tmpfs results\n"
        f"hypersphere pretrain {run} --save-every 0 && exit 9 || echo status $?\n"
        "find results -name '*.part' -o -name encoder.safetensors -o -name manifest.json | sed 's/^/leftover /'\n"
        "mount -o remount,size=50m results\n"
        f"hypersphere pretrain {run}\n"
        "cat results/*/runs/*/manifest.json",
    )
    sentences = [line for line in said.splitlines() if line.startswith("hypersphere: ")]
    assert len(sentences) == 1, said
    assert f"{file}: cannot be written (" in sentences[0]
    assert "No space left on device" in sentences[0]
    assert "status 2" in said.splitlines()
    assert "leftover " not in said
    assert f"{run}: finished after 2 epochs" in said
    assert json.loads(said[said.index("{\n") :].partition("\n}")[0] + "}")["status"] == "finished"


COMMANDS = {
    "results": ("pretrain RUN", "evaluate --pixels digits_lt", "claims", "table embedding_norms table5"),
    "data": ("prepare turned_digits_lt",),
}


@pytest.mark.parametrize("folder", COMMANDS)
def test_a_read_only_folder_is_a_sentence_from_every_command(finished: Checkout, copy: Checkout, folder: str) -> None:
    """The folder is mounted over itself, read-only. A run and a dataset lack their manifest: there is work to do."""
    (results,) = (copy.root / "results").glob("quick-*")
    run = next((results / "runs").glob("simclr-default-digits_lt-s0-*"))
    (run / "manifest.json").unlink()
    next(copy.root.glob("data/processed/turned_digits_lt-*/manifest.json")).unlink()
    calls = [command.replace("RUN", run.name) for command in COMMANDS[folder]]
    lines = "\n".join(f"hypersphere {call} && exit 9 || echo status $?" for call in calls)
    snakemake = f"snakemake --cores 2 --config {' '.join(repr(setting) for setting in TINY)}"
    said = mounted(
        copy,
        folder,
        f"mount --bind {folder} {folder}; mount -o remount,bind,ro {folder}\n{lines}\n"
        f"{snakemake} && exit 9 || echo snakemake failed",
    )
    sentences = [line for line in said.splitlines() if line.startswith("hypersphere: ")]
    assert len(sentences) == len(calls) + 1, said
    assert all("Read-only file system" in line or "read-only" in line for line in sentences), said
    assert said.splitlines().count("status 2") == len(calls)
    assert "snakemake failed" in said
    assert "Traceback" not in said
    assert not list(copy.root.glob(f"{folder}/**/.*.part"))
    copy.make("--cores", "2", "runs")  # the control: written to, all is well
    assert same(copy, finished)
