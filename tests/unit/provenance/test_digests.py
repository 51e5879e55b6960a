"""A digest changes when, and only when, code or config that decides its bytes changes its meaning."""

from pathlib import Path

import pytest

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.provenance import digests, sources

from ...conftest import PROJECT
from .conftest import edited

NORMS = "papers/embedding_norms/paper.yaml"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planning.make(PROJECT, {"scale": "tiny"})


RUNS = {"simclr-default", "simclr-cut3", "simclr-gradscale1", "simsiam-default", "simsiam-cut9"}
SIMCLR = {name for name in RUNS if name.startswith("simclr")}
SIMSIAM = RUNS - SIMCLR
OF_RUNS = {"knn", "linear", "norms", "batch"}
"""Protocols as one run is asked them, and the batch that this is in."""
PROBED = OF_RUNS | {"knn of pixels", "linear of pixels"}
MADE = {"table5", "table5_linear", "table5_transfer", "norms_over_epochs", "spread_of_norms"}
TABLES = {"table5", "table5_linear", "table5_transfer"}
STUDIES = {"fig1", "fig6", "figS1"}
JUDGED = {"claims", "studies"}
NORMS_SIMULATED = {"embedding_norms simulated"}
SIMULATED = NORMS_SIMULATED | {"lecture simulated"}


def everything(plan: Plan) -> dict[str, str]:
    """Every digest of a plan, by a name: of what is trained, probed, drawn, judged, simulated and prepared."""
    batch, paper = plan.batches[0], "embedding_norms"
    asked = [one.protocol for one in plan.asked[batch.runs[0].name].values()]
    of_pixels = plan.asked_of_pixels(batch.runs)["upright"].values()
    return {
        **{f"{run.method.name}-{run.tag}": digests.run_digest(run) for run in plan.runs.values()},
        **{one.probe.name: digests.protocol_digest(one, batch.runs[0]) for one in asked if one.probe},
        **{f"{one.probe.name} of pixels": digests.protocol_digest(one, None) for one in of_pixels if one.probe},
        **{name: digests.artifact_digest(plan, of, name) for of, name in plan.made},
        **{name: digests.artifact_digest(plan, paper, name) for name in STUDIES},
        **{f"{name} simulated": digests.simulation_digest(plan, name) for name in plan.config.papers},
        "batch": digests.evaluation_digest(plan, batch),
        "claims": digests.claims_digest(plan),
        "studies": digests.studies_digest(plan, paper),
        "theory": digests.theory_digest(plan),
        "dataset": digests.dataset_digest(plan.datasets["upright"]),
    }


@pytest.fixture(scope="module")
def unedited(package: Path, plan: Plan) -> dict[str, str]:
    return everything(plan)


