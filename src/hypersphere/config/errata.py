"""Errata: errors, contradictions and gaps in documents, each with our decision (errata.yaml)."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from hypersphere import files
from hypersphere.config.coordinates import Scalar
from hypersphere.config.project import Config, of_document
from hypersphere.config.validation import Strict, Text, validate
from hypersphere.errors import HypersphereError

ERRATA = "errata.yaml"

ErratumKind = Literal["breaks", "ambiguous", "claim", "typo", "extraction"]
ERRATUM_KINDS: dict[ErratumKind, str] = {
    "breaks": "followed literally, it gives a wrong or failing implementation",
    "ambiguous": "the text does not settle it",
    "claim": "a sentence compared with the paper's own numbers",
    "typo": "a slip without consequence",
    "extraction": "damage of the copy of the text that we read, not of the paper",
}


class Trained(Strict):
    """What an erratum says of its document's runs at the published scale (errata.yaml, ``runs``).

    ``tests/golden/test_errata.py`` compares it with the resolved runs. Cells that cannot be measured, because their
    dataset has no loader, do not count.
    """

    when: dict[str, Scalar | list[Scalar]] = Field(default_factory=dict)
    """Which runs, each key one value or a list: ``artifact``, coordinates, fields, and ``paper`` in an erratum about
    several documents."""
    set: dict[str, Scalar] = Field(min_length=1)
    """What they have: paths into the run (``logits.curve``), coordinates (``target``), the protocol (``probe.k``), or
    what follows from fields: ``optimiser.peak_rate`` and ``schedule.warmup_epochs``."""
    by: Literal["all", "some", "none"] = "all"
    """``all``: every such run of the artifacts in ``when``, else of all printed tables and figures; ``some``: a run of
    any artifact; ``none``: no run of any artifact, so that the choice is implemented and not trained."""


class Erratum(Strict):
    """An error, contradiction or gap in a document, with our decision on it (errata.yaml)."""

    id: Annotated[str, StringConstraints(pattern=r"^[A-Z][0-9]+[a-z]?$")]
    document: str
    """The document that it is about, or ``SEVERAL``: its folder says it, and the entry does not."""
    place: Text
    kind: ErratumKind
    printed: Text
    chosen: Text
    """The correct form, or our choice."""
    runs: list[Trained] = Field(default_factory=list)
    """What is run, where a run's field has the choice. Else ``of`` says of what the choice is."""
    of: Literal["text", "code"] | None = None
    """``text``: a reading of words, numbers or a statement; ``code``: a function or an exact study, without a field for
    the choice, so that ``tests`` must name what shows it."""
    decided: Text
    """How we decided."""
    tests: list[Text]
    """Tests (``tests/…py::test_…``) and statements (``mine.lemma_4_2…``) that show the error or the choice."""

    @model_validator(mode="after")
    def _says_what_is_run(self) -> Self:
        if not (self.runs or self.of):
            raise ValueError(
                "runs: must say which fields of the runs have the choice, or else `of` be text or code"
            )
        if self.runs and self.of:
            raise ValueError("of: must be left out, because `runs` says what is run")
        if self.of == "code" and not self.tests:
            raise ValueError("tests: must name a test, because the choice is of code")
        return self


def load_errata(config: Config) -> list[Erratum]:
    """Every entry of every errata.yaml, first those about several documents."""
    ledger: dict[str, Erratum] = {}
    for document, file in config.files_named(ERRATA).items():
        entries = files.read_yaml(file)
        if not isinstance(entries, list):
            raise HypersphereError(f"{file}: must be a list of entries")
        for entry in entries:
            name = str(files.mapping(entry).get("id", "no id"))
            declared = of_document(entry, "document", document, f"{file}: {name}")
            erratum = validate(Erratum, declared, file, name)
            if erratum.id in ledger:
                raise HypersphereError(f"{file}: id: {name} is given twice")
            ledger[erratum.id] = erratum
    return list(ledger.values())
