"""Make a lost marker or evaluation again before Snakemake plans its jobs.

Snakemake would make it as a job, and then do every job after it again, although the bytes are the same. Made before, it
is a newer file with the bytes that Snakemake remembers, and nothing follows from it.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hypersphere.declared.cells import raw_pixels
from hypersphere.declared.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.integrity.manifest import check_files

MOST = 4
"""Commands that are run one after another here; more are left to Snakemake, which runs them side by side."""


_NOT_HERE = {
    *("--executor", "-e", "--profile", "--workflow-profile"),
    *("--lint", "--report", "--touch", "-t", "--unlock", "--list-rules", "--list", "-l", "--summary", "-S"),
    *("--detailed-summary", "-D", "--dag", "--rulegraph", "--filegraph", "--d3dag", "--containerize", "--archive"),
}
"""Options of Snakemake with which jobs may run on another machine, or not at all."""


def runs_jobs_here(arguments: Sequence[str]) -> bool:
    """Whether a Snakemake of these arguments runs its jobs on this machine. It knows so itself only after planning."""
    return not any(argument.partition("=")[0] in _NOT_HERE for argument in arguments)


def lost(plan: Plan) -> list[list[str]]:
    """The commands that make lost markers again from what is still there; empty if more is lost than is quick to make.

    A batch whose marker is lost counts if all of its runs are whole, and lost evaluations count if some of the batch
    are there: otherwise there is work for Snakemake anyway.
    """
    commands = []
    for batch in plan.batches:
        names = [run.name for run in batch.runs]
        if not plan.marker(batch).exists():
            if not all(_is_whole(plan.run_folder(name)) for name in names):
                continue
            commands.append(["pretrain", "--batch", batch.id])
        evaluated = any(plan.evaluation(name, digest).is_file() for name in names for digest in plan.asked[name])
        if evaluated and not plan.evaluated_marker(batch.id).exists():
            commands.append(["evaluate", "--batch", batch.id])
    for name, asked in plan.asked_of_pixels.items():
        there = any(plan.evaluation(raw_pixels(name), digest).is_file() for digest in asked)
        if there and not plan.evaluated_marker(raw_pixels(name)).exists():
            commands.append(["evaluate", "--pixels", name])
    return commands if len(commands) <= MOST else []


def mend(plan: Plan, command: Sequence[str], settings: Sequence[str]) -> None:
    """Run the commands of ``lost``. One that fails is left to Snakemake, which shows why.

    Args:
        plan: of the scale.
        command: words that call ``hypersphere``.
        settings: words that give it the settings of this plan.
    """
    for words in lost(plan):
        print(f"making again what was lost: hypersphere {' '.join(words)}", file=sys.stderr, flush=True)
        subprocess.run([*command, *words, *settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _is_whole(folder: Path) -> bool:
    try:
        check_files(folder)
    except HypersphereError:
        return False
    return True
