"""Links from a claim to its proof: runs or records, data, code, test and erratum.

Links to results are relative to the page. So are those to files of the repository, unless CITATION.cff says where on a
code host the repository is.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hypersphere.config import registry
from hypersphere.config.artifacts import Paper
from hypersphere.config.claims import ERRATA, ERRATUM_KINDS, SENTENCES
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.errors import HypersphereError
from hypersphere.files import read_yaml
from hypersphere.report.claims import Entry, Link
from hypersphere.report.words import NOT_RUN

NAMES = re.compile(r"[A-Z]\d+[a-z]?")
"""Ids of errata in the reading of a claim: ``L5, L9, L10``."""


@dataclass
class Proofs:
    """Links for the claims, artifacts and errata of one plan's page."""

    plan: Plan
    ledger: list[dict[str, Any]]
    """``pages.ledger``: the errata on the page."""
    claims: frozenset[str]
    """The ids of all claims on the page."""
    _root: str = field(init=False)

    def __post_init__(self) -> None:
        self._root = hosted(self.plan.config.root) or self._from_page(self.plan.config.root)

    def _from_page(self, path: Path) -> str:
        return Path(os.path.relpath(path, self.plan.config.results)).as_posix()

    @cached_property
    def _shown_by(self) -> dict[str, list[str]]:
        """The errata on the page, and those that name a claim among their tests, by name."""
        found: dict[str, list[str]] = {}
        for entry in (entry for group in self.ledger for entry in group["entries"]):
            for name in (entry["id"], *entry["tests"]):
                found.setdefault(name, []).append(entry["id"])
        return found

    def of(self, claims: Iterable[Entry]) -> list[Link]:
        """What proves the claims of one artifact: data, code and test, each once, the nearest proof first."""
        found: dict[Link, None] = {}
        for claim in claims:
            answer = self._theorem if claim.kind == "theorem" else self._study if claim.study else self._measured
            found |= dict.fromkeys([*answer(claim), *printed(self._root, self.plan.config, claim.paper)])
        return list(found)

    def errata(self, claim: str, reading: str) -> list[Link]:
        """The errata that a claim's reading names or that name the claim."""
        names = [*NAMES.findall(reading), claim]
        listed = dict.fromkeys(entry for name in names for entry in self._shown_by.get(name, []))
        return [Link(f"erratum {name}", f"#{name}") for name in listed]

    def runs(self, claim: Entry) -> list[Link]:
        """Every run behind a claim: its folder, or its records where all numbers come from records."""
        return [link for run in claim.runs for link in self.run(run)]

    def code(self, claim: Entry) -> list[Link]:
        """The losses, and what changes their logits or gradients, of the runs behind a claim."""
        runs = [self.plan.runs[name] for name in claim.runs if name in self.plan.runs]
        used = sorted({part for run in runs for part in run.components if part[0] in registry.OBJECTIVES})
        places = [(name, registry.components(kind)[name].place) for kind, name in used]
        return [Link(name, f"{self._root}/{place}") for name, place in places if place]

    def run(self, name: str) -> list[Link]:
        """A run's folder, or its records."""
        if self.plan.records is None:
            return [Link("-".join(name.split("-")[-2:]), f"runs/{name}/")]  # its seed and its hash
        config = self.plan.config
        folder = f"{self._root}/{config.evidence.relative_to(config.root).as_posix()}"
        return [Link(f"{name} {record.key}", f"{folder}/runs.csv") for record in self.plan.records.get(name, ())]

    def artifact(self, paper: Paper, name: str) -> list[Link]:
        """The files of a table or figure."""
        files = [Link(path.suffix[1:], self._from_page(path)) for path in self.plan.outputs(paper.paper, name)]
        if name in paper.studied:
            return [*files, *exact_code(self._root, self.plan.config, paper.paper, paper.studied[name].study)[:1]]
        folder = self._from_page(self.plan.artifact_folder(paper.paper, name))
        return [*files, Link("means of all cells", f"{folder}/summary.csv"), Link("effects", f"{folder}/effects.csv")]

    def test(self, name: str, document: str) -> Link:
        """What an erratum names: a claim on this page or a test; for a claim that is not here, the erratum's file."""
        file, _, test = name.partition("::")
        if name in self.claims:
            return Link(name, f"#{name}")
        return (
            Link(test, f"{self._root}/{file}")
            if test
            else Link(name, self._at(self.plan.config.said(ERRATA)[document]))
        )

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
        return of_file(self._root, self.plan.config, file)

    def _theorem(self, claim: Entry) -> list[Link]:
        return [Link("theory.csv", "theory.csv"), *exact_code(self._root, self.plan.config, claim.paper)]

    def _study(self, claim: Entry) -> list[Link]:
        folder, found = f"simulations/{claim.paper}", []
        if claim.verdict != NOT_RUN:
            made = claim.artifact in self.plan.config.studied(claim.paper)
            found = [Link("study's table", f"{folder}/{claim.artifact}.csv")] if made else []
            found.append(Link("answers", f"{folder}/answers.csv"))
        return [*found, *exact_code(self._root, self.plan.config, claim.paper, claim.study)]

    def _measured(self, claim: Entry) -> list[Link]:
        declared = Link("how it is set up", self._at(self.plan.config.paper_file(claim.paper)))
        if not claim.runs:
            return [declared]
        folder = self._from_page(self.plan.artifact_folder(claim.paper, claim.artifact))
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
