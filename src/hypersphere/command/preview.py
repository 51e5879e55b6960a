"""``hypersphere plan``: what is done, what would run and why."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hypersphere.config import settings, texts
from hypersphere.config.claims import why_not_made
from hypersphere.config.plan import UNFINISHED, Plan, check_sizes
from hypersphere.errors import HypersphereError
from hypersphere.provenance import markers
from hypersphere.provenance.state import State, look


def lines(plan: Plan, verbose: bool = False) -> Iterator[str]:
    """A summary of the plan, and Snakemake's dry run; with ``verbose``, every artifact, run and job as well.

    It is of what ``only`` asks for; of runs, with those that are trained in the same batches. An artifact that was
    asked for by name and is not made has a line with the reason.
    """
    texts.check(plan)
    check_sizes(plan)
    config, scale = plan.config, plan.config.scale
    reasons = {
        (paper, name): why_not_made(plan, paper, name)
        for paper, document in config.papers.items()
        for name in document.artifacts
        if config.asks_for(paper, name)
    }
    from_runs = sum(key in plan.artifacts and not reason for key, reason in reasons.items())
    made = sum(not reason for reason in reasons.values())
    batches = plan.chosen_batches
    asked = plan.chosen_runs.keys() | {run.name for batch in batches.values() for run in batch.runs}
    # at a glance
    states = {name: look(plan.run_folder(name), 0).state for name in plan.runs if name in asked}
    counts = Counter(states.values())
    counted = ", ".join(f"{count} {word}" for word, count in counts.items())
    lists = {
        "tables": scale.seeds.tables,
        "sweeps": scale.seeds.sweeps,
        "runs that sweeps compare": scale.seeds.compared,
    }
    seeds = [f"{name} {', '.join(map(str, listed))}" for name, listed in lists.items() if listed]
    yield f"scale     {config.scale_name}: {scale.describe}"
    yield f"results   {config.results.relative_to(config.root)}"
    yield f"seeds     of {'; of '.join(seeds)}"
    yield f"artifacts {from_runs} from runs, {made - from_runs} from exact studies, {len(reasons) - made} not made"
    yield f"runs      {counted} (in {len(batches)} batches)" if counted else "runs      none"
    named = {f"{paper}/{name}": reason for (paper, name), reason in reasons.items() if reason}
    yield from (f"not made  {key}: {named[key]}" for key in config.settings.only if key in named)
    yield from (f"lost      {error}" for error in markers.lost(plan))
    yield from _left(
        plan, [name for name, one in states.items() if one in (State.FINISHED, State.DIVERGED)]
    )
    if verbose:
        yield from details(plan, reasons, states, len(batches))
    else:
        yield "`hypersphere plan --verbose` lists every artifact, run and job, with reasons"
    said = dry_run(config.root, config.overrides, briefly=not verbose)
    # a brief one has its table twice
    yield from ("", said if verbose else said[max(0, said.rfind("Job stats:")) :])


def _left(plan: Plan, done: Iterable[str]) -> Iterator[str]:
    """The states of finished runs that a kill left, and what removes them."""
    for name in done:
        for path in plan.run_folder(name).glob(f"{UNFINISHED}*"):
            shown = path.relative_to(plan.config.root)
            yield f"left      {shown}: a kill left it; `hypersphere pretrain {name}` removes it"


def details(
    plan: Plan, reasons: dict[tuple[str, str], str], states: dict[str, State], batches: int
) -> Iterator[str]:
    """The artifacts made from runs, with their cells, how many can be measured and why others cannot; and all runs."""
    listed = [key for key in reasons if key[1] in plan.config.papers[key[0]].measured]
    yield from ("", "artifacts made from runs") if listed else ()
    for key in listed:
        about = f"not made: {reasons[key]}"
        if not reasons[key]:
            points = plan.missing(*key)
            missing = [reason for reason in points.values() if reason]
            rest = f"; {len(missing)} not: {'; '.join(dict.fromkeys(missing))}" if missing else ""
            runs = len(plan.runs_of(*key))
            about = (
                f"{len(points)} cells, {len(points) - len(missing)} measured by {runs} runs{rest}"
            )
        yield f"  {'/'.join(key):<34} {about}"
    yield from ("", f"runs ({len(states)}, in {batches} batches)") if states else ()
    yield from (f"  {one:<10} {name}" for name, one in states.items())
    shown = {
        cell.run.name
        for cell in plan.cells
        if cell.run and plan.config.asks_for(cell.paper, cell.artifact)
    }
    unmeasured = {name: reason for name, reason in plan.unmeasured.items() if name in shown}
    yield from ("", f"runs that cannot be measured yet ({len(unmeasured)})") if unmeasured else ()
    yield from (f"  {name}: {reason}" for name, reason in unmeasured.items())


def calling(overrides: dict[str, Any], *options: str) -> list[str]:
    """The words that call Snakemake with the project's own profile (profiles/default) and these settings."""
    typed = settings.words(overrides)
    return [sys.executable, "-m", "snakemake", *options, *(["--config", *typed] if typed else [])]


def snakemake(
    root: Path, overrides: dict[str, Any], *options: str
) -> subprocess.CompletedProcess[str]:
    """Call Snakemake in a project; what it says is captured."""
    return subprocess.run(
        calling(overrides, *options), cwd=root, capture_output=True, text=True, check=False
    )


def dry_run(root: Path, overrides: dict[str, Any], *options: str, briefly: bool = False) -> str:
    """What Snakemake says of each job that it would start; ``briefly``, how many there are of each rule, and why."""
    quiet = ("--quiet", "host", *(["rules"] if briefly else []))
    done = snakemake(root, overrides, *options, "--dry-run", "--cores", "1", "--nolock", *quiet)
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        ours = [
            line.removeprefix("hypersphere: ") for line in said if line.startswith("hypersphere: ")
        ]
        lines = [
            line
            for line in said
            if line.strip() and not line.startswith("Using workflow specific profile")
        ]
        raise HypersphereError(
            f"snakemake --dry-run: {(ours or lines or ['no output'])[-1].strip()}"
        )
    return done.stdout.strip()
