"""Markers: what Snakemake knows of runs, evaluations and records, which are not declared to it.

Snakemake deletes declared outputs before a job and after a killed one, and run folders hold finished runs and resume
states. So a job declares a marker instead: the digests of the manifests that it stands for. Snakemake looks at no
file's bytes either. Before jobs are planned (`command/snakemake_hooks.py`), a marker or manifest that is not true is
removed, so that Snakemake makes it again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.cells import raw_pixels
from hypersphere.config.plan import BatchOfRuns, Plan
from hypersphere.config.run import Run
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.file_names import MANIFEST
from hypersphere.provenance.manifest import SCORECARD, check_files

Artifact = tuple[str, str]
"""A paper and the name of one of its artifacts."""
SMALL = 1 << 20
"""Bytes of the largest file whose checksum is computed here. Larger ones are checked on use and by `make verify`."""
THEORY = ("theory.json", "theory_claims.json")
"""The manifests of theorems."""
STUDIED = (MANIFEST, "claims.json")
"""The manifests of a paper's exact studies."""
OF_RUNS = (MANIFEST, "claims.json")
"""The manifests of an artifact that is made from runs."""


def write(marker: Path, manifests: Iterable[Path]) -> None:
    """Write a marker with a digest of what each manifest says now. All lie below the marker's results folder."""
    results = marker.parents[1]
    content = {}
    for path in manifests:
        content[path.relative_to(results).as_posix()] = _results(files.read_sealed(path))
    files.write_sealed(marker, {"manifests": content})


def write_prepared(marker: Path, datasets: Mapping[str, str], failed: Mapping[str, str]) -> None:
    """Write the marker of prepared datasets: by the name of each folder its digest, or why it could not be prepared.

    A job that needs one of ``failed`` tries again and fails alone.
    """
    files.write_sealed(marker, {"datasets": dict(datasets), "failed": dict(failed)})


def recorded_marker(plan: Plan, batch: str) -> Path:
    """results/<scale>/batches/<batch>.recorded.json: the marker of a batch's records."""
    return plan.config.results / "batches" / f"{batch}.recorded.json"


def evaluations(plan: Plan, runs: Sequence[Run]) -> list[Path]:
    """The manifests of runs' evaluations, and of what was measured on raw pixels beside them."""
    protocols: dict[str, Iterable[str]] = {run.name: plan.evaluations[run.name] for run in runs}
    for dataset, of_pixels in plan.protocols_of_pixels(runs).items():
        protocols[raw_pixels(dataset)] = of_pixels
    paths = []
    for subject, digests in protocols.items():
        for digest in digests:
            paths.append(plan.evaluation_file(subject, digest).with_suffix(".json"))
    return paths


def datasets_of(plan: Plan, batches: Iterable[BatchOfRuns]) -> set[str]:
    """The datasets that the runs of batches are trained or probed on."""
    names = set()
    for run in chain.from_iterable(batch.runs for batch in batches):
        names.add(run.dataset.name)
        for asked in plan.evaluations[run.name].values():
            names.update(target for _, target in asked.at)
    return names


def of_tables(
    plan: Plan, measured: Sequence[Artifact], studied: Sequence[Artifact], every: bool = True
) -> list[Path]:
    """The manifests of tables, figures and pages in a results folder.

    ``measured`` are artifacts made from runs, and ``studied`` those of exact studies. ``every`` adds those of
    the whole scale.
    """
    config = plan.config
    papers = dict.fromkeys(paper for paper, _ in studied)
    names = ["claims.json", f"statistics/{MANIFEST}", SCORECARD] if every else []
    if every or papers:
        names += THEORY
    folders: list[tuple[Path, Iterable[str]]] = [(config.results, names)]
    folders += [(config.results / "simulations" / paper, STUDIED) for paper in papers]
    folders += [(config.artifact_folder(*key), OF_RUNS) for key in measured]
    paths = []
    for folder, of_folder in folders:
        paths += [folder / name for name in of_folder]
    return paths + [config.outputs(*key)[-1] for key in (*measured, *studied)]


def _results(manifest: dict[str, Any]) -> str:
    """Digest of a manifest's results, without snapshots, which may be removed, and without times and machines.

    The counts of repeated images are among the results, if they were counted.
    """
    lasting = [name for name in manifest["files"] if not name.startswith("snapshots/")]
    results = {name: manifest["files"][name] for name in lasting}
    counted = [manifest["repeated"]] if "repeated" in manifest else []
    return files.digest([manifest.get("status"), manifest.get("epochs"), results, *counted])


def check(marker: Path) -> None:
    """Check that a marker is what its manifests say, and that each manifest is true of its files.

    Raises:
        DamagedError: something is not true; the marker is the proof that must go.
    """
    try:
        for name, digest in files.read_sealed(marker)["manifests"].items():
            path = marker.parents[1] / name
            if _results(check_files(path, largest=SMALL, remedy="")) != digest:
                raise HypersphereError(f"{marker}: is not what {path} says")
    except HypersphereError as error:
        raise DamagedError(str(error), marker) from None
    except (KeyError, AttributeError):  # of another version
        raise DamagedError(f"{marker}: is not a marker of manifests", marker) from None


def damage(plan: Plan) -> list[DamagedError]:
    """The errors of all markers and manifests, among those that ``only`` chooses, which are not true.

    Nothing is removed.
    """
    config = plan.config
    batches = plan.chosen_batches.values()
    every = not config.settings.only
    of_batches = [plan.marker(batch) for batch in batches]
    of_batches += [plan.evaluated_marker(batch.id) for batch in batches]
    prepared = map(plan.prepared_marker, plan.preparing(datasets_of(plan, batches)))
    papers = dict.fromkeys(paper for paper, _ in plan.chosen_studies)
    manifests = [config.exact / name for name in THEORY] if every or papers else []
    for paper in papers:
        manifests += [config.exact_studies(paper) / name for name in STUDIED]
    manifests += of_tables(plan, plan.chosen_artifacts, plan.chosen_studies, every)
    checks: list[tuple[Callable[[Path], object], Iterable[Path]]] = [
        (check, of_batches),
        (partial(_check_prepared, config.data / "processed"), prepared),
        (partial(check_files, largest=SMALL, remedy=""), manifests),
    ]
    damaged = []
    for check_one, proofs in checks:
        for proof in filter(Path.exists, proofs):
            try:
                check_one(proof)
            except DamagedError as error:
                damaged.append(error)
    return damaged


def _check_prepared(folder: Path, marker: Path) -> None:
    """Check that datasets in ``folder`` are what their marker says, and that all could be prepared."""
    try:
        content = files.read_sealed(marker)
        if content.keys() != {"datasets", "failed"}:
            raise HypersphereError(f"{marker}: is not a marker of datasets")
        for name, digest in content["datasets"].items():
            manifest = folder / name / MANIFEST
            if _digest_of_arrays(manifest) != digest:
                raise HypersphereError(f"{marker}: is not what {manifest} says")
        for sentence in content["failed"].values():
            raise HypersphereError(sentence)
    except HypersphereError as error:
        raise DamagedError(str(error), marker) from None


def _digest_of_arrays(manifest: Path) -> Any:
    """The digest of a prepared dataset. Its arrays must be there, and as large as its manifest lists."""
    content = files.read_sealed(manifest)
    for name, about in content.get("files", {}).items():
        path = manifest.parent / name
        if not path.is_file() or path.stat().st_size != about["bytes"]:
            raise HypersphereError(f"{path}: the file is missing or has another size")
    return content.get("digest")
