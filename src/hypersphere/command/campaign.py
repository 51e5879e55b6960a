"""Have Snakemake train, measure and record pending runs, those that settle most claims first, for some minutes.

A run that time cuts off saves its state, and the next campaign resumes it.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path

from filelock import FileLock

from hypersphere.command import preview
from hypersphere.config import records
from hypersphere.config.claims import measured_claims
from hypersphere.config.plan import BatchOfRuns, Plan
from hypersphere.errors import HypersphereError
from hypersphere.provenance import evidence, markers, stop
from hypersphere.wording import count_of

EVERY = 0.5
"""Seconds between two looks at Snakemake."""
WHOLE = (1, 1)
"""The part of a campaign that is all of it."""


def part(text: str) -> tuple[int, int]:
    """``2/8``, the second of eight parts, as numbers."""
    match = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if match:
        number, count = map(int, match.groups())
        if 1 <= number <= count:
            return number, count
    raise HypersphereError(
        f"campaign: --part: must be K/N with K from 1 to N, such as 2/8 (given: '{text}')"
    )


def order(plan: Plan, known: records.Records) -> list[BatchOfRuns]:
    """The batches of the chosen runs that no record measures as the plan asks, the most telling first.

    Artifacts come by the number of their claims for each epoch of training that they still need; the runs of one come
    by seed, so that each cell has a first seed before any has a second.
    """
    waiting = {name for name in plan.runs if not is_recorded(plan, known, name)}
    claims = measured_claims(plan)
    worth: dict[tuple[str, str], float] = {}
    for key in plan.chosen_artifacts:
        runs = plan.runs_of(*key).values()
        epochs = sum(run.schedule.epochs for run in runs if run.name in waiting)
        if epochs:
            worth[key] = len(claims.get(key, [])) / epochs
    batches: dict[str, BatchOfRuns] = {}
    # a stable sort: equal ones stay in the papers' order
    for key in sorted(worth, key=lambda key: -worth[key]):
        for run in sorted(plan.runs_of(*key).values(), key=attrgetter("seed")):
            if run.name in waiting:
                batch = plan.batch_of[run.name]
                batches[batch.id] = batch
    return list(batches.values())


def is_recorded(plan: Plan, known: records.Records, name: str) -> bool:
    """Whether records measure a run as the plan asks."""
    for digest, asked in plan.evaluations[name].items():
        for epoch, target in asked.at:
            if not records.measuring(known, name, digest, epoch, target):
                return False
    return True


def pending(plan: Plan, part: tuple[int, int] = WHOLE) -> list[BatchOfRuns]:
    """The batches of a part that wait for records, in their order.

    Which batches are in a part depends on the plan alone, so that parts that start one after another share none.
    """
    number, count = part
    batches = order(plan, {})
    mine = {batch.id for batch in batches[number - 1 :: count]}
    known = records.read_all(
        evidence.folder_of(plan), plan.config.scale.level, plan.config.scale_name, writing=True
    )
    return [batch for batch in order(plan, known) if batch.id in mine]


def run(plan: Plan, minutes: float, jobs: int | None, part: tuple[int, int] = WHOLE) -> None:
    """Complete the pending batches of a part, until the minutes are over or none is left.

    Runs in training save their states then, and stop. ``jobs`` is runs at a time; None: one for each core (of
    ``threads``), or for each GPU. Other campaigns take the other parts.
    """
    deadline = time.monotonic() + 60 * minutes
    waiting = pending(plan, part)
    number = count_of(len(waiting), "batch", "batches")
    print(f"{number} pending; records go to {evidence.folder_of(plan)}")
    targets = [markers.recorded_marker(plan, batch.id) for batch in waiting]
    for target in targets:
        target.unlink(missing_ok=True)  # the tables do not hold what it stands for
    stop.name_parent()
    status: int | None = 0
    with stop.on_request() as request:
        # what parts share is made by one of them, while the others wait
        if part != WHOLE and waiting:
            preparing = plan.preparing(markers.datasets_of(plan, waiting))
            shared = map(plan.prepared_marker, preparing)
            plan.config.results.mkdir(parents=True, exist_ok=True)
            with FileLock(plan.config.results / ".campaign.lock"):
                status = _snakemake(plan, jobs, deadline, request, shared)
        if waiting and status == 0:
            status = _snakemake(plan, jobs, deadline, request, targets)
    left = sum(not target.exists() for target in targets)
    number = count_of(len(targets) - left, "batch", "batches")
    print(f"{number} recorded, {left} left")
    if request.number is not None:
        raise stop.StoppedError(f"campaign: stopped by {request.name}", request.number)
    if status is not None and status < 0:
        raise HypersphereError(
            f"campaign: Snakemake {stop.how_it_ended(status)}; the next campaign goes on where it was"
        )
    if status:
        raise HypersphereError("campaign: some runs failed; their logs, named above, say why")


def _snakemake(
    plan: Plan, jobs: int | None, deadline: float, request: stop.Request, targets: Iterable[Path]
) -> int | None:
    """Have Snakemake make targets; its return code, or None if it was asked to stop, by the deadline or the request.

    It starts no further job then, and waits for those at work, which get the same signal and save their states.
    """
    config = plan.config
    options = [path.relative_to(config.root).as_posix() for path in targets]
    cores = str(jobs * config.scale.threads) if jobs else "all"
    options += ["--nolock", "--cores", cores]
    if config.scale.resources.gpu:
        from hypersphere.training import device

        gpus = jobs or len(device.devices(config.settings.device))
        options += ["--resources", f"gpu={gpus}"]
    command = preview.calling(config.overrides, *options)
    process = subprocess.Popen(command, cwd=config.root, start_new_session=True)
    while process.poll() is None:
        if time.monotonic() > deadline or request.number is not None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            return None
        time.sleep(EVERY)
    return process.returncode
