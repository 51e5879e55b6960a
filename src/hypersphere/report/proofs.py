"""Links from a claim to its proof: runs or records, data, code, test and erratum.

Links to results are relative to the page. So are those to files of the repository, unless CITATION.cff says where on a
code host the repository is.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere.config import citation, project, registry
from hypersphere.config.cells import Cells
from hypersphere.config.claims import SENTENCES
from hypersphere.config.errata import ERRATA, ERRATUM_KINDS
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

TESTS = registry.CHECKOUT / "tests" / "unit" / "exact"
"""The tests of this package's own exact studies."""
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
        return exact.originals(self.config)

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

    def _to(self, text: str, path: Path) -> Link:
        """A link to a file of the project."""
        return Link(text, self._file(path))

    def _beside(self, text: str, path: Path) -> Link:
        """A link to a result."""
        return Link(text, self._near(path))

    @cached_property
    def _ledger(self) -> list[dict[str, Any]]:
        return errata.ledger(self.config)

    def of(self, claims: Iterable[Entry]) -> list[Link]:
        """What proves the claims of one artifact: data, code and test, each once, the nearest proof first."""
        links = chain.from_iterable(self._behind(claim.row) for claim in claims)
        return list(dict.fromkeys(links))

    def _behind(self, row: Row) -> Iterator[Link]:
        match row["answered_by"]:
            case "theorem":
                yield self._beside("theory.csv", self.exact.theory)
                yield from self.exact_code(row["paper"])
            case "encoder":
                yield from self._of_encoders(row)
            case _:
                yield from self._of_study(row)
        printed = self.config.claims_file(row["paper"])
        if printed.is_file():
            yield self._to("published claims", printed)

    def _of_encoders(self, row: Row) -> Iterator[Link]:
        """The declaration of their artifact."""
        yield self._to("how it is set up", self.config.paper_file(row["paper"]))

    def _of_study(self, row: Row) -> Iterator[Link]:
        """The table and the answers of an exact study, if it was run, and its code."""
        paper, name = row["paper"], row["artifact"]
        if row["verdict"] != NOT_RUN:
            folder = self.exact.studies[paper]
            if name in self.config.exact_artifacts(paper):
                yield self._beside("study's table", folder / f"{name}.csv")
            yield self._beside("answers", folder / "answers.csv")
        yield from self.exact_code(paper, row["study"])

    def exact_code(self, paper: str, study: str = "") -> Iterator[Link]:
        """The code of an exact study, or without one of a document's statements; and its test, if there is one."""
        config = self.config
        own = config.folders[paper]
        code = config.study_code(paper, study).file if study else config.theorems_file(paper)
        yield self._to("study" if study else "statement", code)
        tests = own / "tests" if code.is_relative_to(own) else TESTS
        test = tests / f"test_{study or THEOREMS}.py"
        if test.is_file():
            yield self._to("test", test)
        if study == SENTENCES:
            yield self._to("what is checked of the sentence", config.sentences_file(paper))

    def errata_of(self, claim: Entry) -> list[Link]:
        """The errata that a claim's reading names or that name the claim."""
        found = dict[str, None]()
        for name in (*NAMES.findall(claim.reading), claim.row["id"]):
            for erratum in self._ledger:
                if name in (erratum["id"], *erratum["tests"]):
                    found[erratum["id"]] = None
        return [Link(f"erratum {name}", f"#{name}") for name in found]

    @cached_property
    def _published(self) -> Cells:
        """Makes runs as they are published."""
        settings = self.config.shared_settings | {"scale": "paper"}
        return Cells(project.load(self.config.root, settings))

    def _run(self, paper: str, artifact: str, arm: tuple[str, str]) -> Run | None:
        """A run of an artifact with that method and variant, as it is published."""
        config = self._published.config
        document = config.papers[paper]
        declared = document.measured.get(artifact)
        for point in declared.points if declared else ():
            if (point["method"], point["variant"]) == arm:
                dataset = config.dataset_for(str(point["dataset"]), paper)
                if dataset is None:
                    continue
                resolved = self._published.resolved_of(document, artifact, point, dataset)
                if resolved is not None:
                    return resolved.run
        return None

    def code(self, claim: Entry) -> list[Link]:
        """The code of the losses of a run with the method and variant of a claim on trained encoders."""
        row = claim.row
        if row["answered_by"] != "encoder":
            return []
        run = self._run(row["paper"], row["artifact"], (row["method"], row["variant"]))
        links = dict[str, Link]()
        for kind, name in run.components if run else ():
            if kind in registry.OBJECTIVES:
                place = registry.components(kind)[name].place
                if place:
                    links[name] = Link(name, f"{self.root}/{place}")
        return list(links.values())

    def runs(self, claim: Entry) -> list[Link]:
        """The evidence of each scale: its records in the repository, or its claims, if it was finished here."""
        links = []
        for scale in dict.fromkeys(step.row["scale"] for step in claim.steps):
            if scale:
                records = self.config.root / FOLDER / scale / "runs.csv"
                here = f"../{scale}/claims.csv"
                href = self._file(records) if records.is_file() else here
                links.append(Link(f"records, {scale}", href))
        return links

    def artifact(self, paper: str, name: str) -> list[Link]:
        """The files of a table or figure, and what they are made of."""
        *outputs, _ = self.config.outputs(paper, name)
        files = [self._beside(path.suffix[1:], path) for path in outputs]
        studied = self.config.papers[paper].studied.get(name)
        if studied:
            return [*files, next(self.exact_code(paper, studied.study))]
        folder = self.config.artifact_folder(paper, name)
        means = self._beside("means of all cells", folder / "summary.csv")
        return [*files, means, self._beside("effects", folder / "effects.csv")]

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

    def _of_encoders(self, row: Row) -> Iterator[Link]:
        """The cells and the declaration of their artifact."""
        if row["runs"]:
            folder = self.config.artifact_folder(row["paper"], row["artifact"])
            for file in ("measurements.csv", "effects.csv"):
                yield self._beside(file, folder / file)
        yield from super()._of_encoders(row)

    def _run(self, paper: str, artifact: str, arm: tuple[str, str]) -> Run | None:
        """A run of an artifact with that method and variant, at this scale."""
        for cell in self.plan.artifacts.get((paper, artifact), ()):
            if cell.run and arm == (cell.coordinates["method"], cell.coordinates["variant"]):
                return cell.run
        return None

    def runs(self, claim: Entry) -> list[Link]:
        """Every run behind a claim, or its records where all numbers come from records."""
        links = []
        for name in claim.row["runs"].split():
            if self.plan.records is None:
                seed_and_hash = "-".join(name.split("-")[-2:])
                links.append(Link(seed_and_hash, f"runs/{name}/"))
            else:
                for record in self.plan.records.get(name, ()):
                    links.append(
                        self._to(f"{name} {record.key}", self.config.evidence / "runs.csv")
                    )
        return links
