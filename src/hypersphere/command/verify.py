"""``hypersphere verify``: check that results match their manifests, and that they can be made again byte by byte.

Every prepared dataset, run and evaluation is compared with its manifest, and its manifest with this checkout's code and
data. All later results, and the runs that are named, are made again in a temporary folder and compared byte by byte.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from hypersphere.command import rebuilt
from hypersphere.config import plan as planning
from hypersphere.config.cells import raw_pixels
from hypersphere.config.plan import Plan
from hypersphere.config.run import Dataset
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.provenance import digests, manifest, markers
from hypersphere.wording import counted

Checks = list[Callable[[], None]]


def verify(plan: Plan, rerun: list[str], overrides: dict[str, Any], rebuild: bool = True, mend: bool = False) -> None:
    """Check all results of a scale, train and probe the runs of ``rerun`` again, and print the differences.

    Args:
        plan: of the scale.
        rerun: names of runs.
        overrides: settings of the command line.
        rebuild: whether to make later results again; those of another machine may differ in bytes on this one.
        mend: forget what is damaged, so that one ``make reproduce`` makes it again; otherwise nothing is changed.

    Raises:
        HypersphereError: something is missing or differs, and was not forgotten; a sentence about each was printed.
    """
    if not plan.config.results.is_dir():
        raise HypersphereError(f"{plan.config.results}: no such folder; `make reproduce` makes it")
    wrong: list[HypersphereError] = []
    for kind, checks in _checks(plan, [plan.run(name).name for name in rerun], overrides, rebuild).items():
        before = len(wrong)
        for check in checks:
            try:
                check()
            except HypersphereError as error:
                wrong.append(error)
                print(f"differs: {error}", flush=True)
        print(f"{kind}: {len(checks) - len(wrong) + before} of {len(checks)} as they should be", flush=True)
    damaged = [error for error in wrong if isinstance(error, DamagedError)]
    if mend and damaged:
        for damage in damaged:
            damage.disprove()
        print(f"{counted(len(damaged), 'difference')} forgotten; `make reproduce` makes all of that again", flush=True)
        wrong = [error for error in wrong if error not in damaged]
    if wrong:
        more = f" (and {len(wrong) - 1} more, listed above)" if len(wrong) > 1 else ""
        remedy = "" if mend or not damaged else "; `make mend` makes what is damaged again"
        raise HypersphereError(f"verify: {wrong[0]}{more}{remedy}")


def _checks(plan: Plan, rerun: list[str], overrides: dict[str, Any], rebuild: bool) -> dict[str, Checks]:
    chosen = [key for key in plan.made if plan.config.chosen(*key)] if plan.records is None else []
    runs = {name: run for key in chosen for name, run in plan.runs_of(*key).items()}
    pixels = {name for key in chosen for name in plan.pixels_of(*key)}
    probed = {target for name in runs for asked in plan.asked[name].values() for _, target in asked.at}
    datasets = {run.dataset.name for run in runs.values()} | probed
    checks: dict[str, Checks] = {
        "datasets": [partial(_dataset, plan, plan.datasets[name]) for name in sorted(datasets)],
        "runs": [partial(_run, plan, name) for name in runs],
        "markers": [partial(_markers, plan, name) for name in {plan.batch_of(name).id: name for name in runs}.values()],
        "evaluations": [
            *(partial(_evaluation, plan, name, digest) for name in runs for digest in plan.asked[name]),
            *(partial(_pixels, plan, name, digest) for name in sorted(pixels) for digest in plan.asked_of_pixels[name]),
        ],
    }
    if rebuild:
        every = "statistics, theory, simulations, claims, tables, figures, scorecard and paper, rebuilt"
        few = "statistics, tables and figures of what was chosen, rebuilt"
        checks[few if plan.config.settings.only else every] = [partial(rebuilt.check, plan, overrides)]
    if rerun:
        checks["trained and probed again"] = [partial(_rerun, plan, name, overrides) for name in rerun]
    return checks


def _dataset(plan: Plan, dataset: Dataset) -> None:
    from hypersphere.datasets import store

    store.verify(plan.data_folder(dataset))


def _run(plan: Plan, name: str) -> None:
    from hypersphere.datasets import store

    run, folder = plan.run(name), plan.run_folder(name)
    recorded = manifest.check_run(plan, name)
    data = store.read_manifest(plan.data_folder(run.dataset))["digest"]
    expected = {"run": run.model_dump(mode="json"), "code": digests.run_digest(run), "data": data}
    _check_same(folder / planning.MANIFEST, recorded, expected, plan.marker(plan.batch_of(name)))


def _markers(plan: Plan, name: str) -> None:
    """Check the two markers of the batch that trains a run, which Snakemake alone reads."""
    batch = plan.batch_of(name)
    markers.check_marker(plan, batch)
    markers.check_evaluated_marker(plan, batch.id, [run.name for run in batch.runs])


def _evaluation(plan: Plan, name: str, digest: str) -> None:
    from hypersphere.probes import evaluate

    run, path, asked = plan.run(name), plan.evaluation(name, digest), plan.asked[name][digest]
    try:
        trained = manifest.read_manifest(plan.run_folder(name))
    except HypersphereError as error:
        raise DamagedError(str(error), plan.marker(plan.batch_of(name))) from None
    expected = {
        "weights": evaluate.inputs(run, asked, trained),
        "code": digests.protocol_digest(asked.protocol, run),
        "at": [list(at) for at in sorted(asked.at)],
    }
    _check_same(path.with_suffix(".json"), manifest.check_evaluation(path), expected, path.with_suffix(".json"))


def _pixels(plan: Plan, dataset: str, digest: str) -> None:
    path = plan.evaluation(raw_pixels(dataset), digest)
    code = digests.protocol_digest(plan.asked_of_pixels[dataset][digest], None)
    _check_same(path.with_suffix(".json"), manifest.check_evaluation(path), {"code": code}, path.with_suffix(".json"))


def _check_same(path: Path, recorded: dict[str, Any], expected: dict[str, Any], proof: Path) -> None:
    other = [key for key, value in expected.items() if recorded.get(key) != value]
    if other:
        sentence = f"{path}: {' and '.join(other)}: not those of this checkout; run again to replace it"
        raise DamagedError(sentence, proof)


def _rerun(plan: Plan, name: str, overrides: dict[str, Any]) -> None:
    from hypersphere.probes import evaluate
    from hypersphere.training import pretrain, snapshots

    recorded = manifest.check_files(plan.run_folder(name))
    with rebuilt.elsewhere(plan, overrides) as again:
        pretrain.pretrain(again, [again.run(name)], also=snapshots.existing(plan.run_folder(name)))
        try:
            rebuilt.compare(
                plan.run_folder(name), again.run_folder(name), ("**/*.safetensors", "history.csv", "run.yaml")
            )
            evaluate.evaluate_runs(again, [again.run(name)])
            asked = tuple(f"{digest}*.{ending}" for digest in plan.asked[name] for ending in ("csv", "png"))
            rebuilt.compare(plan.evaluation(name, "").parent, again.evaluation(name, "").parent, asked)
        except HypersphereError as error:
            raise HypersphereError(f"{error}{_other_machine(recorded)}") from None


def _other_machine(recorded: dict[str, Any]) -> str:
    """A note that the run was trained in another environment; empty if it was not."""
    ours, theirs = digests.environment(), recorded["environment"]
    other = [key for key in ("python", "packages", "machine", "processor_flags") if ours.get(key) != theirs.get(key)]
    return f"; made with other {', '.join(other)}, for which equal bytes are not promised" if other else ""
