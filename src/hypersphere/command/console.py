"""A calm console: one line per finished job, a failed job's log, and the next command at the end.

Snakemake's own messages are silenced by the profiles (``quiet: [all]``, which leaves dry runs alone). The handler here
prints what a person needs; everything else is in the log files. It is attached when Snakemake is about to run jobs.
What was lost since the last time is then looked for, and what a killed Snakemake left behind is mended.
"""

import dataclasses
import fcntl
import functools
import logging
import os
import platform
import re
import shlex
import shutil
import sys
import time
import traceback
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.config.project import COMMAND_LINE
from hypersphere.errors import HypersphereError
from hypersphere.provenance import markers
from hypersphere.wording import counted

TARGETS = ("all", "everything", "reproduce", "data", "runs", "records", "total")
"""Rules that only collect files, and the name under which Snakemake counts all jobs."""
REPORT = "results/report/index.html"
"""What ``make report`` asks for, and nothing else."""
TAIL = 12
"""Lines of a failed job's log that are shown."""
MOST = 6
"""Files that are named to open."""
SPLIT = r"[\s']"
"""What in a setting needs quotes of its own in the Makefile's SET, which puts others around each word."""
KNOWN = ("RuleException:\nCalledProcessError", "Exiting because a job execution failed")
"""Beginnings of Snakemake's messages about a failed job, whose log says more."""


