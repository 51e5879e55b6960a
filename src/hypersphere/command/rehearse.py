"""``hypersphere rehearse``: one training step of every distinct run with two images on a CPU, before a GPU is rented.

Model, views, loss, optimiser and files are the run's own; its images are random, so no data are needed. Runs that
differ in nothing but seed, dataset of one size, schedule and batch take one step together.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import torch

from hypersphere import files
from hypersphere.command import memory
from hypersphere.command.kinds import first_and_count, kinds_of
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.datasets.training_sizes import Size
from hypersphere.errors import HypersphereError
from hypersphere.speed.trial import Trial
from hypersphere.training.determinism import make_deterministic
from hypersphere.wording import count_of, in_one_line

MAY_DIFFER = ("seed", "dataset", "schedule", "batch")
"""Fields that runs of one rehearsal may differ in: in a step they change numbers alone."""
IMAGES = 2


def step(run: Run, size: Size) -> str:
    """Train a run for one step on random images of a size: why it took none, or nothing.

    There are ``IMAGES`` of them, or as many in each of the groups that have batch statistics of their own (MoCo v2), or
    in each of two parts, if the encoder takes parts.
    """
    make_deterministic(threads=1)
    parts = min(run.batch.parts, 2)
    count = IMAGES * parts * int(run.method.parameters.get("groups", 1))
    batch = run.batch.model_copy(update={"size": count, "micro": count, "parts": parts})
    trial = Trial(run.model_copy(update={"batch": batch}), size, steps=1)
    cpu = torch.device("cpu")
    with files.temporary_folder("a run's state after one step") as folder:
        try:
            outcome = trial.train(folder, trial.source(cpu), cpu)
        except Exception as error:  # whatever would end the run on the rented machine
            if files.full(error):
                raise
            return in_one_line(f"{type(error).__name__}: {error}")
    return "" if outcome.status == "finished" else f"{outcome.status} at the first step"


def lines(plan: Plan, gigabytes: float | None = None) -> Iterator[str]:
    """A line for each step that failed, then what all of them showed; and for each kind of run that a card of so many
    ``gigabytes`` would not hold.

    If a run would fail, an error ends them.
    """
    kinds, without = kinds_of(plan, _key)
    failed: set[str] = set()
    pool = ProcessPoolExecutor(max_workers=os.cpu_count())
    try:
        steps = [pool.submit(step, runs[0], size) for size, runs in kinds]
        for at, future in enumerate(steps):
            runs = kinds[at].runs
            if problem := future.result():
                place = f"[{at + 1}/{len(kinds)}]"
                yield f"{place} {first_and_count(runs)}: {problem}"
                failed.update(run.name for run in runs)
    finally:
        pool.shutdown(cancel_futures=True)  # a command that is stopped leaves no workers behind
    for reason, count in without.items():
        yield f"not rehearsed  {count_of(count, 'run')}: {reason}"
    number = sum(len(kind.runs) for kind in kinds)
    by = count_of(len(kinds), "step")
    yield f"rehearsed  {count_of(number, 'run')} by {by}"
    if gigabytes is not None:
        for finding in memory.findings(plan, gigabytes):
            yield finding.text
            failed.update(run.name for run in finding.misfits)
    if failed:
        number_of_failed = count_of(len(failed), "run")
        raise HypersphereError(f"rehearse: {number_of_failed} would fail; the lines above say why")


def _key(run: Run, size: Size) -> str:
    """What decides whether a run's first step fails."""
    fields = run.model_dump(mode="json", exclude=set(MAY_DIFFER))
    return files.digest([fields, run.batch.parts > 1, size.side, size.classes])
