"""docs/adding_a_table.md, followed: one block of YAML trains its own new runs and no others."""

import re
from pathlib import Path

import yaml

from .conftest import REPOSITORY, Checkout, batches, rules, states

PAGE = (REPOSITORY / "docs" / "adding_a_table.md").read_text(encoding="utf-8")
BLOCK = re.search(r"```yaml\n(artifacts:\n.*?)```", PAGE, re.DOTALL)[1]  # type: ignore[index]
(NAME,) = yaml.safe_load(BLOCK)["artifacts"]
PAPER = "config/papers/embedding_norms/paper.yaml"
LATER = ("epoch: 100", "epoch: 250")
"""Runs here have two epochs, and epoch 100 of 500 is before the first."""
SHARED = ("dataset: cifar10, epoch: 100", "dataset: cifar10_lt, epoch: 500")
"""With this change one of the block's twelve runs is a run of Table 5."""


def follow(root: Path, block: str = BLOCK) -> None:
    """Put the block among the artifacts of the norms paper."""
    file = root / PAPER
    text = file.read_text()
    assert text.count("\nartifacts:\n") == 1
    file.write_text(text.replace("\nartifacts:\n", f"\n{block}"))


def test_a_new_table_trains_its_own_runs_and_measures_nothing_else_again(copy: Checkout) -> None:
    """Twelve runs, in two jobs, on a dataset of its own: with its raw pixels, and before the pages that show it."""
    assert LATER[0] in BLOCK
    follow(copy.root, BLOCK.replace(*LATER))
    jobs = copy.jobs()
    assert rules(jobs) == {
        **{"prepare": 1, "pretrain": 2, "evaluate": 2, f"artifact_embedding_norms_{NAME}": 1},
        **{"claims": 1, "scorecard": 1, "paper": 1, "write_report": 1},
    }
    assert batches(jobs, "pretrain") == batches(jobs, "evaluate") == {"simclr-plain"}


def test_only_one_artifact_is_made_and_nothing_else_is_touched(copy: Checkout) -> None:
    """Of its twelve runs one is there already. All else is stale, so that whatever is looked at would be made again."""
    assert SHARED[0] in BLOCK
    follow(copy.root, BLOCK.replace(*SHARED))
    before = {name: state for name, state in states(copy.results).items() if not name.endswith(".lock")}
    copy.edit("src/hypersphere/objectives/negative_cosine.py", "return ", "return 2 * ")
    copy.edit("src/hypersphere/objectives/cross_entropy.py", "return ", "return 2 * ")
    assert rules(copy.jobs())["pretrain"] > 3  # control: SimSiam's, the lecture's, and what is new
    done = copy.equipped().run("make", "reproduce", f"ONLY=embedding_norms/{NAME}")
    assert done.returncode == 0, done.stdout + done.stderr
    after = states(copy.results)
    assert {name: after.get(name) for name in before} == before
    new = {name for name in after.keys() - before.keys() if not name.endswith(".lock")}
    assert len({name.split("/")[1] for name in new if name.startswith("runs/")}) == 11
    assert {name for name in new if not name.startswith(("runs/", "evaluations/", "batches/"))} == {
        *(f"tables/embedding_norms/{NAME}.{form}" for form in ("csv", "md", "tex")),
        *(f"statistics/embedding_norms/{NAME}/{name}.csv" for name in ("measurements", "summary", "effects", "runs")),
        *(f"statistics/embedding_norms/{NAME}/{name}" for name in ("manifest.json", "claims.csv", "claims.json")),
    }
    assert copy.jobs(settings=(f"only=[embedding_norms/{NAME}]",)) == []


def test_only_an_artifact_that_shares_no_run_asks_for_its_own_jobs_alone(fresh: Checkout) -> None:
    jobs = fresh.jobs(settings=("only=[lecture/supervised_knn]",))
    assert rules(jobs) == {**{"prepare": 1, "pretrain": 1, "evaluate": 1, "artifact_lecture_supervised_knn": 1}}
    assert batches(jobs, "pretrain") == {"supervised-upright"}
