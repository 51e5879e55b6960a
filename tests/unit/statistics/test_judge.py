"""Claims are judged by the cell with their coordinates, and by no other. Numbers are worked by hand."""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import pytest
from scipy import stats

from hypersphere.report import notes
from hypersphere.report.artifact import Points
from hypersphere.report.results import Results
from hypersphere.statistics.judge import TOO_FEW, build

from .world import PAPER, ROWS, Make, World, at, claim, gain

AT_EPOCH = {"artifact": "epochs", "setting": "epoch=50"}
MOVED = {"artifact": "transfers", "metric": "transfer_top1", "setting": "target=hundred"}
PLAIN: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "temperature": (
        {"artifact": "temperatures", "setting": "objective.temperature=0.1"},
        [{"setting": "objective.temperature=0.2"}, {"setting": ""}],
    ),
    "start": (AT_EPOCH | {"setting": "epoch=0"}, []),
    "epoch": (AT_EPOCH, [{"setting": "epoch=60"}, {"setting": "epoch=50;split=test"}]),
    "target": (MOVED, [{"setting": "target=ten"}, {"dataset": "hundred"}]),
    "dataset": ({}, [{"dataset": "thousand"}, {"setting": "epoch=100"}]),
    "variant": (
        {"variant": "cut3"},
        [{"method": "simsiam"}, {"metric": "linear_top1"}, {"artifact": "epochs"}],
    ),
    "late": (AT_EPOCH | {"setting": "epoch=100"}, []),
    "back": (MOVED | {"dataset": "hundred", "setting": "target=ten"}, []),
}
"""Claims that a cell answers, each with changes of coordinates to those that no cell of the artifact has."""


BASELINE, CUT, SIMSIAM = [51.0, 51.1, 51.2], [56.0, 56.1, 56.2], [20.0, 20.1, 20.2]
"""SimCLR by default and with cut weights, and both rows of SimSiam: each has a standard deviation of 0.1."""
Values = list[float] | list[float | None] | list[float | str | None]


def fill(
    world: World, baseline: Values = BASELINE, cut: Values = CUT, simsiam: Values = SIMSIAM
) -> World:
    for row, values in zip(ROWS, [baseline, cut, simsiam, simsiam], strict=True):
        world.say("table5", at(row), values)
    return world


def judge(world: World, *rows: dict[str, Any]) -> dict[str, dict[str, str]]:
    """The claims of table5, which is made first."""
    world.measure("table5")
    return world.judged(*rows)


GAIN = gain("g", reported="")
"""The difference of the two printed values."""


@pytest.fixture
def world(make_world: Make) -> World:
    return fill(make_world())


def test_each_claim_has_the_number_of_its_own_coordinates_and_of_no_others(world: World) -> None:
    """Epochs, temperatures and targets of one run's weights never stand in for each other."""
    cells = {
        "start": ("epochs", at(epoch=0), 61.0),
        "temperature": ("temperatures", at(objective__temperature=0.1), 41.0),
        "epoch": ("epochs", at(epoch=50), 31.0),
        "target": ("transfers", at(target="hundred", measure="transfer_top1"), 21.0),
        "back": ("transfers", at(dataset="hundred", target="ten", measure="transfer_top1"), 11.0),
    }
    for artifact, cell, value in cells.values():
        world.say(artifact, cell, [value - 0.1, value, value + 0.1])
    world.measure("table5", "epochs", "temperatures", "transfers")
    strange = [
        claim(f"{sort} {place}", **plain | changed)
        for sort, (plain, several) in PLAIN.items()
        for place, changed in enumerate(several)
    ]
    found = world.judged(*(claim(sort, **plain) for sort, (plain, _) in PLAIN.items()), *strange)
    expected = {sort: value for sort, (_, _, value) in cells.items()} | {
        "dataset": 51.1,
        "late": 51.1,
        "variant": 56.1,
    }
    assert {sort: float(found[sort]["measured"]) for sort in PLAIN} == pytest.approx(expected)
    assert {(found[sort]["n"], found[sort]["why"]) for sort in PLAIN} == {("3", "")}
    assert (
        found["late"]["runs"]
        == found["dataset"]["runs"]
        == found["epoch"]["runs"]
        != found["temperature"]["runs"]
    )
    # by seed
    assert world.table("epochs", "measurements").loc[at(epoch=50), "value"].tolist() == [
        30.9,
        31.0,
        31.1,
    ]
    assert (found["back"]["measured_on"], found["target"]["measured_on"]) == ("pairs", "digits")
    empty = [
        "measured",
        "measured_std",
        "p",
        "low",
        "high",
        "low_power",
        "margin",
        "measured_on",
        "runs",
        "direction",
    ]
    for row in (found[one["id"]] for one in strange):
        assert (row["verdict"], row["n"], {row[key] for key in empty}) == ("not run", "0", {""}), (
            row["id"]
        )


