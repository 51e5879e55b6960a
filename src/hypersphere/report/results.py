"""The tidy tables of a results folder. Tables, figures and the page of a scale are made of nothing else."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from hypersphere.config.claims import Claim, load
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.rules import Verdict
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, exact, tables
from hypersphere.provenance.exact import Exact
from hypersphere.provenance.manifest import check_tidy


def settles(config: Config) -> bool:
    """Whether numbers of this scale count: it is the published one, with none of its numbers changed."""
    return config.scale.level == "paper" and config.scale_name == config.settings.scale


@dataclass
class ExactResults:
    """The results of theorems and exact studies: the originals, of which the report is made, or a scale's copies."""

    config: Config
    exact: Exact

    def table(self, paper: str, artifact: str) -> Path:
        """The table of an artifact of an exact study."""
        return self.exact.studies[paper] / f"{artifact}.csv"

    def judged_claims(self, paper: str) -> pd.DataFrame:
        """The claims of a paper that theorems and exact studies answer."""
        judged = exact.claims(self.exact, [paper])
        return judged[judged["paper"] == paper]

    def checked_file(self, path: Path) -> Path:
        """A tidy file that is as the manifest beside it says."""
        return check_tidy(path.parent, path.name)


class Results(ExactResults):
    """The tidy tables of one scale; each is read once. Empty fields are NaN in numbers and empty text elsewhere."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan.config, exact.of_scale(plan.config))
        self.plan = plan

    @cached_property
    def claims(self) -> pd.DataFrame:
        """claims.csv: every published claim and its verdict; below the published scale, none of that scale's."""
        table = tables.read(check_tidy(self.config.results, "claims.csv"), columns.CLAIMS)
        of_encoders = table[table["answered_by"] == "encoder"]
        for name, verdict in zip(of_encoders["id"], of_encoders["verdict"], strict=True):
            if Verdict.of(verdict).settles and not settles(self.config):
                raise HypersphereError(
                    f"{self.config.results / 'claims.csv'}: {name} says '{verdict}', "
                    f"but scale {self.config.scale_name} settles nothing"
                )
        return table

    @cached_property
    def runs(self) -> pd.DataFrame:
        """runs.csv of the whole scale: status, device and torch release of every finished run."""
        return tables.read(check_tidy(self.config.results, "statistics/runs.csv"), columns.RUNS)

    @cached_property
    def published(self) -> dict[tuple[str, str, str], Claim]:
        """The printed values, by paper, artifact and coordinates."""
        found = {}
        for paper in self.config.papers:
            for claim in load(self.config.claims_file(paper)):
                if (claim.kind, claim.origin) == ("value", "printed"):
                    found[paper, claim.artifact, claim.text] = claim
        return found

    def with_numbers(self, paper: str) -> list[str]:
        """The artifacts of a paper whose numbers exist, in the order of its file."""
        declared, folder = self.config.papers[paper], self.plan.config.artifact_folder
        numbers = {name: folder(paper, name) / "summary.csv" for name in declared.measured}
        numbers |= {name: self.table(paper, name) for name in self.config.exact_artifacts(paper)}
        return [name for name in declared.artifacts if name in numbers and numbers[name].is_file()]

    def drawing(self, paper: str, artifact: str) -> Path:
        """The svg of a figure."""
        return self.config.results / "figures" / paper / f"{artifact}.svg"
