"""The findings: each question of paper/findings.yaml with the sentence that its evidence bears, and its numbers."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

import pandas as pd

from hypersphere.config import questions
from hypersphere.config.measures import MEASURES
from hypersphere.config.questions import FILE, Outcome, Question
from hypersphere.config.rules import GRADES, SHORTCOMINGS, Verdict
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.report import claims, words
from hypersphere.statistics.known import is_level

Claim = dict[str, Any]
"""A row of results/report/claims.csv."""


WHERE: dict[str, str] = {
    "proof": "random draws",
    "exact": "an exact computation",
    "published": "encoders at the published scale",
    "laptop": "small encoders on {seen}",
    "first_protocol": "small encoders on {seen}",
    "own_table": "its own table",
}
"""Who says it, by the rung of the evidence, as the subject of a sentence."""
ANSWERED: dict[str, str] = {"opposite": "holds the other way round", "cannot tell": "is open"}
"""Answers as verbs; the others are verbs already."""
UNTRIED = "met no counterexample"
"""The answer of a statement that held on random draws, which is no proof."""


class Numbers:
    """The numbers of one claim, as a sentence shows them; one that the claim does not have is an error."""

    def __init__(self, claim: Claim) -> None:
        decimals = decimals_of(claim)
        compares = claim["kind"] == "comparison"
        measured = _measured(claim)
        interval = [claim["low_unadjusted"], claim["high_unadjusted"]]
        low, high = interval if not math.isnan(interval[0]) else (claim["low"], claim["high"])
        untried = claim["rung"] == "proof" and claim["answer"] == "holds"
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
            "counterexample": claims.counterexample(claim["counterexample"]),
            "statement": claim["sentence"].rstrip("."),
            "place": claim["source"],
            "answer": UNTRIED if untried else ANSWERED.get(claim["answer"]) or str(claim["answer"]),
            "certainty": claim["certainty"],
        }

    def __getattr__(self, name: str) -> str:
        if name not in self.known or not self.known[name]:
            raise KeyError(f"{{{name}}}: the claim {self.claim} has none")
        return self.known[name]


def leads(findings: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The findings of the first screen, in their order."""
    return sorted((one for one in findings if one["lead"]), key=lambda one: int(one["lead"]))


def decimals_of(claim: Claim) -> int:
    return MEASURES[claim["metric"]].decimals if claim["metric"] in MEASURES else 2


def _measured(claim: Claim) -> float:
    return float(claim["measured"] or "nan")


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
    found = outcomes([claim["answer"] for claim in about.values()])
    result = outcome(found, one.rule)
    by_outcome: dict[Outcome, list[Claim]] = {
        answer: [claim for claim, its in zip(about.values(), found, strict=True) if its == answer]
        for answer in questions.OUTCOMES
    }
    together = _together(list(about.values()), by_outcome)
    fields = {**together, **{key: Numbers(listed[at]) for key, at in one.also.items()}}
    try:
        sentence = _filled(one.says[result], fields, Numbers(leading))
    except KeyError as error:
        raise HypersphereError(f"{root / FILE}: {name}: says.{result}: {error.args[0]}") from None
    decided = by_outcome[result] or list(about.values())
    deciding = [claim for claim in decided if claim["rung"] != "nothing"] or decided
    said = [reason for claim in deciding for reason in claim["reasons"].split("; ") if reason]
    return {
        **{"id": name, "paper": one.paper, "question": one.question, "outcome": result, "sentence": sentence},
        **{"lead": str(one.lead or ""), "about": " ".join(about), "leading": leading["id"]},
        "certainty": max((claim["certainty"] for claim in deciding), key=GRADES.index),
        "reasons": "; ".join(dict.fromkeys(said)),
        **{key: together[key] for key in ("holds", "fails", "opposite", "unknown")},
    }


