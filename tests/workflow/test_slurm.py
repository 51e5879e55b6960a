"""profiles/slurm on a real Slurm of one node with two pretended GPUs: a rebuild, a killed job and a requeued one."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path

import pytest

from . import one_node_slurm as slurm
from .conftest import Checkout, another
from .test_kills import PATIENCE, at_work, begun, said, trainers, wait_for

pytestmark = [
    pytest.mark.tools,
    pytest.mark.long,
    pytest.mark.skipif(bool(slurm.why_not()), reason=f"no Slurm can be started: {slurm.why_not()}"),
]

EPOCHS = 1000
"""Of a run that takes twenty seconds or so, so that two are met in the middle."""
# What a cluster without an accounting database needs, and a cluster without other people allows: frequent questions.
HERE = (
    "--slurm-status-command",
    "squeue",
    "--slurm-no-account",
    "--slurm-init-seconds-before-status-checks",
    "2",
)
# Snakemake asks after its jobs ever less often, up to minutes apart; here it asks every two seconds.
OFTEN = """
from snakemake.cli import main
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
RemoteExecutor.next_seconds_between_status_checks = property(lambda self: 2, lambda self, longer: None)
main()
"""


@pytest.fixture(scope="module", autouse=True)
def _cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(slurm.started(tmp_path_factory.mktemp("slurm") / "node"))
        except slurm.NotStartedError as error:
            pytest.skip(f"Slurm does not start on this machine: {error}")
        yield


SETTINGS = (
    'only=["lecture/supervised_knn"]',
    *("seeds=[0,1]", f"epochs={EPOCHS}", "runs_per_job=1", "device=cpu"),
    'resources={"mem_mb":500,"runtime":5,"gpu":1}',
)
"""Two runs, each in a job that asks for a GPU and trains on a CPU."""


def submitting(
    place: Checkout, *options: str, settings: tuple[str, ...] = SETTINGS
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Snakemake with the profile, and jobs that start on their own: none is forked from the tests' server."""
    profile = ("--workflow-profile", "profiles/slurm")
    return at_work(place, "-c", OFTEN, *profile, *HERE, *options, "--config", *settings)


def jobs(rule: str) -> dict[str, str]:
    """State of each of Slurm's jobs of a rule, those that ended too, by number."""
    lines = slurm.ask("squeue", "--noheader", "--states=all", "--format=%i %T %k").splitlines()
    return {
        number: state
        for number, state, comment in map(str.split, lines)
        if f"rule_{rule}_" in f"{comment}_"
    }


def restarts(job: str) -> int:
    """How often Slurm started a job again."""
    (number,) = re.findall(r"Restarts=(\d+)", slurm.ask("scontrol", "show", "job", job))
    return int(number)


def devices(place: Checkout) -> dict[str, str]:
    """The devices that Slurm lets each of its jobs see, by number, as the processes that train there know them."""
    found = {}
    for process in trainers(place.root):
        with suppress(OSError):  # it has ended
            environment = Path(f"/proc/{process}/environ").read_text().split("\0")
            known = dict(line.partition("=")[::2] for line in environment if line)
            if "SLURM_STEP_ID" in known:
                found[known["SLURM_JOB_ID"]] = known["CUDA_VISIBLE_DEVICES"]
    return found


def both_train(place: Checkout, without: str = "") -> bool:
    """Whether two jobs train a run each, none of them the one to leave out."""
    return len(begun(place)) == 2 == len(devices(place).keys() - {without})


