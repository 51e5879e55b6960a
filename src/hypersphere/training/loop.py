"""Pretraining, top to bottom: data, views, method, loss, step, history; for every kind of run.

Shapes: N examples of a training set, n of a batch, v views of each.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from hypersphere import files, prng
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Batch, Method
from hypersphere.provenance import stop
from hypersphere.training import optimisation
from hypersphere.training.build import build_method
from hypersphere.training.checkpoint import Checkpointer, Progress
from hypersphere.training.weights import ENCODER, HEADS, save_weights, snapshot_names

HISTORY = "history.csv"
TIMING = "timing.csv"
AT_STEP = "at step "
"""Beginning of the note on an error of training: at which step it happened, and which state is kept."""


class Execution(NamedTuple):
    """How to train, as opposed to what: on one machine only ``device`` changes a byte of the weights."""

    device: torch.device
    snapshots: frozenset[int]
    """Numbers of finished epochs at which encoder and heads are saved; at 0 they are untrained."""
    identity: dict[str, Any]
    """What determines the bytes (run, code, data …): only a resume state of the same identity is resumed."""
    precision: torch.dtype = torch.float32
    """Of matrix products and convolutions in the forward and backward pass."""
    save_every: float = 60.0
    """Seconds between resume states."""
    request: stop.Request = stop.Request()
    """Set by a signal; training stops after the current step."""


class Source(Protocol):
    """What a run is trained on."""

    labels: Int[Tensor, "N"]
    """On the device."""
    at_once: int
    """Examples whose views are best made together. If two passes have more, each pass's views are made alone."""

    def start(self, epoch: int) -> None:
        """Draw what an epoch's views need; epochs count from 0."""

    def views(self, index: Int[Tensor, "n"]) -> Shaped[Tensor, "v n ..."]:
        """Views of these examples, on the device; ``index`` stays on the CPU, so that nothing waits for it."""


