"""Pretraining, top to bottom: data, views, method, loss, step, history.

Shapes: n images of a batch, m of a forward pass (m divides n), h = w pixels.
"""

import time
from collections.abc import Callable
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor, nn

from hypersphere import files, keyed, registry, stop
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import GradientTransform, Method, Objective
from hypersphere.spec import Component, Run
from hypersphere.training import checkpoint, optimisation
from hypersphere.training.checkpoint import Keeper, Progress
from hypersphere.training.initialise import initialise
from hypersphere.views.draws import Draws, draw
from hypersphere.views.ops import make_views

ENCODER = "encoder.safetensors"
HISTORY = "history.csv"
TIMING = "timing.csv"


class Execution(NamedTuple):
    """How to train, as opposed to what: on one machine none of this but ``device`` changes a byte of the result."""

    device: torch.device
    snapshots: frozenset[int]
    """Numbers of finished epochs at which to keep the encoder; 0 is the untrained one."""
    parts: dict[str, Any]
    """What decides the bytes (run, code, data …): only a resume state of the same parts is gone on with."""
    save_every: float = 60.0
    """Seconds between resume states."""
    request: stop.Request = stop.Request()
    """To stop: looked at between two steps."""


class Outcome(NamedTuple):
    """How training ended."""

    status: str
    """``finished`` or ``diverged``."""
    epochs: int
    starts: list[int]
    """The step at which each process that worked on the run began: [0], unless it was resumed."""
    snapshots: dict[str, str]
    """sha256 of each snapshot, by its name."""
    seconds: float
    """Spent in epochs, by all processes together."""


def build_encoder(run: Run) -> nn.Module:
    """The run's encoder with its initial weights before any cut; maps [n, 3, h, w] to [n, feature_dim]."""
    return registry.load("encoders", run.encoder.name)(**run.encoder.parameters)


def build_method(run: Run) -> Method:
    """The run's model with its initial weights, cut if the run says so, on the CPU."""
    method: Method = registry.load("methods", run.method.name)(
        build_encoder(run), loss_of(run), _gradient(run.gradient), **run.method.parameters
    )
    initialise(method, run.seed)
    if run.initialisation is not None:
        registry.load("initialisations", run.initialisation.name)(method, **run.initialisation.parameters)
    return method


def loss_of(run: Run) -> Objective:
    """The run's objective plus its regulariser, of two batches of embeddings and whatever else the method gives."""
    terms = [_term(part, run.logits) for part in (run.objective, run.regulariser) if part is not None]
    return lambda *batches, **given: reduce(add, [term(*batches, **given) for term in terms])


def _term(component: Component, logits: Component | None) -> Objective:
    taken = registry.tensors("objectives", component.name)
    loss = _bind("objectives", component)
    if registry.TO_LOGITS in taken and logits is not None:
        loss = partial(loss, **{registry.TO_LOGITS: _bind("logits", logits)})
    return lambda *batches, **given: loss(*batches, **{name: given[name] for name in taken if name in given})


def _gradient(component: Component | None) -> GradientTransform:
    return (lambda z: z) if component is None else _bind("gradients", component)


def _bind(kind: registry.Kind, component: Component) -> Callable[..., Tensor]:
    return partial(registry.load(kind, component.name), **component.parameters)


