"""A misspelt key is one sentence with the key as written and the nearest allowed one; the right source is blamed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere.config import plan as planning
from hypersphere.config import project as cfg
from hypersphere.config.plan import Plan
from hypersphere.config.validation import either, find, nearest, not_one_of, unknown_key
from hypersphere.errors import HypersphereError

Project = Callable[..., Path]


# The command line


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"scale": "smal"}, "scale: 'smal' is not one of small; did you mean small?"),
        ({"only": ["p/tabel"]}, "only: 'p/tabel' is not one of p/table; did you mean p/table?"),
        ({"only": "q"}, "only: 'q' is not one of p"),
        ({"device": "tpu"}, "device: input should be 'auto', 'cpu' or 'cuda' (given: 'tpu')"),
        ({"seed": [0]}, "seed is not a setting; did you mean seeds? Allowed: "),
        ({"nonsense": 1}, "nonsense is not a setting; allowed: "),
        ({"epochs": "many"}, "epochs: input should be a valid integer"),
        ({"overrides": [{"set": {"veiws": {}}}]}, "overrides.0.set.veiws: unknown; did you mean views? Allowed: "),
        ({"overrides": [{"set": {"objective": {"temprature": 1}}}]}, "overrides.0.objective.temprature: unknown; "),
        ({"overrides": [{"when": {"paper": "p"}, "set": {"batch": {"size": 3}}}]}, "overrides.0.batch"),
        ({"probes": {"knn": {"kk": 3}}}, "probes.knn.kk: unknown; "),
        ({"datasets": {"cats": "dgos"}}, "datasets.cats: 'dgos' is not one of birds, cats, dogs, few_cats"),
        ({"leaves_out": ["p/x"]}, "leaves_out: 'p/x' is not one of p/table"),
    ],
    ids=str,
)
def test_the_command_line_is_blamed_for_its_own(project: Project, overrides: dict[str, Any], words: str) -> None:
    with pytest.raises(HypersphereError) as caught:
        planning.make(project(), overrides)
    assert str(caught.value).startswith(f"command line: {words}")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"scale": "huge"}, "scale: 'huge' is not one of small"),
        ({"only": ["q"]}, "only: 'q' is not one of p"),
        ({"device": "tpu"}, "device: input should be "),
        ({"onyl": []}, "onyl: unknown; did you mean only?"),
    ],
    ids=str,
)
def test_the_file_is_blamed_for_its_own(project: Project, settings: Any, words: str) -> None:
    root = project(config=settings)
    file = root / "config" / "config.yaml"
    with pytest.raises(HypersphereError) as caught:
        planning.make(root, {})
    assert str(caught.value).startswith(f"{file}: {words}")


def test_where_each_value_was_set(project: Project) -> None:
    root = project()
    config = cfg.load(root, {"scale": "small", "device": "cpu", "epochs": 3})
    line = {key for key, source in config.sources.items() if source == cfg.COMMAND_LINE}
    assert line == {"scale", "device", "epochs"}
    assert config.sources["only"] == root / "config" / "config.yaml"
    assert config.sources["seeds"] == root / "config" / "scales" / "small.yaml"
    assert config.settings == cfg.Settings(scale="small", device="cpu")


# The words


def test_words() -> None:
    assert nearest("temprature", ["weight", "temperature"]) == ["temperature"]
    assert nearest("x", ["weight"]) == []
    assert not_one_of("simcrl", ["byol", "simclr"]) == "'simcrl' is not one of byol, simclr; did you mean simclr?"
    assert [either(["a"]), either(["a", "b"]), either(["a", "b", "c"])] == ["a", "a or b", "a, b or c"]
    assert not_one_of("x", []) == "'x' is not one of none"
    many = [f"name_{i}" for i in range(30)]
    assert not_one_of("x", many).startswith("'x' is not one of name_0, name_1, ")
    assert not_one_of("nam_1", many).startswith("'nam_1' is not one of 30 names; did you mean name_1, ")
    assert (
        unknown_key("temprature", ["temperature", "n"]) == "unknown; did you mean temperature? Allowed: temperature, n"
    )
    assert unknown_key("x", ["temperature", "n"]) == "unknown; allowed: temperature, n"
    assert unknown_key("x", ["n"], "nt_xent") == "unknown; nt_xent takes n"
    assert unknown_key("x", [], "nt_xent") == "unknown; nt_xent takes no parameters"


NAMES = ["simclr-cut3-cats-s0-0a1b2c3d", "simclr-cut3-cats-s0-ffff0000", "simclr-cut3-dogs-s10-11112222"]


@pytest.mark.parametrize(
    "name",
    ["simclr-cut3-dogs-s10-11112222", "simclr-cut3-dogs", "simclr-cut3-cats-s0-ffff0000"],
)
def test_the_digest_may_be_left_out_where_one_name_begins_so(name: str) -> None:
    (found,) = [one for one in NAMES if one.startswith(name)]
    assert find(name, NAMES, "run", "quick") == found


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "simclr-cut3-cats-s0",
            f"run 'simclr-cut3-cats-s0': 2 begin so at scale quick: {NAMES[0]}, {NAMES[1]}; name one",
        ),
        ("simclr-cut3-dogs-s1", f"no run 'simclr-cut3-dogs-s1' at scale quick; did you mean {NAMES[2]}"),
        (
            "simclr-cut3-cats-s0-ffff000",
            "no run 'simclr-cut3-cats-s0-ffff000' at scale quick; did you mean",
        ),
        ("x", "no run 'x' at scale quick; `hypersphere plan --verbose` lists those there are"),
        ("far-default", "run 'far-default-s0' is not made at scale quick: no loader for far yet"),
    ],
)
def test_what_is_not_one_name_is_a_sentence(name: str, sentence: str) -> None:
    with pytest.raises(HypersphereError) as caught:
        find(name, NAMES, "run", "quick", {"far-default-s0": "no loader for far yet"})
    assert str(caught.value).startswith(sentence)


def test_a_few_of_many_are_listed() -> None:
    with pytest.raises(HypersphereError, match=r"9 begin so at scale quick: a-0, a-1, a-2 and 6 more; name one$"):
        find("a", [f"a-{i}" for i in range(9)], "batch", "quick")


def test_a_plan_finds_its_runs_and_batches(planned: Callable[..., Plan]) -> None:
    plan = planned()
    for name, run in plan.runs.items():
        assert plan.run(name) == plan.run(name.rpartition("-")[0]) == run
    batch = plan.batches[0]
    assert plan.batch(batch.id) == plan.batch(batch.id.rpartition("-")[0]) == batch


def test_a_run_that_nothing_can_measure_has_its_reason(planned: Callable[..., Plan]) -> None:
    table = {"rows": {"method.variant": ["simclr.cut"]}, "columns": {"dataset": ["birds"]}, "measure": "knn_top1"}
    plan = planned(table=table)
    ((name, reason), *_) = plan.unmeasured.items()
    with pytest.raises(HypersphereError) as caught:
        plan.run(name)
    assert str(caught.value) == f"run '{name}' is not made at scale small: {reason}"
