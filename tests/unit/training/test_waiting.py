"""No step waits for its device: on torch's device ``meta``, which holds no values, whatever reads one is an error.

A copy that the host waits for is no error there, so that it is looked for among the operations.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from hypersphere.config.run import Run
from hypersphere.datasets.training_sizes import stated
from hypersphere.methods.base import Method
from hypersphere.training import loop, optimisation
from hypersphere.training.build import build_method
from hypersphere.training.loop import Execution
from hypersphere.training.trainers.image import Views

from ...golden.released import released

META = torch.device("meta")
IMAGES = 32
COPIES = (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)


class AwaitedCopies(TorchDispatchMode):
    """Lists the copies from one device to another that the host waits for."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(
        self,
        function: Any,
        types: object,
        arguments: tuple[Any, ...] = (),
        options: dict[str, Any] | None = None,
    ) -> Any:
        result = function(*arguments, **(options or {}))
        if function in COPIES and not _goes_on(arguments, options or {}):
            source = arguments[-1] if function is COPIES[1] else arguments[0]
            if source.device != result.device:
                self.found.append(f"{function} of {list(source.shape)}")
        return result


def _goes_on(arguments: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether the host goes on while a copy is made."""
    return bool(options.get("non_blocking") or True in arguments[2:])


def _kinds() -> Iterator[tuple[str, Run]]:
    """A run of images for each method with each of the parts that its loss is made of."""
    runs: dict[str, Run] = {}
    for run in released("quick").runs.values():
        if run.kind == "image":
            names = [run.method.name, *(name for _, name in run.components)]
            runs.setdefault(" ".join(names), run)
    yield from runs.items()


def _step_of(run: Run, device: torch.device = META) -> tuple[Method, Callable[[int], None]]:
    """A run's method, and its steps by their numbers, on a device."""
    batch = run.batch.model_copy(update={"size": IMAGES, "micro": IMAGES // 2, "parts": 1})
    optimiser = run.optimiser
    if optimiser.name in ("adam", "adamw"):  # fused kernels know no ``meta``
        optimiser = optimiser.model_copy(update={"name": "sgd"})
    run = run.model_copy(update={"batch": batch, "optimiser": optimiser})
    size = stated(run.dataset)
    assert size
    shape = (IMAGES, int(size.side), int(size.side), 3)
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    numbers = np.arange(IMAGES)
    source = Views(run, pixels, numbers % 10, numbers, device)
    source.start(0)
    method = build_method(run, IMAGES, 10).to(device)
    method.train()
    moved = optimisation.build(method, run.optimiser)
    execution = Execution(device, frozenset(), {})
    index = torch.from_numpy(numbers)

    def step(number: int) -> None:
        views = loop.passes_of(source, [index], 0, batch.micro)
        key = run.seed, 0, number
        loop._step(run, method, moved, views, index, source.labels, key, execution)
        method.after_step(number / 10, (number + 1) / 10)

    return method, step


@pytest.mark.parametrize(("kind", "run"), [pytest.param(*kind, id=kind[0]) for kind in _kinds()])
def test_no_step_waits_for_its_device(kind: str, run: Run) -> None:
    _, step = _step_of(run)
    step(0)  # the first step makes the optimiser's state
    with AwaitedCopies() as copies:
        step(1)
    assert not copies.found


def test_a_step_that_reads_a_number_is_an_error_there() -> None:
    """The control: a loss that asks what its value is."""
    method, step = _step_of(next(run for _, run in _kinds()))
    plain = method.objective
    method.objective = lambda *given, **named: plain(*given, **named).item()
    with pytest.raises(RuntimeError, match="meta"):
        step(0)


def test_a_copy_that_the_host_waits_for_is_found() -> None:
    """The control: the same copy, awaited and not."""
    there = torch.zeros(3)
    with AwaitedCopies() as copies:
        there.to(META, non_blocking=True)
        torch.empty(3, device=META).copy_(there, non_blocking=True)
    assert not copies.found
    with AwaitedCopies() as copies:
        there.to(META)
        torch.empty(3, device=META).copy_(there)
    assert len(copies.found) == 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_torch_sees_no_wait_on_a_card() -> None:
    """By torch's own debug mode, in which a wait is an error."""
    for _, run in _kinds():
        _, step = _step_of(run, torch.device("cuda"))
        step(0)
        torch.cuda.set_sync_debug_mode("error")
        try:
            step(1)
        finally:
            torch.cuda.set_sync_debug_mode("default")
