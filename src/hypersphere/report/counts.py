"""Counts of claims, by what answers them and what came of them. Claims of different kinds and origins are apart."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from hypersphere.config.rules import RESULTS, Answer, Result, Verdict
from hypersphere.provenance.claim_row import has_interval
from hypersphere.provenance.tables import Row
from hypersphere.report.entries import ORIGINS

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
    for kind, origin in product(KINDS, ORIGINS):
        numbers = {str(verdict): found[kind, origin, verdict] for verdict in Verdict}
        verdicts = {verdict: number for verdict, number in numbers.items() if number}
        if verdicts:
            yield Count(kind, origin, verdicts)


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


OF_KINDS: dict[str, tuple[str, Answer | Result | None]] = {
    "statements": ("theorem", None),
    "statements_hold": ("theorem", Answer.HOLDS),
    "statements_fail": ("theorem", Answer.FAILS),
    "studied": ("study", None),
    "studied_hold": ("study", "agrees"),
    "studied_fail": ("study", "disagrees"),
    "encoders": ("encoder", None),
    "nothing": ("encoder", Answer.NOT_TESTED),
    "unclear": ("encoder", Answer.CANNOT_TELL),
    "sentences": ("sentence", None),
    "borne": ("sentence", Answer.BORNE),
    "contradicted": ("sentence", Answer.CONTRADICTED),
}
"""The claims that the article counts, by what answers them and the answer or result; None: any."""


def by_answer(claims: Sequence[Row]) -> dict[str, int]:
    """The number of claims by what answers them and what the answer is, under the names that the article has."""
    counts = Counter[tuple[str, str | None]]()
    for claim in claims:
        answer = Answer.of(claim["answer"])
        counts.update((claim["answered_by"], one) for one in {answer, answer.result, None})
    found = {name: counts[key] for name, key in OF_KINDS.items()}
    values = [claim for claim in claims if claim["kind"] == "value"]
    measured = found["encoders"] - found["nothing"]
    of_values = sum(
        claim["answered_by"] == "encoder" and claim["rung"] != "nothing" for claim in values
    )
    return found | {
        "studied_open": found["studied"] - found["studied_hold"] - found["studied_fail"],
        "measured": measured,
        "clear": measured - found["unclear"],
        "values": of_values,
        "comparisons": measured - of_values,
    }


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
    differences = Counter[str]()
    equal = Counter[str]()
    for claim in filter(is_compared, claims):
        (equal if claim["reported"] == "equal" else differences)[claim["answer"]] += 1
    corrected = Counter(
        claim["answer"]
        for claim in claims
        if claim["origin"] == "corrected" and claim["answered_by"] == "theorem"
    )
    return {
        "claims": len(printed),
        **by_answer(printed),
        "compared": differences.total(),
        **{name: differences[answer] for name, answer in OF_EFFECTS.items()},
        "equal": equal.total(),
        "equal_hold": equal[Answer.HOLDS],
        "equal_fail": equal[Answer.FAILS],
        "corrected": corrected.total(),
        "corrected_hold": corrected[Answer.HOLDS],
        "published": sum(claim["rung"] == "published" for claim in printed),
    }
