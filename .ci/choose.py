"""Which artifacts of the quick scale `.ci/run` makes: a few that together have one of each kind that there is.

An artifact is drawn in one of several ways, and shows runs of methods and trainers on datasets, measured by probes.
The tables that tests/results asks for come first, and then what adds most kinds for each further run. So this check
does not grow with every row of YAML. `hypersphere rehearse` takes a step of every run; `.ci/run --all` makes it all.

    python .ci/choose.py         prints the setting that leaves the others out, and on standard error what is covered
"""

import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan

Key = tuple[str, str]
"""The paper and the name of an artifact."""
Kind = tuple[str, str]
"""A sort of thing, and one of that sort: ``("method", "simclr")``."""

ROOT = Path(__file__).resolve().parents[1]
TESTED = {
    ("embedding_norms", "table5"),
    ("embedding_norms", "table5_linear"),
    ("lecture", "methods_knn"),
    ("lecture", "methods_linear"),
    ("lecture", "methods_untrained"),
}
"""Artifacts without which tests/results fails."""


def kinds(plan: Plan, key: Key) -> set[Kind]:
    """What making an artifact exercises."""
    paper, name = key
    found = {("paper", paper), ("way to draw", plan.config.papers[paper].measured[name].draw)}
    for cell in plan.artifacts[key]:
        if cell.run is None or cell.missing:
            continue
        found |= {("method", cell.run.method.name), ("trainer", cell.run.kind)}
        if cell.how is not None:
            found.add(("probe", cell.how.probe.name))
        for dataset in (cell.run.dataset, cell.target):
            if dataset is not None and dataset.source is not None:
                found.add(("source of data", dataset.source.name))
    return found


def cover(
    kinds_of: Mapping[Key, set[Kind]], runs_of: Mapping[Key, set[str]], first: Collection[Key]
) -> list[Key]:
    """Artifacts that together have every kind: ``first``, then greedily by new kinds for each further run."""
    chosen = list(first)
    wanted = set[Kind]().union(*kinds_of.values())
    while True:
        missing = wanted.difference(*(kinds_of[key] for key in chosen))
        if not missing:
            return chosen
        trained = set[str]().union(*(runs_of[key] for key in chosen))
        worth = {
            key: len(kinds_of[key] & missing) / (1 + len(runs_of[key] - trained))
            for key in sorted(kinds_of)
        }
        chosen.append(max(worth, key=worth.__getitem__))


def choose(plan: Plan) -> list[Key]:
    """The artifacts that `.ci/run` makes of a plan."""
    kinds_of = {key: kinds(plan, key) for key in plan.made_artifacts}
    runs_of = {key: set(plan.runs_of(*key)) for key in plan.made_artifacts}
    return cover(kinds_of, runs_of, sorted(TESTED))


def left_out(plan: Plan, chosen: Collection[Key]) -> list[str]:
    """All other artifacts, with those that the scale leaves out itself."""
    others = [
        f"{paper}/{name}" for paper, name in plan.made_artifacts if (paper, name) not in chosen
    ]
    return [*plan.config.scale.leaves_out, *others]


def summary(plan: Plan, chosen: Collection[Key]) -> str:
    """How much is made, and the kinds that it covers, a line for each sort."""
    runs = {run for key in chosen for run in plan.runs_of(*key)}
    lines = [
        f"{len(chosen)} of {len(plan.made_artifacts)} artifacts, {len(runs)} of {len(plan.runs)} runs; "
        "all there is of each:"
    ]
    covered = sorted(set[Kind]().union(*(kinds(plan, key) for key in chosen)))
    for sort in dict.fromkeys(sort for sort, _ in covered):
        names = [name for of, name in covered if of == sort]
        lines.append(f"  {sort}: {', '.join(names)}")
    return "\n".join(lines)


if __name__ == "__main__":
    quick = planning.make(ROOT, {"scale": "quick"})
    artifacts = choose(quick)
    print(summary(quick, artifacts), file=sys.stderr)
    print(f"leaves_out=[{','.join(left_out(quick, artifacts))}]")
