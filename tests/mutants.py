"""How many small wrong changes to the code the unit tests notice: `make mutants`, docs/mutants.md.

cosmic-ray lists all changes that its operators make in four packages, makes one at a time in a clone of the last
commit, and runs the unit tests of the changed file's package there. There are thousands, so a sample is drawn, by the
hash of a seed and a mutant's key: it is the same for the same source, and a mutant keeps its place when others come or
go. Results stay in results/mutants/, by the digests of source and tests, so that a run that was stopped goes on.
"""

import argparse
import ast
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain, islice, zip_longest
from multiprocessing.pool import ThreadPool
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Any

import pandas as pd
from statsmodels.stats.proportion import proportion_confint
from tests.preloaded import Server

from hypersphere import files
from hypersphere.wording import renewed

if TYPE_CHECKING:
    from cosmic_ray.work_item import WorkItem, WorkResult

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("config", "objectives", "provenance", "statistics")
SWAPS = {
    "Binary": "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Div Mod_Div Pow_Mul BitOr_BitAnd BitAnd_BitOr",
    "Comparison": "Eq_NotEq NotEq_Eq Lt_LtE LtE_Lt Gt_GtE GtE_Gt Is_IsNot IsNot_Is",
    "Unary": "Delete_USub Delete_Not Delete_Invert",
}
"""One replacement of each sign. cosmic-ray has ten of some, most of which no type has: they show little."""
OPERATORS = {
    *(f"core/Replace{kind}Operator_{swap}" for kind, swaps in SWAPS.items() for swap in swaps.split()),
    *("core/AddNot", "core/ReplaceTrueWithFalse", "core/ReplaceFalseWithTrue", "core/NumberReplacer"),
    *("core/ReplaceAndWithOr", "core/ReplaceOrWithAnd", "core/ExceptionReplacer", "core/RemoveDecorator"),
    *("core/ReplaceBreakWithContinue", "core/ReplaceContinueWithBreak", "core/ZeroIterationForLoop"),
}
LIBRARIES = ("torch", "numpy", "pandas", "pydantic", "scipy.stats", "statsmodels.api", "sklearn", "yaml", "hypothesis")
"""What the tests' processes have from their start (tests/preloaded.py)."""
SOURCES = (".", "src", "plugins/text/src", "plugins/control/src")
PYTEST = ["-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", "-o", f"pythonpath={' '.join(SOURCES)}"]
OWN = "not long and not tools"
"""The marks of the tests of a mutant's own module."""
OTHERS = f"{OWN} and not heavy"
"""Those of the other tests of its package."""
PATIENCE = 10
"""A mutant has this many times what the tests of its package took without one, and a minute more."""
BEGIN, END = "<!-- mutants -->", "<!-- end of mutants -->"


@dataclass(frozen=True)
class Outcome:
    package: str
    key: str
    """File, operator, and how many of the operator's places in the file come before."""
    line: int
    outcome: str
    """``killed``, ``timed out`` or ``survived``"""
    before: str
    after: str


def rank(seed: int, key: str) -> str:
    return hashlib.sha256(f"{seed} {key}".encode()).hexdigest()


def sample(keys: Iterable[str], size: int, seed: int, counts: Callable[[str], bool]) -> list[str]:
    """The first ``size`` keys, in the order of their hashes, whose mutants count."""
    return list(islice(filter(counts, sorted(keys, key=lambda key: rank(seed, key))), size))


def changes_code(before: str, after: str) -> bool:
    """Whether a mutant is Python, and differs in more than annotations."""
    try:
        return _bare(before) != _bare(after)
    except SyntaxError:  # a star of a parameter or of a call is no product
        return False


