"""Tables of every shape give the same runs, and what cannot be told apart is refused in one sentence."""

import math
from pathlib import Path

import pytest

from hypersphere.judging.reading import Asked, Runs, read
from hypersphere.statistics.effects import Moments, Sample

from ...fixtures import Refused

EXPECTED = {"base": {0: 90.1, 1: 90.4}, "ours": {0: 91.9, 1: 92.1}}
TIDY = "arm,seed,value\nbase,0,90.1\nbase,1,90.4\nours,0,91.9\nours,1,92.1\n"
SHAPES = {
    "tidy": TIDY,
    "other names": TIDY.replace("arm,seed,value", "model,Random_Seed,test/top1"),
    "comments and blank lines": f"# made by hand\n\n{TIDY}\n",
    "semicolons and decimal commas": TIDY.replace(",", ";").replace(".", ","),
    "declared by a spreadsheet": "sep=;\n" + TIDY.replace(",", ";"),
    "tabs": TIDY.replace(",", "\t"),
    "percent signs": "arm,seed,value\nbase,0,90.1%\nbase,1,90.4 %\nours,0,91.9%\nours,1,92.1%\n",
    "a column for each arm": "seed,base,ours\n0,90.1,91.9\n1,90.4,92.1\n",
    "a column for each seed": "method,seed0,seed1\nbase,90.1,90.4\nours,91.9,92.1\n",
    "a metric of each line": "arm,seed,metric,value\nbase,0,a,90.1\nbase,1,a,90.4\nours,0,a,91.9\nours,1,a,92.1\n",
    "a course": "arm,seed,epoch,value\n"
    "base,0,1,10\nbase,0,2,90.1\nbase,1,2,90.4\nbase,1,1,12\nours,0,2,91.9\nours,1,2,92.1\nours,1,1,99\n",
}


def values(sample: Sample) -> dict[object, float]:
    assert not isinstance(sample, Moments)
    return dict(sample.items())


def runs_of(tmp_path: Path, text: str, **asked: object) -> Runs:
    file = tmp_path / "runs.csv"
    file.write_text(text, encoding="utf-8")
    return read(file, Asked("base")._replace(**asked))


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_runs(shape: str, tmp_path: Path) -> None:
    runs = runs_of(tmp_path, SHAPES[shape])
    assert {arm: values(of) for arm, of in runs.arms[""].items()} == EXPECTED
    assert runs.has_seeds


def test_datasets_are_apart_and_a_seed_may_be_written_as_a_float(tmp_path: Path) -> None:
    text = "arm,task,seed,acc\nbase,a,0.0,1\nbase,a,1.0,2\nours,a,0,3\nours,a,1,4\n"
    text += "base,b,0,5\nbase,b,1,6\nours,b,0,7\nours,b,1,8\n"
    runs = runs_of(tmp_path, text)
    assert list(runs.arms) == ["a", "b"]
    assert values(runs.arms["b"]["ours"]) == {0: 7.0, 1: 8.0}
    assert runs.measure == "acc"


def test_runs_without_seeds_are_never_paired(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, "arm,value\nbase,1\nbase,2\nours,3\nours,4\n")
    assert not runs.has_seeds
    keys = [set(values(of)) for of in runs.arms[""].values()]
    assert keys[0].isdisjoint(keys[1])


def test_lost_runs_are_counted_and_have_no_value(tmp_path: Path) -> None:
    runs = runs_of(
        tmp_path,
        "arm,seed,state,value\nbase,0,finished,1\nbase,1,finished,2\nours,0,FINISHED,3\nours,1,,4\nours,2,crashed,\n"
        "ours,3,finished,diverged\n",
    )
    assert runs.lost == {("", "ours"): 2}
    assert values(runs.arms[""]["ours"]) == {0: 3.0, 1: 4.0}


def test_a_published_table_has_moments_and_a_zero_is_rounded(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, "arm,mean,std,n\nbase,90.1 ± 9,0.00,5\nours,91,0.3,3\n")
    assert runs.arms[""] == {"base": Moments(5, 90.1, 0.005), "ours": Moments(3, 91.0, 0.3)}


def test_a_control_without_a_seed_leaves_the_others_theirs(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, TIDY + "pixels,,45.0\n", controls=("pixels",))
    assert runs.has_seeds
    assert values(runs.arms[""]["ours"]) == EXPECTED["ours"]


def test_a_run_that_diverged_on_its_course_or_never_had_a_value_is_lost_once(
    tmp_path: Path,
) -> None:
    course = SHAPES["a course"]
    diverged = runs_of(tmp_path, course + "ours,2,1,11\nours,2,2,diverged\n")
    silent = runs_of(tmp_path, course + "ours,2,1,\nours,2,2,\n")
    for runs in (diverged, silent):
        assert runs.lost == {("", "ours"): 1}
        assert values(runs.arms[""]["ours"]) == EXPECTED["ours"]


def test_a_column_without_a_name_counts_lines_and_is_no_arm(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, ",seed,base,ours\n0,0,90.1,91.9\n1,1,90.4,92.1\n")
    assert {arm: values(of) for arm, of in runs.arms[""].items()} == EXPECTED


def test_a_metric_may_be_a_column_of_its_own(tmp_path: Path) -> None:
    text = "arm,seed,acc,loss\nbase,0,90.1,1\nbase,1,90.4,2\nours,0,91.9,3\nours,1,92.1,4\n"
    runs = runs_of(tmp_path, text, metric="acc")
    assert runs.measure == "acc"
    assert values(runs.arms[""]["ours"]) == EXPECTED["ours"]


