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
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.command import preview
from hypersphere.config import plan as planning
from hypersphere.config.artifacts import Protocol
from hypersphere.config.cells import raw_pixels
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.config.run import Run
from hypersphere.config.validation import LISTED
from hypersphere.datasets import store
from hypersphere.errors import DamagedError, HypersphereError, in_one_line
from hypersphere.provenance import contents, digests, manifest, markers, state, stop
from hypersphere.wording import counted

MADE = (
    *(f"{folder}/**/*" for folder in ("statistics", "simulations", "tables", "figures")),
    *("theory.*", "theory_claims.*", "claims.*", "scorecard.*"),
)
"""Of a folder of results, what is rebuilt here."""
KEPT = ("runs", "evaluations", "batches")
"""Folders of the results that are not rebuilt."""


def verify(plan: Plan, rerun: list[str], rebuild: bool = True, mend: bool = False) -> None:
    """Check all results of a scale, train and probe the runs of ``rerun`` again, and print the differences.

    ``rebuild`` makes later results again; those of another machine may differ in bytes on this one. ``mend`` forgets
    what is damaged, so that one ``make reproduce`` makes it again; otherwise nothing is changed.
    """
    if not plan.config.results.is_dir():
        raise HypersphereError(f"{plan.config.results}: no such folder; `make reproduce` makes it")
    checks = _checks(plan)
    if rebuild:
        every = "statistics, theory, simulations, claims, tables, figures and scorecard, rebuilt"
        few = "statistics, tables and figures of what was chosen, rebuilt"
        checks[few if plan.config.settings.only else every] = [partial(_rebuild, plan)]
    if rerun:
        checks["trained and probed again"] = [
            partial(_rerun, plan, plan.run(name).name) for name in rerun
        ]
    wrong: list[HypersphereError] = []
    rest = _no_results(plan)
    for path in rest[:LISTED]:
        print(f"left alone: {in_one_line(str(path))}: no manifest lists it", flush=True)
    if rest[LISTED:]:
        print(f"left alone: {len(rest) - LISTED} more that no manifest lists", flush=True)
    for kind, of_kind in checks.items():
        before = len(wrong)
        for check in of_kind:
            try:
                check()
            except HypersphereError as error:
                wrong.append(error)
                print(f"differs: {error}", flush=True)
        print(
            f"{kind}: {len(of_kind) - len(wrong) + before} of {len(of_kind)} as they should be",
            flush=True,
        )
    damaged = [error for error in wrong if isinstance(error, DamagedError)]
    if mend and damaged:
        for damage in damaged:
            damage.disprove()
        print(
            f"{counted(len(damaged), 'difference')} forgotten; `make reproduce` makes all of that again",
            flush=True,
        )
        wrong = [error for error in wrong if error not in damaged]
    if wrong:
        more = f" (and {len(wrong) - 1} more, listed above)" if len(wrong) > 1 else ""
        remedy = "" if mend or not damaged else "; `make mend` makes what is damaged again"
        raise HypersphereError(f"verify: {wrong[0]}{more}{remedy}")


def _checks(plan: Plan) -> dict[str, list[Callable[[], object]]]:
    """What is compared with its manifest, by kind; of records, which have no runs here, nothing."""
    runs = plan.chosen_runs.values() if plan.records is None else ()
    batches = plan.chosen_batches.values()
    every = not plan.config.settings.only
    tables = markers.of_tables(plan, plan.chosen_artifacts, plan.chosen_studies, every)
    datasets = [
        plan.data_folder(plan.datasets[name]) for name in sorted(markers.datasets_of(plan, batches))
    ]
    marked = [path for one in batches for path in (plan.marker(one), plan.evaluated_marker(one.id))]
    measured: list[tuple[Protocol, Run | str]] = [
        (one.protocol, run) for run in runs for one in plan.evaluations[run.name].values()
    ]
    for dataset, protocols in plan.protocols_of_pixels(runs).items():
        measured += [(protocol, dataset) for protocol in protocols.values()]
    return {
        "datasets": [partial(store.verify, folder) for folder in datasets],
        "runs": [partial(_run, plan, run) for run in runs],
        "markers": [partial(markers.check, path) for path in marked],
        "evaluations": [partial(_evaluation, plan, *one) for one in measured],
        "tables, figures and pages": [partial(manifest.check_files, path) for path in tables],
    }


