"""The parts of steps by a clock that the test moves, so that expected times are typed by hand."""

import pytest
import torch
from torch import Tensor, nn

from hypersphere.methods.base import Method
from hypersphere.speed import stopwatch
from hypersphere.speed.stopwatch import Stopwatch

CPU = torch.device("cpu")


class Clock:
    now = 0.0

    def perf_counter(self) -> float:
        return self.now


class Images:
    """A source whose draws take 11 s and whose views take 2."""

    labels = torch.zeros(4, dtype=torch.int64)
    at_once = 4

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def start(self, epoch: int) -> None:
        self.clock.now += 11

    def views(self, index: Tensor) -> Tensor:
        self.clock.now += 2
        return torch.ones(2, len(index))


class Slow(Method):
    """A method whose forward pass takes 3 s."""

    def __init__(self, clock: Clock) -> None:
        nn.Module.__init__(self)
        self.clock = clock
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, views: Tensor) -> Tensor:
        self.clock.now += 3
        return (self.weight * views).sum()


class Mover(torch.optim.SGD):
    """An optimiser whose update takes 7 s."""

    clock: Clock

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        self.clock.now += 7


def steps(clock: Clock, watch: Stopwatch, count: int) -> None:
    """Steps in two passes, each of whose backward passes takes 5 s; 1 s after each step is for the rest."""
    method = Slow(clock)
    optimiser = Mover(method.parameters(), lr=0.0)
    optimiser.clock = clock
    for step in range(count):
        if step % 2 == 0:
            watch.start(step // 2)
        for _ in range(2):
            method(watch.views(torch.arange(2)))
            clock.now += 5
        optimiser.step()
        clock.now += 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(stopwatch, "time", clock)
    return clock


def test_each_part_of_the_counted_steps_has_its_time(clock: Clock) -> None:
    watch = Stopwatch(Images(clock), CPU, warm=2, most=4, seconds=1e9, parts=True)
    with watch.running():
        steps(clock, watch, 100)
    assert watch.steps == 4
    of_four = {"draws": 22, "views": 16, "forward": 24, "backward": 40, "update": 28, "rest": 4}
    assert watch.spent == of_four
    assert watch.seconds == sum(of_four.values())


def test_time_ends_it_after_three_steps_or_more(clock: Clock) -> None:
    short = Stopwatch(Images(clock), CPU, warm=1, most=50, seconds=1.0, parts=False)
    with short.running():
        steps(clock, short, 100)
    assert short.steps == 3
    longer = Stopwatch(Images(clock), CPU, warm=1, most=50, seconds=200.0, parts=False)
    with longer.running():
        steps(clock, longer, 100)
    assert 3 < longer.steps < 50


def test_steps_that_end_before_are_not_an_error_of_the_stopwatch(clock: Clock) -> None:
    watch = Stopwatch(Images(clock), CPU, warm=3, most=4, seconds=1e9, parts=False)
    with watch.running():
        steps(clock, watch, 2)
    assert watch.steps == 0


def test_no_hook_is_left(clock: Clock) -> None:
    watch = Stopwatch(Images(clock), CPU, warm=1, most=2, seconds=1e9, parts=True)
    with watch.running():
        steps(clock, watch, 10)
    spent = dict(watch.spent)
    steps(clock, Stopwatch(Images(clock), CPU, 1, 2, 1e9, True), 1)
    assert watch.spent == spent
