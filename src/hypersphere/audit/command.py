"""``hypersphere audit`` and ``hypersphere grim``: they need no project, and neither torch nor pandas nor pydantic.

__main__.py asks here before it imports the other commands, and numpy and scipy are imported when one of them runs, so
that every command starts in less than a second.
"""

import argparse
import sys
from collections.abc import Sequence
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


class Parser(argparse.ArgumentParser):
    """Its errors are raised, to be one sentence like all others of these commands."""

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
    audit.add_argument("numbers", metavar="NUMBERS.csv", help="a line for each published number")
    audit.add_argument(
        "--claims", metavar="FILE", help="a sentence a line: 'Table 2: A > B in all columns'"
    )
    audit.add_argument(
        "--out", metavar="FOLDER", help="write a page, its tables and its picture there"
    )
    mean = commands.add_parser("grim", description=COMMANDS["grim"])
    mean.add_argument(
        "mean", metavar="MEAN", help="an accuracy in percent, with all its published decimals"
    )
    mean.add_argument("std", nargs="?", metavar="STD", help="its standard deviation over runs")
    mean.add_argument("--n-test", required=True, metavar="T", help="test images")
    for one in (audit, mean):
        one.add_argument(
            "--decimal", choices=list(numerals.OTHER), help="what stands before decimals: . or ,"
        )


def main(words: Sequence[str]) -> int:
    """Run one of them. Exit status: 0; 1 if a number or sentence is impossible; 2 after a sentence on an error."""
    try:
        arguments = _parsed(words)
        return _grim(arguments) if arguments.command == "grim" else _audit(arguments)
    except HypersphereError as error:
        print(f"hypersphere: {error}", file=sys.stderr)
    except OSError as error:
        print(f"hypersphere: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
    return 2


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="hypersphere")
    add(parser.add_subparsers(dest="command", required=True))
    try:
        return parser.parse_args(words)
    except HypersphereError as error:
        raise HypersphereError(f"{words[0]}: {error}; for example `{EXAMPLES[words[0]]}`") from None


def _audit(arguments: argparse.Namespace) -> int:
    from hypersphere.audit import checks, page

    named = {"NUMBERS.csv": arguments.numbers, "--claims": arguments.claims, "--out": arguments.out}
    for name, given in named.items():
        if given == "":
            raise HypersphereError(f"audit: {name}: must be a name (given: '')")
    numbers, said, decimal = table.read(Path(arguments.numbers), arguments.decimal)
    if arguments.claims:
        said += sentences(Path(arguments.claims), {cell.where for cell in numbers})
    found = checks.audit(numbers, said, decimal)
    if arguments.out:
        out = Path(arguments.out)
        out.mkdir(parents=True, exist_ok=True)
        for name, made in page.FILES.items():
            (out / name).write_text(made(found), encoding="utf-8")
    print(page.markdown(found), end="")
    return int(any(one.impossible for one in found))


def _grim(arguments: argparse.Namespace) -> int:
    given = arguments.mean, arguments.std, arguments.n_test, arguments.decimal
    print(reading(*given))
    print("\n".join(of_one(*given)))
    return 0


def sentences(file: Path, tables: set[str]) -> list[tuple[str, str]]:
    """The sentences of a file, each with its table, which stands before a colon where there are several."""
    found = []
    for line in filter(None, map(str.strip, table.text_of(file).splitlines())):
        where, colon, sentence = line.partition(": ")
        if not colon or where not in tables:
            where, sentence = (min(tables), line) if len(tables) == 1 else (where, sentence or line)
        if not line.startswith("#"):
            found.append((where, sentence))
    return found


def as_read(
    mean: str, std: str | None, n_test: str, decimal: str | None = None
) -> tuple[list[Decimal], int]:
    """The numbers that ``hypersphere grim`` is given, and the number of test examples.

    Raises:
        HypersphereError: if a number cannot be read, has two readings, or is no percentage.
    """
    texts = {"MEAN": mean} | ({} if std is None else {"STD": std})
    if decimal is None:
        numbers = [Written(name, text, is_share=True) for name, text in texts.items()]
        numbers.append(Written("--n-test", n_test, is_count=True))
        decimal = numerals.convention("grim", numbers, points_are_usual=True)
    examples = numerals.count(n_test, "grim: --n-test", decimal)
    values = {name: numerals.number(text, f"grim: {name}", decimal) for name, text in texts.items()}
    for name, value in values.items():
        if not 0 <= value <= Decimal(100):
            raise HypersphereError(
                f"grim: {name}: must be from 0 to 100 percent (given: '{value}')"
            )
    return list(values.values()), examples


def reading(mean: str, std: str | None, n_test: str, decimal: str | None = None) -> str:
    """How ``hypersphere grim`` reads its numbers. A number below 1 may have been meant as a share."""
    numbers, examples = as_read(mean, std, n_test, decimal)
    said = f"read as {' ± '.join(map(str, numbers))} percent of {examples} test examples"
    if 0 < numbers[0] < 1 and "%" not in mean:
        said += f"; for a share of {numbers[0]} write {numbers[0].scaleb(2):f}"
    return said


def of_one(mean: str, std: str | None, n_test: str, decimal: str | None = None) -> list[str]:
    """What ``hypersphere grim`` prints: a line for each way of printing, with the numbers of runs that fit."""
    from hypersphere.audit import checks, grim

    numbers, examples = as_read(mean, std, n_test, decimal)
    printed, lines = grim.Printed(*numbers), []
    for way, assumptions in grim.ways(examples, std is not None).items():
        outcomes = {n: grim.fits(printed, n, assumptions) for n in range(1, grim.MOST + 1)}
        lines.append(
            f"{way}: {checks.runs_that_fit(outcomes, grim.informative(printed, assumptions))[1]}"
        )
    return lines
