"""Anybody's table of runs, of whatever shape, as each arm's values by seed: the border, where bad input is refused.

The baseline's name tells the shape. Where it stands in a column, that column has the arms; where it is a column's own
name, each arm has a column. Other columns are known by their names, or as ``--column value=top1`` says.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from hypersphere.audit import numerals
from hypersphere.audit.numerals import PERCENT, Written
from hypersphere.audit.table import PLUS_OR_MINUS
from hypersphere.errors import HypersphereError
from hypersphere.judging import exports, sheet
from hypersphere.judging.exports import Export
from hypersphere.judging.sheet import Line, Sheet
from hypersphere.statistics.effects import Moments, Sample

ROLES = ("arm", "seed", "dataset", "value", "metric", "step", "status", "mean", "std", "n")
"""What a column can be, for ``--column ROLE=NAME``."""
KNOWN: Mapping[str, tuple[str, ...]] = {
    "seed": ("seed", "random_seed", "rng_seed", "trial", "replicate", "repeat"),
    "dataset": ("dataset", "data", "task", "benchmark", "env", "environment"),
    "metric": ("metric", "measure", "tag"),
    "step": ("epoch", "step", "global_step", "_step", "iteration"),
    "status": ("status", "state"),
    "mean": ("mean",),
    "std": ("std", "sd", "stdev"),
    "n": ("n", "runs", "seeds"),
    "value": ("value", "score"),
}
"""The names by which a column is known, in lower case and after its last / or dot; the first that is there counts."""
FINISHED = ("", "finished", "completed", "complete", "done", "success")
LOST = ("diverged", "failed", "crashed", "killed")
"""Words in place of the value of a run that has none."""
LIKE_SHARE = 2.0
"""A number below 1 is taken for a share if a hundred times of it is so near to the percents beside it."""


class Asked(NamedTuple):
    """What is known of a table besides its text."""

    baseline: str
    controls: tuple[str, ...] = ()
    columns: Mapping[str, str] = {}
    """Columns by role, where their names do not tell."""
    metric: str = ""
    """Which of several metrics is judged."""
    decimal: str | None = None
    """The mark before decimals; None: as the numbers tell."""


class Runs(NamedTuple):
    """The runs of a table."""

    file: Path
    source: str
    """What the table was recognised as."""
    measure: str
    """The name of the column, or of the metric, that is judged."""
    arms: dict[str, dict[str, Sample]]
    """The runs of each arm, by dataset and arm, in the table's order. Without seeds, each run has a key of its own."""
    lost: Counter[tuple[str, str]]
    """The number of runs without a value, by dataset and arm."""
    has_seeds: bool
    last_steps: dict[tuple[str, str], set[float]]
    """The steps at which runs ended, by dataset and arm, where the table has their course."""


class Cell(NamedTuple):
    """A run of the table, or one step of it."""

    line: Line
    arm: str
    dataset: str
    seed: str
    text: str
    """The value as it is written."""


def read(path: Path, asked: Asked) -> Runs:
    """The runs of a table, of an export, or of a folder in which each file is one run.

    Raises:
        HypersphereError: if columns cannot be told apart, or a number cannot be read.
    """
    if path.is_dir():
        files = sorted(path.rglob("*.csv"))
        export = exports.together((exports.of(sheet.read(file)) for file in files), path)
    else:
        export = exports.of(sheet.read(path))
    if not export.sheet.lines:
        raise HypersphereError(f"{path}: has no run, only a header")
    roles = _roles(export.sheet, asked.columns)
    table = _of_metric(export.sheet, roles, asked.metric)
    if asked.baseline in table.header:
        cells = list(_by_column(table, roles, asked))
        measure = "value"
    else:
        arm, names = _arms(export._replace(sheet=table), roles, asked)
        column = "mean" if "mean" in roles else "value"
        measure = roles.get(column) or _value(export, table, {*roles.values(), arm})
        cells = list(_by_line(table, arm, names, roles, measure))
    source = Export(export.source, table)
    if "mean" in roles:
        return _summary(source, cells, roles, asked, measure)
    return _runs(source, cells, roles, asked, asked.metric or measure)


# Columns


def _roles(table: Sheet, given: Mapping[str, str]) -> dict[str, str]:
    """The columns of known roles: those that are given, then those that their names tell."""
    for role, column in given.items():
        if column not in table.header:
            listed = ", ".join(table.header)
            raise HypersphereError(
                f"{table.file}: column '{column}': is not there, and --column says that it is the {role} ({listed})"
            )
    short = {name: _last_part(name) for name in table.header}
    roles = dict(given)
    for role, words in KNOWN.items():
        named = _first(words, short)
        if role not in roles and named is not None and named not in roles.values():
            roles[role] = named
    if not {"mean", "std", "n"} <= roles.keys():
        for role in {"mean", "std", "n"} - given.keys():
            roles.pop(role, None)
    return roles


