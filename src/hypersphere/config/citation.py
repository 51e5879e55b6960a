"""CITATION.cff: what the report and an archive say of this repository."""

import re
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from hypersphere.config.validation import Text, read_mapping, validate
from hypersphere.errors import HypersphereError

FILE = "CITATION.cff"


def _address(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s?#]+", text):
        raise ValueError(f"'{text}' is not an address of the web")
    return text


def _version(text: str) -> str:
    if not re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z.+_-]*", text):
        raise ValueError(f"'{text}' cannot name a file; a version has letters, digits and . + _ -")
    return text


class Author(BaseModel):
    """A person, or a group that has one name."""

    model_config = ConfigDict(frozen=True)

    name: Text | None = None
    given_names: Text | None = Field(default=None, alias="given-names")
    family_names: Text | None = Field(default=None, alias="family-names")

    @model_validator(mode="after")
    def _check_name(self) -> Self:
        if not (self.name or (self.given_names and self.family_names)):
            raise ValueError("needs name, or given-names and family-names")
        return self

    def __str__(self) -> str:
        return self.name or f"{self.given_names} {self.family_names}"


class Citation(BaseModel):
    """The fields that something here reads; the format has many more."""

    model_config = ConfigDict(frozen=True)

    version: Annotated[str, AfterValidator(_version)]
    """An archive's file is named after it."""
    date_released: date | None = Field(default=None, alias="date-released")
    repository: Annotated[str, AfterValidator(_address)] | None = Field(
        default=None, alias="repository-code"
    )
    authors: list[Author] = Field(default_factory=list)


def read(root: Path) -> Citation | None:
    """CITATION.cff under ``root``; None if there is none."""
    file = root / FILE
    if not file.is_file():
        return None
    given: dict[str, Any] = read_mapping(file)
    return validate(Citation, given, file)


def required(root: Path) -> Citation:
    """CITATION.cff under ``root``, which must be there."""
    cited = read(root)
    if cited is None:
        raise HypersphereError(f"{root / FILE}: the file is missing")
    return cited