LEAK = {"images": 100, "again": 0, "in_train": 12, "two_labels": {"class": 3}}
WHOLE = {"images": 400, "again": 5, "in_train": 0, "two_labels": {"class": 0}}
REPEATED: dict[str, tuple[Any, str]] = {
    "in train": (
        {"of": "images", "splits": {"train": WHOLE, "test": LEAK}},
        "images also in train: 12 of 100 in test; equal to one under another label: 3 of 100 in test",
    ),
    "nothing that an accuracy rests on": (
        {"of": "images", "splits": {"train": WHOLE, "test": WHOLE}},
        "",
    ),
    "of before": (None, "repeated images were not counted"),
}


@pytest.mark.parametrize("case", REPEATED)
def test_a_claim_says_which_images_of_the_dataset_that_was_probed_are_repeated(
    case: str, world: World
) -> None:
    """Of that dataset alone: a transfer's is its target. So do the summary and the notes of the artifact."""
    counts, expected = REPEATED[case]
    world.repeated = {"pairs": counts}
    world.measure("table5", "transfers")
    moved = claim("target", **PLAIN["target"][0])
    back = claim("back", **PLAIN["back"][0])
    rows = world.judged(
        claim("own"),
        moved,
        back,
        gain("gain"),
        claim("not run", method="simsiam", dataset="flowers"),
    )
    assert {name: row["repeated"] for name, row in rows.items()} == {
        **dict.fromkeys(rows, ""),
        "target": expected,
    }
    summary = world.table("transfers", "summary")
    assert set(summary.loc[summary["probed_on"] == "pairs", "repeated"]) == {expected}
    points = Points(Results(world.plan), world.plan.config.papers[world.paper], "transfers")
    said = [note for note in notes.of(points) if note.startswith("Mind")]
    assert said == ([f"Mind: of pairs, {expected}."] if expected else [])


def test_claims_wait_for_no_artifact_and_say_why_nothing_was_measured(world: World) -> None:
    """Nothing at all is there: every claim is a row. One artifact is made: its claims alone are judged.

    A claim that changed after it was judged is not made yet, either.

    Origin and reading are kept. The document leaves two choices open for all, and one more for SimSiam.
    """
    stated = claim("stated", kind="theorem", artifact="t_1", reported="", metric="")
    rows = [claim("there", origin="corrected", reading="N1"), claim("not made", **AT_EPOCH)]
    rows += [claim("no stand-in", method="simsiam", dataset="flowers"), claim("kept"), stated]
    assert {row["verdict"] for row in world.judged(*rows).values()} == {"not run"}
    world.write()
    found = judge(world, *rows)
    assert found.pop("stated")["verdict"] == "not run"
    assert (found["there"]["origin"], found["there"]["reading"]) == ("corrected", "N1")
    assert (found["there"]["unstated"], found["no stand-in"]["unstated"]) == ("2", "3")
    listed = (world.plan.config.results / "statistics" / "runs.csv").read_text().splitlines()
    assert len(listed) == 1 + len(world.plan.runs)  # all runs of the scale
    assert {name: (row["verdict"], row["why"]) for name, row in found.items()} == {
        "there": ("reproduced", ""),
        "not made": ("not run", "not made yet"),
        "no stand-in": ("not run", "nothing stands for flowers at this scale"),
        "kept": ("reproduced", ""),
    }
    world.claims(rows[0] | {"reported": 52.0}, *rows[1:])
    build(world.plan)
    table = pd.read_csv(world.plan.config.results / "claims.csv").set_index("id")
    assert table.loc["there", ["verdict", "why", "reported"]].tolist() == [
        "not run",
        "not made yet",
        52.0,
    ]
    assert table["verdict"]["kept"] == "reproduced"


