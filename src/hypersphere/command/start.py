"""What is done when Snakemake is about to run jobs, or to list those that it would run."""

import dataclasses
import functools
import logging
import sys
import traceback
from pathlib import Path
from typing import Any

from hypersphere.command import console
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.provenance import markers, recovery


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
            except Exception:  # the profile silences Snakemake, which would say nothing at all
                traceback.print_exc()
                sys.exit(1)
        return execute(executor_plugin=executor_plugin, **settings)

    workflow.execute = executing


def _begin(logger: logging.Logger, plan: Plan, local: bool) -> None:
    """Before jobs run: show the console, check what they need, and forget what is lost."""
    if not any(isinstance(handler, console.Handler) for handler in logger.handlers):
        logger.addHandler(console.Handler(plan))
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
