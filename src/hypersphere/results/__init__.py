"""Results and records as tables of pandas: ``hypersphere.results.load("claims")``.

docs/results.md says what the columns mean.
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from hypersphere.config.records import FOLDER, NUMBERS
from hypersphere.config.records import TABLES as RECORDS
from hypersphere.config.root import project_root
from hypersphere.config.validation import check_name
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.provenance.manifest import check_files, tidy_manifest
from hypersphere.provenance.tables import Columns
from hypersphere.report.evidence import OF_REPORT, REPORT, SEALED_TOGETHER

SCALE: dict[str, Columns] = {"claims": columns.CLAIMS}
"""The tables of results/<scale>/ that are about the whole scale."""


def load(
    table: str,
    *,
    scale: str | None = None,
    artifact: str | None = None,
    root: str | Path | None = None,
) -> pd.DataFrame:
    """One table of results or records.

    Columns of text hold text, which is empty where there is no value. Columns of numbers are float64, and NaN where
    there is no number. Accuracies are in percent.

    Args:
        table: without a scale one of the report: ``claims``, ``ladder``, ``criteria`` or ``findings``. With a scale
            its ``claims``, or a table of its records: ``runs``, ``measurements``, ``history``, ``protocols``,
            ``environments`` or ``datasets``. With an artifact, too, one that the artifact is made from: ``effects``,
            ``summary``, ``measurements`` or ``runs``.
        scale: the name of a folder of results/ or evidence/: ``laptop``.
        artifact: a table or figure, after its paper: ``my_paper/table2``.
        root: the folder of the project, or of an unpacked archive of it; None: the project that the current folder is
            in.

    Raises:
        HypersphereError: there is no such table, it was not made yet, or it was altered since.
    """
    folder = project_root(Path.cwd()) if root is None else Path(root)
    results = folder / "results"
    if artifact is not None:
        if scale is None:
            raise HypersphereError("load: artifact: needs a scale, too, for example scale='laptop'")
        _check(table, columns.TABLES)
        place = results / scale / "statistics" / artifact
        command = f"make reproduce SCALE={scale} ONLY={artifact}"
        return _of_results(place, table, columns.TABLES[table], command)
    if scale is None:
        _check(table, OF_REPORT)
        return _of_results(folder / REPORT, table, OF_REPORT[table], "make report")
    _check(table, {**SCALE, **RECORDS})
    if table in SCALE:
        return _of_results(results / scale, table, SCALE[table], f"make reproduce SCALE={scale}")
    numbers = NUMBERS.get(table, ())
    kinds: Columns = {}
    for column in RECORDS[table]:
        kinds[column] = "number" if column in numbers else "text"
    return tables.read(folder / FOLDER / scale / f"{table}.csv", kinds)


def _check(table: str, known: Mapping[str, object]) -> None:
    check_name(table, [*known], "load: table")


def _of_results(folder: Path, table: str, kinds: Columns, command: str) -> pd.DataFrame:
    """A table of results, whose bytes must be those of its manifest; ``command`` makes it."""
    path = folder / f"{table}.csv"
    if not path.exists():
        raise HypersphereError(f"{path}: the file is missing; `{command}` makes it")
    sealed = folder / "claims.csv" if table in SEALED_TOGETHER else path
    check_files(tidy_manifest(sealed), path.name)
    return tables.read(path, kinds)