def test_values_at_the_published_scale(world: World) -> None:
    near = claim("c", variant="cut3", reported=57.2)
    found = judge(
        world,
        claim("d"),
        near,
        near | {"id": "e", "reported": 57.4},
        near | {"id": "f", "reported": 58.2},
    )
    close = found["d"]
    # its own three runs: std 0.1, df 2; error 0.1 * sqrt(1/3 + 1) = 0.11547; t(0.95, 2) = 2.919986 from tables:
    # half width 0.337171
    assert float(close["measured"]) == pytest.approx(51.1)
    assert float(close["measured_std"]) == pytest.approx(0.1)
    assert (float(close["low"]), float(close["high"])) == pytest.approx(
        (51.1 - 0.337171, 51.1 + 0.337171), abs=1e-6
    )
    assert (close["n"], close["margin"], close["low_power"]) == ("3", "1.5", "True")
    # 1.1, 1.3 and 2.1 from 56.1: within D where at most D - 0.337, beyond where at least D + 0.497, which is
    # 0.11547 t(0.975, 2)
    yes, open_, no = "reproduced", "inconclusive", "not reproduced"
    verdicts = {
        name: [found[name][f"verdict{part}"] for part in ("_half", "", "_double")]
        for name in "dcef"
    }
    assert verdicts == {
        "d": [yes] * 3,
        "c": [open_, yes, yes],
        "e": [no, open_, yes],
        "f": [no, no, yes],
    }
    # what decided it is shown around our mean: of 90 %, or of 95 % where the number is beyond
    assert [float(found["f"][end]) for end in ("low", "high")] == pytest.approx(
        [56.1 - 0.496831, 56.1 + 0.496831]
    )
    # t = 1.1 / 0.11547 = 9.52628 with 2 df, for which P(|T| > t) = 1 - t / sqrt(2 + t^2)
    t = 1.1 / 0.1154700538
    assert float(found["c"]["p"]) == pytest.approx(1 - t / (2 + t**2) ** 0.5, rel=1e-6)


def test_a_comparison_reports_the_difference_of_two_printed_values(world: World) -> None:
    for method in ("simclr", "simsiam"):
        world.say("table5", at(method=method, dataset="hundred"), [None] * 3)
    row = judge(
        world, claim("d"), claim("c", variant="cut3", reported=57.3), GAIN | {"sentence": "a, gain"}
    )["g"]
    assert row["reported"] == "6.3"  # 57.3 - 51.0, without binary dust
    assert float(row["measured"]) == pytest.approx(5.0)
    expected = ("3", "reproduced", "default", "a, gain")
    assert (row["n"], row["verdict"], row["baseline"], row["sentence"]) == expected
    # of eight declared tests it has the smallest p: Holm's interval is at 1 - 0.05/8; Welch's df of equal spreads is 4
    half = stats.t.ppf(1 - 0.05 / 16, 4) * 0.1 * (2 / 3) ** 0.5
    assert (float(row["low"]), float(row["high"])) == pytest.approx((5 - half, 5 + half), abs=1e-5)
    assert (row["margin"], row["verdict_half"], row["measured_std"]) == ("", "", "")
    assert len(row["runs"].split()) == 6


def test_a_baseline_may_be_any_coordinates_that_differ(world: World) -> None:
    world.say("temperatures", at(objective__temperature=0.1), [41.0, 41.1, 41.2])
    world.measure("temperatures", "epochs")
    swept = {
        "kind": "comparison",
        "artifact": "temperatures",
        "setting": "objective.temperature=0.1",
    }
    rows = [
        claim("t", **swept, baseline="objective.temperature=0.5", reported=-12),
        claim(
            "reverse",
            **swept | {"setting": "objective.temperature=0.5"},
            baseline="objective.temperature=0.1",
        ),
        claim("none", **swept, baseline="objective.temperature=0.3"),
        gain("e", artifact="epochs", setting="epoch=100"),
        gain(
            "across", artifact="epochs", setting="epoch=100", variant="default", baseline="epoch=50"
        ),
    ]
    found = world.judged(*rows)
    assert float(found["t"]["measured"]) == pytest.approx(-10.0)
    assert found["t"]["verdict"] == "reproduced"
    assert float(found["e"]["measured"]) == pytest.approx(5.0)
    # the artifact does not compare these, and nothing else is taken for it
    for name in ("reverse", "none", "across"):
        assert (found[name]["verdict"], found[name]["measured"]) == ("not run", "")


