"""The findings: each question of a findings.yaml with the sentence that its evidence bears, and its numbers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

import pandas as pd

from hypersphere.config import questions
from hypersphere.config.artifacts import Paper
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.questions import Outcome, Question, Said
from hypersphere.config.rules import GRADES, SHORTCOMINGS, Verdict
from hypersphere.config.study import Answers, Counted
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


def numbers(claim: Claim) -> dict[str, str]:
    """What a sentence can show of one claim; empty: it has none."""
    decimals = decimals_of(claim)
    compares = claim["kind"] == "comparison"
    measured = _measured(claim)
    interval = [claim["low_unadjusted"], claim["high_unadjusted"]]
    low, high = interval if not math.isnan(interval[0]) else (claim["low"], claim["high"])
    untried = claim["rung"] == "proof" and claim["answer"] == "holds"
    return {
        "claim": claim["id"],
        "printed": claims.published(claim, decimals, compares),
        "effect": "" if math.isnan(measured) or not compares else words.signed(measured, decimals),
        "size": "" if math.isnan(measured) or not compares else words.number(abs(measured), decimals),
        "value": "" if math.isnan(measured) or compares else words.number(measured, decimals),
        "adjusted": ""
        if math.isnan(claim["low"])
        else words.interval(claim["low"], claim["high"], decimals, sign=compares),
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


def leads(findings: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The findings of the first screen, in their order."""
    return sorted((one for one in findings if one["lead"]), key=lambda one: int(one["lead"]))


def decimals_of(claim: Claim) -> int:
    return MEASURES[claim["metric"]].decimals if claim["metric"] in MEASURES else 2


def _measured(claim: Claim) -> float:
    return float(claim["measured"] or "nan")


def answered(config: Config, known: pd.DataFrame) -> pd.DataFrame:
    """findings.csv: every question with its outcome and its sentence.

    Raises:
        HypersphereError: The file asks for a claim that does not exist, or a sentence for a number that is not there.
    """
    listed = {str(row["id"]): row for row in tables.rows(known)}
    rows = [_row(config, file, name, one, listed) for name, (file, one) in questions.load(config).items()]
    return tables.as_read(pd.DataFrame(rows, columns=list(columns.FINDINGS)), columns.FINDINGS)


def _row(config: Config, file: Path, name: str, one: Question, listed: Mapping[str, Claim]) -> dict[str, Any]:
    about: dict[str, Claim] = {}
    of_study: list[dict[questions.Column, str | list[str]]] = [{"id": f"{one.paper}.{one.study}.*"}]
    for place, selection in enumerate(one.about or of_study):
        chosen = {key: claim for key, claim in listed.items() if questions.selects(selection, claim)}
        if not chosen:
            raise HypersphereError(f"{file}: {name}: about.{place}: finds no claim")
        about |= chosen
    for field, identifier in {"leading": one.leading, **{f"also.{key}": at for key, at in one.also.items()}}.items():
        if identifier is not None and identifier not in listed:
            raise HypersphereError(f"{file}: {name}: {field}: there is no claim '{identifier}'")
    leading = listed[one.leading] if one.leading else next(iter(about.values()))
    found = outcomes([claim["answer"] for claim in about.values()])
    numbers_of: dict[Any, Any] = {}
    said: Said = outcome(found, one.rule)
    if one.study is not None:
        arms, document = list(about.values()), config.papers[one.paper]
        numbers_of = {**_counted(arms), **_which(document, arms)}
        said = fixed(arms, document.studies[one.study].answers)
    result: Outcome = "cannot tell" if said == "unclear" else said
    by_outcome: dict[Outcome, list[Claim]] = {
        answer: [claim for claim, its in zip(about.values(), found, strict=True) if its == answer]
        for answer in questions.OUTCOMES
    }
    together = _together(list(about.values()), by_outcome) | numbers_of
    also = {key: numbers(listed[at]) for key, at in one.also.items()}
    try:
        sentence = _filled(one.says[said], together, also, numbers(leading))
        if one.adds and all(
            listed[at]["rung"] != "nothing" and not listed[at]["n_missing"] > 0 for at in one.also.values()
        ):
            sentence += _filled(f" {one.adds}", together, also, numbers(leading))
    except KeyError as error:
        raise HypersphereError(f"{file}: {name}: says.{said}: {error.args[0]}") from None
    decided = list(about.values()) if one.study else by_outcome[result] or list(about.values())
    deciding = [claim for claim in decided if claim["rung"] != "nothing"] or decided
    reasons = [reason for claim in deciding for reason in claim["reasons"].split("; ") if reason]
    certainty = max((claim["certainty"] for claim in deciding), key=GRADES.index)
    if one.study and not _finished(list(about.values())):
        certainty, reasons = GRADES[-1], ["not all of its runs are there"]
    elif one.study:
        reasons = [f"{said} ({number} of {len(deciding)} arms)" for said, number in Counter(reasons).items()]
    return {
        **{"id": name, "paper": one.paper, "question": one.question, "outcome": result, "sentence": sentence},
        **{"lead": str(one.lead or ""), "about": " ".join(about), "leading": leading["id"]},
        **{"certainty": certainty, "reasons": "; ".join(dict.fromkeys(reasons))},
        **{key: together[key] for key in ("holds", "fails", "opposite", "unknown")},
    }