def _last_part(name: str) -> str:
    """What a column's name says after its last / or dot: ``params.seed``, ``test/acc``."""
    return name.lower().replace(".", "/").rpartition("/")[2]


def _first(words: Iterable[str], short: Mapping[str, str]) -> str | None:
    """The column of the first of some words that a column has for its short name."""
    for word in words:
        for name, part in short.items():
            if part == word:
                return name
    return None


def _of_metric(table: Sheet, roles: Mapping[str, str], metric: str) -> Sheet:
    """The lines of one metric, where a column says of which metric a line is."""
    if "metric" not in roles:
        return table
    named = dict.fromkeys(table.texts(roles["metric"]))
    if not metric and len(named) > 1:
        raise HypersphereError(
            f"{table.file}: column '{roles['metric']}': has {', '.join(named)}; say which with --metric"
        )
    metric = metric or next(iter(named))
    if metric not in named:
        raise HypersphereError(
            f"{table.file}: column '{roles['metric']}': lacks {metric} (it has {', '.join(named)})"
        )
    lines = [line for line, text in table.column(roles["metric"]) if text == metric]
    return table._replace(lines=lines)


def _arms(export: Export, roles: Mapping[str, str], asked: Asked) -> tuple[str, bool]:
    """The column with the arms, and whether it has names of runs, in which a seed follows the arm."""
    table = export.sheet
    free = [name for name in table.header if name not in roles.values()]
    if "arm" in roles:
        return roles["arm"], False
    holding = [name for name in free if asked.baseline in table.texts(name)]
    if len(holding) == 1:
        return holding[0], False
    if holding:
        raise HypersphereError(
            f"{table.file}: columns {' and '.join(holding)}: each holds the baseline '{asked.baseline}'; say which one "
            "has the arms, as --column arm=NAME"
        )
    for name in export.names:
        if asked.baseline in {exports.split(text)[0] for text in table.texts(name)}:
            return name, True
    raise HypersphereError(
        f"{table.file}: no column holds the baseline '{asked.baseline}'; the columns are {', '.join(table.header)}"
    )


def _value(export: Export, table: Sheet, taken: set[str]) -> str:
    """The one column of numbers that has no other role."""
    free = [name for name in table.header if name not in taken and name not in export.others]
    numeric = [name for name in free if _holds_numbers(table.texts(name))]
    if len(numeric) == 1:
        return numeric[0]
    if not numeric:
        raise HypersphereError(
            f"{table.file}: value: no column holds the numbers to judge ({', '.join(table.header)})"
        )
    raise HypersphereError(
        f"{table.file}: columns {', '.join(numeric)}: each may be what is judged; say which, as --column value=NAME"
    )


def _holds_numbers(texts: Iterable[str]) -> bool:
    """Whether most texts of a column are numbers, but for empty ones and those of lost runs."""
    said = [text for text in texts if text and text.lower() not in LOST]
    numbers = [text for text in said if _is_number(text)]
    return 2 * len(numbers) > len(said)


def _is_number(text: str) -> bool:
    return any(numerals.read(text, mark) is not None for mark in numerals.OTHER)


# Cells


def _by_line(
    table: Sheet, arm: str, names: bool, roles: Mapping[str, str], value: str
) -> Iterator[Cell]:
    """The runs of a table that has a line for each run, or for each of its steps."""
    for line in table.lines:
        named, seed = exports.split(line.fields[arm]) if names else (line.fields[arm], "")
        if "seed" in roles:
            seed = line.fields[roles["seed"]]
        dataset = line.fields[roles["dataset"]] if "dataset" in roles else ""
        yield Cell(line, named, dataset, seed, line.fields[value])


def _by_column(table: Sheet, roles: Mapping[str, str], asked: Asked) -> Iterator[Cell]:
    """The runs of a table that has a column for each arm and a line for each seed."""
    arms = [name for name in table.header if name not in roles.values()]
    for line in table.lines:
        seed = line.fields[roles["seed"]] if "seed" in roles else ""
        dataset = line.fields[roles["dataset"]] if "dataset" in roles else ""
        for arm in arms:
            if line.fields[arm]:
                yield Cell(line, arm, dataset, seed, line.fields[arm])


