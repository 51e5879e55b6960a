"""``hypersphere verify``: check that results match their manifests, and that they can be made again byte by byte.

Every prepared dataset, run and evaluation is compared with its manifest, and its manifest with this checkout's code and
data. All later results, and the runs that are named, are made again in a temporary folder and compared byte by byte.
"""

import errno
import filecmp
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.command import preview
from hypersphere.config import plan as planning
from hypersphere.config.artifacts import Protocol
from hypersphere.config.cells import raw_pixels
from hypersphere.config.plan import Evaluation, Plan
from hypersphere.config.run import Run
from hypersphere.config.validation import LISTED
from hypersphere.datasets import store
from hypersphere.errors import DamagedError, HypersphereError, in_one_line
from hypersphere.file_names import MANIFEST
from hypersphere.provenance import contents, digests, manifest, markers, state, stop
from hypersphere.statistics import retrained
from hypersphere.wording import count_of

REBUILT = (
    "statistics/**/*",
    "simulations/**/*",
    "tables/**/*",
    "figures/**/*",
    "theory.*",
    "theory_claims.*",
    "claims.*",
    "scorecard.*",
)
"""Patterns of the results that are rebuilt."""
INPUTS = ("runs", "evaluations")
"""Folders of the results from which all else is rebuilt."""


def verify(plan: Plan, rerun: list[str], rebuild: bool = True, mend: bool = False) -> None:
    """Check all results of a scale, train and probe the runs of ``rerun`` again, and print the differences.

    ``rebuild`` makes later results again. Results from another machine may have other bytes on this one. ``mend``
    removes the proofs of what is damaged, so that one ``make reproduce`` makes it again; without it nothing is changed.
    """
    if not plan.config.results.is_dir():
        raise HypersphereError(f"{plan.config.results}: no such folder; `make reproduce` makes it")
    checks = _checks(plan)
    if rebuild:
        every = "statistics, theory, simulations, claims, tables, figures and scorecard, rebuilt"
        few = "statistics, tables and figures of what was chosen, rebuilt"
        kind = few if plan.config.settings.only else every
        checks[kind] = [partial(_rebuild, plan)]
    if rerun:
        names = [plan.run(name).name for name in rerun]
        checks["trained and probed again"] = [partial(_rerun, plan, name) for name in names]
    strays = _strays(plan)
    for path in strays[:LISTED]:
        print(f"left alone: {in_one_line(str(path))}: no manifest lists it")
    if strays[LISTED:]:
        print(f"left alone: {len(strays) - LISTED} more that no manifest lists")
    wrong: list[HypersphereError] = []
    for kind, of_kind in checks.items():
        errors = list(chain.from_iterable(map(_failing, of_kind)))
        whole = len(of_kind)
        print(f"{kind}: {whole - len(errors)} of {whole} as they should be")
        wrong += errors
    damaged = [error for error in wrong if isinstance(error, DamagedError)]
    if mend and damaged:
        for damage in damaged:
            damage.disprove()
        forgotten = count_of(len(damaged), "difference")
        print(f"{forgotten} forgotten; `make reproduce` makes all of that again")
        wrong = [error for error in wrong if not isinstance(error, DamagedError)]
    if wrong:
        first, *others = wrong
        more = f" (and {len(others)} more, listed above)" if others else ""
        remedy = "; `make mend` makes what is damaged again" if damaged and not mend else ""
        raise HypersphereError(f"verify: {first}{more}{remedy}")


def _failing(check: Callable[[], object]) -> Iterator[HypersphereError]:
    """Make a check; print and yield its error, if it fails."""
    try:
        check()
    except HypersphereError as error:
        print(f"differs: {error}")
        yield error


def _checks(plan: Plan) -> dict[str, list[Callable[[], object]]]:
    """The checks that compare results with manifests, by kind. A scale made from records has no runs to check."""
    runs = list(plan.chosen_runs.values()) if plan.records is None else []
    batches = plan.chosen_batches.values()
    every = not plan.config.settings.only
    names = sorted(markers.datasets_of(plan, batches))
    datasets = [plan.data_folder(plan.datasets[name]) for name in names]
    marked: list[Path] = []
    for batch in batches:
        marked += [plan.marker(batch), plan.evaluated_marker(batch.id)]
    measured: list[Callable[[], object]] = []
    for run in runs:
        asked = plan.evaluations[run.name].values()
        measured += [partial(_evaluation, plan, run, one) for one in asked]
    for dataset, protocols in plan.protocols_of_pixels(runs).items():
        measured += [partial(_pixels, plan, dataset, one) for one in protocols.values()]
    tables = markers.of_tables(plan, plan.chosen_artifacts, plan.chosen_studies, every)
    return {
        "datasets": [partial(store.verify, folder) for folder in datasets],
        "runs": [partial(_run, plan, run) for run in runs],
        "markers": [partial(markers.check, path) for path in marked],
        "evaluations": measured,
        "tables, figures and pages": [partial(manifest.check_files, path) for path in tables],
    }


