"""Damage is mended: bytes that change without a new modification time, many at once, and what is lost alone."""

import os
import shutil
from pathlib import Path

import pytest

from .conftest import Checkout
from .test_bytes import RESULTS, RUNS, differing

KINDS = (
    "data/processed/upright-*/train/images.npy",
    "data/processed/turned-*/manifest.json",
    "results/quick/runs/simclr-cut3-upright-s0-*/encoder.safetensors",
    "results/quick/runs/simsiam-cut9-upright-s0-*/history.csv",
    "results/quick/runs/simsiam-cut9-upright-s1-*/manifest.json",
    "results/quick/runs/simclr-cut3-upright-s1-*/snapshots/*",
    "results/quick/evaluations/simclr-default-turned-s0-*/????????.csv",
    "results/quick/evaluations/pixels-upright/*.json",
    "results/quick/batches/simclr-turned-????????.json",
    "results/quick/statistics/embedding_norms/table5/summary.csv",
    "results/quick/statistics/embedding_norms/table5/manifest.json",
    "results/quick/simulations/*/answers.csv",
    "results/quick/theory.csv",
    "results/quick/claims.csv",
    "results/quick/tables/embedding_norms/table5.md",
    "results/quick/figures/embedding_norms/norms_over_epochs.png",
    "results/quick/scorecard.html",
    "results/quick/paper.pdf",
)
LOST = {
    "a marker": "batches/simclr-turned-????????.json",
    "an evaluation": "evaluations/simclr-default-turned-s0-*/*.csv",
}


def rot(path: Path) -> None:
    """Flip one bit in the middle, and leave size and modification time as they were."""
    before, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def everything(place: Checkout) -> dict[str, bytes]:
    arrays = {
        path.relative_to(place.root).as_posix(): path.read_bytes() for path in place.root.glob("data/processed/*/*/*")
    }
    return place.files(*RUNS, *RESULTS) | arrays  # a run's manifest says how long it took


@pytest.mark.long
def test_bit_rot_in_every_kind_of_file_is_mended_by_one_rebuild(copy: Checkout, finished: Checkout) -> None:
    rotten = [sorted(copy.root.glob(kind))[0] for kind in KINDS]
    for path in rotten:
        rot(path)
    assert copy.hypersphere("verify").returncode == 2  # the control: it is seen, and nothing was changed by looking
    done = copy.hypersphere("verify", "--mend")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "forgotten; `make reproduce` makes all of that again" in done.stdout
    copy.make("--cores", "2")
    assert differing(everything(copy), everything(finished)) == set()
    assert copy.hypersphere("verify").returncode == 0


@pytest.mark.long
def test_small_files_that_rot_are_seen_before_jobs_are_planned(copy: Checkout, finished: Checkout) -> None:
    """Without `verify`: the files that are read at every start."""
    kinds = [kind for kind in KINDS if kind.endswith(("history.csv", "????????.csv", "summary.csv", "theory.csv"))]
    assert len(kinds) == 4
    for kind in kinds:
        rot(sorted(copy.root.glob(kind))[0])
    assert differing(everything(copy), everything(finished)) != set()
    copy.make("--cores", "2")
    assert differing(everything(copy), everything(finished)) == set()


@pytest.mark.parametrize("kind", LOST)
def test_what_is_lost_is_made_again_to_the_same_bytes_and_nothing_is_trained(
    copy: Checkout, finished: Checkout, kind: str
) -> None:
    lost = sorted(copy.results.glob(LOST[kind]))[0]
    lost.unlink()
    done = copy.snakemake("--cores", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 runs trained" in done.stderr
    assert lost.exists()
    assert differing(everything(copy), everything(finished)) == set()


LISTING = {
    "a dry run": ("-n", "--cores", "1"),
    "a dry run of a target": ("-n", "--cores", "1", "results/quick/paper.pdf"),
    "lint": ("--lint",),
    "summary": ("--summary",),
    "changes": ("--list-changes", "code"),
    "rules": ("--list-rules",),
    "graph": ("--rulegraph",),
    "unlock": ("--unlock",),
    "deletion": ("--delete-all-output", "-n"),
}
"""Options of Snakemake with which no job runs."""


@pytest.fixture(scope="module")
def rotten(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A finished copy that lost an evaluation, an encoder and a table."""
    made = Checkout(tmp_path_factory.mktemp("rotten") / "checkout", finished.environment)
    shutil.copytree(finished.root, made.root, symlinks=True)
    for kind in (LOST["an evaluation"], "runs/simclr-cut3-upright-s0-*/encoder.safetensors", "theory.csv"):
        sorted(made.results.glob(kind))[0].unlink()
    return made


@pytest.mark.parametrize("options", [*LISTING, "hypersphere plan", "hypersphere verify"])
def test_what_runs_no_job_changes_nothing(rotten: Checkout, options: str) -> None:
    """Whatever is lost: no marker goes, nothing is trained, and no file of the project is written."""
    before = states(rotten)
    listed, command = LISTING.get(options), options.partition(" ")[2]
    done = rotten.snakemake(*listed) if listed else rotten.hypersphere(command)
    text = done.stdout + done.stderr
    assert states(rotten) == before
    assert not any(line.startswith("made again") for line in text.splitlines())
    assert done.returncode == (2 if options == "hypersphere verify" else 0), text
    assert text.count("would be made again: ") == (3 if options.startswith("a dry run") else 0), text


def test_a_dry_run_lists_the_jobs_that_make_what_is_lost(rotten: Checkout) -> None:
    said = rotten.hypersphere("plan")
    assert said.stdout.count("\nlost      ") == 3
    assert {"pretrain", "evaluate", "theory"} <= {job.rule for job in rotten.jobs()}


def states(place: Checkout) -> dict[str, tuple[int, int]]:
    """Time and size of every file that is not Snakemake's own."""
    paths = [path for path in place.root.rglob("*") if path.is_file() and ".snakemake" not in path.parts]
    known = {path.relative_to(place.root).as_posix(): path.stat() for path in paths if path.suffix != ".pyc"}
    return {name: (about.st_mtime_ns, about.st_size) for name, about in known.items()}


def test_what_is_lost_and_has_other_bytes_makes_what_follows_again(copy: Checkout) -> None:
    """The control of the test above: the same evaluation is lost, and the code that measures it has changed."""
    sorted(copy.results.glob(LOST["an evaluation"]))[0].unlink()
    copy.edit("src/hypersphere/probes/knn.py", "return nearer + tied", "return nearer + 0 * tied")
    done = copy.snakemake("--cores", "2", "--dry-run")
    assert "artifact_embedding_norms_table5" in done.stdout + done.stderr


@pytest.mark.long
def test_verify_without_mend_changes_nothing(copy: Checkout) -> None:
    rot(sorted(copy.root.glob(KINDS[2]))[0])
    (copy.results / "tables" / "embedding_norms" / "stray.md").write_text("of an artifact that is gone")
    before = everything(copy)
    done = copy.hypersphere("verify")
    assert done.returncode == 2
    assert "stray.md: nothing of this checkout makes them" in done.stdout
    assert "`make mend` makes what is damaged again" in done.stderr
    assert differing(everything(copy), before) == set()
    shutil.rmtree(copy.results / "runs")  # a mend of nothing but losses has nothing to forget that is not gone
    assert copy.hypersphere("verify", "--mend").returncode == 0