def _runs(
    export: Export, cells: Sequence[Cell], roles: Mapping[str, str], asked: Asked, measure: str
) -> Runs:
    """The values of the runs, each at its last step where there are several."""
    table = export.sheet
    lost: Counter[tuple[str, str]] = Counter()
    whole = []
    for cell in cells:
        status = cell.line.fields[roles["status"]] if "status" in roles else ""
        if status.lower() not in FINISHED or cell.text.lower() in LOST:
            lost[cell.dataset, cell.arm] += 1
        else:
            whole.append(cell)
    has_seeds = all(cell.seed for cell in whole)
    has_course = "step" in roles and _repeats(whole) and _has_steps(table, roles["step"], has_seeds)
    last_steps: dict[tuple[str, str], set[float]] = defaultdict(set)
    if has_course:
        whole, last_steps = _last(table, whole, roles["step"])
    values = _numbers(table, [(cell.line, measure, cell.text) for cell in whole], asked.decimal)
    arms: dict[str, dict[str, dict[object, float]]] = {}
    lines: dict[tuple[str, str, object], int] = {}
    for at, (cell, value) in enumerate(zip(whole, values, strict=True)):
        seed = _seed(cell.seed) if has_seeds else ("run", at)
        first = lines.setdefault((cell.dataset, cell.arm, seed), cell.line.number)
        of_arm = arms.setdefault(cell.dataset, {}).setdefault(cell.arm, {})
        if seed in of_arm:
            raise HypersphereError(
                f"{table.file}: line {cell.line.number}: '{cell.arm}' has seed {cell.seed} twice, first on line {first}"
            )
        of_arm[seed] = value
    _refuse_mixed(table.file, arms, lines)
    found: dict[str, dict[str, Sample]] = {one: {**of_dataset} for one, of_dataset in arms.items()}
    _check(table.file, found, asked)
    return Runs(table.file, export.source, measure, found, lost, has_seeds, last_steps)


def _seed(text: str) -> object:
    """A seed as a number, so that 3 and 3.0 are one."""
    number = numerals.read(text, ".")
    return int(number) if number is not None and number == int(number) else text


def _repeats(cells: Iterable[Cell]) -> bool:
    """Whether a run has several lines."""
    counts = Counter((cell.arm, cell.dataset, cell.seed) for cell in cells)
    return max(counts.values(), default=0) > 1


def _has_steps(table: Sheet, step: str, has_seeds: bool) -> bool:
    """Whether lines differ in their step: then they are of one run, and something must tell runs apart."""
    if len(set(table.texts(step))) < 2:
        return False
    if not has_seeds:
        raise HypersphereError(
            f"{table.file}: column '{step}': runs have several lines, and no column has their seeds"
        )
    return True


def _last(
    table: Sheet, cells: Iterable[Cell], step: str
) -> tuple[list[Cell], dict[tuple[str, str], set[float]]]:
    """Each run's line with a value at its last step, and the last steps by dataset and arm."""
    last: dict[tuple[str, str, str], tuple[float, Cell]] = {}
    for cell in cells:
        at = numerals.read(cell.line.fields[step], ".") if cell.text else None
        run = cell.dataset, cell.arm, cell.seed
        if at is not None and (run not in last or float(at) >= last[run][0]):
            last[run] = float(at), cell
    if not last:
        raise HypersphereError(f"{table.file}: column '{step}': no line with a value has a number")
    steps: dict[tuple[str, str], set[float]] = defaultdict(set)
    for (dataset, arm, _), (step_of_run, _) in last.items():
        steps[dataset, arm].add(step_of_run)
    return [cell for _, cell in last.values()], steps


def _summary(
    export: Export, cells: Sequence[Cell], roles: Mapping[str, str], asked: Asked, measure: str
) -> Runs:
    """The arms of a table of means, standard deviations and numbers of runs, as papers publish them.

    A published standard deviation of zero is at most half a unit of its last place.
    """
    file = export.sheet.file
    means = [(cell.line, roles["mean"], cell.text) for cell in cells]
    stds = [(cell.line, roles["std"], cell.line.fields[roles["std"]]) for cell in cells]
    counts = [(cell.line, roles["n"], cell.line.fields[roles["n"]]) for cell in cells]
    numbers = [_numbers(export.sheet, texts, asked.decimal) for texts in (means, stds)]
    arms: dict[str, dict[str, Sample]] = {}
    for cell, mean, std, (line, column, text) in zip(cells, *numbers, counts, strict=True):
        place = f"{file}: line {line.number}"
        if std < 0:
            raise HypersphereError(
                f"{place}: {roles['std']}: must not be negative (given: {std:g})"
            )
        if cell.arm in arms.setdefault(cell.dataset, {}):
            raise HypersphereError(f"{place}: arm '{cell.arm}' is given twice")
        n = numerals.count(text, f"{place}: {column}", numerals.POINT)
        decimals = len(line.fields[roles["std"]].replace(",", ".").partition(".")[2].rstrip("% "))
        arms[cell.dataset][cell.arm] = Moments(n, mean, std or 0.5 * 10.0**-decimals)
    _check(file, arms, asked)
    return Runs(file, f"{export.source} of means", measure, arms, Counter(), False, {})