def _together(about: Sequence[Claim], by_outcome: Mapping[Outcome, Sequence[Claim]]) -> dict[str, Any]:
    """The fields of a sentence that speak of all claims of a question (``TOGETHER``)."""
    printed = [claim for claim in about if claim["kind"] == "comparison" and claims.prints_number(claim)]
    return {
        **{key: len(by_outcome[key]) for key in ("holds", "fails", "opposite")},
        **{"unknown": len(by_outcome["cannot tell"]), "all": len(about)},
        "measured": sum(claim["rung"] != "nothing" for claim in about),
        "which_hold": "; ".join(dict.fromkeys(claim["source"] for claim in by_outcome["holds"])),
        "which_fail": "; ".join(dict.fromkeys(claim["source"] for claim in by_outcome["fails"])),
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
    known = [claim for claim in found if not math.isnan(_measured(claim))]
    if not known:
        first, *others = (claim["why"].split("; ") for claim in found)
        shared = "; ".join(reason for reason in first if all(reason in other for other in others))
        return f"{where} give no number" + (f" ({shared})" if shared else "")
    level = sum(is_level(claim) for claim in known)
    if len(known) == 1:
        one = numbers(known[0])
        shown = " ".join(filter(None, (one["effect"] or one["value"], one["interval"], f"(n = {one['n']})")))
        weak = f", but {SHORTCOMINGS['level']}" if level else ""
    else:
        shown = spanned([(_measured(claim), decimals_of(claim)) for claim in known])
        weak = f", but in {level} of them {SHORTCOMINGS['level']}" if level else ""
    among = f" in {len(known)} of {len(about)} comparisons" if len(about) > 1 else ""
    return f"{where} give {shown}{among}{weak}"


def spanned(numbers: Sequence[tuple[float, int]]) -> str:
    """``−0.3 to +0.6``, of numbers that each have their decimals; empty for none."""
    shown = [words.signed(number, decimals) for number, decimals in sorted(numbers)]
    return " to ".join(dict.fromkeys((shown[0], shown[-1]))) if shown else ""


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


def fixed(about: Sequence[Claim], answers: Answers) -> Said:
    """The answer to a study's question, by the numbers of arms that its plan fixed in advance.

    It is ``unclear`` if they fit neither yes nor no. There is none before every arm has all its seeds, so that a study
    that grows answers once; and none while an arm is level with raw pixels or its untrained encoder, because no
    direction is read from such an arm.
    """
    if not _finished(about) or any(map(is_level, about)):
        return "cannot tell"
    numbers = _counted(about)
    outcomes: dict[str, Outcome] = {"yes": "holds", "no": "fails"}
    for answer, bounds in answers.numbers.items():
        if all(low <= numbers[name] <= high for name, (low, high) in bounds.items()):
            return outcomes[answer]
    return "unclear"


def _finished(about: Sequence[Claim]) -> bool:
    """Whether every arm of a study has all its seeds."""
    return not any(math.isnan(claim["low"]) or claim["n_missing"] > 0 for claim in about)


def _counted(about: Sequence[Claim]) -> dict[Counted, int]:
    """How many arms of a study are ahead, beyond the margin, level and behind."""
    ahead = [claim for claim in about if claim["low"] > 0]
    return {
        **{"ahead": len(ahead), "beyond": sum(_measured(claim) > claim["margin"] for claim in ahead)},
        "level": sum(claim["direction"] == "no effect" for claim in about),
        "behind": sum(claim["high"] < 0 for claim in about),
    }


def _which(paper: Paper, about: Sequence[Claim]) -> dict[str, str]:
    """The arms of a study that are ahead, beyond, level and behind; an arm can be two of these, or none (open)."""
    found: dict[str, list[str]] = {key: [] for key in ("ahead", "beyond", "level", "behind", "open")}
    for claim in about:
        counted = [key for key, number in _counted([claim]).items() if number]
        for key in [*map(str, counted)] or ["open"]:
            found[key].append(f"{paper.label(claim['method'])} {paper.label(claim['variant'])}")
    return {f"which_{key}": ", ".join(arms) or "none" for key, arms in found.items()}


def _filled(
    sentence: str, together: Mapping[str, Any], also: Mapping[str, Mapping[str, str]], leading: Mapping[str, str]
) -> str:
    """The sentence with its numbers: of all claims, of another claim (``other.effect``), or of the leading one."""
    parts = []
    for text, name, _, _ in Formatter().parse(sentence):
        parts.append(text)
        if name is None:
            continue
        other, _, field = name.rpartition(".")
        of = also[other] if other else together if name in together else leading
        shown = str(of.get(field, ""))
        if not shown:
            whose = f"the claim {of['claim']} has none" if "claim" in of else "its claims have none"
            raise KeyError(f"{{{field}}}: {whose}")
        parts.append(shown)
    return "".join(parts)
