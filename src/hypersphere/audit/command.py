"""``hypersphere audit`` and ``hypersphere grim``: they need no project, and neither torch nor pandas nor pydantic.

__main__.py asks here before it imports the other commands, and numpy and scipy are imported when one of them runs, so
that every command starts in less than a second.
"""

import argparse
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from hypersphere.audit import table
from hypersphere.errors import HypersphereError

COMMANDS = {
    "audit": "check a table of printed numbers: what they allow, and under which assumptions",
    "grim": "how many runs a printed mean accuracy can be of",
}
COLUMNS = "\n".join(f"  {name:<17} {meaning}" for name, meaning in table.COLUMNS.items())


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    audit = commands.add_parser(
        "audit",
        help=COMMANDS["audit"],
        description=COMMANDS["audit"],
        epilog=f"columns of the table, of which only mean is required:\n{COLUMNS}\n\nexit status: 0; 1 if a number "
        "or a sentence is impossible under the assumptions; 2 after an error",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    audit.add_argument("numbers", type=Path, metavar="NUMBERS.csv", help="a line for each printed number")
    audit.add_argument("--claims", type=Path, metavar="FILE", help="a sentence a line: 'Table 2: A > B in all columns'")
    audit.add_argument("--out", type=Path, metavar="FOLDER", help="write a page, its tables and its picture there")
    mean = commands.add_parser("grim", help=COMMANDS["grim"], description=COMMANDS["grim"])
    mean.add_argument("mean", metavar="MEAN", help="an accuracy in percent, with all its printed decimals")
    mean.add_argument("std", nargs="?", metavar="STD", help="its standard deviation over runs")
    mean.add_argument("--n-test", required=True, metavar="T", help="test images")


def main(words: Sequence[str]) -> int:
    """Run one of them. Exit status: 0; 1 if a number or sentence is impossible; 2 after a sentence on an error."""
    parser = argparse.ArgumentParser(prog="hypersphere")
    add(parser.add_subparsers(dest="command", required=True))
    arguments = parser.parse_args(words)
    from hypersphere.audit import checks, page

    try:
        if arguments.command == "grim":
            print("\n".join(of_one(arguments.mean, arguments.std, arguments.n_test)))
            return 0
        numbers, said = table.read(arguments.numbers)
        if arguments.claims:
            said += sentences(arguments.claims, {cell.where for cell in numbers})
        found = checks.audit(numbers, said)
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            for name, made in page.FILES.items():
                (arguments.out / name).write_text(made(found), encoding="utf-8")
        print(page.markdown(found), end="")
        return int(any(one.impossible for one in found))
    except HypersphereError as error:
        print(f"hypersphere: {error}", file=sys.stderr)
    except OSError as error:
        print(f"hypersphere: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
    return 2


def sentences(file: Path, tables: set[str]) -> list[tuple[str, str]]:
    """The sentences of a file, each with its table, which stands before a colon where there are several."""
    found = []
    for line in filter(None, map(str.strip, file.read_text(encoding="utf-8-sig", errors="replace").splitlines())):
        where, colon, sentence = line.partition(": ")
        if not colon or where not in tables:
            where, sentence = (min(tables), line) if len(tables) == 1 else (where, sentence or line)
        if not line.startswith("#"):
            found.append((where, sentence))
    return found


def of_one(mean: str, std: str | None, n_test: str) -> list[str]:
    """What ``hypersphere grim`` prints: a line for each way of printing, with the numbers of runs that fit."""
    from hypersphere.audit import checks, grim

    examples = table.count(n_test, "grim: --n-test") or 1
    mean_and_std = [table.number(text, f"grim: {name}") for text, name in ((mean, "MEAN"), (std, "STD")) if text]
    for value, name in zip(mean_and_std, ("MEAN", "STD"), strict=False):
        if not 0 <= value <= Decimal(100):
            raise HypersphereError(f"grim: {name}: must be from 0 to 100 percent (given: '{value}')")
    printed, lines = grim.Printed(*mean_and_std), []
    for way, assumptions in grim.ways(examples, std is not None).items():
        outcomes = {n: grim.fits(printed, n, assumptions) for n in range(1, grim.MOST + 1)}
        lines.append(f"{way}: {checks.runs_that_fit(outcomes, grim.informative(printed, assumptions))[1]}")
    return lines