def _together(about: Sequence[Claim], by_outcome: Mapping[Outcome, Sequence[Claim]]) -> dict[str, Any]:
    """The fields of a sentence that speak of all claims of a question (``TOGETHER``)."""
    printed = [claim for claim in about if claim["kind"] == "comparison" and _is_number(claim["reported"])]
    return {
        **{key: len(by_outcome[key]) for key in ("holds", "fails", "opposite")},
        **{"unknown": len(by_outcome["cannot tell"]), "all": len(about)},
        "measured": sum(claim["rung"] != "nothing" for claim in about),
        **{f"which_{key.removesuffix('s')}": _places(by_outcome[key]) for key in ("holds", "fails")},
        "ours": _ours(about),
        "printed_range": spanned([(float(claim["reported"]), decimals_of(claim)) for claim in printed]),
    }


def _ours(about: Sequence[Claim]) -> str:
    """What was found, and who found it, in words that are true of any evidence on these claims."""
    found = [claim for claim in about if claim["rung"] != "nothing"]
    if not found:
        return "nothing has been measured"
    seen = {name: measure.seen for name, measure in MEASURES.items()}
    named = (WHERE[claim["rung"]].format(seen=seen.get(claim["metric"], "real images")) for claim in found)
    where = " and ".join(dict.fromkeys(named))
    numbers = [claim for claim in found if not math.isnan(_measured(claim))]
    if not numbers:
        first, *others = (claim["why"].split("; ") for claim in found)
        shared = "; ".join(reason for reason in first if all(reason in other for other in others))
        return f"{where} give no number" + (f" ({shared})" if shared else "")
    level = sum(is_level(claim) for claim in numbers)
    if len(numbers) == 1:
        one = Numbers(numbers[0])
        shown = " ".join(
            filter(None, (one.known["effect"] or one.known["value"], one.known["interval"], f"(n = {one.n})"))
        )
        weak = f", but {SHORTCOMINGS['level']}" if level else ""
    else:
        shown = spanned([(_measured(claim), decimals_of(claim)) for claim in numbers])
        weak = f", but in {level} of them {SHORTCOMINGS['level']}" if level else ""
    among = f" in {len(numbers)} of {len(about)} comparisons" if len(about) > 1 else ""
    return f"{where} give {shown}{among}{weak}"


def spanned(numbers: Sequence[tuple[float, int]]) -> str:
    """``−0.3 to +0.6``, of numbers that each have their decimals; empty for none."""
    shown = [words.signed(number, decimals) for number, decimals in sorted(numbers)]
    return " to ".join(dict.fromkeys((shown[0], shown[-1]))) if shown else ""


def _places(found: Sequence[Claim]) -> str:
    return "; ".join(dict.fromkeys(claim["source"] for claim in found))


def _is_number(text: str) -> bool:
    return text not in ("", *claims.DIRECTIONS)


def outcomes(answers: Sequence[str]) -> list[Outcome]:
    """The answers of some claims as outcomes.

    Sentences that only their own tables speak of are counted where all are of that kind, as a question about the text.
    """
    of_text: dict[str, Outcome] = {Verdict.BORNE: "holds", Verdict.CONTRADICTED: "fails"}
    of_world: dict[str, Outcome] = {"holds": "holds", "fails": "fails", "opposite": "opposite"}
    only_text = all(answer in of_text for answer in answers)
    return [(of_text if only_text else of_world).get(answer, "cannot tell") for answer in answers]


def outcome(found: Sequence[Outcome], rule: str) -> Outcome:
    """What the outcomes of some claims come to together."""
    answers_in_order: tuple[Outcome, ...] = ("opposite", "fails", "holds")
    for one in answers_in_order:
        if rule == "most" and 2 * found.count(one) > len(found):
            return one
        if rule == "all" and (one in found if one != "holds" else all(its == "holds" for its in found)):
            return one
    return "cannot tell"


def _filled(sentence: str, fields: Mapping[str, Any], leading: Numbers) -> str:
    """The sentence with its numbers; a name that is none of ``fields`` is of the leading claim."""
    parts = []
    for text, name, _, _ in Formatter().parse(sentence):
        parts.append(text)
        if name is not None:
            first, _, rest = name.partition(".")
            of = fields[first] if first in fields else getattr(leading, first)
            shown = str(getattr(of, rest) if rest else of)
            if not shown:
                raise KeyError(f"{{{name}}}: its claims have none")
            parts.append(shown)
    return "".join(parts)
