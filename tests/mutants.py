"""How many small wrong changes to the code the unit tests notice: `make mutants`.

cosmic-ray lists all changes that its operators make in seven packages, makes one at a time in a clone of the last
commit, and runs the unit tests of the changed file's package there. There are thousands, so a sample is drawn, by the
hash of a seed and a mutant's key: it is the same for the same source, and a mutant keeps its place when others come or
go. Results stay in results/mutants/, by the digests of source and tests, so that a run that was stopped goes on. At the
end it prints two tables: how many mutants of each package were noticed, and which survived.
"""

import argparse
import ast
import hashlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from statsmodels.stats.proportion import proportion_confint

from hypersphere import files

if TYPE_CHECKING:
    from cosmic_ray.work_item import WorkItem, WorkResult

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "audit",
    "config",
    "judging",
    "objectives",
    "probes",
    "provenance",
    "report",
    "statistics",
)
"""What decides, computes or says a number; each has tests/unit/<package>."""
SWAPS = {
    "Binary": "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Div Mod_Div Pow_Mul BitOr_BitAnd BitAnd_BitOr",
    "Comparison": "Eq_NotEq NotEq_Eq Lt_LtE LtE_Lt Gt_GtE GtE_Gt Is_IsNot IsNot_Is",
    "Unary": "Delete_USub Delete_Not Delete_Invert",
}
"""One replacement of each sign. cosmic-ray has ten of some, most of which no type has: they show little."""
OPERATORS = {
    *(
        f"core/Replace{kind}Operator_{swap}"
        for kind, swaps in SWAPS.items()
        for swap in swaps.split()
    ),
    *(
        "core/AddNot",
        "core/ReplaceTrueWithFalse",
        "core/ReplaceFalseWithTrue",
        "core/NumberReplacer",
    ),
    *(
        "core/ReplaceAndWithOr",
        "core/ReplaceOrWithAnd",
        "core/ExceptionReplacer",
        "core/RemoveDecorator",
    ),
    *(
        "core/ReplaceBreakWithContinue",
        "core/ReplaceContinueWithBreak",
        "core/ZeroIterationForLoop",
    ),
}
SOURCES = (".", "src", "plugins/text/src", "plugins/control/src")
PYTEST = [
    "-m",
    "pytest",
    "-x",
    "-q",
    "-n0",
    "-p",
    "no:cacheprovider",
    "-o",
    f"pythonpath={' '.join(SOURCES)}",
]
OWN = "not long and not tools"
"""The marks of the tests of a mutant's own module."""
OTHERS = f"{OWN} and not heavy"
"""Those of the other tests of its package."""
PATIENCE = 10
"""A mutant has this many times what the tests of its package took without one, and a minute more."""


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


def sample(keys: Iterable[str], size: int, seed: int, counts: Callable[[str], bool]) -> list[str]:
    """The first ``size`` keys, in the order of their hashes, whose mutants count."""
    ranked = sorted(keys, key=lambda key: hashlib.sha256(f"{seed} {key}".encode()).hexdigest())
    return list(islice(filter(counts, ranked), size))


def changes_code(before: str, after: str) -> bool:
    """Whether a mutant is Python, and differs in more than annotations."""
    try:
        trees = [ast.parse(source) for source in (before, after)]
    except SyntaxError:  # a star of a parameter or of a call is no product
        return False
    for node in chain.from_iterable(map(ast.walk, trees)):
        for name in ("annotation", "returns"):
            if hasattr(node, name):
                setattr(node, name, ast.Constant(None))
    return ast.dump(trees[0]) != ast.dump(trees[1])


