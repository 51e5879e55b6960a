"""Run all probes of a batch of runs: one sealed file for each run and protocol, skipped if it is current.

Features are computed once per run, epoch, dataset and layer, for all protocols that use them.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn

from hypersphere import files
from hypersphere.config import registry
from hypersphere.config.artifacts import Protocol
from hypersphere.config.cells import PIXELS, raw_pixels
from hypersphere.config.measures import LARGEST
from hypersphere.config.plan import At, BatchOfRuns, Evaluation, Plan, table_name
from hypersphere.config.records import UNDEFINED, is_of_a_part
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.errors import HypersphereError, NotFiniteError
from hypersphere.probes.frozen import Frozen, Layer
from hypersphere.probes.result import ProbeResult
from hypersphere.provenance import digests, markers, pictures, state
from hypersphere.provenance.manifest import check_evaluation, check_run
from hypersphere.provenance.tables import EVALUATION
from hypersphere.training import device as devices
from hypersphere.training.determinism import make_deterministic
from hypersphere.training.frozen import load_frozen, weight_files

EvaluationRow = tuple[str | int | float | None, ...]
"""The values of one row, in the order of the columns of ``EVALUATION``."""


def evaluate_batch(plan: Plan, batch: BatchOfRuns) -> None:
    """Evaluate a batch's runs by all their protocols, and write the marker that Snakemake waits for."""
    evaluate_runs(plan, batch.runs)
    markers.write(plan.evaluated_marker(batch.id), markers.evaluations(plan, batch.runs))


def evaluate_runs(plan: Plan, runs: Sequence[Run]) -> None:
    """Evaluate runs by all their protocols, and raw pixels, the control, by the protocols that can measure them."""
    make_deterministic(plan.config.scale.threads)
    settings = plan.config.settings
    with devices.acquire(settings.device, settings.runs_per_gpu) as device:
        for run in runs:
            _evaluate_run(plan, run, device)
        for dataset, protocols in plan.protocols_of_pixels(runs).items():
            frozen = Frozen(nn.Flatten(), nn.Identity(), _open(plan, dataset), device)
            at = (0, dataset)
            for digest, protocol in protocols.items():
                path = plan.evaluation_file(raw_pixels(dataset), digest)
                about = _about(plan, protocol, None, {}, [at])
                # Batches side by side ask for the same: one process at a time measures a dataset's pixels.
                with state.hold(path.parent, patient=True):
                    if not is_current(path, about):
                        _write(path, PIXELS, protocol, {at: frozen}, about, device)


def _evaluate_run(plan: Plan, run: Run, device: torch.device) -> None:
    """Evaluate a run by all its protocols, each unless its file is current."""
    manifest = check_run(plan, run.name)
    own = run.dataset.name
    loaded = cache(partial(load_frozen, run, plan.run_folder(run.name)))

    @cache
    def frozen_at(epoch: int, target: str, layer: Layer) -> Frozen:
        home = None if target == own else partial(frozen_at, epoch, own, layer)
        return Frozen(*loaded(epoch), _open(plan, target), device, layer, run, home)

    for digest, asked in plan.evaluations[run.name].items():
        protocol = asked.protocol
        path = plan.evaluation_file(run.name, digest)
        about = _about(plan, protocol, run, inputs(run, asked, manifest), asked.at)
        if is_current(path, about):
            continue
        encoders: dict[At, Frozen | None] = {}
        for epoch, target in sorted(asked.at):
            diverged = manifest["status"] == "diverged" and epoch > 0
            frozen = None if diverged else frozen_at(epoch, target, protocol.layer)
            encoders[epoch, target] = frozen
        _write(path, run.name, protocol, encoders, about, device)
        print(f"{run.name}: {protocol.probe and protocol.probe.name} measured", flush=True)
    # it refers to itself: the features would stay until the next search for cycles
    frozen_at.cache_clear()


def inputs(run: Run, asked: Evaluation, manifest: dict[str, Any]) -> dict[str, str]:
    """The part of a run that an evaluation depends on: its status, and the sha256 of the weights at its epochs."""
    names: set[str] = set()
    for epoch, _ in asked.at:
        names.update(weight_files(run, epoch))
    sums = {name: manifest["files"].get(name, "none") for name in sorted(names)}
    return {"status": manifest["status"], **sums}


