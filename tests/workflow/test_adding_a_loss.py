"""docs/adding_a_loss.md, followed to the letter in a finished copy: one file, four lines of YAML."""

import re

import pytest

from .conftest import DATASETS, REPOSITORY, Approve, Checkout, batches, rules

PAGE = (REPOSITORY / "docs" / "adding_a_loss.md").read_text(encoding="utf-8")
CODE, YAML = (re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1] for language in ("python", "yaml"))  # type: ignore[index]
FILE = re.search(r"`(src/hypersphere/objectives/\w+\.py)`", PAGE)[1]  # type: ignore[index]
ROW = re.search(r"simclr\.\w+", YAML)[0]  # type: ignore[index]
PAPER = "config/papers/embedding_norms/paper.yaml"


def follow(checkout: Checkout, snippet: str = YAML) -> None:
    """Write the page's file, put its variant among the variants and its row among the rows of Table 5."""
    (checkout.root / FILE).write_text(CODE)
    variant = "".join(line for line in snippet.splitlines(keepends=True) if line.startswith("  "))
    checkout.edit(PAPER, "\nvariants:\n", f"\nvariants:\n{variant}")
    checkout.edit(PAPER, "rows: &rows {method.variant: [", f"rows: &rows {{method.variant: [{ROW}, ")


def test_the_page_shows_four_lines_and_the_loss_of_the_example() -> None:
    """Which keeps the contract of every loss (tests/unit/config/test_plug_ins.py)."""
    assert len(YAML.strip().splitlines()) == 4
    assert (REPOSITORY / "examples/my_loss/src/my_loss/objectives/chord.py").read_text(encoding="utf-8") == CODE


def test_only_the_new_runs_are_trained_and_the_new_row_is_in_the_table(copy: Checkout) -> None:
    before = {name: (copy.results / name).stat().st_mtime_ns for name in copy.files("runs/*/manifest.json")}
    follow(copy)
    assert batches(copy.jobs(), "pretrain") == {f"simclr-{dataset}" for dataset in DATASETS}
    copy.make("--cores", "2")
    assert len(copy.files("runs/*/manifest.json")) == len(before) + len(DATASETS) * 2  # two seeds
    assert {name: (copy.results / name).stat().st_mtime_ns for name in before} == before
    table = (copy.results / "tables" / "embedding_norms" / "table5.csv").read_text()
    assert ROW.partition(".")[2] in table
    assert rules(copy.jobs()) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("push: 0.5", "push: -1"),
        ("push: 0.5", "pull: 1"),
        ("name: chord", "name: cord"),
        ("0.5}", "0.5}\n    logits: {name: cosine_logits, temperature: 0.5}"),
    ],
    ids=["a number below its bound", "no such field", "no such loss", "logits of its own"],
)
def test_a_slip_is_one_sentence(place: Checkout, approve: Approve, old: str, new: str) -> None:
    assert old in YAML
    follow(place, YAML.replace(old, new))
    done = place.hypersphere("plan")
    assert done.returncode == 2
    approve(re.sub(r"\d+ names", "… names", done.stderr.strip()))  # of losses, which are ever more