@pytest.mark.parametrize(("second", "low_power"), [(51.2, "False"), (None, "True")])
def test_four_degrees_of_freedom_are_not_low_power(
    make_world: Make, second: float | None, low_power: str
) -> None:
    """Four arms of two runs have four; three such arms and one of a single run have three."""
    two = [51.0, 51.2]
    world = fill(make_world(seeds=[0, 1]), [51.0, second], two, two)
    assert judge(world, claim("d"))["d"]["low_power"] == low_power


@pytest.mark.parametrize(
    ("options", "verdict", "scale"),
    [
        ({"level": "quick"}, "quick only", "quick"),
        ({"level": "laptop"}, "laptop only", "laptop"),
        ({"level": "paper", "epochs": 3}, "laptop only", "paper-"),
    ],
)
def test_below_the_published_scale_nothing_is_compared_but_directions(
    make_world: Make, options: dict[str, Any], verdict: str, scale: str
) -> None:
    rows = [
        claim("d"),
        gain("same"),
        gain("opposite", reported=-5.0),
        gain("larger", reported="", direction="larger"),
    ]
    found = judge(fill(make_world(**options)), *rows, claim("f", dataset="flowers"))
    value, same = found["d"], found["same"]
    assert value["scale"].startswith(scale)
    assert [row["verdict"] for row in found.values()] == [*[verdict] * 4, "not run"]
    assert [row["direction"] for row in found.values()] == ["", "same", "opposite", "same", ""]
    assert [value[name] for name in ("p", "margin", "verdict_half", "verdict_double")] == [""] * 4
    # the plain interval of the mean: t(0.975, 2) = 4.302653 * 0.1 / sqrt(3) = 0.248414
    assert (float(value["low"]), float(value["high"])) == pytest.approx(
        (50.851586, 51.348414), abs=1e-6
    )
    # an effect is tested against 0, not against the published number
    assert float(same["p"]) < 1e-4


def test_what_a_document_leaves_open_is_measured_and_not_judged(make_world: Make) -> None:
    for level in ("paper", "quick"):
        world = make_world(level=level)
        world.say("open", at(measure="linear_top1"), BASELINE)
        world.measure("open")
        of_open = {"artifact": "open", "metric": "linear_top1"}
        found = world.judged(claim("v", **of_open), gain("g", **of_open))
        assert {row["verdict"] for row in found.values()} == {"cannot be judged"}, level
        assert float(found["v"]["measured"]) == pytest.approx(51.1)
        assert (found["v"]["verdict_half"], found["v"]["verdict_double"]) == ("", "")


@pytest.mark.parametrize(("level", "verdict"), [("paper", "inconclusive"), ("quick", "quick only")])
def test_runs_that_all_diverged_are_not_a_measurement(
    make_world: Make, level: str, verdict: str
) -> None:
    world = fill(make_world(level=level), cut=[None, None, None])
    for row in judge(world, claim("c", variant="cut3"), gain("g")).values():
        assert [row[name] for name in ("measured", "p", "low")] == [""] * 3
        assert (row["n"], row["n_diverged"], row["verdict"]) == ("0", "3", verdict)


# What cannot be fooled (docs/statistics.md): four rows on one dataset.


@pytest.fixture
def make_small(make_world: Make) -> Make:
    alone = {"table5": PAPER["artifacts"]["table5"] | {"columns": {"dataset": ["ten"]}}}
    return partial(make_world, paper={"artifacts": alone})


@pytest.mark.parametrize(
    ("second", "n", "verdict", "why"),
    [
        (None, "1", "inconclusive", "one run has no spread"),
        (56.1, "2", "reproduced", "the spread is also that of"),
    ],
)
def test_one_run_settles_no_comparison_and_no_value(
    make_small: Make, second: float | None, n: str, verdict: str, why: str
) -> None:
    """However many runs the other rows have, whose spread is not its own; with two runs it may be: the control."""
    world = make_small()
    rules = world.root / "config" / "statistics.yaml"
    rules.write_text(rules.read_text().replace("most_diverged: 0.2", "most_diverged: 0.9"))
    rows = [claim("d"), claim("c", variant="cut3", reported=56.05), GAIN]
    found = judge(fill(world, cut=[56.0, second, None]), *rows)
    assert found["g"]["verdict"] == verdict
    assert (found["c"]["n"], found["c"]["verdict"]) == (n, verdict)
    assert found["c"]["why"].startswith(why)