def _no_results(plan: Plan) -> list[Path]:
    """What lies among the results and is none, without folders of runs in training, which have no manifest yet."""
    results = plan.config.results
    known = {results / "batches"}
    known |= {
        folder for folder in map(plan.run_folder, plan.runs) if not (folder / MANIFEST).is_file()
    }
    with suppress(HypersphereError):  # who reads them says so
        known |= contents.recorded(plan).keys()
    for path in contents.manifests(plan, weights=True):
        with suppress(HypersphereError):  # it is named where it is checked
            known |= contents.listed(path).keys()
    return list(contents.others(results, known))


def _run(plan: Plan, run: Run) -> None:
    found = manifest.check_run(plan, run.name)
    data = store.read_manifest(plan.data_folder(run.dataset))["digest"]
    expected = {"run": run.model_dump(mode="json"), "code": digests.run_digest(run), "data": data}
    _check_same(
        plan.run_folder(run.name) / MANIFEST, found, expected, plan.marker(plan.batch_of[run.name])
    )


def _evaluation(plan: Plan, protocol: Protocol, subject: Run | str) -> None:
    """Check the evaluation of a run, or of the raw pixels of a dataset, which depends on no weights."""
    expected: dict[str, Any] = {}
    if isinstance(subject, str):
        path = plan.evaluation_file(raw_pixels(subject), protocol.digest)
        expected["code"] = digests.protocol_digest(protocol, None)
    else:
        from hypersphere.probes import evaluate

        path, asked = (
            plan.evaluation_file(subject.name, protocol.digest),
            plan.evaluations[subject.name][protocol.digest],
        )
        trained = state.look(plan.run_folder(subject.name), 0)
        if not trained.done:
            raise DamagedError(trained.problem, plan.marker(plan.batch_of[subject.name]))
        expected["weights"] = evaluate.inputs(subject, asked, trained.manifest)
        expected["code"] = digests.protocol_digest(protocol, subject)
        expected["at"] = [list(at) for at in sorted(asked.at)]
    proof = path.with_suffix(".json")
    _check_same(proof, manifest.check_evaluation(path), expected, proof)


def _check_same(
    path: Path, recorded: dict[str, Any], expected: dict[str, Any], proof: Path
) -> None:
    other = [key for key, value in expected.items() if recorded.get(key) != value]
    if other:
        sentence = (
            f"{path}: {' and '.join(other)}: not those of this checkout; run again to replace it"
        )
        raise DamagedError(sentence, proof)


def _rerun(plan: Plan, name: str) -> None:
    from hypersphere.probes import evaluate
    from hypersphere.training import pretrain

    recorded = manifest.check_run(plan, name)
    with elsewhere(plan) as again:
        pretrain.pretrain(again, [again.run(name)], also=pretrain.snapshots(plan.run_folder(name)))
        evaluate.evaluate_runs(again, [again.run(name)])
        measured = tuple(
            f"{digest}*.{ending}" for digest in plan.evaluations[name] for ending in ("csv", "png")
        )
        made = {"runs": ("**/*.safetensors", "history.csv", "run.yaml"), "evaluations": measured}
        for folder, patterns in made.items():
            before, after = (one.config.results / folder / name for one in (plan, again))
            if differing := _differing(before, after, _names(patterns, before, after)):
                ours, theirs = digests.environment(), recorded["environment"]
                compared = ("python", "packages", "machine", "processor_flags", "instructions")
                other = ", ".join(
                    key for key in compared if key in theirs and ours[key] != theirs[key]
                )
                note = (
                    f"; made with other {other}, for which equal bytes are not promised"
                    if other
                    else ""
                )
                raise HypersphereError(
                    f"{before}: {', '.join(differing)}: differ when made again{note}"
                )


