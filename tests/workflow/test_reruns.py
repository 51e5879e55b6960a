"""What an edit, a new loss and a new table run: the runs that use it and everything after them, and no more."""

import re

import yaml

from .conftest import ALONE, DATASETS, REPOSITORY, Checkout, batches, rules, states

NT_XENT = "src/hypersphere/objectives/nt_xent.py"
GRAD_SCALE = "src/hypersphere/objectives/grad_scale.py"
SIMCLR = {f"simclr-{dataset}" for dataset in DATASETS}
SIMSIAM = {f"simsiam-{dataset}" for dataset in DATASETS}
EVERY_BATCH = SIMCLR | SIMSIAM | {ALONE}
NORMS = {
    f"artifact_embedding_norms__{name}": 1
    for name in ("table5", "norms_over_epochs", "spread_of_norms")
}
PAGES = {"claims": 1, "scorecard": 1}
REPORT = {"write_report": 1}
"""It does not depend on quick runs."""


JUDGED = {"studies_embedding_norms": 1, **REPORT}
STUDIED = {"simulate_embedding_norms": 1, "copy_simulations_embedding_norms": 1, **JUDGED}
# What is edited, the batches trained and measured again, and all jobs. More edits: unit/provenance/test_digests.py.
EDITS: dict[str, tuple[tuple[str, str, str], set[str], set[str], dict[str, int]]] = {
    "a loss: those that use it, and an exact study": (
        ("src/hypersphere/objectives/negative_cosine.py", "return ", "return 2 * "),
        *(SIMSIAM, SIMSIAM, {"pretrain": 2, "evaluate": 2, **NORMS, **STUDIED, **PAGES}),
    ),
    "a probe": (
        ("src/hypersphere/probes/knn.py", "/ temperature).exp()", "* temperature).exp()"),
        *(
            set(),
            EVERY_BATCH,
            {"evaluate": 5, **NORMS, "artifact_lecture__supervised_knn": 1, **PAGES},
        ),
    ),
    "a figure": (
        ("src/hypersphere/report/kinds/lines.py", "PANEL = 2.1", "PANEL = 2.2"),
        *(set(), set(), {"artifact_embedding_norms__norms_over_epochs": 1, **PAGES, **REPORT}),
    ),
    "a published number": (
        ("papers/embedding_norms/claims.csv", "Table 5\n", "Table 5; checked\n"),
        *(set(), set(), {**NORMS, **STUDIED, **PAGES}),
    ),
}


def test_an_edit_reruns_what_uses_it_and_no_more(copy: Checkout) -> None:
    for name, (edit, trained, measured, expected) in EDITS.items():
        file, old, new = edit
        before = (copy.root / file).read_bytes()
        copy.edit(file, old, new)
        jobs = copy.jobs()
        (copy.root / file).write_bytes(before)
        assert rules(jobs) == expected, name
        assert (batches(jobs, "pretrain"), batches(jobs, "evaluate")) == (trained, measured), name
        assert all("Params have changed" in job.reason for job in jobs if job.rule == "pretrain"), (
            name
        )


def test_adding_a_loss_comments_docstrings_touching_files_and_another_place_or_way_to_run_rerun_nothing(
    copy: Checkout, finished: Checkout
) -> None:
    """`copy` is at another place than where its results were made: no absolute path may be in a rule's record."""
    assert copy.root != finished.root
    loss = copy.root / NT_XENT
    (loss.parent / "another_loss.py").write_text(
        loss.read_text().replace("def nt_xent", "def another_loss")
    )
    copy.edit(NT_XENT, "    z_2nd = ", "    # A comment.\n\n    z_2nd = ")
    loss.write_text(loss.read_text().replace('"""', '"""Another docstring. ', 1))
    copy.edit(
        GRAD_SCALE,
        "    return _GradScale.apply(z, power)",
        "    return _GradScale.apply(\n        z, power\n    )",
    )
    for path in (copy.root / "src").rglob("*.py"):  # as a git checkout does
        path.touch()
    assert copy.jobs() == []
    assert copy.jobs("--cores", "1", settings=("device=auto", "scale=quick")) == []


def test_within_a_batch_only_the_runs_that_use_an_edited_function_are_trained_again(
    copy: Checkout,
) -> None:
    copy.edit(GRAD_SCALE, "return gradients[0] * ", "return 2 * gradients[0] * ")
    jobs = [job for job in copy.jobs() if job.rule == "pretrain"]
    assert batches(jobs, "pretrain") == SIMCLR
    marker = next(job.output for job in jobs if "/simclr-upright" in job.output)
    runs = {path.name: path for path in (copy.results / "runs").glob("simclr-*-upright-*")}
    trained = {name for name in runs if "gradscale" in name}
    before = {name: (path / "manifest.json").stat().st_mtime_ns for name, path in runs.items()}
    copy.snakemake("--cores", "1", marker)
    after = {name: (path / "manifest.json").stat().st_mtime_ns for name, path in runs.items()}
    assert {name for name in runs if before[name] != after[name]} == trained
    assert len(trained) == 2
    assert len(runs) == 6


