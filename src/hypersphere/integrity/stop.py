"""Stopping well: when asked by a signal, and when the Snakemake that started us is gone.

SIGTERM is what clusters send at a time limit, SIGINT is Ctrl-C. A Snakemake that was killed with -9 leaves its jobs
running; they notice within seconds, and stop as if they had been sent SIGTERM.
"""

import os
import platform
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from hypersphere.errors import HypersphereError

PARENT = "HYPERSPHERE_PARENT"
"""Environment variable, ``<host>:<process id>``: whom a job is not to outlive. Set by workflow/Snakefile."""
EVERY = 1.0
"""Seconds between two looks at the parent."""
SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StoppedError(HypersphereError):
    """Training was asked to stop and has saved its state; the exit status is the shell's for that signal."""

    def __init__(self, sentence: str, number: int) -> None:
        super().__init__(sentence)
        self.status = 128 + number


class Request:
    """Whether, and by which signal, we were asked to stop."""

    number: int | None = None

    @property
    def name(self) -> str:
        """For example ``SIGTERM``."""
        return signal.Signals(self.number).name if self.number else ""


@contextmanager
def on_request() -> Iterator[Request]:
    """Within the block a first signal only sets the request, which the block looks at; a second one acts at once.

    Elsewhere than in the main thread, where Python delivers no signals, the request stays empty; and for a signal that
    is ignored, as a shell has it for SIGINT in the background.
    """
    request = Request()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {int(asked): signal.getsignal(asked) for asked in SIGNALS}
    before = {asked: handler for asked, handler in before.items() if handler != signal.SIG_IGN}

    def note(number: int, frame: FrameType | None) -> None:
        request.number = number
        signal.signal(number, before[number])

    for asked in before:
        signal.signal(asked, note)
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def exit_in_order() -> None:
    """From now on SIGTERM unwinds the stack, so that half-written files are removed; and so does a lost parent."""
    signal.signal(signal.SIGTERM, _leave)
    host, _, parent = os.environ.get(PARENT, "").rpartition(":")
    if host == platform.node() and parent.isdigit():
        threading.Thread(target=_watch, args=(int(parent),), daemon=True).start()


def _watch(parent: int) -> None:
    while _alive(parent):
        time.sleep(EVERY)
    print("note: the Snakemake that started this job is gone; stopping", flush=True)
    os.kill(os.getpid(), signal.SIGTERM)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # it is another user's
    return True


def name_parent() -> None:
    """Let the jobs that this process starts know whom they are not to outlive."""
    os.environ[PARENT] = f"{platform.node()}:{os.getpid()}"
