"""Where the results of theorems and exact studies lie: in results/exact, or in the copies of a scale."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hypersphere.config.project import Config

CLAIMS = "exact_claims.csv"


class Exact(NamedTuple):
    """The files of theorems and exact studies."""

    theory: Path
    """theory.csv: what was checked of each statement."""
    studies: Mapping[str, Path]
    """By document, the folder of its exact studies: a table for each artifact, and answers.csv."""
    claims: Path
    """exact_claims.csv: the claims that they answer, and their verdicts."""


def of_scale(config: Config) -> Exact:
    """The copies in the results folder of a scale."""
    studies = {paper: config.results / "simulations" / paper for paper in config.papers}
    return Exact(config.results / "theory.csv", studies, config.results / CLAIMS)


def shared(config: Config) -> Exact:
    """The originals, of which the report is made, so that it is the same whichever scale asks for it."""
    studies = {paper: config.exact_studies(paper) for paper in config.papers}
    return Exact(config.exact / "theory.csv", studies, config.exact / CLAIMS)