PAGE = (REPOSITORY / "docs" / "adding_a_loss.md").read_text(encoding="utf-8")
CODE, YAML = (
    re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1] for language in ("python", "yaml")
)  # type: ignore[index]
FILE = re.search(r"`(src/hypersphere/objectives/\w+\.py)`", PAGE)[1]  # type: ignore[index]
ROW = re.search(r"simclr\.\w+", YAML)[0]  # type: ignore[index]
PAPER = "papers/embedding_norms/paper.yaml"


def test_with_the_pages_loss_only_its_runs_are_trained_and_its_row_is_in_the_table(
    copy: Checkout,
) -> None:
    """Its four lines, and the loss of the example, which keeps the contract of every loss (config/test_plug_ins.py)."""
    assert len(YAML.strip().splitlines()) == 4
    assert (REPOSITORY / "examples/my_loss/src/my_loss/objectives/chord.py").read_text(
        encoding="utf-8"
    ) == CODE
    before = {
        name: (copy.results / name).stat().st_mtime_ns
        for name in copy.files("runs/*/manifest.json")
    }
    (copy.root / FILE).write_text(CODE)
    variant = "".join(line for line in YAML.splitlines(keepends=True) if line.startswith("  "))
    copy.edit(PAPER, "\nvariants:\n", f"\nvariants:\n{variant}")
    copy.edit(PAPER, "rows: &rows {method.variant: [", f"rows: &rows {{method.variant: [{ROW}, ")
    copy.snakemake("--cores", "2")
    assert len(copy.files("runs/*/manifest.json")) == len(before) + len(DATASETS) * 2  # two seeds
    assert {name: (copy.results / name).stat().st_mtime_ns for name in before} == before
    table = (copy.results / "tables" / "embedding_norms" / "table5.csv").read_text()
    assert ROW.partition(".")[2] in table
    assert rules(copy.jobs()) == {}


TABLE_PAGE = (REPOSITORY / "docs" / "adding_a_table.md").read_text(encoding="utf-8")
BLOCK = re.search(r"```yaml\n(artifacts:\n.*?)```", TABLE_PAGE, re.DOTALL)[1]  # type: ignore[index]
(NAME,) = yaml.safe_load(BLOCK)["artifacts"]
LATER = ("epoch: 100", "epoch: 250")
"""Runs here have two epochs, and epoch 100 of 500 is before the first."""
SHARED = ("dataset: cifar10, epoch: 100", "dataset: cifar10_lt, epoch: 500")
"""With this change one of the block's twelve runs is a run of Table 5."""


def test_a_new_table_trains_its_own_runs_and_measures_nothing_else_again(copy: Checkout) -> None:
    """Twelve runs, in two jobs, on a dataset of its own: with its raw pixels, and before the pages that show it."""
    assert LATER[0] in BLOCK
    copy.edit(PAPER, "\nartifacts:\n", f"\n{BLOCK.replace(*LATER)}")
    jobs = copy.jobs()
    assert rules(jobs) == {
        **{"prepare": 1, "pretrain": 2, "evaluate": 2, f"artifact_embedding_norms__{NAME}": 1},
        **{"claims": 1, "scorecard": 1, "write_report": 1},
    }
    assert batches(jobs, "pretrain") == batches(jobs, "evaluate") == {"simclr-plain"}


def test_only_one_artifact_is_made_and_nothing_else_is_touched(copy: Checkout) -> None:
    """Of its twelve runs one is there already. All else is stale, so that whatever is looked at would be made again."""
    assert SHARED[0] in BLOCK
    copy.edit(PAPER, "\nartifacts:\n", f"\n{BLOCK.replace(*SHARED)}")
    before = {
        name: state for name, state in states(copy.results).items() if not name.endswith(".lock")
    }
    copy.edit("src/hypersphere/objectives/negative_cosine.py", "return ", "return 2 * ")
    copy.edit("src/hypersphere/objectives/cross_entropy.py", "return ", "return 2 * ")
    assert rules(copy.jobs())["pretrain"] > 3  # control: SimSiam's, the lecture's, and what is new
    copy.equipped().run("make", "reproduce", f"ONLY=embedding_norms/{NAME}")
    after = states(copy.results)
    assert {name: after.get(name) for name in before} == before
    new = {name for name in after.keys() - before.keys() if not name.endswith(".lock")}
    assert len({name.split("/")[1] for name in new if name.startswith("runs/")}) == 11
    assert {name for name in new if not name.startswith(("runs/", "evaluations/", "batches/"))} == {
        *(f"tables/embedding_norms/{NAME}.{form}" for form in ("csv", "md", "tex", "json")),
        *(
            f"statistics/embedding_norms/{NAME}/{name}.csv"
            for name in ("measurements", "summary", "effects", "runs")
        ),
        *(
            f"statistics/embedding_norms/{NAME}/{name}"
            for name in ("manifest.json", "claims.csv", "claims.json")
        ),
    }
    assert copy.jobs(settings=(f"only=[embedding_norms/{NAME}]",)) == []
