"""paper/errata.yaml: what the documents get wrong, contradict themselves in, or leave open, and what was decided."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import StringConstraints

from hypersphere import files
from hypersphere.declared.validation import Strict, validate
from hypersphere.errors import HypersphereError

FILE = "paper/errata.yaml"
SEVERAL = "several"
"""The ``document`` of an entry that is about more than one."""

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Kind = Literal["breaks", "ambiguous", "claim", "typo", "extraction"]
KINDS: dict[Kind, str] = {
    "breaks": "followed literally, it gives a wrong or failing implementation",
    "ambiguous": "the text does not settle it",
    "claim": "a sentence held against the document's own numbers",
    "typo": "a slip without consequence",
    "extraction": "damage of the copy of the text that was read, not of the document",
}


class Erratum(Strict):
    """One inconsistency."""

    id: Annotated[str, StringConstraints(pattern=r"^[A-Z][0-9]+[a-z]?$")]
    document: Literal["margins", "lmcl", "embedding_norms", "double_metric", "lecture", "several"]
    place: Text
    kind: Kind
    printed: Text
    chosen: Text
    """What is right, or what was chosen."""
    decided: Text
    """How that was decided."""
    tests: list[Text]
    """Tests (``tests/…py::test_…``) and statements (``margins.lemma_4_2…``) that show it."""


def load(root: Path) -> list[Erratum]:
    """Every entry, in the order of the file.

    Raises:
        HypersphereError: a sentence naming the file, the entry and the field.
    """
    file = root / FILE
    listed = files.read_yaml(file)
    if not isinstance(listed, list):
        raise HypersphereError(f"{file}: must be a list of entries")
    names = [entry.get("id", "no id") if isinstance(entry, dict) else "no id" for entry in listed]
    ledger = [validate(Erratum, entry, file, str(name)) for entry, name in zip(listed, names, strict=True)]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise HypersphereError(f"{file}: id: {min(twice)} is given twice")
    return ledger


def of(document: str, ledger: list[Erratum]) -> list[Erratum]:
    """The entries about one document."""
    return [entry for entry in ledger if entry.document == document]
