"""A calm console: one line per finished job, a failed job's log, and a summary with the next command at the end.

Snakemake's own messages are silenced by the profiles (``quiet: [all]``, which leaves dry runs alone). The handler here
prints what a person needs; everything else is in the log files. It is attached when Snakemake is about to run jobs, and
what was lost since the last time is then looked for.
"""

import csv
import dataclasses
import functools
import logging
import re
import shlex
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.config.project import COMMAND_LINE, Config
from hypersphere.errors import HypersphereError
from hypersphere.provenance import markers, recovery
from hypersphere.wording import counted

TARGETS = ("all", "everything", "reproduce", "data", "runs", "records", "total")
"""Rules that only collect files, and the name under which Snakemake counts all jobs."""
FAMILIES = ("artifact", "simulate", "studies")
"""Kinds of job with a rule for each artifact or paper: ``artifact_margins_table2``."""
REPORT = "results/report/index.html"
"""What ``make report`` asks for, and nothing else."""
TAIL = 12
"""Lines of a failed job's log that are shown."""
MOST = 6
"""Files that are named to open."""
NOTE = "note: "
"""How a log line begins that a person should see: something was wrong, and was mended."""
SPLIT = r"[\s']"
"""What in a setting needs quotes of its own in the Makefile's SET, which puts others around each word."""
KNOWN = ("RuleException:\nCalledProcessError", "Exiting because a job execution failed")
"""Beginnings of Snakemake's messages about a failed job, whose log says more."""


class Handler(logging.Handler):
    """Turns Snakemake's log events into lines on standard error."""

    def __init__(self, plan: Plan, report: bool = False) -> None:
        super().__init__()
        self.plan, self.started, self.report = plan, time.time(), report
        self.jobs: dict[int, tuple[str, list[Path], float]] = {}
        """Label, log files and start of each job at work, by Snakemake's number; of no job that only collects files."""
        self.total, self.done, self.failed, self.whole = 0, 0, set[int](), True

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record, if it is one of the few worth showing."""
        event, about, message = str(getattr(record, "event", None) or ""), record.__dict__, record.getMessage()
        elapsed = clock(time.time() - self.started)
        if event == "run_info":
            stats = about.get("stats", {})
            self.total = sum(count for rule, count in stats.items() if rule not in TARGETS)
            self.whole = "record" not in stats  # of which no page follows
            _say(f"{counted(self.total, 'job')} to do; the output of each goes to a file under logs/")
        elif event == "job_info" and about["rule_name"] not in TARGETS:
            logs = [Path(log) for log in about.get("log") or []]
            self.jobs[about["jobid"]] = label(about["rule_name"], logs), logs, time.time()
        elif event == "job_finished" and about["job_id"] in self.jobs:
            name, logs, start = self.jobs.pop(about["job_id"])
            self.done += 1
            took, done = clock(time.time() - start), f"{self.done:>{len(str(self.total))}}/{self.total}"
            _say(f"[{done}] {took:>6}  {name}  ({elapsed} elapsed)")
            _say(*(f"  {line}" for line in _lines(logs) if line.startswith(NOTE)))
            if self.done == self.total:
                self._end()
        elif event in ("job_error", "group_error"):
            number = about.get("jobid", -1)
            if number != -1 and number in self.failed:  # Snakemake may report one failure twice
                return
            name, logs, _ = self.jobs.get(number, (about.get("rule_name") or "job", [], 0.0))
            said = _lines(logs)
            if said and "stopped by SIG" in said[-1]:
                _say(f"stopped: {name}")
                return
            self.failed.add(number)
            _say(f"failed: {name}")
            for log in logs:
                _say(f"  {log}", *(f"    {line}" for line in _lines([log])[-TAIL:]))
        elif message.startswith("Nothing to be done"):
            self._end()
        elif "At least one job did not complete successfully" in message:
            failed = f", {len(self.failed)} failed as shown above. Mend the cause and run" if self.failed else ". Run"
            done = f"{self.done} of {counted(self.total, 'job')} done{failed}"
            _say(f"stopped after {elapsed}: {done} the same command again; finished jobs stay finished")
        elif record.levelno >= logging.WARNING and not message.startswith(KNOWN):
            _say(message)

    def _end(self) -> None:
        manifests = [self.plan.run_folder(name) / MANIFEST for name in self.plan.runs]
        start = self.started - 1  # file systems round times down
        runs = sum(path.is_file() and path.stat().st_mtime >= start for path in manifests)
        took = clock(time.time() - self.started)
        done = f"done in {took}: {counted(self.done, 'job')}, {counted(runs, 'run')} trained"
        ended = ending(self.plan, self.report) if self.whole else []
        _say(done if self.done else "nothing to do: every result is up to date", *ended)


def ending(plan: Plan, report: bool = False) -> list[str]:
    """The verdicts, the files to open and the next command; of chosen tables and figures alone where ``only`` chose.

    After the ``report`` alone there may be nothing of the scale to verify.
    """
    config, only = plan.config, plan.config.settings.only
    pages = ("report/index.html", "report/report.pdf", f"{config.results.name}/scorecard.html")
    tables, shown = [config.results / "claims.csv"], [config.root / "results" / page for page in pages]
    if only:
        studied = [
            (paper, one) for paper in config.papers for one in config.studied(paper) if config.chosen(paper, one)
        ]
        outputs = [path for key in (*plan.chosen, *studied) for path in plan.outputs(*key)]
        tables = [plan.artifact_folder(*key) / "claims.csv" for key in plan.chosen]
        shown = [path for path in outputs if path.suffix in (".md", ".svg")]
    verdicts: Counter[str] = Counter()  # corrected readings and claims of our own are counted on the scorecard
    for table in filter(Path.is_file, tables):
        with table.open(encoding="utf-8", newline="") as handle:
            verdicts.update(row["verdict"] for row in csv.DictReader(handle) if row["origin"] == "printed")
    listed = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common())
    paths = [path.relative_to(config.root).as_posix() for path in shown if path.is_file()]
    more = f" and {len(paths) - MOST} more" if len(paths) > MOST else ""
    return [
        *([f"{counted(verdicts.total(), 'printed claim')}: {listed}"] if verdicts else []),
        *([f"open   {' and '.join(paths[:MOST])}{more}"] if paths else []),
        f"next   {next_command(config, whole=report)}",
        *([f"rest   {next_command(config, whole=True)}"] if only else []),
    ]


def next_command(config: Config, whole: bool = False) -> str:
    """``make verify`` with the settings of this rebuild, or the command that makes all that ``only`` leaves out."""
    given = [
        f"{key}={value if isinstance(value, str) else files.canonical_json(value)}"
        for key, value in config.overrides.items()
        if key not in ("scale", "only") and config.sources[key] == COMMAND_LINE
    ]
    words = [
        *([f"SCALE={config.settings.scale}"] if config.settings.scale != "quick" else []),  # the Makefile's own
        *([f"ONLY={' '.join(config.settings.only)}"] if config.settings.only and not whole else []),
        *([f"SET={' '.join(shlex.quote(one) if re.search(SPLIT, one) else one for one in given)}"] if given else []),
    ]
    return shlex.join(["make", "reproduce" if whole else "verify", *words])


def label(rule: str, logs: list[Path]) -> str:
    """A job's name as the command takes it: ``artifact margins/table2``, ``pretrain simclr-digits-0a1b2c3d``."""
    kind, name = rule.partition("_")[0], logs[0].stem if logs else ""
    if kind in FAMILIES:
        return f"{kind} {name.replace('-', '/', 1)}"
    return rule if name in ("", rule) else f"{rule} {name}"


