"""Links from a claim to its proof: runs or records, data, code, test and erratum.

Links to results are relative to the page. So are those to files of the repository, unless CITATION.cff says where on a
code host the repository is.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from hypersphere.config import citation, registry
from hypersphere.config import plan as planning
from hypersphere.config.artifacts import Paper
from hypersphere.config.cells import Cell
from hypersphere.config.claims import ERRATA, ERRATUM_KINDS, SENTENCES
from hypersphere.config.paper_code import THEOREMS
from hypersphere.config.plan import Plan
from hypersphere.config.records import FOLDER
from hypersphere.report import pages
from hypersphere.report.claims import Entry, Link
from hypersphere.report.words import NOT_RUN

NAMES = re.compile(r"[A-Z]\d+[a-z]?")
"""Ids of errata in the reading of a claim: ``L5, L9, L10``."""


@dataclass
class Proofs:
    """Links for the claims, artifacts and errata of a page."""

    plan: Plan
    claims: frozenset[str]
    """The ids of all claims on the page."""
    folder: Path
    """Where the page is: the results folder of its plan, or results/report."""

    @cached_property
    def root(self) -> str:
        """Where the repository is: above the page, or on a code host (``<repository-code>/blob/HEAD``)."""
        cited = citation.read(self.plan.config.root)
        if cited is None or cited.repository is None:
            return self._near(self.plan.config.root)
        return f"{cited.repository.removesuffix('/').removesuffix('.git')}/blob/HEAD"

    def _near(self, path: Path) -> str:
        return Path(os.path.relpath(path, self.folder)).as_posix()

    def _file(self, path: Path) -> str:
        """Where the page finds a file of the project, of this package, or of a document that is kept elsewhere."""
        for root in (self.plan.config.root, registry.CHECKOUT):
            if path.is_relative_to(root):
                return f"{self.root}/{path.relative_to(root).as_posix()}"
        return path.as_uri()

    @cached_property
    def _ledger(self) -> list[dict[str, Any]]:
        return pages.ledger(self.plan.config)

    def of(self, claims: Iterable[Entry]) -> list[Link]:
        """What proves the claims of one artifact: data, code and test, each once, the nearest proof first.

        Of encoders the cells of their artifact, on the page of its scale: the report has evidence of several.
        """
        plan, config, found = self.plan, self.plan.config, list[Link]()
        for row in (claim.row for claim in claims):
            paper, name = row["paper"], row["artifact"]
            if row["answered_by"] == "theorem":
                found += [Link("theory.csv", self._near(config.results / "theory.csv")), *self.exact_code(paper)]
            elif row["answered_by"] == "encoder":
                if row["runs"] and self.folder == config.results:
                    folder = self._near(plan.artifact_folder(paper, name))
                    found += [Link(file, f"{folder}/{file}") for file in ("measurements.csv", "effects.csv")]
                found.append(Link("how it is set up", self._file(config.paper_file(paper))))
            else:
                if row["verdict"] != NOT_RUN:
                    folder = self._near(config.results / "simulations" / paper)
                    found += [Link("study's table", f"{folder}/{name}.csv")] if name in config.studied(paper) else []
                    found.append(Link("answers", f"{folder}/answers.csv"))
                found += self.exact_code(paper, row["study"])
            if (printed := config.claims_file(paper)).is_file():
                found.append(Link("printed claims", self._file(printed)))
        return list(dict.fromkeys(found))

    def exact_code(self, paper: str, study: str = "") -> list[Link]:
        """The code of an exact study, or without one of a document's statements; and its test, if there is one."""
        config = self.plan.config
        code = config.study_code(paper, study).file if study else config.theorems_file(paper)
        of_paper = code.is_relative_to(config.folders[paper])
        tests = config.folders[paper] / "tests" if of_paper else registry.CHECKOUT / "tests" / "unit" / "exact"
        test = tests / f"test_{study or THEOREMS}.py"
        found = [Link("study" if study else "statement", self._file(code))]
        if test.is_file():
            found.append(Link("test", self._file(test)))
        if study == SENTENCES:
            found.append(Link("what is checked of the sentence", self._file(config.sentences_file(paper))))
        return found

    def errata(self, claim: Entry) -> list[Link]:
        """The errata that a claim's reading names or that name the claim."""
        names = [*NAMES.findall(claim.reading), claim.row["id"]]
        found = [one["id"] for name in names for one in self._ledger if name in (one["id"], *one["tests"])]
        return [Link(f"erratum {name}", f"#{name}") for name in dict.fromkeys(found)]

    @cached_property
    def _cells(self) -> dict[tuple[str, str], list[Cell]]:
        """By document and artifact: of the page's scale, or in the report of the published one, which has every arm."""
        config = self.plan.config
        here = self.plan if self.folder == config.results else planning.make(config.root, {"scale": "paper"})
        return here.artifacts

    def code(self, claim: Entry) -> list[Link]:
        """The code of the losses of a run with the method and variant of a claim on trained encoders."""
        row, arm = claim.row, (claim.row["method"], claim.row["variant"])
        of_encoders = self._cells.get((row["paper"], row["artifact"]), ()) if row["answered_by"] == "encoder" else ()
        alike = [one.run for one in of_encoders if (one.coordinates["method"], one.coordinates["variant"]) == arm]
        used = next(filter(None, alike)).components if any(alike) else ()
        places = {name: registry.components(kind)[name].place for kind, name in used if kind in registry.OBJECTIVES}
        return [Link(name, f"{self.root}/{place}") for name, place in places.items() if place]

    def runs(self, claim: Entry) -> list[Link]:
        """Every run behind a claim, or its records where all numbers come from records.

        Of the report, by scale: its records in the repository, or its claims, if it was finished here.
        """
        found, names = list[Link](), claim.row["runs"].split()
        for scale in dict.fromkeys(step.row["scale"] for step in claim.steps if step.row["scale"]):
            records = self.plan.config.root / FOLDER / scale / "runs.csv"
            file = self._file(records) if records.is_file() else f"../{scale}/claims.csv"
            found.append(Link(f"records, {scale}", file))
        if claim.steps:
            return found
        if self.plan.records is None:
            return [Link("-".join(name.split("-")[-2:]), f"runs/{name}/") for name in names]  # its seed and its hash
        file = self._file(self.plan.config.evidence / "runs.csv")
        return [Link(f"{name} {one.key}", file) for name in names for one in self.plan.records.get(name, ())]

    def artifact(self, paper: Paper, name: str) -> list[Link]:
        files = [Link(path.suffix[1:], self._near(path)) for path in self.plan.outputs(paper.paper, name)[:-1]]
        if name in paper.studied:
            return [*files, *self.exact_code(paper.paper, paper.studied[name].study)[:1]]
        folder = self._near(self.plan.artifact_folder(paper.paper, name))
        return [*files, Link("means of all cells", f"{folder}/summary.csv"), Link("effects", f"{folder}/effects.csv")]

    def test(self, name: str, document: str) -> Link:
        """What an erratum names: a claim on this page or a test; for a claim that is not here, the erratum's file."""
        file, _, test = name.partition("::")
        if name in self.claims:
            return Link(name, f"#{name}")
        if test:
            return Link(test, f"{self.root}/{file}")
        return Link(name, self._file(self.plan.config.said(ERRATA)[document]))

    def errata_by_kind(self) -> list[dict[str, Any]]:
        """Errata by kind, the worst first, and by document within a kind, with links to what shows them."""
        groups = []
        for kind, meaning in ERRATUM_KINDS.items():
            entries = [
                entry | {"links": [self.test(one, entry["document"]) for one in entry["tests"]]}
                for entry in self._ledger
                if entry["kind"] == kind
            ]
            documents = [(title, list(own)) for title, own in groupby(entries, itemgetter("title"))]
            about = {"kind": kind, "meaning": meaning, "total": len(entries), "documents": documents}
            groups += [about] if entries else []
        return groups
