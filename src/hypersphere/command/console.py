"""A calm console for Snakemake: one line per finished job, a failed job's log, and a summary at the end.

Snakemake's own messages are silenced by the profiles (``quiet: [all]``, which leaves dry runs alone). This handler,
attached by `start.py`, prints what a person needs; everything else is in the log files.
"""

import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hypersphere.command import ending
from hypersphere.command.ending import clock
from hypersphere.command.preview import FAMILIES, kind_of_job
from hypersphere.config.plan import Plan
from hypersphere.wording import counted

TARGETS = ("all", "reproduce", "data", "runs", "total")
"""Rules that only collect files, and the name under which Snakemake counts all jobs."""
SHOWN_FROM = 0.25
"""Share of the work that is done when the time left is first shown."""
MOST_UNKNOWN = 0.2
"""Share of the jobs left that may be of kinds of which none has finished; the time left is not shown above it."""
TAIL = 12
"""Lines of a failed job's log that are shown."""
NOTE = "note: "
"""How a log line begins that a person should see: something was wrong, and was mended."""
NOTHING = "Nothing to be done"
FAILED = "At least one job did not complete successfully"
"""Messages of Snakemake that the summary replaces."""
KNOWN = ("RuleException:\nCalledProcessError", "Exiting because a job execution failed")
"""Beginnings of messages about a failed job, whose log says more."""


class Handler(logging.Handler):
    """Turns Snakemake's log events into lines on standard error."""

    def __init__(self, plan: Plan | None = None, now: Callable[[], float] = time.monotonic) -> None:
        """Set up for the jobs of a plan; without one, no summary is printed. ``now`` gives seconds."""
        super().__init__()
        self.plan, self.now = plan, now
        self.jobs: dict[int, tuple[str, list[str]]] = {}
        """Label and log files of each job, by Snakemake's number."""
        self.waiting: Counter[str] = Counter()
        """Jobs still to start, by kind."""
        self.at_work: dict[int, tuple[str, float]] = {}
        """Kind and start of each job at work."""
        self.seconds: dict[str, list[float]] = {}
        """How long finished jobs took, by kind."""
        self.total, self.failed = 0, set[int]()
        self.started = self.begun = now()
        self.started_at = time.time() - 1  # file systems round times down

    @property
    def done(self) -> int:
        """How many jobs have finished."""
        return sum(map(len, self.seconds.values()))

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record, if it is one of the few worth showing."""
        event = str(getattr(record, "event", None) or "")
        show = {
            "run_info": self._begin,
            "job_info": self._start,
            "job_finished": self._finish,
            "job_error": self._fail,
            "group_error": self._fail,
        }.get(event)
        message = record.getMessage()
        if show is not None:
            show(record.__dict__)
        elif message.startswith(NOTHING):
            self._end()
        elif FAILED in message:
            _say(ending.failed(self.done, self.total, len(self.failed), self.now() - self.started))
        elif record.levelno >= logging.WARNING and not message.startswith(KNOWN):
            _say(message)

    def _begin(self, event: dict[str, Any]) -> None:
        for rule, count in event.get("stats", {}).items():
            self.waiting[kind_of_job(rule)] += 0 if rule in TARGETS else count
        self.total = self.waiting.total()
        self.begun = self.now()
        _say(f"{counted(self.total, 'job')} to do; the output of each goes to a file under logs/")

    def _start(self, event: dict[str, Any]) -> None:
        job, rule, logs = event["jobid"], str(event["rule_name"]), [str(log) for log in event.get("log") or []]
        self.jobs[job] = (label(rule, logs), logs)
        if rule not in TARGETS:
            self.waiting[kind_of_job(rule)] -= 1
            self.at_work[job] = kind_of_job(rule), self.now()

    def _finish(self, event: dict[str, Any]) -> None:
        job = event["job_id"]
        if job not in self.at_work:  # it only collects files
            return
        (name, logs), (kind, started), now = self.jobs[job], self.at_work.pop(job), self.now()
        self.seconds.setdefault(kind, []).append(now - started)
        times, left = f"{clock(now - self.started)} elapsed", self.left()
        times += "" if left is None else f", about {clock(left)} left"
        _say(f"[{self.done:>{len(str(self.total))}}/{self.total}] {clock(now - started):>6}  {name}  ({times})")
        for line in _lines(logs):
            if line.startswith(NOTE):
                _say(f"  {line}")
        if self.done == self.total:
            self._end()

    def left(self) -> float | None:
        """Seconds until all is done, by the mean time of this rebuild's finished jobs of each kind.

        None where they cannot tell: too little is done, or too many of the jobs left are of kinds not yet seen.
        """
        now, finished = self.now(), [seconds for kind in self.seconds.values() for seconds in kind]
        kinds = self.waiting + Counter(kind for kind, _ in self.at_work.values())
        unknown = sum(count for kind, count in kinds.items() if kind not in self.seconds)
        if not finished or not kinds or unknown > MOST_UNKNOWN * kinds.total():
            return None
        each = {kind: sum(known) / len(known) for kind in kinds for known in [self.seconds.get(kind, finished)]}
        running = [max(0.0, each[kind] - (now - started)) for kind, started in self.at_work.values()]
        work = sum(running) + sum(each[kind] * count for kind, count in self.waiting.items() if count)
        busy = sum(finished) + sum(now - started for _, started in self.at_work.values())
        if busy < SHOWN_FROM * (busy + work):
            return None
        at_a_time = max(1.0, busy / max(now - self.begun, 1e-9))
        return max([work / at_a_time, *running])

    def _fail(self, event: dict[str, Any]) -> None:
        job = event.get("jobid", -1)
        name, _ = self.jobs.get(job, (event.get("rule_name") or "job", []))
        self.failed.add(job)
        self.at_work.pop(job, None)
        _say(f"failed: {name}")
        for log in event.get("log") or []:
            _say("\n".join([f"  {log}", *(f"    {line}" for line in _lines([log])[-TAIL:])]))

    def _end(self) -> None:
        if self.plan is not None:
            runs = ending.trained_since(self.plan, self.started_at)
            for line in ending.finished(self.plan, self.done, self.now() - self.started, runs):
                _say(line)


def label(rule: str, logs: list[str]) -> str:
    """A job's name as the command takes it: ``artifact margins/table2``, ``pretrain simclr-digits-0a1b2c3d``."""
    kind, name = kind_of_job(rule), Path(logs[0]).stem if logs else ""
    if kind in FAMILIES:
        return f"{kind} {name.replace('-', '/', 1)}"
    return rule if name in ("", rule) else f"{rule.removesuffix('_pixels')} {name}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _lines(logs: Iterable[str]) -> list[str]:
    existing = [log for log in map(Path, logs) if log.is_file()]
    return [line for log in existing for line in log.read_text(errors="replace").splitlines()]


def attach(logger: logging.Logger, plan: Plan | None = None, note: str | None = None) -> None:
    """Add the handler to Snakemake's logger, once, and show a note."""
    if not any(isinstance(handler, Handler) for handler in logger.handlers):
        logger.addHandler(Handler(plan))
    if note:
        _say(note)
