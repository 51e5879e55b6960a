"""report.pdf: the page as an article, set from paper/report.typ and a content.json of numbers and names."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from hypersphere.config import citation, project
from hypersphere.config.artifacts import Paper, Section
from hypersphere.config.certainty import RUNGS
from hypersphere.config.project import Config
from hypersphere.config.rules import Answer
from hypersphere.errors import HypersphereError
from hypersphere.files import write_json
from hypersphere.provenance import exact
from hypersphere.provenance.tables import Row
from hypersphere.report import (
    counts,
    entries,
    figures,
    findings,
    forest,
    studies,
    style,
    tuning,
    words,
)
from hypersphere.report.artifact import Context
from hypersphere.report.kinds import study_figure
from hypersphere.report.our_studies import OurStudy
from hypersphere.report.page import HOURS, Known, Page, printed_as
from hypersphere.report.results import ExactResults
from hypersphere.report.typesetting import address, typeset, with_print_quotes
from hypersphere.statistics import price

SOURCE = "paper/report.typ"
MOST = 8
"""Comparisons of a paper in the text; the appendix has all."""
FINDING = (
    "id",
    "paper",
    "question",
    "outcome",
    "sentence",
    "headline",
    "certainty",
    "lead",
    "about",
    "leading",
)
"""The columns of findings.csv that the article has."""
CLAIM = (
    "paper",
    "origin",
    "answered_by",
    "study",
    "answer",
    "certainty",
    "rung",
    "measured",
    "reported",
)
"""The columns of claims.csv by which the prose chooses claims and checks its sentences."""
ERRATUM = ("id", "title", "place", "kind", "printed", "chosen")
"""What the article lists of an erratum."""
EVIDENCE = (
    *("statements_hold", "statements_fail", "studied_hold", "studied_fail", "studied_open"),
    *("clear", "unclear", "nothing", "borne", "contradicted"),
)
"""The columns of the table of evidence."""
CRITERIA = {
    "same_sign": "compared",
    "clear": "compared",
    "printed_inside": "compared",
    "ours_inside": "with_interval",
}
"""The criteria of replication, each with what it is counted of."""
COUNTED = {*CRITERIA, *CRITERIA.values()}


def build(config: Config, page: Page, folder: Path) -> None:
    """Write figures of exact studies, ``content.json`` and ``report.pdf``, beside the tables and forests."""
    write_json(folder / "content.json", Article(config, page, folder).content())
    typeset(config.root, SOURCE, folder / "content.json", folder / "report.pdf")


@dataclass
class Article:
    """The content of the article on a page; ``folder`` has its pictures."""

    config: Config
    page: Page
    folder: Path

    @property
    def known(self) -> Known:
        assert self.page.known is not None  # the article is on all evidence
        return self.page.known

    @cached_property
    def claims(self) -> list[Row]:
        """Every claim, as claims.csv has it."""
        return [entry.row for entry in self.page.entries.values()]

    @cached_property
    def published(self) -> list[Row]:
        """The claims that a paper publishes."""
        return [claim for claim in self.claims if claim["origin"] == "printed"]

    @cached_property
    def of_paper(self) -> dict[str, list[Row]]:
        """The published claims of each paper that has any, by its id."""
        found: dict[str, list[Row]] = {name: [] for name in self.config.papers}
        for claim in self.published:
            found[claim["paper"]].append(claim)
        return {name: claims for name, claims in found.items() if claims}

    @cached_property
    def sections(self) -> dict[str, Section]:
        """What the article says of each paper with published claims, by its id."""
        found = {}
        for name in self.of_paper:
            paper = self.config.papers[name]
            found[name] = paper.report or Section(short=f"“{paper.title}”")
        return found

    def content(self) -> dict[str, Any]:
        """Everything that the source shows."""
        questions = chain.from_iterable(self.known.questions.values())
        answers = [self._answer(question.row) for question in questions]
        leads = [self._answer(row) for row in self.known.leading]
        if not leads:
            raise HypersphereError(
                f"{self.folder / 'findings.csv'}: no question leads, so the abstract has no findings"
            )
        errata = self.page.errata
        numbers = counts.of_evidence(self.claims) | {"errata": len(errata)}
        return {
            "about": self._about(),
            "counts": in_sentences(numbers),
            "confidence": self.page.confidence,
            "leads": leads,
            "unknown": findings.not_known(answers),
            "claims": self._numbers(),
            "across": [one for one in answers if one["paper"] not in self.config.papers],
            **self._studies(answers),
            "forest": self._forest(),
            "criteria": self._criteria(),
            "evidence": self._evidence(),
            "papers": [self._section(name, answers) for name in self.sections],
            "failed": list(self._refuted_statements()),
            "audit": list(self._audit()),
            "contradicted": list(self._contradicted_sentences()),
            "errata": [_in_print_quotes(erratum, ERRATUM) for erratum in errata],
            "costs": list(self._costs()),
            "hours": f"{HOURS:g}",
            "ladder": self.known.ladder,
            "scales": list(self._scales()),
        }

    def _answer(self, row: Row) -> dict[str, str]:
        if not row["sentence"].strip():
            raise HypersphereError(
                f"{self.folder / 'findings.csv'}: {row['id']}: the sentence is missing"
            )
        return _in_print_quotes(row, FINDING)

    def _about(self) -> dict[str, str]:
        """What CITATION.cff says. The date is that of the release, so that bytes repeat."""
        cited = citation.read(self.config.root)
        if cited is None:
            return dict.fromkeys(("authors", "version", "date", "address"), "")
        return {
            "authors": ", ".join(map(str, cited.authors)),
            "version": cited.version,
            "date": str(cited.date_released or ""),
            "address": str(cited.repository or ""),
        }

    def _forest(self) -> dict[str, Any]:
        _, every, _ = self.known.pictures
        return {
            "path": address(self.config.root, self.folder / f"{every.name}.svg"),
            "title": every.title,
            "inches": figures.WIDTH,
            "alt": forest.caption(self.claims),
        }

    # Counts

    def _evidence(self) -> list[list[str]]:
        """A row for each paper, and a last one for all."""
        rows = []
        for name, section in self.sections.items():
            rows.append(_evidence_on(section.short, self.of_paper[name]))
        return [*rows, _evidence_on("all", self.published)]

    def _criteria(self) -> list[list[str]]:
        """Each criterion as ``12 of 26``, by paper and rung; a last row for all."""
        rows = []
        whole = Counter[str]()
        for row in self.known.criteria:
            short = self.sections[row["paper"]].short
            rows.append(_criteria_of(f"{short}, {RUNGS[row['rung']]}", row))
            whole.update({key: row[key] for key in COUNTED})
        return [*rows, _criteria_of("all", whole)]

    def _numbers(self) -> dict[str, dict[str, Any]]:
        """Each claim with evidence by its id, with the numbers that the prose can name."""
        found = {}
        for claim in filter(findings.is_known, self.claims):
            numbers = findings.numbers(claim)
            columns = {key: str(claim[key]) for key in CLAIM}
            is_published = claim["origin"] == "printed"
            found[claim["id"]] = {
                **_in_print_quotes(numbers),
                **columns,
                "is_published": is_published,
            }
        return found

    def _costs(self) -> Iterator[dict[str, Any]]:
        """What would settle the open claims: hours of a GPU for each table and figure, most claims an hour first."""
        first = {one.id for one in self.known.settled}
        for name, claims, hours in price.settled_first(pd.DataFrame(self.claims), math.inf):
            artifact, title = printed_as(self.config, name)
            yield {
                "paper": self.sections[name.partition("/")[0]].short,
                "artifact": artifact,
                "title": title,
                "claims": claims,
                "hours": hours,
                "first": name in first,
            }

    # Statements and sentences

    @cached_property
    def _refuted(self) -> dict[str, dict[str, str]]:
        """The published statements with a counterexample, by their ids, and what holds by the errata that name them."""
        found = {}
        for claim in self.published:
            if claim["answered_by"] == "theorem" and claim["answer"] == Answer.FAILS:
                name = claim["id"]
                named = [one for one in self.page.errata if name in one["tests"]]
                found[name] = {
                    "statement": with_print_quotes(claim["sentence"]),
                    "source": claim["source"],
                    "counterexample": entries.counterexample(claim["counterexample"]),
                    "erratum": "; ".join(f"{one['id']}: {one['chosen']}" for one in named),
                }
        return found

    def _refuted_statements(self) -> Iterator[str | dict[str, str]]:
        """The refuted statements under the titles of their papers."""
        for name, claims in self.of_paper.items():
            failed = [claim["id"] for claim in claims if claim["id"] in self._refuted]
            if failed:
                yield self.config.papers[name].title
                yield from map(self._refuted.__getitem__, failed)

    def _contradicted_sentences(self) -> Iterator[dict[str, str]]:
        for claim in self.published:
            if claim["answer"] == Answer.CONTRADICTED:
                yield {
                    "paper": self.sections[claim["paper"]].short,
                    "sentence": with_print_quotes(claim["sentence"]),
                    "source": claim["source"],
                }

    # Papers

    def _section(self, name: str, answers: Sequence[dict[str, str]]) -> dict[str, Any]:
        """A paper with its questions and its comparisons."""
        paper = self.config.papers[name]
        section = self.sections[name]
        for one in section.gravest:
            if one not in self._refuted:
                file = self.config.paper_file(name)
                no = f"{one} is not a published statement with a counterexample"
                raise HypersphereError(f"{file}: report.gravest: {no}")
        questions = [one for one in answers if one["paper"] == name]
        effects = {}
        for claim in self.claims:
            if claim["paper"] == name and counts.is_compared(claim):
                graded = {"id": claim["id"], "certainty": claim["certainty"]}
                effects[claim["id"]] = forest.in_numbers(paper, claim) | graded
        return {
            "id": name,
            "title": paper.title,
            "short": section.short,
            "counts": in_sentences(counts.by_answer(self.of_paper[name])),
            "questions": questions,
            "effects": [effects[one] for one in self._first(effects, questions)[:MOST]],
            "all_effects": list(effects.values()),
            "gravest": [self._refuted[one] for one in section.gravest],
            "figure": self._figure(paper),
        }

    def _first(self, effects: Iterable[str], questions: Sequence[Mapping[str, str]]) -> list[str]:
        """Ids of comparisons: those with an answer first, and of these those that a question leads with or names."""
        named = list[str]()
        for question in questions:
            named += [question["leading"], *question["about"].split()]
        names = set(effects)
        in_order = [one for one in dict.fromkeys([*named, *effects]) if one in names]
        entries = self.page.entries
        return sorted(in_order, key=lambda one: entries[one].row["answer"] == Answer.CANNOT_TELL)

    def _figure(self, paper: Paper) -> dict[str, Any] | None:
        """Draw the figure of a paper's exact study, if that was run, and say what it shows.

        It is drawn for the report alone: whether a scale has drawn it too must not change the report.
        """
        name = self.config.report_figures.get(paper.paper)
        drawing = self._drawing(paper, name) if name else None
        if name is None or drawing is None:
            return None
        artifact = paper.studied[name]
        path = self.folder / "figures" / paper.paper / f"{name}.svg"
        with style.house_style():
            figures.save(study_figure.draw(self._context(paper, name)), [path], "")
        return {
            "title": drawing.finding or artifact.title,
            "original": artifact.printed or "",
            "notes": [drawing.note],
            "alt": drawing.note,
            "inches": drawing.size[0],
            "path": address(self.config.root, path),
        }

    def _context(self, paper: Paper, name: str) -> Context:
        return Context(ExactResults(self.config, exact.originals(self.config)), paper, name)

    def _drawing(self, paper: Paper, name: str) -> studies.Drawing | None:
        """The figure of an exact study, if that was run."""
        context = self._context(paper, name)
        was_run = context.results.table(paper.paper, name).is_file()
        return studies.of_artifact(context) if was_run else None

    def _audit(self) -> Iterator[dict[str, str]]:
        """What figures on published numbers show, by paper."""
        for name, section in self.sections.items():
            paper = self.config.papers[name]
            for artifact, declared in paper.studied.items():
                if (declared.study, declared.draw) == ("printed_numbers", "study_figure"):
                    drawing = self._drawing(paper, artifact)
                    if drawing and drawing.finding:
                        yield {"paper": section.short, "text": drawing.finding}

    # Studies and scales

    def _studies(self, answers: Iterable[dict[str, str]]) -> dict[str, Any]:
        """Our own studies: those with confirmation runs, with answer and tables, and the questions of the others."""
        by_name = {(one["paper"], one["id"]): one for one in answers}
        measured = list[dict[str, Any]]()
        planned = list[str]()
        for one in self.known.studies:
            if one.comparisons:
                curves = tuning.of_study(self.config, one.paper, one.name)
                answer = by_name.get((one.paper, one.name))
                measured.append(_study(one, answer) | {"curves": curves})
            else:
                planned.append(one.plan.question)
        return {"studies": measured, "planned": planned}

    def _scales(self) -> Iterator[dict[str, str]]:
        """The scales that the evidence is of, with their devices."""
        claims = pd.DataFrame(self.claims)
        for name, own in claims[claims["scale"] != ""].groupby("scale", sort=False):
            config = project.load(self.config.root, {"scale": name})
            yield {
                "name": str(name),
                "describe": config.scale.describe,
                "device": words.distinct("; ".join(own["device"]).split("; ")),
                "precision": words.distinct("; ".join(own["precision"]).split("; ")),
            }


def _in_print_quotes(row: Mapping[str, str], names: Iterable[str] = ()) -> dict[str, str]:
    """Texts of a row, with the quotation marks of print; of all its columns unless some are named."""
    return {name: with_print_quotes(row[name]) for name in names or row}


def _evidence_on(name: str, claims: Sequence[Row]) -> list[str]:
    """How many claims there are, and how many of each kind of evidence."""
    numbers = counts.by_answer(claims)
    return [name, f"{len(claims):,}", *(f"{numbers[key]:,}" for key in EVIDENCE)]


def _criteria_of(name: str, row: Mapping[str, float]) -> list[str]:
    """How many comparisons there are, and how many meet each criterion."""
    cells = [name, f"{row['compared']:.0f}"]
    for key, of in CRITERIA.items():
        cells.append(f"{row[key]:.0f} of {row[of]:.0f}" if row[of] else entries.NOTHING)
    return cells


def in_sentences(numbers: Mapping[str, int]) -> dict[str, str]:
    """Counts as a sentence has them: ``none`` or ``1,123``."""
    return {key: f"{number:,}" if number else "none" for key, number in numbers.items()}


def _study(study: OurStudy, answer: dict[str, str] | None) -> dict[str, Any]:
    """A study with confirmation runs; ``answer`` is its finding, if it has one."""
    unanswered = {
        "id": study.name,
        "question": study.plan.question,
        "sentence": study.closed,
        "certainty": "",
    }
    head, *checks = study.checks
    return (answer or unanswered) | {
        "measure": study.measure,
        "tuned": bool(study.plan.tuned),
        "limits": study.limits,
        "head": study.comparisons[0][1][0],
        "groups": [{"title": title, "rows": rows} for title, (_, *rows) in study.comparisons],
        "checks_head": head,
        "checks": checks,
    }