def test_a_noisy_row_does_not_hide_among_tight_ones(make_small: Make) -> None:
    """Standard deviation 2.5: of three runs alone, t(0.95, 2) * 2.5 * sqrt(4/3) = 8.4, and not 1.5."""
    tight = [60.0, 60.1, 60.0]
    world = fill(make_small(), tight, [53.5, 56.0, 58.5], tight)
    found = judge(world, claim("c", variant="cut3", reported=56.0), claim("d", reported=60.03))
    assert found["c"]["verdict"] == "inconclusive"
    assert float(found["c"]["high"]) - 56 == pytest.approx(
        stats.t.ppf(0.95, 2) * 2.5 * (4 / 3) ** 0.5
    )
    # A printed row is no surer than the table is: beside a tight row of ours the pooled spread is the printed run's.
    pooled = ((2.5**2 + 3 * (0.01 / 3)) / 4) ** 0.5  # 60, 60.1 and 60 have the variance 0.01 / 3
    error = (0.01 / 3 / 3 + pooled**2) ** 0.5
    assert float(found["d"]["high"]) - float(found["d"]["measured"]) == pytest.approx(
        stats.t.ppf(0.95, 2) * error
    )


@pytest.mark.parametrize(
    ("baseline", "variant", "printed", "verdict", "why"),
    [
        (BASELINE, CUT, 5.0, "reproduced", ""),
        (BASELINE, CUT, 2.0, "direction only", "above 4, so that it is another effect"),
        (BASELINE, CUT, 20.0, "direction only", ""),
        (BASELINE, CUT, -5.0, "not reproduced", ""),
        (
            BASELINE,
            [90.5, 90.6, 90.7],
            0.4,
            "direction only",
            "above 0.8, so that it is another effect",
        ),
        (
            [10.0, 10.1, 10.2],
            [50.0, 50.1, 50.2],
            40.0,
            "direction only",
            "the baseline is not shown to be above",
        ),
        # a loss is one
        (CUT, [10.0, 10.1, 10.2], -46.0, "reproduced", "the variant is not shown to be above"),
        (
            [10.0, 10.0, 10.0],
            [10.0, 10.0, 40.0],
            10.0,
            "inconclusive",
            "neither arm is shown to be above",
        ),
    ],
)
def test_a_gain_needs_a_baseline_that_learnt_and_the_printed_size(
    make_small: Make,
    baseline: list[float],
    variant: list[float],
    printed: float,
    verdict: str,
    why: str,
) -> None:
    row = judge(fill(make_small(), baseline, variant), gain("g", reported=printed))["g"]
    assert row["verdict"] == verdict
    assert row["why"].startswith(why)
    assert bool(row["why"]) == bool(why)


@pytest.mark.parametrize("level", ["paper", "laptop"])
@pytest.mark.parametrize(
    ("arm", "shown"),
    [
        ([60.0, 60.1, 60.2], True),
        ([10.0, 10.1, 10.2], False),  # below the untrained encoder's 40 to 46
        # of equal runs nothing is known, but the other arm is above its controls
        ([60.0, 60.0, 60.0], True),
    ],
)
def test_two_collapsed_arms_show_no_absence_of_an_effect(
    make_small: Make, arm: list[float], shown: bool, level: str
) -> None:
    world = fill(
        make_small(level=level), arm, [value + 0.01 * place for place, value in enumerate(arm)]
    )
    row = judge(
        world, claim("d"), claim("c", variant="cut3", reported=51.2), GAIN | {"direction": "equal"}
    )["g"]
    expected = {"paper": "reproduced" if shown else "inconclusive", "laptop": "laptop only"}
    assert (row["verdict"], row["answer"]) == (expected[level], "holds" if shown else "cannot tell")
    assert ("neither arm is shown to be above its controls" in row["why"]) != shown


