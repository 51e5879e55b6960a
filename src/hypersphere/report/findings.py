"""The findings: each question of a findings.yaml with the sentence that its evidence supports, and its numbers."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

import pandas as pd

from hypersphere.config import questions
from hypersphere.config.certainty import GRADES, SHORTCOMINGS
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import SEVERAL, Config
from hypersphere.config.questions import Question
from hypersphere.config.rules import Answer
from hypersphere.config.study import COUNTED
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.provenance.claim_row import compares_encoders
from hypersphere.provenance.tables import Row
from hypersphere.report import entries, our_studies, rendering, words
from hypersphere.report.entries import decimals_of

SIZES = {"published": "encoders at the published size", "laptop": "small encoders on {seen}"}
"""The encoders behind a finding, in words, by the rung of its evidence."""
ANSWERED = {
    Answer.DIRECTION_ONLY: "holds in sign alone",
    Answer.OPPOSITE: "holds the other way round",
    Answer.CANNOT_TELL: "is open",
    Answer.NOT_TESTED: "was not tested",
}
"""The verb for an answer. Answers that are not here are verbs already."""
ANSWERS = {"yes": "holds", "no": "fails", "unclear": "unclear", "": "cannot tell"}
"""The words for the answers of studies (``statistics/answers.py``)."""
GENERAL = {
    "direction only": "The sign agrees and the size does not, in {direction_only} of {all} comparisons.",
    "opposite": "{opposite} of {all} claims come out the other way round.",
    "cannot tell": "We cannot say yet: {unknown} of {all} claims are undecided or not tested.",
    "not tested": "We have not tested this yet.",
}
"""The headlines of outcomes for which a question has no headline."""
OF_STUDY = {"cannot tell": "We cannot say yet: some runs of this study are missing."}
"""The headlines of outcomes for which a study has no headline."""
NOT_KNOWN = "not known"
"""The ``lead`` of a finding that says what is not known."""
OF_PLACES = "share"
"""The measure of a claim that holds in some percent of ``n`` places."""
UNFINISHED = "not all of its runs are there"
"""Why a study has no answer."""


def numbers(claim: Row) -> dict[str, str]:
    """What a sentence can show of one claim; empty: it has none."""
    decimals = decimals_of(claim)
    measured = float(claim["measured"] or "nan")
    adjusted = entries.interval(claim)
    texts = {
        **dict.fromkeys(("effect", "size", "value", "n", "k", "draws"), ""),
        "claim": claim["id"],
        "published": _published_number(claim, decimals),
        "adjusted": adjusted,
        "interval": entries.interval(claim, "{}_unadjusted") or adjusted,
        "counterexample": entries.counterexample(claim["counterexample"]),
        "statement": claim["sentence"].rstrip("."),
        "place": claim["source"],
        "answer": _verb(claim),
    }
    if claim["kind"] != "comparison":
        texts["value"] = _if_any(measured, decimals)
    elif not math.isnan(measured):
        texts["effect"] = words.with_sign(measured, decimals)
        texts["size"] = words.number(abs(measured), decimals)
    if not math.isnan(claim["n"]):
        texts["n"] = _if_any(claim["n"], 0)
        texts["k"] = _number_or_none(_places(claim)) if math.isfinite(measured) else ""
    texts["draws"] = _if_any(claim["draws"], 0)
    return texts


def _if_any(value: float, decimals: int) -> str:
    return "" if math.isnan(value) else words.number(value, decimals)


def _published_number(claim: Row, decimals: int) -> str:
    """The published number. A value has the decimals of its measure, and no spread."""
    if claim["kind"] == "comparison" or not entries.prints_number(claim):
        return entries.published_words(claim)
    return words.number(float(claim["reported"]), decimals)


def _places(claim: Row) -> int:
    """The number of places in which a claim about a percentage of ``n`` places holds."""
    return round(float(claim["measured"]) * claim["n"] / 100)


def _number_or_none(number: int) -> str:
    """A number of things as a sentence has it: zero is a word."""
    return str(number or "none")


def _verb(claim: Row) -> str:
    """The answer as a verb. Random draws that met no counterexample prove nothing, and the verb says so."""
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
    """The table findings.csv: a row for every question, by claims.csv (``known``) and the tables of our studies."""
    listed = {str(row["id"]): row for row in tables.rows(known)}
    rows = []
    for name, (file, question) in questions.load(config).items():
        finding = Finding(config, f"{file}: {name}", question, listed, studies)
        rows.append({"id": name, **finding.row()})
    return tables.as_read(pd.DataFrame(rows, columns=list(columns.FINDINGS)), columns.FINDINGS)


def is_known(claim: Row) -> bool:
    """Whether there is any evidence on a claim."""
    return claim["rung"] != "nothing"


@dataclass
class Finding:
    """A question with what is known of its claims."""

    config: Config
    where: str
    """The question's file and name, which begin an error."""
    question: Question
    listed: Mapping[str, Row]
    """Every claim by its id."""
    studies: Mapping[str, pd.DataFrame]

    def __post_init__(self) -> None:
        self.chosen = questions.choose(self.where, self.question, self.listed)
        self.claims = self._claims(self.chosen.about)
        self.outcomes = _outcomes(self.claims)

    def _claims(self, names: Iterable[str]) -> list[Row]:
        return [self.listed[name] for name in names]

    def row(self) -> dict[str, Any]:
        """The finding's row of findings.csv."""
        question = self.question
        answer = self._answer()
        word = _outcome_of_all(self.outcomes, question.rule) if answer is None else ANSWERS[answer]
        outcome = Answer.CANNOT_TELL if word == "unclear" else Answer.of(word)
        deciding = self._deciding(outcome)
        certainty = max((claim["certainty"] for claim in deciding), key=GRADES.index)
        reasons = Counter("; ".join(claim["reasons"] for claim in deciding).split("; "))
        del reasons[""]
        listed = list(reasons)
        if answer == "":
            certainty, listed = GRADES[-1], [UNFINISHED]
        elif answer is not None:
            of = len(deciding)
            listed = [f"{why} ({count} of {of} comparisons)" for why, count in reasons.items()]
        headline, sentence = self._sentences(str(word))
        return {
            "paper": question.paper,
            "question": question.question,
            "outcome": outcome,
            "headline": headline,
            "sentence": sentence,
            "lead": str(question.lead or ""),
            "about": " ".join(self.chosen.about),
            "leading": self.chosen.leading,
            "certainty": certainty,
            "reasons": "; ".join(listed),
            **_by_outcome(self.outcomes),
        }

    def _with_outcome(self, outcome: Answer) -> list[Row]:
        """The claims with an outcome."""
        pairs = zip(self.claims, self.outcomes, strict=True)
        return [claim for claim, of_claim in pairs if of_claim is outcome]

    def _rows_of_study(self, table: str, column: str) -> pd.DataFrame:
        """The rows of the question's study in a table of our studies. ``column`` has the study's name."""
        rows = self.studies[table]
        own = (rows["paper"] == self.question.paper) & (rows[column] == self.question.study)
        return rows[own]

    def _answer(self) -> str | None:
        """The answer of the question's study; empty: the study is not finished; None: the question has no study."""
        if self.question.study is None:
            return None
        return "".join(self._rows_of_study("answers", "study")["answer"])

    def _deciding(self, outcome: Answer) -> list[Row]:
        """The claims that decide the finding's certainty."""
        decided = self.claims if self.question.study else self._with_outcome(outcome) or self.claims
        return list(filter(is_known, decided)) or decided

    def _sentences(self, word: str) -> tuple[str, str]:
        """The headline, and the sentence that begins with it and says how we know."""
        question = self.question
        known = self._texts()
        headlines = GENERAL | (OF_STUDY if question.study else {})
        headlines |= {str(outcome): text for outcome, text in question.headline.items()}
        says = {str(outcome): text for outcome, text in question.says.items()}
        headline = _fill(f"{self.where}: headline.{word}", headlines[word], known)
        parts = [headline, _fill(f"{self.where}: says.{word}", says.get(word, ""), known)]
        if question.study is None and question.paper != SEVERAL:
            parts.append(_compared_with_published(self.claims))
        also = self._claims(question.also.values())
        if all(is_known(claim) and not claim["n_missing"] > 0 for claim in also):
            parts.append(_fill(f"{self.where}: adds", question.adds or "", known))
        return headline, " ".join(filter(None, parts))

    def _texts(self) -> dict[str, dict[str, str]]:
        """The texts that sentences can show. The question's claims have the empty name, other claims their own."""
        known = {name: _of_group(self._claims(ids)) for name, ids in self.chosen.groups.items()}
        known |= {name: numbers(self.listed[one]) for name, one in self.question.also.items()}
        failed = dict.fromkeys(claim["source"] for claim in self._with_outcome(Answer.FAILS))
        known[""] = {
            **numbers(self.listed[self.chosen.leading]),
            **_of_group(self.claims),
            "which_fail": "; ".join(failed),
            "encoders": _encoders(self.claims),
        }
        if self.question.study:
            rows = self._rows_of_study("studies", "artifact")
            in_family = tables.rows(rows[rows["in_family"].astype(bool)])
            known[""] |= arms(self.config, self.question.paper, in_family)
        return known


