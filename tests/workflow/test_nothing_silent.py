"""Whatever is wrong with what people write, `snakemake` itself says so; and an edit is seen whatever its time."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Approve, Checkout, rules

CONFIG = "config/config.yaml"
WRONG = (
    *(b"scale: [\n", None, b"scale: quick # caf\xe9\n", b"__use_yte__: true\nscale: ?'quick'\n"),
    b"scale: !!python/object/apply:os.system [touch evil]\n",
)
"""Whatever Snakemake would make of it before we are asked. None: no file. unit/config has the other slips."""


def said(place: Checkout, *options: str, settings: tuple[str, ...] = ()) -> str:
    """The one sentence with which a rebuild fails."""
    done = place.snakemake("--cores", "2", *options, settings=settings)
    text = done.stdout + done.stderr
    assert done.returncode != 0, text
    assert "Traceback" not in text
    assert "Error in" not in text
    (sentence,) = [line for line in text.splitlines() if line.startswith("hypersphere: ")]
    return sentence.removeprefix("hypersphere: ").replace(f"{place.root}/", "")


@pytest.mark.tools
def test_a_wrong_config_is_a_sentence(place: Checkout, approve: Approve) -> None:
    for content in WRONG:
        (place.root / CONFIG).unlink(missing_ok=True)
        if content is not None:
            (place.root / CONFIG).write_bytes(content)
        approve(said(place))
    assert not (place.root / "evil").exists()


@pytest.mark.tools
@pytest.mark.parametrize(
    "setting", ["seeds=[2024-13-45]", "device=cuda", "data_root=nowhere", "only=[nonesuch]"], ids=str
)
def test_a_wrong_setting_is_a_sentence_and_writes_nothing(fresh: Checkout, approve: Approve, setting: str) -> None:
    approve(said(fresh, settings=(setting,)))
    for folder in ("results", "logs", "data/processed"):
        assert not (fresh.root / folder).exists()


def test_a_defect_of_ours_has_its_traceback(place: Checkout) -> None:
    """The profile silences Snakemake, which would exit with 1 and not a word."""
    place.edit(
        "src/hypersphere/config/checks.py", "    rules.load(plan.config.root)\n", "    raise RuntimeError('a defect')\n"
    )
    done = place.snakemake("--cores", "2")
    assert done.returncode != 0
    assert "RuntimeError: a defect" in done.stderr


EDITS: dict[str, tuple[str, Callable[[str], str], str]] = {
    "a claim": (
        "config/papers/embedding_norms/claims.csv",
        lambda text: text.replace(",as printed,", ",as printed,Again. ", 1),
        "claims",
    ),
    "an erratum": (
        "config/papers/lecture/errata.yaml",
        lambda text: text.replace("decided: ", "decided: Again. ", 1),
        "scorecard",
    ),
    "the rules of judgement": ("config/statistics.yaml", lambda text: text.replace("0.95", "0.9"), "claims"),
    "a title": (
        "config/papers/embedding_norms/paper.yaml",
        lambda text: text.replace("title: ", "title: Again ", 1),
        "claims",
    ),
    "a number of the scale": (
        "config/scales/quick.yaml",
        lambda text: text.replace("describe: ", "describe: again ", 1),
        "claims",
    ),
    "a template": (
        "src/hypersphere/report/templates/scorecard.html",
        lambda text: text + "<!-- again -->",
        "scorecard",
    ),
    "the layout of the paper": ("paper/supplement.typ", lambda text: text + "\nAgain.\n", "paper"),
}


@pytest.mark.long
def test_an_edit_is_seen_whatever_its_time(copy: Checkout) -> None:
    """Dated 2001, as after a clock was set back, rsync or a checkout of an old commit. An old date alone is no edit."""
    for name, _, _ in EDITS.values():
        os.utime(copy.root / name, (1e9, 1e9))
    assert copy.jobs() == []  # the control
    for edit, (name, change, rule) in EDITS.items():
        path: Path = copy.root / name
        before = path.read_text(encoding="utf-8")
        assert change(before) != before
        path.write_text(change(before), encoding="utf-8")
        os.utime(path, (1e9, 1e9))
        assert rules(copy.jobs())[rule] == 1, edit
        path.write_text(before, encoding="utf-8")
        os.utime(path, (1e9, 1e9))
