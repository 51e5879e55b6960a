"""A CSV file as it is written: a header, and lines of text. Nothing is known of its columns yet."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from hypersphere.audit.table import DECLARED, DELIMITERS, text_of
from hypersphere.errors import HypersphereError

COMMENT = "#"
"""Begins a line that is passed over."""
BINARY = "\0"


class Line(NamedTuple):
    """A line of a table, by column, without blanks at the ends of its fields."""

    number: int
    fields: dict[str, str]


class Sheet(NamedTuple):
    """The lines of a file."""

    file: Path
    header: tuple[str, ...]
    lines: list[Line]
    has_points: bool
    """Whether a comma stands between its fields, so that programs write a point before decimals."""

    def column(self, name: str) -> Iterator[tuple[Line, str]]:
        """Each line with its text in one column."""
        return ((line, line.fields[name]) for line in self.lines)

    def texts(self, name: str) -> list[str]:
        """The texts of one column."""
        return [line.fields[name] for line in self.lines]

    def renamed(self, names: Sequence[str]) -> Self:
        """The same lines under other names of columns, in their order."""
        lines = [
            line._replace(fields=dict(zip(names, line.fields.values(), strict=True)))
            for line in self.lines
        ]
        return self._replace(header=tuple(names), lines=lines)


def read(file: Path) -> Sheet:
    """The lines of a CSV file, between whose fields stand commas, semicolons or tabs.

    Raises:
        HypersphereError: if it is not text, has no header, two columns of one name, or a line of another length.
    """
    text = text_of(file)
    if BINARY in text:
        raise HypersphereError(f"{file}: is not a text file; export the runs as CSV")
    declared = DECLARED.match(text)
    text = text[declared.end() :] if declared else text
    numbered = list(enumerate(text.splitlines(), start=2 if declared else 1))
    head = next((line for _, line in numbered if _is_said(line)), "")
    delimiter = declared[1] if declared else max(DELIMITERS, key=head.count)
    if not head:
        raise HypersphereError(f"{file}: is empty; it begins with a header, as arm,seed,value")
    return _parsed(file, text, delimiter, before=1 if declared else 0)


def _is_said(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(COMMENT)


def _parsed(file: Path, text: str, delimiter: str, before: int) -> Sheet:
    """The sheet of a text, of whose file ``before`` lines stand before it."""
    header: tuple[str, ...] = ()
    lines = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for fields in reader:
            number = reader.line_num + before
            if not any(fields) or fields[0].startswith(COMMENT):
                continue
            fields = [field.strip() for field in fields]
            if not header:
                header = _checked(file, fields)
            elif len(fields) != len(header):
                raise HypersphereError(
                    f"{file}: line {number}: has {len(fields)} fields, and the header has {len(header)}; a decimal "
                    "comma needs quotes, or ';' between fields"
                )
            else:
                said = zip(header, fields, strict=True)
                lines.append(Line(number, {name: text for name, text in said if name}))
    except csv.Error as error:
        number = reader.line_num + before
        raise HypersphereError(f"{file}: line {number}: not valid CSV ({error})") from None
    named = tuple(filter(None, header))
    return Sheet(file, named, lines, has_points=delimiter == ",")


def _checked(file: Path, names: Sequence[str]) -> tuple[str, ...]:
    """The header, of which no two columns have one name. Those without a name are left out: they count lines."""
    for name in filter(None, names):
        if names.count(name) > 1:
            raise HypersphereError(f"{file}: column '{name}': is given twice")
    return tuple(names)
