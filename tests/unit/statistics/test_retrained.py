"""A run that was trained again: its verdict, from records made by hand, and what bounds the noise."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hypersphere.config.records import Measurement, Record
from hypersphere.statistics import retrained
from hypersphere.statistics.retrained import Verdict

from ...golden.released import released

RUN = next(iter(released("laptop").runs.values()))
WEIGHTS = {"encoder.safetensors": "1" * 64, "history.csv": "2" * 64}
OTHER_WEIGHTS = {"encoder.safetensors": "3" * 64, "history.csv": "4" * 64}
HERE = {
    "python": "3.11.7",
    "packages": {"torch": "2"},
    "machine": "x86_64",
    "processor_flags": ["avx"],
}
ELSEWHERE = HERE | {"processor_flags": ["avx", "avx512f"]}


def answer(
    value: float | None, measure: str = "knn_top1", epoch: int = 4, **fields: Any
) -> Measurement:
    about = {
        "protocol": "p",
        "epoch": epoch,
        "target": "ten",
        "measure": measure,
        "reading": "",
        "value": value,
    }
    about |= {"n_test": 9, "classes": 2, "status": "finished", "by": "b"}
    return Measurement.model_construct(**about | fields)


def record(*answers: Measurement, seed: int = 0, loss: float | None = 1.0, **fields: Any) -> Record:
    run = RUN.of_seed(seed)
    about: dict[str, Any] = {
        "name": run.name,
        "run": run,
        "status": "finished",
        "epochs": 4,
        "files": WEIGHTS,
    }
    about |= {
        "code": "c",
        "data": "d",
        "device": {"type": "cpu"},
        "numerics": {"precision": "float32"},
    }
    about |= {"environment": HERE, "evaluations": [*answers]}
    history = [{"epoch": 4.0, "loss": loss, "norm": 2.0, "learning_rate": 0.1}]
    return Record.model_construct(**about | {"history": history} | fields)


def seeds(*values: float) -> list[Record]:
    """A record a value, each of a seed of its own; their losses are 1, 2, 3 …"""
    return [record(answer(value), seed=at, loss=1.0 + at) for at, value in enumerate(values)]


def test_the_bound_is_that_of_the_difference_of_two_seeds() -> None:
    """Of 1, 2 and 3 the standard deviation is 1, and t(2) is 4.303 at 97.5 %; of two numbers together, 98.75 %."""
    assert retrained.bound([1.0, 2.0, 3.0], 1) == pytest.approx(math.sqrt(2) * 4.302653, rel=1e-6)
    assert retrained.bound([1.0, 2.0, 3.0], 2) == pytest.approx(
        math.sqrt(2) * stats.t.ppf(1 - 0.05 / 4, 2)
    )
    assert retrained.bound([10.0, 20.0, 30.0], 1) == pytest.approx(
        10 * retrained.bound([1.0, 2.0, 3.0], 1)
    )
    assert retrained.bound([5.0, 5.0], 1) == 0.0
    assert math.isnan(retrained.bound([5.0], 1))


@pytest.mark.parametrize(("n", "together"), [(3, 1), (3, 4), (10, 4)])
def test_what_differs_by_another_seed_alone_is_called_different_at_most_once_in_twenty(
    n: int, together: int
) -> None:
    drawn = np.random.default_rng(0)
    outside = 0
    for _ in range(2000):
        values = drawn.standard_normal((together, n))
        again = drawn.standard_normal(together)
        bounds = [retrained.bound(list(of), together) for of in values]
        outside += bool((np.abs(again - values[:, 0]) > bounds).any())
    assert 0 < outside <= 0.05 * 2000


def test_equal_bytes_and_numbers_are_the_same_bytes_whatever_made_them() -> None:
    recorded = record(answer(50.0))
    for again in (recorded, record(answer(50.0), environment=ELSEWHERE, code="e")):
        assert retrained.compare(recorded, again, []).verdict is Verdict.SAME_BYTES


def test_equal_bytes_of_which_a_number_is_another_are_different() -> None:
    """No noise of training is between them: a value was altered, or is measured in another way."""
    found = retrained.compare(record(answer(50.0)), record(answer(50.2)), seeds(40.0, 50.0, 60.0))
    assert (found.verdict, found.files) == (Verdict.DIFFERENT, [])
    # The control: what pages show with one decimal is the same.
    assert (
        retrained.compare(record(answer(50.0)), record(answer(50.04)), []).verdict
        is Verdict.SAME_BYTES
    )


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(60.8, Verdict.SAME_WITHIN_NOISE), (60.9, Verdict.DIFFERENT), (39.1, Verdict.DIFFERENT)],
)
def test_other_bytes_of_another_machine_are_judged_by_the_seeds(
    value: float, verdict: Verdict
) -> None:
    """The seeds 49, 50 and 51 have s = 1; of three numbers (this one, loss, norm) t(2) is 7.65, and the bound 10.8."""
    recorded, known = record(answer(50.0)), seeds(49.0, 50.0, 51.0)
    again = record(answer(value), files=OTHER_WEIGHTS, environment=ELSEWHERE)
    found = retrained.compare(recorded, again, known)
    first = next(one for one in found.numbers if one.words.startswith("knn_top1"))
    assert first.bound == pytest.approx(math.sqrt(2) * stats.t.ppf(1 - 0.05 / 6, 2))
    assert found.verdict is verdict
    assert found.files == ["encoder.safetensors", "history.csv"]
    assert found.other == ["processor_flags"]
    assert found.numbers[0] == first  # it differs most


def test_other_bytes_are_different_where_equal_ones_are_promised_and_cannot_tell_without_another_seed() -> (
    None
):
    recorded, again = record(answer(50.0)), record(answer(50.1), files=OTHER_WEIGHTS)
    assert retrained.compare(recorded, again, seeds(49.0, 50.0, 51.0)).verdict is Verdict.DIFFERENT
    other_code = record(answer(50.1), files=OTHER_WEIGHTS, code="e", loss=1.5)
    # the norm is known
    assert retrained.compare(recorded, other_code, [recorded]).verdict is Verdict.SAME_WITHIN_NOISE
    found = retrained.compare(
        recorded, record(answer(50.1), files=OTHER_WEIGHTS, code="e", loss=1.5), []
    )
    assert {one.within for one in found.numbers} == {None, True}


def test_a_run_that_ends_otherwise_is_different_and_a_lost_number_is_counted() -> None:
    recorded = record(answer(50.0), answer(60.0, measure="linear_top1"), answer(9.0, epoch=0))
    diverged = record(
        answer(None, status="diverged"), files=OTHER_WEIGHTS, code="e", status="diverged", loss=None
    )
    found = retrained.compare(recorded, diverged, seeds(49.0, 50.0, 51.0))
    assert found.verdict is Verdict.DIFFERENT
    assert found.lost == 1
    assert {one.words for one in found.numbers} == {
        "knn_top1 of epoch 4 on ten",
        "loss of epoch 4",
        "norm of epoch 4",
    }
    both = retrained.compare(
        diverged, record(answer(None), files=WEIGHTS, status="diverged", loss=None), []
    )
    assert both.verdict is Verdict.SAME_WITHIN_NOISE


def test_seeds_are_those_of_the_same_run_and_precision_that_finished_one_record_each() -> None:
    mine = seeds(49.0, 50.0, 51.0)
    known = {one.name: (one,) for one in mine}
    known[mine[1].name] = (mine[1], record(answer(40.0), seed=1, environment=ELSEWHERE))
    strange = next(
        run
        for run in released("laptop").runs.values()
        if run.of_seed(0).name != RUN.of_seed(0).name
    )
    others = [
        record(answer(1.0), name=strange.name, run=strange),
        record(answer(1.0), seed=7, numerics={"precision": "bfloat16"}),
        record(answer(None), seed=8, status="diverged"),
    ]
    known |= {one.name: (one,) for one in others}
    assert retrained.seeds_of(mine[0], known) == mine
    assert retrained.processors_of([*mine, record(environment=ELSEWHERE)]) == 2


def test_an_older_record_that_says_less_of_its_machine_is_compared_by_what_it_says() -> None:
    again = record(environment=HERE | {"instructions": "AVX2", "cores": 64}, data="e")
    assert retrained.made_with_other(record(), again) == ["data"]
    told = record(
        environment=HERE | {"instructions": "AVX512"},
        numerics={"precision": "float32", "compile": False},
    )
    assert retrained.made_with_other(told, again) == ["data", "instructions"]
    assert retrained.made_with_other(record(numerics={"precision": "bfloat16"}), again) == [
        "data",
        "numerics",
    ]


@pytest.mark.parametrize(
    ("recorded", "again", "noise", "difference", "within"),
    [
        (50.0, 50.5, math.nan, 0.5, True),  # no more than the last decimal shows
        (50.0, 51.0, math.nan, 1.0, None),
        (50.0, 51.0, 1.0, 1.0, True),
        (50.0, 48.5, 1.0, 1.5, False),
        (50.0, 50.75, 0.25, 0.75, False),
        (None, None, 1.0, 0.0, True),
        (None, 50.0, 1.0, math.inf, False),
        (50.0, None, 1.0, math.inf, False),
    ],
)
def test_a_difference_says_nothing_within_the_noise_or_below_the_last_decimal(
    recorded: float | None,
    again: float | None,
    noise: float,
    difference: float,
    within: bool | None,
) -> None:
    number = retrained.Number("accuracy", recorded, again, least=0.5, noise=noise)
    assert (number.difference, number.within) == (difference, within)
    assert number.bound == pytest.approx(max(noise, 0.5), nan_ok=True)


def test_numbers_outside_their_bounds_come_first_and_then_those_without_a_bound() -> None:
    """Of numbers within theirs, the one that uses most of its bound; the seeds 49, 50 and 51 bound every measure."""
    measures = ["knn_top1", "linear_top1", "transfer_top1", "norm"]

    def measured(*values: float, seed: int = 0, **fields: Any) -> Record:
        answers = [
            answer(value, measure=name) for name, value in zip(measures, values, strict=False)
        ]
        return record(*answers, seed=seed, **fields)

    recorded = measured(50.0, 50.0, 50.0, 50.0)
    again = measured(50.5, 90.0, 51.0, 51.0, files=OTHER_WEIGHTS, environment=ELSEWHERE)
    known = [measured(value, value, value, seed=at) for at, value in enumerate((49.0, 50.0, 51.0))]
    found = retrained.compare(recorded, again, known)
    of_probes = [one.words.split()[0] for one in found.numbers if " on " in one.words]
    assert of_probes == ["linear_top1", "norm", "transfer_top1", "knn_top1"]
    assert [one.within for one in found.numbers[:4]] == [False, None, True, True]
