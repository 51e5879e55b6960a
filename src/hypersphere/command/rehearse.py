"""``hypersphere rehearse``: one training step of every distinct run with two images on a CPU, before a GPU is rented.

Model, views, loss, optimiser and files are the run's own; its images are random, so no data are needed. Runs that
differ in nothing but seed, dataset of one size, schedule and batch take one step together. A step also says how much
memory a run will need on its device.
"""

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.datasets.sizes import Size, stated
from hypersphere.errors import HypersphereError
from hypersphere.training.checkpoint import RESUME
from hypersphere.training.determinism import make_deterministic
from hypersphere.training.loop import Execution
from hypersphere.training.trainers.image import Images, train
from hypersphere.training.weights import ENCODER, HEADS
from hypersphere.wording import counted

TOGETHER = ("seed", "dataset", "schedule", "batch")
"""Fields of a run that change nothing in a step but its numbers and its memory."""
IMAGES = 2
GIB = 2**30


class Rehearsed(NamedTuple):
    """What one step showed."""

    fixed: int
    """Bytes of weights, gradients and the optimiser's state."""
    of_image: int
    """Bytes that the backward pass keeps for each image of a pass, all its views together."""
    problem: str = ""
    """Why it took no step; empty if it did."""

    def memory(self, run: Run) -> int:
        """The bytes that a run needs at least, in passes of ``batch.micro`` images."""
        return self.fixed + self.of_image * run.batch.micro


def groups(plan: Plan) -> tuple[list[tuple[Size, list[Run]]], dict[str, list[Run]]]:
    """The plan's runs that take a step together; and those that take none, by the reason."""
    together: dict[str, tuple[Size, list[Run]]] = {}
    without: dict[str, list[Run]] = {}
    chosen = [key for key in plan.made if plan.config.chosen(*key)]
    for run in {name: run for key in chosen for name, run in plan.runs_of(*key).items()}.values():
        size = stated(run.dataset)
        if not registry.read_constant("trainers", run.kind, "IMAGES", False):
            without.setdefault(f"{run.kind} runs need data of their own", []).append(run)
        elif size is None:
            without.setdefault(f"the size of {run.dataset.name} is not known until it is prepared", []).append(run)
        else:
            key = files.digest([run.model_dump(mode="json", exclude={*TOGETHER}), size.side, size.classes])
            together.setdefault(key, (size, []))[1].append(run)
    return list(together.values()), without


def step(run: Run, side: int, classes: int) -> Rehearsed:
    """Train a run for one step on random images of side x side pixels, and look at what that took.

    There are ``IMAGES`` of them, or as many in each of the groups that have batch statistics of their own (MoCo v2).
    """
    make_deterministic(threads=1)
    schedule = run.schedule.model_copy(update={"epochs": 1})
    count = IMAGES * int(run.method.parameters.get("groups", 1))
    batch = run.batch.model_copy(update={"size": count, "micro": count})
    run = run.model_copy(update={"schedule": schedule, "batch": batch})
    pixels = np.random.default_rng(0).integers(0, 256, (count, side, side, 3), dtype=np.uint8)
    images = Images(pixels, np.arange(count) % classes, np.arange(count))
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        if not isinstance(tensor, torch.nn.Parameter):
            storage = tensor.untyped_storage()
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with tempfile.TemporaryDirectory() as name:
        folder, execution = Path(name), Execution(torch.device("cpu"), frozenset(), {"run": run.name})
        try:
            with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
                outcome = train(run, images, execution, folder)
        except Exception as error:  # whatever would end the run on the rented machine
            return Rehearsed(0, 0, " ".join(f"{type(error).__name__}: {error}".split()))
        if outcome.status != "finished":
            return Rehearsed(0, 0, f"{outcome.status} at the first step")
        fixed = sum((folder / one).stat().st_size for one in (RESUME, ENCODER, HEADS) if (folder / one).exists())
    return Rehearsed(fixed, sum(kept.values()) // count)


def lines(plan: Plan, verbose: bool = False) -> Iterator[str]:
    """A line for each step that failed (with ``verbose``, for every step), then what all of them showed.

    Raises:
        HypersphereError: at the end, if a run would fail.
    """
    together, without = groups(plan)
    largest, failed = (0, ""), 0
    pool = ProcessPoolExecutor(max_workers=os.cpu_count())
    try:
        asked: list[tuple[Any, list[Run]]] = [
            (pool.submit(step, runs[0], int(size.side), size.classes), runs) for size, runs in together
        ]
        for at, (future, runs) in enumerate(asked, start=1):
            seen: Rehearsed = future.result()
            most = max(runs, key=seen.memory)
            said = seen.problem or f"{seen.memory(most) / GIB:.1f} GiB"
            if seen.problem or verbose:
                also = f" and {counted(len(runs) - 1, 'run')} like it" if len(runs) > 1 else ""
                yield f"[{at}/{len(asked)}] {most.name}{also}: {said}"
            failed += len(runs) if seen.problem else 0
            largest = largest if seen.problem else max(largest, (seen.memory(most), most.name))
    finally:
        pool.shutdown(cancel_futures=True)  # a command that is stopped leaves no workers behind
    for reason, runs in without.items():
        yield f"not rehearsed  {counted(len(runs), 'run')}: {reason}"
    yield f"rehearsed  {counted(sum(len(runs) for _, runs in asked), 'run')} by {counted(len(asked), 'step')}"
    if largest[1]:
        yield f"memory     at most {largest[0] / GIB:.1f} GiB ({largest[1]}), and what the device's libraries take"
    if failed:
        raise HypersphereError(f"rehearse: {counted(failed, 'run')} would fail; the lines above say why")
