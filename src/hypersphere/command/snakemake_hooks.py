"""What happens when Snakemake starts: look for what was lost, and clean up after a Snakemake that was killed.

Snakemake shows how many jobs are done, and the log of a failed job (`show-failed-logs` of the profiles). progress.py
says how far the other jobs are. The inputs of each job go to its log file alone.
"""

import dataclasses
import fcntl
import functools
import logging
import os
import platform
import shutil
import sys
import traceback
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError

from hypersphere import files
from hypersphere.command.progress import BEGUN, Progress
from hypersphere.config import plan_file
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.provenance import markers

OWN = ".snakemake"
"""Snakemake's own folder in a project."""


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
                    _begin(logger, plan, about.local_exec)
            except HypersphereError as error:
                sys.exit(f"hypersphere: {error}")
            except Exception:  # Snakemake would name its place and leave out its words
                traceback.print_exc()
                sys.exit(1)
        try:
            return execute(executor_plugin=executor_plugin, **settings)
        except OSError as error:
            if OWN not in Path(str(error.filename)).parts:
                raise
            sys.exit(f"hypersphere: {files.reason(error)}; Snakemake keeps its records there")

    workflow.execute = executing


def let_content_decide(graph: Any) -> None:
    """Have Snakemake's class of graphs take a result that is older than what it was made from, and say so once.

    Inputs are from the future where a clock was wrong, or is another machine's. Snakemake would stop, and remove the
    result. At its next start it compares checksums where times differ, so that times decide nothing.
    """
    check, noted = graph.check_output_mtime, False

    @functools.wraps(check)
    async def checked(*about: Any) -> None:
        nonlocal noted
        try:
            await check(*about)
        except WorkflowError:
            if not noted:
                print(
                    "note: some files are from the future (a clock was wrong); content decides",
                    file=sys.stderr,
                )
            noted = True

    graph.check_output_mtime = checked


OF_SNAKEMAKE = (
    "Select jobs to execute",
    "Execute ",
    "Rules claiming more threads",
    "Provided resources",
    "Conda environments: ignored",
)
"""The beginnings of messages about Snakemake's own work, which say nothing about results."""


def _worth_showing(record: logging.LogRecord) -> bool:
    """Whether to show a message. The end of a job is shown, but its start and Snakemake's own work are not."""
    begins = str(vars(record).get("event")) == BEGUN
    return not begins and not record.getMessage().startswith(OF_SNAKEMAKE)


def _begin(logger: logging.Logger, plan: Plan, local: bool) -> None:
    """Prepare for jobs: shorten their messages, check that they can write and have a GPU, and write their plan.

    The proofs of what is lost are removed, so that the jobs make it again.
    """
    for handler in logger.handlers:
        if not isinstance(handler, logging.FileHandler):
            handler.addFilter(_worth_showing)
    progress = Progress({batch.id: batch for batch in plan.batches}, logger.info)
    logger.addHandler(progress)
    progress.watch()
    if note := join(Path.cwd()):
        print(note, file=sys.stderr)
    for folder in (plan.config.results, plan.config.root / "logs", plan.config.data / "processed"):
        existing = next(place for place in (folder, *folder.parents) if place.exists())
        if not os.access(existing, os.W_OK):
            raise HypersphereError(
                f"{folder}: cannot be written ({existing} is read-only or belongs to another user)"
            )
    if plan.config.settings.device == "cuda" and local:
        from hypersphere.training import device  # it imports torch, which nothing else here does

        device.devices("cuda")
    plan_file.write(plan)
    for error in markers.damage(plan):
        error.disprove()
        print(f"made again: {error}", file=sys.stderr)


def _foresee(workflow: Any, plan: Plan) -> None:
    """Say in a dry run what is lost, and have the jobs listed that would make it again; nothing is removed."""
    errors = markers.damage(plan)
    asked = workflow.dag_settings
    for error in errors:
        print(f"would be made again: {error}", file=sys.stderr)
    if errors and not asked.targets:  # chosen targets may not need all that is lost
        root = plan.config.root
        proofs = {error.proofs[0].relative_to(root).as_posix() for error in errors}
        forced = asked.forcerun | proofs
        workflow.dag_settings = dataclasses.replace(asked, forcerun=forced)


def join(folder: Path) -> str | None:
    """Register this Snakemake as one at work in ``folder``, and clean up after those that were killed.

    Snakemake's own locks are files, which outlive a killed process. Each of our Snakemakes also holds a lock that the
    system releases when it ends. Whoever gets it exclusively knows that no other is alive on this machine, and removes
    what they left, unless some may be of another machine. Returns a note for the person who started it, if any.
    """
    me = platform.node()
    place = folder / OWN
    alone = True
    try:
        place.mkdir(exist_ok=True)
        # it stays open as long as this process
        handle = os.open(place / "hypersphere.lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        alone = False
    except OSError:
        return None
    record = place / "hypersphere.json"
    locks = place / "locks"
    locked = locks.is_dir() and any(locks.iterdir())
    hosts = files.mapping(files.read_mapping(record).get("hosts"))
    note = None if alone else f"another Snakemake is at work here: process {hosts.get(me)} of {me}"
    if alone and locked and hosts.keys() == {me}:
        shutil.rmtree(locks)
        for leftover in folder.glob(f"results/*/**/.*{files.PART}"):
            # training cleans a run's folder itself, under the run's lock
            if "runs" not in leftover.parts:
                leftover.unlink(missing_ok=True)
        before = f"the Snakemake before this one (process {hosts[me]})"
        note = f"{before} was killed: its locks are removed"
        locked = False
    others = (hosts or {"unknown": 0}) if locked else {}
    files.write_json(record, {"hosts": others | {me: os.getpid()}})
    fcntl.flock(handle, fcntl.LOCK_SH)
    return note
