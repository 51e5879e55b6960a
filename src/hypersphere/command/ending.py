"""The end of a rebuild on the console: what was done, the verdicts, the files to open and the next command."""

import csv
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.command.progress import clock
from hypersphere.declared.config import COMMAND_LINE, Config
from hypersphere.declared.plan import MANIFEST, Plan
from hypersphere.nouns import counted

DEFAULT_SCALE = "quick"
"""The Makefile's."""
PAGES = ("scorecard.html", "paper.pdf")
READABLE = (".md", ".svg")
"""The forms of tables and figures that a person opens."""


def finished(plan: Plan, jobs: int, seconds: float, runs: int) -> list[str]:
    """The lines at the end of a rebuild.

    Args:
        plan: that was carried out.
        jobs: number of jobs done; 0: there was nothing to do.
        seconds: that they took.
        runs: number of runs trained.
    """
    done = f"done in {clock(seconds)}: {counted(jobs, 'job')}, {counted(runs, 'run')} trained"
    first = done if jobs else "nothing to do: every result is up to date"
    return [first, *_results(plan), f"next   {next_command(plan.config)}"]


def failed(done: int, total: int, failures: int, seconds: float) -> str:
    """The line at the end of a rebuild in which jobs failed."""
    return (
        f"stopped after {clock(seconds)}: {done} of {counted(total, 'job')} done, {failures} failed as shown above. "
        "Mend the cause and run the same command again; finished jobs stay finished"
    )


def trained_since(plan: Plan, started: float) -> int:
    """How many runs have been finished since ``started`` (seconds since 1970)."""
    manifests = [plan.run_folder(name) / MANIFEST for name in plan.runs]
    return sum(manifest.is_file() and manifest.stat().st_mtime >= started for manifest in manifests)


def _results(plan: Plan) -> list[str]:
    """The verdicts and the files to open; only tables and figures where ``only`` chose some."""
    results, only = plan.config.results, plan.config.settings.only
    if only:
        shown = [path for path in _chosen_outputs(plan) if path.suffix in READABLE]
    else:
        shown = [results / name for name in PAGES]
    paths = [path.relative_to(plan.config.root).as_posix() for path in shown if path.is_file()]
    verdicts = {} if only else _verdicts(results / "claims.csv")
    listed = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
    claims = counted(sum(verdicts.values()), "printed claim")
    return [
        *([f"{claims}: {listed}"] if verdicts else []),
        *([f"open   {' and '.join(paths[:2])}{_more(len(paths) - 2)}"] if paths else []),
    ]


def _more(number: int) -> str:
    return f" and {number} more" if number > 0 else ""


def _chosen_outputs(plan: Plan) -> list[Path]:
    """The files of the tables and figures that ``only`` chose."""
    studied = [(paper, name) for paper in plan.config.papers for name in plan.config.studied(paper)]
    return [path for key in (*plan.made, *studied) if plan.config.chosen(*key) for path in plan.outputs(*key)]


def _verdicts(claims: Path) -> dict[str, int]:
    """How many printed claims have each verdict, the commonest first; empty if there is no claims.csv.

    Corrected readings and claims of our own are not among them: the scorecard counts them apart.
    """
    if not claims.is_file():
        return {}
    with claims.open(encoding="utf-8", newline="") as handle:
        printed = [row["verdict"] for row in csv.DictReader(handle) if row["origin"] == "printed"]
    return dict(Counter(printed).most_common())


def next_command(config: Config) -> str:
    """``make verify`` with the settings of this rebuild."""
    named = ("scale", "only")
    changed = [key for key in config.overrides if key not in named and config.sources[key] == COMMAND_LINE]
    settings = [shlex.quote(f"{key}={_text(config.overrides[key])}") for key in changed]
    words = [
        *([f"SCALE={config.settings.scale}"] if config.settings.scale != DEFAULT_SCALE else []),
        *([f"ONLY={' '.join(config.settings.only)}"] if config.settings.only else []),
        *([f"SET={' '.join(settings)}"] if settings else []),
    ]
    return shlex.join(["make", "verify", *words])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else files.canonical_json(value)
