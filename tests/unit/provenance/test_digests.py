"""A digest changes when, and only when, code or config that decides its bytes changes its meaning."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest
import torch

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.provenance import digests, sources

from ...conftest import PROJECT

pytestmark = pytest.mark.pythons

NORMS = "papers/embedding_norms/paper.yaml"
NORMS_CLAIMS = "papers/embedding_norms/claims.csv"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the package. Whoever edits it puts it back."""
    copy = tmp_path_factory.mktemp("package") / "hypersphere"
    shutil.copytree(sources.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "PACKAGE", copy)
        sources.forget()
        yield copy
    sources.forget()


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planning.make(PROJECT, {"scale": "tiny"})


RUNS = {"simclr-default", "simclr-cut3", "simclr-gradscale1", "simsiam-default", "simsiam-cut9"}
SIMCLR = {name for name in RUNS if name.startswith("simclr")}
OF_RUNS = {"knn", "linear", "norms", "batch"}
"""Protocols as one run is asked them, and the batch that this is in."""
PROBED = OF_RUNS | {"knn of pixels", "linear of pixels"}
MADE = {"table5", "table5_linear", "table5_transfer", "norms_over_epochs", "spread_of_norms"}
TABLES = {"table5", "table5_linear", "table5_transfer"}
STUDIES = {"fig1", "fig6", "figS1"}
DRAWN = STUDIES | {"studies"}
JUDGED = {"claims"}
NORMS_SIMULATED = {"embedding_norms simulated"}
SIMULATED = NORMS_SIMULATED | {"lecture simulated"}


def everything(plan: Plan) -> dict[str, str]:
    """Every digest of a plan, by a name: of what is trained, probed, drawn, judged, simulated and prepared."""
    batch, paper = plan.batches[0], "embedding_norms"
    asked = [one.protocol for one in plan.evaluations[batch.runs[0].name].values()]
    of_pixels = plan.protocols_of_pixels(batch.runs)["upright"].values()
    return {
        **{
            run.name.partition(f"-{run.dataset.name}-")[0]: digests.run_digest(run)
            for run in plan.runs.values()
        },
        **{
            one.probe.name: digests.protocol_digest(one, batch.runs[0])
            for one in asked
            if one.probe
        },
        **{
            f"{one.probe.name} of pixels": digests.protocol_digest(one, None)
            for one in of_pixels
            if one.probe
        },
        **{name: digests.artifact_digest(plan, of, name) for of, name in plan.made_artifacts},
        **{name: digests.artifact_digest(plan, paper, name) for name in STUDIES},
        **{
            f"{name} simulated": digests.simulation_digest(plan, name)
            for name in plan.config.papers
        },
        "batch": digests.evaluation_digest(plan, batch),
        "claims": digests.claims_digest(plan),
        "studies": digests.studies_digest(plan, paper),
        "theory": digests.theory_digest(plan),
        "dataset": digests.dataset_digest(plan.datasets["upright"]),
    }


@pytest.fixture(scope="module")
def unedited(package: Path, plan: Plan) -> dict[str, str]:
    return everything(plan)