def _strays(plan: Plan) -> list[Path]:
    """The paths among the results that no manifest lists. Folders of runs in training are left out."""
    results = plan.config.results
    known = {results / "batches"}
    for folder in map(plan.run_folder, plan.runs):
        if not (folder / MANIFEST).is_file():
            known.add(folder)
    with suppress(HypersphereError):  # who reads them says so
        known.update(contents.checksums_of_records(plan))
    for path in contents.manifests(plan, weights=True):
        with suppress(HypersphereError):  # it is named where it is checked
            known.update(contents.checksums_of(path))
    return list(contents.others(results, known))


def _run(plan: Plan, run: Run) -> None:
    recorded = manifest.check_run(plan, run.name)
    expected = {
        "run": run.model_dump(mode="json"),
        "code": digests.run_digest(run),
        "data": store.read_manifest(plan.data_folder(run.dataset))["digest"],
    }
    proof = plan.marker(plan.batch_of[run.name])
    _check_same(plan.run_folder(run.name) / MANIFEST, recorded, expected, proof)


def _evaluation(plan: Plan, run: Run, asked: Evaluation) -> None:
    from hypersphere.probes import evaluate

    trained = state.look(plan.run_folder(run.name), 0)
    if not trained.done:
        raise DamagedError(trained.problem, plan.marker(plan.batch_of[run.name]))
    expected = {
        "weights": evaluate.inputs(run, asked, trained.manifest),
        "code": digests.protocol_digest(asked.protocol, run),
        "at": [list(at) for at in sorted(asked.at)],
    }
    _check_evaluation(plan, run.name, asked.protocol, expected)


def _pixels(plan: Plan, dataset: str, protocol: Protocol) -> None:
    """Check the evaluation of a dataset's raw pixels, which depends on no weights."""
    expected = {"code": digests.protocol_digest(protocol, None)}
    _check_evaluation(plan, raw_pixels(dataset), protocol, expected)


def _check_evaluation(
    plan: Plan, subject: str, protocol: Protocol, expected: dict[str, Any]
) -> None:
    path = plan.evaluation_file(subject, protocol.digest)
    proof = path.with_suffix(".json")
    _check_same(proof, manifest.check_evaluation(path), expected, proof)


def _check_same(
    path: Path, recorded: dict[str, Any], expected: dict[str, Any], proof: Path
) -> None:
    others = [key for key in expected if recorded.get(key) != expected[key]]
    if others:
        named = " and ".join(others)
        sentence = f"{path}: {named}: not those of this checkout; run again to replace it"
        raise DamagedError(sentence, proof)


def _rerun(plan: Plan, name: str) -> None:
    from hypersphere.probes import evaluate
    from hypersphere.training import pretrain

    recorded = manifest.check_run(plan, name)
    with elsewhere(plan) as again:
        run = again.run(name)
        snapshots = pretrain.snapshots(plan.run_folder(name))
        pretrain.pretrain(again, [run], also=snapshots)
        evaluate.evaluate_runs(again, [run])
        files_of_run = [*recorded["files"]]
        measured: list[str] = []
        for digest in plan.evaluations[name]:
            evaluation = plan.evaluation_file(name, digest)
            measured += manifest.check_evaluation(evaluation)["files"]
        for folder, names in {"runs": files_of_run, "evaluations": measured}.items():
            before = plan.config.results / folder / name
            after = again.config.results / folder / name
            if differing := _differing(before, after, names):
                note = _other_machine(recorded["environment"])
                raise HypersphereError(
                    f"{before}: {', '.join(differing)}: differ when made again{note}"
                )


def _other_machine(recorded: dict[str, Any]) -> str:
    """The words on what differs between this machine and the run's, and may change bytes; empty: nothing differs."""
    here = digests.environment()
    others = [key for key in retrained.MACHINE if recorded.get(key, here[key]) != here[key]]
    if not others:
        return ""
    return f"; made with other {', '.join(others)}, for which equal bytes are not promised"


