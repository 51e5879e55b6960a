"""Read files by models; a complaint is one clear sentence, which names the file and the field and what is allowed."""

import csv
import io
import keyword
import re
import typing
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path, PureWindowsPath
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic import types as types_of_pydantic

from hypersphere import files
from hypersphere.errors import HypersphereError

Model = typing.TypeVar("Model", bound=BaseModel)
_MEMBER = re.compile(
    r"of_runs|of_study|int|float|bool|str|list|dict|constrained-\w+|\[key\]|"
    r"(literal|list|dict|tuple|function-\w+|nullable)\[.*"
)
"""What pydantic adds to a location inside a union or a mapping's key, and which is no key of the file."""

COMMAND_LINE = Path("command line")
"""Stands for a file in sentences about values that the command line set."""
LISTS = ("list_type", "tuple_type")
"""Pydantic's complaints of a value that is not a list."""
MUST_BE = {
    **dict.fromkeys(("dict_type", "model_type"), "a mapping of keys to values"),
    **dict.fromkeys(("int_type", "int_from_float", "int_parsing"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    "string_type": "text",
    "bool_type": "true or false",
}
"""What a value must be, by pydantic's complaint of another kind."""
ALTERNATIVE = re.compile("^(Input should|must) be |^write ")
"""What a complaint begins with, and not what it allows."""
LISTED = 12
"""How many allowed names a sentence lists in full."""
SHOWN = 3
"""How many runs, batches or wrong fields a sentence lists."""
LONGEST = 400
"""Characters of the longest wrong value that a sentence repeats."""
LARGEST = 2**31 - 1
"""The largest whole number that a file may hold: no count or seed needs a larger one."""
PositiveInt = Annotated[int, Field(gt=0, le=LARGEST)]
NonNegativeInt = Annotated[int, Field(ge=0, le=LARGEST)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Epochs = Annotated[int, Field(gt=0, le=1_000_000)]
AsList = types_of_pydantic.Strict(False)
"""Marks a tuple, which YAML and JSON write as a list."""
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
MayBeEmpty = BeforeValidator(lambda value: None if value == "" else value)
"""Marks what an empty field of a CSV leaves out."""
LONGEST_NAME = 60
"""Characters of a name that files are named after; file systems allow 255 for a whole file name."""


@lru_cache(maxsize=4096)
def _can_name_a_file(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ValueError(
            "a name is a letter and then letters, digits and _, because files are named after it"
        )
    if len(name) > LONGEST_NAME:
        raise ValueError(
            f"a name has at most {LONGEST_NAME} characters, because files are named after it"
        )
    if PureWindowsPath(name).is_reserved():
        raise ValueError(
            "a device of Windows has this name, and files are named after it; choose another name"
        )
    return name


def _can_name_a_document(name: str) -> str:
    if keyword.iskeyword(name):
        raise ValueError("the word is one of Python's own; choose another name")
    if files.parse_yaml(name) != name:
        raise ValueError("the word is another value in YAML; choose another name")
    if "__" in name:  # jobs are named document__artifact, and no two alike
        raise ValueError("the name of a paper has no two underscores in a row")
    return name


Identifier = Annotated[str, AfterValidator(_can_name_a_file)]
"""The name of an artifact, method, variant, evaluation or dataset."""
DocumentName = Annotated[Identifier, AfterValidator(_can_name_a_document)]
"""The name of a document, which stands in Python, in YAML and on the command line."""


class Strict(BaseModel):
    """Frozen, without infinities, without keys that are not its fields, and without conversions.

    Pydantic would take ``true`` for 1, ``"3"`` for 3 and 3.0 for 3.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=True)
    owner: ClassVar[str] = ""
    """The component whose parameters the fields are, for errors."""

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, value: Any) -> Any:
        """Say which keys are allowed. An unknown one may be a required one misspelt, so it is said first."""
        # `model_fields` is the same through a slower look-up, and a plan asks thousands of times.
        names = [field.alias or name for name, field in cls.__pydantic_fields__.items()]
        for key in value if isinstance(value, dict) else ():
            if key not in names:
                raise ValueError(f"{key}: {unknown_key(str(key), names, cls.owner)}")
        return value

    def _changed_fields(self, *names: str) -> list[str]:
        """The fields among ``names`` that differ from their defaults."""
        fields = self.__pydantic_fields__
        return [name for name in names if getattr(self, name) != fields[name].default]


def validate(model: type[Model], value: Any, file: Path | str, prefix: str = "") -> Model:
    """Validate ``value``, turning pydantic's complaints into a sentence about ``file``."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise HypersphereError(
            f"{file}: {sentence(error, prefix, typed=file == COMMAND_LINE)}"
        ) from None


def read_mapping(file: Path) -> dict[str, Any]:
    """The mapping of a YAML file."""
    value = files.read_yaml(file)
    if not isinstance(value, dict):
        raise HypersphereError(f"{file}: must be a mapping of keys to values")
    return value


def read_table(
    file: Path, known: Collection[str], required: Collection[str] | None = None
) -> list[dict[str, str]]:
    """The rows of a CSV. Its columns are among the ``known``, and the ``required`` (None: all) are there."""
    lines = csv.DictReader(io.StringIO(files.read_text(file), newline=""), strict=True)
    rows = []
    try:
        columns = lines.fieldnames or []
        if not {*(known if required is None else required)} <= {*columns} <= {*known}:
            raise HypersphereError(f"{file}: line 1: the columns must be {', '.join(known)}")
        if len({*columns}) < len(columns):
            raise HypersphereError(f"{file}: line 1: a column is named twice")
        for row in lines:
            if None in row or None in row.values():
                raise HypersphereError(
                    f"{file}: line {lines.line_num}: has another number of fields than the header"
                )
            rows.append(row)
    except csv.Error as error:
        raise HypersphereError(
            f"{file}: line {lines.reader.line_num}: not valid CSV ({error})"
        ) from None
    return rows


def either(names: list[str]) -> str:
    """``a, b or c``."""
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def not_one_of(name: str, names: Iterable[str]) -> str:
    """``'simcrl' is not one of byol, simclr; did you mean simclr?``; of many names only the nearest are listed."""
    names = list(names)
    if not names:
        return f"'{name}' does not exist; there is none to choose from"
    matches = get_close_matches(name, names)
    if len(names) > LISTED and matches:
        return f"'{name}' is not one of {len(names)} names; did you mean {either(matches)}?"
    suggestion = f"; did you mean {matches[0]}?" if matches else ""
    return f"'{name}' is not one of {', '.join(names)}{suggestion}"


def check_name(name: str, names: Collection[str], where: str) -> None:
    """Raise a sentence that begins with ``where`` unless a name is one of some."""
    if name not in names:
        raise HypersphereError(f"{where}: {not_one_of(name, sorted(names))}")


def one_of(known: Callable[[], Collection[str]]) -> AfterValidator:
    """Marks a name as one of those that ``known`` returns when a file is read."""

    def check(name: str) -> str:
        if name not in known():
            raise ValueError(not_one_of(name, known()))
        return name

    return AfterValidator(check)


def each_once(listed: list[Any]) -> list[Any]:
    """The list, in which nothing may stand twice."""
    for one in listed:
        if listed.count(one) > 1:
            raise ValueError(f"'{one}' is listed twice")
    return listed


def unknown_key(key: str, allowed: Iterable[str], owner: str = "") -> str:
    """``unknown; did you mean temperature? Allowed: …``; with an owner, ``nt_xent takes …`` at the end."""
    names = list(allowed)
    if not names and not owner:
        return "unknown"
    hint = "".join(f"did you mean {match}? " for match in get_close_matches(key, names, 1))
    listed = ", ".join(names)
    if owner:
        return f"unknown; {hint}{owner} takes {listed or 'no parameters'}"
    return f"unknown; {hint}{'Allowed' if hint else 'allowed'}: {listed}"


def _in_words(problem: Any, field: str, typed: bool) -> str:
    """Pydantic's complaint as one would say it. Of a value that was ``typed``, an example is what to type."""
    if kind := MUST_BE.get(problem["type"]):
        return f"must be {kind}"
    if problem["type"] in LISTS:
        value = problem["input"]
        key = f"{field}=" if typed and "." not in field else ""
        listed = value if isinstance(value, str) and 0 < len(value) <= LONGEST else "0,1,2"
        return f"write a list, for example {key}[{listed}]"
    return str(problem["msg"]).removeprefix("Value error, ")


def sentence(error: ValidationError, prefix: str = "", typed: bool = False) -> str:
    """``field: what is wrong (given: …)`` for each field that pydantic complains of; fields begin with ``prefix``.

    ``typed``: the values are of the command line.
    """
    complaints: dict[tuple[str, ...], list[Any]] = {}  # of a union, each member complains
    for problem in error.errors():
        keys = map(str, problem["loc"])
        place = tuple(key for key in keys if not _MEMBER.fullmatch(key))
        inside = (place[:depth] in complaints for depth in range(len(place)))
        if not any(inside):
            complaints.setdefault(place, []).append(problem)
    # One value may stand at several places: two lists of seeds that are one list of the file, protocols that are alike.
    texts: dict[str, str] = {}
    for place, problems in complaints.items():
        text = _complaint(".".join(filter(None, (prefix, *place))), problems, typed)
        of_no_value = problems[0]["type"] == "missing"
        texts.setdefault(text if of_no_value else text.partition(": ")[2], text)
    listed = list(texts.values())
    if len(listed) > SHOWN:
        listed[SHOWN:] = [f"{len(listed) - SHOWN} more fields are wrong"]
    return "; ".join(listed)


def _complaint(field: str, problems: list[Any], typed: bool) -> str:
    """What is wrong with one field. Each member of a union may have a problem of its own."""
    first = problems[0]
    message = _in_words(first, field, typed)
    if first["type"] == "missing":
        return f"{field}: this key is required"
    if re.match(r"[\w.-]+: ", message):  # a validator's own complaint names its key first
        return f"{field}.{message}" if field else message
    words = [message[:1].lower() + message[1:]]
    for other in problems[1:]:
        words.append(ALTERNATIVE.sub("", _in_words(other, field, typed)))
    text = " or ".join(dict.fromkeys(one.partition(", unable")[0] for one in words))
    value = first["input"]
    plain = isinstance(value, str | int | float | bool | list | None)
    repeated = isinstance(value, str) and repr(value) in message
    if plain and not repeated and len(repr(value)) <= LONGEST:
        text += f" (given: {value!r})"
    return f"{field}: {text}" if field else text
