"""The findings: each question of a findings.yaml with the sentence that its evidence bears, and its numbers."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from hypersphere.provenance.tables import Row
from hypersphere.report import entries, our_studies, words
from hypersphere.report.entries import decimals_of

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
    decimals, compares = decimals_of(claim), claim["kind"] == "comparison"
    measured, n = float(claim["measured"] or "nan"), claim["n"]
    found = dict.fromkeys(("effect", "size", "value", "n", "k", "draws"), "")
    if not math.isnan(measured) and compares:
        found["effect"] = words.signed(measured, decimals)
        found["size"] = words.number(abs(measured), decimals)
    elif not math.isnan(measured):
        found["value"] = words.number(measured, decimals)
    if not math.isnan(n):
        found["n"] = f"{int(n)}"
        found["k"] = f"{round(measured * n / 100)}" if math.isfinite(measured) else ""
    if not math.isnan(claim["draws"]):
        found["draws"] = f"{int(claim['draws'])}"
    adjusted, alone = _interval(claim, ""), _interval(claim, "_unadjusted")
    return {
        **found,
        "claim": claim["id"],
        "printed": entries.published(claim),
        "adjusted": adjusted,
        "interval": alone or adjusted,
        "counterexample": entries.counterexample(claim["counterexample"]),
        "statement": claim["sentence"].rstrip("."),
        "place": claim["source"],
        "answer": _verb(claim),
    }


def _interval(claim: Row, kind: str) -> str:
    metric, compares = MEASURES.get(claim["metric"]), claim["kind"] == "comparison"
    interval = words.interval(claim[f"low{kind}"], claim[f"high{kind}"], decimals_of(claim), metric, compares)
    return interval.removeprefix(entries.NOTHING)


def _verb(claim: Row) -> str:
    """The answer as a verb. That random draws met no counterexample is no proof."""
    if claim["rung"] == "proof" and claim["answer"] == Answer.HOLDS:
        return "met no counterexample"
    return ANSWERED.get(Answer.of(claim["answer"]), str(claim["answer"]))


def leading(findings: Sequence[Row]) -> list[Row]:
    """The findings of the first screen, in their order."""
    return sorted((one for one in findings if one["lead"]), key=lambda one: int(one["lead"]))


def table_of(config: Config, known: pd.DataFrame, studies: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """findings.csv: every question with its outcome and its sentence, by claims.csv and the tables of our studies."""
    listed = {str(row["id"]): row for row in tables.rows(known)}
    rows = []
    for name, (file, question) in questions.load(config).items():
        rows.append({"id": name} | Finding(config, f"{file}: {name}", question, listed, studies).row())
    return tables.as_read(pd.DataFrame(rows, columns=list(columns.FINDINGS)), columns.FINDINGS)


def is_known(claim: Row) -> bool:
    """Whether there is any evidence on a claim."""
    return claim["rung"] != "nothing"


@dataclass
class Finding:
    """A question with what is known of its claims."""

    config: Config
    where: str
    """Its file and name, for an error."""
    question: Question
    listed: Mapping[str, Row]
    """Every claim by its id."""
    studies: Mapping[str, pd.DataFrame]

    def __post_init__(self) -> None:
        self.claim_names, self.leading = questions.chosen(self.where, self.question, self.listed)
        self.claims = [self.listed[name] for name in self.claim_names]
        self.outcomes, self.together = _outcomes([claim["answer"] for claim in self.claims], self.question.rule)

    def row(self) -> dict[str, Any]:
        """Its row of findings.csv."""
        question, answer = self.question, self._answer()
        word = str(self.together) if answer is None else ANSWERS[answer]
        outcome = Answer.CANNOT_TELL if word == "unclear" else Answer.of(word)
        deciding = self._deciding(outcome)
        certainty = max((claim["certainty"] for claim in deciding), key=GRADES.index)
        reasons = [reason for reason in "; ".join(claim["reasons"] for claim in deciding).split("; ") if reason]
        if answer == "":
            certainty, reasons = GRADES[-1], [UNFINISHED]
        elif answer is not None:
            of = len(deciding)
            reasons = [f"{reason} ({number} of {of} comparisons)" for reason, number in Counter(reasons).items()]
        counts = self._counts()
        return {
            "paper": question.paper,
            "question": question.question,
            "outcome": outcome,
            "sentence": self._sentence(word),
            "lead": str(question.lead or ""),
            "about": " ".join(self.claim_names),
            "leading": self.leading,
            "certainty": certainty,
            "reasons": "; ".join(dict.fromkeys(reasons)),
            **{str(outcome).replace(" ", "_"): counts[outcome] for outcome in questions.OUTCOMES},
        }

    def _counts(self) -> Counter[Answer]:
        return Counter(self.outcomes)

    def _of(self, outcome: Answer) -> list[Row]:
        """The claims with an outcome."""
        return [claim for claim, its in zip(self.claims, self.outcomes, strict=True) if its is outcome]

    def _answer(self) -> str | None:
        """The answer of its study, empty of an unfinished one; None of a question that is no study's."""
        if self.question.study is None:
            return None
        answers = self.studies["answers"]
        own = (answers["paper"] == self.question.paper) & (answers["study"] == self.question.study)
        return "".join(answers[own]["answer"])

    def _deciding(self, outcome: Answer) -> list[Row]:
        """The claims whose certainty is that of the finding."""
        decided = self.claims if self.question.study else self._of(outcome) or self.claims
        return list(filter(is_known, decided)) or decided

    def _sentence(self, word: str) -> str:
        question, where = self.question, f"{self.where}: says.{word}"
        also = {key: self.listed[name] for key, name in question.also.items()}
        known = {key: numbers(claim) for key, claim in also.items()}
        known[""] = numbers(self.listed[self.leading]) | self._of_all() | (self._of_arms() if question.study else {})
        says = GENERAL | {str(outcome): sentence for outcome, sentence in question.says.items()}
        sentence = _filled(where, says[word], known)
        if question.adds and all(is_known(claim) and not claim["n_missing"] > 0 for claim in also.values()):
            sentence += _filled(where, f" {question.adds}", known)
        return sentence

    def _of_all(self) -> dict[str, str]:
        """What a sentence can show of all claims together (``questions.TOGETHER``)."""
        counts = self._counts()
        numbers = {str(outcome).replace(" ", "_"): counts[outcome] for outcome in questions.OUTCOMES}
        numbers["unknown"] = counts[Answer.CANNOT_TELL] + counts[Answer.NOT_TESTED]
        numbers["disagree"] = counts[Answer.FAILS] + counts[Answer.OPPOSITE]
        numbers["measured"] = sum(map(is_known, self.claims))
        compared = [claim for claim in self.claims if claim["kind"] == "comparison" and entries.prints_number(claim)]
        failed = dict.fromkeys(claim["source"] for claim in self._of(Answer.FAILS))
        return {
            **{key: str(number or "none") for key, number in numbers.items()},
            "all": str(len(self.claims)),
            "which_fail": "; ".join(failed),
            "ours": _ours(self.claims),
            "printed_range": spanned([(float(claim["reported"]), decimals_of(claim)) for claim in compared]),
        }

    def _of_arms(self) -> dict[str, str]:
        """What a sentence can show of the arms of its study."""
        compared = self.studies["studies"]
        own = (compared["paper"] == self.question.paper) & (compared["artifact"] == self.question.study)
        rows = compared[own & compared["in_family"].astype(bool)]
        return arms(self.config, self.question.paper, tables.rows(rows))


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


