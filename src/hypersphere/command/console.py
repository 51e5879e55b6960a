"""A calm console for Snakemake: one line per finished job, and on a terminal a bar with the time left.

Snakemake's own messages are silenced by the profiles (``quiet: [all]``, which leaves dry runs alone); this handler,
attached by workflow/Snakefile, says what a person wants to know. Everything else is in the log files.
"""

import logging
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

TAIL = 12
"""Lines of a failed job's log that are shown."""
NOTE = "note: "
"""How a line of any job's log begins that a person should see: something was not as it should be, and was mended."""


class Handler(logging.Handler):
    """Turns Snakemake's log events into lines and a bar."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console
        self.jobs: dict[int, tuple[str, float, list[str]]] = {}
        self.started = time.monotonic()
        self.done = self.total = 0
        times = (TimeElapsedColumn(), TextColumn("·"), TimeRemainingColumn(), TextColumn("left"))
        columns = (BarColumn(), MofNCompleteColumn(), *times)
        self.bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.task = self.bar.add_task("", total=None)

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record, if it is one of the few worth showing."""
        event = str(getattr(record, "event", None) or "")
        show = {
            "run_info": self._begin,
            "job_info": self._job,
            "job_finished": self._finished,
            "progress": self._progress,
            "job_error": self._failed,
            "group_error": self._failed,
        }.get(event)
        if show is not None:
            show(record.__dict__)
        elif record.levelno >= logging.WARNING or record.getMessage().startswith("Nothing to be done"):
            self._say(record.getMessage())

    def _say(self, message: str) -> None:
        if not message.startswith("RuleException:\nCalledProcessError"):  # the failed job's log says it better
            self._print(message)

    def _print(self, text: str, style: str | None = None) -> None:
        """As it is: a path broken into lines of 80 could not be found or copied."""
        self.console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    def _begin(self, event: dict[str, Any]) -> None:
        self.total = int(event.get("stats", {}).get("total", 0))
        self._print(f"{self.total} jobs; each one's output goes to a file under logs/")
        self.bar.update(self.task, total=self.total or None)
        self.bar.start()

    def _job(self, event: dict[str, Any]) -> None:
        named = "-".join(map(str, (event.get("wildcards") or {}).values()))
        logs = [str(log) for log in event.get("log") or []]
        self.jobs[event["jobid"]] = (f"{event['rule_name']} {named}".strip(), time.monotonic(), logs)

    def _finished(self, event: dict[str, Any]) -> None:
        name, began, logs = self.jobs.get(event["job_id"], ("job", time.monotonic(), []))
        self.done += 1
        width = len(str(self.total))
        took = _clock(time.monotonic() - began)
        self._print(f"[{self.done:>{width}}/{self.total}] {took:>6}  {name}{self._left()}")
        for line in _lines(logs):
            if line.startswith(NOTE):
                self._print(f"  {line}")

    def _left(self) -> str:
        """Time left where there is no bar to show it."""
        if self.console.is_terminal or not 0 < self.done < self.total:
            return ""
        return f"  (about {_clock((time.monotonic() - self.started) / self.done * (self.total - self.done))} left)"

    def _progress(self, event: dict[str, Any]) -> None:
        self.bar.update(self.task, completed=event["done"], total=event["total"])

    def _failed(self, event: dict[str, Any]) -> None:
        name, *_ = self.jobs.get(event.get("jobid", -1), (event.get("rule_name") or "job",))
        self._print(f"failed: {name}", style="bold")
        for log in event.get("log") or []:
            lines = [f"  {log}", *(f"    {line}" for line in _lines([log])[-TAIL:])]
            self._print("\n".join(lines))

    def close(self) -> None:
        """Take the bar away."""
        self.bar.stop()
        super().close()


def _lines(logs: Iterable[str]) -> list[str]:
    found = [log for log in map(Path, logs) if log.is_file()]
    return [line for log in found for line in log.read_text(errors="replace").splitlines()]


def _clock(seconds: float) -> str:
    """Minutes and seconds, hours where there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def attach(logger: logging.Logger, note: str | None = None) -> None:
    """Add the handler to Snakemake's logger, once, and show a note."""
    if not any(isinstance(handler, Handler) for handler in logger.handlers):
        logger.addHandler(Handler(Console(stderr=True)))
    if note:
        Console(stderr=True).print(note, markup=False, highlight=False, soft_wrap=True)
