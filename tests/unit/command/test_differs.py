"""`hypersphere differs`: the settings that differ, their worth, the run that would tell most, and what is refused."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from hypersphere.command import cli, differs
from hypersphere.config.difference import Change
from hypersphere.provenance import stop
from hypersphere.statistics.worth import Worth

from ...fixtures import Names
from ..statistics.world import World, claim, gain

RATE = "optimiser.learning_rate"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A project whose scale is the published one; its claim c has a rate of 0.1 and a number of 51 %."""
    made = World(tmp_path)
    made.claims(claim("c"), gain("c.gain"), claim("c.again", kind="theorem", artifact="x"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stop, "exit_in_order", lambda: None)
    return made


def said(capsys: pytest.CaptureFixture[str], *words: str, of: str = "c") -> list[str]:
    """What the command prints, without its last line, by which one sees the published run."""
    assert cli.main(["differs", *words, "--claim", of]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert cli.main(last.removeprefix("whole: hypersphere ").split()) == 0
    assert capsys.readouterr().out.startswith("dataset:")
    return lines


def test_settings_that_differ_are_listed_and_without_records_their_worth_is_unknown(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *lines = said(capsys, f"{RATE}=0.3", "encoder.width=4", "--number", "48.5")
    assert first == "c: kNN accuracy, published 51 % (Table 5); yours is 48.5 %, 2.5 points lower"
    assert [line.split() for line in lines if line.startswith("  ")][1:] == [
        ["encoder.width", "2", "4", "unknown"],
        [RATE, "0.1", "0.3", "unknown"],
    ]
    *_, explained, following = lines
    assert explained.startswith("explained: nothing")
    assert following.startswith("next: train yours with encoder.width 2 as published")


def test_a_file_of_some_fields_and_a_whole_run_say_the_same_as_settings(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    run = next(iter(world.plan.runs_of("norms", "table5").values()))
    whole = yaml.safe_load(run.as_yaml())
    whole["optimiser"]["learning_rate"] = 0.3
    Path("run.yaml").write_text(yaml.safe_dump(whole))
    Path("some.yaml").write_text("optimiser: {learning_rate: 0.3}\nseed: 9\n")
    expected = said(capsys, f"{RATE}=0.3")
    assert any(RATE in line for line in expected)
    assert said(capsys, "run.yaml") == said(capsys, "some.yaml") == expected
    assert said(capsys, "run.yaml", "--number", "51")[0].endswith("yours is 51 %, the same")
    # the last word counts, and a comparison has the run of its variant
    assert "no setting differs" in said(capsys, "run.yaml", f"{RATE}=0.1")[-1]
    (line,) = [line for line in said(capsys, "run.yaml", of="c.gain") if "initialisation" in line]
    assert line.split()[1:] == ["cut_initialisation", "(c", "3.0)", "none", "unknown"]


def test_in_a_whole_run_what_is_left_out_has_its_default_and_in_a_part_of_one_not(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """The encoder has a width of 2 in the paper of world.py, and another by default."""
    run = next(iter(world.plan.runs_of("norms", "table5").values()))
    whole = yaml.safe_load(run.as_yaml())
    whole["encoder"] = {"name": "resnet8"}
    Path("run.yaml").write_text(yaml.safe_dump(whole))
    Path("some.yaml").write_text("encoder: {name: resnet8}\n")
    assert "no setting differs" in said(capsys, "some.yaml")[-1]
    line = next(line for line in said(capsys, "run.yaml") if "encoder.width" in line)
    assert line.split()[1] == "2"


def test_worths_add_up_and_what_remains_is_said(world: World) -> None:
    """By hand: 48.5 is 2.5 below 51; -1 and +0.25 explain -0.75, and -1.75 remains."""
    (stated, _) = differs.find(world.plan, "c")
    changes = {RATE: Change("0.1", "0.3"), "batch.size": Change("64", "32")}
    known = [
        made_up({RATE: changes[RATE]}, -1.0, 0.5),
        made_up({"batch.size": changes["batch.size"]}, 0.25, 2.0),
    ]
    text = differs.answer(stated, changes, {RATE: "Sec. 5", "batch.size": ""}, known, 48.5)
    assert "-1.0 (-1.5 to -0.5)  laptop: simclr on ten of norms, 5 against 4 runs" in text
    assert "0.1 (Sec. 5)  0.3" in text
    assert "2 of 2 settings, together -0.8 (-3.2 to +1.8) points" in text
    assert "-1.8 points remain" in text
    assert (
        "next: train yours with batch.size 64 as published, because its worth has the widest"
        in text
    )


def test_of_settings_without_a_worth_the_one_that_moves_most_is_next(world: World) -> None:
    (stated, _) = differs.find(world.plan, "c")
    changes = {RATE: Change("0.1", "0.3"), "batch.size": Change("64", "32")}
    others = [
        made_up({RATE: Change("0.1", "0.2")}, -4.0, 1.0),
        made_up({"batch.size": Change("64", "16")}, 2.0, 1.0),
    ]
    text = differs.answer(stated, changes, dict.fromkeys(changes, ""), others, None)
    assert "nearest: 0.1 to 0.2, -4.0 (-5.0 to -3.0)" in text
    assert f"next: train yours with {RATE} 0.1 as published" in text
    assert "differ by 4.0 points" in text


def test_of_settings_that_no_record_varies_what_the_paper_states_is_next(world: World) -> None:
    (stated, _) = differs.find(world.plan, "c")
    changes = {"views.hue": Change("0.1", "0.2"), RATE: Change("0.1", "0.3")}
    text = differs.answer(stated, changes, {"views.hue": "", RATE: "Sec. 5"}, [], None)
    assert f"next: train yours with {RATE} 0.1 as published, because no recorded run" in text
    text = differs.answer(stated, changes, dict.fromkeys(changes, ""), [], None)
    assert "next: train yours with views.hue 0.1 as published" in text


def made_up(changes: dict[str, Change], effect: float, half: float) -> Worth:
    interval = (effect, effect - half, effect + half)
    return Worth(changes, *interval, 5, 4, "laptop", "norms", "simclr", "ten")


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["x=1", "--claim", "c"], ["command line", "x"]),
        ([f"{RATE}=fast", "--claim", "c"], ["command line", RATE]),
        (["dataset=elsewhere", "--claim", "c"], ["command line", "dataset"]),
        (["missing.yaml", "--claim", "c"], ["missing.yaml"]),
        (["list.yaml", "--claim", "c"], ["list.yaml"]),
        (["wrong.yaml", "--claim", "c"], ["wrong.yaml", "batch.size"]),
        ([f"{RATE}=1", "--claim", "d"], ["differs", "--claim"]),
        ([f"{RATE}=1", "--claim", "c.again"], ["differs", "--claim"]),
        ([f"{RATE}=1", "--claim", "c.gain", "--number", "3"], ["differs", "--number"]),
        ([f"{RATE}=1", "--claim", "c", "--number", "nan"], ["differs", "--number"]),
    ],
)
def test_bad_input_is_one_sentence(
    world: World,
    names: Names,
    capsys: pytest.CaptureFixture[str],
    words: Sequence[str],
    place: Sequence[str],
) -> None:
    Path("list.yaml").write_text("[1]\n")
    Path("wrong.yaml").write_text("batch: {size: 7, micro: 2}\n")
    assert cli.main(["differs", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    names(shown.err.removeprefix("hypersphere: ").rstrip("\n"), *place)
