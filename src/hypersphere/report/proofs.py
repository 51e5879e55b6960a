"""Links from a claim to its proof: runs or records, data, code, test and erratum.

Links to results are relative to the page. So are those to files of the repository, unless CITATION.cff says where on a
code host the repository is.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hypersphere.config import registry
from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import ERRATA, ERRATUM_KINDS, SENTENCES
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.records import FOLDER
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.files import read_yaml
from hypersphere.report.claims import Entry, Link, Row
from hypersphere.report.words import NOT_RUN

NAMES = re.compile(r"[A-Z]\d+[a-z]?")
"""Ids of errata in the reading of a claim: ``L5, L9, L10``."""


@dataclass
class Proofs:
    """Links for the claims, artifacts and errata of a page."""

    plan: Plan
    ledger: list[dict[str, Any]]
    """``pages.ledger``: the errata on the page."""
    claims: frozenset[str]
    """The ids of all claims on the page."""
    folder: Path
    """Where the page is: the results folder of its plan, or results/report."""
    cells: Plan | None = None
    """Whose cells say which losses a claim is about, if not those of ``plan``."""

    @cached_property
    def root(self) -> str:
        """Where the repository is: on a code host, or above the page."""
        return hosted(self.plan.config.root) or self._from_page(self.plan.config.root)

    @property
    def _of_one_scale(self) -> bool:
        return self.folder == self.plan.config.results

    def _from_page(self, path: Path) -> str:
        return Path(os.path.relpath(path, self.folder)).as_posix()

    def _result(self, text: str, file: str) -> Link:
        return Link(text, self._from_page(self.plan.config.results / file))

    @cached_property
    def _shown_by(self) -> dict[str, list[str]]:
        """The errata on the page, and those that name a claim among their tests, by name."""
        found: dict[str, list[str]] = {}
        for entry in (entry for group in self.ledger for entry in group["entries"]):
            for name in (entry["id"], *entry["tests"]):
                found.setdefault(name, []).append(entry["id"])
        return found

    @cached_property
    def _losses(self) -> dict[tuple[str, ...], list[Link]]:
        """The losses of a method and variant of a document, and what changes their logits or gradients."""
        found: dict[tuple[str, ...], list[Link]] = {}
        for cell in (self.cells or self.plan).cells:
            key = (cell.paper, str(cell.coordinates["method"]), str(cell.coordinates["variant"]))
            if cell.run is not None and key not in found:
                found[key] = self._code_of([cell.run])
        return found

    def _code_of(self, runs: Iterable[Run]) -> list[Link]:
        used = dict.fromkeys(part for run in runs for part in run.components if part[0] in registry.OBJECTIVES)
        places = [(name, registry.components(kind)[name].place) for kind, name in used]
        return [Link(name, f"{self.root}/{place}") for name, place in places if place]

    def of(self, claims: Iterable[Entry]) -> list[Link]:
        """What proves the claims of one artifact: data, code and test, each once, the nearest proof first."""
        answers = {"theorem": self._theorem, "encoder": self._measured}
        found: dict[Link, None] = {}
        for claim in claims:
            answer = answers.get(claim.row["answered_by"], self._study)
            found |= dict.fromkeys([*answer(claim.row), *printed(self.root, self.plan.config, claim.row["paper"])])
        return list(found)

    def errata(self, claim: Entry) -> list[Link]:
        """The errata that a claim's reading names or that name the claim."""
        names = [*NAMES.findall(claim.reading), claim.row["id"]]
        listed = dict.fromkeys(entry for name in names for entry in self._shown_by.get(name, []))
        return [Link(f"erratum {name}", f"#{name}") for name in listed]

    def code(self, claim: Entry) -> list[Link]:
        """The code of the losses of the runs behind a claim; of runs of other scales, of its method and variant."""
        names = claim.row["runs"].split()
        if claim.row["answered_by"] != "encoder" or (self._of_one_scale and not names):
            return []
        if known := [self.plan.runs[name] for name in names if name in self.plan.runs]:
            return self._code_of(known)
        return self._losses.get((claim.row["paper"], claim.row["method"], claim.row["variant"]), [])

    def runs(self, claim: Entry) -> list[Link]:
        """Every run behind a claim, or its records where all numbers come from records; of the report, by scale."""
        if claim.steps:
            scales = dict.fromkeys(step["scale"] for step in claim.steps if step["scale"])
            return [Link(f"records, {scale}", self._recorded(scale)) for scale in scales]
        return [link for run in claim.row["runs"].split() for link in self.run(run)]

    def run(self, name: str) -> list[Link]:
        """A run's folder, or its records."""
        if self.plan.records is None:
            return [Link("-".join(name.split("-")[-2:]), f"runs/{name}/")]  # its seed and its hash
        file = self._at(self.plan.config.evidence / "runs.csv")
        return [Link(f"{name} {record.key}", file) for record in self.plan.records.get(name, ())]

    def _recorded(self, scale: str) -> str:
        """The records of a scale in the repository, or the claims of one that was finished here."""
        recorded = self.plan.config.root / FOLDER / scale / "runs.csv"
        return self._at(recorded) if recorded.is_file() else f"../{scale}/claims.csv"

    def artifact(self, paper: Paper, name: str) -> list[Link]:
        """The files of a table or figure."""
        files = [Link(path.suffix[1:], self._from_page(path)) for path in self.plan.outputs(paper.paper, name)]
        if name in paper.studied:
            return [*files, *exact_code(self.root, self.plan.config, paper.paper, paper.studied[name].study)[:1]]
        folder = self._from_page(self.plan.artifact_folder(paper.paper, name))
        return [*files, Link("means of all cells", f"{folder}/summary.csv"), Link("effects", f"{folder}/effects.csv")]

    def test(self, name: str, document: str) -> Link:
        """What an erratum names: a claim on this page or a test; for a claim that is not here, the erratum's file."""
        file, _, test = name.partition("::")
        if name in self.claims:
            return Link(name, f"#{name}")
        if test:
            return Link(test, f"{self.root}/{file}")
        return Link(name, self._at(self.plan.config.said(ERRATA)[document]))

    def errata_by_kind(self) -> list[dict[str, Any]]:
        """Errata by kind, the worst first, and by document within a kind, with links to what shows them."""
        groups = []
        for kind, meaning in ERRATUM_KINDS.items():
            documents = []
            for group in self.ledger:
                entries = [entry for entry in group["entries"] if entry["kind"] == kind]
                linked = [
                    {**entry, "links": [self.test(one, entry["document"]) for one in entry["tests"]]}
                    for entry in entries
                ]
                documents += [{"title": group["title"], "entries": linked}] if linked else []
            total = sum(len(one["entries"]) for one in documents)
            groups += [{"kind": kind, "meaning": meaning, "total": total, "documents": documents}] if total else []
        return groups

    def _at(self, file: Path) -> str:
        return of_file(self.root, self.plan.config, file)

    def _theorem(self, row: Row) -> list[Link]:
        return [self._result("theory.csv", "theory.csv"), *exact_code(self.root, self.plan.config, row["paper"])]

    def _study(self, row: Row) -> list[Link]:
        folder, found = f"simulations/{row['paper']}", []
        if row["verdict"] != NOT_RUN:
            made = row["artifact"] in self.plan.config.studied(row["paper"])
            found = [self._result("study's table", f"{folder}/{row['artifact']}.csv")] if made else []
            found.append(self._result("answers", f"{folder}/answers.csv"))
        return [*found, *exact_code(self.root, self.plan.config, row["paper"], row["study"])]

    def _measured(self, row: Row) -> list[Link]:
        """The cells of an artifact on the page of its scale; the report has evidence of several scales."""
        declared = Link("how it is set up", self._at(self.plan.config.paper_file(row["paper"])))
        if not row["runs"] or not self._of_one_scale:
            return [declared]
        folder = self._from_page(self.plan.artifact_folder(row["paper"], row["artifact"]))
        return [Link(name, f"{folder}/{name}") for name in ("measurements.csv", "effects.csv")] + [declared]


