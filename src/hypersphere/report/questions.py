"""The findings: each question of a findings.yaml with the sentence that its evidence bears, and its numbers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

import pandas as pd

from hypersphere.config import questions
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.questions import Outcome, Question, Said
from hypersphere.config.rules import GRADES, SHORTCOMINGS, Verdict
from hypersphere.config.study import COUNTED
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.report import claims, confirmed, words
from hypersphere.statistics.known import is_level

Claim = dict[str, Any]
"""A row of results/report/claims.csv."""
Row = Mapping[str, Any]
"""A row of studies.csv."""

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
ANSWERS: dict[str, Said] = {"yes": "holds", "no": "fails", "unclear": "unclear", "level": "level", "": "cannot tell"}
"""The answers of studies (``statistics/answers.py``) as what is said."""
UNANSWERED = {"": "not all of its runs are there", "level": SHORTCOMINGS["level"]}
"""Why a study has no answer."""


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
    }


def leads(findings: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The findings of the first screen, in their order."""
    return sorted((one for one in findings if one["lead"]), key=lambda one: int(one["lead"]))


def decimals_of(claim: Claim) -> int:
    return MEASURES[claim["metric"]].decimals if claim["metric"] in MEASURES else 2


def _measured(claim: Claim) -> float:
    return float(claim["measured"] or "nan")


def answered(config: Config, known: pd.DataFrame, studies: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """findings.csv: every question with its outcome and its sentence, by claims.csv and the tables of our studies.

    Raises:
        HypersphereError: The file asks for a claim that does not exist, or a sentence for a number that is not there.
    """
    listed = {str(row["id"]): row for row in tables.rows(known)}
    rows = [_row(config, file, name, one, listed, studies) for name, (file, one) in questions.load(config).items()]
    return tables.as_read(pd.DataFrame(rows, columns=list(columns.FINDINGS)), columns.FINDINGS)


def _row(
    config: Config,
    file: Path,
    name: str,
    one: Question,
    listed: Mapping[str, Claim],
    studies: Mapping[str, pd.DataFrame],
) -> dict[str, Any]:
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
    said: Said = outcome(found, one.rule)
    of_arms, answer = dict[str, str](), ""
    if one.study is not None:
        rows, answer = _confirmed(one.paper, one.study, studies)
        of_arms = _which(config, one.paper, rows)
        said = ANSWERS[answer]
    result: Outcome = "cannot tell" if said == "unclear" or said == "level" else said
    by_outcome: dict[Outcome, list[Claim]] = {
        its: [claim for claim, of in zip(about.values(), found, strict=True) if of == its] for its in questions.OUTCOMES
    }
    together = _together(list(about.values()), by_outcome) | of_arms
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
    if one.study and answer in UNANSWERED:
        certainty, reasons = GRADES[-1], [UNANSWERED[answer]]
    elif one.study:
        reasons = [f"{said} ({number} of {len(deciding)} comparisons)" for said, number in Counter(reasons).items()]
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


def _confirmed(paper: str, study: str, studies: Mapping[str, pd.DataFrame]) -> tuple[list[Row], str]:
    """The comparisons of a study's family, and its answer; empty while there is none."""
    compared, answers = studies["studies"], studies["answers"]
    mine = compared[(compared["paper"] == paper) & (compared["artifact"] == study) & compared["in_family"].astype(bool)]
    of = answers[(answers["paper"] == paper) & (answers["study"] == study)]
    return list(tables.rows(mine)), "".join(of["answer"])


def _which(config: Config, paper: str, rows: Sequence[Row]) -> dict[str, str]:
    """The arms of a study that are ahead, beyond, level and behind; an arm can be two of these, or none (open)."""
    named = list(zip(confirmed.short_names(config, paper, rows), rows, strict=True))
    found = {str(key): [arm for arm, row in named if key in confirmed.called(row)] for key in COUNTED}
    found["open"] = [arm for arm, row in named if not (row["called"] or row["level"])]
    found["unread"] = [arm for arm, row in named if row["level"]]
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
