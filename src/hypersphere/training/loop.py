"""Pretraining, top to bottom: data, views, method, loss, step, history; for every kind of run.

Shapes: N examples of a training set, n of a batch, v views of each.
"""

import csv
import io
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from hypersphere import files, prng
from hypersphere.config.project import Compile, Precision
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Batch, Method
from hypersphere.objectives.geometry import effective_rank, unit
from hypersphere.provenance import stop
from hypersphere.training import optimisation
from hypersphere.training.build import build_method
from hypersphere.training.checkpoint import Checkpointer, Progress
from hypersphere.training.determinism import allow_tf32
from hypersphere.training.sign_of_life import SignOfLife
from hypersphere.training.weights import ENCODER, HEADS, save_weights, snapshot_names
from hypersphere.transfer import send

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
    precision: Precision = "float32"
    """Of matrix products and convolutions in the forward and backward pass."""
    compile: Compile = "none"
    """How torch compiles the encoder; other kernels round sums otherwise."""
    save_every: float = 60.0
    """Seconds between resume states."""
    request: stop.Request = stop.Request()
    """Set by a signal; training stops after the current step."""


class Source(Protocol):
    """What a run is trained on."""

    labels: Int[Tensor, "N"]
    """The examples' labels, on the device."""
    at_once: int
    """Examples whose views are best made together. If two passes have more, each pass's views are made alone."""

    def start(self, epoch: int) -> None:
        """Draw what an epoch's views need; epochs count from 0."""

    def views(self, index: Int[Tensor, "n"]) -> Shaped[Tensor, "v n ..."]:
        """Views of these examples, on the device; ``index`` stays on the CPU, so that nothing waits for it."""


def train(run: Run, source: Source, execution: Execution, folder: Path) -> Progress:
    """Train one run on a source's examples, or resume it, and write its files into ``folder``."""
    return OfExamples(run, source, execution, folder).train()


class Training(ABC):
    """The training of one run, to be read from top to bottom: ``train``, its epochs; then ``OfExamples``, their steps.

    Every kind of run shares ``train``. What an epoch is differs, and a subclass has ``epoch`` for it: steps over a set
    of examples (``OfExamples``: images, sentences), or an episode (an agent of the control plug-in, which also keeps
    more than its model to resume from).
    """

    def __init__(
        self,
        run: Run,
        method: Method,
        optimiser: torch.optim.Optimizer,
        execution: Execution,
        folder: Path,
        images: int,
        state: nn.Module | None = None,
    ) -> None:
        """Begin nothing yet.

        ``images`` is how many examples an epoch has. ``state`` is all modules whose tensors are kept to resume from;
        None: the method.
        """
        self.run = run
        self.method = method
        self.optimiser = optimiser
        self.execution = execution
        self.folder = folder
        self.checkpointer = Checkpointer(
            folder,
            method if state is None else state,
            optimiser,
            Progress(execution.identity),
            execution.save_every,
            execution.request,
        )
        name = folder.parent.name  # of the run, in whose folder this one is
        self.sign_of_life = SignOfLife(folder, name, run.schedule.epochs, images)

    @property
    def progress(self) -> Progress:
        """How far training is."""
        return self.checkpointer.progress

    def train(self) -> Progress:
        """Take all epochs from where they were left, and write weights, snapshots, history and timing into the folder.

        The resume state stays in the folder: the caller removes it once the result is in its place.

        A loss that is not finite ends training with status ``diverged``. All files are written even then, with the
        weights of that moment.
        """
        allow_tf32(self.execution.precision == "tf32")
        self.resume()
        progress, last = self.progress, self.run.schedule.epochs
        try:
            while progress.epochs < last:
                row = self.epoch()
                seconds = round(progress.seconds, 4)
                progress.history.append(row)
                progress.timing.append({"epoch": row["epoch"], "seconds": seconds})
                progress.sums = [0.0, 0.0]
                progress.seconds = 0.0
                self.show(row)
                if not np.isfinite([row["loss"], row["norm"]]).all():
                    progress.status = "diverged"
                    break
                _snapshot(self.method, self.folder, self.execution, last, progress)
                if progress.epochs < last and self.checkpointer.due():
                    self.checkpointer.save()
        except Exception as error:
            saved = self.checkpointer.saved
            left = f"the state of step {saved} is kept" if saved else "nothing was saved yet"
            error.add_note(f"{AT_STEP}{progress.step + 1}; {left}")
            raise
        save_weights(self.method.encoder, self.folder / ENCODER)
        save_weights(self.method.head, self.folder / HEADS)
        self.write_history()
        self.sign_of_life.end()
        return progress

    def show(self, row: dict[str, float]) -> None:
        """Let the last epoch be seen, in the log and in the files of the history."""
        if self.sign_of_life.due(self.progress.epochs):
            self.write_history()
            self.sign_of_life.tell(row, self.progress.timing, self.rank())

    def write_history(self) -> None:
        files.write_text(self.folder / HISTORY, _csv(self.progress.history))
        files.write_text(self.folder / TIMING, _csv(self.progress.timing))

    def rank(self) -> float:
        """The effective rank of the directions of some embeddings of the last epoch; nan: not known."""
        return math.nan

    def resume(self) -> None:
        """Restore the state in the folder, or start over: then snapshots of an earlier start are removed."""
        try:
            resumed = self.checkpointer.load(self.execution.snapshots)
        except HypersphereError as error:
            print(f"note: {error}; starting over", flush=True)
            resumed = False
        progress = self.progress
        progress.starts.append(progress.step)
        if not resumed:
            for stale in self.folder.glob("snapshots/*.safetensors"):
                stale.unlink()
            _snapshot(self.method, self.folder, self.execution, self.run.schedule.epochs, progress)

    @abstractmethod
    def epoch(self) -> dict[str, float]:
        """Train the rest of the current epoch. Returns its row of the history: epoch from 1, loss, norm, last rate …

        Loss and norm are means over the epoch. ``progress`` counts its steps and seconds.
        """


