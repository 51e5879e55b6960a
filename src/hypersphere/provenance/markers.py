"""Markers: what Snakemake knows of runs, evaluations and records, which are not declared to it.

Snakemake deletes declared outputs before a job and after a killed one, and run folders hold finished runs and resume
states. So a job declares a marker instead: the digests of the manifests that it stands for. Snakemake looks at no
file's bytes either. Before jobs are planned (`command/snakemake_hooks.py`), a marker or manifest that is not true is
removed, so that Snakemake makes it again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.cells import raw_pixels
from hypersphere.config.plan import MANIFEST, BatchOfRuns, Plan
from hypersphere.config.run import Run
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.provenance.manifest import SCORECARD, check_files

Artifact = tuple[str, str]
"""A paper and the name of one of its artifacts."""
SMALL = 1 << 20
"""Bytes of the largest file whose checksum is computed here. Larger ones are checked on use and by `make verify`."""
THEORY, STUDIED = ("theory.json", "theory_claims.json"), (MANIFEST, "claims.json")
"""The manifests of theorems, and of a paper's exact studies."""


def write(marker: Path, manifests: Iterable[Path]) -> None:
    """Write a marker of what manifests below its results folder say now."""
    results = marker.parents[1]
    said = {
        path.relative_to(results).as_posix(): _said(files.read_sealed(path)) for path in manifests
    }
    files.write_sealed(marker, {"manifests": said})


def write_prepared(marker: Path, datasets: Mapping[str, str], failed: Mapping[str, str]) -> None:
    """Write the marker of prepared datasets: by the name of each folder its digest, or why it could not be prepared.

    A job that needs one of ``failed`` tries again and fails alone.
    """
    files.write_sealed(marker, {"datasets": dict(datasets), "failed": dict(failed)})


def recorded(plan: Plan, batch: str) -> Path:
    """results/<scale>/batches/<batch>.recorded.json: the marker of a batch's records."""
    return plan.config.results / "batches" / f"{batch}.recorded.json"


def evaluations(plan: Plan, runs: Sequence[Run]) -> list[Path]:
    """The manifests of runs' evaluations, and of those of raw pixels beside them."""
    asked: dict[str, Iterable[str]] = {run.name: plan.evaluations[run.name] for run in runs}
    asked |= {
        raw_pixels(dataset): protocols
        for dataset, protocols in plan.protocols_of_pixels(runs).items()
    }
    return [
        plan.evaluation_file(subject, digest).with_suffix(".json")
        for subject in asked
        for digest in asked[subject]
    ]


def datasets_of(plan: Plan, batches: Iterable[BatchOfRuns]) -> set[str]:
    """The datasets that the runs of batches are trained or probed on."""
    runs = [run for batch in batches for run in batch.runs]
    probed = {
        target
        for run in runs
        for asked in plan.evaluations[run.name].values()
        for _, target in asked.at
    }
    return probed | {run.dataset.name for run in runs}


def of_tables(
    plan: Plan, measured: Sequence[Artifact], studied: Sequence[Artifact], every: bool = True
) -> list[Path]:
    """The manifests of tables, figures and pages in a results folder.

    They are those of artifacts made from runs and of exact studies; ``every``: and those of the whole scale.
    """
    results, papers = plan.config.results, dict.fromkeys(paper for paper, _ in studied)
    found = (
        [results / name for name in ("claims.json", f"statistics/{MANIFEST}", SCORECARD)]
        if every
        else []
    )
    found += [results / name for name in THEORY] if every or papers else []
    found += [results / "simulations" / paper / name for paper in papers for name in STUDIED]
    found += [
        plan.config.artifact_folder(*key) / name
        for key in measured
        for name in (MANIFEST, "claims.json")
    ]
    return found + [plan.config.outputs(*key)[-1] for key in (*measured, *studied)]


def _said(manifest: dict[str, Any]) -> str:
    """Digest of a manifest's results, without snapshots, which may be removed, and without times and machines.

    What is said of repeated images is among them, where they were counted.
    """
    results = {
        name: checksum
        for name, checksum in manifest["files"].items()
        if not name.startswith("snapshots/")
    }
    counted = [manifest["repeated"]] if "repeated" in manifest else []
    return files.digest([manifest.get("status"), manifest.get("epochs"), results, *counted])


def check(marker: Path) -> None:
    """Check that a marker is true of its manifests, and these of their files. It is the proof of what is not."""
    try:
        for name, digest in files.read_sealed(marker)["manifests"].items():
            path = marker.parents[1] / name
            if _said(check_files(path, largest=SMALL, remedy="")) != digest:
                raise HypersphereError(f"{marker}: is not what {path} says")
    except HypersphereError as error:
        raise DamagedError(str(error), marker) from None
    except (KeyError, AttributeError):  # of another version
        raise DamagedError(f"{marker}: is not a marker of manifests", marker) from None


def lost(plan: Plan) -> list[DamagedError]:
    """The markers and manifests, of what the setting ``only`` chooses, that are not true. Nothing is removed."""
    batches, every = plan.chosen_batches.values(), not plan.config.settings.only
    checks: list[tuple[Path, Callable[[Path], object]]] = [
        (plan.marker(batch), check) for batch in batches
    ]
    checks += [(plan.evaluated_marker(batch.id), check) for batch in batches]
    prepared = map(plan.prepared_marker, plan.preparing(datasets_of(plan, batches)))
    checks += [
        (marker, partial(_check_prepared, plan.config.data / "processed")) for marker in prepared
    ]
    studied = dict.fromkeys(paper for paper, _ in plan.chosen_studies)
    exact = [plan.config.exact / name for name in THEORY] if every or studied else []
    exact += [plan.config.exact_studies(paper) / name for paper in studied for name in STUDIED]
    tables = of_tables(plan, plan.chosen_artifacts, plan.chosen_studies, every)
    checks += [(path, partial(check_files, largest=SMALL, remedy="")) for path in (*exact, *tables)]
    found = []
    for proof, whole in checks:
        try:
            if proof.exists():
                whole(proof)
        except DamagedError as error:
            found.append(error)
    return found


def _check_prepared(folder: Path, marker: Path) -> None:
    """Check that datasets in ``folder`` are what their marker says, and that all could be prepared."""
    try:
        content = files.read_sealed(marker)
        if content.keys() != {"datasets", "failed"}:
            raise HypersphereError(f"{marker}: is not a marker of datasets")
        for name, digest in content["datasets"].items():
            if _arrays(folder / name / MANIFEST) != digest:
                raise HypersphereError(f"{marker}: is not what {folder / name / MANIFEST} says")
        for sentence in content["failed"].values():
            raise HypersphereError(sentence)
    except HypersphereError as error:
        raise DamagedError(str(error), marker) from None


def _arrays(manifest: Path) -> Any:
    """The digest of a prepared dataset, whose arrays are there, with the sizes that its manifest lists."""
    content = files.read_sealed(manifest)
    for name, about in files.mapping(content.get("files")).items():
        path = manifest.parent / name
        if not path.is_file() or path.stat().st_size != files.mapping(about).get("bytes"):
            raise HypersphereError(f"{path}: the file is missing or has another size")
    return content.get("digest")
