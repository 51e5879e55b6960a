"""Pretraining on neighbouring sentences: the loop of training/trainers/image.py, without augmentation.

Shapes: N pairs of neighbours in a training set, n in a batch, L words of a sentence.
"""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from hypersphere import files, keyed
from hypersphere.datasets.types import TRAIN
from hypersphere.declared.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Batch, Method
from hypersphere.training import checkpoint, optimisation
from hypersphere.training.build import build_method
from hypersphere.training.checkpoint import ENCODER, HEADS, Keeper, Progress
from hypersphere.training.contract import HISTORY, TIMING, Execution, Outcome
from hypersphere.training.trainers.image import _csv, _snapshot

if TYPE_CHECKING:
    from hypersphere.datasets.store import Prepared


def pretrain(run: Run, data: "Prepared", execution: Execution, folder: Path) -> Outcome:
    """Train one run on the training sentences of a prepared dataset: see ``train``."""
    return train(run, np.array(data.split(TRAIN).images), execution, folder)


def train(run: Run, tokens: Int[np.ndarray, "N 2 L"], execution: Execution, folder: Path) -> Outcome:
    """Train one run, or resume it, and write its weights, snapshots, history and timing into ``folder``.

    Row i of ``tokens`` is a sentence with the next one. The resume state stays in ``folder``, and a loss that is not
    finite ends training with status ``diverged``, as for images.

    Raises:
        HypersphereError: the data are no pairs of sentences, fewer than a batch, or use numbers of words that the
            encoder lacks; or a file cannot be written.
        StoppedError: the process was asked to stop; the resume state is saved.
    """
    _check(run, tokens)
    method = build_method(run, len(tokens))
    method.to(execution.device)
    optimiser = optimisation.build(method, run.optimiser)
    try:
        saved = checkpoint.load_state(folder, execution.identity, execution.snapshots, method, optimiser)
    except HypersphereError as error:
        print(f"note: {error}; starting over", flush=True)
        saved = None
    progress = saved or Progress(execution.identity)
    progress.starts.append(progress.step)
    if saved is None:
        for stale in folder.glob("snapshots/*.safetensors"):
            stale.unlink()
        _snapshot(method, folder, execution, run.schedule.epochs, progress)
    keeper = Keeper(folder, method, optimiser, progress, execution.save_every, execution.request)
    sentences = torch.from_numpy(tokens).to(execution.device)
    status = "finished"
    while progress.epoch < run.schedule.epochs:
        row = _epoch(run, method, optimiser, sentences, progress, keeper, execution.precision)
        progress.end_epoch(row)
        if not np.isfinite([row["loss"], row["norm"]]).all():
            status = "diverged"
            break
        _snapshot(method, folder, execution, run.schedule.epochs, progress)
        if progress.epoch < run.schedule.epochs and keeper.due():
            keeper.save()
    checkpoint.save_weights(method.encoder, folder / ENCODER)
    checkpoint.save_weights(method.head, folder / HEADS)
    files.write_text(folder / HISTORY, _csv(progress.history))
    files.write_text(folder / TIMING, _csv(progress.timing))
    seconds = sum(row["seconds"] for row in progress.timing)
    return Outcome(status, progress.epoch, progress.starts, progress.snapshots, seconds)


def _check(run: Run, tokens: Int[np.ndarray, "N 2 L"]) -> None:
    where = f"run {run.name}: dataset {run.dataset.name}"
    if tokens.ndim != 3 or tokens.shape[1] != 2:
        raise HypersphereError(f"{where}: holds arrays {tokens.shape[1:]}, and no pairs of neighbouring sentences")
    if len(tokens) < run.batch.size:
        raise HypersphereError(f"{where}: has {len(tokens)} pairs, fewer than batch.size {run.batch.size}")
    known, most = int(run.encoder.parameters.get("vocabulary", 0)), int(tokens.max())
    if most >= known:
        raise HypersphereError(f"{where}: has words up to number {most}, but encoder.vocabulary is {known}")


def _epoch(
    run: Run,
    method: Method,
    optimiser: torch.optim.Optimizer,
    sentences: Int[Tensor, "N 2 L"],
    progress: Progress,
    keeper: Keeper,
    precision: torch.dtype,
) -> dict[str, float]:
    """Train the rest of an epoch. Returns its row of the history: epoch from 1, mean loss, mean norm, last rate."""
    per_epoch = len(sentences) // run.batch.size
    first = progress.step - progress.epoch * per_epoch
    order = torch.from_numpy(keyed.permutation(len(sentences), run.seed, "order", progress.epoch))
    steps = order[: per_epoch * run.batch.size].split(run.batch.size)
    peak, passes = optimisation.peak_rate(run), run.batch.size // run.batch.micro
    total = torch.tensor(progress.sums, dtype=torch.float64, device=sentences.device)
    method.train()
    for i in range(first, per_epoch):
        start = time.perf_counter()
        fraction = optimisation.fraction_of_peak(run.schedule, progress.step, per_epoch, passes)
        optimisation.set_rate(optimiser, peak, fraction)
        total += _step(run, method, optimiser, sentences, steps[i], (run.seed, progress.epoch, i), precision)
        progress.step += 1
        method.after_step(progress.step / (run.schedule.epochs * per_epoch))
        progress.seconds += time.perf_counter() - start
        if i + 1 < per_epoch and keeper.due():  # at the end of an epoch the caller saves
            progress.sums = total.tolist()
            keeper.save()
    loss, norm = (total / per_epoch).tolist()
    return {"epoch": progress.epoch + 1, "loss": loss, "norm": norm, "learning_rate": peak * fraction}


def _step(
    run: Run,
    method: Method,
    optimiser: torch.optim.Optimizer,
    sentences: Int[Tensor, "N 2 L"],
    index: Int[Tensor, "n"],
    moment: tuple[int, ...],
    precision: torch.dtype = torch.float32,
) -> Float[Tensor, "2"]:
    """One optimiser step over the pairs ``index``, in passes of ``batch.micro``. Returns mean loss and mean norm."""
    device, passes = sentences.device, index.split(run.batch.micro)
    share = 1 / len(passes) if run.batch.accumulate == "mean" else 1.0
    mean = torch.zeros(2, dtype=torch.float64, device=device)
    optimiser.zero_grad(set_to_none=True)
    for number, part in enumerate(passes):
        places = part.to(device)
        views = sentences[places].transpose(0, 1)
        with torch.autocast(device.type, precision, enabled=precision != torch.float32):
            output = method(Batch(views, places, torch.zeros_like(places), (*moment, number)))
        (output.loss * share).backward()
        norm = torch.linalg.vector_norm(output.embeddings.float(), dim=1).mean()
        mean += torch.stack([output.loss.detach(), norm]) / len(passes)
    optimiser.step()
    return mean
