"""The paper's outline, and what came of a document's claims in sentences and rows that follow the outcome."""

import re
from collections.abc import Sequence
from typing import Any

from hypersphere import files
from hypersphere.config.project import Config
from hypersphere.config.validation import Strict, not_one_of, validate
from hypersphere.errors import HypersphereError
from hypersphere.report import words
from hypersphere.report.claims import Apart, Entry, apart
from hypersphere.report.results import AGREE, DISAGREE
from hypersphere.wording import counted

OUTLINE = "paper/outline.yaml"

OUTCOMES = ("held", "failed", "open", "not run")
"""What a claim came to, in short. Below the published scale, what needs trained encoders is open or not run."""
DIRECTIONS = {"same": "the published sign", "opposite": "the opposite sign", "unclear": "an interval across zero"}
ALL = "held", "failed", "stayed open", "was not run"
SOME = "held", "failed", "stayed open", "were not run"


class Part(Strict):
    """One document's place in the paper."""

    short: str
    """How the prose names the document."""
    main: list[str]
    """Its artifacts in the main part, in this order. All others are in the appendix."""
    telling: list[str]
    """Claims that the findings tell in words."""


def outline(config: Config) -> dict[str, Part]:
    """The part of each document. One that the outline lacks is named by its title, with all of it in the appendix."""
    file = config.root / OUTLINE
    listed = files.read_yaml(file)
    if not isinstance(listed, dict):
        raise HypersphereError(f"{file}: must map documents to their parts")
    parts = {str(name): validate(Part, given, file, str(name)) for name, given in listed.items()}
    for name, paper in config.papers.items():
        part = parts.setdefault(name, Part(short=f"“{paper.title}”", main=[], telling=[]))
        for artifact in part.main:
            if artifact not in paper.artifacts:
                raise HypersphereError(f"{file}: {name}: main: {not_one_of(artifact, paper.artifacts)}")
    return parts


def outcome(claim: Entry) -> str:
    """One of ``OUTCOMES``."""
    if claim.verdict == words.NOT_RUN:
        return "not run"
    return {"agree": "held", "disagree": "failed"}.get(claim.tone, "open")


def outcomes(claims: Sequence[Entry]) -> dict[str, int]:
    """The number of claims with each outcome."""
    every = [outcome(claim) for claim in claims]
    return {name: every.count(name) for name in OUTCOMES}


def printed(claims: Sequence[Entry]) -> list[Entry]:
    """The claims as a document prints them, without corrections and without those of our own."""
    return [claim for claim in claims if claim.origin == "printed"]


def sentence(claims: Sequence[Entry], noun: str, plural: str) -> str:
    """``Of 13 printed theorems, 8 held and 5 failed.``, ``All 13 printed theorems held.``; empty without claims."""
    total, counts = len(claims), outcomes(claims)
    if not total:
        return ""
    said = [f"{number} {word}" for number, word in zip(counts.values(), SOME, strict=True) if number]
    if len(said) > 1:
        return f"Of {total} {plural}, {_listed(said)}."
    came = dict(zip(OUTCOMES, ALL if total == 1 else SOME, strict=True))[next(name for name in counts if counts[name])]
    return f"The only {noun} {came}." if total == 1 else f"All {total} {plural} {came}."


def _listed(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def of_exact(kinds: Apart) -> list[str]:
    """Theorems and identities as printed and as corrected, and claims that exact studies answer."""
    corrected = [claim for claim in kinds.stated if claim.origin == "corrected"]
    noun = "printed {} on formulas, on small simulations or on the document's own numbers"
    return [
        sentence(printed(kinds.stated), "printed theorem or identity", "printed theorems and identities"),
        sentence(corrected, "statement that an erratum corrects", "statements that errata correct"),
        sentence(printed(kinds.studied), noun.format("claim"), noun.format("claims")),
    ]


def of_encoders(kinds: Apart, scale: str, settles: bool) -> list[str]:
    """Claims that need trained encoders. Only the published scale settles any."""
    claims = printed(kinds.measured)
    if not claims or settles:
        return [sentence(claims, "printed number that needs a trained encoder", "printed numbers of trained encoders")]
    measured = [claim for claim in claims if claim.verdict != words.NOT_RUN]
    needs = "printed number or comparison needs a trained encoder"
    many = "printed numbers and comparisons need trained encoders"
    first = f"{counted(len(claims), needs, many)}; scale {scale} measured {len(measured) or 'none'} and settles none."
    found = [claim.direction for claim in measured if claim.direction]
    said = [f"{found.count(name)} with {meaning}" for name, meaning in DIRECTIONS.items() if name in found]
    return [first, *([f"Measured effects: {_listed(said)}."] if said else [])]


def quoted(text: str) -> str:
    """Text with the quotation marks of print."""
    return re.sub(r'"([^"]*)"', r"“\1”", text)


def telling(claims: Sequence[Entry], ids: Sequence[str]) -> list[dict[str, str]]:
    """What came of some claims: outcome, words, place, and the evidence where one failed or stayed open.

    Those that claims.csv lacks, because only a part was rebuilt, are left out.
    """
    named = {claim.id: claim for claim in claims}
    return [
        {
            "outcome": outcome(claim),
            "claim": quoted(claim.subject.rstrip(".")),
            "source": claim.source,
            "evidence": {"failed": _evidence(claim), "open": claim.verdict}.get(outcome(claim), ""),
        }
        for claim in (named[name] for name in ids if name in named)
    ]


def failures(kinds: Apart) -> list[dict[str, Any]]:
    """A row for each printed claim that failed: the claim, its place, the evidence, and the errata that mend it."""
    others = [
        claim for claim in (*kinds.stated, *kinds.studied) if claim.origin != "printed" and claim.verdict in AGREE
    ]
    return [
        {
            "subject": quoted(claim.subject),
            "source": claim.source,
            "setting": claim.setting if claim.kind != "theorem" else "",
            "evidence": _evidence(claim),
            "mended": ", ".join(dict.fromkeys(one.reading for one in others if one.id.startswith(f"{claim.id}."))),
        }
        for claim in printed([*kinds.stated, *kinds.studied])
        if claim.verdict in DISAGREE
    ]


def _evidence(claim: Entry) -> str:
    """Why a claim failed: a counterexample, the places where it holds, or both numbers."""
    if claim.counterexample:
        return claim.counterexample
    if claim.kind == "theorem":
        return claim.ours
    if claim.published in ("–", ""):
        return f"holds at {claim.ours} places"
    return f"printed {claim.published}, ours {claim.ours}"


def matrix(entries: Sequence[Entry], named: dict[str, str]) -> list[dict[str, Any]]:
    """Printed claims by document and outcome, and a last row for all documents: theorems, studies, encoders.

    ``named`` has the short name of each document.
    """
    rows = [(short, [claim for claim in entries if claim.paper == paper]) for paper, short in named.items()]
    return [
        {"name": name, "counts": [list(map(str, outcomes(printed(kind)).values())) for kind in reversed(apart(own))]}
        for name, own in (*rows, ("all", list(entries)))
    ]
