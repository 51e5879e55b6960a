"""Where the results of theorems and exact studies lie: in results/exact, or in the copies of a scale."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from hypersphere.config.project import Config
from hypersphere.provenance import columns, tables
from hypersphere.provenance.manifest import check_tidy

CLAIMS = "claims.csv"
"""The claims that a document's exact studies answer, with their verdicts, beside answers.csv."""


class Exact(NamedTuple):
    """The files of theorems and exact studies."""

    folder: Path
    studies: Mapping[str, Path]
    """The folder of each document's exact studies: a table for each artifact, answers.csv and ``CLAIMS``."""

    @property
    def theory(self) -> Path:
        """theory.csv: what was checked of each statement."""
        return self.folder / "theory.csv"

    @property
    def theory_claims(self) -> Path:
        """theory_claims.csv: the claims that theorems answer, and their verdicts."""
        return self.folder / "theory_claims.csv"


def of_scale(config: Config) -> Exact:
    """The copies in the results folder of a scale."""
    return Exact(
        config.results, {paper: config.results / "simulations" / paper for paper in config.papers}
    )


def originals(config: Config) -> Exact:
    """The originals, of which the report is made, so that it is the same whichever scale asks for it."""
    return Exact(config.exact, {paper: config.exact_studies(paper) for paper in config.papers})


def claims(
    results: Exact, papers: Iterable[str], kinds: tables.Columns = columns.CLAIMS
) -> pd.DataFrame:
    """The claims that theorems answer, and the exact studies of some papers, of those that were run.

    Nothing of other papers is read, because another job may be writing it.
    """
    files = [results.theory_claims, *(results.studies[paper] / CLAIMS for paper in papers)]
    answered = [
        tables.read(check_tidy(file.parent, file.name), kinds) for file in files if file.is_file()
    ]
    return pd.concat(answered) if answered else pd.DataFrame(columns=list(kinds))
