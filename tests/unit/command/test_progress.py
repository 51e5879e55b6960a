"""A build says what is being trained and how far it is, from the logs of jobs that are made up here."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.command.progress import BEGUN, ENDED, MOST, Progress
from hypersphere.config.plan import BatchOfRuns

from ...fixtures import Planned

NAME = "hypersphere.tests.progress"


@pytest.fixture
def batch(planned: Planned) -> BatchOfRuns:
    return max(planned().batches, key=lambda one: len(one.runs))


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def progress(batch: BatchOfRuns, said: list[str]) -> Iterator[Progress]:
    """It hears what is logged under ``NAME``."""
    handler, logger = Progress({batch.id: batch}, said.append), logging.getLogger(NAME)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)


def begin(batch: BatchOfRuns, log: Path, number: int = 7, rule: str = "pretrain") -> None:
    """Snakemake's record of a job that begins."""
    about = {
        "event": BEGUN,
        "rule_name": rule,
        "jobid": number,
        "wildcards": {"batch": batch.id},
        "log": [str(log)],
    }
    logging.getLogger(NAME).info("", extra=about)


def test_each_look_says_what_is_new_once(
    progress: Progress, batch: BatchOfRuns, said: list[str], tmp_path: Path
) -> None:
    log = tmp_path / "a.log"
    begin(batch, log)
    progress.look()  # the job has written nothing yet
    assert said == []
    first, second, *_ = (run.name for run in batch.runs)
    lines = [
        f"{first}: begins",
        f"{first}: finished after 3 epochs, 1.0 s",
        f"{second}: begins",
        "note: none",
    ]
    files.write_text(log, "\n".join(lines))
    progress.look()
    progress.look()
    of, epochs = len(batch.runs), batch.runs[1].schedule.epochs
    assert said == [f"training run 2 of {of}, {second} ({epochs} epochs): begins"]
    files.write_text(log, "\n".join([*lines, f"{second}: in epoch 2, at step 9"]))
    progress.look()
    assert said[1:] == [
        f"training run 2 of {of}, {second} ({epochs} epochs): in epoch 2, at step 9"
    ]
    logging.getLogger(NAME).info("", extra={"event": ENDED[0], "job_id": 7})
    files.write_text(log, f"{first}: begins")  # the control: of a job at work this would be news
    progress.look()
    assert len(said) == 2


def test_a_look_has_few_lines_however_many_jobs_are_at_work(
    progress: Progress, batch: BatchOfRuns, said: list[str], tmp_path: Path
) -> None:
    files.write_text(tmp_path / "a.log", f"{batch.runs[0].name}: knn measured")
    for number in range(MOST + 3):
        begin(batch, tmp_path / "a.log", number, "evaluate")
    begin(batch, tmp_path / "a.log", 100, "record")  # a short job
    progress.look()
    line = f"measuring run 1 of {len(batch.runs)}, {batch.runs[0].name}: knn measured"
    assert said[:-1] == [line] * MOST
    assert said[-1] == "and 3 other jobs"


def test_snakemake_has_these_events() -> None:
    # here, because the import takes time
    from snakemake_interface_logger_plugins.common import LogEvent

    assert {BEGUN, *ENDED} <= {str(event) for event in LogEvent} | {
        event.value for event in LogEvent
    }
