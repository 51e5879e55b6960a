"""A paper's audit.yaml: what an audit of the numbers that it prints needs to know beside the numbers."""

from pathlib import Path

from pydantic import Field

from hypersphere.config.validation import PositiveInt, Strict, Text, read_mapping, validate


class RepeatedTables(Strict):
    """Tables that print the accuracy of one setting twice."""

    together: Text
    """The name of the comparison: ``Tables 2 and 5``."""
    first: Text
    """The table that the others are compared with."""
    others: list[Text] = Field(min_length=1)


class AuditClaim(Strict):
    """What a claim about printed effects means, if it does not mean all effects of the tables that its source names."""

    of: dict[str, str] = Field(default_factory=dict)
    """The method or variant of the effects that it speaks of."""
    significant: bool = False
    """Whether it says that each effect is significant; otherwise it says that none is."""


class Audit(Strict):
    """What an audit of a paper's printed numbers needs to know."""

    test_sizes: dict[str, PositiveInt] = Field(default_factory=dict)
    """The number of test examples of a dataset; without one its accuracies have no floor."""
    baselines: list[str] = Field(default_factory=list)
    """Variants that the others of their table are compared with, the first that a table has before the others."""
    swept: list[str] = Field(default_factory=list)
    """Settings that differ between the rows of a table and stand for a variant: ``logits.s``."""
    failed: str | None = None
    """The reading of a failed run, whose difference from the baseline is not an effect."""
    repeated: RepeatedTables | None = None
    claims: dict[str, AuditClaim] = Field(default_factory=dict)
    """Claims that do not say of all effects that none is significant, by their ids."""


def load(file: Path) -> Audit:
    """The audit of a paper; an empty one without the file."""
    return validate(Audit, read_mapping(file), file) if file.is_file() else Audit()
