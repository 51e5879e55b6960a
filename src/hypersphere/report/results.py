"""Read the tidy tables of a results folder. Tables, figures, scorecard and paper read nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Measured, Paper, Studied
from hypersphere.config.claims import Claim, load
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.verdicts import Verdict
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.provenance import pictures as png
from hypersphere.provenance.manifest import check_tidy

SETTLED = tuple(verdict for verdict in Verdict if verdict.settles)
"""Verdicts for or against a published claim."""


def settles(config: Config) -> bool:
    """Whether numbers of this scale count: it is the published one, with none of its numbers changed."""
    return config.scale.level == "paper" and config.scale_name == config.settings.scale


def has_no_scale(claim: Mapping[Any, Any]) -> bool:
    """Whether a row of claims.csv is the same at every scale: a theorem, or the answer of an exact study."""
    return bool(claim["kind"] == "theorem" or claim["study"])


@dataclass
class Results:
    """The tidy tables of one scale; each is read once. Empty fields are NaN in numbers and empty text elsewhere."""

    plan: Plan
    _published: dict[str, dict[str, Claim]] = field(default_factory=dict)

    @property
    def config(self) -> Config:
        """The config, with its scale."""
        return self.plan.config

    @cached_property
    def claims(self) -> pd.DataFrame:
        """claims.csv: every published claim and its verdict.

        Raises:
            HypersphereError: a row below the published scale has a verdict of the published one.
        """
        table = tables.read(check_tidy(self.config.results, "claims.csv"), columns.CLAIMS)
        if not settles(self.config):
            wrong = [row for row in table.to_dict("records") if row["verdict"] in SETTLED and not has_no_scale(row)]
            for row in wrong[:1]:
                raise HypersphereError(
                    f"{self.config.results / 'claims.csv'}: {row['id']} says '{row['verdict']}', "
                    f"but scale {self.config.scale_name} settles nothing"
                )
        return table

    @cached_property
    def runs(self) -> pd.DataFrame:
        """runs.csv of the whole scale: status, device and torch release of every finished run."""
        return tables.read(check_tidy(self.config.results, "statistics/runs.csv"), columns.RUNS)

    def made(self, paper: str) -> list[str]:
        """The artifacts of a paper whose numbers exist, in the order of its file."""
        declared = self.config.papers[paper].artifacts
        return [name for name in declared if self._proof(paper, name).is_file()]

    def _proof(self, paper: str, name: str) -> Path:
        if isinstance(self.config.papers[paper].artifacts[name], Studied):
            return self.config.results / "simulations" / paper / f"{name}.csv"
        return self.plan.artifact_folder(paper, name) / "summary.csv"

    def artifact(self, paper: str, name: str) -> "ArtifactResults":
        """The tables of one artifact made from runs.

        Raises:
            HypersphereError: no such artifact.
        """
        declared = self.config.papers[paper].artifacts.get(name) if paper in self.config.papers else None
        if not isinstance(declared, Measured):
            raise HypersphereError(f"{paper}: '{name}' is not an artifact made from runs")
        return ArtifactResults(self, self.config.papers[paper], name, declared)

    def published(self, paper: str) -> dict[str, Claim]:
        """The printed values of a paper, by artifact and coordinates: ``table5 method=simclr;…``."""
        if paper not in self._published:
            claims = load(self.config.claims_file(paper))
            values = [claim for claim in claims if claim.kind == "value" and claim.origin == "printed"]
            self._published[paper] = {f"{claim.artifact} {claim.text}": claim for claim in values}
        return self._published[paper]

    def simulated(self, paper: str, artifact: str) -> pd.DataFrame:
        """The table of one artifact from an exact study."""
        return pd.read_csv(check_tidy(self.config.results, f"simulations/{paper}/{artifact}.csv"))

    def judged_of(self, paper: str, artifact: str) -> pd.DataFrame | None:
        """The claims of an artifact made from runs that its runs answer; None where they were not judged."""
        path = (self.plan.artifact_folder(paper, artifact) / "claims.csv").relative_to(self.config.results)
        if not (self.config.results / path).is_file():
            return None
        return tables.read(check_tidy(self.config.results, path.as_posix()), columns.CLAIMS)

    def judged(self, paper: str) -> pd.DataFrame:
        """The claims of a paper that exact studies and theorems answer without any run."""
        return tables.read(check_tidy(self.config.results, f"statistics/{paper}/studies.csv"), columns.CLAIMS)


@dataclass
class ArtifactResults:
    """results/<scale>/statistics/<paper>/<artifact>/: one artifact's tidy tables."""

    results: Results
    paper: Paper
    name: str
    artifact: Measured

    @cached_property
    def summary(self) -> dict[str, dict[str, Any]]:
        """Means over seeds by coordinates, including controls (``method=control;…``)."""
        return self._by_coordinates("summary")

    @cached_property
    def compared(self) -> list[dict[str, Any]]:
        """Every difference between two cells."""
        return [{str(key): value for key, value in row.items()} for row in self._read("effects").to_dict("records")]

    @cached_property
    def effects(self) -> dict[str, dict[str, Any]]:
        """Differences from the baseline, by the coordinates of the cell."""
        against = {coordinates.text(point): self.artifact.compared_with(point) for point in self.artifact.points}
        baselines = {cell: coordinates.text(other) for cell, other in against.items() if other is not None}
        return {
            row["coordinates"]: row for row in self.compared if baselines.get(row["coordinates"]) == row["baseline"]
        }

    @cached_property
    def measurements(self) -> pd.DataFrame:
        """One row per cell and seed."""
        return self._read("measurements")

    @cached_property
    def distribution(self) -> pd.DataFrame:
        """Quantiles of single images: coordinates, seed, run, quantile (0 to 1), value; empty for other kinds."""
        return self._read("distribution")

    @cached_property
    def pictures(self) -> pd.DataFrame:
        """Pictures of single images: coordinates, seed, run, row, column, caption, and the place in their stack."""
        return self._read("pictures")

    @cached_property
    def single_points(self) -> pd.DataFrame:
        """Single images as points in space: coordinates, seed, run, image, class, x, y, z."""
        return self._read("points")

    @cached_property
    def stack(self) -> png.Stack:
        """All pictures, one below the other."""
        return png.read(self._checked("pictures.png"))

    @cached_property
    def runs(self) -> pd.DataFrame:
        """Device, library, code and data of the artifact's runs."""
        return self._read("runs")

    @cached_property
    def missing(self) -> dict[str, str]:
        """Why cells cannot be measured at this scale, by coordinates."""
        reasons = self.results.plan.missing(self.paper.paper, self.name)
        return {cell: reason for cell, reason in reasons.items() if reason}

    def printed(self, point: coordinates.Coordinates) -> Claim | None:
        """The published value of a cell."""
        return self.results.published(self.paper.paper).get(f"{self.name} {coordinates.text(point)}")

    def devices(self) -> str:
        """The devices that its runs ran on."""
        return self._distinct("device")

    def torch(self) -> str:
        """The torch releases that its runs ran with."""
        return self._distinct("torch")

    def _distinct(self, column: str) -> str:
        return ", ".join(sorted({str(value) for value in self.runs[column] if value})) or "not run"

    def _by_coordinates(self, name: str) -> dict[str, dict[str, Any]]:
        rows = self._read(name).to_dict("records")
        return {str(row["coordinates"]): {str(key): value for key, value in row.items()} for row in rows}

    def _read(self, name: str) -> pd.DataFrame:
        return tables.read(self._checked(f"{name}.csv"), columns.TABLES[name])

    def _checked(self, file: str) -> Path:
        folder = self.results.plan.artifact_folder(self.paper.paper, self.name)
        relative = (folder / file).relative_to(self.results.config.results).as_posix()
        return check_tidy(self.results.config.results, relative)