def _check(file: Path, arms: Mapping[str, Mapping[str, Sample]], asked: Asked) -> None:
    """Refuse a dataset without its baseline, a control that is nowhere, and an arm of one run."""
    everywhere = dict.fromkeys(chain.from_iterable(arms.values()))
    for control in asked.controls:
        if control not in everywhere:
            raise HypersphereError(
                f"{file}: control '{control}': is not an arm of the table ({', '.join(everywhere)})"
            )
    for dataset, of_dataset in arms.items():
        place = f"{file}: dataset '{dataset}'" if dataset else f"{file}"
        if asked.baseline not in of_dataset:
            raise HypersphereError(f"{place}: has no run of the baseline '{asked.baseline}'")
        for arm, runs in of_dataset.items():
            n = runs.n if isinstance(runs, Moments) else len(runs)
            if n < 2 and arm not in asked.controls:
                where = f" on {dataset}" if dataset else ""
                raise HypersphereError(
                    f"{file}: arm '{arm}': has one run{where}; an arm needs two, unless --control names it"
                )
        if not of_dataset.keys() - {asked.baseline, *asked.controls}:
            raise HypersphereError(f"{place}: has no arm beside the baseline '{asked.baseline}'")


# Numbers


def _numbers(
    table: Sheet, texts: Sequence[tuple[Line, str, str]], decimal: str | None
) -> list[float]:
    """The numbers of a column, in one unit and with one mark before decimals."""
    stripped = [PLUS_OR_MINUS.split(text, maxsplit=1)[0] for _, _, text in texts]
    where = [f"line {line.number}: {column}" for line, column, _ in texts]
    written = [Written(place, text) for place, text in zip(where, stripped, strict=True) if text]
    mark = decimal or numerals.convention(str(table.file), written, table.has_points)
    numbers = []
    for place, text in zip(where, stripped, strict=True):
        number = numerals.read(text, mark)
        if number is None:
            raise HypersphereError(f"{table.file}: {place}: {_why_no_number(text)}")
        numbers.append(float(number))
    signed = [not set(PERCENT).isdisjoint(text) for text in stripped]
    if any(signed) and not all(signed):
        bare, percent = signed.index(False), signed.index(True)
        raise HypersphereError(
            f"{table.file}: {where[bare]}: '{stripped[bare]}' lacks the % of '{stripped[percent]}'; write all numbers "
            "in one unit"
        )
    return numbers


def _why_no_number(text: str) -> str:
    """What is wrong with a text that is not a number."""
    lost = f"write {LOST[0]} for a run that has no value"
    if not text:
        return f"is empty; {lost}"
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity", "none", "null"):
        return f"is {text}; {lost}"
    if text[:1].isdigit() and text[-1:].isalpha():
        return f"must be a number without a unit (given: '{text}')"
    return f"must be a number (given: '{text}')"


def _refuse_mixed(
    file: Path,
    arms: Mapping[str, Mapping[str, Mapping[object, float]]],
    lines: Mapping[tuple[str, str, object], int],
) -> None:
    """Refuse shares of one beside percents, of one dataset: 0.912 beside 91.3."""
    for dataset, of_dataset in arms.items():
        values = chain.from_iterable(runs.values() for runs in of_dataset.values())
        percents = [value for value in values if 1 < value <= 100]
        if not percents:
            continue
        middle = statistics.median(percents)
        for arm, runs in of_dataset.items():
            for seed, value in runs.items():
                if 0 < value < 1 and 1 / LIKE_SHARE < 100 * value / middle < LIKE_SHARE:
                    line = lines[dataset, arm, seed]
                    raise HypersphereError(
                        f"{file}: line {line}: {value:g} seems to be a share, and stands beside {middle:g}; write all "
                        "values in percent, or all as shares"
                    )
