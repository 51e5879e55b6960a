"""``hypersphere plan``: what is done, what would run and why, and what would measure each claim."""

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere.config.artifacts import Studied
from hypersphere.config.checks import check_texts
from hypersphere.config.claims import Claim, load, why_not_made, why_not_measured
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.provenance import markers
from hypersphere.provenance.state import State, state

GROUPS = 6
"""Groups of jobs that the summary lists."""
FAMILIES = ("artifact", "simulate", "studies")
"""Kinds of job with a rule for each artifact or paper: ``artifact_margins_table2``."""
WORDS = {State.MISSING: "to train"}
"""States of runs that the listing has another word for."""


def kind_of_job(rule: str) -> str:
    """The kind of job that a rule makes: ``artifact`` for ``artifact_margins_table2``."""
    return next((kind for kind in FAMILIES if rule.startswith(f"{kind}_")), rule)


class Job(NamedTuple):
    """One job of Snakemake's dry run."""

    rule: str
    output: str
    reason: str


def jobs(plan: Plan, verbose: bool = False) -> Iterator[str]:
    """A summary of the plan and of Snakemake's jobs; with ``verbose``, every artifact, run and job as well.

    It is of what ``only`` asks for; of runs, with those that are trained in the same batches.
    """
    check_texts(plan)
    found = dry_run(plan.config.root, plan.config.overrides)
    chosen = [key for key in plan.made if plan.config.chosen(*key)]
    batches = {batch.id: batch for key in chosen for batch in plan.batches_of(*key)}
    asked = {run.name for batch in batches.values() for run in batch.runs}
    asked |= {name for key in chosen for name in plan.runs_of(*key)}
    states = {name: state(plan, name) for name in plan.runs if name in asked}
    yield from summary(plan, found, states, len(batches))
    yield from (f"lost      {error}" for error in markers.lost(plan))
    if not verbose:
        yield "`hypersphere plan --verbose` lists every artifact, run and job, with reasons"
        return
    listed = list(artifacts(plan))
    yield from ("", "artifacts made from runs", *listed) if listed else ()
    yield from ("", f"runs ({len(states)}, in {len(batches)} batches)") if states else ()
    yield from (f"  {_word(one):<10} {name}" for name, one in states.items())
    shown = {cell.run.name for cell in plan.cells if cell.run and plan.config.chosen(cell.paper, cell.artifact)}
    unmeasured = {name: reason for name, reason in plan.unmeasured.items() if name in shown}
    yield from ("", f"runs that cannot be measured yet ({len(unmeasured)})") if unmeasured else ()
    yield from (f"  {name}: {reason}" for name, reason in unmeasured.items())
    grouped: dict[tuple[str, str], list[str]] = defaultdict(list)
    for job in found:
        grouped[job.rule, _general(job.reason)].append(job.output)
    yield from ("", f"jobs that would run ({len(found)})") if found else ()
    for (rule, reason), outputs in grouped.items():
        yield f"  {rule} ({len(outputs)}): {reason}"
        yield from (f"    {output}" for output in outputs)


def _word(one: State) -> str:
    return WORDS.get(one, one)


def summary(plan: Plan, jobs: list[Job], states: dict[str, State], batches: int) -> Iterator[str]:
    """About a dozen lines: the scale, how many artifacts, runs and jobs there are, and why jobs would run.

    An artifact that was asked for by name and is not made has a line with the reason.
    """
    scale, config = plan.config.scale, plan.config
    reasons = {
        (paper, name): why_not_made(plan, paper, name)
        for paper, document in config.papers.items()
        for name in document.artifacts
        if config.chosen(paper, name)
    }
    from_runs = sum(key in plan.artifacts and not reason for key, reason in reasons.items())
    made = sum(not reason for reason in reasons.values())
    counts = Counter(map(_word, states.values()))
    counted = ", ".join(f"{count} {word}" for word, count in counts.items())
    tables, sweeps = (", ".join(map(str, seeds)) for seeds in (scale.seeds.tables, scale.seeds.sweeps))
    yield f"scale     {config.scale_name}: {scale.describe}"
    yield f"results   {config.results.relative_to(config.root)}"
    yield f"seeds     of tables {tables}; of sweeps {sweeps}"
    yield f"artifacts {from_runs} from runs, {made - from_runs} from exact studies, {len(reasons) - made} not made"
    yield f"runs      {counted} (in {batches} batches)" if counted else "runs      none"
    named = {f"{paper}/{name}": reason for (paper, name), reason in reasons.items() if reason}
    yield from (f"not made  {key}: {named[key]}" for key in config.settings.only if key in named)
    if not jobs:
        yield "jobs      nothing would run: every result is up to date"
        return
    grouped = Counter((kind_of_job(job.rule), _general(job.reason)) for job in jobs).most_common()
    yield f"jobs      {len(jobs)} would run"
    yield from (f"  {kind} ({count}): {reason}" for (kind, reason), count in grouped[:GROUPS])
    if len(grouped) > GROUPS:
        yield f"  and {len(grouped) - GROUPS} more groups"


