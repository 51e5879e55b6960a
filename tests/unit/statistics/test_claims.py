"""claims.csv end to end on a small world. Expected numbers are worked by hand beside each test."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere.errors import HypersphereError
from hypersphere.statistics import build, claims

REPOSITORY = Path(__file__).parents[3]
STATED = [
    ("norms.ok", "norms", "as printed", 100, 90, 0, 3e-15, "", "no counterexample"),
    ("norms.bad", "norms", "as printed", 100, 90, 7, 0.25, '{"tau": 1.0, "excess": 0.25}', "refuted"),
    ("norms.bad", "norms", "N1", 100, 90, 0, 0.0, "", "no counterexample (erratum)"),
]
World = Any  # of conftest.py
Make = Callable[..., World]

DEFAULT = 'd,value,printed,table5,simclr,default,,ten,e,knn_top1,51.0,,as printed,,"Table 5"'
CUT = 'c,value,printed,table5,simclr,cut3,,ten,e,knn_top1,57.3,,as printed,,"Table 5"'
GAIN = 'g,comparison,printed,table5,simclr,cut3,default,ten,e,knn_top1,,,as printed,"a, gain","Table 5"'
FLOWERS = 'f,value,printed,table5,simsiam,cut9,,flowers,e,knn_top1,39.9,,as printed,,"Table 5"'


def judged(world: World, *rows: str) -> dict[str, dict[str, str]]:
    world.claims(*rows)
    build.build(world.plan, world.files)
    world.theory(*STATED)
    claims.build(world.plan)
    return {row["id"]: row for row in world.table("claims.csv").to_dict("records")}


def trained(world: World) -> World:
    # variances 0.01 and 0.01 over 2 df each: pooled std 0.1, df 4; effect 56.1 - 51.1 = 5
    world.finals("simclr.default", [51.0, 51.1, 51.2])
    world.finals("simclr.cut3", [56.0, 56.1, 56.2])
    return world


def test_columns_are_the_contract(make_world: Make) -> None:
    text = (REPOSITORY / "docs" / "results.md").read_text().split("## `claims.csv`")[1]
    listed = [part for i, part in enumerate(text.split("`")) if i in (1, 3)]
    contract = [name.strip() for part in listed for name in part.split(",")]
    world = make_world()
    judged(world, DEFAULT)
    assert list(world.table("claims.csv").columns) == contract


def test_values_at_the_published_scale(make_world: Make) -> None:
    found = judged(trained(make_world()), DEFAULT, CUT)
    close, far = found["d"], found["c"]
    # error 0.1 * sqrt(1/3 + 1) = 0.11547; t(0.95, 4) = 2.131847 from tables: half width 0.246164
    assert (close["verdict"], close["verdict_half"], close["verdict_double"]) == ("reproduced",) * 3
    assert float(close["measured"]) == pytest.approx(51.1)
    assert float(close["measured_std"]) == pytest.approx(0.1)
    assert (float(close["low"]), float(close["high"])) == pytest.approx((50.853836, 51.346164), abs=1e-6)
    assert (close["n"], close["margin"], close["low_power"]) == ("3", "1.5", "False")
    # 57.3 - 56.1 = 1.2: within 1.5 (1.446), wholly beyond 0.75 (95 %: 2.776445 * 0.11547 = 0.3206, 0.8794)
    assert (far["verdict"], far["verdict_half"], far["verdict_double"]) == (
        "reproduced",
        "not reproduced",
        "reproduced",
    )
    # t = 1.2 / 0.11547 = 10.3923 with 4 df; for 4 df P(|T| > t) = 1 - s (3 - s^2) / 2 with s = t / sqrt(t^2 + 4)
    s = 10.3923048 / (10.3923048**2 + 4) ** 0.5
    assert float(far["p"]) == pytest.approx(1 - s * (3 - s**2) / 2, rel=1e-5)


def test_a_comparison_reports_the_difference_of_two_printed_values(make_world: Make) -> None:
    row = judged(trained(make_world()), DEFAULT, CUT, GAIN)["g"]
    assert row["reported"] == "6.3"  # 57.3 - 51.0, without binary dust
    assert float(row["measured"]) == pytest.approx(5.0)
    assert (row["n"], row["verdict"], row["baseline"], row["sentence"]) == (
        "3",
        "reproduced",
        "default",
        "a, gain",
    )
    # one row in the family: Holm's interval is the 95 % one, 2.776445 * 0.1 * sqrt(2/3) = 0.226696
    assert (float(row["low"]), float(row["high"])) == pytest.approx((4.773304, 5.226696), abs=1e-6)
    assert (row["margin"], row["verdict_half"], row["measured_std"]) == ("", "", "")


def test_the_smaller_arm_is_the_n_of_a_comparison(make_world: Make) -> None:
    world = make_world()
    world.finals("simclr.default", [51.0, 51.1, 51.2])
    world.finals("simclr.cut3", [56.0, None, 56.2])
    assert judged(world, DEFAULT, CUT, GAIN)["g"]["n"] == "2"


@pytest.mark.parametrize(
    ("options", "verdict", "scale"),
    [
        ({"level": "quick"}, "quick only", "quick"),
        ({"level": "laptop"}, "laptop only", "laptop"),
        ({"level": "paper", "epochs": 3}, "laptop only", "paper-"),
    ],
)
def test_below_the_published_scale_nothing_is_compared(
    make_world: Make, options: dict[str, object], verdict: str, scale: str
) -> None:
    found = judged(trained(make_world(**options)), DEFAULT, CUT, GAIN, FLOWERS)
    value, gain = found["d"], found["g"]
    assert value["scale"].startswith(scale)
    assert [row["verdict"] for row in found.values()] == [verdict, verdict, verdict, "not run"]
    assert [value[name] for name in ("p", "margin", "verdict_half", "verdict_double")] == [""] * 4
    # the plain interval of the mean: t(0.975, 2) = 4.302653 * 0.1 / sqrt(3) = 0.248414
    assert (float(value["low"]), float(value["high"])) == pytest.approx((50.851586, 51.348414), abs=1e-6)
    # an effect is tested against 0, not against the published number: its p and interval stay
    assert float(gain["p"]) < 1e-4
    assert float(gain["low"]) == pytest.approx(4.773304, abs=1e-6)


def test_not_run_says_so_and_nothing_else(make_world: Make) -> None:
    row = judged(trained(make_world()), FLOWERS)["f"]
    assert (row["verdict"], row["n"], row["unstated"], row["measured_on"]) == ("not run", "0", "3", "")
    assert [row[k] for k in ("measured", "low", "high", "p", "low_power", "margin")] == [""] * 6


def test_unstated_counts_what_is_open_for_all_and_for_the_method(make_world: Make) -> None:
    found = judged(trained(make_world()), DEFAULT, FLOWERS)
    assert (found["d"]["unstated"], found["f"]["unstated"]) == ("2", "3")  # all: 2; simsiam: 1 more
    assert found["d"]["measured_on"] == "digits"


@pytest.mark.parametrize(("level", "verdict"), [("paper", "inconclusive"), ("quick", "quick only")])
def test_runs_that_all_diverged_are_not_a_measurement(make_world: Make, level: str, verdict: str) -> None:
    world = make_world(level=level)
    world.finals("simclr.default", [51.0, 51.1, 51.2])
    world.finals("simclr.cut3", [None, None, None])
    found = judged(world, DEFAULT, CUT, GAIN)
    for row in (found["c"], found["g"]):
        assert (row["measured"], row["n"], row["verdict"], row["p"]) == ("", "0", verdict, "")


def test_one_run_an_arm_is_inconclusive(make_world: Make) -> None:
    world = make_world(seeds=[0])
    world.finals("simclr.default", [51.0])
    world.finals("simclr.cut3", [56.0])
    found = judged(world, DEFAULT, CUT, GAIN)
    assert [row["verdict"] for row in found.values()] == ["inconclusive"] * 3
    assert found["g"]["measured"] == "5"
    assert found["d"]["low_power"] == "True"


def test_no_claim_is_settled_by_its_own_baseline_missing(make_world: Make) -> None:
    world = make_world()
    world.finals("simclr.cut3", [56.0, 56.1, 56.2])
    assert judged(world, DEFAULT, CUT, GAIN)["g"]["verdict"] == "not run"


def test_the_published_claims_all_load() -> None:
    found = claims.load(REPOSITORY / "paper" / "claims" / "embedding_norms.csv")
    gains = {claim.id: claim.reported for claim in found if claim.kind == "comparison"}
    # Table 5 as printed: 61.1 - 56.5 and 39.9 - 22.5
    assert gains["norms.t5.simclr.cut3_gain.cifar10_lt"] == 4.6
    assert gains["norms.t5.simsiam.cut9_gain.flowers102_lt"] == 17.4


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([CUT, GAIN], r"norms\.csv: g: needs exactly one value claim for 'default' of table5, simclr, ten"),
        ([DEFAULT, DEFAULT], r"norms\.csv: id: 'd' is given twice"),
        ([DEFAULT.replace("51.0", "fifty")], r"norms\.csv: line 2 \(d\)\.reported: "),
        ([DEFAULT.replace("51.0", "")], r"norms\.csv: d: reported: a value claim needs"),
        ([DEFAULT.replace("knn_top1", "knn")], r"norms\.csv: line 2 \(d\)\.metric: "),
        ([DEFAULT.replace(",value,", ",vlaue,")], r"norms\.csv: line 2 \(d\)\.kind: "),
    ],
)
def test_a_wrong_claim_is_one_sentence(make_world: Make, rows: list[str], message: str) -> None:
    world = make_world()
    with pytest.raises(HypersphereError, match=message):
        judged(world, *rows)
    assert not (world.plan.config.results / "claims.csv").exists()


def theorem(identifier: str, reading: str = "as printed") -> str:
    origin = "printed" if reading == "as printed" else "corrected"
    return f'{identifier},theorem,{origin},t_1,,,,,,,,,{reading},"it holds","Theorem 1"'


@pytest.mark.parametrize("level", ["quick", "paper"])
def test_a_theorem_has_the_verdict_of_its_own_reading_at_every_scale(make_world: Make, level: str) -> None:
    world = make_world(level=level)
    world.claims(theorem("norms.ok"))
    ok = judged(world, theorem("norms.ok"))["norms.ok"]
    assert (ok["kind"], ok["verdict"], ok["n"], ok["unstated"]) == ("theorem", "no counterexample", "0", "0")
    assert (ok["draws"], ok["met"], ok["violated"], ok["counterexample"]) == ("100", "90", "0", "")
    assert float(ok["measured"]) == 3e-15
    bad = judged(world, theorem("norms.bad"))["norms.bad"]
    assert (bad["verdict"], bad["violated"]) == ("refuted", "7")
    assert bad["counterexample"] == '{"tau": 1.0, "excess": 0.25}'
    assert judged(world, theorem("norms.bad", "N1"))["norms.bad"]["verdict"] == "no counterexample (erratum)"


@pytest.mark.parametrize("row", [theorem("norms.none"), theorem("norms.ok", "N9")])
def test_a_theorem_that_was_not_checked_is_one_sentence(make_world: Make, row: str) -> None:
    with pytest.raises(HypersphereError, match=r"norms\.csv: norms\.\w+: no statement of this id and reading '[\w ]+'"):
        judged(make_world(), row)
