"""A run's code digest changes when, and only when, code that decides its bytes changes its meaning."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.provenance import digests, sources


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, parsed but once by all tests here."""
    copy = tmp_path_factory.mktemp("package") / "hypersphere"
    return Path(shutil.copytree(sources.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture
def package(copied: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the package that may be edited; files that were are restored."""
    original = sources.PACKAGE
    monkeypatch.setattr(sources, "PACKAGE", copied)
    sources.forget()
    yield copied
    for path in copied.rglob("*.py"):
        source = original / path.relative_to(copied)
        if path.read_bytes() != source.read_bytes():
            shutil.copy(source, path)
    sources.forget()


@pytest.fixture
def plan(tiny_root: Path) -> Plan:
    return planning.make(tiny_root)


def all_digests(plan: Plan) -> dict[str, str]:
    return {f"{run.method.name}-{run.tag}": digests.run_digest(run) for run in plan.runs.values()}


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
    "nt_xent": ("objectives/nt_xent.py", "/ temperature", "* temperature", SIMCLR),
    "negative_cosine": ("objectives/negative_cosine.py", ".mean()", ".sum()", ALL - SIMCLR),
    "grad_scale": ("objectives/grad_scale.py", "** ctx.power", "** -ctx.power", {"simclr-gradscale1"}),
    "cut_initialisation": ("objectives/cut_initialisation.py", "div_", "mul_", {"simclr-cut3", "simsiam-cut9"}),
    "simsiam": ("methods/simsiam.py", ") / 2", ") / 3", ALL - SIMCLR),
    "heads, which both methods import": ("methods/heads.py", "affine=last_affine or not last", "affine=last", ALL),
    "an encoder nobody uses": ("encoders/resnet.py", "nn.Identity()", "nn.Flatten()", set()),
    "the encoder": ("encoders/stages.py", "padding=1", "padding=0", ALL),
    "views": ("augmentations/draws.py", "CROP_TRIES = 10", "CROP_TRIES = 11", ALL),
    "keyed draws": ("prng.py", "2.0**-53", "2.0**-54", ALL),
    "the optimiser": ("training/optimisation.py", "/ 256", "/ 128", ALL),
    "initial weights": ("training/build.py", "fan_out", "fan_in", ALL),
    "numerical switches": ("training/determinism.py", "benchmark = False", "benchmark = True", ALL),
    "how tensors are saved": ("training/weights.py", ".cpu()", ".half().cpu()", ALL),
    "what is trained on": ("training/trainers/image.py", "split.index)", "split.labels[CLASS])", ALL),
    "a run's meaning": (
        "config/run.py",
        "self.views_b is None else self.views_b)",
        "self.views_b is None else self.views)",
        ALL,
    ),
    "present": ("report/kinds/table.py", "import", "import sys\nimport", set()),
    "statistics": ("statistics/effects.py", "from hypersphere", "import sys\nfrom hypersphere", set()),
    "a probe": ("probes/knn.py", "topk", "sort", set()),
    "the command": ("command/cli.py", "import sys\n", "import sys\nimport os\n", set()),
    "which runs there are": ("config/plan.py", "from pathlib", "import os\nfrom pathlib", set()),
    "what a claim may say": ("config/claims.py", "import csv\n", "import csv\nimport os\n", set()),
}


@pytest.mark.parametrize("name", EDITS)
def test_whose_digest_an_edit_changes(package: Path, plan: Plan, name: str) -> None:
    file, old, new, expected = EDITS[name]
    before = all_digests(plan)
    assert before.keys() == ALL
    edit(package, file, old, new)
    after = all_digests(plan)
    assert {run for run in ALL if after[run] != before[run]} == expected


def protocols(plan: Plan) -> dict[str, str]:
    """Of one run, by the probe's name; and of raw pixels."""
    run = plan.batches[0].runs[0]
    asked = [one.protocol for one in plan.asked[run.name].values()]
    found = {one.probe.name: digests.protocol_digest(one, run) for one in asked if one.probe}
    pixels = plan.asked_of_pixels["upright"].values()
    return found | {f"pixels {one.probe.name}": digests.protocol_digest(one, None) for one in pixels if one.probe}


PROBED = {"knn", "linear", "norms", "pixels knn", "pixels linear"}
OF_RUNS = {"knn", "linear", "norms"}
# file, text, replacement, whose digests change
PROBES: dict[str, tuple[str, str, str, set[str]]] = {
    "a loss": ("objectives/nt_xent.py", "/ temperature", "* temperature", set()),
    "present": ("report/kinds/table.py", "import", "import sys\nimport", set()),
    "statistics": ("statistics/effects.py", "from hypersphere", "import sys\nfrom hypersphere", set()),
    "an encoder nobody uses": ("encoders/resnet.py", "nn.Identity()", "nn.Flatten()", set()),
    "how images are made": ("datasets/digits.py", "FRAGMENT = 4", "FRAGMENT = 5", set()),
    "another probe": ("probes/mlp.py", "import torch\n", "import sys\nimport torch\n", set()),
    "one probe": ("probes/knn.py", "PIXELS = True", "PIXELS = False", {"knn", "pixels knn"}),
    "the other": ("probes/linear.py", "FLOOR = 1e-6", "FLOOR = 1e-5", {"linear", "pixels linear"}),
    "what probes see": ("probes/frozen.py", "encoder.eval()", "encoder.train()", PROBED),
    "how a share is counted": ("probes/result.py", "ahead.sum(dim=1) < k", "ahead.sum(dim=1) <= k", PROBED),
    "what is written": ("probes/evaluate.py", 'float_format="%.6f"', 'float_format="%.7f"', PROBED),
    "how bytes become numbers": ("augmentations/ops.py", "/ 255", "/ 256", PROBED),
    "the encoder": ("encoders/stages.py", "padding=1", "padding=0", OF_RUNS),
    "the head": ("methods/heads.py", "affine=last_affine or not last", "affine=last", OF_RUNS),
    "which weights are read": ("training/frozen.py", "if epoch ==", "if epoch >=", PROBED),
}


@pytest.mark.parametrize("name", PROBES)
def test_whose_answers_an_edit_changes(package: Path, plan: Plan, name: str) -> None:
    file, old, new, expected = PROBES[name]
    before, batch = protocols(plan), digests.evaluation_digest(plan, plan.batches[0])
    pixels = digests.pixels_digest(plan, "upright")
    assert before.keys() == PROBED
    edit(package, file, old, new)
    after = protocols(plan)
    assert {each for each in PROBED if after[each] != before[each]} == expected
    assert (digests.evaluation_digest(plan, plan.batches[0]) != batch) == bool(expected)
    assert (digests.pixels_digest(plan, "upright") != pixels) == bool(expected - OF_RUNS)


def yaml_edit(root: Path, file: str, old: str, new: str) -> Plan:
    """The plan after a change of config/."""
    path = root / "config" / file
    text = path.read_text()
    assert old in text, f"{file} no longer holds {old!r}"
    path.write_text(text.replace(old, new))
    return planning.make(root)


NORMS = "papers/embedding_norms/paper.yaml"
KNN = "{probe: {name: knn, k: 200, temperature: 0.1}}"
ASKED: dict[str, tuple[str, str, str, bool]] = {
    "a title": (NORMS, "title: kNN accuracy", "title: Accuracy", False),
    "what a protocol is called": (NORMS, "  knn: {probe", "  neighbours: {probe", False),
    "how many threads": ("scales/tiny.yaml", "mem_mb: 100", "mem_mb: 200", False),
    "a parameter of a probe": ("scales/tiny.yaml", "probes: {knn: {k: 5}}", "probes: {knn: {k: 4}}", True),
    "an epoch": (NORMS, "x: {epoch: [0, 250, 500]}", "x: {epoch: [0, 250, 375, 500]}", True),
    "a layer": (NORMS, KNN, KNN[:-1] + ", layer: embeddings}", True),
    "one thing less": (NORMS, "  table5_transfer:\n", "  table5_transfer:\n    missing: a test\n", True),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_is_part_of_a_batchs_digest(tiny_root: Path, name: str) -> None:
    file, old, new, moves = ASKED[name]
    before = planning.make(tiny_root)
    batch = before.batches[0]
    digest = digests.evaluation_digest(before, batch)
    after = yaml_edit(tiny_root, file, old, new)
    same = next(each for each in after.batches if {run.name for run in each.runs} == {run.name for run in batch.runs})
    assert (digests.evaluation_digest(after, same) != digest) == moves


MADE = {"table5", "table5_linear", "table5_transfer", "norms_over_epochs", "spread_of_norms"}
ROW = "simclr.gradscale, simsiam.default"
SHOWN: dict[str, tuple[str, str, str, set[str]]] = {
    "another artifact's title": (NORMS, "title: Linear probe", "title: By a line", {"table5_linear"}),
    "a baseline": (NORMS, "measure: knn_top1\n    baseline: {variant: default}", "measure: knn_top1", {"table5"}),
    "a label": (NORMS, "simclr: SimCLR", "simclr: SimCLR (Chen)", MADE),
    "a run's learning rate": (NORMS, "learning_rate: 0.03", "learning_rate: 0.04", MADE),
    "a row of all of them": (NORMS, ROW, "simsiam.default", MADE),
    "a probe's parameter": (
        NORMS,
        "{name: linear}",
        "{name: linear, penalty: 0.1}",
        {"table5_linear", "table5_transfer"},
    ),
    "an epoch": (NORMS, "x: {epoch: [0, 250, 500]}", "x: {epoch: [0, 500]}", {"norms_over_epochs"}),
    "a level of the tests": ("statistics.yaml", "confidence: 0.95", "confidence: 0.9", MADE),
    "a seed": ("scales/tiny.yaml", "seeds: [0]", "seeds: [1]", MADE),
    "what an open choice says": (NORMS, "drawn by a fixed seed", "drawn by seed 0", set()),
    "what a job may use": ("scales/tiny.yaml", "runtime: 1", "runtime: 2", set()),
    "another paper": ("papers/lecture/paper.yaml", "title: kNN accuracy of one method", "title: One method", set()),
    "a comment": (NORMS, "labels:", "# a comment\nlabels:", set()),
}


@pytest.mark.parametrize("name", SHOWN)
def test_which_artifacts_a_change_of_config_makes_anew(tiny_root: Path, name: str) -> None:
    file, old, new, expected = SHOWN[name]
    before = artifacts(planning.make(tiny_root))
    assert before.keys() == MADE
    after = artifacts(yaml_edit(tiny_root, file, old, new))
    assert {each for each in MADE if after[each] != before[each]} == expected


def artifacts(plan: Plan) -> dict[str, str]:
    """Digests of all that are made from runs."""
    return {name: digests.artifact_digest(plan, paper, name) for paper, name in plan.made}


STUDIES = {"fig1", "fig6", "figS1"}
TABLES = {"table5", "table5_linear", "table5_transfer"}
DRAWN: dict[str, tuple[str, str, set[str]]] = {
    "effects": ("statistics/effects.py", "from hypersphere", MADE),
    "how tables are written": ("provenance/tables.py", "import math\n", MADE | STUDIES),
    "who writes files": ("report/writer.py", "import html\n", MADE | STUDIES),
    "tables": ("report/kinds/table.py", "from itertools", TABLES),
    "distributions": ("report/kinds/distribution.py", "from typing", {"spread_of_norms"}),
    "one study's drawing": ("simulations/cosine_field/draw.py", "import", STUDIES),
    "verdicts": ("statistics/verdicts.py", "import math\n", MADE),
    "a probe": ("probes/knn.py", "import torch\n", set()),
    "a loss": ("objectives/nt_xent.py", "import torch\n", set()),
}


@pytest.mark.parametrize("name", DRAWN)
def test_which_artifacts_an_edit_makes_anew(package: Path, plan: Plan, name: str) -> None:
    file, old, expected = DRAWN[name]

    def found() -> dict[str, str]:
        studied = {each: digests.artifact_digest(plan, "embedding_norms", each) for each in STUDIES}
        return artifacts(plan) | studied

    before = found()
    edit(package, file, old, f"import sys\n{old}")
    after = found()
    assert {each for each in before if after[each] != before[each]} == expected


def test_claims_wait_for_verdicts_and_choices_and_not_for_probes(package: Path, tiny_root: Path) -> None:
    plan = planning.make(tiny_root)
    before = digests.claims_digest(plan), digests.studies_digest(plan, "embedding_norms")
    edit(package, "probes/knn.py", "import torch\n", "import sys\nimport torch\n")
    edit(package, "training/trainers/image.py", "import", "import sys\nimport")
    assert (digests.claims_digest(plan), digests.studies_digest(plan, "embedding_norms")) == before
    edit(package, "statistics/verdicts.py", "import math\n", "import math\nimport sys\n")
    judged = digests.claims_digest(plan), digests.studies_digest(plan, "embedding_norms")
    assert all(one != other for one, other in zip(judged, before, strict=True))
    chosen = yaml_edit(tiny_root, NORMS, "drawn by a fixed seed", "drawn by seed 0")
    assert digests.claims_digest(chosen) != judged[0]  # their number is a column


def test_dataset_digest(package: Path, plan: Plan) -> None:
    dataset = plan.datasets["upright"]
    before = digests.dataset_digest(dataset)
    edit(package, "datasets/cifar.py", "import", "import sys\nimport")
    edit(package, "augmentations/ops.py", "/ 255", "/ 256")
    assert digests.dataset_digest(dataset) == before
    edit(package, "datasets/digits.py", "FRAGMENT = 4", "FRAGMENT = 5")
    assert digests.dataset_digest(dataset) != before


def test_environment_names_versions_and_processor() -> None:
    recorded = digests.environment()
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
    assert named <= set(digests.run_modules(more))
    assert not named & set(digests.run_modules(run))
    # What a component imports counts too: surgery of the map, geometry of the regulariser.
    assert {"hypersphere.objectives.surgery", "hypersphere.objectives.geometry"} <= set(
        sources.closure(digests.run_modules(more))
    )


def test_theory_is_of_the_papers_that_state_something(package: Path, plan: Plan) -> None:
    """The project has the norms paper and the lecture; the margins paper's theory is not its business."""
    before = digests.theory_digest(plan)
    edit(package, "theory/margins.py", "import", "import sys\nimport")
    assert digests.theory_digest(plan) == before
    edit(package, "theory/embedding_norms.py", "import math\n", "import math\nimport os\n")
    assert digests.theory_digest(plan) != before


def test_a_sentence_of_one_paper_runs_its_studies_again(tiny_root: Path) -> None:
    plan = planning.make(tiny_root)

    def found() -> dict[str, str]:
        return {paper: digests.simulation_digest(plan, paper) for paper in plan.config.papers}

    before = found()
    file = plan.config.sentences_file("lecture")
    file.write_text("lecture.said: {checks: [{cells: {artifact: table5}, is: above}]}\n")
    assert [paper for paper, digest in found().items() if digest != before[paper]] == ["lecture"]
