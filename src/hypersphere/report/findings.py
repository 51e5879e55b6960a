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
from hypersphere.config.project import SEVERAL, Config
from hypersphere.config.questions import Question, Said
from hypersphere.config.rules import GRADES, SHORTCOMINGS, Answer
from hypersphere.config.study import COUNTED
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.provenance.tables import Row
from hypersphere.report import entries, our_studies, words
from hypersphere.report.entries import decimals_of

SIZES = {"published": "encoders at the published size", "laptop": "small encoders on {seen}"}
"""The encoders that say it, by the rung of the evidence."""
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
    "direction only": "The sign agrees and the size does not, in {direction_only} of {all} comparisons.",
    "opposite": "{opposite} of {all} claims come out the other way round.",
    "cannot tell": "We cannot say yet: {unknown} of {all} claims are undecided or not tested.",
    "not tested": "We have not tested this yet.",
}
"""The headline of an outcome for which a question has none of its own."""
OF_STUDY = {"cannot tell": "We cannot say yet: some runs of this study are missing."}
"""As ``GENERAL``, of a study."""
NOT_KNOWN = "not known"
"""The place of a finding that says what is not known."""
OF_PLACES = "share"
"""The measure of a claim that holds in some percent of ``n`` places."""
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
        found["k"] = _counted(_places(claim)) if math.isfinite(measured) else ""
    if not math.isnan(claim["draws"]):
        found["draws"] = f"{int(claim['draws'])}"
    adjusted, alone = _interval(claim, ""), _interval(claim, "_unadjusted")
    return {
        **found,
        "claim": claim["id"],
        "published": _published(claim, decimals),
        "adjusted": adjusted,
        "interval": alone or adjusted,
        "counterexample": entries.counterexample(claim["counterexample"]),
        "statement": claim["sentence"].rstrip("."),
        "place": claim["source"],
        "answer": _verb(claim),
    }


def _published(claim: Row, decimals: int) -> str:
    """The published number; of a value, to the decimals of its measure and without its spread."""
    if claim["kind"] == "comparison" or not entries.prints_number(claim):
        return entries.published(claim)
    return words.number(float(claim["reported"]), decimals)


def _places(claim: Row) -> int:
    """The number of places in which a claim about a percentage of ``n`` places holds."""
    return round(float(claim["measured"]) * claim["n"] / 100)


def _counted(number: int) -> str:
    """A number of things in a sentence."""
    return str(number or "none")


def _interval(claim: Row, kind: str) -> str:
    metric, compares = MEASURES.get(claim["metric"]), claim["kind"] == "comparison"
    interval = words.interval(
        claim[f"low{kind}"], claim[f"high{kind}"], decimals_of(claim), metric, compares
    )
    return interval.removeprefix(entries.NOTHING)


def _verb(claim: Row) -> str:
    """The answer as a verb. That random draws met no counterexample is no proof."""
    if claim["rung"] == "proof" and claim["answer"] == Answer.HOLDS:
        return "met no counterexample"
    return ANSWERED.get(Answer.of(claim["answer"]), str(claim["answer"]))


def leading(findings: Sequence[Row]) -> list[Row]:
    """The findings of the first screen, in their order. A study leads once it is finished."""
    named = [one for one in findings if one["lead"].isdigit() and one["reasons"] != UNFINISHED]
    return sorted(named, key=lambda one: int(one["lead"]))


def not_known(findings: Sequence[Row]) -> list[Row]:
    """The findings that say what is not known; the first screen has them as a paragraph."""
    return [one for one in findings if one["lead"] == NOT_KNOWN]