def hosted(root: Path) -> str:
    """Where the repository's files are on a code host: ``<repository-code>/blob/HEAD``; empty if none is given."""
    file = root / "CITATION.cff"
    given = (read_yaml(file) or {}).get("repository-code", "") if file.is_file() else ""
    if not given:
        return ""
    if not re.fullmatch(r"https?://[^\s?#]+", str(given)):
        raise HypersphereError(f"{file}: repository-code is '{given}', which is no address of the web")
    return f"{given.removesuffix('/').removesuffix('.git')}/blob/HEAD"


def of_file(root: str, config: Config, file: Path) -> str:
    """Where a page finds a file of the project, or of a document that is kept elsewhere."""
    inside = file.is_relative_to(config.root)
    return f"{root}/{file.relative_to(config.root).as_posix()}" if inside else file.as_uri()


def printed(root: str, config: Config, paper: str) -> list[Link]:
    """What a document prints; nothing for one that has no claims of its own."""
    file = config.claims_file(paper)
    return [Link("printed claims", of_file(root, config, file))] if file.is_file() else []


def exact_code(root: str, config: Config, paper: str, study: str = "") -> list[Link]:
    """The code and the test of an exact study, or without one of a document's statements; nothing of a plug-in's that
    is outside the checkout."""
    code, tests, name = f"src/hypersphere/theory/{paper}.py", "tests/unit/theory", f"{paper}_statements"
    if study:
        code, name = registry.components("simulations")[study].place, study
        plug_in = code.partition("src/")[0]
        tests = f"{plug_in}tests" if plug_in else "tests/unit/simulations"
    found = [Link("study" if study else "statement", f"{root}/{code}"), Link("test", f"{root}/{tests}/test_{name}.py")]
    found = found if code else []
    if study == SENTENCES:
        found.append(Link("what is checked of the sentence", of_file(root, config, config.sentences_file(paper))))
    return found
