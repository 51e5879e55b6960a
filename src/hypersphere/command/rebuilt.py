"""Make everything that follows from runs and evaluations again in another folder, and compare the bytes."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere.declared import plan as planning
from hypersphere.declared.plan import Plan
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.nouns import counted

FOLDERS = ("statistics", "simulations", "tables", "figures")
"""Folders of the results that hold nothing but what is rebuilt here."""


class Part(NamedTuple):
    """Some results that are made together, and their files under the results folder."""

    make: Callable[[], None]
    patterns: tuple[str, ...]
    of_all: bool = False
    """Whether it is made from all other parts, so that it is not right where one of them is not."""


def check(plan: Plan, overrides: dict[str, Any]) -> None:
    """Rebuild statistics, theory, simulations, claims, tables, figures, scorecard and paper, and compare them.

    With the setting ``only``, just the chosen artifacts.

    Raises:
        DamagedError: files differ when made again, belong to no artifact, or cannot be made again because what they are
            made from is damaged. The proofs are those files.
    """
    with elsewhere(plan, overrides, "runs", "evaluations") as again:
        before, after = plan.config.results, again.config.results
        reasons: dict[str, None] = {}
        known, unproven, differing = [], [], []
        for part in _parts(again):
            reason = next(iter(reasons)) if reasons and part.of_all else _attempt(part)
            names = _names(part.patterns, before, after)
            known += names
            if reason is None:
                differing += _differing(before, after, names)
            else:
                reasons[reason] = None
                unproven += names
        strays = [] if plan.config.settings.only else _strays(before, set(known))
        sentences = [
            *([f"{', '.join(sorted(differing))}: differ when made again"] if differing else []),
            *([f"{', '.join(strays)}: nothing of this checkout makes them"] if strays else []),
            *([f"{counted(len(unproven), 'file')} cannot be made again ({'; '.join(reasons)})"] if unproven else []),
            *([] if known else ["has no file to compare"]),
        ]
        if sentences:
            wrong = [before / name for name in (*differing, *strays, *unproven)]
            raise DamagedError(f"{before}: {'; '.join(sentences)}", *wrong)


def _attempt(part: Part) -> str | None:
    """Make a part; the reason why it cannot be made, or None."""
    try:
        part.make()
    except HypersphereError as error:
        return str(error)
    return None


def _parts(plan: Plan) -> Iterator[Part]:
    """Everything that is rebuilt, in the order in which it is made."""
    from hypersphere.present import paper, scorecard, shown
    from hypersphere.present.results import Results
    from hypersphere.simulations import build as simulations
    from hypersphere.statistics import claims, measure
    from hypersphere.theory import build as theory

    results, config = Results(plan), plan.config
    yield Part(partial(theory.build, plan), ("theory.csv", "theory.json"))
    for name in config.papers:
        studied = [artifact for artifact in config.studied(name) if config.chosen(name, artifact)]
        if studied:
            yield Part(partial(simulations.build, plan, name), (f"simulations/{name}/*",))
            yield Part(partial(claims.build_studies, plan, name), tuple(f"statistics/{name}/{f}" for f in _STUDIES))
        for artifact in studied:
            yield Part(partial(shown.build, results, name, artifact), _shown(name, artifact))
    for name, artifact in plan.made:
        if config.chosen(name, artifact):

            def make(name: str = name, artifact: str = artifact) -> None:
                measure.build(plan, name, artifact)
                shown.build(results, name, artifact)

            yield Part(make, (f"statistics/{name}/{artifact}/*", *_shown(name, artifact)))
    if not config.settings.only:
        yield Part(partial(claims.build, plan), _CLAIMS, True)
        yield Part(partial(scorecard.build, plan), ("scorecard.html", "scorecard.json"), True)
        yield Part(partial(paper.build, plan), ("paper.pdf",), True)


_STUDIES = ("studies.csv", "manifest.json")
_CLAIMS = ("claims.csv", "claims.json", "statistics/runs.csv", "statistics/manifest.json")


def _shown(paper: str, artifact: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{paper}/{artifact}.*" for folder in ("tables", "figures"))


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


def _strays(results: Path, known: set[str]) -> list[str]:
    """Files in the folders of rebuilt results that nothing makes."""
    return [name for name in _names(tuple(f"{folder}/**/*" for folder in FOLDERS), results) if name not in known]


def _differing(before: Path, after: Path, names: list[str]) -> list[str]:
    """The files that are in one folder only or differ in bytes."""
    return [name for name in names if _bytes(before / name) != _bytes(after / name)]


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def compare(before: Path, after: Path, patterns: tuple[str, ...]) -> None:
    """Compare the files of two folders that match the patterns.

    Raises:
        HypersphereError: files are in one folder only or differ in bytes; the sentence names them.
    """
    names = _names(patterns, before, after)
    if not names:
        raise HypersphereError(f"{before}: has no file to compare")
    differing = _differing(before, after, names)
    if differing:
        raise HypersphereError(f"{before}: {', '.join(differing)}: differ when made again")


@contextmanager
def elsewhere(plan: Plan, overrides: dict[str, Any], *kept: str) -> Iterator[Plan]:
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
            error.args = (str(error).replace(str(root), str(plan.config.root)),)
            raise