def _ours(claims: Sequence[Row]) -> str:
    """What was found, and who found it, in words that are true of any evidence on these claims."""
    found = list(filter(is_known, claims))
    if not found:
        return "nothing has been measured"
    where = " and ".join(dict.fromkeys(map(_who, found)))
    measured = [claim for claim in found if claim["measured"]]
    if not measured:
        return f"{where} give no number"
    floored = sum(claim["floored"] != "" for claim in measured)
    if len(measured) == 1:
        of_one = numbers(measured[0])
        parts = (of_one["effect"] or of_one["value"], of_one["interval"], f"(n = {of_one['n']})")
        given, some = " ".join(filter(None, parts)), ""
    else:
        given = spanned([(float(claim["measured"]), decimals_of(claim)) for claim in measured])
        some = f"in {floored} of them "
    weak = f", but {some}{SHORTCOMINGS['floored']}" if floored else ""
    among = f" in {len(measured)} of {len(claims)} comparisons" if len(claims) > 1 else ""
    return f"{where} give {given}{among}{weak}"


def _who(claim: Row) -> str:
    """``small encoders on real images``."""
    measure = MEASURES.get(claim["metric"])
    return WHERE[claim["rung"]].format(seen=measure.seen if measure else "real images")


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
    counted = OF_TEXT if only_text else {answer: answer for answer in questions.OUTCOMES}
    found = [counted.get(Answer.of(answer), Answer.CANNOT_TELL) for answer in answers]
    return found, _come_to(found, rule)


def _come_to(outcomes: Sequence[Answer], rule: str) -> Answer:
    if set(outcomes) == {Answer.NOT_TESTED}:
        return Answer.NOT_TESTED
    if rule == "most":
        most, number = Counter(outcomes).most_common(1)[0]
        decided = 2 * number > len(outcomes) and most is not Answer.NOT_TESTED
        return most if decided else Answer.CANNOT_TELL
    for against in (Answer.OPPOSITE, Answer.FAILS):
        if against in outcomes:
            return against
    if set(outcomes) == {Answer.HOLDS}:
        return Answer.HOLDS
    in_sign = set(outcomes) <= {Answer.HOLDS, Answer.DIRECTION_ONLY}
    return Answer.DIRECTION_ONLY if in_sign else Answer.CANNOT_TELL


def arms(config: Config, paper: str, rows: Sequence[Row]) -> dict[str, str]:
    """The arms of a study that are ahead, beyond, level and behind; an arm can be two of these, or none (open)."""
    found: dict[str, list[str]] = {key: [] for key in (*map(str, COUNTED), "open", "unread")}
    for arm, row in zip(our_studies.short_names(config, paper, rows), rows, strict=True):
        unread = row["floored"] == "both"
        for key in row["called"].split("; ") if row["called"] else ["unread" if unread else "open"]:
            found[key].append(arm)
        if unread and row["called"]:
            found["unread"].append(arm)
    return {f"which_{key}": ", ".join(named) or "none" for key, named in found.items()}
