"""Damage is named by `hypersphere verify` and mended: any harm to any kind of file, and disks that take no more.

The same, file by file and harm by harm, is in tests/unit (test_manifest.py, test_markers.py, datasets/test_store.py).
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hypersphere.config import plan as planning

from ..fixtures import Names
from ..harm import flip, truncate
from .conftest import RUNS, Checkout, another, differing, rules, states

pytestmark = pytest.mark.long


def rot(path: Path) -> None:
    """Change one bit in the middle, and leave size and modification time as they were."""
    before = path.stat()
    flip(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


Harm = Callable[[Path], object]
BYTES = "bytes differ from its manifest"
SEALED = "(altered since it was written|not valid JSON)"  # the bit may be one of a bracket
GONE = "the file is missing"
DRAWN = (
    "figures/embedding_norms/norms_over_epochs.png",
    "tables/embedding_norms/table5.csv",
    "scorecard.html",
)
# Different runs, because of one run only the first thing wrong is said.
SEEN: dict[str, tuple[Harm, str]] = {
    "data/processed/turned-*/manifest.json": (rot, SEALED),
    "data/processed/turned-*/test/labels-class.npy": (truncate, ""),
    "runs/simclr-cut3-upright-s0-*/encoder.safetensors": (rot, BYTES),
    "runs/simclr-cut3-turned-s0-*/encoder.safetensors": (Path.unlink, GONE),
    "runs/simclr-cut3-upright-s1-*/snapshots/*": (rot, BYTES),
    "runs/simclr-cut3-turned-s1-*/snapshots/*": (Path.unlink, GONE),
    "runs/simsiam-cut9-upright-s0-*/history.csv": (rot, BYTES),
    "runs/simsiam-cut9-upright-s1-*/manifest.json": (rot, SEALED),
    "runs/simsiam-default-turned-s0-*/manifest.json": (Path.unlink, GONE),
    "runs/simsiam-default-upright-s1-*": (shutil.rmtree, ""),
    "evaluations/simclr-default-turned-s0-*/????????.csv": (rot, BYTES),
    "evaluations/simclr-default-turned-s1-*/*.turned.csv": (rot, BYTES),
    "evaluations/pixels-upright/*.json": (rot, SEALED),
    "evaluations/pixels-turned/*.json": (Path.unlink, GONE),
    "batches/simclr-turned-????????.json": (rot, ""),
    "batches/simsiam-turned-????????.json": (truncate, ""),
    "simulations/*/answers.csv": (rot, ""),
    "statistics/embedding_norms/table5/summary.csv": (rot, ""),
    "theory.csv": (rot, ""),
    "claims.csv": (rot, ""),
    "tables/embedding_norms/table5.md": (Path.unlink, ""),
    **dict.fromkeys(DRAWN, (rot, BYTES)),
}
"""By kind of file, what is done to one of them, and what `verify` says of it. All are seen before jobs are planned."""
UNSEEN: dict[str, tuple[Harm, str]] = {"data/processed/upright-*/train/images.npy": (rot, BYTES)}
"""What only `verify` sees."""
REBUILT = (*DRAWN, "statistics/embedding_norms/table5/summary.csv", "theory.csv", "claims.csv")
"""What follows from the evaluations: `verify` makes it again, where these are whole."""


def test_finished_results_pass_and_a_run_trained_and_probed_again_has_the_same_bytes(
    finished: Checkout,
) -> None:
    name = finished.run_folder("simsiam-cut9-upright-s1").name
    said = finished.hypersphere("verify", "--rerun", name).stdout
    assert f"{name}: finished after 2 epochs" in said
    assert "left alone" not in said  # every file is a result that a manifest lists
    counts = dict(re.findall(r"^(.+): (\d+ of \d+) as ", said, flags=re.MULTILINE))
    # kNN and norms of twenty runs, kNN of the lecture's, and of the raw pixels of two datasets
    assert counts.items() >= {
        ("datasets", "2 of 2"),
        ("runs", f"{RUNS} of {RUNS}"),
        ("evaluations", "43 of 43"),
    }
    assert counts.items() >= {("trained and probed again", "1 of 1"), ("markers", "10 of 10")}


@pytest.mark.parametrize("moment", ["verify", "rebuild"])
def test_any_harm_to_any_kind_of_file_is_named_and_one_rebuild_mends_it(
    copy: Checkout, finished: Checkout, moment: str
) -> None:
    """`verify --mend` forgets what is damaged, and only that. Without it, presence, the size of arrays and the bytes of
    small files are looked at before jobs are planned, so that no run has to fail first."""
    harmed = {}
    for kind, (spoil, said) in (SEEN | UNSEEN if moment == "verify" else SEEN).items():
        folder = copy.root if kind.startswith("data/") else copy.results
        path = sorted(folder.glob(kind))[0]
        spoil(path)
        harmed[path] = said
    assert differing(copy.content(), finished.content()) != set()
    if moment == "verify":
        text = copy.hypersphere("verify", "--mend").stdout
        for path, said in harmed.items():
            assert not said or re.search(
                rf"^differs: {re.escape(str(path))}: .*{said}", text, re.MULTILINE
            ), path
    copy.snakemake("--cores", "2")
    assert differing(copy.content(), finished.content()) == set()


def test_what_follows_is_made_again_and_compared_and_verify_changes_nothing(copy: Checkout) -> None:
    for name in REBUILT:
        rot(copy.results / name)
    (copy.results / "tables" / "embedding_norms" / "stray.md").write_text(
        "of an artifact that is gone"
    )
    before = copy.content()
    done = copy.hypersphere("verify", status=2)
    assert (
        f"differs: {copy.results}: {', '.join(sorted(REBUILT))}: differ when made again"
        in done.stdout
    )
    assert "stray.md: nothing of this checkout makes" in done.stdout
    assert "`make mend`" in done.stderr
    assert differing(copy.content(), before) == set()


def test_an_altered_array_fails_the_runs_that_need_it_and_is_prepared_again(
    copy: Checkout, finished: Checkout
) -> None:
    (array,) = copy.root.glob("data/processed/upright-*/train/images.npy")
    rot(array)
    shutil.rmtree(copy.run_folder("simsiam-cut9-upright-s1"))
    done = copy.snakemake("--cores", "2", "runs", status=1)
    assert f"{array}: the file's {BYTES}" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    copy.snakemake("--cores", "2", "runs")
    assert differing(copy.content(), finished.content()) == set()


# What is lost alone

MARKER, EVALUATION = (
    "batches/simclr-turned-????????.json",
    "evaluations/simclr-default-turned-s0-*/*.csv",
)


def test_what_is_lost_is_made_again_to_the_same_bytes_and_nothing_is_trained(
    copy: Checkout, finished: Checkout
) -> None:
    for kind in (MARKER, EVALUATION):
        sorted(copy.results.glob(kind))[0].unlink()
    trained = {path: path.stat().st_mtime_ns for path in copy.results.glob("runs/*/manifest.json")}
    copy.snakemake("--cores", "2")
    assert {path: path.stat().st_mtime_ns for path in trained} == trained
    assert differing(copy.content(), finished.content()) == set()


def test_what_is_lost_and_has_other_bytes_makes_what_follows_again(copy: Checkout) -> None:
    """The control of the test above: an evaluation is lost, and the code that measures it has changed."""
    sorted(copy.results.glob(EVALUATION))[0].unlink()
    copy.edit("src/hypersphere/probes/knn.py", "return nearer + tied", "return nearer + 0 * tied")
    assert "artifact_embedding_norms__table5" in rules(copy.jobs())


LISTING = ("-n --cores 1", "--summary", "--unlock", "--delete-all-output -n")
"""Options of Snakemake with which no job runs."""


@pytest.fixture(scope="module")
def rotten(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A finished copy that lost an evaluation, an encoder and a table."""
    made = another(finished, tmp_path_factory.mktemp("rotten") / "checkout")
    for kind in (EVALUATION, "runs/simclr-cut3-upright-s0-*/encoder.safetensors", "theory.csv"):
        sorted(made.results.glob(kind))[0].unlink()
    return made