EXACT = SIMULATED | {"theory"}
SAID = MADE | DRAWN | JUDGED | EXACT
MEANT = RUNS | PROBED | MADE | DRAWN | JUDGED | {"dataset"}
# What is edited: file, text, its replacement, and whose digests change.
EDITS: dict[str, tuple[str, str, str, set[str]]] = {
    "a loss": ("objectives/nt_xent.py", "/ temperature", "* temperature", SIMCLR),
    "a gradient transform": (
        *("objectives/grad_scale.py", "** ctx.power", "** -ctx.power"),
        {"simclr-gradscale1", "theory"} | NORMS_SIMULATED,
    ),
    "heads, which both methods import": (
        "methods/heads.py",
        "last_affine or not last",
        "last",
        RUNS | OF_RUNS,
    ),
    "an encoder nobody uses": ("encoders/resnet.py", "nn.Identity()", "nn.Flatten()", set()),
    "the encoder": ("encoders/resnet8.py", "padding=1", "padding=0", RUNS | OF_RUNS),
    "views": ("augmentations/draws.py", "CROP_TRIES = 10", "CROP_TRIES = 11", RUNS | PROBED),
    "keyed draws": (
        "prng.py",
        "2.0**-53",
        "2.0**-54",
        RUNS | PROBED | NORMS_SIMULATED | {"dataset", "theory"},
    ),
    "the optimiser": ("training/optimisation.py", "/ 256", "/ 128", RUNS),
    "numerical switches": (
        *("training/determinism.py", "benchmark = False", "benchmark = True"),
        RUNS | PROBED | SIMULATED | {"theory"},
    ),
    "how tensors are saved": ("training/weights.py", ".cpu()", ".half().cpu()", RUNS | PROBED),
    "a run's meaning": ("config/run.py", "else self.views_b)", "else self.views)", MEANT),
    "how images are made": ("datasets/digits.py", "FRAGMENT = 4", "FRAGMENT = 5", {"dataset"}),
    "a probe": (
        "probes/knn.py",
        "PIXELS = True",
        "PIXELS = False",
        {"knn", "knn of pixels", "batch"},
    ),
    "what probes see": ("probes/frozen.py", "encoder.eval()", "encoder.train()", PROBED),
    "what is written": ("probes/evaluate.py", 'float_format="%.6f"', 'float_format="%.7f"', PROBED),
    "effects": (
        "statistics/effects.py",
        "from hypersphere",
        "import sys\nfrom hypersphere",
        MADE | JUDGED | EXACT,
    ),
    "how tables are written": (
        "provenance/tables.py",
        "import math\n",
        "import sys\nimport math\n",
        PROBED | SAID,
    ),
    "who writes files": (
        "report/writer.py",
        "import html\n",
        "import sys\nimport html\n",
        MADE | DRAWN | {"claims"},
    ),
    "tables": (
        "report/kinds/table.py",
        "from itertools",
        "import sys\nfrom itertools",
        TABLES | {"claims"},
    ),
    "what drawings share": ("report/drawing.py", "import", "import sys\nimport", DRAWN),
    "what a theorem is": (
        "exact/statement.py",
        "import torch\n",
        "import os\nimport torch\n",
        {"theory"},
    ),
    "the command": ("command/cli.py", "import sys\n", "import sys\nimport os\n", set()),
    "which runs there are": ("config/plan.py", "from pathlib", "import os\nfrom pathlib", set()),
    # Of what decides a run's bytes, what changes its meaning or could; and what only speaks.
    "a loop's operator": ("training/loop.py", "output.loss * share", "output.loss / share", RUNS),
    "a default of a run": (
        "config/recipe.py",
        "momentum: DecayRate = 0.9",
        "momentum: DecayRate = 0.8",
        MEANT,
    ),
    "how defaults are merged": (
        "config/registry.py",
        "... if default is None",
        "0 if default is None",
        MEANT | SAID,
    ),
    "when an error is raised": (
        "config/run.py",
        "self.batch.size > examples",
        "self.batch.size >= examples",
        MEANT,
    ),
    "a comment": (
        "objectives/nt_xent.py",
        "    n = len(z_a)\n",
        "    n = len(z_a)  # a batch\n",
        set(),
    ),
    "words of a run's error": ("config/run.py", "is more than the", "exceeds the", set()),
    "the lock of a run": ("provenance/state.py", "60.0", "61.0", set()),
    "a new loss": (
        "objectives/newest.py",
        "",
        "def newest(z_a, z_b):\n    return (z_a * z_b).sum()\n",
        set(),
    ),
    "what a claim may say": ("config/claims.py", "import math\n", "import math\nimport os\n", SAID),
}


@pytest.mark.parametrize("name", EDITS)
def test_whose_digest_an_edit_of_the_code_changes(
    package: Path, plan: Plan, unedited: dict[str, str], name: str
) -> None:
    file, old, new, expected = EDITS[name]
    path = package / file
    text = path.read_text() if old else ""
    assert old in text
    edited = text.replace(old, new, 1)
    compile(edited, file, "exec")  # an edit that is not valid Python would prove nothing
    path.write_text(edited)
    os.utime(path, (0, list(EDITS).index(name)))  # a moment of its own
    sources.forget()
    try:
        after = everything(plan)
    finally:
        if old:
            path.write_text(text)
        else:
            path.unlink()
        sources.forget()
    assert {one for one in unedited if after[one] != unedited[one]} == expected