SAID = MADE | STUDIES | JUDGED | SIMULATED | {"theory"}
# What is edited: file, text, its replacement, and whose digests change.
EDITS: dict[str, tuple[str, str, str, set[str]]] = {
    "a loss": ("objectives/nt_xent.py", "/ temperature", "* temperature", SIMCLR),
    "a gradient transform": (
        *("objectives/grad_scale.py", "** ctx.power", "** -ctx.power"),
        {"simclr-gradscale1", "theory"} | NORMS_SIMULATED,
    ),
    "initial cuts": ("objectives/cut_initialisation.py", "div_", "mul_", {"simclr-cut3", "simsiam-cut9"}),
    "a method": ("methods/simsiam.py", ") / 2", ") / 3", SIMSIAM),
    "heads, which both methods import": (
        *("methods/heads.py", "affine=last_affine or not last", "affine=last"),
        RUNS | OF_RUNS,
    ),
    "an encoder nobody uses": ("encoders/resnet.py", "nn.Identity()", "nn.Flatten()", set()),
    "the encoder": ("encoders/stages.py", "padding=1", "padding=0", RUNS | OF_RUNS),
    "views": ("augmentations/draws.py", "CROP_TRIES = 10", "CROP_TRIES = 11", RUNS | PROBED),
    "keyed draws": ("prng.py", "2.0**-53", "2.0**-54", RUNS | PROBED | NORMS_SIMULATED | {"dataset", "theory"}),
    "the optimiser": ("training/optimisation.py", "/ 256", "/ 128", RUNS),
    "numerical switches": (
        *("training/determinism.py", "benchmark = False", "benchmark = True"),
        RUNS | PROBED | SIMULATED | {"theory"},
    ),
    "how tensors are saved": ("training/weights.py", ".cpu()", ".half().cpu()", RUNS | PROBED),
    "what is trained on": ("training/trainers/image.py", "split.index)", "split.labels[CLASS])", RUNS),
    "a run's meaning": (
        *("config/run.py", "self.views_b is None else self.views_b)", "self.views_b is None else self.views)"),
        RUNS | PROBED | MADE | STUDIES | JUDGED | {"dataset"},
    ),
    "how images are made": ("datasets/digits.py", "FRAGMENT = 4", "FRAGMENT = 5", {"dataset"}),
    "another dataset": ("datasets/cifar.py", "import", "import sys\nimport", set()),
    "another probe": ("probes/mlp.py", "import torch\n", "import sys\nimport torch\n", set()),
    "a probe": ("probes/knn.py", "PIXELS = True", "PIXELS = False", {"knn", "knn of pixels", "batch"}),
    "what probes see": ("probes/frozen.py", "encoder.eval()", "encoder.train()", PROBED),
    "what is written": ("probes/evaluate.py", 'float_format="%.6f"', 'float_format="%.7f"', PROBED),
    "which weights are read": ("training/frozen.py", "if epoch ==", "if epoch >=", PROBED),
    "effects": ("statistics/effects.py", "from hypersphere", "import sys\nfrom hypersphere", MADE | JUDGED),
    "how tables are written": (
        *("provenance/tables.py", "import math\n", "import sys\nimport math\n"),
        PROBED | MADE | STUDIES | JUDGED | SIMULATED | {"theory"},
    ),
    "who writes files": (
        *("report/writer.py", "import html\n", "import sys\nimport html\n"),
        MADE | STUDIES | JUDGED,
    ),
    "tables": ("report/kinds/table.py", "from itertools", "import sys\nfrom itertools", TABLES | {"claims"}),
    "a drawing": ("simulations/cosine_field/draw.py", "import", "import sys\nimport", STUDIES | {"studies"}),
    "theory": ("theory/embedding_norms.py", "import math\n", "import math\nimport os\n", {"theory"}),
    "theory of a paper that the project has not": ("theory/margins.py", "import", "import sys\nimport", set()),
    "the command": ("command/cli.py", "import sys\n", "import sys\nimport os\n", set()),
    "which runs there are": ("config/plan.py", "from pathlib", "import os\nfrom pathlib", set()),
    "what a claim may say": ("config/claims.py", "import math\n", "import math\nimport os\n", SAID),
}


@pytest.mark.parametrize("name", EDITS)
def test_whose_digest_an_edit_of_the_code_changes(
    package: Path, plan: Plan, unedited: dict[str, str], name: str
) -> None:
    file, old, new, expected = EDITS[name]
    with edited(package / file, old, new):
        after = everything(plan)
    assert {one for one in unedited if after[one] != unedited[one]} == expected


