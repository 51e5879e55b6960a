"""A misspelt key is one sentence with the key as written and the nearest allowed one; the right source is blamed."""

import pytest

from hypersphere.config.validation import either, find, nearest, not_one_of, unknown_key

from ...fixtures import Approve, Planned, Refused


def test_words(approve: Approve) -> None:
    assert nearest("temprature", ["weight", "temperature"]) == ["temperature"]
    assert nearest("x", ["weight"]) == []
    for some in (["a"], ["a", "b"], ["a", "b", "c"]):
        approve(either(some))
    many = [f"name_{i}" for i in range(30)]
    for wrong, known in (("simcrl", ["byol", "simclr"]), ("x", []), ("x", many), ("nam_1", many)):
        approve(not_one_of(wrong, known))
    approve(unknown_key("temprature", ["temperature", "n"]))
    for known in (["temperature", "n"], ["n"], []):
        approve(unknown_key("x", known))
        approve(unknown_key("x", known, "nt_xent"))


NAMES = ["simclr-cut3-cats-s0-0a1b2c3d", "simclr-cut3-cats-s0-ffff0000", "simclr-cut3-dogs-s10-11112222"]


def test_the_digest_may_be_left_out_where_one_name_begins_so() -> None:
    for name in ("simclr-cut3-dogs-s10-11112222", "simclr-cut3-dogs", "simclr-cut3-cats-s0-ffff0000"):
        (found,) = [one for one in NAMES if one.startswith(name)]
        assert find(name, NAMES, "run", "quick") == found


@pytest.mark.parametrize(
    "name", ["simclr-cut3-cats-s0", "simclr-cut3-dogs-s1", "simclr-cut3-cats-s0-ffff000", "x", "far-default", "a"]
)
def test_what_is_not_one_name_is_a_sentence(refused: Refused, name: str) -> None:
    """Of many that begin so, a few are listed."""
    known = [*NAMES, *(f"a-{i}" for i in range(9))]
    with refused():
        find(name, known, "run", "quick", {"far-default-s0": "no loader for far yet"})


def test_a_run_that_nothing_can_measure_has_its_reason(planned: Planned, refused: Refused) -> None:
    table = {"rows": {"method.variant": ["simclr.cut"]}, "columns": {"dataset": ["birds"]}, "measure": "knn_top1"}
    plan = planned(table=table)
    with refused():
        plan.run(next(iter(plan.unmeasured)))
