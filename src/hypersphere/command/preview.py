"""``hypersphere plan``: what is done, what would run and why, in Snakemake's own words."""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere.declared.plan import MANIFEST, RESUME, UNFINISHED, Plan
from hypersphere.errors import HypersphereError


class Job(NamedTuple):
    """One job of Snakemake's dry run."""

    rule: str
    output: str
    reason: str


def show(plan: Plan, overrides: dict[str, Any]) -> None:
    """Print the plan: its artifacts, its runs and their state, then Snakemake's jobs, grouped by reason."""
    scale = plan.config.scale
    print(f"scale    {plan.config.scale_name}: {scale.describe}")
    print(f"results  {plan.config.results.relative_to(plan.config.root)}")
    print(f"seeds    of tables {_listed(scale.seeds.tables)}; of sweeps {_listed(scale.seeds.sweeps)}")
    for line in artifacts(plan):
        print(line)
    print(f"\nruns ({len(plan.runs)}, in {len(plan.batches)} batches)")
    for name in plan.runs:
        print(f"  {_state(plan.run_folder(name)):<10} {name}")
    unmeasured = {cell.run.name: cell.missing for cell in plan.cells if cell.run and cell.run.name not in plan.runs}
    if unmeasured:
        print(f"\nruns that cannot be measured yet ({len(unmeasured)})")
        for name, why in unmeasured.items():
            print(f"  {name}: {why}")
    jobs = dry_run(plan.config.root, overrides)
    print(f"\njobs that would run ({len(jobs)})" if jobs else "\nnothing would run: every result is up to date")
    grouped: dict[tuple[str, str], list[str]] = defaultdict(list)
    for job in jobs:
        grouped[job.rule, re.sub(r": \S.*", "", job.reason)].append(job.output)
    for (rule, reason), outputs in grouped.items():
        print(f"  {rule} ({len(outputs)}): {reason}")
        for output in outputs:
            print(f"    {output}")


def _listed(seeds: list[int]) -> str:
    return ", ".join(map(str, seeds))


def artifacts(plan: Plan) -> list[str]:
    """A line for each artifact made from runs: its cells, how many can be measured, and why others cannot."""
    lines = ["", "artifacts made from runs"]
    for paper, document in plan.config.papers.items():
        for name, declared in document.measured.items():
            lines.append(f"  {f'{paper}/{name}':<34} {_artifact(plan, paper, name, declared.missing)}")
    return lines


def _artifact(plan: Plan, paper: str, name: str, missing: str | None) -> str:
    if missing:
        return f"not planned: {missing}"
    cells = plan.artifacts.get((paper, name))
    if cells is None:
        return "left out at this scale"
    points = {cell.text: cell for cell in cells}
    measured = [cell for cell in points.values() if not cell.missing]
    runs = plan.runs_of(paper, name)
    why = dict.fromkeys(cell.missing for cell in points.values() if cell.missing)
    rest = f"; {len(points) - len(measured)} not: {'; '.join(why)}" if why else ""
    return f"{len(points)} cells, {len(measured)} measured by {len(runs)} runs{rest}"


def _state(folder: Path) -> str:
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return "begun" if any(folder.glob(f"{UNFINISHED}*/{RESUME}")) else "to train"
    try:
        return str(json.loads(manifest.read_text())["status"])
    except (ValueError, KeyError):
        return "damaged"


def dry_run(root: Path, overrides: dict[str, Any]) -> list[Job]:
    """The jobs that Snakemake would start, with the reason it gives for each.

    Raises:
        HypersphereError: Snakemake is missing or refuses; its last line says why.
    """
    settings = [f"{key}={json.dumps(value)}" for key, value in overrides.items()]
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", "--workflow-profile", "none"]
    command += ["--rerun-triggers", "mtime", "params", "input", "code", "--rerun-incomplete", "--nolock"]
    command += ["--max-checksum-file-size", "1GB"]
    command += ["--config", *settings] if settings else []
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines() or ["no output"]
        raise HypersphereError(f"snakemake --dry-run: {lines[-1].strip()}")
    return parse(done.stdout + done.stderr)


def parse(text: str) -> list[Job]:
    """Jobs in the text of a dry run; rules that only collect files (no output) are left out."""
    jobs = []
    for block in re.split(r"\n(?=(?:local)?rule )", text)[1:]:
        rule = re.match(r"(?:local)?rule (\w+):", block)
        output = re.search(r"^    output: (.+)$", block, flags=re.MULTILINE)
        reason = re.search(r"^    reason: (.+)$", block, flags=re.MULTILINE)
        if rule and output and reason:
            jobs.append(Job(rule[1], output[1], reason[1]))
    return jobs