class Handler(logging.Handler):
    """Turns Snakemake's log events into lines on standard error. A job is called by its log."""

    def __init__(self, plan: Plan, report: bool = False) -> None:
        super().__init__()
        self.plan, self.report, self.started = plan, report, time.time()
        self.logs: dict[int, Path] = {}
        """Of each job at work, by Snakemake's number; of no job that only collects files."""
        self.total, self.done, self.failed, self.records = 0, 0, set[int](), False

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record, if it is one of the few worth showing."""
        event, about, message = str(getattr(record, "event", None) or ""), record.__dict__, record.getMessage()
        elapsed, jobs = timedelta(seconds=round(time.time() - self.started)), counted(self.total, "job")
        said: list[str] = []
        if event == "run_info":
            counts = {rule: count for rule, count in about["stats"].items() if rule not in TARGETS}
            self.total, self.records = sum(counts.values()), "record" in counts
            said = [f"{counted(self.total, 'job')} to do; the output of each goes to a file"]
        elif event == "job_info" and about["rule_name"] not in TARGETS:
            self.logs[about["jobid"]] = Path(*about["log"])
        elif event == "job_finished" and about["job_id"] in self.logs:
            self.done += 1
            said = [f"[{self.done:>{len(str(self.total))}}/{self.total}] {elapsed}  {self.logs.pop(about['job_id'])}"]
            if self.done == self.total:
                said += [f"done in {elapsed}: {jobs}", *([] if self.records else ending(self.plan, self.report))]
        elif event in ("job_error", "group_error"):
            number = about.get("jobid", -1)
            if number != -1 and number in self.failed:  # Snakemake may report one failure twice
                return
            self.failed.add(number)
            log = self.logs.get(number, Path(about.get("rule_name") or "job"))  # a cluster's job may have no number
            lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
            stopped = bool(lines) and "stopped by SIG" in lines[-1]
            said = [f"{'stopped' if stopped else 'failed'}: {log}", *(f"    {line}" for line in lines[-TAIL:])]
        elif message.startswith("Nothing to be done"):
            said = ["nothing to do: every result is up to date", *ending(self.plan, self.report)]
        elif "At least one job did not complete successfully" in message:
            said = [
                f"stopped after {elapsed}: {self.done} of {jobs} done. Mend the cause of what is shown above, and run"
            ]
            said += ["the same command again; finished jobs stay finished"]
        elif record.levelno >= logging.WARNING and not message.startswith(KNOWN):
            said = [message]
        for line in said:
            print(line, file=sys.stderr, flush=True)


def ending(plan: Plan, report: bool = False) -> list[str]:
    """The files to open, and the next command with the settings of this rebuild.

    Where ``only`` chose, the files are of chosen tables and figures alone. After the ``report`` alone there may be
    nothing of the scale to verify: then the command makes all of it.
    """
    config = plan.config
    pages = ("report/index.html", "report/report.pdf", f"{config.results.name}/scorecard.html")
    shown = [config.root / "results" / page for page in pages]
    if config.settings.only:
        outputs = [path for key in (*plan.chosen, *plan.chosen_studies) for path in plan.outputs(*key)]
        shown = [path for path in outputs if path.suffix in (".md", ".svg")]
    paths = [path.relative_to(config.root).as_posix() for path in shown if path.is_file()]
    more = f" and {len(paths) - MOST} more" if len(paths) > MOST else ""
    opened = [f"open   {' and '.join(paths[:MOST])}{more}"] if paths else []
    given = [
        f"{key}={value if isinstance(value, str) else files.canonical_json(value)}"
        for key, value in config.overrides.items()
        if key not in ("scale", "only") and config.sources[key] == COMMAND_LINE
    ]
    words = [
        *([f"SCALE={config.settings.scale}"] if config.settings.scale != "quick" else []),  # the Makefile's own
        *([f"ONLY={' '.join(config.settings.only)}"] if config.settings.only and not report else []),
        *([f"SET={' '.join(shlex.quote(one) if re.search(SPLIT, one) else one for one in given)}"] if given else []),
    ]
    return [*opened, f"next   {shlex.join(['make', 'reproduce' if report else 'verify', *words])}"]


def prepare(workflow: Any, logger: logging.Logger, plan: Plan) -> None:
    """Have ``workflow`` look for what is lost between parsing and planning.

    Snakemake has no hook there: it parses for every option (``--lint``, ``--summary``, ``--unlock``, …), and
    ``onstart`` comes after the plan. But it calls ``Workflow.execute``, which plans, for nothing else than to run jobs,
    to touch their outputs (``--touch``) or to list them (``-n``), and names the executor that does it. With
    ``--allowed-rules`` some rules are left out, so that not all that is lost could be made again.
    """
    execute = workflow.execute

    @functools.wraps(execute)
    def executing(executor_plugin: Any, **settings: Any) -> Any:
        about = executor_plugin.common_settings
        if not (about.touch_exec or workflow.dag_settings.allowed_rules):
            try:
                if about.dryrun_exec:
                    _foresee(workflow, plan)
                else:
                    _begin(logger, plan, about.local_exec, set(workflow.dag_settings.targets) == {REPORT})
            except HypersphereError as error:
                sys.exit(f"hypersphere: {error}")
            except Exception:  # the profile silences Snakemake, which would say nothing at all
                traceback.print_exc()
                sys.exit(1)
        return execute(executor_plugin=executor_plugin, **settings)

    workflow.execute = executing


def _begin(logger: logging.Logger, plan: Plan, local: bool, report: bool) -> None:
    """Before jobs run: show the console, check that jobs can write and have a GPU, and forget what is lost."""
    if not any(isinstance(handler, Handler) for handler in logger.handlers):
        logger.addHandler(Handler(plan, report))
    if note := join(Path.cwd()):
        print(note, file=sys.stderr, flush=True)
    for folder in (plan.config.results, plan.config.root / "logs", plan.config.data / "processed"):
        existing = next(place for place in (folder, *folder.parents) if place.exists())
        if not os.access(existing, os.W_OK):
            raise HypersphereError(f"{folder}: cannot be written ({existing} is read-only or belongs to another user)")
    if plan.config.settings.device == "cuda" and local:
        from hypersphere.training import device  # it imports torch, which nothing else here does

        device.devices("cuda")
    for error in markers.lost(plan):
        error.disprove()
        print(f"made again: {error}", file=sys.stderr)


def _foresee(workflow: Any, plan: Plan) -> None:
    """In a dry run: say what is lost, and have the jobs listed that would make it again; nothing is removed."""
    found, asked = markers.lost(plan), workflow.dag_settings
    for error in found:
        print(f"would be made again: {error}", file=sys.stderr)
    if found and not asked.targets:  # of other targets, not all of it is needed
        proofs = {error.proofs[0].relative_to(plan.config.root).as_posix() for error in found}
        workflow.dag_settings = dataclasses.replace(asked, forcerun=frozenset({*asked.forcerun, *proofs}))


def join(folder: Path) -> str | None:
    """Register this Snakemake as one at work in ``folder``, and clean up after those that were killed.

    Snakemake's own locks are files, which outlive a killed process. Each of our Snakemakes also holds a lock that the
    system releases when it ends. Whoever gets it exclusively knows that no other is alive on this machine, and removes
    what they left, unless some may be of another machine. Returns a note for the person who started it, if any.
    """
    place, me, alone = folder / ".snakemake", platform.node(), True
    try:
        place.mkdir(exist_ok=True)
        handle = os.open(place / "hypersphere.lock", os.O_RDWR | os.O_CREAT)  # it stays open as long as this process
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        alone = False
    except OSError:
        return None
    record, locks = place / "hypersphere.json", place / "locks"
    locked = locks.is_dir() and any(locks.iterdir())
    hosts = files.mapping(files.read_mapping(record).get("hosts")) or ({"unknown": 0} if locked else {})
    note = None if alone else f"another Snakemake is at work here: process {hosts.get(me)} of {me}"
    if alone and locked and hosts.keys() == {me}:
        shutil.rmtree(locks)
        for leftover in folder.glob(f"results/*/**/.*{files.PART}"):
            if "runs" not in leftover.parts:  # training cleans a run's folder itself, under the run's lock
                leftover.unlink(missing_ok=True)
        note, locked = f"the Snakemake before this one (process {hosts[me]}) was killed: its locks are removed", False
    files.write_json(record, {"hosts": (hosts if locked else {}) | {me: os.getpid()}})
    fcntl.flock(handle, fcntl.LOCK_SH)
    return note