KNN = "{probe: {name: knn, k: 200, temperature: 0.1}}"
ASKED = {"batch", "claims"}
CHANGES: dict[str, tuple[str, str, str, set[str]]] = {
    "a title": (NORMS, "title: Linear probe", "title: By a line", {"table5_linear", "claims"}),
    "what a protocol is called": (NORMS, "  knn: {probe", "  neighbours: {probe", {"claims"}),
    "what a job may use": ("scales/tiny.yaml", "mem_mb: 100", "mem_mb: 200", set()),
    "a scale's parameter of a probe": (
        "scales/tiny.yaml",
        "probes: {knn: {k: 5}}",
        "probes: {knn: {k: 4}}",
        ASKED | MADE,
    ),
    "an epoch more": (
        NORMS,
        "x: {epoch: [0, 250, 500]}",
        "x: {epoch: [0, 250, 375, 500]}",
        ASKED | {"norms_over_epochs"},
    ),
    "a layer": (NORMS, KNN, KNN[:-1] + ", layer: embeddings}", ASKED | {"norms_over_epochs", "table5"}),
    "one thing less": (
        *(NORMS, "  table5_transfer:\n", "  table5_transfer:\n    missing: a test\n"),
        ASKED | {"table5_transfer"},
    ),
    "a baseline": (
        *(NORMS, "measure: knn_top1\n    baseline: {variant: default}", "measure: knn_top1"),
        {"table5", "claims"},
    ),
    "a label": (NORMS, "simclr: SimCLR", "simclr: SimCLR (Chen)", MADE | STUDIES | JUDGED),
    "a run's learning rate": (NORMS, "learning_rate: 0.03", "learning_rate: 0.04", ASKED | MADE),
    "a row of all of them": (
        *(NORMS, "simclr.gradscale, simsiam.default", "simsiam.default"),
        ASKED | MADE | {"simclr-gradscale1"},
    ),
    "a parameter of a probe": (
        *(NORMS, "{name: linear}", "{name: linear, penalty: 0.1}"),
        ASKED | {"table5_linear", "table5_transfer"},
    ),
    "a level of the tests": ("statistics.yaml", "confidence: 0.95", "confidence: 0.9", MADE | JUDGED),
    "a seed": ("scales/tiny.yaml", "seeds: [0]", "seeds: [1]", ASKED | MADE),
    "what an open choice says": (NORMS, "drawn by a fixed seed", "drawn by seed 0", {"claims"}),
    "another paper": ("papers/lecture/paper.yaml", "title: kNN accuracy of one", "title: Of one", {"claims"}),
    "a comment": (NORMS, "labels:", "# a comment\nlabels:", set()),
    "a sentence": ("papers/lecture/sentences.yaml", "", "lecture.said: {checks: []}\n", {"lecture simulated"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whose_digest_a_change_of_config_changes(plan: Plan, tiny_root: Path, name: str) -> None:
    file, old, new, expected = CHANGES[name]
    path = tiny_root / "config" / file
    text = path.read_text() if old else ""
    assert old in text
    path.write_text(text.replace(old, new))
    before, after = everything(plan), everything(planning.make(tiny_root))
    assert {one for one in before if after.get(one) != before[one]} == expected


def test_environment_names_versions_and_processor() -> None:
    recorded = digests.environment()
    packages = {"torch", "torchvision", "numpy", "safetensors", "pytorch_optimizer", "hypersphere"}
    assert recorded["packages"].keys() == packages
    assert "not installed" not in recorded["packages"].values()


def test_a_map_to_logits_and_a_regulariser_are_code_of_the_run(plan: Plan) -> None:
    """And what they import: surgery of the map, geometry of the regulariser."""
    run = next(iter(plan.runs.values()))
    losses = {
        "objective": {"name": "generalised_info_nce", "negatives": "both_views"},
        "logits": {"name": "positive_scaling", "temperature": 0.5, "s": 2},
        "regulariser": {"name": "uniformity"},
    }
    modules = digests.run_modules(type(run).model_validate(run.model_dump() | losses))
    named = {f"hypersphere.objectives.{part['name']}" for part in losses.values()}
    assert named <= set(modules)
    assert not named & set(digests.run_modules(run))
    assert {"hypersphere.objectives.surgery", "hypersphere.objectives.geometry"} <= set(sources.closure(modules))
