"""From config to runs: each once, in batches that depend on nothing else, without torch."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere.declared import plan as planning
from hypersphere.declared.plan import Plan, merge
from hypersphere.errors import HypersphereError


@pytest.fixture
def plan(tiny_root: Path) -> Plan:
    return planning.make(tiny_root)


def change(root: Path, file: str, **values: Any) -> None:
    path = root / "config" / file
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | values))


def test_a_run_is_the_merge_of_paper_method_variant_and_scale(plan: Plan) -> None:
    """By hand from embedding_norms.yaml and the tiny scale (batch / 16, four epochs, width 2)."""
    (cell,) = [c for c in plan.cells if (c.method, c.variant, c.dataset) == ("simclr", "gradscale", "cifar10_lt")]
    run = cell.run
    assert run.dataset.name == "upright"
    assert (run.method.name, run.method.parameters) == ("simclr", {"hidden": 8, "dim": 4})
    assert (run.encoder.name, run.encoder.parameters) == ("resnet8", {"width": 2})
    assert run.objective.parameters == {"temperature": 0.5}
    assert run.optimiser.learning_rate == 0.03
    assert (run.optimiser.momentum, run.optimiser.nesterov) == (0.9, True)
    assert (run.schedule.epochs, run.schedule.warmup) == (4, 0.2)
    assert (run.batch.size, run.batch.micro) == (16, 16)
    assert run.gradient is not None
    assert run.gradient.parameters == {"power": 1}
    assert run.initialisation is None
    assert run.views.brightness == 0.8


def test_the_published_scale_is_the_paper(config_root: Path) -> None:
    """Norms paper: App. C.1 (rates, batches, 10 epochs of warm-up), Sec. 6 (c = 3 and 9; rate / 6, 100 epochs)."""
    cells = planning.make(config_root, {"scale": "paper", "papers": ["embedding_norms"]}).cells
    runs = {(c.method, c.variant): c.run for c in cells}
    for run in runs.values():
        assert run.schedule.epochs == 500
        assert (run.encoder.name, run.encoder.parameters["depth"]) == ("resnet", 50)
    rates = {key: run.optimiser.learning_rate for key, run in runs.items()}
    assert rates["simclr", "default"] == rates["simclr", "cut3"] == 0.18
    assert rates["simclr", "gradscale"] == pytest.approx(0.18 / 6)
    assert rates["simsiam", "default"] == rates["simsiam", "cut9"] == 0.12
    warm = {key: run.schedule.warmup * run.schedule.epochs for key, run in runs.items()}
    assert warm.pop(("simclr", "gradscale")) == pytest.approx(100)
    assert list(warm.values()) == pytest.approx([10] * 4)
    sizes = {method: (run.batch.size, run.batch.micro) for (method, _), run in runs.items()}
    assert sizes == {"simclr": (256, 256), "simsiam": (1024, 256)}
    cuts = {variant: run.initialisation.parameters for (_, variant), run in runs.items() if run.initialisation}
    assert cuts == {"cut3": {"c": 3}, "cut9": {"c": 9}}


def test_a_schedule_longer_than_training_is_so_in_proportion(tiny_root: Path) -> None:
    """A cosine over 512 epochs of which 400 are trained (erratum N18), at four epochs: by hand, 5 of 4."""
    file = tiny_root / "config" / "papers" / "embedding_norms.yaml"
    text = file.read_text()
    file.write_text(text.replace("{epochs: 500, warmup: 0.02}", "{epochs: 400, warmup: 0.02, horizon: 512}"))
    schedules = {cell.run.schedule for cell in planning.make(tiny_root).cells}
    assert {(schedule.epochs, schedule.horizon) for schedule in schedules} == {(4, 5)}


def test_what_a_scale_replaces_for_one_paper_is_of_its_runs_alone(config_root: Path) -> None:
    """By hand from quick.yaml: the lecture's rate is 0.48 there, the norms paper's stay as they are."""
    cells = planning.make(config_root, {"scale": "quick"}).cells
    rates = {(cell.paper, cell.method): cell.run.optimiser.learning_rate for cell in cells if cell.variant == "default"}
    assert rates["embedding_norms", "simclr"] == 0.18
    assert rates["lecture", "simclr"] == rates["lecture", "dino"] == 0.48
    change(config_root, "scales/quick.yaml", per_paper={"lecture": {"methods": {"vicreg": {}}}})
    with pytest.raises(HypersphereError, match=r"quick.yaml: per_paper.lecture.methods: 'vicreg' is not one of super"):
        planning.make(config_root, {"scale": "quick"})


def test_every_cell_of_every_artifact_is_planned_once(plan: Plan) -> None:
    keys = [(c.method, c.variant, c.dataset, c.run.seed) for c in plan.cells]
    rows = ["simclr.default", "simclr.cut3", "simclr.gradscale", "simsiam.default", "simsiam.cut9"]
    expected = [(*row.split("."), dataset, 0) for row in rows for dataset in ("cifar10_lt", "cifar100_lt")]
    assert sorted(keys) == sorted(expected)  # flowers102_lt has no dataset at this scale


def test_a_run_that_two_cells_share_is_trained_once(tiny_root: Path) -> None:
    """Two published datasets that one small dataset stands for."""
    change(
        tiny_root,
        "scales/tiny.yaml",
        datasets={"cifar10_lt": "upright", "cifar100_lt": "upright", "flowers102_lt": None},
    )
    plan = planning.make(tiny_root)
    assert len(plan.cells) == 10
    assert len(plan.runs) == 5
    batched = [run.name for batch in plan.batches for run in batch.runs]
    assert sorted(batched) == sorted(plan.runs)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_batches_hold_every_run_once_and_no_more_than_they_may(tiny_root: Path, size: int) -> None:
    change(tiny_root, "scales/tiny.yaml", runs_per_job=size, seeds=[0, 1])
    plan = planning.make(tiny_root)
    batched = [run.name for batch in plan.batches for run in batch.runs]
    assert sorted(batched) == sorted(plan.runs)
    for batch in plan.batches:
        assert 1 <= len(batch.runs) <= size
        (kind,) = {(run.method.name, run.dataset.name) for run in batch.runs}
        assert batch.id.startswith("-".join(kind))
    assert len({batch.id for batch in plan.batches}) == len(plan.batches)
    expected = {("simclr", 6): 2, ("simsiam", 4): 2}  # runs of a method on each of two datasets
    assert len(plan.batches) == sum(-(-count // size) * datasets for (_, count), datasets in expected.items())


def test_a_batch_is_named_by_its_runs(tiny_root: Path) -> None:
    before = {batch.id: [run.name for run in batch.runs] for batch in planning.make(tiny_root).batches}
    change(tiny_root, "scales/tiny.yaml", threads=2, describe="other", snapshots=[1.0])
    after = {batch.id: [run.name for run in batch.runs] for batch in planning.make(tiny_root).batches}
    assert after == before
    change(tiny_root, "scales/tiny.yaml", seeds=[1])
    assert not before.keys() & {batch.id for batch in planning.make(tiny_root).batches}


def test_lookups(plan: Plan) -> None:
    batch = plan.batches[0]
    assert plan.batch(batch.id) is batch
    name = batch.runs[0].name
    assert plan.run(name) == batch.runs[0]
    with pytest.raises(HypersphereError, match="no batch 'x' at scale tiny"):
        plan.batch("x")
    with pytest.raises(HypersphereError, match="no run 'x' at scale tiny"):
        plan.run("x")


def test_transfer_goes_to_the_other_datasets(plan: Plan) -> None:
    assert plan.datasets.keys() == {"upright", "turned"}
    (run,) = [c.run for c in plan.cells if (c.method, c.variant, c.dataset) == ("simclr", "cut3", "cifar10_lt")]
    asked = {evaluation.metric: [target.name for target in targets] for evaluation, targets in plan.asked(run)}
    assert asked["transfer_top1"] == ["turned"]
    assert asked["knn_top1"] == asked["linear_top1"] == ["upright"]


def test_a_run_is_asked_only_what_its_own_papers_ask(every_method: Plan) -> None:
    """The lecture's table wants kNN and the linear probe, and no transfer; the norms paper's wants that too."""
    both = planning.make(every_method.config.root, {"papers": ["embedding_norms", "lecture"]})
    asked = {
        cell.paper: {evaluation.metric: [d.name for d in targets] for evaluation, targets in both.asked(cell.run)}
        for cell in both.cells
        if (cell.method, cell.variant) in (("simclr", "cut3"), ("byol", "default")) and cell.dataset != "cifar100_lt"
    }
    assert asked["lecture"] == {"knn_top1": ["plain"], "linear_top1": ["plain"]}
    assert asked["embedding_norms"]["transfer_top1"] == ["turned"]  # and not the lecture's dataset
    assert asked["embedding_norms"].keys() == {evaluation.metric for evaluation in both.evaluations}


def test_the_scale_replaces_parameters_of_probes(plan: Plan) -> None:
    probes = {e.metric: e.probe for e in plan.evaluations}
    assert probes["knn_top1"].parameters == {"k": 5}  # the temperature is the default
    assert probes["linear_top1"].parameters == {}


@pytest.mark.parametrize(
    ("below", "above", "expected"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
        ({"m": {"name": "x", "p": 1}}, {"m": {"p": 2}}, {"m": {"name": "x", "p": 2}}),
        ({"m": {"name": "x", "p": 1}}, {"m": {"name": "x", "q": 2}}, {"m": {"name": "x", "p": 1, "q": 2}}),
        ({"m": {"name": "x", "p": 1}}, {"m": {"name": "y", "q": 2}}, {"m": {"name": "y", "q": 2}}),
        ({"a": {"b": 1}}, {"a": None}, {"a": None}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
    ],
)
def test_merge(below: dict[str, Any], above: dict[str, Any], expected: dict[str, Any]) -> None:
    """By the rule: deep, but a component of another name replaces the one below whole."""
    before = repr((below, above))
    assert merge(below, above) == expected
    assert repr((below, above)) == before


def test_planning_imports_no_torch(config_root: Path) -> None:
    """Snakemake plans often, and torch takes seconds."""
    code = (
        "import sys; from pathlib import Path; import hypersphere.declared.plan, hypersphere.command.cli;"
        "import hypersphere.integrity.provenance,"
        "hypersphere.command.preview, hypersphere.integrity.evidence;"
        "plan = hypersphere.declared.plan.make(Path(sys.argv[1]));"
        "[hypersphere.integrity.provenance.batch_digest(batch) for batch in plan.batches];"
        "hypersphere.integrity.provenance.plan_digest(plan);"
        "sys.exit('torch' in sys.modules or 'torchvision' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(config_root)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
