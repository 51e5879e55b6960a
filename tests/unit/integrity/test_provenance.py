"""A run's code digest changes when, and only when, code that decides its bytes changes its meaning."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hypersphere.declared import plan as planning
from hypersphere.declared.plan import Plan
from hypersphere.integrity import provenance, sources

Edit = Callable[[str, str, str], None]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package that may be edited."""
    copy = tmp_path / "package" / "hypersphere"
    shutil.copytree(sources.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "PACKAGE", copy)
    return copy


@pytest.fixture
def plan(tiny_root: Path) -> Plan:
    return planning.make(tiny_root)


def digests(plan: Plan) -> dict[str, str]:
    return {f"{run.method.name}-{run.tag}": provenance.run_digest(run) for run in plan.runs.values()}


def edit(package: Path, file: str, old: str, new: str) -> None:
    path = package / file
    text = path.read_text()
    assert old in text, f"{file} no longer holds {old!r}"
    path.write_text(text.replace(old, new, 1))
    sources.forget()


ALL = {"simclr-default", "simclr-cut3", "simclr-gradscale1", "simsiam-default", "simsiam-cut9"}
SIMCLR = {name for name in ALL if name.startswith("simclr")}
# file, text, replacement, whose digests change
EDITS: dict[str, tuple[str, str, str, set[str]]] = {
    "a comment": ("views/ops.py", "    plain = to_float", "    # a comment\n\n    plain = to_float", set()),
    "a docstring": ("objectives/nt_xent.py", "must find its other view", "must find another view", set()),
    "a module's docstring": ("training/loop.py", '"""Pretraining', '"""All of pretraining', set()),
    "layout": ("objectives/nt_xent.py", "    n = len(z_a)\n", "    n = len(\n        z_a\n    )\n\n", set()),
    "nt_xent": ("objectives/nt_xent.py", "/ temperature", "* temperature", SIMCLR),
    "negative_cosine": ("objectives/negative_cosine.py", ".mean()", ".sum()", ALL - SIMCLR),
    "grad_scale": ("objectives/grad_scale.py", "** ctx.power", "** -ctx.power", {"simclr-gradscale1"}),
    "cut_initialisation": ("objectives/cut_initialisation.py", "div_", "mul_", {"simclr-cut3", "simsiam-cut9"}),
    "simsiam": ("methods/simsiam.py", ") / 2", ") / 3", ALL - SIMCLR),
    "heads, which both methods import": ("methods/heads.py", "affine=not last", "affine=last", ALL),
    "an encoder nobody uses": ("encoders/resnet.py", "nn.Identity()", "nn.Flatten()", set()),
    "the encoder": ("encoders/stages.py", "padding=1", "padding=0", ALL),
    "views": ("views/draws.py", "CROP_TRIES = 10", "CROP_TRIES = 11", ALL),
    "keyed draws": ("keyed.py", "2.0**-53", "2.0**-54", ALL),
    "the optimiser": ("training/optimisation.py", "/ 256", "/ 128", ALL),
    "initial weights": ("training/initialise.py", "fan_out", "fan_in", ALL),
    "numerical switches": ("training/determinism.py", "benchmark = False", "benchmark = True", ALL),
    "how tensors are saved": ("training/weights.py", ".cpu()", ".half().cpu()", ALL),
    "what is trained on": ("training/images.py", "split.index)", "split.labels[CLASS])", ALL),
    "a run's meaning": (
        "declared/run.py",
        "self.views_b is None else self.views_b)",
        "self.views_b is None else self.views)",
        ALL,
    ),
    "how it is resumed": ("training/checkpoint.py", '"optimiser."', '"optimizer."', set()),
    "who trains where": ("training/device.py", "WAIT_SECONDS = 1.0", "WAIT_SECONDS = 2.0", set()),
    "present": ("present/table.py", "import", "import sys\nimport", set()),
    "statistics": ("statistics/effects.py", "import", "import sys\nimport", set()),
    "a probe": ("probes/knn.py", "topk", "sort", set()),
    "the command": ("command/cli.py", "import sys\n", "import sys\nimport os\n", set()),
    "names": ("declared/plan.py", "import copy\n", "import copy\nimport os\n", set()),
}


@pytest.mark.parametrize("name", EDITS)
def test_whose_digest_an_edit_changes(package: Path, plan: Plan, name: str) -> None:
    file, old, new, expected = EDITS[name]
    before = digests(plan)
    assert before.keys() == ALL
    edit(package, file, old, new)
    after = digests(plan)
    assert {run for run in ALL if after[run] != before[run]} == expected


def test_a_new_component_changes_nothing(package: Path, plan: Plan) -> None:
    before = digests(plan)
    shutil.copy(package / "objectives" / "nt_xent.py", package / "objectives" / "decoupled.py")
    assert digests(plan) == before


