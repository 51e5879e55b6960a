"""The tables that trackers write, each recognised by its columns and turned into runs with a name, settings and values.

A table of another kind is left as it is: somebody wrote it, with a column for each thing.
"""

import re
from collections.abc import Collection, Iterable
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from hypersphere.errors import HypersphereError
from hypersphere.judging.sheet import Line, Sheet

TABLE = "a table"
OF_FILE = "run"
"""The column with the name of a run that has a file of its own."""
LOGGED = re.compile(r"run-(?P<run>.+)-tag-(?P<tag>.+)")
"""The name of a file that TensorBoard's page downloads."""

A_SEED = re.compile(r"(seed|run|trial|s)?[-_ ]?(?P<seed>[0-9]+)")
"""The name of a column with the values of one seed."""

ABOUT_WANDB = (
    *("ID", "Notes", "User", "Tags", "Created", "Runtime", "Sweep"),
    *("_step", "_timestamp", "_runtime"),
)
ABOUT_MLFLOW = (
    *("run_id", "experiment_id", "artifact_uri", "start_time", "end_time"),
    *("Run ID", "Start Time", "Duration", "Source Type", "Source Name", "User"),
)
"""Columns of a tracker that are about a run, and never its value."""


class Export(NamedTuple):
    """A table whose columns are known by the tracker that wrote it."""

    source: str
    """Who wrote it, in words."""
    sheet: Sheet
    names: tuple[str, ...] = ()
    """Columns with the names of runs, in which an arm's name may stand before a seed."""
    others: Collection[str] = ()
    """Columns that never hold a value that is judged."""
    is_of_runs: bool = False
    """Whether each line is a run, so that a column of steps only says how long it was."""


def of(sheet: Sheet) -> Export:
    """What a table is, by its columns."""
    for recognise in (wandb_chart, wandb_table, mlflow, tensorboard, lightning, by_seed):
        if (found := recognise(sheet)) is not None:
            return found
    return Export(TABLE, sheet)


def wandb_chart(sheet: Sheet) -> Export | None:
    """A chart of Weights & Biases: a column for each run, ``NAME - metric``, beside its least and greatest value."""
    extremes = [name for name in sheet.header if name.endswith(("__MIN", "__MAX"))]
    if not extremes:
        return None
    step = sheet.header[0]
    lines = []
    for name in sheet.header:
        run, dash, metric = name.rpartition(" - ")
        if name in extremes or not dash:
            continue
        for line, text in sheet.column(name):
            fields = {"run": run, "metric": metric, "step": line.fields[step], "value": text}
            lines.append(Line(line.number, fields))
    long = sheet._replace(header=("run", "metric", "step", "value"), lines=lines)
    return Export("a chart of Weights & Biases", long, ("run",))


def wandb_table(sheet: Sheet) -> Export | None:
    """The table of runs of Weights & Biases: a line for each run, with its state, settings and last values."""
    if not {"Name", "State"} <= set(sheet.header):
        return None
    source = "the table of runs of Weights & Biases"
    return Export(source, sheet, ("Name",), ABOUT_WANDB, is_of_runs=True)


def mlflow(sheet: Sheet) -> Export | None:
    """The runs of MLflow, from its page or from ``search_runs().to_csv()``, whose names of columns have prefixes."""
    by_search = "run_id" in sheet.header and any(one.startswith("metrics.") for one in sheet.header)
    if not by_search and not {"Run ID", "Status", "Start Time"} <= set(sheet.header):
        return None
    short = [one.removeprefix("metrics.").removeprefix("params.") for one in sheet.header]
    names = short if len(set(short)) == len(short) else sheet.header
    tags = [one for one in names if one.startswith("tags.")]
    others = {*ABOUT_MLFLOW, *tags}
    run_names = tuple(one for one in ("Name", "tags.mlflow.runName") if one in names)
    return Export("the runs of MLflow", sheet.renamed(names), run_names, others, is_of_runs=True)


def tensorboard(sheet: Sheet) -> Export | None:
    """One curve of TensorBoard, which is one run; its file is named after the run."""
    if sheet.header != ("Wall time", "Step", "Value"):
        return None
    named = LOGGED.fullmatch(sheet.file.stem)
    run = named["run"] if named else name_of(sheet.file)
    return Export("curves of TensorBoard", _of_one_run(sheet, run), (OF_FILE,), ("Wall time",))


def lightning(sheet: Sheet) -> Export | None:
    """The ``metrics.csv`` of Lightning's CSV logger, which is one run; its folder is named after the run."""
    if sheet.file.name != "metrics.csv" or "step" not in sheet.header:
        return None
    run = name_of(sheet.file.parent)
    return Export("metrics of Lightning", _of_one_run(sheet, run), (OF_FILE,))


def by_seed(sheet: Sheet) -> Export | None:
    """A table with a column for each seed, ``seed0`` or ``run 1``, and a line for each arm."""
    of_seeds = {name: found for name in sheet.header if (found := A_SEED.fullmatch(name.lower()))}
    if len(of_seeds) < 2:
        return None
    others = tuple(name for name in sheet.header if name not in of_seeds)
    lines = []
    for line in sheet.lines:
        about = {name: line.fields[name] for name in others}
        for name, found in of_seeds.items():
            if text := line.fields[name]:
                lines.append(line._replace(fields={**about, "seed": found["seed"], "value": text}))
    long = sheet._replace(header=(*others, "seed", "value"), lines=lines)
    return Export("a table with a column for each seed", long)


def _of_one_run(sheet: Sheet, run: str) -> Sheet:
    lines = [line._replace(fields={OF_FILE: run, **line.fields}) for line in sheet.lines]
    return sheet._replace(header=(OF_FILE, *sheet.header), lines=lines)


def name_of(path: Path) -> str:
    """The name of a run by its place: the last two parts of its path, ``cut/seed3``."""
    parts = [part for part in path.with_suffix("").parts if part not in (".", "..", path.anchor)]
    return "/".join(parts[-2:])


def together(exports: Iterable[Export], folder: Path) -> Export:
    """The runs of several files as one table; all must be of one kind, and have a run each."""
    found = list(exports)
    if not found:
        raise HypersphereError(f"{folder}: holds no CSV file")
    first = found[0]
    for one in found:
        if one.source != first.source or OF_FILE not in one.sheet.header:
            raise HypersphereError(
                f"{one.sheet.file}: is {one.source}, and a folder is read if each file in it is one run of TensorBoard "
                "or of Lightning"
            )
    header = tuple(dict.fromkeys(chain.from_iterable(one.sheet.header for one in found)))
    blank = dict.fromkeys(header, "")
    every = chain.from_iterable(one.sheet.lines for one in found)
    lines = [line._replace(fields=blank | line.fields) for line in every]
    sheet = Sheet(folder, header, lines, has_points=True)
    return first._replace(sheet=sheet)


SEEDED = re.compile(
    r"(?P<arm>.+?)([-_/ .]+(seed|s|run|rep|trial|version)?[-_= ]?|[-_= ]?)(?P<seed>[0-9]+)"
)
"""A run's name that ends with its seed; a word for it needs a mark before it, so that the s of cuts is not one."""


def split(name: str) -> tuple[str, str]:
    """The arm and the seed in a run's name, ``cut-seed3`` or ``cut/3``; without a number the whole is the arm."""
    found = SEEDED.fullmatch(name)
    return (found["arm"], found["seed"]) if found else (name, "")