@pytest.mark.parametrize("options", [*LISTING, "hypersphere plan"])
def test_what_runs_no_job_changes_nothing(rotten: Checkout, options: str) -> None:
    """Whatever is lost: no marker goes, nothing is trained, and no file of the project is written."""
    before = states(rotten.root)
    done = rotten.snakemake(*options.split()) if options in LISTING else rotten.hypersphere("plan")
    text = done.stdout + done.stderr
    assert states(rotten.root) == before
    assert not any(line.startswith("made again") for line in text.splitlines())
    assert text.count("would be made again: ") == (3 if options == LISTING[0] else 0), text
    assert text.count("\nlost      ") == (3 if options == "hypersphere plan" else 0), text


def test_a_dry_run_lists_the_jobs_that_make_what_is_lost(rotten: Checkout) -> None:
    assert {"pretrain", "evaluate", "copy_theory"} <= {job.rule for job in rotten.jobs()}


# What `verify` says else


def test_other_code_is_named_and_gives_other_bytes(copy: Checkout) -> None:
    """The control of a run trained again: the same run, its loss twice as large."""
    copy.edit("src/hypersphere/objectives/negative_cosine.py", "return ", "return 2 * ")
    name = copy.run_folder("simsiam-cut9-upright-s1").name
    said = copy.hypersphere("verify", "--rerun", name, status=2).stdout
    assert f"runs/{name}/manifest.json: code: not those" in said
    # SimSiam: two rows, two datasets, two seeds
    assert f"runs: {RUNS - 8} of {RUNS} as they should be" in said
    assert re.search(
        rf"runs/{name}: encoder\.safetensors, heads\.safetensors, .*: differ when made", said
    )


