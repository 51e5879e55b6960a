"""The findings: each question of paper/findings.yaml with the sentence that its evidence bears, and its numbers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

import pandas as pd

from hypersphere.config import questions
from hypersphere.config.measures import MEASURES
from hypersphere.config.questions import FILE, Outcome, Question
from hypersphere.config.rules import GRADES, Verdict
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.report import claims, words

Claim = dict[str, Any]
"""A row of results/report/claims.csv."""


class Numbers:
    """The numbers of one claim, as a sentence shows them; one that the claim does not have is an error."""

    def __init__(self, claim: Claim) -> None:
        metric = MEASURES.get(claim["metric"])
        decimals = metric.decimals if metric else 2
        compares = claim["kind"] == "comparison"
        measured = float(claim["measured"] or "nan")
        interval = [claim["low_unadjusted"], claim["high_unadjusted"]]
        low, high = interval if not math.isnan(interval[0]) else (claim["low"], claim["high"])
        counterexample = claims.counterexample(claim["counterexample"])
        self.claim = claim["id"]
        self.known: dict[str, str] = {
            "printed": claims.published(claim, decimals, compares),
            "effect": "" if math.isnan(measured) or not compares else words.signed(measured, decimals),
            "size": "" if math.isnan(measured) or not compares else words.number(abs(measured), decimals),
            "value": "" if math.isnan(measured) or compares else words.number(measured, decimals),
            "interval": "" if math.isnan(low) else words.interval(low, high, decimals, sign=compares),
            "n": "" if math.isnan(claim["n"]) else f"{int(claim['n'])}",
            "k": "" if math.isnan(claim["n"]) or math.isnan(measured) else f"{round(measured * claim['n'] / 100)}",
            "draws": "" if math.isnan(claim["draws"]) else f"{int(claim['draws'])}",
            "counterexample": counterexample,
            "certainty": claim["certainty"],
        }

    def __getattr__(self, name: str) -> str:
        if name not in self.known or not self.known[name]:
            raise KeyError(f"{{{name}}}: the claim {self.claim} has none")
        return self.known[name]


def answered(root: Path, known: pd.DataFrame) -> pd.DataFrame:
    """findings.csv: every question with its outcome and its sentence.

    Raises:
        HypersphereError: The file asks for a claim that does not exist, or a sentence for a number that is not there.
    """
    listed = {str(row["id"]): row for row in tables.rows(known)}
    rows = [_row(root, name, one, listed) for name, one in questions.load(root).items()]
    return tables.as_read(pd.DataFrame(rows, columns=list(columns.FINDINGS)), columns.FINDINGS)


def _row(root: Path, name: str, one: Question, listed: Mapping[str, Claim]) -> dict[str, Any]:
    about: dict[str, Claim] = {}
    for place, selection in enumerate(one.about):
        chosen = {key: claim for key, claim in listed.items() if questions.selects(selection, claim)}
        if not chosen:
            raise HypersphereError(f"{root / FILE}: {name}: about.{place}: finds no claim")
        about |= chosen
    for field, identifier in {"leading": one.leading, **{f"also.{key}": at for key, at in one.also.items()}}.items():
        if identifier is not None and identifier not in listed:
            raise HypersphereError(f"{root / FILE}: {name}: {field}: there is no claim '{identifier}'")
    leading = listed[one.leading] if one.leading else next(iter(about.values()))
    counts = Counter(claim["answer"] for claim in about.values())
    result = outcome([claim["answer"] for claim in about.values()], one.rule)
    numbers = {
        **{key: counts[key] for key in ("holds", "fails", "opposite")},
        "unknown": counts["cannot tell"],
        **{"borne": counts[Verdict.BORNE], "contradicted": counts[Verdict.CONTRADICTED], "all": len(about)},
    }
    fields = {**numbers, **{key: Numbers(listed[at]) for key, at in one.also.items()}}
    try:
        sentence = _filled(one.says[result], fields, Numbers(leading))
    except (KeyError, AttributeError, ValueError) as error:
        raise HypersphereError(f"{root / FILE}: {name}: says.{result}: {error.args[0]}") from None
    grades = [claim["certainty"] for claim in about.values() if claim["answer"] == result] or ["none"]
    return {
        **{"id": name, "paper": one.paper, "question": one.question, "outcome": result, "sentence": sentence},
        **{"lead": str(one.lead or ""), "about": " ".join(about), "leading": leading["id"]},
        "certainty": max(grades, key=GRADES.index),
        **{key: numbers[key] for key in ("holds", "fails", "opposite", "unknown")},
    }


def outcome(answers: Sequence[str], rule: str) -> Outcome:
    """What the answers of some claims come to together.

    Sentences that only their own tables speak of are counted where all are of that kind, as a question about the text.
    """
    of_text: dict[str, Outcome] = {Verdict.BORNE: "holds", Verdict.CONTRADICTED: "fails"}
    of_world: dict[str, Outcome] = {"holds": "holds", "fails": "fails", "opposite": "opposite"}
    only_text = all(answer in of_text for answer in answers)
    found = [(of_text if only_text else of_world).get(answer, "cannot tell") for answer in answers]
    answers_in_order: tuple[Outcome, ...] = ("opposite", "fails", "holds")
    for one in answers_in_order:
        if rule == "most" and 2 * found.count(one) > len(found):
            return one
        if rule == "all" and (one in found if one != "holds" else all(answer == "holds" for answer in found)):
            return one
    return "cannot tell"


def _filled(sentence: str, fields: Mapping[str, Any], leading: Numbers) -> str:
    """The sentence with its numbers; a name without a dot that counts nothing is a number of the leading claim."""
    parts = []
    for text, name, _, _ in Formatter().parse(sentence):
        parts.append(text)
        if name is not None:
            first, _, rest = name.partition(".")
            of = fields[first] if first in fields else getattr(leading, first)
            parts.append(str(getattr(of, rest) if rest else of))
    return "".join(parts)
