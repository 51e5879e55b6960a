"""A calm console for Snakemake: one line per finished job, with the time that is left, and a summary at the end.

Snakemake's own messages are silenced by the profiles (``quiet: [all]``, which leaves dry runs alone). This handler,
attached by workflow/Snakefile, prints what a person needs; everything else is in the log files.
"""

import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from hypersphere.command import ending
from hypersphere.command.progress import FAMILIES, Progress, clock, expected_seconds, kind_of_job
from hypersphere.declared.plan import Plan
from hypersphere.nouns import counted

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
    """Turns Snakemake's log events into lines and a bar."""

    def __init__(self, console: Console, plan: Plan | None = None, now: Callable[[], float] = time.monotonic) -> None:
        """Set up for the jobs of a plan; without one, no summary is printed. ``now`` gives seconds."""
        super().__init__()
        self.console, self.plan, self.now = console, plan, now
        self.progress = Progress(expected_seconds(plan) if plan else {})
        self.jobs: dict[int, tuple[str, list[str]]] = {}
        """Label and log files of each job, by Snakemake's number."""
        self.started, self.started_at = now(), time.time() - 1  # file systems round times down
        self.failed: set[int] = set()
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), _Left(self._left))
        self.bar = Bar(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.task = self.bar.add_task("", total=None)

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
            self._print(ending.failed(self.progress.done, self.progress.total, len(self.failed), self._elapsed()))
        elif record.levelno >= logging.WARNING and not message.startswith(KNOWN):
            self._print(message)

    def _print(self, text: str, style: str | None = None) -> None:
        """Print without wrapping: a path broken into lines of 80 could not be found or copied."""
        self.console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    def _begin(self, event: dict[str, Any]) -> None:
        self.progress.plan(event.get("stats", {}))
        self._print(f"{counted(self.progress.total, 'job')} to do; the output of each goes to a file under logs/")
        self.bar.update(self.task, total=self.progress.total or None)
        self.bar.start()

    def _start(self, event: dict[str, Any]) -> None:
        job, rule, logs = event["jobid"], str(event["rule_name"]), [str(log) for log in event.get("log") or []]
        self.jobs[job] = (label(rule, logs), logs)
        batch = str((event.get("wildcards") or {}).get("batch", ""))
        self.progress.start(job, rule, batch, self.now())

    def _finish(self, event: dict[str, Any]) -> None:
        job = event["job_id"]
        if job not in self.progress.running:  # it only collects files
            return
        name, logs = self.jobs[job]
        seconds = self.progress.finish(job, self.now())
        done, total = self.progress.done, self.progress.total
        self.bar.update(self.task, completed=done)
        self._print(f"[{done:>{len(str(total))}}/{total}] {clock(seconds):>6}  {name}{self._times()}")
        for line in _lines(logs):
            if line.startswith(NOTE):
                self._print(f"  {line}")
        if done == total:
            self._end()

    def _elapsed(self) -> float:
        return self.now() - self.started

    def _left(self) -> str:
        """The time left in words; empty while it is not known."""
        left = self.progress.left(self.now())
        return "" if left is None else f"about {clock(left)} left"

    def _times(self) -> str:
        """Time elapsed and left, for a console without a bar."""
        if self.console.is_terminal or self.progress.done == self.progress.total:
            return ""
        return f"  ({', '.join(filter(None, (f'{clock(self._elapsed())} elapsed', self._left())))})"

    def _fail(self, event: dict[str, Any]) -> None:
        job = event.get("jobid", -1)
        name, _ = self.jobs.get(job, (event.get("rule_name") or "job", []))
        self.failed.add(job)
        self.progress.fail(job)
        self._print(f"failed: {name}", style="bold")
        for log in event.get("log") or []:
            lines = [f"  {log}", *(f"    {line}" for line in _lines([log])[-TAIL:])]
            self._print("\n".join(lines))

    def _end(self) -> None:
        self.bar.stop()
        if self.plan is not None:
            runs = ending.trained_since(self.plan, self.started_at)
            for line in ending.finished(self.plan, self.progress.done, self._elapsed(), runs):
                self._print(line)

    def close(self) -> None:
        """Take the bar away."""
        self.bar.stop()
        super().close()


class _Left(ProgressColumn):
    """The time left, asked for again whenever the bar is drawn."""

    def __init__(self, left: Callable[[], str]) -> None:
        super().__init__()
        self.left = left

    def render(self, task: Task) -> Text:
        """The text of the column."""
        return Text(self.left())


def label(rule: str, logs: list[str]) -> str:
    """A job's name as the command takes it: ``artifact margins/table2``, ``pretrain simclr-digits-0a1b2c3d``."""
    kind, name = kind_of_job(rule), Path(logs[0]).stem if logs else ""
    if kind in FAMILIES:
        return f"{kind} {name.replace('-', '/', 1)}"
    return rule if name in ("", rule) else f"{rule.removesuffix('_pixels')} {name}"


def _lines(logs: Iterable[str]) -> list[str]:
    existing = [log for log in map(Path, logs) if log.is_file()]
    return [line for log in existing for line in log.read_text(errors="replace").splitlines()]


def attach(logger: logging.Logger, plan: Plan | None = None, note: str | None = None) -> None:
    """Add the handler to Snakemake's logger, once, and show a note."""
    if not any(isinstance(handler, Handler) for handler in logger.handlers):
        logger.addHandler(Handler(Console(stderr=True), plan))
    if note:
        Console(stderr=True).print(note, markup=False, highlight=False, soft_wrap=True)