@pytest.mark.parametrize(
    ("place", "options"),
    [("no run 'none'", ("--rerun", "none")), ("results/paper", ("--set", "scale=paper"))],
)
def test_what_is_not_there_is_a_sentence(
    finished: Checkout, names: Names, place: str, options: tuple[str, str]
) -> None:
    said = finished.hypersphere("verify", *options, status=2).stderr
    names(said.strip().replace(f"{finished.root}/", ""), "hypersphere", place)


# What cannot be written. A small or read-only file system needs a mount, which an unprivileged user namespace allows.


def mounted(place: Checkout, script: str, settings: str = "") -> tuple[str, list[str]]:
    """What is said by ``script``, run in the checkout in a namespace of its own, and its sentences."""
    probe = subprocess.run(
        ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
        capture_output=True,
        text=True,
        check=False,
    )
    if probe.returncode:
        pytest.skip(f"mounting a file system is not permitted here: {probe.stderr.strip()}")
    lines = (
        f'set -e; hypersphere() {{ {sys.executable} src/hypersphere "$@" {settings}; }}; {script}'
    )
    done = place.run("unshare", "-rm", "bash", "-c", lines)
    said = done.stdout + done.stderr
    return said, [line for line in said.splitlines() if line.startswith("hypersphere: ")]


def test_a_full_disk_is_a_sentence_and_the_next_run_goes_on(place: Checkout) -> None:
    """The untrained encoder takes 0.3 MB, the resume state 0.8: there the disk is full."""
    place.hypersphere("prepare", "upright")
    wide = [{"set": {"encoder": {"name": "resnet8", "width": 16}}}]
    run = next(
        name
        for name in planning.make(place.root, {"overrides": wide}).runs
        if name.startswith("simclr-default-upright-s0-")
    )
    (place.root / "results").mkdir()
    said, sentences = mounted(
        place,
        "mount -t tmpfs -o size=700k tmpfs results\n"
        f"hypersphere pretrain {run} --save-every 0 && exit 9 || echo status $?\n"
        "find results -name '*.part' -o -name encoder.safetensors -o -name manifest.json | sed 's/^/leftover /'\n"
        "mount -o remount,size=50m results\n"
        f"hypersphere pretrain {run}\n"
        "cat results/*/runs/*/manifest.json",
        f"--set 'overrides={json.dumps(wide)}'",
    )
    assert len(sentences) == 1, said
    assert "resume.safetensors: cannot be written (" in sentences[0]
    assert "No space left on device" in sentences[0]
    assert "status 2" in said.splitlines()
    assert "leftover " not in said
    assert f"{run}: finished after 2 epochs" in said
    assert json.loads(said[said.index("{\n") :].partition("\n}")[0] + "}")["status"] == "finished"


def test_a_read_only_folder_is_a_sentence_from_every_command(
    finished: Checkout, copy: Checkout
) -> None:
    """Results and data are mounted over themselves, read-only; a run, a dataset and raw pixels lack a file."""
    run = copy.run_folder("simclr-default-upright-s0")
    (run / "manifest.json").unlink()
    next(copy.root.glob("data/processed/turned-*/manifest.json")).unlink()
    next(copy.results.glob("evaluations/pixels-upright/*.csv")).unlink()
    other = copy.run_folder("simclr-default-upright-s1").name
    calls = [
        f"pretrain {run.name}",
        f"evaluate {other}",
        "claims",
        "artifact embedding_norms/table5",
        "prepare turned",
    ]
    said, sentences = mounted(
        copy,
        "for folder in results data; do mount --bind $folder $folder; mount -o remount,bind,ro $folder; done\n"
        + "\n".join(f"hypersphere {call} && exit 9 || echo status $?" for call in calls)
        + "\nsnakemake --cores 2 && exit 9 || echo snakemake failed",
    )
    assert len(sentences) == len(calls) + 1, said
    assert all("Read-only file system" in line or "read-only" in line for line in sentences), said
    assert said.splitlines().count("status 2") == len(calls)
    assert "snakemake failed" in said
    assert "Traceback" not in said
    assert not list(copy.root.glob("results/**/.*.part"))
    copy.snakemake("--cores", "2")  # the control: written to, all is well
    prepared = {
        path.relative_to(finished.results).as_posix()
        for path in finished.results.glob("batches/*.prepared.json")
    }
    # A dataset that nothing needs any more is not prepared again.
    assert differing(copy.content(), finished.content()) <= prepared