def _general(reason: str) -> str:
    """A job's reason without the files that it names."""
    return re.sub(r": \S.*", "", reason)


def artifacts(plan: Plan) -> Iterator[str]:
    """A line for each artifact of ``only`` made from runs: its cells, how many can be measured, why others cannot."""
    for paper, document in plan.config.papers.items():
        for name in document.measured:
            if not plan.config.chosen(paper, name):
                continue
            about = f"not made: {why_not_made(plan, paper, name)}"
            if not why_not_made(plan, paper, name):
                points = plan.missing(paper, name)
                missing = [reason for reason in points.values() if reason]
                rest = f"; {len(missing)} not: {'; '.join(dict.fromkeys(missing))}" if missing else ""
                runs = len(plan.runs_of(paper, name))
                about = f"{len(points)} cells, {len(points) - len(missing)} measured by {runs} runs{rest}"
            yield f"  {f'{paper}/{name}':<34} {about}"


def calling(overrides: dict[str, Any], *options: str) -> list[str]:
    """The words that call Snakemake with the project's own profile (profiles/default) and these settings."""
    settings = [f"{key}={json.dumps(value)}" for key, value in overrides.items()]
    return [sys.executable, "-m", "snakemake", *options, *(["--config", *settings] if settings else [])]


def snakemake(root: Path, overrides: dict[str, Any], *options: str) -> subprocess.CompletedProcess[str]:
    """Call Snakemake in a project; what it says is captured."""
    return subprocess.run(calling(overrides, *options), cwd=root, capture_output=True, text=True, check=False)


def dry_run(root: Path, overrides: dict[str, Any], options: Sequence[str] = ()) -> list[Job]:
    """The jobs that Snakemake would start, with its reason for each."""
    done = snakemake(root, overrides, "--dry-run", "--quiet", "host", "--cores", "1", "--nolock", *options)
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        lines = [line for line in said if not line.startswith("Using workflow specific profile")] or ["no output"]
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


CELL, STUDY, DRAWS, NOTHING = "a cell", "exact study", "draws", "nothing"
"""What would measure a claim: a cell of a table or figure made from runs; an exact study; random draws and round
inputs, for a statement; or nothing at this scale."""


class Bound(NamedTuple):
    """A claim, and what would measure it."""

    paper: str
    claim: Claim
    by: str
    why: str
    """Why nothing would; empty otherwise."""


def bound(plan: Plan) -> list[Bound]:
    """Every claim of the documents in the order of its file; ``only`` restricts them to its artifacts."""
    found = []
    for paper, document in plan.config.papers.items():
        for claim in load(plan.config.claims_file(paper)):
            if not plan.config.chosen(paper, claim.artifact):
                continue
            by, why = DRAWS, ""
            if claim.kind != "theorem":
                why = why_not_measured(plan, paper, claim)
                studied = not why and isinstance(document.artifacts[claim.artifact], Studied)
                by = NOTHING if why else STUDY if studied else CELL
            found.append(Bound(paper, claim, by, why))
    return found


def claims(plan: Plan, verbose: bool = False) -> Iterator[str]:
    """How many claims what would measure, and why nothing would measure some; with ``verbose``, each of those."""
    for paper in plan.config.papers:
        if not (file := plan.config.claims_file(paper)).exists() and plan.config.papers[paper].measured:
            yield f"note      {file}: there is none, so nothing of {paper} is judged"
    found = bound(plan)
    unmeasured = [one for one in found if one.by == NOTHING]
    counts = Counter(one.by for one in found)
    by = ", ".join(f"{way} {counts[way]}" for way in (CELL, STUDY, DRAWS, NOTHING))
    yield f"scale     {plan.config.scale_name}: {plan.config.scale.describe}"
    yield f"claims    {len(found)}; measured by {by}"
    without_coordinates = (
        re.sub(r"(has the coordinates|does not compare|one number with) .*", r"\1 …", one.why) for one in unmeasured
    )
    yield from (f"  {count:>5}  {reason}" for reason, count in Counter(without_coordinates).most_common())
    if verbose:
        yield from (f"  {one.paper}/{one.claim.artifact} {one.claim.id}: {one.why}" for one in unmeasured)
    elif unmeasured:
        yield "`hypersphere plan --claims --verbose` lists each of them with its reason"
