"""What a job imports, in a process of its own: it pays for that at each start, and some libraries take seconds."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from hypersphere.config import plan as planning

from ..statistics.world import World, at, claim

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]
SLOW = (
    "torch",
    "torchvision",
    "sklearn",
    "scipy.stats",
    "statsmodels",
    "seaborn",
    "matplotlib",
    "pandas",
    "snakemake",
)
TRAINED = (
    "torchvision",
    "torch._dynamo",
    "sklearn",
    "scipy",
    "pandas",
    "matplotlib",
    "pytorch_optimizer",
)
REPORT = """
import sys
from hypersphere.command import cli
status = cli.main(sys.argv[2:])
print("loaded:", *[name for name in sys.argv[1].split(",") if name in sys.modules])
sys.exit(status)
"""


def loaded(folder: Path, slow: Sequence[str], *words: str) -> set[str]:
    """Which of the slow modules a command of the project in ``folder`` imports."""
    command = [sys.executable, "-c", REPORT, ",".join(slow), *words]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "agg"}
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_drawing_and_judging_import_only_what_they_use(tmp_path: Path) -> None:
    """A table with effects computes its tests without scipy's. The control: a drawing needs what it is drawn with."""
    world = World(tmp_path, level="quick")
    world.say("table5", at(), [51.0, 51.1, 51.2])
    world.claims(claim("a"))
    world.write()
    drawing = {"matplotlib"}
    expected = {
        "artifact norms/transfers": {"pandas"},
        "artifact norms/table5": {"pandas"},
        "artifact norms/training": {"pandas"} | drawing,
        "claims": {"pandas"},
        "scorecard": {"pandas"} | drawing,
        f"plan {next(iter(world.plan.runs))}": set(),
    }
    assert {words: loaded(world.root, SLOW, *words.split()) for words in expected} == expected


def test_training_and_probing_import_no_library_that_a_small_run_does_not_use(
    tmp_path: Path, finished: Path
) -> None:
    """On a finished batch of small ResNets, of which one run and all evaluations are made again."""
    root = tmp_path / "project"
    shutil.copytree(finished, root)
    plan = planning.make(root, {"scale": "tiny"})
    batch, run = plan.batches[0], plan.batches[0].runs[0].name
    shutil.rmtree(plan.run_folder(run))
    assert loaded(root, TRAINED, "pretrain", run, "--set", "scale=tiny") == set()
    shutil.rmtree(plan.config.results / "evaluations")
    assert loaded(root, TRAINED, "evaluate", batch.id, "--set", "scale=tiny") == {"pandas"}
