"""Claims are judged by the cell with their coordinates, and by no other. Numbers are worked by hand."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from hypersphere.config.claims import load
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.statistics import claims

from .world import ROWS, World, at, claim, gain

REPOSITORY = Path(__file__).parents[3]
Make = Callable[..., World]
EMPTY = ["measured", "measured_std", "p", "low", "high", "low_power", "margin", "measured_on", "runs", "direction"]
"""Columns that say nothing of a claim that nothing was measured for."""

TEMPERATURE = {"artifact": "temperatures", "setting": "objective.temperature=0.1"}
AT_EPOCH = {"artifact": "epochs", "setting": "epoch=50"}
MOVED = {"artifact": "transfers", "metric": "transfer_top1", "setting": "target=hundred"}
PLAIN = {"temperature": TEMPERATURE, "epoch": AT_EPOCH, "target": MOVED, "dataset": {}, "variant": {"variant": "cut3"}}
"""A claim of each sort that a cell answers, by the coordinate that the next list changes."""
STRANGE = {
    "temperature": [{"setting": "objective.temperature=0.2"}, {"setting": ""}],
    "epoch": [{"setting": "epoch=60"}, {"setting": ""}, {"setting": "epoch=50;split=test"}],
    "target": [{"setting": "target=ten"}, {"setting": ""}, {"dataset": "hundred"}],
    "dataset": [{"dataset": "thousand"}, {"setting": "epoch=100"}],
    "variant": [{"variant": "cut2"}, {"method": "simsiam"}, {"metric": "linear_top1"}, {"artifact": "epochs"}],
}
"""Coordinates that no cell of the artifact has, each next to those of one that is measured."""


@pytest.fixture
def world(make_world: Make) -> World:
    """SimCLR is at 51.1 by default and at 56.1 with cut weights. Every cell of ten has a standard deviation of 0.1."""
    world = make_world()
    _say(world)
    return world


def _say(world: World) -> None:
    world.say("table5", at(), [51.0, 51.1, 51.2])
    world.say("table5", at(variant="cut3"), [56.0, 56.1, 56.2])
    for variant in ("default", "cut9"):
        world.say("table5", at(method="simsiam", variant=variant), [20.0, 20.1, 20.2])


def test_no_claim_borrows_the_number_of_another_cell(world: World) -> None:
    """Each claim next to one that is measured, but for one coordinate: not run, and why names its coordinates."""
    world.measure("table5", "epochs", "temperatures", "transfers")
    strange = [
        claim(f"{sort} {place}", **PLAIN[sort] | changed)
        for sort, several in STRANGE.items()
        for place, changed in enumerate(several)
    ]
    found = world.judged(*(claim(sort, **plain) for sort, plain in PLAIN.items()), *strange)
    for sort in PLAIN:
        assert (found[sort]["n"], found[sort]["why"]) == ("3", ""), sort
    asked = {one.id: one for one in load(world.root / "config" / "papers" / "norms" / "claims.csv")}
    for row in (found[one["id"]] for one in strange):
        assert (row["verdict"], row["n"], [row[key] for key in EMPTY]) == ("not run", "0", [""] * len(EMPTY)), row["id"]
        assert row["why"] == f"no cell of {row['artifact']} has the coordinates {asked[row['id']].text}"
    assert asked["epoch 0"].text == at(epoch=60)


def test_each_claim_has_the_number_of_its_own_coordinates(world: World) -> None:
    """Cells of one network and of its neighbours: a number for each, and by it alone."""
    said = {
        "early": (AT_EPOCH, at(epoch=50), 31.0),
        "late": (AT_EPOCH | {"setting": "epoch=100"}, at(epoch=100), 51.1),
        "cold": (TEMPERATURE, at(objective__temperature=0.1), 41.0),
        "usual": (TEMPERATURE | {"setting": "objective.temperature=0.5"}, at(objective__temperature=0.5), 51.1),
        "there": (MOVED, at(target="hundred", measure="transfer_top1"), 21.0),
        "back": (
            MOVED | {"dataset": "hundred", "setting": "target=ten"},
            at(dataset="hundred", target="ten", measure="transfer_top1"),
            11.0,
        ),
        "cut": ({"variant": "cut3"}, at(variant="cut3"), 56.1),
        "other": ({"dataset": "hundred"}, at(dataset="hundred"), 61.0),
    }
    for name in ("early", "cold", "there", "back", "other"):
        changed, cell, value = said[name]
        world.say(changed.get("artifact", "table5"), cell, [value - 0.1, value, value + 0.1])
    world.measure("table5", "epochs", "temperatures", "transfers")
    found = world.judged(*(claim(name, **changed) for name, (changed, _, _) in said.items()))
    assert {name: float(row["measured"]) for name, row in found.items()} == pytest.approx(
        {name: value for name, (_, _, value) in said.items()}
    )
    runs = {name: row["runs"] for name, row in found.items()}
    assert runs["late"] == runs["usual"] == runs["early"] != runs["cold"]
    assert len(runs["cold"].split()) == 3
    assert (found["back"]["measured_on"], found["there"]["measured_on"]) == ("pairs", "digits")


def test_why_nothing_was_measured(world: World) -> None:
    world.measure("table5")
    rows = {
        "there": {},
        "not made": AT_EPOCH,
        "left out": {"artifact": "left"},
        "missing": {"artifact": "sentences", "dataset": "text", "metric": "text_accuracy"},
        "no probe": {"artifact": "clusters", "metric": "kmeans_accuracy"},
        "undeclared": {"artifact": "table9"},
        "no stand-in": {"dataset": "flowers"},
        "no loader": {"dataset": "far"},
    }
    found = world.judged(*(claim(name, **changed) for name, changed in rows.items()))
    assert {name: row["why"] for name, row in found.items()} == {
        "there": "",
        "not made": "not made yet",
        "left out": "left out at this scale",
        "missing": "runs on text",
        "no probe": "no probe yet: clusters of features",
        "undeclared": "no artifact of this name is declared",
        "no stand-in": "nothing stands for flowers at this scale",
        "no loader": "no loader for far yet",
    }
    assert {row["verdict"] for name, row in found.items() if name != "there"} == {"not run"}
    assert found["there"]["verdict"] == "reproduced"


def test_claims_wait_for_no_artifact(make_world: Make) -> None:
    """Nothing at all is there: every claim is a row. One artifact is made: its claims alone are judged."""
    world = make_world()
    _say(world)
    rows = [claim("a"), claim("b", **AT_EPOCH), claim("t", kind="theorem", artifact="t_1", reported="", metric="")]
    assert {row["verdict"] for row in world.judged(*rows).values()} == {"not run"}
    world.measure("table5")
    found = world.judged(*rows)
    assert [row["verdict"] for row in found.values()] == ["reproduced", "not run", "not run"]


def test_a_damaged_table_is_refused_and_not_taken_for_one_that_is_not_made(world: World) -> None:
    world.measure("table5")
    summary = world.plan.artifact_folder("norms", "table5") / "summary.csv"
    summary.write_text(summary.read_text().replace("51.1", "99.9"))
    with pytest.raises(DamagedError, match=r"summary\.csv: the file's bytes are not those of its manifest"):
        world.judged(claim("a"))


def test_columns_are_the_contract(world: World) -> None:
    """Those that docs/results.md promises to other tools, first and in this order."""
    world.measure("table5")
    row = world.judged(claim("a"))["a"]
    promised = "id,kind,origin,paper,artifact,method,variant,dataset,setting,metric,reported,reported_std,measured"
    promised += ",measured_std,n,p,scale,reading,verdict,source"
    assert [name for name in row if name in promised.split(",")] == promised.split(",")
    assert list(row) == list(claims.COLUMNS)


def test_values_at_the_published_scale(world: World) -> None:
    world.measure("table5")
    near = claim("c", variant="cut3", reported=57.2)
    found = world.judged(claim("d"), near, near | {"id": "e", "reported": 57.4}, near | {"id": "f", "reported": 58.2})
    close = found["d"]
    # its own three runs: std 0.1, df 2; error 0.1 * sqrt(1/3 + 1) = 0.11547; t(0.95, 2) = 2.919986 from tables:
    # half width 0.337171
    assert float(close["measured"]) == pytest.approx(51.1)
    assert float(close["measured_std"]) == pytest.approx(0.1)
    assert (float(close["low"]), float(close["high"])) == pytest.approx((51.1 - 0.337171, 51.1 + 0.337171), abs=1e-6)
    assert (close["n"], close["margin"], close["low_power"]) == ("3", "1.5", "True")
    # 1.1, 1.3 and 2.1 from 56.1: within D where at most D - 0.337, beyond where at least D + 0.497, which is
    # 0.11547 t(0.975, 2)
    yes, open_, no = "reproduced", "inconclusive", "not reproduced"
    verdicts = {name: [found[name][f"verdict{part}"] for part in ("_half", "", "_double")] for name in "dcef"}
    assert verdicts == {"d": [yes] * 3, "c": [open_, yes, yes], "e": [no, open_, yes], "f": [no, no, yes]}
    # t = 1.1 / 0.11547 = 9.52628 with 2 df, for which P(|T| > t) = 1 - t / sqrt(2 + t^2)
    t = 1.1 / 0.1154700538
    assert float(found["c"]["p"]) == pytest.approx(1 - t / (2 + t**2) ** 0.5, rel=1e-6)


def test_a_number_of_printed_runs_makes_the_printed_mean_as_sure(world: World) -> None:
    """Of three printed runs the error is 0.1 * sqrt(1/3 + 1/3)."""
    world.measure("table5")
    row = world.judged(claim("d", reported_n=3))["d"]
    assert float(row["high"]) - 51.1 == pytest.approx(stats.t.ppf(0.95, 2) * 0.1 * (2 / 3) ** 0.5)


def test_a_comparison_reports_the_difference_of_two_printed_values(world: World) -> None:
    for method in ("simclr", "simsiam"):
        world.say("table5", at(method=method, dataset="hundred"), [None] * 3)
    world.measure("table5")
    rows = [claim("d"), claim("c", variant="cut3", reported=57.3), gain("g", reported="", sentence="a, gain")]
    row = world.judged(*rows)["g"]
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
    world.say("temperatures", at(objective__temperature=1), [61.0, 61.1, 61.2])
    world.say("epochs", at(epoch=50), [31.0, 31.1, 31.2])
    world.measure("temperatures", "epochs")
    swept = {"kind": "comparison", "artifact": "temperatures", "setting": "objective.temperature=0.1"}
    rows = [
        claim("t", **swept, baseline="objective.temperature=0.5", reported=-12),
        claim("reverse", **swept | {"setting": "objective.temperature=0.5"}, baseline="objective.temperature=0.1"),
        claim("none", **swept, baseline="objective.temperature=0.3"),
        gain("e", artifact="epochs", setting="epoch=100"),
        gain("across", artifact="epochs", setting="epoch=100", variant="default", baseline="epoch=50"),
    ]
    found = world.judged(*rows)
    assert float(found["t"]["measured"]) == pytest.approx(-10.0)
    assert found["t"]["verdict"] == "reproduced"
    assert float(found["e"]["measured"]) == pytest.approx(5.0)
    first, usual = (at(objective__temperature=value) for value in (0.1, 0.5))
    # the artifact does not compare these, and nothing else is taken for it
    assert found["reverse"]["why"] == f"temperatures does not compare {usual} with {first}"
    assert found["none"]["why"] == (f"no cell of temperatures has the coordinates {at(objective__temperature=0.3)}")
    assert found["across"]["why"] == f"epochs does not compare {at(epoch=100)} with {at(epoch=50)}"
    assert {found[name]["verdict"] for name in ("reverse", "none", "across")} == {"not run"}
    assert {found[name]["measured"] for name in ("reverse", "none", "across")} == {""}


@pytest.mark.parametrize("variant", ["default", "cut3"])
def test_the_smaller_arm_is_the_n_of_a_comparison(world: World, variant: str) -> None:
    world.say("table5", at(variant=variant), [56.0, None, 56.2])
    world.measure("table5")
    row = world.judged(gain("g"))["g"]
    assert (row["n"], row["n_diverged"]) == ("2", "1")


@pytest.mark.parametrize(("second", "low_power"), [(51.2, "False"), (None, "True")])
def test_four_degrees_of_freedom_are_not_low_power(make_world: Make, second: float | None, low_power: str) -> None:
    """Four arms of two runs have four; three such arms and one of a single run have three."""
    world = make_world(seeds=[0, 1])
    for name in ROWS:
        method, variant = name.split(".")
        world.say("table5", at(method=method, variant=variant), [51.0, 51.2])
    world.say("table5", at(), [51.0, second])
    world.measure("table5")
    assert world.judged(claim("d"))["d"]["low_power"] == low_power


LEVELS: list[tuple[dict[str, Any], str, str]] = [
    ({"level": "quick"}, "quick only", "quick"),
    ({"level": "laptop"}, "laptop only", "laptop"),
    ({"level": "paper", "epochs": 3}, "laptop only", "paper-"),
]


@pytest.mark.parametrize(("options", "verdict", "scale"), LEVELS)
def test_below_the_published_scale_nothing_is_compared_but_directions(
    make_world: Make, options: dict[str, Any], verdict: str, scale: str
) -> None:
    world = make_world(**options)
    _say(world)
    world.measure("table5")
    rows = [
        claim("d"),
        gain("same"),
        gain("opposite", reported=-5.0),
        gain("larger", reported="", direction="larger"),
        claim("f", dataset="flowers"),
    ]
    found = world.judged(*rows)
    value, same = found["d"], found["same"]
    assert value["scale"].startswith(scale)
    assert [row["verdict"] for row in found.values()] == [*[verdict] * 4, "not run"]
    assert [row["direction"] for row in found.values()] == ["", "same", "opposite", "same", ""]
    assert [value[name] for name in ("p", "margin", "verdict_half", "verdict_double")] == [""] * 4
    # the plain interval of the mean: t(0.975, 2) = 4.302653 * 0.1 / sqrt(3) = 0.248414
    assert (float(value["low"]), float(value["high"])) == pytest.approx((50.851586, 51.348414), abs=1e-6)
    assert float(same["p"]) < 1e-4  # an effect is tested against 0, not against the published number


def test_a_direction_is_unclear_where_the_interval_holds_zero(make_world: Make) -> None:
    world = make_world(level="quick")
    world.say("table5", at(), [50.0, 52.0, 54.0])
    world.say("table5", at(variant="cut3"), [50.5, 52.5, 54.5])
    world.measure("table5")
    assert world.judged(gain("g"))["g"]["direction"] == "unclear"


def test_at_the_published_scale_there_is_no_direction_apart(world: World) -> None:
    world.measure("table5")
    found = world.judged(gain("g"), gain("half", reported=20.0), gain("less", reported=-5.0))
    assert [row["verdict"] for row in found.values()] == ["reproduced", "direction only", "not reproduced"]
    assert {row["direction"] for row in found.values()} == {""}


def test_what_a_document_leaves_open_is_measured_and_not_judged(make_world: Make) -> None:
    for level in ("paper", "quick"):
        world = make_world(level=level)
        world.say("open", at(measure="linear_top1"), [51.0, 51.1, 51.2])
        world.measure("open")
        found = world.judged(
            claim("v", artifact="open", metric="linear_top1"),
            gain("g", artifact="open", metric="linear_top1"),
        )
        assert {row["verdict"] for row in found.values()} == {"cannot be judged"}, level
        assert float(found["v"]["measured"]) == pytest.approx(51.1)
        assert (found["v"]["verdict_half"], found["v"]["verdict_double"]) == ("", "")


def test_origin_and_reading_are_kept(world: World) -> None:
    world.measure("table5")
    found = world.judged(claim("p"), claim("c", origin="corrected", reading="N1"), claim("o", origin="ours"))
    assert [(row["origin"], row["reading"]) for row in found.values()] == [
        ("printed", "as printed"),
        ("corrected", "N1"),
        ("ours", "as printed"),
    ]


def test_unstated_counts_what_is_open_for_all_and_for_the_method(world: World) -> None:
    world.measure("table5")
    found = world.judged(claim("d"), claim("f", method="simsiam", variant="cut9", dataset="flowers"))
    assert (found["d"]["unstated"], found["f"]["unstated"]) == ("2", "3")  # all: 2; simsiam: 1 more


@pytest.mark.parametrize(("level", "verdict"), [("paper", "inconclusive"), ("quick", "quick only")])
def test_runs_that_all_diverged_are_not_a_measurement(make_world: Make, level: str, verdict: str) -> None:
    world = make_world(level=level)
    world.say("table5", at(), [51.0, 51.1, 51.2])
    world.say("table5", at(variant="cut3"), [None, None, None])
    world.measure("table5")
    for row in world.judged(claim("c", variant="cut3"), gain("g")).values():
        assert (row["measured"], row["n"], row["verdict"], row["p"]) == ("", "0", verdict, "")
        assert row["n_diverged"] == "3"


def test_all_runs_of_the_scale_are_listed_beside_the_claims(world: World) -> None:
    world.write()
    world.measure("table5")
    world.judged(claim("d"))
    listed = (world.plan.config.results / "statistics" / "runs.csv").read_text().splitlines()
    assert len(listed) == 1 + len(world.plan.runs)


WRONG: list[tuple[list[dict[str, Any]], str]] = [
    ([gain("g", reported="")], r"norms/claims\.csv: g: needs exactly one value claim for 'method=simclr;.*' of table5"),
    ([claim("d"), claim("d")], r"norms/claims\.csv: line 3: id: 'd' is given twice"),
    ([claim("d", reported="fifty")], r"norms/claims\.csv: line 2 \(d\)\.reported: "),
    ([claim("d", reported="")], r"norms/claims\.csv: d: reported: a value claim needs"),
    ([claim("d", metric="knn")], r"norms/claims\.csv: line 2 \(d\)\.metric: "),
    ([claim("d", kind="vlaue")], r"norms/claims\.csv: line 2 \(d\)\.kind: "),
    ([claim("d", setting="epoch 50")], r"norms/claims\.csv: line 2 \(d\)\.setting: 'epoch 50' is not key=value"),
]


@pytest.mark.parametrize(("rows", "message"), WRONG)
def test_a_wrong_claim_is_one_sentence(make_world: Make, rows: list[dict[str, Any]], message: str) -> None:
    world = make_world(seeds=[0])
    with pytest.raises(HypersphereError, match=message):
        world.judged(*rows)
    assert not (world.plan.config.results / "claims.csv").exists()


def test_the_published_claims_all_load() -> None:
    for file in sorted((REPOSITORY / "config" / "papers").glob("*/claims.csv")):
        assert load(file), file
    found = load(REPOSITORY / "config" / "papers" / "embedding_norms" / "claims.csv")
    gains = {one.id: one.reported for one in found if one.kind == "comparison"}
    # Table 5 as printed: 61.1 - 56.5 and 39.9 - 22.5
    assert gains["norms.t5.simclr.cut3_gain.cifar10_lt"] == 4.6
    assert gains["norms.t5.simsiam.cut9_gain.flowers102_lt"] == 17.4


# What cannot be fooled (docs/statistics.md)


SEVEN = [0, 1, 2, 3, 4, 5, 6]
BASELINE = [51.0, 51.1, 51.2, 50.9, 51.0, 51.1, 51.2]
CUT = [value + 5 for value in BASELINE]


@pytest.mark.parametrize(
    ("lost", "verdict"),
    [(0, "reproduced"), (1, "reproduced"), (2, "inconclusive")],  # 1 of 7 is less than a fifth, 2 of 7 is more
)
@pytest.mark.parametrize("arm", ["variant", "baseline"])
def test_an_arm_that_lost_more_than_a_fifth_to_divergence_settles_nothing(
    make_world: Make, lost: int, verdict: str, arm: str
) -> None:
    world = make_world(seeds=SEVEN)
    shortened = {"variant": CUT, "baseline": BASELINE}
    shortened[arm] = [*shortened[arm][lost:], *[None] * lost]
    world.say("table5", at(), shortened["baseline"])
    world.say("table5", at(variant="cut3"), shortened["variant"])
    for variant in ("default", "cut9"):
        world.say("table5", at(method="simsiam", variant=variant), BASELINE)
    world.measure("table5")
    rows = [claim("d", reported=51.1), claim("c", variant="cut3", reported=56.1), gain("g", reported="")]
    found = world.judged(*rows)
    assert (found["g"]["verdict"], found["g"]["n_diverged"]) == (verdict, str(lost))
    assert {"variant": found["c"], "baseline": found["d"]}[arm]["verdict"] == verdict


def test_one_run_in_an_arm_settles_no_comparison(make_world: Make) -> None:
    """However many runs the other rows have, whose spread could be pooled; with two runs it is settled: the control."""
    for second, verdict in ((None, "inconclusive"), (56.1, "reproduced")):
        world = make_world(seeds=[0, 1, 2])
        _say(world)
        world.say("table5", at(variant="cut3"), [56.0, second, None])
        world.root.joinpath("config", "statistics.yaml").write_text(
            world.root.joinpath("config", "statistics.yaml")
            .read_text()
            .replace("most_diverged: 0.2", "most_diverged: 0.9")
        )
        world.measure("table5")
        rows = [claim("d"), claim("c", variant="cut3", reported=57.3), gain("g", reported="")]
        assert world.judged(*rows)["g"]["verdict"] == verdict


def test_collapsed_arms_turn_no_inconclusive_comparison_into_a_reproduced_one(make_world: Make) -> None:
    """Two runs an arm, 1 apart, and an effect of 2.5: t(2) is 3.54, which the declared family of eight does not allow.

    Pooled over eight more degrees of freedom of collapsed arms it would be t(10) with a third of the variance.
    """
    verdicts = {}
    for name, seeds in (("alone", [0, 1]), ("beside", [0, 1])):
        world = make_world(seeds=seeds)
        world.say("table5", at(), [50.0, 51.0])
        world.say("table5", at(variant="cut3"), [52.5, 53.5])
        for variant in ("default", "cut9"):
            simsiam = [10.0, 10.0] if name == "beside" else [None, None]
            world.say("table5", at(method="simsiam", variant=variant), simsiam)
        world.measure("table5")
        row = world.judged(claim("d"), claim("c", variant="cut3", reported=57.3), gain("g", reported=""))["g"]
        verdicts[name] = (row["verdict"], row["p"], row["low"], row["high"])
    assert verdicts["alone"][0] == "inconclusive"
    assert verdicts["beside"] == verdicts["alone"]


def _rows(world: World, **values: list[float | None]) -> None:
    """Of table5: ``simclr_cut3=[…]`` and so on; the others of ten vary by 0.1."""
    for row in ROWS:
        method, variant = row.split(".")
        said = values.get(f"{method}_{variant}", [60.0 + 0.1 * (seed % 2) for seed in range(len(world.seeds))])
        world.say("table5", at(method=method, variant=variant), said)
    world.measure("table5")


def test_a_noisy_row_does_not_hide_among_tight_ones(make_world: Make) -> None:
    """Standard deviation 2.5: of three runs alone, t(0.95, 2) * 2.5 * sqrt(4/3) = 8.4, and not 1.5."""
    world = make_world()
    _rows(world, simclr_cut3=[53.5, 56.0, 58.5])
    row = world.judged(claim("c", variant="cut3", reported=56.0))["c"]
    assert row["verdict"] == "inconclusive"
    assert float(row["high"]) - 56 == pytest.approx(stats.t.ppf(0.95, 2) * 2.5 * (4 / 3) ** 0.5)
    # A printed row is no surer than the table is: beside a tight row of ours the pooled spread is the printed run's.
    tight = world.judged(claim("d", reported=60.03))["d"]
    pooled = ((2.5**2 + 3 * (0.01 / 3)) / 4) ** 0.5  # 0, 0.1 and 0 have the variance 0.01 / 3
    error = (0.01 / 3 / 3 + pooled**2) ** 0.5
    assert float(tight["high"]) - float(tight["measured"]) == pytest.approx(stats.t.ppf(0.95, 2) * error)


def test_a_value_of_one_run_settles_nothing(make_world: Make) -> None:
    """Two others diverged; the spread of the other rows is not its own. With two runs it may be: the control."""
    for second, n, verdict in ((None, "1", "inconclusive"), (61.1, "2", "reproduced")):
        world = make_world(seeds=[0, 1])
        rules = world.root / "config" / "statistics.yaml"
        rules.write_text(rules.read_text().replace("most_diverged: 0.2", "most_diverged: 0.9"))
        _rows(world, simclr_cut3=[61.0, second])
        row = world.judged(claim("c", variant="cut3", reported=61.05))["c"]
        assert (row["n"], row["verdict"]) == (n, verdict)
        assert row["why"] == ("one run has no spread" if second is None else "the spread is also that of other rows")


@pytest.mark.parametrize(
    ("baseline", "variant", "printed", "verdict", "why"),
    [
        ([51.0, 51.1, 51.2], [56.0, 56.1, 56.2], 5.0, "reproduced", ""),
        ([51.0, 51.1, 51.2], [56.0, 56.1, 56.2], 2.0, "direction only", "above 2 times the printed effect"),
        ([51.0, 51.1, 51.2], [90.5, 90.6, 90.7], 0.4, "direction only", "above 2 times the printed effect"),
        ([10.0, 10.1, 10.2], [50.0, 50.1, 50.2], 40.0, "direction only", "the baseline is not shown to be better"),
        ([56.0, 56.1, 56.2], [10.0, 10.1, 10.2], -46.0, "reproduced", ""),  # a loss to the level of chance is one
        ([10.0, 10.0, 10.0], [10.0, 10.0, 40.0], 10.0, "inconclusive", ""),
    ],
)
def test_a_gain_needs_a_baseline_that_learnt_and_the_printed_size(
    make_world: Make, baseline: list[float], variant: list[float], printed: float, verdict: str, why: str
) -> None:
    world = make_world()
    _rows(world, simclr_default=baseline, simclr_cut3=variant)
    row = world.judged(gain("g", reported=printed))["g"]
    assert row["verdict"] == verdict
    assert row["why"].startswith(why)
    assert bool(row["why"]) == bool(why)


@pytest.mark.parametrize("level", ["paper", "laptop"])
@pytest.mark.parametrize(
    ("arm", "shown"),
    [
        ([60.0, 60.1, 60.2], True),
        ([10.0, 10.1, 10.2], False),  # below the untrained encoder's 40 to 46
        ([60.0, 60.0, 60.0], False),  # which vary by nothing
    ],
)
def test_two_collapsed_arms_show_no_absence_of_an_effect(
    make_world: Make, arm: list[float], shown: bool, level: str
) -> None:
    world = make_world(level=level)
    _rows(world, simclr_default=arm, simclr_cut3=[value + 0.01 * place for place, value in enumerate(arm)])
    same = {"reported": "", "direction": "equal"}
    row = world.judged(claim("d"), claim("c", variant="cut3", reported=51.2), gain("g", **same))["g"]
    expected = {"paper": ("reproduced" if shown else "inconclusive", "")}
    expected |= {"laptop": ("laptop only", "same" if shown else "unclear")}
    assert (row["verdict"], row["direction"]) == expected[level]
    assert ("is not shown to be better than its control" in row["why"]) != shown


@pytest.mark.parametrize(("level", "judged"), [("paper", True), ("laptop", False)])
@pytest.mark.parametrize(("missing", "diverged", "settles"), [(0, 0, True), (1, 0, True), (2, 0, False), (1, 1, False)])
def test_seeds_that_are_missing_count_like_diverged_ones(
    make_world: Make, level: str, judged: bool, missing: int, diverged: int, settles: bool
) -> None:
    """Of seven, as records of only the good ones: one less is said, two settle nothing."""
    world = make_world(level=level, seeds=SEVEN)
    cells = world.plan.artifacts["norms", "table5"]
    left = {at(variant="cut3"): missing}
    for place, cell in enumerate(cells):
        if left.get(cell.text):
            left[cell.text] -= 1
            cells[place] = replace(cell, missing="no record of this run")
    values: list[float | None] = [*CUT[: 7 - diverged], *[None] * diverged]
    _rows(world, simclr_default=[*BASELINE], simclr_cut3=values)
    found = world.judged(claim("c", variant="cut3", reported=56.1), gain("g"))
    effect = world.table("table5", "effects").loc[at(variant="cut3")]
    assert (effect["n_declared"], effect["n_missing"]) == (7, missing)
    for row, declared in ((found["c"], 7), (found["g"], 14)):
        assert (row["n"], row["n_declared"], row["n_missing"]) == (str(7 - missing - diverged), "7", str(missing))
        assert (f"{missing} of {declared} seeds missing" in row["why"]) == (missing > 0)
        assert (claims.TOO_FEW in row["why"]) == (judged and not settles)
        assert row["verdict"] == (("reproduced" if settles else "inconclusive") if judged else "laptop only")