@pytest.mark.parametrize(
    ("level", "arm", "missing", "diverged", "lost", "verdict"),
    [
        ("paper", "cut3", 0, 0, None, "reproduced"),
        ("paper", "cut3", 1, 0, None, "reproduced"),  # 1 of 7 is less than a fifth, 2 of 7 is more
        ("paper", "cut3", 2, 0, None, "inconclusive"),
        ("paper", "cut3", 1, 1, None, "inconclusive"),
        ("paper", "cut3", 0, 1, "undefined", "reproduced"),
        ("paper", "cut3", 0, 2, "undefined", "inconclusive"),
        ("paper", "default", 0, 1, None, "reproduced"),
        ("paper", "default", 0, 2, None, "inconclusive"),
        ("laptop", "cut3", 2, 0, None, "laptop only"),
    ],
)
def test_an_arm_that_lost_more_than_a_fifth_settles_nothing_whether_without_a_value_or_missing(
    make_small: Make,
    level: str,
    arm: str,
    missing: int,
    diverged: int,
    lost: str | None,
    verdict: str,
) -> None:
    """Missing seeds are said; records of only the good ones would have them."""
    world = make_small(level=level, seeds=range(7))
    cells = world.plan.artifacts["norms", "table5"]
    places = [place for place, cell in enumerate(cells) if cell.text == at(variant=arm)]
    for place in places[:missing]:
        cells[place] = replace(cells[place], missing="no record of this run")
    seven = [51.0, 51.1, 51.2, 50.9, 51.0, 51.1, 51.2]
    arms: dict[str, Values] = {"default": seven, "cut3": [value + 5 for value in seven]}
    arms[arm] = [*arms[arm][: 7 - diverged], *[lost] * diverged]
    fill(world, arms["default"], arms["cut3"], seven)
    values = [claim("default", reported=51.1), claim("cut3", variant="cut3", reported=56.1)]
    found = judge(world, *values, gain("g"))
    effect = world.table("table5", "effects").loc[at(variant="cut3")]
    assert (effect["n_declared"], effect["n_missing"]) == (7, missing)
    for row, declared in ((found[arm], 7), (found["g"], 14)):
        assert [row[name] for name in ("n", "n_declared")] == [str(7 - missing - diverged), "7"]
        counts = {"n_diverged": 0, "n_undefined": 0, "n_missing": missing}
        counts["n_undefined" if lost else "n_diverged"] = diverged
        assert {name: row[name] for name in counts} == {
            name: str(count) for name, count in counts.items()
        }
        assert (f"{missing} of {declared} seeds missing" in row["why"]) == (missing > 0)
        assert (TOO_FEW in row["why"]) == (verdict == "inconclusive")
        assert row["verdict"] == verdict


@pytest.mark.parametrize(
    ("how", "shown", "why"),
    [
        ({}, "a processor float32", ""),
        (
            {"numerics": {"threads": 1, "precision": "bfloat16"}},
            "a processor bfloat16; float32",
            "bfloat16 and float32",
        ),
        (
            {"device": {"type": "cuda", "name": "a card"}},
            "a card; a processor float32",
            "cpu and cuda",
        ),
    ],
)
def test_nothing_is_judged_from_runs_that_were_not_made_alike(
    make_small: Make, how: dict[str, Any], shown: str, why: str
) -> None:
    """The baseline's own value is of one kind, and is judged: the control."""
    found = {}
    for level in ("paper", "laptop"):
        world = make_small(level=level)
        world.made[world.run("table5", at(variant="cut3"), 1)] = how
        rows = [
            claim("d", reported=51.1),
            claim("c", variant="cut3", reported=56.1),
            gain("g", reported=""),
        ]
        found[level] = judge(fill(world), *rows)
    alone = found["paper"]["d"]
    expected = ("reproduced", "a processor", "float32", "0 1 2")
    assert (alone["verdict"], alone["device"], alone["precision"], alone["seeds"]) == expected
    for row in (found["paper"]["c"], found["paper"]["g"]):
        assert row["verdict"] == ("inconclusive" if why else "reproduced")
        assert f"{row['device']} {row['precision']}" == shown
        assert why in row["why"]
    small = found["laptop"]["g"]
    assert (small["verdict"], small["direction"]) == ("laptop only", "unclear" if why else "same")
    assert why in small["why"]
