"""profiles/generic with the commands of docs/cluster.md, which stand-ins for the programs of SGE, PBS and LSF take.

The stand-ins (stand_ins/queues) start each job at once on this machine, note what it asks for, and answer in the words
of the real programs. Which options the real ones know, they cannot tell.
"""

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import REPOSITORY, Checkout
from .test_kills import PATIENCE, at_work, trainers, wait_for

pytestmark = [pytest.mark.tools, pytest.mark.long]

STAND_INS = Path(__file__).with_name("stand_ins") / "queues"
PAGE = (REPOSITORY / "docs" / "cluster.md").read_text(encoding="utf-8")
COMMANDS = dict(
    zip(
        ("sge", "pbs", "lsf"),
        re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL),
        strict=True,
    )
)
"""What the page has people put into the profile, by scheduler."""
OPTIONS = (
    "--workflow-profile",
    "profiles/generic",
    "--seconds-between-status-checks",
    "1",
    "--latency-wait",
    "10",
)
ASKED = {
    "sge": ["smp", "1", "mem_free=3000M", "gpu=0", "h_rt=3600"],
    "pbs": ["select=1:ncpus=1:mem=3000mb:ngpus=0", "walltime=3600"],
    "lsf": ["1", "span[hosts=1] rusage[mem=3000MB]", "3000MB", "60"],
}
"""What a job that prepares datasets asks for: words of the submit command."""


@pytest.fixture
def at(place: Checkout, tmp_path: Path) -> Callable[[str], Checkout]:
    """A checkout whose profile has the commands of a scheduler, and the scheduler's stand-ins."""

    def made(scheduler: str) -> Checkout:
        with (place.root / "profiles" / "generic" / "config.yaml").open("a") as profile:
            profile.write(COMMANDS[scheduler])
        (tmp_path / "queue").mkdir()
        programs = os.pathsep.join(map(str, (STAND_INS, STAND_INS / scheduler)))
        path = f"{programs}{os.pathsep}{place.environment['PATH']}"
        return Checkout(
            place.root, place.environment | {"PATH": path, "QUEUE": str(tmp_path / "queue")}
        )

    return made


def asked(place: Checkout) -> dict[str, list[list[str]]]:
    """The words of each job's submit command without the script, by rule, in the order of submission."""
    found: dict[str, list[list[str]]] = {}
    for file in sorted(
        Path(place.environment["QUEUE"]).glob("*.asked"), key=lambda file: int(file.stem)
    ):
        *words, script = file.read_text().splitlines()
        found.setdefault(Path(script).name.split(".")[1], []).append(words)
    return found


def submitted(
    place: Checkout, *options: str, status: int = 0, settings: tuple[str, ...] = ()
) -> str:
    """What Snakemake says when it submits the jobs."""
    done = place.snakemake(*OPTIONS, *options, status=status, settings=settings)
    return done.stdout + done.stderr


@pytest.mark.parametrize("scheduler", COMMANDS)
def test_the_commands_of_the_page_submit_a_job_with_its_resources_and_see_its_end(
    at: Callable[[str], Checkout], scheduler: str
) -> None:
    place = at(scheduler)
    said = submitted(place, "data", settings=("datasets_per_job=2",))
    assert "with external jobid '1" in said
    (words,) = asked(place)["prepare"]
    assert [word for word in words if word in ASKED[scheduler]] == ASKED[scheduler]


def test_gpus_and_times_reach_the_scheduler_and_a_job_that_it_kills_is_submitted_again(
    at: Callable[[str], Checkout],
) -> None:
    place = at("pbs")
    (Path(place.environment["QUEUE"]) / "kills").write_text("pretrain")
    settings = (
        'only=["lecture/supervised_knn"]',
        "seeds=[0]",
        'resources={"mem_mb":500,"runtime":5,"gpu":1}',
    )
    said = submitted(place, settings=(*settings, "device=cpu"))
    assert "Error in rule pretrain" in said
    wanted = ["select=1:ncpus=1:mem=500mb:ngpus=1", "walltime=300"]
    assert {rule: len(jobs) for rule, jobs in asked(place).items()} == {
        "prepare": 1,
        "pretrain": 2,
        "evaluate": 1,
        "artifact_lecture__supervised_knn": 1,
    }
    for words in (*asked(place)["pretrain"], *asked(place)["evaluate"]):
        assert [word for word in words if "=" in word] == wanted
    (table,) = place.root.glob("results/*/tables/lecture/supervised_knn.csv")
    assert table.read_text()


def test_an_interrupt_of_snakemake_cancels_its_jobs(at: Callable[[str], Checkout]) -> None:
    place = at("pbs")
    settings = ('only=["lecture/supervised_knn"]', "seeds=[0]", "epochs=100000")
    with at_work(place, "-m", "snakemake", *OPTIONS, "--config", *settings) as process:
        wait_for(place, lambda: trainers(place.root), process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) != 0
        wait_for(place, lambda: not trainers(place.root))
    assert [
        file.read_text() for file in sorted(Path(place.environment["QUEUE"]).glob("*.code"))
    ] == ["0\n", "137\n"]


def test_a_job_that_fails_ends_the_run_with_its_own_sentence(at: Callable[[str], Checkout]) -> None:
    place = at("lsf")
    digits = (
        "\nupright: {source: {name: digits, task: upright, train_per_class: 8, test_per_class: 3}}"
    )
    place.edit("config/datasets.yaml", digits, "\nupright: {source: {name: imagenet100}}")
    said = submitted(place, "--retries", "0", "data", status=1, settings=("datasets_per_job=2",))
    assert "Error in rule prepare" in said
    (sentence,) = re.findall(r"^ *hypersphere: (.+)$", said, flags=re.MULTILINE)
    assert sentence == f"{place.root}/data/raw/imagenet/train: no such folder"
    assert "Traceback" not in said


def test_a_profile_without_its_commands_says_which_is_missing(place: Checkout) -> None:
    done = place.snakemake("--workflow-profile", "profiles/generic", "data", status=1)
    assert (
        "missing for plugin cluster-generic: --cluster-generic-submit-cmd"
        in done.stdout + done.stderr
    )