def _bare(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if hasattr(node, name):
                setattr(node, name, ast.Constant(None))
    return ast.dump(tree)


def in_turn(module: str, tests: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """A module's own test files of a package's, which come with their texts, or else those that name it; the others."""
    own = [path for path in sorted(tests) if Path(path).stem.startswith(f"test_{module}")]
    own = own or [path for path in sorted(tests) if re.search(rf"\b{module}\b", tests[path])]
    return own, [path for path in sorted(tests) if path not in own]


def table(outcomes: Sequence[Outcome], of: Mapping[str, int]) -> str:
    """A row for each package and one for all, then each survivor; ``of`` has the number of all mutants."""
    lines = ["| package | listed | drawn | noticed | of these by time | share noticed, 95 % interval |"]
    lines += ["| --- | --: | --: | --: | --: | --- |"]
    for package in [*of, "all"]:
        own = [one for one in outcomes if package in (one.package, "all")]
        noticed = sum(one.outcome != "survived" for one in own)
        low, high = proportion_confint(noticed, len(own), method="wilson")
        share = f"{noticed / len(own):.0%} ({low:.0%} to {high:.0%})"
        late = sum(one.outcome == "timed out" for one in own)
        lines.append(f"| {package} | {of.get(package, sum(of.values()))} | {len(own)} | {noticed} | {late} | {share} |")
    lines += ["", "| survivor | operator | line | became |", "| --- | --- | --- | --- |"]
    for one in sorted(outcomes, key=lambda one: (one.key.split()[0], one.line)):
        if one.outcome == "survived":
            file, operator, _ = one.key.split()
            code = [f"`{text}`".replace("|", "\\|") for text in (one.before, one.after)]
            place = f"`{file.removeprefix('src/hypersphere/')}:{one.line}`"
            lines.append(f"| {place} | {operator.removeprefix('core/')} | {' | '.join(code)} |")
    return "\n".join(lines)


def key(item: "WorkItem") -> str:
    (one,) = item.mutations
    return f"{one.module_path} {one.operator_name} {one.occurrence}"


def outcome(item: "WorkItem", result: "WorkResult") -> Outcome:
    (one,) = item.mutations
    killed = "timed out" if result.output == "timeout" else "killed"
    changed = [line for line in (result.diff or "").splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    before, after = (" ".join(line[1:].strip() for line in changed if line[0] == sign) for sign in "-+")
    said = killed if result.is_killed else "survived"
    return Outcome(one.module_path.parts[2], key(item), one.start_pos[0], said, before, after)


def digest(clone: Path, *patterns: str) -> str:
    found = sorted({path for pattern in patterns for path in clone.glob(pattern) if path.is_file()})
    return files.digest({str(path.relative_to(clone)): files.sha256(path) for path in found}, 12)


class Workshop:
    """A clone of the last commit, in which one mutant at a time is made and tested."""

    def __init__(self, clone: Path, python: str) -> None:
        self.clone = clone
        paths = ":".join(str(clone / name) for name in SOURCES)
        self._start = ["env", "-C", str(clone), f"PYTHONPATH={paths}", python, *PYTEST, f"--basetemp={clone}.tmp"]

    def command(self, module: Path) -> str:
        """What runs the tests of a module's package, its own first."""
        tests = {
            str(path.relative_to(self.clone)): path.read_text(encoding="utf-8")
            for path in (self.clone / "tests" / "unit" / module.parts[2]).rglob("test_*.py")
        }
        parts = zip((OWN, OTHERS), in_turn(module.stem, tests), strict=True)
        runs = [shlex.join([*self._start, "-m", marks, *part]) for marks, part in parts if part]
        # 5: the marks leave out all tests of these files
        return shlex.join(["sh", "-c", " && ".join(f"{{ {run} || [ $? = 5 ]; }}" for run in runs)])

    def time(self, package: str) -> float:
        """How many seconds the tests of a package take without a mutant; they must pass."""
        from cosmic_ray.testing import TestOutcome, run_tests

        start = time.monotonic()
        said, output = run_tests(self.command(Path("src/hypersphere", package, "__init__.py")), 3600)
        if said != TestOutcome.SURVIVED:
            sys.exit(f"tests/unit/{package} must pass before mutants are made:\n{output}")
        return time.monotonic() - start

    def test(self, item: "WorkItem", timeout: float) -> "WorkResult":
        from attrs import evolve
        from cosmic_ray.mutating import mutate_and_test

        (one,) = item.mutations
        there = evolve(one, module_path=self.clone / one.module_path)
        return mutate_and_test([there], self.command(one.module_path), timeout)


def draw(clone: Path, items: Iterable["WorkItem"], size: int, seed: int) -> list["WorkItem"]:
    """The mutants of one package to test."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    by_key = {key(item): item for item in items}

    def counts(name: str) -> bool:
        (one,) = by_key[name].mutations
        source = (clone / one.module_path).read_text(encoding="utf-8")
        try:
            mutant = mutate_code(source, get_operator(one.operator_name)(**one.operator_args), one.occurrence)
        except AttributeError:  # of its ExceptionReplacer, 8.7, at `except (module.Error, Other)`
            return False
        return changes_code(source, mutant)

    return [by_key[name] for name in sample(by_key, size, seed, counts)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make mutants")
    parser.add_argument("page", type=Path, help="the page that gets the tables, between its marks")
    parser.add_argument("csv", type=Path, help="the file that gets a row for each mutant")
    parser.add_argument("--size", type=int, default=40, help="mutants of each package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="mutants that are tested at a time")
    asked = parser.parse_args()
    os.environ.pop("PYTHONPATH", None)  # cosmic-ray came by it, with libraries of its own
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["CI"] = "true"  # hypothesis draws the same examples each time, and sets no deadline
    if (ROOT.parent / "shared" / "data").is_dir():
        os.environ.setdefault("HYPERSPHERE_TEST_SHARED", str(ROOT.parent / "shared" / "data"))
    with tempfile.TemporaryDirectory() as folder:
        run(asked, Path(folder))


def run(asked: argparse.Namespace, folder: Path) -> None:
    from cosmic_ray.commands import init
    from cosmic_ray.work_db import use_db
    from cosmic_ray.work_item import WorkerOutcome

    clone = folder / "0"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    source = digest(clone, *(f"src/hypersphere/{name}/**/*.py" for name in PACKAGES))
    tests = digest(clone, "tests/conftest.py", *(f"tests/unit/{name}/**/*" for name in PACKAGES))
    session = ROOT / "results" / "mutants" / f"{source}-{tests}.sqlite"
    session.parent.mkdir(parents=True, exist_ok=True)
    os.chdir(clone)  # cosmic-ray names modules by their paths from here
    with use_db(session) as database:
        if not database.num_work_items:
            modules = [sorted(Path("src/hypersphere", name).rglob("*.py")) for name in PACKAGES]
            init(chain.from_iterable(modules), database, {})
        known = [item for item in database.work_items if item.mutations[0].operator_name in OPERATORS]
        of = {name: [item for item in known if item.mutations[0].module_path.parts[2] == name] for name in PACKAGES}
        drawn = [draw(clone, items, asked.size, asked.seed) for items in of.values()]
        done = {item.job_id for item, _ in database.completed_work_items}
        # a package after the other, so that a run that is stopped has as many mutants of each
        asked_for = [item for items in zip_longest(*drawn) for item in items if item]
        if pending := [item for item in asked_for if item.job_id not in done]:
            for item, result in tested(pending, clone, asked.jobs):
                assert result.worker_outcome == WorkerOutcome.NORMAL, result.output
                database.set_result(item.job_id, result)
                print(f"{len(done) + 1:4} {outcome(item, result).outcome:9} {key(item)}", flush=True)
                done.add(item.job_id)
        results = dict(database.results)
        outcomes = [outcome(item, results[item.job_id]) for item in asked_for]
    note = f"cosmic-ray {version('cosmic-ray')}, seed {asked.seed}, sources `{source}`, tests `{tests}`."
    said = table(outcomes, {name: len(items) for name, items in of.items()})
    page = (ROOT / asked.page).read_text(encoding="utf-8")
    files.write_text(ROOT / asked.page, renewed(page, BEGIN, END, f"{said}\n\n{note}"))
    files.write_text(ROOT / asked.csv, pd.DataFrame(map(vars, outcomes)).to_csv(index=False))


def tested(items: Sequence["WorkItem"], clone: Path, jobs: int) -> Iterator[tuple["WorkItem", "WorkResult"]]:
    """The mutants with their results, as they come, in ``jobs`` clones.

    Files are compiled while they are whole, and never later: two mutants may have the same size in the same second.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    tests = [f"tests/unit/{name}" for name in PACKAGES]
    collect = [sys.executable, *PYTEST, "--collect-only", *tests]
    subprocess.run(collect, cwd=clone, check=True, stdout=subprocess.DEVNULL)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    clones = [clone, *(clone.with_name(str(number)) for number in range(1, jobs))]
    for other in clones[1:]:
        shutil.copytree(clone, other)
    server = Server(*LIBRARIES)
    with closing(server), ThreadPool(jobs) as pool:
        free: Queue[Workshop] = Queue()
        for other in clones:
            free.put(Workshop(other, server.python))

        def lent(work: Callable[[Workshop], Any]) -> Any:
            workshop = free.get()
            try:
                return work(workshop)
            finally:
                free.put(workshop)

        names = list(dict.fromkeys(item.mutations[0].module_path.parts[2] for item in items))
        seconds = dict(zip(names, pool.map(lambda name: lent(lambda shop: shop.time(name)), names), strict=True))
        print("seconds without a mutant:", {name: round(one) for name, one in seconds.items()}, flush=True)
        timeouts = {name: 60 + PATIENCE * one for name, one in seconds.items()}

        def test(item: "WorkItem") -> tuple["WorkItem", "WorkResult"]:
            return item, lent(lambda shop: shop.test(item, timeouts[item.mutations[0].module_path.parts[2]]))

        yield from pool.imap_unordered(test, items)


if __name__ == "__main__":
    main()