def train(
    run: Run,
    images: UInt8[np.ndarray, "n h w 3"],
    execution: Execution,
    folder: Path,
    numbers: Int[np.ndarray, "n"] | None = None,
) -> Outcome:
    """Train one run and write its weights, snapshots, history and timing into ``folder``, or go on with it there.

    The resume state is left in ``folder``: it is for the caller to remove, once the result is where it belongs.

    ``numbers`` are the images' original numbers, by which their views are drawn: an image gets the same views in a
    part of a dataset as in the whole. None: 0 … n-1.

    A loss that is not finite ends training with status ``diverged``: the files are written all the same, with the
    weights as they then are.

    Raises:
        HypersphereError: fewer images than a batch, or a file cannot be written.
        StoppedError: we were asked to stop; the state to go on from is saved.
    """
    if len(images) < run.batch.size:
        raise HypersphereError(
            f"run {run.name}: batch.size {run.batch.size} is more than the {len(images)} images of {run.dataset.name}"
        )
    method = build_method(run)
    method.to(execution.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimiser = optimisation.build(method, run.optimiser)
    try:
        saved = checkpoint.load_state(folder, execution.parts, method, optimiser)
    except HypersphereError as refused:
        print(f"note: {refused}; starting over", flush=True)
        saved = None
    progress = saved or Progress(execution.parts)
    progress.starts.append(progress.step)
    data = torch.from_numpy(np.array(images)).to(execution.device)
    number = torch.arange(len(images)) if numbers is None else torch.from_numpy(np.array(numbers))
    if saved is None:
        for stale in folder.glob("snapshots/*.safetensors"):
            stale.unlink()
        _snapshot(method, folder, 0, execution, run.schedule.epochs, progress)
    status, per_epoch = "finished", len(images) // run.batch.size
    keeper = Keeper(folder, method, optimiser, progress, execution.save_every, execution.request)
    while progress.step < run.schedule.epochs * per_epoch:
        row = _epoch(run, method, optimiser, data, number, progress, keeper)
        progress.end_epoch(row)
        if not np.isfinite([row["loss"], row["norm"]]).all():
            status = "diverged"
            break
        _snapshot(method, folder, len(progress.history), execution, run.schedule.epochs, progress)
        if len(progress.history) < run.schedule.epochs and keeper.due():
            keeper.save()
    checkpoint.save_weights(method.encoder, folder / ENCODER)
    files.write_text(folder / HISTORY, _csv(progress.history))
    files.write_text(folder / TIMING, _csv(progress.timing))
    seconds = sum(row["seconds"] for row in progress.timing)
    return Outcome(status, len(progress.history), progress.starts, progress.snapshots, seconds)


def _epoch(
    run: Run,
    method: Method,
    optimiser: torch.optim.Optimizer,
    data: UInt8[Tensor, "n h w 3"],
    number: Int[Tensor, "n"],
    progress: Progress,
    keeper: Keeper,
) -> dict[str, float]:
    """The rest of an epoch; returns its history row (epoch counted from 1, mean loss, mean norm, last rate)."""
    per_epoch = len(data) // run.batch.size
    epoch, first = divmod(progress.step, per_epoch)
    order = torch.from_numpy(keyed.permutation(len(data), run.seed, "order", epoch))
    draws = draw(run.views, int(number.max()) + 1, data.shape[1], run.seed, epoch).take(number)
    batches = order[: per_epoch * run.batch.size].split(run.batch.size)
    steps, peak = run.schedule.epochs * per_epoch, optimisation.peak_rate(run)
    total = torch.tensor(progress.sums, dtype=torch.float64, device=data.device)
    method.train()
    for i in range(first, per_epoch):
        begun = time.perf_counter()
        fraction = optimisation.annealing(progress.step, steps, run.schedule.warmup)
        optimisation.set_rate(optimiser, peak, fraction)
        total += _step(run, method, optimiser, data, draws, batches[i])
        progress.step += 1
        progress.seconds += time.perf_counter() - begun
        if i + 1 < per_epoch and keeper.due():  # the end of the epoch is the caller's
            progress.sums = total.tolist()
            keeper.save()
    loss, norm = (total / per_epoch).tolist()
    return {"epoch": epoch + 1, "loss": loss, "norm": norm, "learning_rate": peak * fraction}


def _step(
    run: Run,
    method: Method,
    optimiser: torch.optim.Optimizer,
    data: UInt8[Tensor, "n h w 3"],
    draws: Draws,
    index: Int[Tensor, "n"],
) -> Tensor:
    """One optimiser step over ``index``, in passes of ``micro`` images whose gradients are averaged; [loss, norm]."""
    passes = index.split(run.batch.micro)
    mean = torch.zeros(2, dtype=torch.float64, device=data.device)
    optimiser.zero_grad(set_to_none=True)
    for part in passes:
        views = make_views(data[part.to(data.device)], draws.take(part).to(data.device), run.views)
        output = method(views)
        (output.loss / len(passes)).backward()
        norm = torch.linalg.vector_norm(output.embeddings, dim=1).mean()
        mean += torch.stack([output.loss.detach(), norm]) / len(passes)
    optimiser.step()
    return mean


def _snapshot(method: Method, folder: Path, epoch: int, execution: Execution, last: int, progress: Progress) -> None:
    if epoch in execution.snapshots and epoch != last:
        checkpoint.save_weights(method.encoder, folder / snapshot_name(epoch))
        progress.snapshots[snapshot_name(epoch)] = files.sha256(folder / snapshot_name(epoch))


def snapshot_name(epoch: int) -> str:
    """Where, inside a run's folder, the encoder after ``epoch`` epochs is kept."""
    return f"snapshots/epoch-{epoch:04d}.safetensors"


def _csv(rows: list[dict[str, float]]) -> str:
    """Numbers as Python prints them, which is the shortest text that reads back to the same bits."""
    if not rows:
        return "epoch\n"
    lines = [",".join(rows[0])] + [",".join(repr(value) for value in row.values()) for row in rows]
    return "\n".join(lines) + "\n"
