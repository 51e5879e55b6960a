"""Run all probes of a batch of runs: one sealed file for each run and protocol, skipped if it is current.

Features are computed once per run, epoch, dataset and layer, for all protocols that use them. Runs with the same
weights are measured once: variants with one seed start from the same encoder.
"""

import io
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import UInt8
from torch import nn

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.artifacts import Protocol
from hypersphere.config.cells import PIXELS, raw_pixels
from hypersphere.config.plan import Asked, At, BatchOfRuns, Plan, pictures_name, table_name
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.probes.frozen import Frozen, Pixels, Probed, open_for_probes
from hypersphere.probes.result import NotFiniteError, ProbeResult
from hypersphere.provenance import digests, markers, pictures, state
from hypersphere.provenance.manifest import check_evaluation, check_run
from hypersphere.provenance.tables import EVALUATION
from hypersphere.training import device as devices
from hypersphere.training.determinism import make_deterministic
from hypersphere.training.frozen import load_frozen, weight_files

COLUMNS = EVALUATION
Row = dict[str, str | int | float | None]


class Found(NamedTuple):
    """What a probe says of one encoder on one dataset."""

    rows: list[Row]
    table: pd.DataFrame | None = None
    pictures: UInt8[np.ndarray, "n h w 3"] | None = None


Measurements = dict[str, Found]
"""By digest of what decides them: weights, network, protocol and dataset."""


def evaluate_batch(plan: Plan, batch: BatchOfRuns) -> None:
    """Evaluate a batch's runs by all their protocols, and write the marker that Snakemake waits for."""
    evaluate_runs(plan, batch.runs)
    markers.write(plan.evaluated_marker(batch.id), markers.evaluations(plan, batch.runs))


def evaluate_runs(plan: Plan, runs: Sequence[Run]) -> None:
    """Evaluate runs by all their protocols, and raw pixels, which are a control, by those that can."""
    make_deterministic(plan.config.scale.threads)
    known: Measurements = {}
    with devices.acquire(plan.config.settings.device) as device:
        for run in runs:
            _evaluate_run(plan, run, device, known)
        for dataset, protocols in plan.asked_of_pixels(runs).items():
            _evaluate_pixels(plan, dataset, protocols, device)


def _evaluate_pixels(plan: Plan, dataset: str, protocols: Mapping[str, Protocol], device: torch.device) -> None:
    """Evaluate a dataset's raw pixels, each protocol unless its file is current.

    Batches side by side ask for the same: one process at a time measures a dataset's pixels.
    """
    data = _open(plan, dataset)
    frozen = Frozen(Pixels(), None, data, device)
    for digest, protocol in protocols.items():
        path, about = plan.evaluation(raw_pixels(dataset), digest), _about(plan, protocol, None, {}, [(0, dataset)])
        if is_current(path, about):
            continue
        with state.held(path.parent, patient=True):
            if not is_current(path, about):  # another process may have measured it meanwhile
                found = _probe(PIXELS, protocol, (0, dataset), frozen, data.classes())
                _write(path, found.rows, {}, about, device)


def _evaluate_run(plan: Plan, run: Run, device: torch.device, known: Measurements) -> None:
    """Evaluate a run by all its protocols, each unless its file is current."""
    manifest = check_run(plan, run.name)
    encoders = _Encoders(plan, run, device)
    for digest, asked in plan.asked[run.name].items():
        path = plan.evaluation(run.name, digest)
        about = _about(plan, asked.protocol, run, inputs(run, asked, manifest), asked.at)
        if not is_current(path, about):
            rows, tables = _measure(encoders, asked, manifest, known)
            _write(path, rows, tables, about, device)
            print(f"{run.name}: {asked.protocol.probe and asked.protocol.probe.name} measured", flush=True)


def inputs(run: Run, asked: Asked, manifest: dict[str, Any]) -> dict[str, str]:
    """The part of a run that an evaluation depends on: its status, and the sha256 of the weights at its epochs."""
    names = {name for epoch, _ in asked.at for name in weight_files(run, epoch)}
    return {"status": manifest["status"]} | {name: manifest["files"].get(name, "none") for name in sorted(names)}


class _Encoders:
    """A run's frozen encoders, each loaded on first use."""

    def __init__(self, plan: Plan, run: Run, device: torch.device) -> None:
        self.plan, self.run, self.device = plan, run, device
        self.modules: dict[int, tuple[nn.Module, nn.Module]] = {}
        self.frozen: dict[tuple[int, str, str], Frozen] = {}

    def at(self, epoch: int, target: str, protocol: Protocol) -> Frozen:
        """The encoder and head after ``epoch`` epochs, on the dataset ``target``."""
        if epoch not in self.modules:
            self.modules[epoch] = load_frozen(self.run, self.plan.run_folder(self.run.name), epoch)
        key = epoch, target, protocol.layer
        if key not in self.frozen:
            encoder, head = self.modules[epoch]
            data, own = _open(self.plan, target), self.run.dataset.name
            home = None if target == own else partial(self.at, epoch, own, protocol)
            self.frozen[key] = Frozen(encoder, head, data, self.device, protocol.layer, self.run, home)
        return self.frozen[key]