class OfExamples(Training):
    """Training by steps over a source's examples: an epoch shows each once, in an order of its own."""

    def __init__(self, run: Run, source: Source, execution: Execution, folder: Path) -> None:
        count = len(source.labels)
        run.check_batch(count)
        method = build_method(run, count, int(source.labels.max()) + 1)
        method.to(execution.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        if execution.compile != "none":
            method.encoder.compile(mode=execution.compile)
        optimiser = optimisation.build(method, run.optimiser)
        super().__init__(run, method, optimiser, execution, folder, count)
        self.source = source
        self.embeddings = torch.zeros(0, 0)
        """Of the last pass."""
        self.peak = optimisation.peak_rate(run)
        self.per_epoch = count // run.batch.size
        """Steps of an epoch; examples that fill no step are left out."""

    def epoch(self) -> dict[str, float]:
        """Take the steps of the current epoch that are left."""
        progress, batch, source = self.progress, self.run.batch, self.source
        key = self.run.seed, progress.epochs
        order = prng.permutation(len(source.labels), self.run.seed, "order", progress.epochs)
        steps = torch.from_numpy(order)[: self.per_epoch * batch.size].split(batch.size)
        first = progress.step - progress.epochs * self.per_epoch
        source.start(progress.epochs)
        views = passes_of(source, steps, first, batch.micro)
        total = torch.tensor(progress.sums, dtype=torch.float64, device=source.labels.device)
        self.method.train()
        for number in range(first, self.per_epoch):
            start = time.perf_counter()
            rate = self.set_rate()
            mean, self.embeddings = _step(
                self.run,
                self.method,
                self.optimiser,
                views,
                steps[number],
                source.labels,
                (*key, number),
                self.execution,
            )
            total += mean
            self.sign_of_life.beat()
            progress.step += 1
            self.method.after_step(
                self.share_done(progress.step - 1), self.share_done(progress.step)
            )
            progress.seconds += time.perf_counter() - start
            is_last = number + 1 == self.per_epoch  # then ``train`` saves
            if not is_last and self.checkpointer.due():
                progress.sums = total.tolist()
                self.checkpointer.save()
        loss, norm = (total / self.per_epoch).tolist()
        return {"epoch": progress.epochs + 1, "loss": loss, "norm": norm, "learning_rate": rate}

    def rank(self) -> float:
        directions = unit(self.embeddings.float())
        return effective_rank(directions) if directions.isfinite().all() else math.nan

    def set_rate(self) -> float:
        """Set the next step's learning rate, and return it."""
        batch = self.run.batch
        fraction = optimisation.fraction_of_peak(
            self.run.schedule, self.progress.step, self.per_epoch, batch.size // batch.micro
        )
        optimisation.set_rate(self.optimiser, self.peak, fraction)
        return self.peak * fraction

    def share_done(self, steps: int) -> float:
        """The share of the schedule's steps that so many are."""
        schedule = self.run.schedule
        return steps / ((schedule.horizon or schedule.epochs) * self.per_epoch)


def passes_of(
    source: Source, steps: Sequence[Int[Tensor, "n"]], first: int, micro: int
) -> Iterator[Shaped[Tensor, "v m ..."]]:
    """Views of each pass of an epoch, from step ``first`` on.

    For small images the calls take as long as the arithmetic, so views are made for several passes at once. These
    groups are counted from the epoch's first pass, so that a resumed run makes the same groups.
    """
    passes: list[Tensor] = []
    for step in steps:
        passes += step.split(micro)
    begin = first * len(passes) // len(steps)
    together = max(1, source.at_once // len(passes[0]))
    for start in range(begin - begin % together, len(passes), together):
        group = passes[start : start + together]
        sizes = [len(part) for part in group]
        taken = max(0, begin - start)
        # Without a name for them, so that they are gone before the next are made.
        yield from source.views(torch.cat(group)).split(sizes, dim=1)[taken:]


def _step(
    run: Run,
    method: Method,
    optimiser: torch.optim.Optimizer,
    views: Iterator[Shaped[Tensor, "v m ..."]],
    index: Int[Tensor, "n"],
    labels: Int[Tensor, "N"],
    rng_key: tuple[int, ...],
    execution: Execution,
) -> tuple[Float[Tensor, "2"], Float[Tensor, "m d"]]:
    """One optimiser step over the examples ``index``, in passes of ``batch.micro``, whose views come next in ``views``.

    Returns mean loss and mean norm, and the embeddings of the last pass.

    In bfloat16, matrix products and convolutions of the encoder and the heads are rounded to it; weights, gradients,
    losses and the optimiser stay in float32.
    """
    device = labels.device
    passes = index.split(run.batch.micro)
    share = 1 / len(passes) if run.batch.accumulate == "mean" else 1.0
    rounded = execution.precision == "bfloat16"
    mean = torch.zeros(2, dtype=torch.float64, device=device)
    optimiser.zero_grad(set_to_none=True)
    for number, part in enumerate(passes):
        places = send(part, device)
        batch = Batch(next(views), places, labels[places], (*rng_key, number))
        if execution.compile == "reduce-overhead":
            torch.compiler.cudagraph_mark_step_begin()  # the last pass's graphs may be used again
        with torch.autocast(device.type, torch.bfloat16) if rounded else nullcontext():
            output = method(batch)
        (output.loss * share).backward()
        norm = torch.linalg.vector_norm(output.embeddings.float(), dim=1).mean()
        mean += torch.stack([output.loss.detach(), norm]) / len(passes)
    optimiser.step()
    return mean, output.embeddings.detach()


def _snapshot(
    method: Method, folder: Path, execution: Execution, last: int, progress: Progress
) -> None:
    """Write encoder and head if they are asked for after this epoch; those of the last one are the run's result."""
    epoch = progress.epochs
    if epoch not in execution.snapshots or epoch == last:
        return
    modules = method.encoder, method.head
    for name, module in zip(snapshot_names(epoch), modules, strict=True):
        save_weights(module, folder / name)
        progress.snapshots[name] = files.sha256(folder / name)


def _csv(rows: list[dict[str, float]]) -> str:
    """CSV with numbers as Python prints them: the shortest text that reads back to the same bits."""
    text = io.StringIO()
    columns = list(rows[0]) if rows else ["epoch"]
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
