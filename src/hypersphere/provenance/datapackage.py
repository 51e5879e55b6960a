"""datapackage.json: the tables of a folder with the types of their columns and their keys, as a Data Package.

Programs such as frictionless read it, check the tables by it, and load them into a data base. docs/results.md and
docs/evidence.md say what the columns mean.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.records import EPOCH, NAMED, NUMBERS, REFERENCES
from hypersphere.config.records import TABLES as RECORDS
from hypersphere.provenance.tables import Columns, Kind

FILE = "datapackage.json"
Descriptor = dict[str, Any]
JSON_COLUMNS = {"content", "counts", "device", "files", "numerics", "run"}
"""The columns of records that hold a mapping as JSON."""
FRACTIONS = {"value", "seconds", *EPOCH}
"""The columns of records whose numbers need not be whole."""
OF_RUNS = (("history", "key", "runs"), ("measurements", "key", "runs"))
"""Further references between tables of records, as ``REFERENCES`` has them."""
TYPES: dict[Kind, Descriptor] = {
    "text": {"type": "string"},
    "number": {"type": "number"},
    "flag": {"type": "boolean", "trueValues": ["True"], "falseValues": ["False"]},
}
"""How a column of a tidy table is described, by what it holds."""


def of_records(scale: str) -> Descriptor:
    """The description of evidence/<scale>/, which is the same whatever rows the tables have."""
    resources = []
    for table, columns in RECORDS.items():
        fields = [{"name": column, **_of_column(table, column)} for column in columns]
        schema: Descriptor = {"fields": fields, "missingValues": ["", "nan"]}
        if table in NAMED:
            schema["primaryKey"] = columns[0]
        links = [link for link in (*REFERENCES, *OF_RUNS) if link[0] == table]
        if links:
            named = ((column, other, RECORDS[other][0]) for _, column, other in links)
            schema["foreignKeys"] = [_reference(*link) for link in named]
        resources.append(_resource(table, schema))
    return _package(f"records-{scale}", f"Records of finished runs, scale {scale}", resources)


def _of_column(table: str, column: str) -> Descriptor:
    if column in JSON_COLUMNS:
        return {"type": "object"}
    if column in NUMBERS.get(table, ()):
        return {"type": "number" if column in FRACTIONS else "integer"}
    return {"type": "string"}


def of_tables(
    folder: Path, name: str, title: str, tables: Mapping[str, Columns], keys: Mapping[str, str]
) -> Descriptor:
    """The description of tidy tables of a folder, with their checksums.

    ``keys`` are the columns that name rows, by table. A table without a key refers to the first of these tables if it
    has a column of that name.
    """
    first = next(iter(keys))
    resources = []
    for table, columns in tables.items():
        fields = [{"name": column, **TYPES[kind]} for column, kind in columns.items()]
        schema: Descriptor = {"fields": fields}
        if table in keys:
            schema["primaryKey"] = keys[table]
        elif keys[first] in columns:
            schema["foreignKeys"] = [_reference(keys[first], first, keys[first])]
        path = folder / f"{table}.csv"
        sums = {"bytes": path.stat().st_size, "hash": f"sha256:{files.sha256(path)}"}
        resources.append(_resource(table, schema) | sums)
    return _package(name, title, resources)


def _reference(column: str, table: str, named: str) -> Descriptor:
    """A column whose values name rows of another table, which has them in its column ``named``."""
    return {"fields": [column], "reference": {"resource": table, "fields": [named]}}


def _resource(table: str, schema: Descriptor) -> Descriptor:
    return {
        "name": table,
        "path": f"{table}.csv",
        "profile": "tabular-data-resource",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": schema,
    }


def _package(name: str, title: str, resources: Iterable[Descriptor]) -> Descriptor:
    return {
        "name": f"hypersphere-{name}".lower(),
        "title": title,
        "profile": "tabular-data-package",
        "resources": [*resources],
    }