def _fill(where: str, sentence: str, known: Mapping[str, Mapping[str, str]]) -> str:
    """Fill a sentence with texts about all its claims, the leading claim, a group or another claim."""
    filled = ""
    for text, name, _, _ in Formatter().parse(sentence):
        filled += text
        if name is None:
            continue
        other, _, field = name.rpartition(".")
        shown = known[other].get(field, "")
        if not shown:
            of_all = field in questions.TOGETHER
            whose = "its claims have" if of_all else f"the claim {known[other]['claim']} has"
            raise HypersphereError(f"{where}: {{{field}}}: {whose} none")
        filled += shown
    return filled[:1].upper() + filled[1:]


def _of_group(claims: Sequence[Row]) -> dict[str, str]:
    """The texts that a sentence can show about several claims (``questions.OF_GROUP``)."""
    outcomes = Counter(_outcomes(claims))
    shares = [claim for claim in claims if claim["metric"] == OF_PLACES and claim["measured"]]
    counts = {
        **_by_outcome(outcomes),
        "unknown": outcomes[Answer.CANNOT_TELL] + outcomes[Answer.NOT_TESTED],
        "disagree": outcomes[Answer.FAILS] + outcomes[Answer.OPPOSITE],
        "measured": sum(map(is_known, claims)),
        "at_published_scale": sum(claim["rung"] == "published" for claim in claims),
        "k_all": sum(map(_places, shares)),
        "n_all": sum(int(claim["n"]) for claim in shares),
    }
    return {"all": str(len(claims))} | {
        name: _number_or_none(number) for name, number in counts.items()
    }


