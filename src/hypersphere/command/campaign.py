"""Train, measure and pack pending runs, those that settle most claims first, within a number of minutes.

It needs neither Snakemake nor DVC. A run that time cuts off resumes in the next campaign.
"""

import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from filelock import FileLock

from hypersphere.config import claims as ledger
from hypersphere.config import plan as planning
from hypersphere.config import recorded, records
from hypersphere.config.cells import on_pixels, raw_pixels
from hypersphere.config.plan import Plan
from hypersphere.config.reasons import why_not_measured
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.provenance import stop
from hypersphere.wording import counted

EVERY = 0.5
"""Seconds between two looks at the workers."""
STOPPED = tuple(status for number in stop.SIGNALS for status in (128 + number, -number))
"""Exit statuses of workers that a signal asked to stop: they saved their state, or had not begun."""


WHOLE = (1, 1)
"""The part of a campaign that is all of it."""


def part(text: str) -> tuple[int, int]:
    """``2/8``, the second of eight parts, as numbers.

    Raises:
        HypersphereError: it is something else.
    """
    words = text.split("/")
    if len(words) == 2 and all(word.isascii() and word.isdigit() for word in words):
        number, count = map(int, words)
        if 1 <= number <= count:
            return number, count
    raise HypersphereError(f"campaign: --part: must be K/N with K from 1 to N, such as 2/8 (given: '{text}')")


def pending(plan: Plan, part: tuple[int, int] = WHOLE) -> list[Run]:
    """The chosen runs that no record measures as the plan asks, in the order in which a campaign takes them.

    Artifacts come by the number of their claims for each epoch of training that they still need; the runs of one come
    by seed, so that each cell has a first seed before any has a second.

    Args:
        plan: of the scale.
        part: which one, of how many. Which runs are in it depends on the plan alone, not on what is finished: parts
            that start one after another have no run in common.
    """
    number, count = part
    mine = {run.name for run in _queue(plan, {})[number - 1 :: count]}
    return [
        run for run in _queue(plan, records.read_all(plan.config.evidence, plan.config.expected)) if run.name in mine
    ]


def _queue(plan: Plan, known: records.Records) -> list[Run]:
    waiting = {name: run for name, run in plan.runs.items() if not _is_recorded(plan, run, known)}
    judged = _claims(plan)
    order: dict[tuple[str, str], float] = {}
    for key in plan.made:
        runs = [run for name, run in plan.runs_of(*key).items() if name in waiting]
        if runs and plan.config.chosen(*key):
            order[key] = judged.get(key, 0) / sum(run.schedule.epochs for run in runs)
    queue: dict[str, Run] = {}
    for key in sorted(order, key=lambda key: -order[key]):  # a stable sort: equal ones stay in the papers' order
        for run in sorted(plan.runs_of(*key).values(), key=lambda run: run.seed):
            if run.name in waiting:
                queue.setdefault(run.name, run)
    return list(queue.values())


def _is_recorded(plan: Plan, run: Run, known: records.Records) -> bool:
    return run.name in known and all(
        recorded.measuring(known, run.name, digest, epoch, target)
        for digest, asked in plan.asked[run.name].items()
        for epoch, target in asked.at
    )


def _claims(plan: Plan) -> dict[tuple[str, str], int]:
    """The number of claims that an artifact's cells would judge, by paper and artifact."""
    numbers: dict[tuple[str, str], int] = {}
    for paper in plan.config.papers:
        measured = plan.config.papers[paper].measured
        for claim in ledger.load(plan.config.claims_file(paper)):
            if claim.artifact in measured and not why_not_measured(plan, paper, claim):
                numbers[paper, claim.artifact] = numbers.get((paper, claim.artifact), 0) + 1
    return numbers