def train(run: Run, source: Source, execution: Execution, folder: Path) -> Progress:
    """Train one run, or resume it, and write its weights, snapshots, history and timing into ``folder``.

    The resume state stays in ``folder``: the caller removes it once the result is in its place.

    A loss that is not finite ends training with status ``diverged``. All files are written even then, with the weights
    of that moment.
    """
    count = len(source.labels)
    run.check_batch(count)
    method = build_method(run, count, int(source.labels.max()) + 1)
    method.to(execution.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimiser = optimisation.build(method, run.optimiser)
    per_epoch, passes = count // run.batch.size, run.batch.size // run.batch.micro
    peak, scheduled = (
        optimisation.peak_rate(run),
        (run.schedule.horizon or run.schedule.epochs) * per_epoch,
    )

    def epoch(progress: Progress, checkpointer: Checkpointer) -> dict[str, float]:
        first = progress.step - progress.epochs * per_epoch
        order = torch.from_numpy(prng.permutation(count, run.seed, "order", progress.epochs))
        source.start(progress.epochs)
        steps = order[: per_epoch * run.batch.size].split(run.batch.size)
        total = torch.tensor(progress.sums, dtype=torch.float64, device=source.labels.device)
        method.train()
        views = passes_of(source, steps, first, run.batch.micro)
        for i in range(first, per_epoch):
            start = time.perf_counter()
            fraction = optimisation.fraction_of_peak(run.schedule, progress.step, per_epoch, passes)
            optimisation.set_rate(optimiser, peak, fraction)
            rng_key = run.seed, progress.epochs, i
            total += _step(
                run, method, optimiser, views, steps[i], source.labels, rng_key, execution
            )
            progress.step += 1
            method.after_step((progress.step - 1) / scheduled, progress.step / scheduled)
            progress.seconds += time.perf_counter() - start
            if i + 1 < per_epoch and checkpointer.due():  # at the end of an epoch the caller saves
                progress.sums = total.tolist()
                checkpointer.save()
        loss, norm = (total / per_epoch).tolist()
        return {
            "epoch": progress.epochs + 1,
            "loss": loss,
            "norm": norm,
            "learning_rate": peak * fraction,
        }

    return epochs(run, method, method, optimiser, epoch, execution, folder)


def epochs(
    run: Run,
    method: Method,
    state: nn.Module,
    optimiser: torch.optim.Optimizer,
    epoch: Callable[[Progress, Checkpointer], dict[str, float]],
    execution: Execution,
    folder: Path,
) -> Progress:
    """Take a run's epochs one after the other, from where it was left, and write its files: see ``train``.

    ``method`` is its model, and ``state`` the model with whatever else must be kept to resume. ``epoch`` trains the
    rest of the current epoch, and returns its row of the history: epoch from 1, mean loss, mean norm, last rate …
    """
    begun, every, request = Progress(execution.identity), execution.save_every, execution.request
    checkpointer = Checkpointer(folder, state, optimiser, begun, every, request)
    try:
        resumed = checkpointer.load(execution.snapshots)
    except HypersphereError as error:
        print(f"note: {error}; starting over", flush=True)
        resumed = False
    progress = checkpointer.progress
    progress.starts.append(progress.step)
    if not resumed:
        for stale in folder.glob("snapshots/*.safetensors"):
            stale.unlink()
        _snapshot(method, folder, execution, run.schedule.epochs, progress)
    try:
        while progress.epochs < run.schedule.epochs:
            row = epoch(progress, checkpointer)
            progress.history.append(row)
            progress.timing.append({"epoch": row["epoch"], "seconds": round(progress.seconds, 4)})
            progress.sums, progress.seconds = [0.0, 0.0], 0.0
            if not np.isfinite([row["loss"], row["norm"]]).all():
                progress.status = "diverged"
                break
            _snapshot(method, folder, execution, run.schedule.epochs, progress)
            if progress.epochs < run.schedule.epochs and checkpointer.due():
                checkpointer.save()
    except Exception as error:
        left = (
            f"the state of step {checkpointer.saved} is kept"
            if checkpointer.saved
            else "nothing was saved yet"
        )
        error.add_note(f"{AT_STEP}{progress.step + 1}; {left}")
        raise
    save_weights(method.encoder, folder / ENCODER)
    save_weights(method.head, folder / HEADS)
    files.write_text(folder / HISTORY, _csv(progress.history))
    files.write_text(folder / TIMING, _csv(progress.timing))
    return progress


def passes_of(
    source: Source, steps: Sequence[Int[Tensor, "n"]], first: int, micro: int
) -> Iterator[Shaped[Tensor, "v m ..."]]:
    """Views of each pass of an epoch, from step ``first`` on.

    For small images the calls take as long as the arithmetic, so views are made for several passes at once. These
    groups are counted from the epoch's first pass, so that a resumed run makes the same groups.
    """
    passes = [part for step in steps for part in step.split(micro)]
    begin, together = first * len(passes) // len(steps), max(1, source.at_once // len(passes[0]))
    for start in range(begin - begin % together, len(passes), together):
        some = passes[start : start + together]
        # Without a name for them, so that they are gone before the next are made.
        yield from source.views(torch.cat(some)).split([len(part) for part in some], dim=1)[
            max(0, begin - start) :
        ]


def _step(
    run: Run,
    method: Method,
    optimiser: torch.optim.Optimizer,
    views: Iterator[Shaped[Tensor, "v m ..."]],
    index: Int[Tensor, "n"],
    labels: Int[Tensor, "N"],
    rng_key: tuple[int, ...],
    execution: Execution,
) -> Float[Tensor, "2"]:
    """One optimiser step over the examples ``index``, in passes of ``batch.micro``, whose views come next in ``views``.

    Returns mean loss and mean norm.

    In another precision than float32, matrix products and convolutions of the encoder and the heads are rounded to it;
    weights, gradients, losses and the optimiser stay in float32.
    """
    device, passes = labels.device, index.split(run.batch.micro)
    share = 1 / len(passes) if run.batch.accumulate == "mean" else 1.0
    mean = torch.zeros(2, dtype=torch.float64, device=device)
    optimiser.zero_grad(set_to_none=True)
    for number, part in enumerate(passes):
        places = part.to(device)
        seen = next(views)
        with torch.autocast(
            device.type, execution.precision, enabled=execution.precision != torch.float32
        ):
            output = method(Batch(seen, places, labels[places], (*rng_key, number)))
        (output.loss * share).backward()
        norm = torch.linalg.vector_norm(output.embeddings.float(), dim=1).mean()
        mean += torch.stack([output.loss.detach(), norm]) / len(passes)
    optimiser.step()
    return mean


def _snapshot(
    method: Method, folder: Path, execution: Execution, last: int, progress: Progress
) -> None:
    if progress.epochs in execution.snapshots and progress.epochs != last:
        for name, module in zip(
            snapshot_names(progress.epochs), (method.encoder, method.head), strict=True
        ):
            save_weights(module, folder / name)
            progress.snapshots[name] = files.sha256(folder / name)


def _csv(rows: list[dict[str, float]]) -> str:
    """CSV with numbers as Python prints them: the shortest text that reads back to the same bits."""
    if not rows:
        return "epoch\n"
    lines = [",".join(rows[0])] + [",".join(repr(value) for value in row.values()) for row in rows]
    return "\n".join(lines) + "\n"