def test_the_copy_has_the_originals_digests(plan: Plan, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package lies does not matter."""
    copied = digests(plan)
    monkeypatch.undo()
    assert digests(plan) == copied


def test_runs_of_one_kind_share_a_digest(plan: Plan) -> None:
    by_kind: dict[str, set[str]] = {}
    for run in plan.runs.values():
        by_kind.setdefault(f"{run.method.name}-{run.tag}", set()).add(provenance.run_digest(run))
    assert all(len(found) == 1 for found in by_kind.values())
    assert len(set(digests(plan).values())) == 5


def test_evaluation_digest(package: Path, plan: Plan) -> None:
    runs = plan.batches[0].runs
    before = provenance.evaluation_digest(plan, runs)
    for file, old, new in [
        ("objectives/nt_xent.py", "/ temperature", "* temperature"),
        ("present/table.py", "import", "import sys\nimport"),
        ("encoders/resnet.py", "nn.Identity()", "nn.Flatten()"),
        ("datasets/digits.py", "FRAGMENT = 4", "FRAGMENT = 5"),
    ]:
        edit(package, file, old, new)
        assert provenance.evaluation_digest(plan, runs) == before, file
    seen = {before}
    for file, old, new in [
        ("probes/knn.py", "topk", "sort"),
        ("probes/frozen.py", "encoder.eval()", "encoder.train()"),
        ("encoders/stages.py", "padding=1", "padding=0"),
        ("views/ops.py", "/ 255", "/ 256"),
    ]:
        edit(package, file, old, new)
        seen.add(provenance.evaluation_digest(plan, runs))
    assert len(seen) == 5


def test_dataset_digest(package: Path, plan: Plan) -> None:
    dataset = plan.datasets["upright"]
    before = provenance.dataset_digest(dataset)
    edit(package, "datasets/cifar.py", "import", "import sys\nimport")
    edit(package, "views/ops.py", "/ 255", "/ 256")
    assert provenance.dataset_digest(dataset) == before
    edit(package, "datasets/digits.py", "FRAGMENT = 4", "FRAGMENT = 5")
    assert provenance.dataset_digest(dataset) != before


def test_plan_digest_ignores_execution(tiny_root: Path) -> None:
    base = provenance.plan_digest(planning.make(tiny_root))
    same: list[dict[str, object]] = [{"threads": 2}, {"runs_per_job": 1}, {"device": "auto"}]
    assert {provenance.plan_digest(planning.make(tiny_root, change)) for change in same} == {base}
    others: list[dict[str, object]] = [{"seeds": [1]}, {"describe": "x"}, {"epochs": 5}]
    found = {provenance.plan_digest(planning.make(tiny_root, change)) for change in others}
    assert len(found | {base}) == 4


def test_no_module_imports_relatively() -> None:
    """The closure follows absolute imports only."""
    import ast

    for path in sources.PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path


def test_environment_names_versions_and_processor() -> None:
    recorded = provenance.environment()
    assert recorded["python"].count(".") == 2
    assert recorded["packages"].keys() == {
        "torch",
        "torchvision",
        "numpy",
        "safetensors",
        "pytorch_optimizer",
        "hypersphere",
    }
    assert "not installed" not in recorded["packages"].values()
    assert recorded["cores"] >= 1


def test_a_map_to_logits_and_a_regulariser_are_code_of_the_run(plan: Plan) -> None:
    run = next(iter(plan.runs.values()))
    losses = {
        "objective": {"name": "generalised_info_nce", "negatives": "both_views"},
        "logits": {"name": "positive_scaling", "temperature": 0.5, "s": 2},
        "regulariser": {"name": "uniformity"},
    }
    more = type(run).model_validate(run.model_dump() | losses)
    named = {f"hypersphere.objectives.{part['name']}" for part in losses.values()}
    assert named <= set(provenance.run_modules(more))
    assert not named & set(provenance.run_modules(run))
    # What a component imports counts too: surgery of the map, geometry of the regulariser.
    assert {"hypersphere.objectives.surgery", "hypersphere.objectives.geometry"} <= set(
        sources.closure(provenance.run_modules(more))
    )


def test_theory_is_of_the_papers_asked_for(package: Path, tiny_root: Path) -> None:
    def digests(*papers: str) -> list[str]:
        return [provenance.theory_digest(planning.make(tiny_root, {"papers": [paper]})) for paper in papers]

    before = digests("embedding_norms", "margins", "lecture")
    assert len(set(before)) == 3
    edit(package, "theory/norms/steps.py", "import math\n", "import math\nimport os\n")
    after = digests("embedding_norms", "margins", "lecture")
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True, True]
