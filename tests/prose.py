"""What all sentences to users have in common: first a place, then a few words, and those are the project's."""

import re

NOT_THESE = {
    r"\bprinted\b|\breported\b": "published",
    r"\bdocuments?\b": "paper",
    r"\bcannot be told\b": "undecided, or: we cannot say yet",
    r"(?<!there )\bis no (?!longer\b|better\b|larger\b|worse\b)|(?<!there )\b(is|are) none\b": "is not a, there is no",
    r"\bthat of\b|\bthose of\b": "the thing's name again",
}
"""Words that a reader does not meet, and what stands in their place."""
NOT_FOR_USERS = re.compile(r"\n|Traceback|Value error|<class '|object at 0x|\bself\b")
"""What only a programmer reads, and a second line."""
MOST_WORDS = 30
QUOTED = re.compile(r"'[^']*'|`[^`]*`|\([^)]*\)|\bNone\b")
LISTED = re.compile(r"(?:[\w./-]+, ){3,}[\w./-]+")
"""Names, values and lists are the user's own words, however many there are."""
PLACE = re.compile(
    r"(?:line \d+(?: \([^)]*\)[\w.]*)?|(?:column|probe|run|split|study) \S+|(?!damaged)[^\s()':;]+): "
)
"""A file, a line or a field before a colon: what a sentence names besides its place."""
DIGEST = re.compile(r"(?<=-)[0-9a-f]{8}\b")


def other_words(text: str) -> list[str]:
    """The words of a text for which there is another, each with what stands around it."""
    found = []
    for pattern, word in NOT_THESE.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            around = " ".join(text[max(0, match.start() - 40) : match.end() + 30].split())
            found.append(f"say {word}: …{around}…")
    return found


def shortened(text: str, folders: list[str]) -> str:
    """A text whose paths begin below the first of ``folders`` that holds them, and whose runs have no digest."""
    for folder in folders:
        text = text.replace(f"{folder}/", "").replace(folder, "FOLDER")
    return DIGEST.sub("…", text)


def listed_briefly(text: str) -> str:
    """A text without its long lists, which grow with each setting, dataset or probe."""
    return LISTED.sub("…", text)


def faults(sentence: str, place: str) -> list[str]:
    """What is wrong with a sentence that is to say that something is wrong at a place."""
    found = []
    rest = sentence.removeprefix(place)
    if not place or rest == sentence or rest[:1] not in (":", " "):
        found.append(f"it does not begin with the place {place!r}")
    elif PLACE.match(rest.removeprefix(": ")):
        found.append(f"its place is more than {place!r}")
    if hidden := NOT_FOR_USERS.search(sentence):
        found.append(f"no user knows what {hidden[0]!r} is")
    own = listed_briefly(QUOTED.sub("…", rest))
    if len(own.split()) > MOST_WORDS:
        found.append(f"it has more than {MOST_WORDS} words")
    return found + other_words(own)