KNN = "{probe: {name: knn, k: 200, temperature: 0.1}}"
ASKED = {"batch", "claims"}
CHANGES: dict[str, tuple[str, str, str, set[str]]] = {
    "a title": (NORMS, "title: Linear probe", "title: By a line", {"table5_linear", "claims"}),
    "what a protocol is called": (NORMS, "  knn: {probe", "  neighbours: {probe", {"claims"}),
    "what a job may use": ("config/scales/tiny.yaml", "mem_mb: 100", "mem_mb: 200", set()),
    "a scale's parameter of a probe": (
        "config/scales/tiny.yaml",
        "{knn: {k: 5}}",
        "{knn: {k: 4}}",
        ASKED | MADE,
    ),
    "an epoch more": (NORMS, "[0, 250, 500]", "[0, 250, 375, 500]", ASKED | {"norms_over_epochs"}),
    "a layer": (
        NORMS,
        KNN,
        KNN[:-1] + ", layer: embeddings}",
        ASKED | {"norms_over_epochs", "table5"},
    ),
    "one thing less": (
        *(NORMS, "  table5_transfer:\n", "  table5_transfer:\n    missing: a test\n"),
        ASKED | {"table5_transfer"},
    ),
    "a baseline": (
        NORMS,
        "knn_top1\n    baseline: {variant: default}",
        "knn_top1",
        {"table5", "claims"},
    ),
    "a label": (
        NORMS,
        "simclr: SimCLR",
        "simclr: SimCLR (Chen)",
        MADE | DRAWN | {"claims"} | NORMS_SIMULATED,
    ),
    "a run's learning rate": (NORMS, "learning_rate: 0.03", "learning_rate: 0.04", ASKED | MADE),
    "a row of all of them": (NORMS, "simclr.gradscale, ", "", ASKED | MADE | {"simclr-gradscale1"}),
    "a parameter of a probe": (
        *(NORMS, "{name: linear}", "{name: linear, digits: 2}"),
        ASKED | {"table5_linear", "table5_transfer"},
    ),
    "a level of the tests": (
        "config/statistics.yaml",
        "confidence: 0.95",
        "confidence: 0.9",
        MADE | JUDGED | SIMULATED,
    ),
    "a seed": ("config/scales/tiny.yaml", "seeds: [0]", "seeds: [1]", ASKED | MADE),
    "what an open choice says": (NORMS, "drawn by a fixed seed", "drawn by seed 0", {"claims"}),
    "another paper": (
        "papers/lecture/paper.yaml",
        "title: kNN accuracy of one",
        "title: Of one",
        {"claims"},
    ),
    "a comment": (NORMS, "labels:", "# a comment\nlabels:", set()),
    "a theorem's place": (NORMS_CLAIMS, "Proposition 3.1", "Prop. 3.1", {"theory"}),
    "a sentence": (
        "papers/lecture/sentences.yaml",
        "",
        "lecture.said: {checks: []}\n",
        {"lecture simulated"},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whose_digest_a_change_of_config_changes(plan: Plan, tiny_root: Path, name: str) -> None:
    file, old, new, expected = CHANGES[name]
    path = tiny_root / file
    text = path.read_text() if old else ""
    assert old in text
    path.write_text(text.replace(old, new))
    before, after = everything(plan), everything(planning.make(tiny_root))
    assert {one for one in before if after.get(one) != before[one]} == expected


def test_a_map_to_logits_and_a_regulariser_are_code_of_the_run(plan: Plan) -> None:
    """And what they import: surgery of the map, geometry of the regulariser."""
    run = next(iter(plan.runs.values()))
    losses = {
        "objective": {"name": "generalised_info_nce", "negatives": "both_views"},
        "logits": {"name": "positive_scaling", "temperature": 0.5, "s": 2},
        "regulariser": {"name": "uniformity"},
    }
    changed = type(run).model_validate(run.model_dump() | losses)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digests, "code_digest", lambda *modules: " ".join(sources.closure(modules)))
        before, after = ({*digests.run_digest(one).split()} for one in (run, changed))
    named = {f"hypersphere.objectives.{part['name']}" for part in losses.values()}
    assert named <= after - before
    assert {"hypersphere.objectives.surgery", "hypersphere.objectives.geometry"} <= after


# What counts of the source of some modules

Write = Callable[[dict[str, str]], None]


@pytest.fixture
def sources_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """``sources_of({"inner/deep": "import json"})``: a package of these files alone."""
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)

    def write(texts: dict[str, str]) -> None:
        for name, text in texts.items():
            path = tmp_path / (name if "." in name else f"{name}.py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        sources.forget()

    yield write
    sources.forget()


def test_the_digest_is_of_the_content_alone(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where the package lies nor the order of the modules matters; which modules they are does."""
    of_training = (f"training.{name}" for name in ("trainers.image", "weights", "determinism"))
    names = (
        *of_training,
        "methods.simclr",
        "encoders.resnet8",
        "objectives.nt_xent",
        "objectives.debiased",
    )
    modules = [f"hypersphere.{name}" for name in names]
    sources.forget()
    first = sources.code_digest(*modules)
    assert sources.code_digest(*reversed(modules)) == first != sources.code_digest(*modules[:-1])
    monkeypatch.setattr(sources, "PACKAGE", Path(sources.__file__).parents[1])
    sources.forget()
    assert sources.code_digest(*modules) == first
    sources.forget()


def test_a_closure_follows_imports_but_not_through_silent_modules(sources_of: Write) -> None:
    one = """\
        from typing import TYPE_CHECKING
        import hypersphere.two
        from hypersphere import three, errors
        if TYPE_CHECKING:
            from hypersphere import five
        def late():
            from hypersphere.four import member
    """
    others = dict.fromkeys(("__init__", "two", "three", "four", "five", "six"), "import json\n")
    sources_of(others | {"one": dedent(one), "errors": "import hypersphere.six\n"})
    found = sources.closure(["hypersphere.one"])
    assert list(found) == [
        "hypersphere",
        *(f"hypersphere.{name}" for name in ("four", "one", "three", "two")),
    ]
    assert found["hypersphere.two"] == "import json"
    assert sources.closure(["hypersphere.errors", "hypersphere.nowhere", "json"]) == {}


def test_a_modules_table_counts_with_it(sources_of: Write) -> None:
    """An edit of the table moves the digest of what imports the module, and of nothing else."""
    found = []
    for table in ({}, {"two.csv": "name\na\n"}, {"two.csv": "name\nb\n"}):
        sources_of({"one": "import hypersphere.two", "two": "", "three": "", **table})
        found.append(
            [sources.code_digest(f"hypersphere.{name}") for name in ("one", "two", "three")]
        )
    assert [len(set(column)) for column in zip(*found, strict=True)] == [3, 3, 1]


def test_relative_imports_are_followed(sources_of: Write) -> None:
    """From a module, and from the __init__ of a package, where one dot is the package itself."""
    texts = {
        "__init__": "",
        "top": "from .inner import deep",
        "inner/__init__": "from .aside import x",
        "inner/deep": "from .. import beside\nfrom . import sibling",
    }
    sources_of(texts | dict.fromkeys(("inner/aside", "inner/sibling", "beside", "alone"), ""))
    modules = ("inner", "inner.aside", "inner.deep", "inner.sibling", "beside", "top")
    assert set(sources.closure(["hypersphere.top"])) == {
        "hypersphere",
        *(f"hypersphere.{name}" for name in modules),
    }


def test_which_modules_exist() -> None:
    assert sources.source_of("hypersphere.prng")
    assert sources.source_of("hypersphere.training")
    assert not any(
        map(sources.source_of, ("hypersphere.prng.uniform", "hypersphere.nowhere", "json", "prng"))
    )
    assert all(map(sources.source_of, sources.SILENT))  # one renamed would count again


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('raise Wrong(f"no {x}") from None', "raise Wrong from None"),
        ("raise errors.Wrong(text, 3)", "raise errors.Wrong"),
        ("raise", "raise"),
        ("raise error", "raise error"),
        (
            "def f(x: int) -> int:\n    'Words.'\n    return x  # words",
            "def f(x: int) -> int:\n    return x",
        ),
        ("class C:\n    x: int = 1\n    'Words.'", "class C:\n    x: int = 1"),
        ("print('1')", "print('1')"),
        ("x = 'words'", "x = 'words'"),
        ("if x:\n    'Words.'\nelse:\n    step()", "if x:\n    pass\nelse:\n    step()"),
    ],
)
def test_what_only_speaks_is_taken_out(text: str, kept: str) -> None:
    for before in (text, kept):
        assert ast.unparse(sources.Counted("hypersphere").visit(ast.parse(before))) == kept


def test_environment_names_versions_and_processor() -> None:
    recorded = digests.environment()
    packages = {"torch", "torchvision", "numpy", "safetensors", "pytorch_optimizer", "hypersphere"}
    assert recorded["packages"].keys() == packages
    assert "not installed" not in recorded["packages"].values()


def test_environment_names_the_instructions_that_torch_computes_with() -> None:
    """Not those that the processor has: a variable of torch's chooses fewer, and weights have other bytes."""
    code = (
        "from hypersphere.provenance import digests; print(digests.environment()['instructions'])"
    )
    given = os.environ | {"ATEN_CPU_CAPABILITY": "default"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, check=True
    )
    assert done.stdout == "DEFAULT\n"
    assert digests.environment()["instructions"] == torch.backends.cpu.get_cpu_capability()
