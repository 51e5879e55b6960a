"""``hypersphere verify``: check that results match their manifests, and that they can be made again byte by byte.

Every prepared dataset, run and evaluation is compared with its manifest, and its manifest with this checkout's code and
data. All later results, and the runs that are named, are made again in a temporary folder and compared byte by byte.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.declared import plan as planning
from hypersphere.declared.cells import raw_pixels
from hypersphere.declared.plan import Plan
from hypersphere.declared.run import Dataset
from hypersphere.errors import HypersphereError
from hypersphere.integrity import manifest, provenance

REBUILT = (
    *("statistics/**/*.csv", "theory.csv", "simulations/**/*.csv", "claims.csv"),
    *("tables/**/*", "figures/**/*", "scorecard.*", "paper.pdf"),
)
Checks = list[Callable[[], None]]


def verify(plan: Plan, rerun: list[str], overrides: dict[str, Any], rebuild: bool = True) -> None:
    """Check all results of a scale, train and probe the runs of ``rerun`` again, and print the differences.

    Args:
        plan: of the scale.
        rerun: names of runs.
        overrides: settings of the command line.
        rebuild: whether to make later results again; those of another machine may differ in bytes on this one.

    Raises:
        HypersphereError: something is missing or differs; a sentence about each was printed.
    """
    if not plan.config.results.is_dir():
        raise HypersphereError(f"{plan.config.results}: no such folder; `make reproduce` makes it")
    wrong: list[str] = []
    for kind, checks in _checks(plan, [plan.run(name).name for name in rerun], overrides, rebuild).items():
        before = len(wrong)
        for check in checks:
            try:
                check()
            except HypersphereError as error:
                wrong.append(str(error))
                print(f"differs: {error}", flush=True)
        print(f"{kind}: {len(checks) - len(wrong) + before} of {len(checks)} as they should be", flush=True)
    if wrong:
        more = f" (and {len(wrong) - 1} more, listed above)" if len(wrong) > 1 else ""
        raise HypersphereError(f"verify: {wrong[0]}{more}")


def _checks(plan: Plan, rerun: list[str], overrides: dict[str, Any], rebuild: bool) -> dict[str, Checks]:
    chosen = [key for key in plan.made if plan.config.chosen(*key)]
    runs = {name: run for key in chosen for name, run in plan.runs_of(*key).items()}
    pixels = {name for key in chosen for name in plan.pixels_of(*key)}
    probed = {target for name in runs for asked in plan.asked[name].values() for _, target in asked.at}
    datasets = {run.dataset.name for run in runs.values()} | probed
    checks: dict[str, Checks] = {
        "datasets": [partial(_dataset, plan, plan.datasets[name]) for name in sorted(datasets)],
        "runs": [partial(_run, plan, name) for name in runs],
        "evaluations": [
            *(partial(_evaluation, plan, name, digest) for name in runs for digest in plan.asked[name]),
            *(partial(_pixels, plan, name, digest) for name in sorted(pixels) for digest in plan.asked_of_pixels[name]),
        ],
    }
    if rebuild:
        rebuilt = "statistics, theory, simulations, claims, tables, figures, scorecard and paper, rebuilt"
        few = "statistics, tables and figures of what was chosen, rebuilt"
        checks[few if plan.config.settings.only else rebuilt] = [partial(_rebuilt, plan, overrides)]
    if rerun:
        checks["trained and probed again"] = [partial(_rerun, plan, name, overrides) for name in rerun]
    return checks


def _dataset(plan: Plan, dataset: Dataset) -> None:
    from hypersphere.datasets import store

    store.verify(plan.data_folder(dataset))


def _run(plan: Plan, name: str) -> None:
    run, folder = plan.run(name), plan.run_folder(name)
    recorded = manifest.check_files(folder)
    data = files.read_sealed(plan.data_folder(run.dataset) / planning.MANIFEST)["digest"]
    expected = {"run": run.model_dump(mode="json"), "code": provenance.run_digest(run), "data": data}
    _check_same(folder / planning.MANIFEST, recorded, expected)


def _evaluation(plan: Plan, name: str, digest: str) -> None:
    from hypersphere.probes import evaluate

    run, path, asked = plan.run(name), plan.evaluation(name, digest), plan.asked[name][digest]
    expected = {
        "weights": evaluate.inputs(run, asked, manifest.read_manifest(plan.run_folder(name))),
        "code": provenance.protocol_digest(asked.protocol, run),
        "at": [list(at) for at in sorted(asked.at)],
    }
    _check_same(path.with_suffix(".json"), manifest.check_evaluation(path), expected)


def _pixels(plan: Plan, dataset: str, digest: str) -> None:
    path = plan.evaluation(raw_pixels(dataset), digest)
    code = provenance.protocol_digest(plan.asked_of_pixels[dataset][digest], None)
    _check_same(path.with_suffix(".json"), manifest.check_evaluation(path), {"code": code})


def _check_same(path: Path, recorded: dict[str, Any], expected: dict[str, Any]) -> None:
    other = [key for key, value in expected.items() if recorded.get(key) != value]
    if other:
        raise HypersphereError(f"{path}: {' and '.join(other)}: not those of this checkout; run again to replace it")


@contextmanager
def _elsewhere(plan: Plan, overrides: dict[str, Any], *kept: str) -> Iterator[Plan]:
    """The same plan in a temporary folder with config, claims, data and the ``kept`` parts of the results.

    Raises:
        HypersphereError: the block raised one; paths of the temporary folder are replaced by those of the project.
    """
    with tempfile.TemporaryDirectory(prefix="hypersphere-verify-") as temporary:
        root = Path(temporary).resolve()
        for name in ("config", "paper"):
            shutil.copytree(plan.config.root / name, root / name)
        other = planning.make(root, {**overrides, "data_root": plan.config.settings.data_root})
        (root / "data").mkdir()
        (root / "data" / "processed").symlink_to(plan.config.root / "data" / "processed")
        other.config.results.mkdir(parents=True)
        for name in kept:
            (other.config.results / name).symlink_to(plan.config.results / name)
        try:
            yield other
        except HypersphereError as error:
            raise HypersphereError(str(error).replace(str(root), str(plan.config.root))) from None


def _rebuilt(plan: Plan, overrides: dict[str, Any]) -> None:
    from hypersphere.present import paper, scorecard, shown
    from hypersphere.present.results import Results
    from hypersphere.simulations import build as simulations
    from hypersphere.statistics import claims, measure
    from hypersphere.theory import build as theory

    with _elsewhere(plan, overrides, "runs", "evaluations") as again:
        theory.build(again)
        results, chosen = Results(again), again.config.chosen
        for name in again.config.papers:
            studied = [artifact for artifact in again.config.studied(name) if chosen(name, artifact)]
            if studied:
                simulations.build(again, name)
                claims.build_studies(again, name)
            for artifact in studied:
                shown.build(results, name, artifact)
        for name, artifact in again.made:
            if chosen(name, artifact):
                measure.build(again, name, artifact)
                shown.build(results, name, artifact)
        if again.config.settings.only:
            _compare(plan.config.results, again.config.results, _chosen_files(again))
            return
        claims.build(again)
        scorecard.build(again)
        paper.build(again)
        _compare(plan.config.results, again.config.results, REBUILT)


def _chosen_files(plan: Plan) -> tuple[str, ...]:
    """The files of the artifacts that ``only`` asks for, under a results folder."""
    every = [(paper, name) for paper, document in plan.config.papers.items() for name in document.artifacts]
    names = [f"{paper}/{name}" for paper, name in every if plan.config.chosen(paper, name)]
    return tuple(pattern for name in names for pattern in (f"statistics/{name}/*.csv", f"*/{name}.*"))


def _rerun(plan: Plan, name: str, overrides: dict[str, Any]) -> None:
    from hypersphere.probes import evaluate
    from hypersphere.training import pretrain, snapshots

    recorded = manifest.check_files(plan.run_folder(name))
    with _elsewhere(plan, overrides) as again:
        pretrain.pretrain(again, [again.run(name)], also=snapshots.existing(plan.run_folder(name)))
        try:
            _compare(plan.run_folder(name), again.run_folder(name), ("**/*.safetensors", "history.csv", "run.yaml"))
            evaluate.evaluate_runs(again, [again.run(name)])
            asked = tuple(f"{digest}*.csv" for digest in plan.asked[name])
            _compare(plan.evaluation(name, "").parent, again.evaluation(name, "").parent, asked)
        except HypersphereError as error:
            raise HypersphereError(f"{error}{_other_machine(recorded)}") from None


def _other_machine(recorded: dict[str, Any]) -> str:
    """A note that the run was trained in another environment; empty if it was not."""
    ours, theirs = provenance.environment(), recorded["environment"]
    other = [key for key in ("python", "packages", "machine", "processor_flags") if ours.get(key) != theirs.get(key)]
    return f"; made with other {', '.join(other)}, for which equal bytes are not promised" if other else ""


def _compare(before: Path, after: Path, patterns: tuple[str, ...]) -> None:
    """Compare the files of two folders that match the patterns.

    Raises:
        HypersphereError: files are in one folder only or differ in bytes; the sentence names them.
    """
    names = sorted(
        {
            path.relative_to(side).as_posix()
            for side in (before, after)
            for pattern in patterns
            for path in side.glob(pattern)
            if path.is_file() and not path.name.startswith(".")
        }
    )
    if not names:
        raise HypersphereError(f"{before}: has no file to compare")
    differing = [name for name in names if _bytes(before / name) != _bytes(after / name)]
    if differing:
        raise HypersphereError(f"{before}: {', '.join(differing)}: differ when made again")


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