@dataclass
class Campaign:
    """The state of one campaign: workers, each with one run, and what has come of others."""

    plan: Plan
    overrides: dict[str, Any]
    packed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    workers: dict[str, BaseProcess] = field(default_factory=dict)

    def log(self, run: str) -> Path:
        """logs/<scale>/campaign/<run>.log: what its training and probes print."""
        return self.plan.config.root / "logs" / self.plan.config.scale_name / "campaign" / f"{run}.log"

    def start(self, run: Run) -> None:
        """Prepare a run's datasets, and give it a worker."""
        self._prepare(run)
        self.log(run.name).parent.mkdir(parents=True, exist_ok=True)
        arguments = (self.plan.config.root, self.overrides, run.name, self.log(run.name))
        worker = multiprocessing.get_context("spawn").Process(target=complete, args=arguments)
        worker.start()
        self.workers[run.name] = worker

    def _prepare(self, run: Run) -> None:
        from hypersphere.datasets import store

        given = self.plan.config.settings.data_root
        names = {target for asked in self.plan.asked[run.name].values() for _, target in asked.at}
        for name in sorted({run.dataset.name, *names}):
            dataset = self.plan.datasets[name]
            store.prepare(dataset, self.plan.config.root / "data", Path(given) if given else None)

    def collect(self) -> None:
        """Note the runs whose workers have ended."""
        for name in [name for name, worker in self.workers.items() if not worker.is_alive()]:
            worker = self.workers.pop(name)
            worker.join()
            if worker.exitcode == 0:
                self.packed.append(name)
                print(f"packed {name}", flush=True)
            elif worker.exitcode not in STOPPED:
                self.failed.append(name)
                print(f"failed {name}: see {self.log(name)}", flush=True)

    def finish(self) -> None:
        """Ask the workers to save their states and stop, and wait for them."""
        for worker in self.workers.values():
            worker.terminate()
        for worker in self.workers.values():
            worker.join()
        self.collect()


def run(plan: Plan, overrides: dict[str, Any], minutes: float, jobs: int | None, part: tuple[int, int] = WHOLE) -> None:
    """Complete pending runs, several at a time, until the minutes are over or none is left.

    Args:
        plan: of the scale.
        overrides: what the command line set; workers make the plan again.
        minutes: after which runs in training save their states and stop.
        jobs: runs at a time; None: one for each core (of ``threads``), or for each GPU.
        part: of the pending runs; other processes take the others.

    Raises:
        HypersphereError: runs failed; the sentence names them.
    """
    queue = pending(plan, part)
    waiting, campaign = iter(queue), Campaign(plan, overrides)
    print(f"{counted(len(queue), 'run')} pending; records go to {plan.config.evidence}", flush=True)
    stop.name_parent()
    with stop.on_request() as request:
        for _ in _until(time.monotonic() + 60 * minutes):
            campaign.collect()
            while len(campaign.workers) < (jobs or _slots(plan)) and (run := next(waiting, None)):
                campaign.start(run)
            if not campaign.workers or request.number is not None:
                break
        campaign.finish()
    left = len(queue) - len(campaign.packed) - len(campaign.failed)
    print(f"{counted(len(campaign.packed), 'run')} packed, {left} left")
    if campaign.failed:
        raise HypersphereError(f"campaign: failed: {', '.join(campaign.failed)}; their logs say why")
    if request.number is not None:
        raise stop.StoppedError(f"campaign: stopped by {request.name}", request.number)


def _until(deadline: float) -> Iterator[None]:
    while time.monotonic() < deadline:
        yield
        time.sleep(EVERY)


def _slots(plan: Plan) -> int:
    if plan.config.scale.resources.gpu:
        from hypersphere.training import device

        return len(device.devices(plan.config.settings.device))
    return max(1, _cores() // plan.config.scale.threads)


def _cores() -> int:
    """The cores that this process may use: a job of a cluster has some of its node's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def complete(root: Path, overrides: dict[str, Any], name: str, log: Path) -> None:
    """Train, probe and pack one run; its own process, which exits with 2 after a failure that its log describes."""
    stop.exit_in_order()
    with log.open("a", encoding="utf-8") as file, redirect_stdout(file), redirect_stderr(file):
        try:
            _complete(planning.make(root, overrides), name)
        except HypersphereError as error:
            print(f"hypersphere: {error}")
            sys.exit(error.status)
        except Exception:
            traceback.print_exc()
            sys.exit(1)


def _complete(plan: Plan, name: str) -> None:
    from hypersphere.probes import evaluate
    from hypersphere.provenance import evidence
    from hypersphere.training import pretrain

    run = plan.run(name)
    pretrain.pretrain(plan, [run])
    evaluate.evaluate_runs(plan, [run])
    asked = plan.asked[name].values()
    for dataset in sorted({target for one in asked if on_pixels(one.protocol) for _, target in one.at}):
        # Runs of one dataset share this measurement: one process makes it while the others wait, and find it made.
        (plan.config.results / "evaluations").mkdir(parents=True, exist_ok=True)
        with FileLock(plan.config.results / "evaluations" / f".{raw_pixels(dataset)}.lock"):
            evaluate.evaluate_pixels(plan, dataset)
    evidence.pack(plan, run)
