"""Which artifacts of the quick scale `.ci/run` leaves out: those that exercise nothing which the others do not.

What an artifact exercises: its way to be drawn, its probes, and of its runs the method, objective, gradient, encoder,
optimiser, kind of dataset and the like. Chosen are artifacts that together exercise all there is, those that need few
further runs first, so that this check does not grow with every row of YAML. An artifact that would be trained for one
thing alone, with dozens of runs, is left to the unit tests: they train every objective and read every dataset. `make
reproduce` makes them all.

    python .ci/cover.py          prints the value of `leaves_out`
"""

from collections.abc import Mapping
from pathlib import Path

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan

Key = tuple[str, str]
ROOT = Path(__file__).resolve().parents[1]
SETTINGS = {"scale": "quick", "seeds": [0]}
NEEDED = {  # by tests/results
    ("embedding_norms", "table5"),
    ("embedding_norms", "table5_linear"),
    ("lecture", "methods_knn"),
    ("lecture", "methods_linear"),
    ("lecture", "methods_untrained"),
}
DEAR = 30
"""Further runs that one more thing may cost at most."""
PARTS = ("method", "objective", "logits", "gradient", "regulariser", "initialisation", "encoder", "optimiser")


def exercised(plan: Plan, key: Key) -> set[tuple[str, str]]:
    """What making an artifact exercises, in words."""
    paper, name = key
    declared = plan.config.papers[paper].measured[name]
    found = {("paper", paper), ("draw", declared.draw)}
    for cell in plan.artifacts[key]:
        if cell.run is None or cell.missing:
            continue
        found |= {("measure", cell.measure), ("probe", f"{paper} {cell.protocol}"), ("kind", cell.run.kind)}
        found |= {(part, getattr(cell.run, part).name) for part in PARTS if getattr(cell.run, part, None) is not None}
        found |= {("dataset", dataset.source.name) for dataset in (cell.run.dataset, cell.target) if dataset}
    return found


def cover(features: Mapping[Key, set[tuple[str, str]]], runs: Mapping[Key, set[str]], needed: set[Key]) -> set[Key]:
    """Artifacts that together have all features but the dear ones: greedily, by new features for each further run."""
    chosen = set(needed)
    while True:
        have = set().union(*(features[key] for key in chosen))
        trained = set().union(*(runs[key] for key in chosen))
        gains = {key: len(features[key] - have) / (1 + len(runs[key] - trained)) for key in sorted(features)}
        best = max(gains, key=lambda key: gains[key])
        if gains[best] < 1 / DEAR:
            return chosen
        chosen.add(best)


def left_out(plan: Plan) -> list[str]:
    """The artifacts from runs that a covering choice does without, and those that the scale leaves out anyway."""
    keys = [key for key in plan.artifacts if any(cell.run for cell in plan.artifacts[key])]
    features = {key: exercised(plan, key) for key in keys}
    runs = {key: set(plan.runs_of(*key)) for key in keys}
    chosen = cover(features, runs, NEEDED)
    return [*plan.config.scale.leaves_out, *(f"{paper}/{name}" for paper, name in keys if (paper, name) not in chosen)]


if __name__ == "__main__":
    print(f"[{','.join(left_out(planning.make(ROOT, SETTINGS)))}]")
