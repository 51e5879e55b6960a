"""Runs share jobs: none is lost, a method's stay together, and jobs have about equal numbers."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hypersphere.config.plan import batch_of, pool, split


@dataclass(frozen=True)
class Fake:
    """As much of a run as batches look at."""

    name: str
    method: SimpleNamespace
    dataset: SimpleNamespace


def runs(**of_method: int) -> list[Any]:
    cats = SimpleNamespace(name="cats")
    return [
        Fake(f"{method}{seed}", SimpleNamespace(name=method), cats)
        for method, number in of_method.items()
        for seed in range(number)
    ]


def methods(jobs: list[list[Any]]) -> list[str]:
    return ["+".join(sorted({run.method.name for run in job})) for job in jobs]


@pytest.mark.parametrize(
    ("given", "size", "expected"),
    [
        ({"a": 4}, 15, ["a"]),
        ({"a": 6, "b": 4}, 6, ["a", "b"]),  # half of ten is five: b would make the first job larger
        ({"a": 2, "b": 2, "c": 2, "d": 2}, 15, ["a+b+c+d"]),
        ({"a": 2, "b": 2, "c": 2, "d": 2}, 4, ["a+b", "c+d"]),
        ({"a": 31}, 15, ["a", "a", "a"]),
        ({"a": 1, "b": 1}, 1, ["a", "b"]),
    ],
)
def test_small_methods_share_a_job_and_large_ones_have_several(
    given: dict[str, int], size: int, expected: list[str]
) -> None:
    """Expected by hand."""
    jobs = split(runs(**given), size)
    assert methods(jobs) == expected
    assert [run for job in jobs for run in job] == runs(**given)
    assert all(1 <= len(job) <= size for job in jobs)


def test_small_groups_of_a_paper_and_dataset_share_jobs() -> None:
    """A job has nine runs at most, so that three are few and four are not."""
    few, others, many = runs(a=3), runs(b=1), runs(c=4)
    groups = {("cats", "p/fig1"): few, ("cats", "p/table1"): many, ("cats", "p/fig1 p/fig2"): others}
    assert pool(groups, 9) == [few + others, many]
    assert pool(groups, 1) == [few, many, others]  # the control: runs of hours


@pytest.mark.parametrize("other", [("dogs", "p/fig2"), ("cats", "q/fig2"), ("cats", "p/fig2 q/fig2")])
def test_small_groups_of_another_dataset_or_paper_do_not(other: tuple[str, str]) -> None:
    assert pool({("cats", "p/fig1"): runs(a=1), other: runs(b=1)}, 9) == [runs(a=1), runs(b=1)]


def test_the_runs_of_a_large_method_are_divided_evenly() -> None:
    assert [len(job) for job in split(runs(a=31), 15)] == [10, 10, 11]


def test_a_methods_runs_are_together_wherever_they_stood() -> None:
    a, b = runs(a=2), runs(b=2)
    assert split([a[0], b[0], a[1], b[1]], 2) == [a, b]


def test_the_id_says_the_method_or_how_many_and_the_dataset() -> None:
    one, two, other = batch_of(runs(a=2)), batch_of(runs(a=1, b=1)), batch_of(runs(a=3))
    assert one.id.startswith("a-cats-")
    assert two.id.startswith("2methods-cats-")
    assert len({one.id, two.id, other.id}) == 3
    assert one.runs == cast(Any, tuple(runs(a=2)))
