"""The picture of the DAG says what the rules are, and how often their steps are taken."""

import re
import xml.etree.ElementTree as ElementTree
from fnmatch import fnmatch

import pytest

from hypersphere.command import dag
from hypersphere.config import registry

from ...golden.released import ROOT, released

RULES = ROOT / "workflow" / "rules"
PICTURE = (ROOT / dag.PICTURE).read_text(encoding="utf-8")
NAMED = re.compile(r'^ *rule (\w+):|^ +name:\n +f?"(\w+?)(\{NAME\}|\{PAPER\})"', flags=re.MULTILINE)
SVG = "{http://www.w3.org/2000/svg}"


def commands() -> dict[str, str]:
    """The first words of the shell command of each rule, by its name; ``*`` stands for what a loop fills in."""
    text = "".join(file.read_text(encoding="utf-8") for file in sorted(RULES.glob("*.smk")))
    starts = [*NAMED.finditer(text)]
    ends = [*(one.start() for one in starts[1:]), len(text)]
    found = {}
    for start, end in zip(starts, ends, strict=True):
        (command,) = re.findall(r'shell:\n +"([^"{>]+)', text[start.end() : end])
        found[start[1] or f"{start[2]}*"] = command.strip()
    return found


def test_the_picture_has_every_rule_and_its_command_and_no_other() -> None:
    assert {box.rule: box.command for box in dag.BOXES} == commands()


@pytest.mark.skipif(
    bool(registry.unusable("datasets", "control_task")),
    reason="this machine cannot draw control tasks, so that its plan has fewer runs than the picture",
)
def test_the_picture_is_current() -> None:
    """After a change of papers, scales or rules: ``make dag``."""
    drawn = dag.svg({scale: released(scale) for scale in dag.SCALES})
    assert drawn == PICTURE, "make dag"


def test_a_probe_is_counted_once_for_each_run_epoch_and_dataset() -> None:
    """The numbers of all kinds are those of the plan's evaluations, which are made in another way."""
    plan = released("quick")
    asked = [one.at for of_run in plan.evaluations.values() for one in of_run.values()]
    assert sum(dag.probe_counts(plan).values()) >= sum(map(len, asked))
    assert min(dag.probe_counts(plan).values()) > 0


def test_words_fit_into_their_boxes_and_arrows_end_at_boxes() -> None:
    """A letter of a sans-serif font is 0.6 of its height wide, or less."""
    picture = ElementTree.fromstring(PICTURE)
    white = [
        one for one in picture.iter(f"{SVG}rect") if one.get("fill") == "white" and one.get("rx")
    ]
    assert len(white) == sum(len(box.steps) for box in dag.BOXES)
    centred = [one for one in picture.iter(f"{SVG}text") if one.get("text-anchor") == "middle"]
    for one in centred:
        x, y, words = float(one.get("x", "")), float(one.get("y", "")), one.text or ""
        half = 0.3 * float(one.get("font-size", "12")) * len(words)
        (step,) = [rect for rect in white if _holds(rect, x, y)]
        assert _holds(step, x - half, y), words
        assert _holds(step, x + half, y), words
    assert not any(
        fnmatch(one.rule, other.rule) for one in dag.BOXES for other in dag.BOXES if one != other
    )


def _holds(rect: ElementTree.Element, x: float, y: float) -> bool:
    """Whether a point lies in a rectangle."""
    left, top, width, height = (float(rect.get(key, "")) for key in ("x", "y", "width", "height"))
    return left <= x <= left + width and top <= y <= top + height
