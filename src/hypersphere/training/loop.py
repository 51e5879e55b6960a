"""Pretraining, top to bottom: data, views, method, loss, step, history.

Shapes: n images of a batch, m of a forward pass (m divides n), h = w pixels.
"""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor, nn

from hypersphere import files, keyed, registry
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Method
from hypersphere.spec import Component, Run
from hypersphere.training import checkpoint, optimisation
from hypersphere.training.checkpoint import Progress
from hypersphere.training.initialise import initialise
from hypersphere.views.draws import Draws, draw
from hypersphere.views.ops import make_views

ENCODER = "encoder.safetensors"
HISTORY = "history.csv"
TIMING = "timing.csv"
RESUME = "resume.safetensors"


class Execution(NamedTuple):
    """How to train, as opposed to what: on one machine none of this but ``device`` changes a byte of the result."""

    device: torch.device
    snapshots: frozenset[int]
    """Numbers of finished epochs at which to keep the encoder; 0 is the untrained one."""
    digest: str
    """Of run, code and data: a resume state with another one is left alone and overwritten."""
    save_every: float = 60.0
    """Seconds between resume states."""


class Outcome(NamedTuple):
    """How training ended."""

    status: str
    """``finished`` or ``diverged``."""
    epochs: int
    started_at: int
    """The epoch resumed from; 0 if from the start."""


def build_encoder(run: Run) -> nn.Module:
    """The run's encoder with its initial weights before any cut; maps [n, 3, h, w] to [n, feature_dim]."""
    return registry.load("encoders", run.encoder.name)(**run.encoder.parameters)


def build_method(run: Run) -> Method:
    """The run's model with its initial weights, cut if the run says so, on the CPU."""
    objective = registry.load("objectives", run.objective.name)
    method: Method = registry.load("methods", run.method.name)(
        build_encoder(run), _bind(objective, run.objective), _gradient(run.gradient), **run.method.parameters
    )
    initialise(method, run.seed)
    if run.initialisation is not None:
        registry.load("initialisations", run.initialisation.name)(method, **run.initialisation.parameters)
    return method


def _bind(function, component: Component):  # type: ignore[no-untyped-def]
    return lambda *tensors: function(*tensors, **component.parameters)


def _gradient(component: Component | None):  # type: ignore[no-untyped-def]
    if component is None:
        return lambda z: z
    return _bind(registry.load("gradients", component.name), component)


def train(
    run: Run,
    images: UInt8[np.ndarray, "n h w 3"],
    execution: Execution,
    folder: Path,
    numbers: Int[np.ndarray, "n"] | None = None,
) -> Outcome:
    """Train one run and write its weights, snapshots, history and timing into ``folder``.

    ``numbers`` are the images' original numbers, by which their views are drawn: an image gets the same views in a
    part of a dataset as in the whole. None: 0 … n-1.

    A loss that is not finite ends training with status ``diverged``: the files are written all the same, with the
    weights as they then are.

    Raises:
        HypersphereError: fewer images than a batch, or a damaged resume state.
    """
    if len(images) < run.batch.size:
        raise HypersphereError(
            f"run {run.name}: batch.size {run.batch.size} is more than the {len(images)} images of {run.dataset.name}"
        )
    method = build_method(run)
    method.to(execution.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimiser = optimisation.build(method, run.optimiser)
    state = folder / RESUME
    done = checkpoint.load_state(state, execution.digest, method, optimiser)
    progress = done or Progress(execution.digest, 0, [], [])
    start = progress.epochs
    data = torch.from_numpy(np.array(images)).to(execution.device)
    number = torch.arange(len(images)) if numbers is None else torch.from_numpy(np.array(numbers))
    if start == 0:
        for stale in folder.glob("snapshots/*.safetensors"):
            stale.unlink()
        _snapshot(method, folder, 0, execution, run.schedule.epochs)
    status, saved = "finished", time.monotonic()
    for epoch in range(start, run.schedule.epochs):
        begun = time.perf_counter()
        row = _epoch(run, method, optimiser, data, number, epoch)
        seconds = time.perf_counter() - begun
        progress.history.append(row)
        progress.timing.append({"epoch": epoch + 1, "seconds": round(seconds, 4)})
        progress = progress._replace(epochs=epoch + 1)
        if not np.isfinite([row["loss"], row["norm"]]).all():
            status = "diverged"
            break
        _snapshot(method, folder, epoch + 1, execution, run.schedule.epochs)
        if time.monotonic() - saved >= execution.save_every and epoch + 1 < run.schedule.epochs:
            checkpoint.save_state(state, method, optimiser, progress)
            saved = time.monotonic()
    checkpoint.save_weights(method.encoder, folder / ENCODER)
    files.write_text(folder / HISTORY, _csv(progress.history))
    files.write_text(folder / TIMING, _csv(progress.timing))
    state.unlink(missing_ok=True)
    return Outcome(status, progress.epochs, start)


def _epoch(
    run: Run,
    method: Method,
    optimiser: torch.optim.Optimizer,
    data: UInt8[Tensor, "n h w 3"],
    number: Int[Tensor, "n"],
    epoch: int,
) -> dict[str, float]:
    """One pass over the images; returns its history row (epoch counted from 1, mean loss, mean norm, last rate)."""
    images, size = len(data), data.shape[1]
    order = torch.from_numpy(keyed.permutation(images, run.seed, "order", epoch))
    draws = draw(run.views, int(number.max()) + 1, size, run.seed, epoch).take(number)
    batches = order[: images - images % run.batch.size].split(run.batch.size)
    steps, peak = run.schedule.epochs * len(batches), optimisation.peak_rate(run)
    total, fraction = torch.zeros(2, dtype=torch.float64, device=data.device), 0.0
    method.train()
    for i, index in enumerate(batches):
        fraction = optimisation.annealing(epoch * len(batches) + i, steps, run.schedule.warmup)
        optimisation.set_rate(optimiser, peak, fraction)
        total += _step(run, method, optimiser, data, draws, index)
    loss, norm = (total / max(1, len(batches))).tolist()
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


def _snapshot(method: Method, folder: Path, epoch: int, execution: Execution, last: int) -> None:
    if epoch in execution.snapshots and epoch != last:
        checkpoint.save_weights(method.encoder, folder / snapshot_name(epoch))


def snapshot_name(epoch: int) -> str:
    """Where, inside a run's folder, the encoder after ``epoch`` epochs is kept."""
    return f"snapshots/epoch-{epoch:04d}.safetensors"


def _csv(rows: list[dict[str, float]]) -> str:
    """Numbers as Python prints them, which is the shortest text that reads back to the same bits."""
    if not rows:
        return "epoch\n"
    lines = [",".join(rows[0])] + [",".join(repr(value) for value in row.values()) for row in rows]
    return "\n".join(lines) + "\n"