def results(place: Checkout) -> dict[str, bytes]:
    """Weights, histories, measurements, and the table."""
    (folder,) = (place.root / "results").iterdir()
    patterns = (
        "runs/*/*.safetensors",
        "runs/*/history.csv",
        "evaluations/**/*.csv",
        "tables/**/*.*",
    )
    paths = [path for pattern in patterns for path in folder.glob(pattern)]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_jobs_that_are_killed_requeued_or_lose_their_node_end_in_the_bytes_of_a_local_rebuild(
    place: Checkout, fresh: Checkout, tmp_path: Path
) -> None:
    """At first without retries, the control: it is the profile that sends a killed job again."""
    with submitting(place, "--retries", "0", "data") as process:
        wait_for(place, lambda: "RUNNING" in jobs("prepare").values(), process)
        slurm.ask(
            "scancel", *(number for number, state in jobs("prepare").items() if state == "RUNNING")
        )
        assert process.wait(timeout=PATIENCE) != 0, said(place)
    assert "Error in rule prepare" in said(place)

    with submitting(place) as process:
        wait_for(place, lambda: both_train(place), process)
        requeued, killed = sorted(jobs("pretrain"))
        seen = devices(place)
        slurm.ask("scontrol", "requeue", requeued)
        slurm.ask("scancel", "--signal=KILL", killed)
        wait_for(place, lambda: both_train(place, without=killed), process)
        time.sleep(5.0)  # torch is imported, and some steps
        slurm.lose_node()
        assert process.wait(timeout=PATIENCE) == 0, said(place)
    # Each had a device of its own, though neither said which.
    assert seen.keys() == {requeued, killed}
    assert sorted(seen.values()) == ["0", "1"]
    # Slurm started one again, under its number, and Snakemake sent the other again, under a new one. Both lost their
    # node, and Slurm started them again.
    states = jobs("pretrain")
    (again,) = states.keys() - {requeued, killed}
    assert states == {requeued: "COMPLETED", killed: "CANCELLED", again: "COMPLETED"}
    assert [restarts(job) for job in (requeued, killed, again)] == [2, 0, 1]
    # All got a SIGTERM first, so that the runs saved their states, and went on from there. (Without it: tests/resume.)
    for path in place.root.glob("results/*/runs/*/manifest.json"):
        first, *later = json.loads(path.read_text())["started_at_steps"]
        assert first == 0
        assert later  # twice, unless it lost its node before it went on
        assert [0, *later] == sorted({0, *later})

    local = another(fresh, tmp_path / "local", ".snakemake")
    local.snakemake("--cores", "2", settings=SETTINGS)
    made = results(local)
    assert results(place) == made
    weights = {content for name, content in made.items() if name.endswith("/encoder.safetensors")}
    assert len(weights) == 2  # the control: another seed has other bytes


def with_gpus(number: int) -> tuple[str, ...]:
    """The same settings, with so many GPUs for a job."""
    return *SETTINGS[:-1], SETTINGS[-1].replace('"gpu":1', f'"gpu":{number}')


def test_a_job_asks_for_the_gpus_of_its_scale_waits_for_those_in_use_and_is_refused_more_than_there_are(
    place: Checkout,
) -> None:
    """Slurm counts the node's two GPUs. That two jobs of one GPU run side by side is seen above."""
    before = jobs("pretrain")

    def own() -> dict[str, str]:
        return {state: job for job, state in jobs("pretrain").items() if job not in before}

    with submitting(place, settings=with_gpus(2)) as process:
        wait_for(place, lambda: own().keys() == {"PENDING", "RUNNING"}, process)
        for job in own().values():
            assert "TresPerJob=gres:gpu:2" in slurm.ask("scontrol", "show", "job", job)
        wait_for(
            place,
            lambda: slurm.ask("squeue", "-h", "-o", "%r", "-j", own()["PENDING"]) == "Resources\n",
            process,
        )
        process.send_signal(signal.SIGINT)  # which cancels both
        assert process.wait(timeout=PATIENCE) != 0
    with submitting(place, "--retries", "0", settings=with_gpus(3)) as process:
        assert process.wait(timeout=PATIENCE) != 0
    assert "Requested node configuration is not available" in said(place)


def test_jobs_of_a_shard_each_share_the_gpus_and_one_more_waits(place: Checkout) -> None:
    """To Slurm a slot is a shard (docs/cluster.md): two jobs see each of the two GPUs, and the fifth waits."""
    before = jobs("pretrain")
    shards = ("--set-resources", "pretrain:gres=shard:1", "evaluate:gres=shard:1")
    runs = ('only=["lecture/supervised_knn"]', "seeds=[0,1,2,3,4]", "runs_per_gpu=2")
    settings = (*runs, *SETTINGS[2:-1], SETTINGS[-1].replace('"gpu":1', '"gpu":0'))

    def own(state: str) -> set[str]:
        return {job for job, now in jobs("pretrain").items() if now == state} - before.keys()

    with submitting(place, *shards, settings=settings) as process:
        wait_for(place, lambda: len(devices(place)) == 4, process)
        seen = devices(place)
        assert seen.keys() == own("RUNNING")
        assert sorted(seen.values()) == ["0", "0", "1", "1"]
        (waiting,) = own("PENDING")
        wait_for(
            place,
            lambda: slurm.ask("squeue", "-h", "-o", "%r", "-j", waiting) == "Resources\n",
            process,
        )
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) != 0
