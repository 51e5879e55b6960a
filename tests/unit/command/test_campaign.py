"""A campaign takes the most telling runs first, packs what is finished, and loses nothing when time is over."""

import os
import shutil
import signal
import subprocess
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from hypersphere import files
from hypersphere.command import campaign
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.provenance import evidence, markers, state, stop

from ...fixtures import Refused
from ..statistics.world import PAPER, World, claim

pytestmark = pytest.mark.heavy

LAPTOP = {"scale": "laptop", "runs_per_job": 1}


@pytest.fixture
def plan(laptop_root: Path, finished: Path) -> Plan:
    """Of the project with finished runs of the scale ``laptop``, and its data."""
    shutil.copytree(finished / "data", laptop_root / "data", dirs_exist_ok=True)
    return planning.make(laptop_root, LAPTOP)


def taken(plan: Plan, part: tuple[int, int] = campaign.WHOLE) -> list[str]:
    """The names of the runs that a campaign takes, in its order."""
    return [run.name for batch in campaign.pending(plan, part) for run in batch.runs]


@pytest.mark.parametrize(
    ("telling", "order"), [("ten", ["digits", "pairs"]), ("hundred", ["pairs", "digits"])]
)
def test_the_artifact_with_more_claims_for_its_epochs_comes_first(
    tmp_path: Path, telling: str, order: list[str]
) -> None:
    """Of two tables on a dataset each, one has a claim."""
    tables = {
        name: {**PAPER["artifacts"]["table5"], "columns": {"dataset": [name]}}
        for name in ("ten", "hundred")
    }
    world = World(tmp_path, paper={"artifacts": tables}, runs_per_job=1)
    world.claims(claim("c", artifact=telling, dataset=telling))
    datasets = [world.plan.runs[name].dataset.name for name in taken(world.plan)]
    assert datasets == sorted(datasets, key=order.index)
    assert {*datasets} == {*order}


def test_a_cell_gets_its_first_seed_before_another_gets_its_second(plan: Plan) -> None:
    """Every pending run comes once; ``only`` chooses some; what is recorded is not taken again."""
    assert sorted(taken(plan)) == sorted(plan.runs)
    shown = plan.runs_of("embedding_norms", "table5")
    seeds = [plan.runs[name].seed for name in taken(plan) if name in shown]
    assert seeds == sorted(seeds)
    assert len(seeds) > 1
    assert {
        *taken(planning.make(plan.config.root, LAPTOP | {"only": ["embedding_norms/table5"]}))
    } == shown.keys()
    done = plan.batches[0].runs[0]
    evidence.pack(plan, done)
    assert sorted(taken(plan)) == sorted(plan.runs.keys() - {done.name})


class Snakemake:
    """Stands in for Snakemake: a shell that makes what it is asked for, or sleeps until it is asked to stop."""

    start = subprocess.Popen

    def __init__(self, monkeypatch: pytest.MonkeyPatch, does: str) -> None:
        self.commands: list[list[str]] = []

        def popen(command: list[str], **options: Any) -> Any:
            self.commands.append(command)
            return self.start(["bash", "-c", does, *command], **options)

        monkeypatch.setattr(campaign.subprocess, "Popen", popen)
        monkeypatch.setenv(stop.PARENT, "")  # a campaign adds itself: put back afterwards

    def targets(self, call: int = -1) -> list[str]:
        return [word for word in self.commands[call] if word.startswith(("results/", "data/"))]


MAKE = 'for word in "$@"; do case $word in results/*) mkdir -p $(dirname $word); touch $word;; esac; done'


def test_snakemake_makes_the_records_of_all_that_is_pending_and_first_what_parts_share(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A marker without its record, as after a table was taken back, stands for nothing."""
    stale = markers.recorded(plan, plan.batches[0].id)
    files.write_text(stale, "stale")
    made = Snakemake(monkeypatch, MAKE)
    campaign.run(plan, minutes=1, jobs=2)
    assert len(made.commands) == 1
    assert len(made.targets()) == len(plan.batches)
    assert stale.read_text() == ""
    assert made.commands[0][made.commands[0].index("--cores") :][:2] == ["--cores", "2"]
    assert 'scale="laptop"' in made.commands[0]
    assert f"{len(plan.batches)} batches recorded, 0 left" in capsys.readouterr().out
    campaign.run(plan, minutes=1, jobs=1, part=(1, 2))
    shared, own = made.targets(1), made.targets(2)
    assert all(word.endswith(".prepared.json") for word in shared)
    assert len(own) == len(plan.batches) / 2


def test_time_that_is_over_and_a_signal_stop_snakemake_in_order_and_its_failure_is_said(
    plan: Plan,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    refused: Refused,
) -> None:
    Snakemake(monkeypatch, "sleep 600")
    campaign.run(plan, minutes=0.001, jobs=1)
    assert "0 batches recorded" in capsys.readouterr().out
    assert not plan.config.evidence.exists()
    Snakemake(monkeypatch, f"kill -TERM {os.getpid()}; sleep 600")
    with pytest.raises(stop.StoppedError) as caught:
        campaign.run(plan, minutes=1, jobs=1)
    assert caught.value.status == 128 + signal.SIGTERM
    Snakemake(monkeypatch, "exit 1")
    with refused("campaign"):
        campaign.run(plan, minutes=1, jobs=1)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("KILL", campaign.WHOLE),
        ("KILL", (1, 2)),
        ("TERM", campaign.WHOLE),
        ("RTMIN+5", campaign.WHOLE),
    ],
)
def test_a_snakemake_that_is_killed_is_a_failure(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, refused: Refused, name: str, part: tuple[int, int]
) -> None:
    """By the system, for its memory, or by a person; of a part, while it makes what all share."""
    Snakemake(monkeypatch, f"kill -{name} $$")
    with refused("campaign"):
        campaign.run(plan, minutes=1, jobs=1, part=part)


@pytest.mark.parametrize("count", [2, 3, 7])
def test_parts_share_no_run_and_are_everything_together(plan: Plan, count: int) -> None:
    parts = [taken(plan, (number, count)) for number in range(1, count + 1)]
    assert sorted(chain.from_iterable(parts)) == sorted(plan.runs)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    order = taken(plan)
    assert all(part == [name for name in order if name in part] for part in parts)


def test_a_part_stays_the_same_while_others_finish_their_runs(plan: Plan) -> None:
    """Tasks of a job array start one after another; later ones find records of the earlier ones' runs."""
    before = taken(plan, (2, 2))
    done = plan.runs[
        next(name for name in taken(plan, (1, 2)) if state.look(plan.run_folder(name)).done)
    ]
    evidence.pack(plan, done)
    assert taken(plan, (2, 2)) == before
    assert done.name not in taken(plan)  # the control: there is one run less


@pytest.mark.parametrize("text", ["", "2", "0/8", "9/8", "1/0", "a/b", "1/2/3", "-1/2", "1 /2"])
def test_a_part_that_is_none(refused: Refused, text: str) -> None:
    with refused("campaign", "--part"):
        campaign.part(text)
    assert campaign.part("2/8") == (2, 8)