def _by_outcome(outcomes: Iterable[Answer]) -> dict[str, int]:
    """The number of claims with each outcome, by the names of columns."""
    counts = Counter(outcomes)
    return {str(outcome).replace(" ", "_"): counts[outcome] for outcome in questions.OUTCOMES}


def _compared_with_published(claims: Sequence[Row]) -> str:
    """Sentences that compare what our encoders gave with what is published. They are true of any evidence."""
    compared = list(filter(compares_encoders, claims))
    measured = [claim for claim in compared if is_known(claim) and claim["measured"]]
    if not measured:
        return ""
    stated = filter(entries.prints_number, compared)
    sentences = rendering.fill(
        "measured.txt",
        published=span((float(claim["reported"]), decimals_of(claim)) for claim in stated),
        encoders=_encoders(measured),
        ours=_our_numbers(measured),
        measured=len(measured),
        compared=len(compared),
        floored=sum(claim["floored"] != "" for claim in measured),
        why_floored=SHORTCOMINGS["floored"],
    )
    return " ".join(sentences.splitlines())


def _our_numbers(measured: Sequence[Row]) -> str:
    """Our numbers in words: ``−0.2 [−0.4, 0.0] (n = 10)`` for one claim, ``−0.2 to +0.6`` for several."""
    if len(measured) > 1:
        return span((float(claim["measured"]), decimals_of(claim)) for claim in measured)
    one = numbers(measured[0])
    return " ".join(filter(None, (one["effect"], one["interval"], f"(n = {one['n']})")))


