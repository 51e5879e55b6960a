"""``hypersphere plan``: what is done, what would run and why."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hypersphere import systems
from hypersphere.command.templates import fill
from hypersphere.config import settings, texts
from hypersphere.config.claims import why_not_made
from hypersphere.config.plan import Plan, check_sizes
from hypersphere.errors import HypersphereError
from hypersphere.file_names import UNFINISHED
from hypersphere.provenance import markers, state
from hypersphere.training import sign_of_life
from hypersphere.training.sign_of_life import Alive

TOTALS = "Job stats:"
"""How Snakemake's table of jobs begins, which a brief dry run has twice."""
OF_THE_PROFILE = "Using workflow specific profile"
"""How a line of Snakemake begins that says nothing of an error."""


def lines(plan: Plan, verbose: bool = False) -> Iterator[str]:
    """A summary of the plan, and Snakemake's dry run; with ``verbose``, every artifact, run and job as well.

    Both are of what ``only`` asks for. Its runs come with those that are trained in the same batches.
    """
    texts.check(plan)
    check_sizes(plan)
    yield from summary(plan, verbose).splitlines()
    yield ""
    jobs = dry_run(plan.config.root, plan.config.overrides, briefly=not verbose)
    if not verbose and TOTALS in jobs:
        jobs = jobs[jobs.rindex(TOTALS) :]
    yield jobs


def summary(plan: Plan, verbose: bool) -> str:
    """The plan in our words (templates/plan.txt)."""
    config = plan.config
    measured: list[tuple[str, str]] = []
    not_made: dict[str, str] = {}
    for paper, document in config.papers.items():
        for name in document.artifacts:
            if not config.asks_for(paper, name):
                continue
            if name in document.measured:
                measured.append((paper, name))
            if reason := why_not_made(plan, paper, name):
                not_made[f"{paper}/{name}"] = reason
    shown = {*plan.chosen_runs}
    for batch in plan.chosen_batches.values():
        shown.update(run.name for run in batch.runs)
    folders = {name: plan.run_folder(name) for name in plan.runs if name in shown}
    # at a glance
    found = {name: state.look(folder, 0) for name, folder in folders.items()}
    states = {name: one.state for name, one in found.items()}
    unfinished: list[tuple[str, Path]] = []
    training: dict[str, Alive] = {}
    for name, one in found.items():
        for path in folders[name].glob(f"{UNFINISHED}*"):
            if one.done:
                unfinished.append((name, path))
            elif alive := sign_of_life.read(path):
                training[name] = alive
    unmeasured: dict[str, str] = {}
    for cell in plan.cells:
        if (
            cell.run
            and cell.run.name in plan.unmeasured
            and config.asks_for(cell.paper, cell.artifact)
        ):
            unmeasured[cell.run.name] = plan.unmeasured[cell.run.name]
    seeds = config.scale.seeds
    return fill(
        "plan.txt",
        plan=plan,
        verbose=verbose,
        seeds={
            "tables": seeds.tables,
            "sweeps": seeds.sweeps,
            "runs that sweeps compare": seeds.compared,
        },
        measured=measured,
        not_made=not_made,
        states=states,
        counts=Counter(states.values()),
        unfinished=unfinished,
        training=training,
        unmeasured=unmeasured,
        lost=markers.damage(plan),
    )


def complaints(lines: Iterable[str]) -> list[str]:
    """The sentences with which our commands ended, among what programs say."""
    begins = "hypersphere: "
    return [line.removeprefix(begins) for line in lines if line.startswith(begins)]


def calling(overrides: dict[str, Any], *options: str) -> list[str]:
    """The words that call Snakemake with the project's own profile (profiles/default) and these settings.

    Raises:
        HypersphereError: this system is not a Unix.
    """
    if sentence := systems.why_not("snakemake"):
        raise HypersphereError(sentence)
    typed = settings.words(overrides)
    config = ["--config", *typed] if typed else []
    return [sys.executable, "-m", "snakemake", *options, *config]


def snakemake(
    root: Path, overrides: dict[str, Any], *options: str
) -> subprocess.CompletedProcess[str]:
    """Call Snakemake in a project; what it says is captured."""
    words = calling(overrides, *options)
    return subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)


def dry_run(root: Path, overrides: dict[str, Any], *options: str, briefly: bool = False) -> str:
    """What Snakemake says of each job that it would start; ``briefly``, how many there are of each rule, and why."""
    quiet = ["--quiet", "host", *(["rules"] if briefly else [])]
    done = snakemake(root, overrides, *options, "--dry-run", "--cores", "1", "--nolock", *quiet)
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines()
        others = [line.strip() for line in lines if not line.startswith(OF_THE_PROFILE)]
        spoken = [line for line in others if line]
        *_, last = complaints(lines) or spoken or ["no output"]
        raise HypersphereError(f"snakemake --dry-run: {last.strip()}")
    return done.stdout.strip()
