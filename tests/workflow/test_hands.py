"""The pipeline in other people's hands: a shell that exports a hundred things, a wrong clock, a copied checkout."""

import os
import re
import sys
import time
from pathlib import Path

import pytest

from .conftest import Checkout, differing, program

pytestmark = pytest.mark.long

BEGUN = "embedding_norms/norms_over_epochs"
"""A figure: it is drawn, and in a new folder its runs are trained first."""


def hostile(folder: Path) -> dict[str, str]:
    """What notebooks, modules of clusters, images of containers and people's own settings export, all at once."""
    for module in ("numpy", "yaml", "sitecustomize", "torch"):
        program(
            folder / "modules" / f"{module}.py", f"raise SystemExit('of another Python: {module}')"
        )
    (folder / "profile").mkdir()
    (folder / "profile" / "config.yaml").write_text("executor: slurm\nuse-conda: true\njobs: 50\n")
    (folder / "matplotlibrc").write_text("backend: nonsense\nfont.size: 40\n")
    (folder / "bash").write_text("cd /\necho from another shell\n")
    return {
        **{
            "PYTHONPATH": str(folder / "modules"),
            "PYTHONHOME": str(folder),
            "PYTHONSTARTUP": str(folder / "nothing"),
        },
        **{
            "PYTHONINSPECT": "1",
            "PYTHONOPTIMIZE": "2",
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        },
        **{
            "MATPLOTLIBRC": str(folder / "matplotlibrc"),
            "SNAKEMAKE_PROFILE": str(folder / "profile"),
        },
        **{"MAKEFLAGS": "k", "SCALE": "2", "ONLY": "none", "SET": "none", "PYTHON": "python2"},
        **{
            "OMP_NUM_THREADS": "64",
            "MKL_NUM_THREADS": "64",
            "OMP_THREAD_LIMIT": "1",
            "MKL_CBWR": "COMPATIBLE",
        },
        **{
            "ATEN_CPU_CAPABILITY": "default",
            "ONEDNN_MAX_CPU_ISA": "SSE41",
            "CUBLAS_WORKSPACE_CONFIG": ":0:0",
        },
        **{
            "SOURCE_DATE_EPOCH": "1",
            "TZ": "Asia/Tokyo",
            "LC_ALL": "C",
            "COLUMNS": "20",
            "BASH_ENV": str(folder / "bash"),
        },
        **{
            "GIT_DIR": "/dev/null/nowhere",
            "GIT_INDEX_FILE": "/dev/null/nowhere",
            "HOME": "/dev/null/nowhere",
            "VIRTUAL_ENV": "/dev/null/nowhere",
        },
        **{
            "UV_SYSTEM_PYTHON": "1",
            "PIP_USER": "1",
            "CONDA_PREFIX": "/dev/null/nowhere",
            "LOGNAME": "",
        },
    }


def test_a_hostile_environment_gives_the_same_bytes(
    finished: Checkout, place: Checkout, tmp_path: Path
) -> None:
    """Trained, measured and drawn anew; the control is a `make` that hands on what it is not told of."""
    made = place.equipped(sys.executable)  # which reads all that Python reads
    made.run("make", "reproduce", f"ONLY={BEGUN}", **hostile(tmp_path))
    ours, theirs = made.content(), finished.content()
    assert {name.rpartition(".")[2] for name in ours} >= {"safetensors", "csv", "svg", "png", "npy"}
    assert differing(ours, {name: theirs[name] for name in ours}) == set()
    (made.root / "src" / "hypersphere" / "foreign.txt").write_text("")
    assert (
        "of another Python"
        in made.run("make", "plan", status=2, PYTHONPATH=str(tmp_path / "modules")).stderr
    )


def dated(root: Path, moment: float) -> None:
    """Give all that was made or written this time."""
    for folder in ("results", "data", "config", "evidence", "src"):
        for path in (root / folder).rglob("*"):
            os.utime(path, (moment, moment), follow_symlinks=False)


@pytest.mark.parametrize("moment", ["hours ahead", "in the year 2100", "in 1970", "each another"])
def test_a_wrong_clock_stops_nothing_and_removes_nothing(copy: Checkout, moment: str) -> None:
    before = copy.content()
    now = time.time()
    moments = {"hours ahead": now + 5 * 3600, "in the year 2100": 4.1e9, "in 1970": 1.0}
    dated(copy.root, moments.get(moment, now))
    if moment == "each another":
        for number, path in enumerate(sorted((copy.root / "results").rglob("*"))):
            os.utime(path, (now + 997 * (number % 13 - 6),) * 2, follow_symlinks=False)
    assert copy.jobs() == []  # times alone make nothing again
    lost = copy.results / "tables" / "lecture" / "supervised_knn.csv"
    assert lost.exists()
    lost.unlink()
    done = copy.snakemake("--cores", "2")
    assert ("from the future" in done.stderr) == (
        moment in ("hours ahead", "in the year 2100", "each another")
    )
    assert differing(before, copy.content()) == set()
    assert copy.jobs() == []


def test_a_command_of_another_checkout_says_so(finished: Checkout, place: Checkout) -> None:
    """As after a copy, whose programs are still those of the original."""
    command = ("python", str(finished.root / "src" / "hypersphere"), "plan")
    said = place.run(*command, status=2).stderr
    assert re.fullmatch(
        r"hypersphere: .+: its code is not what runs, .+; type `make setup` in it\n", said
    )
    assert str(place.root) in said
    assert str(finished.root) in said