def table_of(
    config: Config, known: pd.DataFrame, studies: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """findings.csv: every question with what is said of it, by claims.csv and the tables of our studies."""
    listed = {str(row["id"]): row for row in tables.rows(known)}
    rows = []
    for name, (file, question) in questions.load(config).items():
        rows.append(
            {"id": name} | Finding(config, f"{file}: {name}", question, listed, studies).row()
        )
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
        self.chosen = questions.chosen(self.where, self.question, self.listed)
        self.claims = [self.listed[name] for name in self.chosen.about]
        self.outcomes, self.together = _outcomes(
            [claim["answer"] for claim in self.claims], self.question.rule
        )

    def row(self) -> dict[str, Any]:
        """Its row of findings.csv."""
        question, answer = self.question, self._answer()
        word = str(self.together) if answer is None else ANSWERS[answer]
        outcome = Answer.CANNOT_TELL if word == "unclear" else Answer.of(word)
        deciding = self._deciding(outcome)
        certainty = max((claim["certainty"] for claim in deciding), key=GRADES.index)
        reasons = [
            reason
            for reason in "; ".join(claim["reasons"] for claim in deciding).split("; ")
            if reason
        ]
        if answer == "":
            certainty, reasons = GRADES[-1], [UNFINISHED]
        elif answer is not None:
            of = len(deciding)
            reasons = [
                f"{reason} ({number} of {of} comparisons)"
                for reason, number in Counter(reasons).items()
            ]
        counts = self._counts()
        return {
            "paper": question.paper,
            "question": question.question,
            "outcome": outcome,
            **self._said(word),
            "lead": str(question.lead or ""),
            "about": " ".join(self.chosen.about),
            "leading": self.chosen.leading,
            "certainty": certainty,
            "reasons": "; ".join(dict.fromkeys(reasons)),
            **{str(outcome).replace(" ", "_"): counts[outcome] for outcome in questions.OUTCOMES},
        }

    def _counts(self) -> Counter[Answer]:
        return Counter(self.outcomes)

    def _of(self, outcome: Answer) -> list[Row]:
        """The claims with an outcome."""
        return [
            claim for claim, its in zip(self.claims, self.outcomes, strict=True) if its is outcome
        ]

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

    def _said(self, word: str) -> dict[str, str]:
        """The headline, and the sentence that begins with it and says how we know."""
        known, general = self._known(), GENERAL | (OF_STUDY if self.question.study else {})
        headlines = general | {
            str(outcome): text for outcome, text in self.question.headline.items()
        }
        says = {str(outcome): text for outcome, text in self.question.says.items()}
        headline = _filled(f"{self.where}: headline.{word}", headlines[word], known)
        sentences = [headline, _filled(f"{self.where}: says.{word}", says.get(word, ""), known)]
        if self.question.study is None and self.question.paper != SEVERAL:
            sentences.append(_measured(self.claims))
        if self._has_added():
            sentences.append(_filled(f"{self.where}: adds", self.question.adds or "", known))
        return {"headline": headline, "sentence": " ".join(filter(None, sentences))}

    def _has_added(self) -> bool:
        """Whether all runs of the claims of ``also`` are there."""
        also = [self.listed[name] for name in self.question.also.values()]
        return all(is_known(claim) and not claim["n_missing"] > 0 for claim in also)

    def _known(self) -> dict[str, dict[str, str]]:
        """What sentences can show: of the claims of the question under an empty name, of others under theirs."""
        of_groups = {
            name: _of_group([self.listed[one] for one in ids])
            for name, ids in self.chosen.groups.items()
        }
        of_others = {name: numbers(self.listed[one]) for name, one in self.question.also.items()}
        own = numbers(self.listed[self.chosen.leading]) | _of_group(self.claims) | self._of_all()
        return of_groups | of_others | {"": own | (self._of_arms() if self.question.study else {})}

    def _of_all(self) -> dict[str, str]:
        """What a sentence can show of the claims of the question, and of no other group."""
        failed = dict.fromkeys(claim["source"] for claim in self._of(Answer.FAILS))
        return {"which_fail": "; ".join(failed), "encoders": _encoders(self.claims)}

    def _of_arms(self) -> dict[str, str]:
        """What a sentence can show of the arms of its study."""
        compared = self.studies["studies"]
        own = (compared["paper"] == self.question.paper) & (
            compared["artifact"] == self.question.study
        )
        rows = compared[own & compared["in_family"].astype(bool)]
        return arms(self.config, self.question.paper, tables.rows(rows))


def _filled(where: str, sentence: str, known: Mapping[str, Mapping[str, str]]) -> str:
    """The sentence with its numbers: of all claims, of the leading one, of a group or of another claim."""
    parts = []
    for text, name, _, _ in Formatter().parse(sentence):
        other, _, field = (name or "").rpartition(".")
        shown = known[other].get(field, "")
        if name is not None and not shown:
            whose = (
                "its claims have"
                if field in questions.TOGETHER
                else f"the claim {known[other]['claim']} has"
            )
            raise HypersphereError(f"{where}: {{{field}}}: {whose} none")
        parts += [text, shown]
    filled = "".join(parts)
    return filled[:1].upper() + filled[1:]


def _of_group(claims: Sequence[Row]) -> dict[str, str]:
    """What a sentence can show of some claims (``questions.OF_GROUP``)."""
    outcomes, _ = _outcomes([claim["answer"] for claim in claims], "all")
    counts = Counter(outcomes)
    found = {str(outcome).replace(" ", "_"): counts[outcome] for outcome in questions.OUTCOMES}
    found["unknown"] = counts[Answer.CANNOT_TELL] + counts[Answer.NOT_TESTED]
    found["disagree"] = counts[Answer.FAILS] + counts[Answer.OPPOSITE]
    found["measured"] = sum(map(is_known, claims))
    found["at_published_scale"] = sum(claim["rung"] == "published" for claim in claims)
    with_places = [claim for claim in claims if claim["metric"] == OF_PLACES and claim["measured"]]
    found["k_all"] = sum(map(_places, with_places))
    found["n_all"] = sum(int(claim["n"]) for claim in with_places)
    return {"all": str(len(claims))} | {name: _counted(number) for name, number in found.items()}


def _measured(claims: Sequence[Row]) -> str:
    """What encoders gave beside what is published, in sentences that are true of any evidence on these claims."""
    compared = [
        claim
        for claim in claims
        if (claim["kind"], claim["answered_by"]) == ("comparison", "encoder")
    ]
    found = [claim for claim in compared if is_known(claim) and claim["measured"]]
    if not found:
        return ""
    among = f" in {len(found)} of {len(compared)} comparisons" if len(compared) > 1 else ""
    ours = f"{_encoders(found)} give {_given(found)}{among}."
    sentences = [ours[0].upper() + ours[1:]]
    stated = [claim for claim in compared if entries.prints_number(claim)]
    if stated:
        published = spanned([(float(claim["reported"]), decimals_of(claim)) for claim in stated])
        sentences.insert(0, f"The paper publishes {published}.")
    floored = sum(claim["floored"] != "" for claim in found)
    if floored:
        place = "There" if len(found) == 1 else f"In {floored} of them"
        sentences.append(f"{place}, {SHORTCOMINGS['floored']}.")
    return " ".join(sentences)


def _given(found: Sequence[Row]) -> str:
    """``−0.2 [−0.4, 0.0] (n = 10)`` of one claim, ``−0.2 to +0.6`` of several."""
    if len(found) > 1:
        return spanned([(float(claim["measured"]), decimals_of(claim)) for claim in found])
    of_one = numbers(found[0])
    return " ".join(filter(None, (of_one["effect"], of_one["interval"], f"(n = {of_one['n']})")))


def _encoders(claims: Sequence[Row]) -> str:
    """``small encoders on real images``; empty where no encoder says anything."""
    found = []
    for claim in claims:
        if claim["rung"] in SIZES:
            measure = MEASURES.get(claim["metric"])
            found.append(
                SIZES[claim["rung"]].format(seen=measure.seen if measure else "real images")
            )
    return " and ".join(dict.fromkeys(found))


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
    """The variants of a study that are ahead, beyond, level and behind, and how many.

    A variant can be two of these, or none of them (open).
    """
    found: dict[str, list[str]] = {key: [] for key in (*map(str, COUNTED), "open", "unread")}
    for arm, row in zip(our_studies.short_names(config, paper, rows), rows, strict=True):
        unread = row["floored"] == "both"
        for key in row["called"].split("; ") if row["called"] else ["unread" if unread else "open"]:
            found[key].append(arm)
        if unread and row["called"]:
            found["unread"].append(arm)
    counts = {str(key): _counted(len(found[key])) for key in COUNTED}
    return counts | {f"which_{key}": ", ".join(named) or "none" for key, named in found.items()}