def _measured(
    run: str, protocol: Protocol, at: At, frozen: Frozen | None
) -> tuple[list[EvaluationRow], ProbeResult | None]:
    """A row for each value of one encoder on one dataset, and the probe's whole result.

    An encoder that diverged (None) has a row for each measure, and no result. So has an encoder that the probe cannot
    measure. A single value that is not finite is undefined; for a part of the images it is empty, because a
    part may have too few images.
    """
    epoch, target = at
    probe = protocol.probe
    assert probe is not None

    def row(
        key: str, classes: int | None, status: str, value: float | None = None, n: int | None = None
    ) -> EvaluationRow:
        measure, _, reading = key.partition(";")
        place = run, epoch, protocol.digest, measure, target, reading
        return *place, value, n, classes, status

    measures = registry.read_constant("probes", probe.name, "MEASURES", ())
    if frozen is None:
        return [row(measure, None, "diverged") for measure in measures], None
    classes = frozen.classes()
    try:
        result: ProbeResult = registry.load("probes", probe.name)(frozen, **probe.parameters)
    except NotFiniteError as error:
        print(f"note: {run}: epoch {epoch}: {error}", flush=True)
        return [row(measure, classes, UNDEFINED) for measure in measures], None
    rows = []
    for key, value in result.values.items():
        if abs(value) <= LARGEST or is_of_a_part(key.partition(";")[2]):
            n = result.counts.get(key, result.n)
            rows.append(row(key, classes, "finished", value, n))
        else:
            rows.append(row(key, classes, UNDEFINED))
    return rows, result


def _open(plan: Plan, dataset: str) -> store.Prepared:
    return store.ready(plan.datasets[dataset], plan.config.data, plan.config.data_root)


def _about(
    plan: Plan, protocol: Protocol, run: Run | None, weights: dict[str, str], at: Iterable[At]
) -> dict[str, Any]:
    """All that determines an evaluation's bytes. A file with all of it in its manifest is current."""
    pairs = sorted(at)
    names = {target for _, target in pairs}
    if run is not None:
        names.add(run.dataset.name)
    opened = {name: _open(plan, name) for name in sorted(names)}
    return {
        "protocol": protocol.model_dump(mode="json", include={"probe", "layer"}),
        "at": [list(pair) for pair in pairs],
        "code": digests.protocol_digest(protocol, run),
        "weights": weights,
        "data": {name: data.digest for name, data in opened.items()},
        "repeated": {name: data.repeated for name, data in opened.items()},
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


def _write(
    path: Path,
    run: str,
    protocol: Protocol,
    encoders: Mapping[At, Frozen | None],
    about: dict[str, Any],
    device: torch.device,
) -> None:
    """Probe encoders (None: it diverged), and write rows, tables, pictures, and their manifest beside them.

    The manifest has checksums of these files, and ``about``.
    """
    rows: list[EvaluationRow] = []
    tables: dict[Path, pd.DataFrame] = {}
    drawn: dict[Path, Any] = {}
    for at, frozen in encoders.items():
        of_one, result = _measured(run, protocol, at, frozen)
        rows += of_one
        table = table_name(path, at)
        if result and result.table is not None:
            tables[table] = result.table
        if result and result.pictures is not None:
            drawn[table.with_suffix(".png")] = result.pictures
    measured = pd.DataFrame(rows, columns=list(EVALUATION))
    # a row's text does not depend on the other rows
    measured = measured.astype({"n_test": "Int64", "classes": "Int64"})
    for old in (path.with_suffix(".json"), *path.parent.glob(f"{path.stem}.*.*")):
        old.unlink(missing_ok=True)
    for file, content in {path: measured, **tables}.items():
        text = content.to_csv(index=False, lineterminator="\n", float_format="%.6f")
        files.write_text(file, text)
    for file, images in drawn.items():
        pictures.write(file, list(images))
    manifest = about | {
        "files": {file.name: files.sha256(file) for file in (path, *tables, *drawn)},
        "device": {"type": device.type, "name": devices.describe(device)},
        "environment": digests.environment(),
    }
    files.write_sealed(path.with_suffix(".json"), manifest)