def clock(seconds: float) -> str:
    """Minutes and seconds, and hours if there are any: ``1:05``, ``2:00:10``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _say(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr, flush=True)


def _lines(logs: list[Path]) -> list[str]:
    return [line for log in logs if log.is_file() for line in log.read_text(errors="replace").splitlines()]


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
    """Before jobs run: show the console, check what they need, and forget what is lost."""
    if not any(isinstance(handler, Handler) for handler in logger.handlers):
        logger.addHandler(Handler(plan, report))
    if note := recovery.join(Path.cwd()):
        print(note, file=sys.stderr, flush=True)
    recovery.check_writable(plan)
    if plan.config.settings.device == "cuda" and local:
        from hypersphere.training import device  # it imports torch, which nothing else here does

        device.devices("cuda")
    found = markers.lost(plan)
    markers.forget(found)
    for error in found:
        print(f"made again: {error}", file=sys.stderr)


def _foresee(workflow: Any, plan: Plan) -> None:
    """In a dry run: say what is lost, and have the jobs listed that would make it again; nothing is removed."""
    found = markers.lost(plan)
    for error in found:
        print(f"would be made again: {error}", file=sys.stderr)
    settings = workflow.dag_settings
    if found and not settings.targets:  # of other targets, not all of it is needed
        proofs = {error.proofs[0].relative_to(plan.config.root).as_posix() for error in found}
        workflow.dag_settings = dataclasses.replace(settings, forcerun=frozenset({*settings.forcerun, *proofs}))
