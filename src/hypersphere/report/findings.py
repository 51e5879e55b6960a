"""The findings: each question of a findings.yaml with the sentence that its evidence bears, and its numbers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

import pandas as pd

from hypersphere.config import questions
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.config.questions import Question, Said
from hypersphere.config.rules import GRADES, SHORTCOMINGS, Answer
from hypersphere.config.study import COUNTED
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.report import entries, our_studies, words
from hypersphere.report.entries import decimals_of
from hypersphere.report.results import Row

WHERE: dict[str, str] = {
    "proof": "random draws",
    "exact": "an exact computation",
    "published": "encoders at the published scale",
    "laptop": "small encoders on {seen}",
    "own_table": "its own table",
}
"""Who says it, by the rung of the evidence, as the subject of a sentence."""
ANSWERED = {
    Answer.DIRECTION_ONLY: "holds in sign alone",
    Answer.OPPOSITE: "holds the other way round",
    Answer.CANNOT_TELL: "is open",
    Answer.NOT_TESTED: "was not tested",
}
"""Answers as verbs; the others are verbs already."""
ANSWERS: dict[str, Said] = {"yes": "holds", "no": "fails", "unclear": "unclear", "": "cannot tell"}
"""The answers of studies (``statistics/answers.py``) as what is said."""
GENERAL = {
    "direction only": "Only in sign: {direction_only} of {all} comparisons have the published sign and another size. "
    "In all of them, {ours}.",
    "not tested": "This has not been tested yet.",
}
"""What is said of an outcome for which a question has no sentence of its own."""
UNFINISHED = "not all of its runs are there"
"""Why a study has no answer."""


def numbers(claim: Row) -> dict[str, str]:
    """What a sentence can show of one claim; empty: it has none."""
    decimals, compares, measured = decimals_of(claim), claim["kind"] == "comparison", float(claim["measured"] or "nan")
    untried = claim["rung"] == "proof" and claim["answer"] == "holds"  # on random draws, which are no proof
    metric = MEASURES.get(claim["metric"])
    adjusted, alone = (
        words.interval(claim[f"low{end}"], claim[f"high{end}"], decimals, metric, compares).removeprefix(
            entries.NOTHING
        )
        for end in ("", "_unadjusted")
    )
    shown = dict.fromkeys(("effect", "size", "value", "n", "k", "draws"), "")
    if not math.isnan(measured) and compares:
        shown |= {"effect": words.signed(measured, decimals), "size": words.number(abs(measured), decimals)}
    elif not math.isnan(measured):
        shown["value"] = words.number(measured, decimals)
    if not math.isnan(claim["n"]):
        shown["n"] = f"{int(claim['n'])}"
        shown["k"] = "" if math.isnan(measured) else f"{round(measured * claim['n'] / 100)}"
    if not math.isnan(claim["draws"]):
        shown["draws"] = f"{int(claim['draws'])}"
    return {
        **shown,
        "claim": claim["id"],
        "printed": entries.published(claim),
        "adjusted": adjusted,
        "interval": alone or adjusted,
        "counterexample": entries.counterexample(claim["counterexample"]),
        "statement": claim["sentence"].rstrip("."),
        "place": claim["source"],
        "answer": "met no counterexample"
        if untried
        else ANSWERED.get(Answer.of(claim["answer"]), str(claim["answer"])),
    }


def leading(findings: Sequence[Row]) -> list[Row]:
    """The findings of the first screen, in their order."""
    return sorted((one for one in findings if one["lead"]), key=lambda one: int(one["lead"]))


def answered(config: Config, known: pd.DataFrame, studies: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """findings.csv: every question with its outcome and its sentence, by claims.csv and the tables of our studies."""
    listed, rows = {str(row["id"]): row for row in tables.rows(known)}, []
    for name, (file, one) in questions.load(config).items():
        rows.append({"id": name} | _row(config, f"{file}: {name}", one, listed, studies))
    return tables.as_read(pd.DataFrame(rows, columns=list(columns.FINDINGS)), columns.FINDINGS)


def _row(
    config: Config, where: str, one: Question, listed: Mapping[str, Row], studies: Mapping[str, pd.DataFrame]
) -> dict[str, Any]:
    asked, leading = questions.chosen(where, one, listed)
    about = {key: listed[key] for key in asked}
    found, result = _outcomes([claim["answer"] for claim in about.values()], one.rule)
    by_outcome = {
        its: [claim for claim, of in zip(about.values(), found, strict=True) if of is its] for its in questions.OUTCOMES
    }
    printed = [claim for claim in about.values() if claim["kind"] == "comparison" and entries.prints_number(claim)]
    counts = {key.replace(" ", "_"): len(of) for key, of in by_outcome.items()}
    counts["unknown"] = counts["cannot_tell"] + counts["not_tested"]
    counts["disagree"] = counts["fails"] + counts["opposite"]
    counts["measured"] = sum(claim["rung"] != "nothing" for claim in about.values())
    together = {
        **{key: str(number or "none") for key, number in counts.items()},
        "all": str(len(about)),
        "which_fail": "; ".join(dict.fromkeys(claim["source"] for claim in by_outcome[Answer.FAILS])),
        "ours": _ours(list(about.values())),
        "printed_range": spanned([(float(claim["reported"]), decimals_of(claim)) for claim in printed]),
    }
    said = str(result)
    answer = ""
    if one.study is not None:
        compared, answers = studies["studies"], studies["answers"]
        mine = compared[(compared["paper"] == one.paper) & (compared["artifact"] == one.study)]
        together |= arms(config, one.paper, tables.rows(mine[mine["in_family"].astype(bool)]))
        answer = "".join(answers[(answers["paper"] == one.paper) & (answers["study"] == one.study)]["answer"])
        said = ANSWERS[answer]
    result = Answer.CANNOT_TELL if said == "unclear" else Answer.of(said)
    also = {key: listed[at] for key, at in one.also.items()}
    known = {"": numbers(listed[leading]) | together} | {key: numbers(claim) for key, claim in also.items()}
    says = GENERAL | {str(outcome): sentence for outcome, sentence in one.says.items()}
    sentence = _filled(f"{where}: says.{said}", says[said], known)
    if one.adds and all(claim["rung"] != "nothing" and not claim["n_missing"] > 0 for claim in also.values()):
        sentence += _filled(f"{where}: says.{said}", f" {one.adds}", known)
    decided = list(about.values()) if one.study else by_outcome[result] or list(about.values())
    deciding = [claim for claim in decided if claim["rung"] != "nothing"] or decided
    reasons = [reason for claim in deciding for reason in claim["reasons"].split("; ") if reason]
    certainty = max((claim["certainty"] for claim in deciding), key=GRADES.index)
    if one.study and not answer:
        certainty, reasons = GRADES[-1], [UNFINISHED]
    elif one.study:
        reasons = [f"{said} ({number} of {len(deciding)} comparisons)" for said, number in Counter(reasons).items()]
    return {
        **{"paper": one.paper, "question": one.question, "outcome": result, "sentence": sentence},
        **{"lead": str(one.lead or ""), "about": " ".join(about), "leading": leading},
        **{"certainty": certainty, "reasons": "; ".join(dict.fromkeys(reasons))},
        **{key: counts[key] for key in ("holds", "direction_only", "fails", "opposite", "cannot_tell", "not_tested")},
    }


def _filled(where: str, sentence: str, known: Mapping[str, Mapping[str, Any]]) -> str:
    """The sentence with its numbers: of all claims, of the leading one, or of another claim (``other.effect``)."""
    parts = []
    for text, name, _, _ in Formatter().parse(sentence):
        other, _, field = (name or "").rpartition(".")
        shown = str(known[other].get(field, ""))
        if name is not None and not shown:
            whose = "its claims have" if field in questions.TOGETHER else f"the claim {known[other]['claim']} has"
            raise HypersphereError(f"{where}: {{{field}}}: {whose} none")
        parts += [text, shown]
    return "".join(parts)


def _ours(about: Sequence[Row]) -> str:
    """What was found, and who found it, in words that are true of any evidence on these claims."""
    found = [claim for claim in about if claim["rung"] != "nothing"]
    if not found:
        return "nothing has been measured"
    seen = {name: measure.seen for name, measure in MEASURES.items()}
    named = (WHERE[claim["rung"]].format(seen=seen.get(claim["metric"], "real images")) for claim in found)
    where = " and ".join(dict.fromkeys(named))
    known = [claim for claim in found if claim["measured"]]
    if not known:
        return f"{where} give no number"
    floored = sum(claim["floored"] != "" for claim in known)
    if len(known) == 1:
        one = numbers(known[0])
        shown = " ".join(filter(None, (one["effect"] or one["value"], one["interval"], f"(n = {one['n']})")))
        weak = f", but {SHORTCOMINGS['floored']}" if floored else ""
    else:
        shown = spanned([(float(claim["measured"]), decimals_of(claim)) for claim in known])
        weak = f", but in {floored} of them {SHORTCOMINGS['floored']}" if floored else ""
    among = f" in {len(known)} of {len(about)} comparisons" if len(about) > 1 else ""
    return f"{where} give {shown}{among}{weak}"


def spanned(numbers: Sequence[tuple[float, int]]) -> str:
    """``−0.3 to +0.6``, of numbers that each have their decimals; empty for none."""
    shown = [words.signed(number, decimals) for number, decimals in sorted(numbers)]
    return " to ".join(dict.fromkeys((shown[0], shown[-1]))) if shown else ""


OF_TEXT = {Answer.BORNE: Answer.HOLDS, Answer.CONTRADICTED: Answer.FAILS}


def _outcomes(answers: Sequence[str], rule: str) -> tuple[list[Answer], Answer]:
    """The answers of some claims as outcomes, and what these come to together.

    Sentences that only their own tables speak of are counted where all are of that kind, as a question about the text.
    """
    only_text = all(answer in OF_TEXT for answer in answers)
    of_world = {answer: answer for answer in questions.OUTCOMES}
    found = [(OF_TEXT if only_text else of_world).get(Answer.of(answer), Answer.CANNOT_TELL) for answer in answers]
    if all(one is Answer.NOT_TESTED for one in found):
        return found, Answer.NOT_TESTED
    if rule == "most":
        most, number = Counter(found).most_common(1)[0]
        decided = 2 * number > len(found) and most is not Answer.NOT_TESTED
        return found, most if decided else Answer.CANNOT_TELL
    for one in (Answer.OPPOSITE, Answer.FAILS):
        if one in found:
            return found, one
    known = {Answer.HOLDS, Answer.DIRECTION_ONLY}
    if not known.issuperset(found):
        return found, Answer.CANNOT_TELL
    return found, Answer.DIRECTION_ONLY if Answer.DIRECTION_ONLY in found else Answer.HOLDS


def arms(config: Config, paper: str, rows: Sequence[Row]) -> dict[str, str]:
    """The arms of a study that are ahead, beyond, level and behind; an arm can be two of these, or none (open)."""
    named = list(zip(our_studies.short_names(config, paper, rows), rows, strict=True))
    found = {str(key): [arm for arm, row in named if key in row["called"].split("; ")] for key in COUNTED}
    found["open"] = [arm for arm, row in named if not (row["called"] or row["floored"] == "both")]
    found["unread"] = [arm for arm, row in named if row["floored"] == "both"]
    return {f"which_{key}": ", ".join(arms) or "none" for key, arms in found.items()}
