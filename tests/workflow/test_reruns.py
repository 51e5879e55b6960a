"""What an edit reruns: the runs that use it and everything after them, and no more."""

from .conftest import ALONE, DATASETS, Checkout, batches, rules

NT_XENT = "src/hypersphere/objectives/nt_xent.py"
GRAD_SCALE = "src/hypersphere/objectives/grad_scale.py"
SIMCLR = {f"simclr-{dataset}" for dataset in DATASETS}
SIMSIAM = {f"simsiam-{dataset}" for dataset in DATASETS}
EVERY_BATCH = SIMCLR | SIMSIAM | {ALONE}
NORMS = {f"artifact_embedding_norms_{name}": 1 for name in ("table5", "norms_over_epochs", "spread_of_norms")}
LECTURE = {"artifact_lecture_supervised_knn": 1}
PAGES = {"claims": 1, "scorecard": 1, "paper": 1}
REPORT = {"write_report": 1}
"""It does not depend on quick runs."""


PROBE = ("src/hypersphere/probes/knn.py", "/ temperature).exp()", "* temperature).exp()")
PUBLISHED = ("config/papers/embedding_norms/claims.csv", "Table 5\n", "Table 5; checked\n")
JUDGED = {"studies_embedding_norms": 1, **REPORT}
STUDIED = {"simulate_embedding_norms": 1, **JUDGED}
# What is edited, the batches trained and measured again, and all jobs. More edits: unit/provenance/test_digests.py.
EDITS: dict[str, tuple[tuple[str, str, str], set[str], set[str], dict[str, int]]] = {
    "a loss: those that use it, and an exact study": (
        ("src/hypersphere/objectives/negative_cosine.py", "return ", "return 2 * "),
        *(SIMSIAM, SIMSIAM, {"pretrain": 2, "evaluate": 2, **NORMS, **STUDIED, **PAGES}),
    ),
    "a probe": (PROBE, set(), EVERY_BATCH, {"evaluate": 5, **NORMS, **LECTURE, **PAGES}),
    "a figure": (
        ("src/hypersphere/report/kinds/lines.py", "PANEL = 2.1", "PANEL = 2.2"),
        *(set(), set(), {"artifact_embedding_norms_norms_over_epochs": 1, **PAGES, **REPORT}),
    ),
    "a published number": (PUBLISHED, set(), set(), {**NORMS, **STUDIED, **PAGES}),
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
        assert all("Params have changed" in job.reason for job in jobs if job.rule == "pretrain"), name


def test_adding_a_loss_comments_docstrings_and_touching_files_rerun_nothing(copy: Checkout) -> None:
    loss = copy.root / NT_XENT
    (loss.parent / "another_loss.py").write_text(loss.read_text().replace("def nt_xent", "def another_loss"))
    copy.edit(NT_XENT, "    z_2nd = ", "    # A comment.\n\n    z_2nd = ")
    loss.write_text(loss.read_text().replace('"""', '"""Another docstring. ', 1))
    copy.edit(
        GRAD_SCALE, "    return _GradScale.apply(z, power)", "    return _GradScale.apply(\n        z, power\n    )"
    )
    for path in (copy.root / "src").rglob("*.py"):  # as a git checkout does
        path.touch()
    assert copy.jobs() == []


def test_another_place_more_cores_another_device_setting_and_the_scale_spelt_out_rerun_nothing(
    copy: Checkout, finished: Checkout
) -> None:
    """`copy` is at another place than where its results were made: no absolute path may be in a rule's record."""
    assert copy.root != finished.root
    assert copy.jobs("--cores", "1", settings=("device=auto", "scale=quick")) == []


def test_within_a_batch_only_the_runs_that_use_an_edited_function_are_trained_again(copy: Checkout) -> None:
    copy.edit(GRAD_SCALE, "return gradients[0] * ", "return 2 * gradients[0] * ")
    jobs = [job for job in copy.jobs() if job.rule == "pretrain"]
    assert batches(jobs, "pretrain") == SIMCLR
    marker = next(job.output for job in jobs if "/simclr-upright" in job.output)
    runs = {path.name: path for path in (copy.results / "runs").glob("simclr-*-upright-*")}
    trained = {name for name in runs if "gradscale" in name}
    before = {name: (path / "manifest.json").stat().st_mtime_ns for name, path in runs.items()}
    copy.make("--cores", "1", marker)
    after = {name: (path / "manifest.json").stat().st_mtime_ns for name, path in runs.items()}
    assert {name for name in runs if before[name] != after[name]} == trained
    assert len(trained) == 2
    assert len(runs) == 6
