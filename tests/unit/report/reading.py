"""What makes a generated sentence hard to read aloud."""

import re

HARD = (
    *(
        r"\b0 of",
        r"\bcannot be told\b",
        r"\bthat of\b",
        r"\bthose of\b",
        r"\bprinted\b",
        r"\bof which no\b",
    ),
    *(r"(?<!there )\bis no\b", r"(?<!there )\bare no(ne)?\b"),
)
"""Words that a reader stumbles over (CONTRIBUTING.md, the rules of writing)."""
LISTS = r"(Ahead|Equal|Behind|Open|Left out|Worse|By more than)\b"
"""How a list of variants begins, which needs no verb."""
VERB = re.compile(
    r"\b("
    r"is|are|was|were|has|have|had|do|does|did|can|cannot|should|act|add|adds|agree|"
    r"agrees|assume|beat|beats|change|changed|changes|come|comes|contradict|contradicts|cost|"
    r"costs|depends|differ|differs|diverged|exceed|extends|fail|fails|fit|find|found|gain|"
    r"gains|give|gives|grow|grows|harm|harms|help|helps|hold|holds|improves|leaves|lie|lies|"
    r"look|looks|loosens|lowers|made|make|makes|measured|mixes|orders|pass|passes|publishes|"
    r"pulls|quotes|raises|reaches|rise|saves|say|says|separates|share|shares|slows|speed|"
    r"speeds|stays|suggests|summed|suppress|suppresses|take|takes|tell|tells|tie|ties|tried|"
    r"use"
    r")\b",
    re.IGNORECASE,
)
"""The verbs of our sentences; a sentence with another verb adds it here."""


def sentences(text: str) -> list[str]:
    """The sentences of a text. A quotation and a counterexample are not ours to shorten."""
    text = re.sub(r'"[^"]*"', "Q", text)
    text = re.sub(r"fails at .*?right side (\(.*?\)+|[^ .;]+(\.\d+)?)", "fails", text)
    return [one for one in re.split(r"(?<=[a-z\])\d%])\.(?: |$)", text) if one]


def numbers(headline: str) -> list[str]:
    """The numbers of a headline without names: Table 1, Theorem 3.4, MoCo v3. ``2 of 3`` is one."""
    return re.findall(
        r"(?<![\w.-])\d[\d.]*(?: of (?:its )?\d+)?", re.sub(r"(Table|Theorem) [\d.]+", "", headline)
    )


def hard_to_read(text: str, most: int) -> list[str]:
    """What makes the sentences of a text hard to read; one may have ``most`` words."""
    found = []
    for sentence in sentences(text):
        words = sentence.split()
        if len(words) > most:
            found.append(f"{len(words)} words: {sentence}")
        if sentence.count(": ") > 1:
            found.append(f"two colons: {sentence}")
        for pattern in HARD:
            if re.search(pattern, sentence, re.IGNORECASE):
                found.append(f"{pattern}: {sentence}")
        if not re.match(LISTS, sentence) and not VERB.search(sentence):
            found.append(f"no verb, or one that VERB lacks: {sentence}")
    return found
