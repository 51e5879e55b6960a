"""What is damaged or cannot be written is one sentence naming the file, and the next run mends it: whole pipelines.

The same, file by file and harm by harm, is in tests/unit (test_manifest.py, test_recovery.py, datasets/test_store.py).
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hypersphere.config import plan as planning

from .conftest import Checkout
from .test_bytes import RESULTS, RUNS, differing


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
    (array,) = copy.root.glob("data/processed/upright-*/train/images.npy")
    before = array.read_bytes()
    array.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
    shutil.rmtree(copy.run_folder("simsiam-cut9-upright-s1"))
    said = f"{array}: the file's bytes are not those of its manifest; run again, or: hypersphere prepare upright"
    fails(copy, "runs", said)
    copy.make("--cores", "2", "runs")
    assert array.read_bytes() == before
    assert same(copy, finished)


@pytest.mark.long
def test_what_is_missing_or_truncated_is_made_again_at_once(copy: Checkout, finished: Checkout) -> None:
    """Presence, and the size of arrays, are looked at before jobs are planned: no run has to fail first."""
    (copy.run_folder("simclr-cut3-upright-s1") / "encoder.safetensors").unlink()
    next(copy.run_folder("simsiam-cut9-upright-s0").glob("snapshots/*")).unlink()
    (array,) = copy.root.glob("data/processed/turned-*/test/labels-class.npy")
    array.write_bytes(array.read_bytes()[:-8])
    marker = copy.marker("simsiam-turned")
    marker.write_text(marker.read_text()[:-20])
    copy.evaluations("simclr-default-turned-s0")[0].unlink()
    next(copy.results.glob("evaluations/pixels-upright/*.json")).unlink()
    assert not same(copy, finished)
    copy.make("--cores", "2")
    assert same(copy, finished)


# What cannot be written. A small or read-only file system needs a mount, which an unprivileged user namespace allows.


def mounted(place: Checkout, folder: str, script: str, settings: str = "") -> str:
    """Run ``script`` in the checkout, in a namespace of its own where ``folder`` may be mounted over."""
    probe = subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, text=True, check=False
    )
    if probe.returncode:
        pytest.skip(f"mounting a file system is not permitted here: {probe.stderr.strip()}")
    (place.root / folder).mkdir(parents=True, exist_ok=True)
    lines = f'set -e; hypersphere() {{ {sys.executable} src/hypersphere "$@" {settings}; }}; {script}'
    done = place.run("unshare", "-rm", "bash", "-c", lines)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


WIDE: dict[str, Any] = {"overrides": [{"set": {"encoder": {"name": "resnet8", "width": 16}}}]}


@pytest.fixture
def place(fresh: Checkout, tmp_path: Path) -> tuple[Checkout, str]:
    """A checkout in which one dataset is prepared, and the name of a run on it."""
    made = Checkout(tmp_path / "checkout", fresh.environment)
    shutil.copytree(fresh.root, made.root, ignore=shutil.ignore_patterns(".snakemake"))
    done = made.hypersphere("prepare", "upright")
    assert done.returncode == 0, done.stderr
    names = planning.make(made.root, WIDE).runs
    return made, next(name for name in names if name.startswith("simclr-default-upright-s0-"))


@pytest.mark.long
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
        f"--set 'overrides={json.dumps(WIDE['overrides'])}'",
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
    "results": ("pretrain RUN", "evaluate --pixels upright", "claims", "artifact embedding_norms table5"),
    "data": ("prepare turned",),
}


@pytest.mark.long
@pytest.mark.parametrize("folder", COMMANDS)
def test_a_read_only_folder_is_a_sentence_from_every_command(finished: Checkout, copy: Checkout, folder: str) -> None:
    """The folder is mounted over itself, read-only. A run and a dataset lack their manifest: there is work to do."""
    run = copy.run_folder("simclr-default-upright-s0")
    (run / "manifest.json").unlink()
    next(copy.root.glob("data/processed/turned-*/manifest.json")).unlink()
    calls = [command.replace("RUN", run.name) for command in COMMANDS[folder]]
    lines = "\n".join(f"hypersphere {call} && exit 9 || echo status $?" for call in calls)
    said = mounted(
        copy,
        folder,
        f"mount --bind {folder} {folder}; mount -o remount,bind,ro {folder}\n{lines}\n"
        f"snakemake --cores 2 && exit 9 || echo snakemake failed",
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
