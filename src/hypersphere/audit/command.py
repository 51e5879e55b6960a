"""``hypersphere audit`` and ``hypersphere grim``: they need no project, and neither torch nor pandas nor pydantic.

__main__.py asks here before it imports the other commands, and numpy and scipy are imported when one of them runs, so
that every command starts in less than a second.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

from hypersphere.audit import numerals, table
from hypersphere.audit.numerals import Written
from hypersphere.errors import HypersphereError

COMMANDS = {
    "audit": "check which numbers of a published table are possible",
    "grim": "how many runs a published mean can come from",
}
EXAMPLES = {
    "audit": "hypersphere audit numbers.csv --out audit/",
    "grim": "hypersphere grim 93.12 --n-test 10000",
}
COLUMNS = "\n".join(f"  {name:<17} {meaning}" for name, meaning in table.COLUMNS.items())


Arguments = Mapping[str, dict[str, Any]]
OF_AUDIT: Arguments = {
    "numbers": {"metavar": "NUMBERS.csv", "help": "a line for each published number"},
    "--claims": {"metavar": "FILE", "help": "a sentence a line: 'Table 2: A > B in all columns'"},
    "--out": {"metavar": "FOLDER", "help": "write a page, its tables and its picture there"},
}
OF_GRIM: Arguments = {
    "mean": {"metavar": "MEAN", "help": "an accuracy in percent, with all its published decimals"},
    "std": {"nargs": "?", "metavar": "STD", "help": "its standard deviation over runs"},
    "--n-test": {"required": True, "metavar": "T", "help": "test images"},
}
OF_BOTH: Arguments = {
    "--decimal": {
        "choices": list(numerals.OTHER),
        "help": "what stands before decimals: . or ,",
    },
}
"""The arguments of both commands, by name, as argparse takes them."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are raised, to be one sentence like all others of these commands."""

    def error(self, message: str) -> NoReturn:
        raise HypersphereError(message)


def add(commands: "argparse._SubParsersAction[Any]") -> None:
    audit = commands.add_parser(
        "audit",
        description=COMMANDS["audit"],
        epilog=f"columns of the table, of which only mean is required:\n{COLUMNS}\n\nexit status: 0; 1 if a number "
        "or a sentence is impossible under the assumptions; 2 after an error; 70 after a crash",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    grim = commands.add_parser("grim", description=COMMANDS["grim"])
    for command, arguments in ((audit, OF_AUDIT), (grim, OF_GRIM)):
        for name, about in {**arguments, **OF_BOTH}.items():
            command.add_argument(name, **about)


def main(words: Sequence[str]) -> int:
    """Run one of them. Exit status: 0; 1 if a number or sentence is impossible; 2 after a sentence on an error."""
    return in_a_sentence(lambda: _run(parse(words, add, EXAMPLES)))


def in_a_sentence(work: Callable[[], int]) -> int:
    """The exit status of a command's work; 2 after one sentence on standard error."""
    try:
        return work()
    except HypersphereError as error:
        print(f"hypersphere: {error}", file=sys.stderr)
    except OSError as error:
        print(f"hypersphere: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
    return 2


def parse(
    words: Sequence[str],
    add: Callable[["argparse._SubParsersAction[Any]"], None],
    examples: Mapping[str, str],
) -> argparse.Namespace:
    """The arguments of one of the commands that ``add`` declares; an error shows the command's example."""
    parser = Parser(prog="hypersphere")
    add(parser.add_subparsers(dest="command", required=True))
    try:
        return parser.parse_args(words)
    except HypersphereError as error:
        command = words[0]
        raise HypersphereError(f"{command}: {error}; for example `{examples[command]}`") from None


def _run(arguments: argparse.Namespace) -> int:
    return _grim(arguments) if arguments.command == "grim" else _audit(arguments)


def _audit(arguments: argparse.Namespace) -> int:
    from hypersphere.audit import checks, page

    named = {"NUMBERS.csv": arguments.numbers, "--claims": arguments.claims, "--out": arguments.out}
    for name, given in named.items():
        if given == "":
            raise HypersphereError(f"audit: {name}: must be a name (given: '')")
    numbers, claims, decimal = table.read(Path(arguments.numbers), arguments.decimal)
    if arguments.claims:
        claims += sentences(Path(arguments.claims), {cell.where for cell in numbers})
    found = checks.audit(numbers, claims, decimal)
    if arguments.out:
        out = Path(arguments.out)
        out.mkdir(parents=True, exist_ok=True)
        for name, write in page.FILES.items():
            (out / name).write_text(write(found), encoding="utf-8")
    print(page.markdown(found), end="")
    return int(any(one.impossible for one in found))


def _grim(arguments: argparse.Namespace) -> int:
    """Print how the numbers are read, and the numbers of runs that fit."""
    given = arguments.mean, arguments.std, arguments.n_test, arguments.decimal
    numbers, n_test = _as_read(*given)
    as_read = " ± ".join(map(str, numbers))
    says = f"read as {as_read} percent of {n_test} test examples"
    mean = numbers[0]
    if 0 < mean < 1 and "%" not in arguments.mean:  # it may have been meant as a share
        says += f"; for a share of {mean} write {mean.scaleb(2):f}"
    print(says)
    print("\n".join(of_one(*given)))
    return 0


def of_one(mean: str, std: str | None, n_test: str, decimal: str | None = None) -> list[str]:
    """What ``hypersphere grim`` prints: a line for each way of printing, with the numbers of runs that fit."""
    from hypersphere.audit import checks, grim

    numbers, examples = _as_read(mean, std, n_test, decimal)
    printed = grim.Printed(*numbers)
    lines = []
    for way, assumptions in grim.ways(examples, std is not None).items():
        outcomes = {n: grim.fits(printed, n, assumptions) for n in range(1, grim.MOST + 1)}
        informative = grim.informative(printed, assumptions)
        _, says = checks.runs_that_fit(outcomes, informative)
        lines.append(f"{way}: {says}")
    return lines


def _as_read(
    mean: str, std: str | None, n_test: str, decimal: str | None
) -> tuple[list[Decimal], int]:
    """The mean, the deviation if there is one, and the number of test examples that ``hypersphere grim`` is given.

    Raises:
        HypersphereError: if a number cannot be read, has two readings, or is no percentage.
    """
    texts = {"MEAN": mean}
    if std is not None:
        texts["STD"] = std
    if decimal is None:
        written = [Written(name, text, is_share=True) for name, text in texts.items()]
        written.append(Written("--n-test", n_test, is_count=True))
        decimal = numerals.convention("grim", written, points_are_usual=True)
    examples = numerals.count(n_test, "grim: --n-test", decimal)
    values = []
    for name, text in texts.items():
        value = numerals.number(text, f"grim: {name}", decimal)
        if not 0 <= value <= 100:
            raise HypersphereError(
                f"grim: {name}: must be from 0 to 100 percent (given: '{value}')"
            )
        values.append(value)
    return values, examples


def sentences(file: Path, tables: set[str]) -> list[tuple[str, str]]:
    """The sentences of a file, each with its table, which stands before a colon where there are several."""
    found = []
    for line in filter(None, map(str.strip, table.text_of(file).splitlines())):
        where, colon, sentence = line.partition(": ")
        if line.startswith("#"):
            continue
        if colon and where in tables:
            found.append((where, sentence))
        elif len(tables) == 1:
            found.append((min(tables), line))
        else:
            found.append((where, sentence or line))
    return found
