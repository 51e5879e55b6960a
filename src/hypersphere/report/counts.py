"""Counts of claims, by what answers them and what came of them. Claims of different kinds and origins are apart."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hypersphere.config.rules import RESULTS, Answer, Result, Verdict
from hypersphere.provenance.tables import Row
from hypersphere.report.entries import ORIGINS
from hypersphere.statistics.replication import has_interval

KINDS = {
    "theorem": "theorems and identities",
    "study": "exact computations",
    "encoder": "numbers and comparisons of trained encoders",
    "sentence": "sentences about their own tables",
}
"""Kinds of claims by what answers them (``answered_by``), the firmest first; sentences, which say nothing of the world,
last."""


class Count(NamedTuple):
    """The claims of one kind and origin."""

    kind: str
    origin: str
    verdicts: Mapping[str, int]
    """How many there are of each verdict, settled verdicts first, without those that none has."""

    def __str__(self) -> str:
        """``51 theorems and identities, published: 29 no counterexample, 22 refuted``."""
        listed = ", ".join(f"{number} {verdict}" for verdict, number in self.verdicts.items())
        return f"{sum(self.verdicts.values())} {KINDS[self.kind]}, {ORIGINS[self.origin]}: {listed}"


def of_claims(claims: Iterable[Row]) -> Iterator[Count]:
    """A count for each kind and origin that occurs."""
    found = Counter((row["answered_by"], row["origin"], row["verdict"]) for row in claims)
    for kind in KINDS:
        for origin in ORIGINS:
            numbers = {str(verdict): found[kind, origin, verdict] for verdict in Verdict}
            if any(numbers.values()):
                yield Count(
                    kind, origin, {verdict: number for verdict, number in numbers.items() if number}
                )


def results(claims: Iterable[Row]) -> dict[Result, int]:
    """How many claims have each result."""
    found = Counter(Answer.of(claim["answer"]).result for claim in claims)
    return {result: found[result] for result in RESULTS}


def by_kind(claims: Sequence[Row]) -> dict[str, dict[Result, int]]:
    """How many claims of each kind have each result; a kind that none has is left out."""
    found = {}
    for kind in KINDS:
        own = [claim for claim in claims if claim["answered_by"] == kind]
        if own:
            found[kind] = results(own)
    return found


def by_answer(claims: Sequence[Row]) -> dict[str, int]:
    """The number of claims by what answers them and what the answer is, under the names that the article has."""
    answers = Counter((claim["answered_by"], Answer.of(claim["answer"])) for claim in claims)
    results = Counter((claim["answered_by"], Answer.of(claim["answer"]).result) for claim in claims)
    asked = Counter(claim["answered_by"] for claim in claims)
    values = sum(is_measured_value(claim) for claim in claims)
    agree, fail = results["study", "agrees"], results["study", "disagrees"]
    nothing, unclear = answers["encoder", Answer.NOT_TESTED], answers["encoder", Answer.CANNOT_TELL]
    measured = asked["encoder"] - nothing
    return {
        "statements": asked["theorem"],
        "statements_hold": answers["theorem", Answer.HOLDS],
        "statements_fail": answers["theorem", Answer.FAILS],
        "studied": asked["study"],
        "studied_hold": agree,
        "studied_fail": fail,
        "studied_open": asked["study"] - agree - fail,
        "encoders": asked["encoder"],
        "measured": measured,
        "nothing": nothing,
        "clear": measured - unclear,
        "unclear": unclear,
        "values": values,
        "comparisons": measured - values,
        "sentences": asked["sentence"],
        "borne": answers["sentence", Answer.BORNE],
        "contradicted": answers["sentence", Answer.CONTRADICTED],
    }


def is_measured_value(claim: Row) -> bool:
    """Whether a number of encoders was measured. Below the published scale it is not compared with the printed one."""
    return (claim["answered_by"], claim["kind"]) == ("encoder", "value") and claim[
        "rung"
    ] != "nothing"


def is_compared(claim: Row) -> bool:
    """Whether it is shown with its interval in the article, which shows no claims of our own."""
    return has_interval(claim) and claim["origin"] in ("printed", "implied")


OF_EFFECTS = {
    "agree": Answer.HOLDS,
    "sign_only": Answer.DIRECTION_ONLY,
    "less": Answer.FAILS,
    "opposite": Answer.OPPOSITE,
    "undecided": Answer.CANNOT_TELL,
}
"""The answers of differences, by what the article calls their counts."""


def of_evidence(claims: Sequence[Row]) -> dict[str, int]:
    """How many claims there are of each kind, and what came of them: printed ones, unless the key says otherwise.

    ``compared``, and the results, are of printed and implied differences with an interval of ours.
    """
    printed = [claim for claim in claims if claim["origin"] == "printed"]
    compared = [claim for claim in claims if is_compared(claim)]
    differences = Counter(
        Answer.of(claim["answer"]) for claim in compared if claim["reported"] != "equal"
    )
    equal = [claim["answer"] for claim in compared if claim["reported"] == "equal"]
    corrected = [
        claim["answer"]
        for claim in claims
        if (claim["origin"], claim["answered_by"]) == ("corrected", "theorem")
    ]
    found = {"claims": len(printed), "compared": differences.total(), **by_answer(printed)}
    for name, answer in OF_EFFECTS.items():
        found[name] = differences[answer]
    found |= {
        "equal": len(equal),
        "equal_hold": equal.count(Answer.HOLDS),
        "equal_fail": equal.count(Answer.FAILS),
    }
    found |= {"corrected": len(corrected), "corrected_hold": corrected.count(Answer.HOLDS)}
    found["published"] = sum(claim["rung"] == "published" for claim in printed)
    return found
