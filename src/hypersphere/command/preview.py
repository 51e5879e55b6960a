"""``hypersphere plan``: what is done, and what would run and why, by Snakemake's dry run."""

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere.config.checks import check_texts
from hypersphere.config.plan import MANIFEST, RESUME, UNFINISHED, Plan
from hypersphere.config.reasons import why_not_made
from hypersphere.errors import HypersphereError
from hypersphere.provenance import markers

GROUPS = 6
"""Groups of jobs that the summary lists."""
FAMILIES = ("artifact", "simulate", "studies")
"""Kinds of job with a rule for each artifact or paper: ``artifact_margins_table2``."""


def kind_of_job(rule: str) -> str:
    """The kind of job that a rule makes: ``artifact`` for ``artifact_margins_table2``."""
    return next((kind for kind in FAMILIES if rule.startswith(f"{kind}_")), rule)


class Job(NamedTuple):
    """One job of Snakemake's dry run."""

    rule: str
    output: str
    reason: str


def show(plan: Plan, overrides: dict[str, Any], verbose: bool = False) -> None:
    """Print a summary of the plan and of Snakemake's jobs; with ``verbose``, every artifact, run and job as well."""
    check_texts(plan)
    jobs = dry_run(plan.config.root, overrides)
    for line in summary(plan, jobs):
        print(line)
    for error in markers.lost(plan):
        print(f"lost      {error}")
    if not verbose:
        print("`hypersphere plan --verbose` lists every artifact, run and job, with reasons")
        return
    for line in (*artifacts(plan), *_runs(plan), *_jobs(jobs)):
        print(line)


def summary(plan: Plan, jobs: list[Job]) -> list[str]:
    """About a dozen lines: the scale, how many artifacts, runs and jobs there are, and why jobs would run.

    An artifact that was asked for by name and is not made has a line with the reason.
    """
    scale, config = plan.config.scale, plan.config
    reasons = {
        (paper, name): why_not_made(plan, paper, name)
        for paper, document in config.papers.items()
        for name in document.artifacts
    }
    from_runs = sum(key in plan.artifacts and not reason for key, reason in reasons.items())
    made = sum(not reason for reason in reasons.values())
    states = Counter(_state(plan.run_folder(name)) for name in plan.runs)
    counted = ", ".join(f"{count} {state}" for state, count in states.items()) or "none"
    lines = [
        f"scale     {config.scale_name}: {scale.describe}",
        f"results   {config.results.relative_to(config.root)}",
        f"seeds     of tables {_listed(scale.seeds.tables)}; of sweeps {_listed(scale.seeds.sweeps)}",
        f"artifacts {from_runs} from runs, {made - from_runs} from exact studies, {len(reasons) - made} not made",
        f"runs      {counted} (in {len(plan.batches)} batches)",
    ]
    named = {f"{paper}/{name}": reason for (paper, name), reason in reasons.items() if reason}
    lines += [f"not made  {key}: {named[key]}" for key in config.settings.only if key in named]
    if not jobs:
        return [*lines, "jobs      nothing would run: every result is up to date"]
    grouped = Counter((kind_of_job(job.rule), _general(job.reason)) for job in jobs).most_common()
    more = len(grouped) - GROUPS
    return [
        *lines,
        f"jobs      {len(jobs)} would run",
        *(f"  {kind} ({count}): {reason}" for (kind, reason), count in grouped[:GROUPS]),
        *([f"  and {more} more groups"] if more > 0 else []),
    ]


def _listed(seeds: list[int]) -> str:
    return ", ".join(map(str, seeds))


def _general(reason: str) -> str:
    """A reason without the files that it names."""
    return re.sub(r": \S.*", "", reason)


def artifacts(plan: Plan) -> list[str]:
    """A line for each artifact made from runs: its cells, how many can be measured, and why others cannot."""
    lines = ["", "artifacts made from runs"]
    for paper, document in plan.config.papers.items():
        lines += [f"  {f'{paper}/{name}':<34} {_artifact(plan, paper, name)}" for name in document.measured]
    return lines


def _artifact(plan: Plan, paper: str, name: str) -> str:
    reason = why_not_made(plan, paper, name)
    if reason:
        return f"not made: {reason}"
    points = plan.missing(paper, name)
    missing = [reason for reason in points.values() if reason]
    rest = f"; {len(missing)} not: {'; '.join(dict.fromkeys(missing))}" if missing else ""
    return f"{len(points)} cells, {len(points) - len(missing)} measured by {len(plan.runs_of(paper, name))} runs{rest}"


def _runs(plan: Plan) -> list[str]:
    lines = ["", f"runs ({len(plan.runs)}, in {len(plan.batches)} batches)"]
    lines += [f"  {_state(plan.run_folder(name)):<10} {name}" for name in plan.runs]
    if plan.unmeasured:
        lines += ["", f"runs that cannot be measured yet ({len(plan.unmeasured)})"]
        lines += [f"  {name}: {reason}" for name, reason in plan.unmeasured.items()]
    return lines


def _jobs(jobs: list[Job]) -> list[str]:
    """The jobs' outputs, grouped by rule and reason."""
    grouped: dict[tuple[str, str], list[str]] = defaultdict(list)
    for job in jobs:
        grouped[job.rule, _general(job.reason)].append(job.output)
    lines = ["", f"jobs that would run ({len(jobs)})"] if jobs else []
    for (rule, reason), outputs in grouped.items():
        lines += [f"  {rule} ({len(outputs)}): {reason}", *(f"    {output}" for output in outputs)]
    return lines


def _state(folder: Path) -> str:
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return "begun" if any(folder.glob(f"{UNFINISHED}*/{RESUME}")) else "to train"
    try:
        return str(json.loads(manifest.read_text())["status"])
    except (ValueError, KeyError):
        return "damaged"


def dry_run(root: Path, overrides: dict[str, Any], options: Sequence[str] = ()) -> list[Job]:
    """The jobs that Snakemake would start, with its reason for each.

    Raises:
        HypersphereError: Snakemake is missing or fails; the sentence is its last line.
    """
    settings = [f"{key}={json.dumps(value)}" for key, value in overrides.items()]
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", "--workflow-profile", "none"]
    command += ["--rerun-triggers", "mtime", "params", "input", "code", "--rerun-incomplete", "--nolock"]
    command += ["--max-checksum-file-size", "1GB", *options]
    command += ["--config", *settings] if settings else []
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines() or ["no output"]
        raise HypersphereError(f"snakemake --dry-run: {lines[-1].strip()}")
    return parse(done.stdout + done.stderr)


def parse(text: str) -> list[Job]:
    """The jobs in the text of a dry run, without rules that only collect files and have no output."""
    jobs = []
    for block in re.split(r"\n(?=(?:local)?rule )", text)[1:]:
        rule = re.match(r"(?:local)?rule (\w+):", block)
        output = re.search(r"^    output: (.+)$", block, flags=re.MULTILINE)
        reason = re.search(r"^    reason: (.+)$", block, flags=re.MULTILINE)
        if rule and output and reason:
            jobs.append(Job(rule[1], output[1], reason[1]))
    return jobs
