"""Links from a claim to its proof: runs or records, data, code, test and erratum.

Links to results are relative to the page. So are those to files of the repository, unless CITATION.cff says where on a
code host the repository is.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere.config import citation, project, registry
from hypersphere.config.cells import Cells
from hypersphere.config.claims import ERRATA, ERRATUM_KINDS, SENTENCES
from hypersphere.config.paper_code import THEOREMS
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.records import FOLDER
from hypersphere.config.run import Run
from hypersphere.provenance import exact
from hypersphere.provenance.exact import Exact
from hypersphere.provenance.tables import Row
from hypersphere.report import errata
from hypersphere.report.entries import Entry
from hypersphere.report.words import NOT_RUN

NAMES = re.compile(r"[A-Z]\d+[a-z]?")
"""Ids of errata in the reading of a claim: ``L5, L9, L10``."""


class Link(NamedTuple):
    """Where to look, and what is found there."""

    text: str
    href: str


@dataclass
class Proofs:
    """Links for the claims and errata of a page: of the report, which has evidence of several scales."""

    config: Config
    claims: frozenset[str]
    """The ids of all claims on the page."""
    folder: Path
    """Where the page is."""

    @cached_property
    def exact(self) -> Exact:
        """The theorems and exact studies that the page is made of."""
        return exact.shared(self.config)

    @cached_property
    def root(self) -> str:
        """Where the repository is: above the page, or on a code host (``<repository-code>/blob/HEAD``)."""
        cited = citation.read(self.config.root)
        if cited is None or cited.repository is None:
            return self._near(self.config.root)
        return f"{cited.repository.removesuffix('/').removesuffix('.git')}/blob/HEAD"

    def _near(self, path: Path) -> str:
        return Path(os.path.relpath(path, self.folder)).as_posix()

    def _file(self, path: Path) -> str:
        """Where the page finds a file of the project, of this package, or of a document that is kept elsewhere."""
        for root in (self.config.root, registry.CHECKOUT):
            if path.is_relative_to(root):
                return f"{self.root}/{path.relative_to(root).as_posix()}"
        return path.as_uri()

    @cached_property
    def _ledger(self) -> list[dict[str, Any]]:
        return errata.ledger(self.config)

    def of(self, claims: Iterable[Entry]) -> list[Link]:
        """What proves the claims of one artifact: data, code and test, each once, the nearest proof first."""
        found = list[Link]()
        for row in (claim.row for claim in claims):
            if row["answered_by"] == "theorem":
                found += [
                    Link("theory.csv", self._near(self.exact.theory)),
                    *self.exact_code(row["paper"]),
                ]
            elif row["answered_by"] == "encoder":
                found += self._of_encoders(row)
            else:
                found += self._of_study(row)
            printed = self.config.claims_file(row["paper"])
            if printed.is_file():
                found.append(Link("published claims", self._file(printed)))
        return list(dict.fromkeys(found))

    def _of_encoders(self, row: Row) -> list[Link]:
        """The declaration of their artifact."""
        return [Link("how it is set up", self._file(self.config.paper_file(row["paper"])))]

    def _of_study(self, row: Row) -> list[Link]:
        """The table and the answers of an exact study, if it was run, and its code."""
        paper, name, found = row["paper"], row["artifact"], list[Link]()
        if row["verdict"] != NOT_RUN:
            folder = self._near(self.exact.studies[paper])
            if name in self.config.exact_artifacts(paper):
                found.append(Link("study's table", f"{folder}/{name}.csv"))
            found.append(Link("answers", f"{folder}/answers.csv"))
        return found + self.exact_code(paper, row["study"])

    def exact_code(self, paper: str, study: str = "") -> list[Link]:
        """The code of an exact study, or without one of a document's statements; and its test, if there is one."""
        config = self.config
        code = config.study_code(paper, study).file if study else config.theorems_file(paper)
        of_paper = code.is_relative_to(config.folders[paper])
        tests = (
            config.folders[paper] / "tests"
            if of_paper
            else registry.CHECKOUT / "tests" / "unit" / "exact"
        )
        test = tests / f"test_{study or THEOREMS}.py"
        found = [Link("study" if study else "statement", self._file(code))]
        if test.is_file():
            found.append(Link("test", self._file(test)))
        if study == SENTENCES:
            found.append(
                Link("what is checked of the sentence", self._file(config.sentences_file(paper)))
            )
        return found

    def errata_of(self, claim: Entry) -> list[Link]:
        """The errata that a claim's reading names or that name the claim."""
        found = list[str]()
        for name in (*NAMES.findall(claim.reading), claim.row["id"]):
            found += [
                erratum["id"]
                for erratum in self._ledger
                if name in (erratum["id"], *erratum["tests"])
            ]
        return [Link(f"erratum {name}", f"#{name}") for name in dict.fromkeys(found)]

    @cached_property
    def _published(self) -> Cells:
        """Makes runs as they are published."""
        return Cells(
            project.load(self.config.root, self.config.shared_settings | {"scale": "paper"})
        )

    def _run(self, paper: str, artifact: str, arm: tuple[str, str]) -> Run | None:
        """A run of an artifact with that method and variant, as it is published."""
        document, config = self._published.config.papers[paper], self._published.config
        declared = document.measured.get(artifact)
        for point in declared.points if declared else ():
            if (point["method"], point["variant"]) != arm:
                continue
            dataset = config.dataset_for(str(point["dataset"]), paper)
            resolved = (
                self._published.resolved_of(document, artifact, point, dataset) if dataset else None
            )
            if resolved is not None:
                return resolved.run
        return None

    def code(self, claim: Entry) -> list[Link]:
        """The code of the losses of a run with the method and variant of a claim on trained encoders."""
        row = claim.row
        if row["answered_by"] != "encoder":
            return []
        run = self._run(row["paper"], row["artifact"], (row["method"], row["variant"]))
        losses = (
            {name: kind for kind, name in run.components if kind in registry.OBJECTIVES}
            if run
            else {}
        )
        places = {name: registry.components(kind)[name].place for name, kind in losses.items()}
        return [Link(name, f"{self.root}/{place}") for name, place in places.items() if place]

    def runs(self, claim: Entry) -> list[Link]:
        """The evidence of each scale: its records in the repository, or its claims, if it was finished here."""
        scales = dict.fromkeys(step.row["scale"] for step in claim.steps if step.row["scale"])
        return [self._evidence(scale) for scale in scales]

    def _evidence(self, scale: str) -> Link:
        records = self.config.root / FOLDER / scale / "runs.csv"
        return Link(
            f"records, {scale}",
            self._file(records) if records.is_file() else f"../{scale}/claims.csv",
        )

    def artifact(self, paper: str, name: str) -> list[Link]:
        """The files of a table or figure, and what they are made of."""
        files = [
            Link(path.suffix[1:], self._near(path))
            for path in self.config.outputs(paper, name)[:-1]
        ]
        studied = self.config.papers[paper].studied
        if name in studied:
            return [*files, *self.exact_code(paper, studied[name].study)[:1]]
        folder = self._near(self.config.artifact_folder(paper, name))
        return [
            *files,
            Link("means of all cells", f"{folder}/summary.csv"),
            Link("effects", f"{folder}/effects.csv"),
        ]

    def picture(self, paper: str, name: str) -> Path:
        """The png of a figure."""
        return next(path for path in self.config.outputs(paper, name) if path.suffix == ".png")

    def test(self, name: str, document: str) -> Link:
        """What an erratum names: a claim on this page or a test; for a claim that is not here, the erratum's file."""
        file, _, test = name.partition("::")
        if name in self.claims:
            return Link(name, f"#{name}")
        if test:
            return Link(test, f"{self.root}/{file}")
        return Link(name, self._file(self.config.files_named(ERRATA)[document]))

    def errata(self, ledger: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Errata with links to what shows them, the worst kind first."""
        kinds = list(ERRATUM_KINDS)
        found = []
        for erratum in sorted(ledger, key=lambda one: kinds.index(one["kind"])):
            links = [self.test(test, erratum["document"]) for test in erratum["tests"]]
            meaning = ERRATUM_KINDS[erratum["kind"]]
            found.append({**erratum, "meaning": meaning, "links": links})
        return found


@dataclass
class OfScale(Proofs):
    """Links for the claims, artifacts and errata of the page of one scale."""

    plan: Plan

    @cached_property
    def exact(self) -> Exact:
        return exact.of_scale(self.config)

    def _of_encoders(self, row: Row) -> list[Link]:
        """The cells and the declaration of their artifact."""
        cells = list[Link]()
        if row["runs"]:
            folder = self._near(self.config.artifact_folder(row["paper"], row["artifact"]))
            cells = [Link(file, f"{folder}/{file}") for file in ("measurements.csv", "effects.csv")]
        return [*cells, *super()._of_encoders(row)]

    def _run(self, paper: str, artifact: str, arm: tuple[str, str]) -> Run | None:
        """A run of an artifact with that method and variant, at this scale."""
        for cell in self.plan.artifacts.get((paper, artifact), ()):
            if cell.run and arm == (cell.coordinates["method"], cell.coordinates["variant"]):
                return cell.run
        return None

    def runs(self, claim: Entry) -> list[Link]:
        """Every run behind a claim, or its records where all numbers come from records."""
        names = claim.row["runs"].split()
        if self.plan.records is None:
            # its seed and its hash
            return [Link("-".join(name.split("-")[-2:]), f"runs/{name}/") for name in names]
        file, found = self._file(self.config.evidence / "runs.csv"), list[Link]()
        for name in names:
            found += [
                Link(f"{name} {record.key}", file) for record in self.plan.records.get(name, ())
            ]
        return found
