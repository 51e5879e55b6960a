"""What jobs at work have done so far, on the console of the Snakemake that started them, read from their logs.

Snakemake says when a job begins and when it ends, and a job that trains sixty runs takes minutes. Each job names the
run that it is at, in its own log.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from hypersphere.config.plan import BatchOfRuns
from hypersphere.wording import count_of

EVERY = 30.0
"""Seconds between two looks at the logs."""
MOST = 4
"""Jobs that one look has a line for."""
DOING = {"pretrain": "training", "evaluate": "measuring"}
"""What a job does, by its rule. The jobs of other rules are short."""
BEGUN, ENDED = "job_info", ("job_finished", "job_error")
"""Snakemake's names for the events of a job."""


class Job(NamedTuple):
    """A job that is at work on a batch of runs."""

    doing: str
    log: Path
    batch: BatchOfRuns


class Progress(logging.Handler):
    """It hears from Snakemake which jobs are at work, and says how far they are; nothing twice."""

    def __init__(self, batches: Mapping[str, BatchOfRuns], say: Callable[[str], object]) -> None:
        super().__init__()
        self.batches = batches
        self.say = say
        self.jobs: dict[int, Job] = {}
        self.last: dict[int, str] = {}
        """The last line of each job."""

    def emit(self, record: logging.LogRecord) -> None:
        """Take a job up when it begins, and drop it when it ends."""
        about = vars(record)
        event = str(about.get("event"))
        if event == BEGUN and about["rule_name"] in DOING:
            (log,) = about["log"]
            batch = about["wildcards"]["batch"]
            job = Job(DOING[about["rule_name"]], Path(log), self.batches[batch])
            self.jobs[about["jobid"]] = job
        elif event in ENDED:
            number: int = about["job_id" if "job_id" in about else "jobid"]
            self.jobs.pop(number, None)

    def look(self) -> None:
        """Say of each job how far it is, if that is news."""
        lines = {number: how_far(job) for number, job in list(self.jobs.items())}
        news = []
        for number, line in lines.items():
            if line and line != self.last.get(number):
                news.append(line)
        self.last = lines
        for line in news[:MOST]:
            self.say(line)
        if len(news) > MOST:
            self.say(f"and {len(news) - MOST} other jobs")

    def watch(self) -> None:
        """Look at the logs again and again, beside what Snakemake does, as long as it lives."""

        def looking() -> None:
            while True:
                time.sleep(EVERY)
                self.look()

        threading.Thread(target=looking, daemon=True).start()


def how_far(job: Job) -> str:
    """``training run 24 of 60, simclr-default-digits-s0-9ed65619 (16 epochs): in epoch 8, at step 210``.

    Empty before the job names a run.
    """
    runs = {run.name: run for run in job.batch.runs}
    try:
        lines = job.log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # it has not begun to write
        return ""
    last: dict[str, str] = {}
    """The words that the job had last for each run, in the order in which it took them."""
    for line in lines:
        name, colon, words = line.partition(": ")
        if colon and name in runs:
            last[name] = words
    if not last:
        return ""
    name, words = last.popitem()
    number = len(last) + 1
    length = count_of(runs[name].schedule.epochs, "epoch")
    epochs = f" ({length})" if job.doing == DOING["pretrain"] else ""
    return f"{job.doing} run {number} of {len(runs)}, {name}{epochs}: {words}"
