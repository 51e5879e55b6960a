"""Whatever is wrong with what people write, `snakemake` itself says so; and an edit is seen whatever its time."""

import os

import pytest

from ..fixtures import Names
from .conftest import Checkout, rules

CONFIG = "config/config.yaml"
WRONG = (
    (b"scale: [\n", []),
    (None, []),
    (b"scale: quick # caf\xe9\n", []),
    (b"__use_yte__: true\nscale: ?'quick'\n", ["__use_yte__"]),
    (b"scale: !!python/object/apply:os.system [touch evil]\n", []),
)
"""Whatever Snakemake would make of it before we are asked. None: no file. unit/config has the other slips."""


def said(place: Checkout, *options: str, settings: tuple[str, ...] = ()) -> str:
    """The one sentence with which a rebuild fails."""
    done = place.snakemake("--cores", "2", *options, status=1, settings=settings)
    text = done.stdout + done.stderr
    assert "Traceback" not in text
    assert "Error in" not in text
    (sentence,) = [line for line in text.splitlines() if line.startswith("hypersphere: ")]
    return sentence.removeprefix("hypersphere: ").replace(f"{place.root}/", "")


@pytest.mark.tools
def test_a_wrong_config_is_a_sentence(place: Checkout, names: Names) -> None:
    for content, field in WRONG:
        (place.root / CONFIG).unlink(missing_ok=True)
        if content is not None:
            (place.root / CONFIG).write_bytes(content)
        names(said(place), CONFIG, *field)
    assert not (place.root / "evil").exists()


@pytest.mark.tools
@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("seeds=[2024-13-45]", "command line: seeds.tables.0"),
        ("device=cuda", "device"),
        ("data_root=nowhere", "command line: data_root: nowhere"),
        ("only=[nonesuch]", "command line: only"),
        ("epochs=1:30", "command line: epochs"),
        ("set=epochs", "command line: epochs"),
        ("epochs={b", "command line: epochs={b"),
    ],
)
def test_a_wrong_setting_is_a_sentence_and_writes_nothing(
    fresh: Checkout, names: Names, setting: str, named: str
) -> None:
    names(said(fresh, settings=(setting,)), named)
    for folder in ("results", "logs", "data/processed"):
        assert not (fresh.root / folder).exists()


def test_a_defect_of_ours_has_its_traceback(place: Checkout) -> None:
    """At a parse, where all that people write is checked."""
    old = "    rules.load(config.root)\n"
    place.edit("src/hypersphere/config/texts.py", old, "    raise RuntimeError('a defect')\n")
    assert "RuntimeError: a defect" in place.snakemake("--cores", "2", status=1).stderr


EDITS = (
    ("papers/embedding_norms/claims.csv", ",as printed,", ",as printed,Again. ", "claims"),
    ("papers/lecture/errata.yaml", "decided: ", "decided: Again. ", "scorecard"),
    ("config/statistics.yaml", "0.95", "0.9", "claims"),
    ("papers/embedding_norms/paper.yaml", "title: ", "title: Again ", "claims"),
    ("config/scales/quick.yaml", "describe: ", "describe: again ", "claims"),
    ("src/hypersphere/report/templates/page.html", "</html>", "<!-- again --></html>", "scorecard"),
)
"""File, its text, what that becomes, and the rule of what follows."""


def test_an_edit_is_seen_whatever_its_time(copy: Checkout) -> None:
    """Dated 2001, as after a clock was set back, rsync or a checkout of an old commit. An old date alone is no edit."""

    def write(name: str, text: str) -> None:
        (copy.root / name).write_text(text)
        os.utime(copy.root / name, (1e9, 1e9))

    texts = {name: (copy.root / name).read_text() for name, *_ in EDITS}
    for name, text in texts.items():
        write(name, text)
    assert copy.jobs() == []  # the control
    for name, old, new, rule in EDITS:
        assert old in texts[name]
        write(name, texts[name].replace(old, new, 1))
        assert rules(copy.jobs())[rule] == 1, name
        write(name, texts[name])