def _rebuild(plan: Plan) -> None:
    """Have Snakemake make all that follows from runs and evaluations again in another folder, and compare the bytes.

    With the setting ``only`` it makes what the setting chooses. The proofs of the error are the files that differ, that
    belong to no artifact, or that cannot be made again because their inputs are damaged.
    """
    with elsewhere(plan, *INPUTS) as again:
        reasons = _make_again(again)
        before = plan.config.results
        after = again.config.results
        made = _rebuilt_files(after)
        differing = _differing(before, after, made)
        missing = [name for name in _expected_files(plan) if name not in made]
        sentences = []
        if differing:
            sentences.append(f"{', '.join(differing)}: differ when made again")
        if reasons:
            number = count_of(len(missing), "file")
            sentences.append(f"{number} cannot be made again ({'; '.join(reasons)})")
        elif missing:
            sentences.append(f"{', '.join(missing)}: nothing of this checkout makes them")
        elif not made:
            sentences.append("has no file to compare")
        if sentences:
            proofs = [before / name for name in (*differing, *missing)]
            raise DamagedError(f"{before}: {'; '.join(sentences)}", *proofs)


def _make_again(again: Plan) -> list[str]:
    """Have Snakemake make what follows from runs and evaluations; return why some of it was not made.

    The rules that prepare, train and measure do not run.
    """
    # Markers that are lost are named above: what follows is made from the evaluations themselves.
    (again.config.results / "batches").mkdir()
    for batch in again.chosen_batches.values():
        again.marker(batch).touch()
        again.evaluated_marker(batch.id).touch()
    rules = ["reproduce", "theory", "copy_theory", "claims", "scorecard"]
    rules += [f"artifact_{name}" for name in again.drawn_together]
    for paper in {paper for paper, _ in again.chosen_studies}:
        rules += [f"simulate_{paper}", f"copy_simulations_{paper}", f"studies_{paper}"]
    # From records nothing is trained anyway.
    allowed = ["--allowed-rules", *rules] if again.records is None else []
    root = again.config.root
    done = preview.snakemake(root, again.config.overrides, "--cores", "all", "reproduce", *allowed)
    if not done.returncode:
        return []
    silent = f"it {stop.how_it_ended(done.returncode)} and said nothing"
    output = (done.stdout + done.stderr).rstrip()
    *_, last = output.splitlines() or [silent]
    logs = sorted((root / "logs").glob("**/*.log"))
    if not logs:
        raise HypersphereError(f"snakemake: {last}")
    text = "\n".join(path.read_text(errors="replace") for path in logs)
    full = os.strerror(errno.ENOSPC)
    lines = text.rstrip().splitlines()
    # the last line of a traceback is the error
    reasons = preview.complaints(lines) or lines[-1:] or [f"snakemake: {last}"]
    if any(
        full in reason for reason in reasons
    ):  # then the disk is full, and the results may be right
        raise OSError(errno.ENOSPC, full)
    return list(dict.fromkeys(reasons))


def _expected_files(plan: Plan) -> list[str]:
    """The files of the results that are to be made again."""
    results = plan.config.results
    names = _rebuilt_files(results)
    if not plan.config.settings.only:
        return names
    places: list[Path] = []
    for key in plan.chosen_artifacts:
        places += [*plan.config.outputs(*key), plan.config.artifact_folder(*key)]
    return [name for name in names if any(map((results / name).is_relative_to, places))]


def _rebuilt_files(folder: Path) -> list[str]:
    """The files in a folder of results that are rebuilt here, relative to it."""
    names = []
    for path in chain.from_iterable(map(folder.glob, REBUILT)):
        if path.is_file() and not path.name.startswith("."):
            names.append(path.relative_to(folder).as_posix())
    return sorted(names)


def _differing(before: Path, after: Path, names: list[str]) -> list[str]:
    """The names of files that are not in both folders, or not with the same bytes."""
    _, other, missing = filecmp.cmpfiles(before, after, names, shallow=False)
    return sorted(other + missing)


@contextmanager
def elsewhere(plan: Plan, *folders: str) -> Iterator[Plan]:
    """The same plan in a temporary folder, with the whole project and some folders of its results.

    These folders hold links to the files, so that whoever removes a file there removes a link. An error has the paths
    of the project, and not of the temporary folder.
    """
    copied = "what is made again, as large as tables, figures and pages here,"
    with files.temporary_folder(copied) as root:
        for path in plan.config.root.iterdir():
            # typst reads no link that leaves its folder
            if path.name in ("config", "paper", "papers"):
                shutil.copytree(path, root / path.name)
            elif path.name not in ("results", "logs") and not path.name.startswith("."):
                (root / path.name).symlink_to(path)
        overrides = {**plan.config.overrides, "data_root": plan.config.settings.data_root}
        other = planning.make(root, overrides)
        other.config.results.mkdir(parents=True)
        for name in folders:
            before = plan.config.results / name
            if before.is_dir():
                shutil.copytree(before, other.config.results / name, copy_function=os.symlink)
        try:
            yield other
        except HypersphereError as error:
            sentence = str(error).replace(str(root), str(plan.config.root))
            error.args = (sentence,)
            raise
