"""Stop in order: at a signal, or when the Snakemake that started this job is gone.

Clusters send SIGTERM at a time limit, and Ctrl-C sends SIGINT. A Snakemake that was killed with -9 leaves its jobs
running; they notice within seconds, and stop as if they had got SIGTERM.
"""

import os
import platform
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from hypersphere.errors import HypersphereError

PARENT = "HYPERSPHERE_PARENT"
"""Environment variable with the processes that a job must not outlive: ``<host>:<process id>`` of a campaign and of
its Snakemake, separated by commas."""
EVERY = 1.0
"""Seconds between two checks of the parent."""
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def how_it_ended(status: int) -> str:
    """How a process ended, by its return code: ``ended with status 1``, or ``was killed by SIGKILL``."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"was killed by {name}"


class StoppedError(HypersphereError):
    """Training was asked to stop and has saved its state; the exit status is 128 + the signal's number."""

    def __init__(self, sentence: str, number: int) -> None:
        super().__init__(sentence)
        self.status = 128 + number


class Request:
    """Whether a signal asked to stop, and which."""

    number: int | None = None

    @property
    def name(self) -> str:
        """The signal's name, for example ``SIGTERM``; empty without a request."""
        return signal.Signals(self.number).name if self.number else ""


@contextmanager
def on_request() -> Iterator[Request]:
    """A block in which a first signal only sets the request, which the block reads; a second one acts at once.

    A signal that is ignored stays so, as SIGINT is for jobs that a shell runs in the background.
    """
    request = Request()
    before = {int(one): signal.getsignal(one) for one in SIGNALS}
    before = {one: handler for one, handler in before.items() if handler != signal.SIG_IGN}

    def note(number: int, frame: FrameType | None) -> None:
        request.number = number
        signal.signal(number, before[number])

    for number in before:
        signal.signal(number, note)
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_in_order() -> None:
    """Let SIGTERM, and the loss of the parent, unwind the stack from now on, so that half-written files are removed."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    parents = []
    for parent in os.environ.get(PARENT, "").split(","):
        host, _, process = parent.rpartition(":")
        if host == platform.node() and process.isdigit():
            parents.append(int(process))
    if parents:
        threading.Thread(target=_watch, args=(parents,), daemon=True).start()


def _watch(parents: list[int]) -> None:
    try:
        while True:
            for process in parents:
                with suppress(PermissionError):  # it is another user's, and alive
                    os.kill(process, 0)
            time.sleep(EVERY)
    except ProcessLookupError:
        print("note: the Snakemake that started this job is gone; stopping", flush=True)
        os.kill(os.getpid(), signal.SIGTERM)


def name_parent() -> None:
    """Tell the jobs that this process starts not to outlive it."""
    own = f"{platform.node()}:{os.getpid()}"
    others = os.environ.get(PARENT)
    os.environ[PARENT] = f"{others},{own}" if others else own
