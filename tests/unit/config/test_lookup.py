"""Names of runs and batches are found with or without their digest; an unknown one lists those that come near."""

from collections.abc import Callable

import pytest

from hypersphere.config.plan import Plan
from hypersphere.config.validation import find
from hypersphere.errors import HypersphereError

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