def in_turn(module: str, tests: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """A module's own test files of a package's, which come with their texts, or else those that name it; the others."""
    own = [path for path in sorted(tests) if Path(path).stem.startswith(f"test_{module}")]
    own = own or [path for path in sorted(tests) if re.search(rf"\b{module}\b", tests[path])]
    return own, [path for path in sorted(tests) if path not in own]


def table(outcomes: Sequence[Outcome], of: Mapping[str, int]) -> str:
    """A row for each package and one for all, then each survivor; ``of`` has the number of all mutants."""
    lines = [
        "| package | listed | drawn | noticed | of these by time | share noticed, 95 % interval |"
    ]
    lines += ["| --- | --: | --: | --: | --: | --- |"]
    for package in [*of, "all"]:
        own = [one for one in outcomes if package in (one.package, "all")]
        noticed = sum(one.outcome != "survived" for one in own)
        low, high = proportion_confint(noticed, len(own), method="wilson")
        share = f"{noticed / len(own):.0%} ({low:.0%} to {high:.0%})"
        late = sum(one.outcome == "timed out" for one in own)
        lines.append(
            f"| {package} | {of.get(package, sum(of.values()))} | {len(own)} | {noticed} | {late} | {share} |"
        )
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
    changed = [
        line
        for line in (result.diff or "").splitlines()
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]
    before, after = (
        " ".join(line[1:].strip() for line in changed if line[0] == sign) for sign in "-+"
    )
    said = killed if result.is_killed else "survived"
    return Outcome(one.module_path.parts[2], key(item), one.start_pos[0], said, before, after)


def counts(item: "WorkItem") -> bool:
    """Whether a mutant of the current folder is to be counted."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    (one,) = item.mutations
    source = Path(one.module_path).read_text(encoding="utf-8")
    try:
        mutant = mutate_code(
            source, get_operator(one.operator_name)(**one.operator_args), one.occurrence
        )
    except AttributeError:  # of its ExceptionReplacer, 8.7, at `except (module.Error, Other)`
        return False
    return changes_code(source, mutant)


def command(module: Path) -> str:
    """What runs the tests of a module's package in the current folder, its own first."""
    found = Path("tests", "unit", module.parts[2]).rglob("test_*.py")
    tests = {str(path): path.read_text(encoding="utf-8") for path in found}
    parts = zip((OWN, OTHERS), in_turn(module.stem, tests), strict=True)
    runs = [
        shlex.join([sys.executable, *PYTEST, "-m", marks, *part]) for marks, part in parts if part
    ]
    # 5: the marks leave out all tests of these files
    return shlex.join(["sh", "-c", " && ".join(f"{{ {run} || [ $? = 5 ]; }}" for run in runs)])


def digest(*patterns: str) -> str:
    """Of the files that git keeps: compiled ones, which lie beside them, hold times."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *patterns], capture_output=True, text=True, check=True
    ).stdout
    found = [Path(name) for name in listed.split("\0") if name]
    return files.digest({str(path): files.sha256(path) for path in found}, 12)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make mutants")
    parser.add_argument("--size", type=int, default=40, help="mutants of each package")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["CI"] = "true"  # hypothesis draws the same examples each time, and sets no deadline
    if (ROOT.parent / "shared" / "data").is_dir():
        os.environ.setdefault("HYPERSPHERE_TEST_SHARED", str(ROOT.parent / "shared" / "data"))
    with tempfile.TemporaryDirectory() as clone:
        subprocess.run(["git", "clone", "--quiet", str(ROOT), clone], check=True)
        os.chdir(clone)  # cosmic-ray names modules by their paths from here
        # for the tests, without it
        os.environ["PYTHONPATH"] = ":".join(str(Path(clone, name)) for name in SOURCES)
        # While files are whole, and never later: two mutants may have the same size in the same second.
        subprocess.run(
            [sys.executable, "-m", "compileall", "-q", *SOURCES[1:], "tests"], check=True
        )
        run(asked)


def run(asked: argparse.Namespace) -> None:
    from cosmic_ray.commands import init
    from cosmic_ray.mutating import mutate_and_test
    from cosmic_ray.testing import TestOutcome, run_tests
    from cosmic_ray.work_db import use_db
    from cosmic_ray.work_item import WorkerOutcome

    source = digest(*(f"src/hypersphere/{name}/*.py" for name in PACKAGES))
    tests = digest("tests/conftest.py", *(f"tests/unit/{name}" for name in PACKAGES))
    session = ROOT / "results" / "mutants" / f"{source}-{tests}.sqlite"
    session.parent.mkdir(parents=True, exist_ok=True)
    with use_db(session) as database:
        if not database.num_work_items:
            modules = [sorted(Path("src/hypersphere", name).rglob("*.py")) for name in PACKAGES]
            init(chain.from_iterable(modules), database, {})
        of: dict[str, dict[str, WorkItem]] = {name: {} for name in PACKAGES}
        for item in database.work_items:
            if item.mutations[0].operator_name in OPERATORS:
                of[item.mutations[0].module_path.parts[2]][key(item)] = item
        drawn = [
            sample(known, asked.size, asked.seed, lambda one, known=known: counts(known[one]))
            for known in of.values()
        ]
        # a package after the other, so that a run that is stopped has as many mutants of each
        items = [
            of[one.split("/")[2]][one] for every in zip_longest(*drawn) for one in every if one
        ]
        done = {item.job_id for item, _ in database.completed_work_items}
        timeouts: dict[str, float] = {}
        for item in items:
            module, package = item.mutations[0].module_path, item.mutations[0].module_path.parts[2]
            if item.job_id in done:
                continue
            if package not in timeouts:
                start = time.monotonic()
                said, output = run_tests(command(module.with_name("__init__.py")), 3600)
                if said != TestOutcome.SURVIVED:
                    sys.exit(f"tests/unit/{package} must pass before mutants are made:\n{output}")
                timeouts[package] = 60 + PATIENCE * (time.monotonic() - start)
            result = mutate_and_test(item.mutations, command(module), timeouts[package])
            assert result.worker_outcome == WorkerOutcome.NORMAL, result.output
            database.set_result(item.job_id, result)
            print(f"{outcome(item, result).outcome:9} {key(item)}", flush=True)
        results = dict(database.results)
        outcomes = [outcome(item, results[item.job_id]) for item in items]
    note = f"cosmic-ray {version('cosmic-ray')}, seed {asked.seed}, sources `{source}`, tests `{tests}`."
    print(f"\n{table(outcomes, {name: len(known) for name, known in of.items()})}\n\n{note}")


if __name__ == "__main__":
    main()