def _measure(
    encoders: _Encoders, asked: Asked, manifest: dict[str, Any], known: Measurements
) -> tuple[list[Row], dict[At, Found]]:
    """Rows and tables of one protocol, at all its epochs and datasets; what is measured is added to ``known``."""
    run, protocol = encoders.run, asked.protocol
    rows: list[Row] = []
    tables: dict[At, Found] = {}
    for at in sorted(asked.at):
        epoch, target = at
        if manifest["status"] == "diverged" and epoch:
            rows += _diverged(run.name, protocol, at)
            continue
        weights = [manifest["files"].get(name) for name in weight_files(run, epoch)]
        network = run.model_dump(mode="json", include=_decides(protocol))
        key = files.digest([weights, network, epoch, target, protocol.digest])
        if key not in known or None in weights:
            classes = _open(encoders.plan, target).classes()
            known[key] = _probe(run.name, protocol, at, encoders.at(epoch, target, protocol), classes)
        rows += [{**row, "run": run.name} for row in known[key].rows]
        if known[key].table is not None:
            tables[at] = known[key]
    return rows, tables


def _constant(protocol: Protocol, name: str, default: Any) -> Any:
    assert protocol.probe is not None
    return registry.read_constant("probes", protocol.probe.name, name, default)


def _decides(protocol: Protocol) -> set[str]:
    """The fields of a run that decide what a protocol measures of its weights.

    A probe that repeats a part of the training (``RUN``) depends on more than the network.
    """
    of_training = {"dataset", "views", "views_b", "objective", "logits"}
    return {"encoder", "method"} | (of_training if _constant(protocol, "RUN", False) else set())


def _probe(run: str, protocol: Protocol, at: At, frozen: Frozen, classes: int) -> Found:
    """What a probe says of one encoder on one dataset; the rows are ``diverged`` if its features are not finite."""
    assert protocol.probe is not None
    probe = registry.load("probes", protocol.probe.name)
    try:
        result: ProbeResult = probe(frozen, **protocol.probe.parameters)
    except NotFiniteError as error:
        print(f"note: {run}: epoch {at[0]}: {error}", flush=True)
        return Found(_diverged(run, protocol, at))
    rows = []
    for key, value in result.values.items():
        measure, _, reading = key.partition(";")
        number = result.counts.get(key, result.n)
        rows.append(_row(run, at[0], protocol.digest, measure, at[1], reading, value, number, classes, "finished"))
    return Found(rows, result.table, result.pictures)


def _diverged(run: str, protocol: Protocol, at: At) -> list[Row]:
    measures = _constant(protocol, "MEASURES", ())
    return [_row(run, at[0], protocol.digest, name, at[1], "", None, None, None, "diverged") for name in measures]


def _row(*values: str | int | float | None) -> Row:
    return dict(zip(COLUMNS, values, strict=True))


def _open(plan: Plan, dataset: str) -> Probed:
    return open_for_probes(plan.data_folder(plan.datasets[dataset]))


def _about(
    plan: Plan, protocol: Protocol, run: Run | None, weights: dict[str, str], at: Iterable[At]
) -> dict[str, Any]:
    """What determines an evaluation's bytes: a file with all of this in its manifest is current."""
    pairs = sorted(at)
    datasets = {target for _, target in pairs}
    if run and _constant(protocol, "RUN", False):
        datasets.add(run.dataset.name)
    return {
        "protocol": protocol.model_dump(mode="json", include={"probe", "layer"}),
        "at": [list(pair) for pair in pairs],
        "code": digests.protocol_digest(protocol, run),
        "weights": weights,
        "data": {name: _open(plan, name).digest for name in sorted(datasets)},
        "threads": torch.get_num_threads(),
    }


def is_current(path: Path, about: dict[str, Any]) -> bool:
    """Whether an evaluation exists, is unaltered, and has all of ``about`` in its manifest."""
    if not path.is_file():
        return False
    try:
        manifest = check_evaluation(path)
    except HypersphereError as error:
        print(f"note: measuring again: {error}", flush=True)
        return False
    return all(manifest.get(key) == value for key, value in about.items())


def _write(path: Path, rows: list[Row], tables: dict[At, Found], about: dict[str, Any], device: torch.device) -> None:
    """Write rows, tables and pictures, and beside them a manifest with their checksums and ``about``."""
    tables_before = [*path.parent.glob(f"{path.stem}.*.csv"), *path.parent.glob(f"{path.stem}.*.png")]
    for old in (path.with_suffix(".json"), *tables_before):
        old.unlink(missing_ok=True)
    files.write_text(path, _text(pd.DataFrame(rows, columns=list(COLUMNS))))
    written = [path]
    for at, found in tables.items():
        assert found.table is not None
        files.write_text(table_name(path, at), _text(found.table))
        written.append(table_name(path, at))
        if found.pictures is not None:
            pictures.write(pictures_name(path, at), list(found.pictures))
            written.append(pictures_name(path, at))
    manifest = about | {
        "files": {file.name: files.sha256(file) for file in written},
        "device": {"type": device.type, "name": devices.describe(device)},
        "environment": digests.environment(),
    }
    files.write_sealed(path.with_suffix(".json"), manifest)


def _text(table: pd.DataFrame) -> str:
    """A table as CSV; a row's text does not depend on the other rows."""
    text = io.StringIO()
    integers = {column: "Int64" for column in ("n_test", "classes") if column in table}
    table.astype(integers).to_csv(text, index=False, lineterminator="\n", float_format="%.6f")
    return text.getvalue()
