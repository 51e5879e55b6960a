"""Whatever is wrong with what people write, `snakemake` itself says so; and an edit is seen whatever its time."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Checkout, rules

CONFIG = "config/config.yaml"
WRONG: dict[str, tuple[bytes | None, str]] = {
    "syntax": (b"scale: [\n", "not valid YAML (while parsing a flow node did not find expected node content at line 2"),
    "empty": (b"", "must be a mapping of keys to values"),
    "missing": (None, "the file is missing"),
    "a list": (b"- scale\n", "must be a mapping of keys to values"),
    "not UTF-8": (b"scale: quick # caf\xe9\n", "not UTF-8 text (byte 18)"),
    "a tag": (
        b"scale: !!python/object/apply:os.system [touch evil]\n",
        "not valid YAML (could not determine a constructor for the tag",
    ),
    "a key twice": (
        b"scale: quick\nscale: paper\n",
        "not valid YAML (line 2: the key 'scale' is given twice, first on line 1)",
    ),
    "evaluated": (b"__use_yte__: true\nscale: ?'quick'\n", "__use_yte__: unknown"),
}


def said(place: Checkout, *options: str, settings: tuple[str, ...] = ()) -> str:
    """The one sentence with which a rebuild fails."""
    done = place.snakemake("--cores", "2", *options, settings=settings)
    text = done.stdout + done.stderr
    assert done.returncode != 0, text
    assert "Traceback" not in text
    (sentence,) = [line for line in text.splitlines() if line.startswith("hypersphere: ")]
    return sentence.removeprefix("hypersphere: ").replace(f"{place.root}/", "")


@pytest.mark.tools
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_config_is_a_sentence(copy: Checkout, wrong: str) -> None:
    content, words = WRONG[wrong]
    if content is None:
        (copy.root / CONFIG).unlink()
    else:
        (copy.root / CONFIG).write_bytes(content)
    assert said(copy).startswith(f"{CONFIG}: {words}")
    assert not (copy.root / "evil").exists()


@pytest.mark.tools
@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("seeds=[2024-13-45]", "command line: seeds.tables.0: input should be a valid integer"),
        ("seeds=[3,3]", "command line: seeds.tables: a seed is listed twice"),
        ("device=cuda", "device: cuda was asked for, but torch finds no CUDA device"),
        ("threads=100000000", "command line: threads: input should be less than or equal to 1024"),
        ("data_root=nowhere", "command line: data_root: nowhere: no such folder"),
    ],
)
def test_a_wrong_setting_is_a_sentence(finished: Checkout, setting: str, words: str) -> None:
    assert said(finished, settings=(setting,)).startswith(words)


def test_a_defect_of_ours_has_its_traceback(copy: Checkout) -> None:
    """The profile silences Snakemake, which would exit with 1 and not a word."""
    copy.edit(
        "src/hypersphere/config/checks.py", "    rules.load(plan.config.root)\n", "    raise RuntimeError('a defect')\n"
    )
    done = copy.snakemake("--cores", "2")
    assert done.returncode != 0
    assert "RuntimeError: a defect" in done.stderr


EDITS: dict[str, tuple[str, Callable[[str], str], str]] = {
    "a claim": (
        "paper/claims/embedding_norms.csv",
        lambda text: text.replace(",as printed,", ",as printed,Again. ", 1),
        "claims",
    ),
    "an erratum": ("paper/errata.yaml", lambda text: text.replace("decided: ", "decided: Again. ", 1), "scorecard"),
    "the rules of judgement": ("config/statistics.yaml", lambda text: text.replace("0.95", "0.9"), "claims"),
    "a title": (
        "config/papers/embedding_norms.yaml",
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
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_seen_whatever_its_time(copy: Checkout, edit: str) -> None:
    """Dated 2001, as after a clock was set back, rsync or a checkout of an old commit."""
    name, change, rule = EDITS[edit]
    path: Path = copy.root / name
    before = path.read_text(encoding="utf-8")
    assert change(before) != before
    path.write_text(change(before), encoding="utf-8")
    os.utime(path, (1e9, 1e9))
    assert rules(copy.jobs())[rule] == 1


def test_an_old_date_alone_is_no_edit(copy: Checkout) -> None:
    """The control of the test above."""
    for name, _, _ in EDITS.values():
        os.utime(copy.root / name, (1e9, 1e9))
    assert copy.jobs() == []
