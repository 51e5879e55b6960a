"""``hypersphere judge``: it needs no project, and neither torch nor pandas.

__main__.py asks here before it imports the other commands; what takes time to import is imported when it runs.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypersphere.audit import numerals
from hypersphere.audit.command import Arguments, in_a_sentence, parse
from hypersphere.errors import HypersphereError

if TYPE_CHECKING:
    from hypersphere.judging.judged import Question
    from hypersphere.judging.prespecified import Plan
    from hypersphere.judging.runs import Asked

COMMANDS = {"judge": "judge anybody's runs: what is better, and is it chance?"}
EXAMPLES = {"judge": "hypersphere judge runs.csv --baseline simclr --margin 1.0"}
OPTIONS: Arguments = {
    "runs": {"metavar": "RUNS.csv", "help": "a table of runs, an export, or a folder of them"},
    "--baseline": {"metavar": "ARM", "help": "the arm that others are compared with"},
    "--margin": {"metavar": "D", "help": "means so near to each other count as equal"},
    "--lower-is-better": {"action": "store_true", "help": "values are errors or losses"},
    "--control": {
        "action": "append",
        "default": [],
        "metavar": "ARM",
        "help": "an arm that others must be above, such as raw pixels (repeat it)",
    },
    "--paired": {"action": "store_true", "help": "compare runs of one seed with each other"},
    "--test-size": {"metavar": "T", "help": "test examples, where values are shares of them"},
    "--metric": {"metavar": "NAME", "help": "which of several metrics is judged"},
    "--column": {
        "action": "append",
        "default": [],
        "metavar": "ROLE=NAME",
        "help": "the column of a role, such as arm=Group or value=top1 (repeat it)",
    },
    "--decimal": {
        "choices": list(numerals.OTHER),
        "help": "what stands before decimals: . or ,",
    },
    "--plan": {"metavar": "FILE", "help": "a plan that was written before the runs"},
    "--out": {"metavar": "FOLDER", "help": "write a page, its tables and its picture there"},
}
FIXED = ("baseline", "margin", "lower_is_better", "control", "paired", "test_size", "metric")
"""Options that a plan decides."""
DEVIATED = 1


def add(commands: "argparse._SubParsersAction[Any]") -> None:
    judge = commands.add_parser(
        "judge",
        description=COMMANDS["judge"],
        epilog="exit status: 0; 1 if the runs deviate from the plan, or do not show what it expects; 2 after an error; "
        "70 after a crash",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, about in OPTIONS.items():
        judge.add_argument(name, **about)


def main(words: Sequence[str]) -> int:
    """Run it. Exit status: 0; 1 if the runs deviate from their plan, or do not show what it expects; 2: an error."""
    return in_a_sentence(lambda: _judge(parse(words, add, EXAMPLES)))


def _judge(arguments: argparse.Namespace) -> int:
    from hypersphere import files
    from hypersphere.judging import findings, judged, page, prespecified, reading

    for name in ("runs", "plan", "out"):
        if getattr(arguments, name) == "":
            raise HypersphereError(f"judge: {name}: must be a name (given: '')")
    plan = _plan(arguments)
    question = plan.question if plan else _question(arguments)
    runs = reading.read(Path(arguments.runs), _asked(arguments, question, plan))
    by_rules = judged.judge(runs, question, judged.rules())
    shown = page.Shown(by_rules, findings.of(by_rules))
    if plan:
        shown = shown._replace(
            deviations=prespecified.deviations(plan, runs),
            not_shown=prespecified.not_shown(plan, by_rules),
            plan=plan.digest,
        )
    if arguments.out:
        written = {name: write(shown) for name, write in page.FILES.items()}
        for name, text in written.items():
            files.write_text(Path(arguments.out) / name, text)
    print(page.text(shown), end="")
    return DEVIATED if shown.deviations or shown.not_shown else 0


def _plan(arguments: argparse.Namespace) -> "Plan | None":
    """The plan, with which no option is given that it decides."""
    from hypersphere.judging import prespecified

    given = [name for name in FIXED if getattr(arguments, name)]
    if not arguments.plan:
        if not arguments.baseline:
            raise HypersphereError(
                f"judge: --baseline: is missing; for example `{EXAMPLES['judge']}`"
            )
        return None
    if given:
        option = given[0].replace("_", "-")
        raise HypersphereError(f"judge: --{option}: the plan decides it; leave out one of the two")
    return prespecified.load(Path(arguments.plan))


def _question(arguments: argparse.Namespace) -> "Question":
    """The question that the options ask."""
    from hypersphere.judging.judged import Question

    size = arguments.test_size
    return Question(
        baseline=arguments.baseline,
        controls=tuple(arguments.control),
        margin=_margin(arguments.margin) if arguments.margin is not None else None,
        better="lower" if arguments.lower_is_better else "higher",
        paired=arguments.paired,
        test_size=numerals.count(size, "judge: --test-size", numerals.POINT) if size else None,
    )


def _margin(text: str) -> float:
    """A margin in the unit of the table: a number above 0, and no percentage of anything."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise HypersphereError(f"judge: --margin: must be a number above 0 (given: '{text}')")
    return number


def _asked(arguments: argparse.Namespace, question: "Question", plan: "Plan | None") -> "Asked":
    """What is known of the table."""
    from hypersphere.judging.reading import ROLES
    from hypersphere.judging.runs import Asked

    columns = {}
    for text in arguments.column:
        role, equals, name = text.partition("=")
        if role not in ROLES or not equals or not name:
            raise HypersphereError(
                f"judge: --column: must be ROLE=NAME, where ROLE is one of {', '.join(ROLES)} (given: '{text}')"
            )
        columns[role] = name
    metric = (plan.metric if plan else arguments.metric) or ""
    return Asked(question.baseline, question.controls, columns, metric, arguments.decimal)
