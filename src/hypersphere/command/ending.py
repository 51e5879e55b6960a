"""The end of a rebuild on the console: what was done, the verdicts, the files to open and the next command."""

import csv
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.config.project import COMMAND_LINE, Config
from hypersphere.wording import counted

DEFAULT_SCALE = "quick"
"""The Makefile's."""
PAGES = ("scorecard.html", "paper.pdf")
READABLE = (".md", ".svg")
"""The forms of tables and figures that a person opens."""
MOST = 6
"""Files that are named to open."""


def clock(seconds: float) -> str:
    """Minutes and seconds, and hours if there are any: ``1:05``, ``2:00:10``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


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
    rest = [f"rest   {next_command(plan.config, whole=True)}"] if plan.config.settings.only else []
    return [first, *_results(plan), f"next   {next_command(plan.config)}", *rest]


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
    """The verdicts and the files to open; only of tables and figures where ``only`` chose some."""
    results, only = plan.config.results, plan.config.settings.only
    files_of = [plan.artifact_folder(*key) / "claims.csv" for key in plan.made if plan.config.chosen(*key)]
    if only:
        shown = [path for path in _chosen_outputs(plan) if path.suffix in READABLE]
        tables = {(path.parent.name, path.stem) for path in shown if path.suffix == ".md"}  # which hold their verdicts
        shown += [path for path in files_of if path.parts[-3:-1] not in tables]
    else:
        shown = [results / name for name in PAGES]
    paths = [path.relative_to(plan.config.root).as_posix() for path in shown if path.is_file()]
    verdicts = _verdicts(*(files_of if only else [results / "claims.csv"]))
    listed = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
    claims = counted(sum(verdicts.values()), "printed claim")
    return [
        *([f"{claims}: {listed}"] if verdicts else []),
        *([f"open   {' and '.join(paths[:MOST])}{_more(len(paths) - MOST)}"] if paths else []),
    ]


def _more(number: int) -> str:
    return f" and {number} more" if number > 0 else ""


def _chosen_outputs(plan: Plan) -> list[Path]:
    """The files of the tables and figures that ``only`` chose."""
    studied = [(paper, name) for paper in plan.config.papers for name in plan.config.studied(paper)]
    return [path for key in (*plan.made, *studied) if plan.config.chosen(*key) for path in plan.outputs(*key)]


def _verdicts(*tables: Path) -> dict[str, int]:
    """How many printed claims have each verdict, the commonest first; empty if no claims.csv exists.

    Corrected readings and claims of our own are not among them: the scorecard counts them apart.
    """
    counted: Counter[str] = Counter()
    for table in filter(Path.is_file, tables):
        with table.open(encoding="utf-8", newline="") as handle:
            counted.update(row["verdict"] for row in csv.DictReader(handle) if row["origin"] == "printed")
    return dict(counted.most_common())


def next_command(config: Config, whole: bool = False) -> str:
    """``make verify`` with the settings of this rebuild, or the command that makes all that ``only`` leaves out."""
    named = ("scale", "only")
    changed = [key for key in config.overrides if key not in named and config.sources[key] == COMMAND_LINE]
    settings = [shlex.quote(f"{key}={_text(config.overrides[key])}") for key in changed]
    words = [
        *([f"SCALE={config.settings.scale}"] if config.settings.scale != DEFAULT_SCALE else []),
        *([f"ONLY={' '.join(config.settings.only)}"] if config.settings.only and not whole else []),
        *([f"SET={' '.join(settings)}"] if settings else []),
    ]
    return shlex.join(["make", "reproduce" if whole else "verify", *words])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else files.canonical_json(value)
