"""Every probe of every run of a batch, features once per run, epoch and dataset."""

import io
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor, nn

from hypersphere import files
from hypersphere.datasets import store
from hypersphere.declared import registry
from hypersphere.declared.artifacts import Evaluation
from hypersphere.declared.plan import BatchOfRuns, Plan
from hypersphere.declared.run import Dataset, Run
from hypersphere.integrity import provenance
from hypersphere.integrity.manifest import check_run, read_manifest
from hypersphere.probes.features import Features, Pixels, extract
from hypersphere.training import checkpoint, snapshots
from hypersphere.training import device as devices
from hypersphere.training.build import build_encoder
from hypersphere.training.checkpoint import snapshot_name
from hypersphere.training.determinism import make_deterministic
from hypersphere.training.loop import ENCODER

COLUMNS = ("run", "epoch", "final", "metric", "probed_on", "value", "n_test", "status")
Row = dict[str, str | int | bool | float | None]


def evaluate_batch(plan: Plan, batch: BatchOfRuns) -> None:
    """Write results/<scale>/evaluations/<batch>.csv: a row per run, epoch, metric and dataset probed.

    Raises:
        HypersphereError: a run is missing or unfinished, or its files were altered.
    """
    make_deterministic(plan.config.scale.threads)
    with devices.acquire(plan.config.settings.device) as device:
        weights = {
            run.name: snapshots.without_unasked(plan, run, check_run(plan, run.name)["files"]) for run in batch.runs
        }
        rows = [row for run in batch.runs for row in _run_rows(plan, run, device)]
        _write(plan, batch.id, rows, device, batch.runs, weights)


def evaluate_pixels(plan: Plan, dataset: Dataset) -> None:
    """Write results/<scale>/evaluations/pixels-<dataset>.csv: the probes on raw pixels, and the number of classes."""
    make_deterministic(plan.config.scale.threads)
    with devices.acquire(plan.config.settings.device) as device:
        data = _open(plan, dataset)
        seen = extract(Pixels(), data, device)
        rows: list[Row] = [_row("pixels", 0, True, "classes", dataset, float(data.classes), len(data.test_labels))]
        for evaluation in plan.evaluations:
            rows.append(_probe("pixels", 0, True, evaluation, dataset, seen))
        _write(plan, f"pixels-{dataset.name}", rows, device)


def lines_of(plan: Plan, run: Run) -> list[str]:
    """The rows that the probes give one run, as they stand in its batch's file."""
    make_deterministic(plan.config.scale.threads)
    with devices.acquire(plan.config.settings.device) as device:
        return _text(list(_run_rows(plan, run, device))).splitlines()[1:]


def _run_rows(plan: Plan, run: Run, device: torch.device) -> Iterator[Row]:
    folder = plan.run_folder(run.name)
    manifest = read_manifest(folder)
    last = run.schedule.epochs
    if manifest["status"] == "diverged":
        for evaluation, targets in plan.asked(run):
            for dataset in targets:
                yield _row(run.name, int(manifest["epochs"]), True, evaluation.metric, dataset, None, None, "diverged")
        return
    for epoch in sorted({*snapshots.asked_for(plan, run), last}):
        encoder = _load(run, folder, epoch)

        @cache
        def seen(name: str, encoder: nn.Module = encoder) -> Features:
            return extract(encoder, _open(plan, plan.datasets[name]), device)

        for evaluation, targets in plan.asked(run):
            # The untrained encoder (epoch 0) is a control row of every table, so every probe sees it.
            if evaluation.at == "end" and epoch not in (0, last):
                continue
            for dataset in targets:
                yield _probe(run.name, epoch, epoch == last, evaluation, dataset, seen(dataset.name))


def _load(run: Run, folder: Path, epoch: int) -> nn.Module:
    encoder = build_encoder(run)
    checkpoint.load_weights(encoder, folder / (ENCODER if epoch == run.schedule.epochs else snapshot_name(epoch)))
    return encoder


def _open(plan: Plan, dataset: Dataset) -> store.Prepared:
    return store.open(plan.data_folder(dataset))


def _probe(run: str, epoch: int, final: bool, evaluation: Evaluation, dataset: Dataset, seen: Features) -> Row:
    probe = registry.load("probes", evaluation.probe.name)
    predicted: Tensor = probe(seen, **evaluation.probe.parameters)
    correct = (predicted == seen.query_labels).double().mean().item()
    return _row(run, epoch, final, evaluation.metric, dataset, 100 * correct, len(seen.query_labels))


def _row(
    run: str,
    epoch: int,
    final: bool,
    metric: str,
    dataset: Dataset,
    value: float | None,
    n_test: int | None,
    status: str = "finished",
) -> Row:
    values = (run, epoch, final, metric, dataset.name, value, n_test, status)
    return dict(zip(COLUMNS, values, strict=True))


def _text(rows: list[Row]) -> str:
    """As CSV; a row's text does not depend on the rows beside it."""
    text = io.StringIO()
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"n_test": "Int64"})
    table.to_csv(text, index=False, lineterminator="\n", float_format="%.6f")
    return text.getvalue()


def _write(
    plan: Plan,
    name: str,
    rows: list[Row],
    device: torch.device,
    runs: Sequence[Run] = (),
    weights: dict[str, dict[str, str]] | None = None,
) -> None:
    """The rows, and beside them a manifest: their checksum, and what they were made from."""
    path = plan.config.results / "evaluations" / f"{name}.csv"
    files.write_text(path, _text(rows))
    manifest = {
        "files": {path.name: files.sha256(path)},
        "code": provenance.evaluation_digest(plan, runs),
        "weights": weights or {},
        "data": {dataset.name: _open(plan, dataset).digest for dataset in plan.datasets.values()},
        "device": {"type": device.type, "name": devices.describe(device)},
        "threads": torch.get_num_threads(),
        "environment": provenance.environment(),
    }
    files.write_sealed(path.with_suffix(".json"), manifest)
