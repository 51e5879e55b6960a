"""paper/errata.yaml: errors, contradictions and gaps in the documents, with our decision on each."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import StringConstraints

from hypersphere import files
from hypersphere.config.validation import Strict, validate
from hypersphere.errors import HypersphereError

FILE = "paper/errata.yaml"
SEVERAL = "several"
"""The ``document`` of an entry about more than one document."""

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Kind = Literal["breaks", "ambiguous", "claim", "typo", "extraction"]
KINDS: dict[Kind, str] = {
    "breaks": "followed literally, it gives a wrong or failing implementation",
    "ambiguous": "the text does not settle it",
    "claim": "a sentence compared with the document's own numbers",
    "typo": "a slip without consequence",
    "extraction": "damage of the copy of the text that was read, not of the document",
}


class Erratum(Strict):
    """One inconsistency."""

    id: Annotated[str, StringConstraints(pattern=r"^[A-Z][0-9]+[a-z]?$")]
    document: str
    """A file of config/papers, by its name, or ``SEVERAL``. Entries about documents that are not here are not shown."""
    place: Text
    kind: Kind
    printed: Text
    chosen: Text
    """The correct form, or our choice."""
    decided: Text
    """How we decided."""
    tests: list[Text]
    """Tests (``tests/…py::test_…``) and statements (``margins.lemma_4_2…``) that show the error or the choice."""


def load(root: Path) -> list[Erratum]:
    """Every entry, in the order of the file."""
    file = root / FILE
    listed = files.read_yaml(file)
    if not isinstance(listed, list):
        raise HypersphereError(f"{file}: must be a list of entries")
    ledger: dict[str, Erratum] = {}
    for given in listed:
        name = str(given.get("id", "no id")) if isinstance(given, dict) else "no id"
        entry = validate(Erratum, given, file, name)
        if entry.id in ledger:
            raise HypersphereError(f"{file}: id: {name} is given twice")
        ledger[entry.id] = entry
    return list(ledger.values())


def of(document: str, ledger: list[Erratum]) -> list[Erratum]:
    """The entries about one document."""
    return [entry for entry in ledger if entry.document == document]
