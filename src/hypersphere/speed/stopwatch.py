"""A stopwatch for the parts of training steps, by torch's own hooks and around a run's views.

The loop knows nothing of it, so that what is timed is what trains. Waiting for the device after each part, as is needed
to time the parts on a GPU, makes a step slower: the time of a whole step is measured by another stopwatch, which waits
only at both ends.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
from jaxtyping import Int, Shaped
from torch import Tensor
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from hypersphere.methods.base import Method
from hypersphere.training.loop import Source

PARTS = ("draws", "views", "forward", "backward", "update", "rest")
"""The parts of a step. The rest is what the loop does between them, with the update of momentum targets."""


def wait(device: torch.device) -> None:
    """Wait until a GPU has done all that it was given; a processor is done when a call returns."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


class EnoughError(Exception):
    """Ends a trial whose steps were counted."""


class Stopwatch:
    """Counts the steps of a trial after the first ``warm`` ones, until they are ``most`` or ``seconds`` are over.

    It stands for the source of the trial's views. At least three steps are counted, however long they take.
    """

    LEAST = 3

    def __init__(
        self,
        source: Source,
        device: torch.device,
        warm: int,
        most: int,
        seconds: float,
        parts: bool,
    ) -> None:
        self.source = source
        self.labels = source.labels
        self.at_once = source.at_once
        self.device = device
        self.warm = warm
        self.most = most
        self.until = time.perf_counter() + seconds
        self.parts = parts
        """Whether it waits for the device after each part."""
        self.taken = 0
        """Steps, with those that are not counted."""
        self.spent = dict.fromkeys(PARTS, 0.0)
        """Seconds of each part, over the counted steps."""
        self.begun = self.now = time.perf_counter()
        self.part = "rest"

    @property
    def steps(self) -> int:
        """The counted steps."""
        return max(0, self.taken - self.warm)

    @property
    def seconds(self) -> float:
        """The time of all counted steps."""
        return self.now - self.begun

    def start(self, epoch: int) -> None:
        self._enter("draws")
        self.source.start(epoch)
        self._enter("rest")

    def views(self, index: Int[Tensor, "n"]) -> Shaped[Tensor, "v n ..."]:
        self._enter("views")
        views = self.source.views(index)
        self._enter("rest")
        return views

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within the block, torch's hooks tell the other parts apart, and the last counted step ends it."""
        with ExitStack() as hooks:
            for hook in (
                register_module_forward_pre_hook(self._forward_begins),
                register_module_forward_hook(self._forward_ends),
                register_optimizer_step_pre_hook(self._update_begins),
                register_optimizer_step_post_hook(self._update_ends),
            ):
                hooks.callback(hook.remove)
            try:
                yield
            except EnoughError:
                return

    def _forward_begins(self, module: object, *_: object) -> None:
        if isinstance(module, Method):
            self._enter("forward")

    def _forward_ends(self, module: object, *_: object) -> None:
        if isinstance(module, Method):
            self._enter("backward")

    def _update_begins(self, *_: object) -> None:
        self._enter("update")

    def _update_ends(self, *_: object) -> None:
        self._enter("rest")
        self.taken += 1
        if self.taken == self.warm:
            wait(self.device)
            self.begun = self.now = time.perf_counter()
            self.spent = dict.fromkeys(PARTS, 0.0)
        late = time.perf_counter() > self.until and self.steps >= self.LEAST
        if late or self.steps == self.most:
            wait(self.device)
            self.now = time.perf_counter()
            raise EnoughError

    def _enter(self, part: str) -> None:
        """The part that ran until now is over, and another one begins."""
        if not self.parts:
            return
        wait(self.device)
        now = time.perf_counter()
        self.spent[self.part] += now - self.now
        self.part = part
        self.now = now