def _rebuild(plan: Plan) -> None:
    """Have Snakemake make all that follows from runs and evaluations again in another folder, and compare the bytes.

    All rules run but those that prepare, train and measure; with the setting ``only``, just what it chooses. Files that
    differ, belong to no artifact, or cannot be made again because what they are made from is damaged, are the proofs of
    the error.
    """
    with elsewhere(plan, *KEPT) as again:
        root, before, after = again.config.root, plan.config.results, again.config.results
        # Markers that are lost are named above: what follows is made from the evaluations themselves.
        (after / "batches").mkdir(exist_ok=True)
        for batch in again.chosen_batches.values():
            for marker in (again.marker(batch), again.evaluated_marker(batch.id)):
                if not marker.exists():  # else the file that it links to would be touched
                    marker.touch()
        rules = ["reproduce", "theory", "copy_theory", "claims", "scorecard"]
        rules += [f"artifact_{name}" for name in again.drawn_together]
        studied = {paper for paper, _ in again.chosen_studies}
        rules += [
            f"{kind}_{paper}"
            for paper in studied
            for kind in ("simulate", "copy_simulations", "studies")
        ]
        # From records nothing is trained anyway.
        allowed = ("--allowed-rules", *rules) if again.records is None else ()
        done = preview.snakemake(
            root, again.config.overrides, "--cores", "all", "reproduce", *allowed
        )
        reasons: list[str] = []
        if done.returncode:
            paths = sorted((root / "logs").glob("**/*.log"))
            logs = [path.read_text(errors="replace").rstrip().splitlines() for path in paths]
            output = (done.stdout + done.stderr).rstrip().splitlines()
            last = output[-1] if output else f"it {stop.ended(done.returncode)} and said nothing"
            if not logs:
                raise HypersphereError(f"snakemake: {last}")
            said = [line for log in logs for line in log if line.startswith("hypersphere: ")]
            ends = [log[-1] for log in logs if log]  # of a traceback: the error
            said = said or ends[-1:] or [f"snakemake: {last}"]
            reasons = [line.removeprefix("hypersphere: ") for line in dict.fromkeys(said)]
            # then nothing is said of the results
            if any(os.strerror(errno.ENOSPC) in line for line in reasons):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        made = [name for name in _names(("**/*",), after) if name.partition("/")[0] not in KEPT]
        differing = _differing(before, after, made)
        expected = _names(MADE, before)
        if plan.config.settings.only:
            chosen = []
            for key in plan.chosen_artifacts:
                chosen += [*plan.config.outputs(*key), plan.config.artifact_folder(*key)]
            expected = [
                name
                for name in expected
                if any((before / name).is_relative_to(path) for path in chosen)
            ]
        missing = [name for name in expected if name not in made]
        sentences = [
            *([f"{', '.join(differing)}: differ when made again"] if differing else []),
            *(
                [f"{', '.join(missing)}: nothing of this checkout makes them"]
                if missing and not reasons
                else []
            ),
            *(
                [f"{counted(len(missing), 'file')} cannot be made again ({'; '.join(reasons)})"]
                if reasons
                else []
            ),
            *([] if made or reasons else ["has no file to compare"]),
        ]
        if sentences:
            raise DamagedError(
                f"{before}: {'; '.join(sentences)}",
                *(before / name for name in (*differing, *missing)),
            )


def _names(patterns: tuple[str, ...], *sides: Path) -> list[str]:
    """The files under any of the folders that match a pattern, relative to it."""
    return sorted(
        {
            path.relative_to(side).as_posix()
            for side in sides
            for pattern in patterns
            for path in side.glob(pattern)
            if path.is_file() and not path.name.startswith(".")
        }
    )


def _differing(before: Path, after: Path, names: list[str]) -> list[str]:
    """The names of files that are not in both folders, or not with the same bytes."""
    _, other, missing = filecmp.cmpfiles(before, after, names, shallow=False)
    return sorted(other + missing)


@contextmanager
def elsewhere(plan: Plan, *kept: str) -> Iterator[Plan]:
    """The same plan in a temporary folder with all of the project, and of its results the ``kept`` parts.

    These are folders of links to the files, so that whoever removes a file there removes a link. An error's paths of
    the temporary folder are replaced by those of the project.
    """
    with files.temporary_folder(
        "what is made again, as large as tables, figures and pages here,"
    ) as root:
        for path in plan.config.root.iterdir():
            # typst reads no link that leaves its folder
            if path.name in ("config", "paper", "papers"):
                shutil.copytree(path, root / path.name)
            elif path.name not in ("results", "logs") and not path.name.startswith("."):
                (root / path.name).symlink_to(path)
        overrides = {**plan.config.overrides, "data_root": plan.config.settings.data_root}
        other = planning.make(root, overrides)
        other.config.results.mkdir(parents=True)
        for name in kept:
            if (plan.config.results / name).is_dir():
                shutil.copytree(
                    plan.config.results / name,
                    other.config.results / name,
                    copy_function=os.symlink,
                )
        try:
            yield other
        except HypersphereError as error:
            error.args = (str(error).replace(str(root), str(plan.config.root)),)
            raise