def test_a_published_control_may_be_one_number(tmp_path: Path) -> None:
    text = "arm,mean,std,n\nbase,90,0.2,5\nours,91,0.3,3\npixels,45.0,,1\n"
    pixels = runs_of(tmp_path, text, controls=("pixels",)).arms[""]["pixels"]
    assert isinstance(pixels, Moments)
    assert (pixels.n, pixels.mean, math.isnan(pixels.std)) == (1, 45.0, True)


def test_a_course_says_where_runs_ended(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, SHAPES["a course"].replace("ours,1,2", "ours,1,3"))
    assert runs.last_steps == {("", "base"): {2.0}, ("", "ours"): {2.0, 3.0}}


REFUSED: dict[str, tuple[str, str, dict[str, object]]] = {
    "no baseline": ("arm,seed,value\na,0,1\na,1,2\n", "no column holds the baseline", {}),
    "two columns of arms": (
        "arm,group,value\nbase,base,1\nours,base,2\n",
        "columns arm and group",
        {},
    ),
    "two columns of values": (
        "arm,seed,acc,loss\nbase,0,1,2\nours,0,2,3\n",
        "columns acc, loss",
        {},
    ),
    "no column of values": ("arm,seed\nbase,0\nbase,1\n", "value", {}),
    "a column that is not there": (TIDY, "column 'x'", {"columns": {"value": "x"}}),
    "one run": ("arm,seed,value\nbase,0,1\nbase,1,2\nours,0,3\n", "arm 'ours'", {}),
    "nan": (TIDY.replace("92.1", "nan"), "line 5: value", {}),
    "empty": (TIDY.replace("92.1", ""), "line 5: value", {}),
    "too large": (TIDY.replace("92.1", "1e31"), "line 5: value", {}),
    "too small": (TIDY.replace("92.1", "-1e-31"), "line 5: value", {}),
    "a unit": (TIDY.replace("92.1", "92.1s"), "line 5: value", {}),
    "text": (TIDY.replace("92.1", "good"), "line 5: value", {}),
    "percent beside a number without a sign": (TIDY.replace("92.1", "92.1%"), "line 2: value", {}),
    "a share beside percents": (TIDY.replace("92.1", "0.921"), "line 5", {}),
    "a seed twice": (TIDY.replace("ours,1", "ours,0"), "line 5", {}),
    "a control that is nowhere": (TIDY, "control 'pixels'", {"controls": ("pixels",)}),
    "a seed twice, as a float": (TIDY.replace("ours,1", "ours,0.0"), "line 5", {}),
    "a seed for some": (TIDY.replace("ours,1", "ours,"), "line 5", {}),
    "an arm without a name": (TIDY + ",3,1\n", "line 6: arm", {}),
    "a metric that is no column": (TIDY, "column 'loss'", {"metric": "loss"}),
    "no other arm": ("arm,seed,value\nbase,0,1\nbase,1,2\n", "", {}),
    "several metrics": (
        "arm,seed,metric,value\nbase,0,a,1\nbase,0,b,1\nours,0,a,1\nours,0,b,1\n",
        "column 'metric'",
        {},
    ),
    "a metric that is not there": (
        SHAPES["a metric of each line"],
        "column 'metric'",
        {"metric": "b"},
    ),
    "a dataset without its baseline": (
        "arm,dataset,seed,value\nbase,a,0,1\nbase,a,1,2\nours,a,0,1\nours,a,1,2\nours,b,0,1\nours,b,1,2\n",
        "dataset 'b'",
        {},
    ),
    "a course without seeds": (
        "arm,epoch,value\nbase,1,1\nbase,2,2\nours,1,1\nours,2,2\n",
        "line 2",
        {},
    ),
    "a short line": (TIDY + "ours,3\n", "line 6", {}),
    "two columns of one name": ("arm,arm\nbase,1\n", "column 'arm'", {}),
    "a quote that never ends": (TIDY + '"ours,3,1\n', "line 6", {}),
    "only a header": ("arm,seed,value\n", "", {}),
    "nothing": ("", "", {}),
    "negative deviation": (
        "arm,mean,std,n\nbase,1,-1,3\nours,2,1,3\n",
        "line 2: std",
        {},
    ),
    "an arm of means twice": ("arm,mean,std,n\nbase,1,1,3\nbase,2,1,3\n", "line 3", {}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_judged_is_refused(case: str, tmp_path: Path, refused: Refused) -> None:
    text, field, asked = REFUSED[case]
    place = ("runs.csv", field) if field else ("runs.csv",)
    with refused(*place):
        runs_of(tmp_path, text, **asked)


def test_a_binary_file_is_refused(tmp_path: Path, refused: Refused) -> None:
    for content in (b"\x80\x04\x95", b"PK\x03\x04\x00"):
        (tmp_path / "runs.csv").write_bytes(content)
        with refused("runs.csv"):
            read(tmp_path / "runs.csv", Asked("base"))


def test_small_numbers_are_no_shares(tmp_path: Path) -> None:
    """The control: a collapsed run among percents, and losses below and above 1."""
    for value in ("0.1", "1", "0"):
        runs = runs_of(tmp_path, TIDY.replace("92.1", value))
        assert math.isclose(values(runs.arms[""]["ours"])[1], float(value))