def _encoders(claims: Sequence[Row]) -> str:
    """The encoders behind some claims: ``small encoders on real images``; empty if there are no encoders."""
    kinds = dict[str, None]()
    for claim in claims:
        if claim["rung"] in SIZES:
            measure = MEASURES.get(claim["metric"])
            seen = measure.seen if measure else "real images"
            kinds[SIZES[claim["rung"]].format(seen=seen)] = None
    return " and ".join(kinds)


def span(numbers: Iterable[tuple[float, int]]) -> str:
    """The span of some numbers, ``−0.3 to +0.6``. Each number comes with its decimals; empty without numbers."""
    shown = [words.with_sign(number, decimals) for number, decimals in sorted(numbers)]
    return " to ".join(dict.fromkeys((shown[0], shown[-1]))) if shown else ""


OF_TEXT = {Answer.BORNE: Answer.HOLDS, Answer.CONTRADICTED: Answer.FAILS}
"""The outcome of a sentence that is judged by its own document's tables alone."""


def _outcomes(claims: Sequence[Row]) -> list[Answer]:
    """The answers of some claims as outcomes.

    Sentences that are judged by their own document alone count only if all claims are such sentences: then the question
    is about the text.
    """
    answers = [Answer.of(claim["answer"]) for claim in claims]
    only_text = all(answer in OF_TEXT for answer in answers)
    counted = OF_TEXT if only_text else {answer: answer for answer in questions.OUTCOMES}
    return [counted.get(answer, Answer.CANNOT_TELL) for answer in answers]


def _outcome_of_all(outcomes: Sequence[Answer], rule: str) -> Answer:
    """The outcome of a question, by the outcomes of its claims and the question's rule."""
    among = set(outcomes)
    if among == {Answer.NOT_TESTED}:
        return Answer.NOT_TESTED
    if rule == "most":
        most, number = Counter(outcomes).most_common(1)[0]
        decided = 2 * number > len(outcomes) and most is not Answer.NOT_TESTED
        return most if decided else Answer.CANNOT_TELL
    for against in (Answer.OPPOSITE, Answer.FAILS):
        if against in among:
            return against
    if among == {Answer.HOLDS}:
        return Answer.HOLDS
    in_sign = among <= {Answer.HOLDS, Answer.DIRECTION_ONLY}
    return Answer.DIRECTION_ONLY if in_sign else Answer.CANNOT_TELL


def arms(config: Config, paper: str, rows: Sequence[Row]) -> dict[str, str]:
    """How many variants of a study are ahead, beyond, level and behind, and which.

    A variant can be two of these, or it is open.
    """
    arms_by_key: dict[str, list[str]] = {key: [] for key in (*map(str, COUNTED), "open", "unread")}
    for arm, row in zip(our_studies.short_names(config, paper, rows), rows, strict=True):
        keys = row["called"].split("; ") if row["called"] else []
        if row["floored"] == "both":
            keys.append("unread")
        for key in keys or ["open"]:
            arms_by_key[key].append(arm)
    counts = {str(key): _number_or_none(len(arms_by_key[key])) for key in COUNTED}
    return counts | {
        f"which_{key}": ", ".join(names) or "none" for key, names in arms_by_key.items()
    }
