"""The one page: what is known of every claim from all evidence, or the same by the runs of one scale.

These are its parts, as plain data. html.py and article.py show them; neither computes a number.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from hypersphere.config import rules as rules_file
from hypersphere.config.artifacts import OpenChoice
from hypersphere.config.cells import is_made
from hypersphere.config.certainty import GRADES, RUNGS, SHORTCOMINGS, Certainty, load_certainty
from hypersphere.config.claims import NOT_MADE_YET, why_not_made
from hypersphere.config.plan import Plan
from hypersphere.config.project import SEVERAL, Config
from hypersphere.config.questions import load as load_questions
from hypersphere.config.records import FOLDER
from hypersphere.config.rules import Answer, Result, Rules
from hypersphere.provenance.evidence import undeclared_records
from hypersphere.provenance.tables import Row
from hypersphere.report import (
    entries,
    errata,
    findings,
    forest,
    front,
    notes,
    our_studies,
    prices,
    words,
)
from hypersphere.report.artifact import Shown
from hypersphere.report.entries import NOTHING, Entry
from hypersphere.report.evidence import Evidence
from hypersphere.report.our_studies import OurStudy, Table
from hypersphere.report.results import Results
from hypersphere.report.writer import show
from hypersphere.statistics import false_calls, price
from hypersphere.statistics.false_calls import Called

HOURS = 10.0
"""The hours of a GPU of which the page says what they would settle first."""


class Group(NamedTuple):
    """The claims of one table or figure, or of a document's theorems, in their order."""

    id: str
    """``mine/table2``."""
    printed: str
    """``Table 2``."""
    title: str
    claims: Sequence[Entry]


class Missing(NamedTuple):
    """A table or figure without results, and why it has none."""

    id: str
    printed: str
    title: str
    reason: str


@dataclass(frozen=True)
class Question:
    """A row of findings.csv with its claims, and what its answer does not say."""

    row: Row
    claims: Sequence[Entry]
    limits: Sequence[str]

    @property
    def result(self) -> Result:
        """What its claims come to."""
        return Answer.of(self.row["outcome"]).result


@dataclass(frozen=True)
class Document:
    """What a page has of one paper, or of several together (``SEVERAL``)."""

    id: str
    title: str
    groups: Sequence[Group] = ()
    questions: Sequence[Question] = ()
    studies: Sequence[OurStudy] = ()
    errata: Sequence[Mapping[str, Any]] = ()
    artifacts: Sequence[Shown] = ()
    """Tables and figures of one scale."""
    missing: Sequence[Missing] = ()
    choices: Mapping[str, Sequence[OpenChoice]] = field(default_factory=dict)
    """What it leaves open, and what was chosen, by the method; ``all``: for all of them."""

    @property
    def claims(self) -> list[Row]:
        """Its claims, as claims.csv has them."""
        claims = chain.from_iterable(group.claims for group in self.groups)
        return [claim.row for claim in claims]


class Picture(NamedTuple):
    """A drawing beside the page, ``<name>.svg`` and ``<name>.png``."""

    name: str
    title: str
    alt: str


class Settled(NamedTuple):
    """A table or figure that some hours of a GPU would settle."""

    id: str
    printed: str
    claims: int
    hours: float


class Rung(NamedTuple):
    """A rung of the ladder: its certainty, and what lowers it."""

    evidence: str
    grade: str
    lowered: str


@dataclass(frozen=True)
class Scale:
    """What a page of one scale says of it."""

    name: str
    folder: str
    level: str
    describe: str
    notice: str
    """Whether it is a reproduction."""
    seeds: str
    device: str
    torch: str
    runs: int
    undeclared: Sequence[str]
    """Records of which the configuration does not declare something, so that they count for nothing."""


@dataclass(frozen=True)
class Known:
    """What only the page of all evidence has."""

    questions: Mapping[str, Sequence[Question]]
    """The questions by their paper; those about several papers come first."""
    leading: Sequence[Row]
    """The rows of findings.csv that come first, in their order."""
    unknown: Sequence[Row]
    """The rows of findings.csv that say what is not known."""
    pictures: Sequence[Picture]
    """The short forest, the forest, and the forest of our studies."""
    front: Picture
    """The picture above all; no paper may have drawn it."""
    criteria: Sequence[Row]
    studies: Sequence[OurStudy]
    progress: Table
    splits: Sequence[Mapping[str, float]]
    called: Called
    prices: Sequence[tuple[str, ...]]
    settled: Sequence[Settled]
    measured_share: float
    """The share of all GPU hours that rests on measured rates."""
    ladder: Sequence[Rung]
    enough: int
    """Runs an arm."""


@dataclass(frozen=True)
class Page:
    """The page of one scale, or of all evidence (``known``)."""

    titles: Mapping[str, str]
    """The titles of papers, by their ids."""
    errata: Sequence[Mapping[str, Any]]
    rules: Rules
    confidence: str
    entries: Mapping[str, Entry]
    """Every claim by its id."""
    documents: Sequence[Document] = ()
    """What is about several papers, and then each paper."""
    scale: Scale | None = None
    known: Known | None = None


def of_evidence(config: Config, evidence: Evidence) -> Page:
    """The page of all evidence."""
    steps: dict[str, list[Row]] = {}
    for step in evidence.ladder:
        steps.setdefault(step["id"], []).append(step)
    every = {}
    for row in evidence.claims:
        every[row["id"]] = entries.entry(config, row, steps.get(row["id"], []))
    known = _knowledge(config, evidence, every)
    documents = []
    for document in _documents(config, every):
        questions = known.questions.get(document.id, [])
        studies = [study for study in known.studies if study.paper == document.id]
        documents.append(replace(document, questions=questions, studies=studies))
    return replace(_page(config, every), documents=documents, known=known)


def of_scale(results: Results) -> Page:
    """The page of one scale, with the runs behind each number."""
    config = results.config
    every = {claim.row["id"]: claim for claim in entries.of_scale(results)}
    documents = []
    for document in _documents(config, every):
        paper = config.papers.get(document.id)
        if paper:
            shown, missing = artifacts_of(results, document.id)
            choices = paper.open_choices
            document = replace(document, artifacts=shown, missing=missing, choices=choices)
        documents.append(document)
    return replace(_page(config, every), documents=documents, scale=_scale(results))


def _documents(config: Config, every: Mapping[str, Entry]) -> Iterator[Document]:
    """The papers with their claims and errata, after what is about several of them."""
    ledger = errata.ledger(config)
    titles = {SEVERAL: errata.ACROSS} | {name: paper.title for name, paper in config.papers.items()}
    for name, title in titles.items():
        claims = groups(config, [claim for claim in every.values() if claim.row["paper"] == name])
        own = [erratum for erratum in ledger if erratum["document"] == name]
        yield Document(name, title, claims, errata=own)


def _page(config: Config, every: Mapping[str, Entry]) -> Page:
    """A page without its documents."""
    return Page(
        titles={name: paper.title for name, paper in config.papers.items()},
        errata=errata.ledger(config),
        rules=rules_file.load(config.root),
        confidence=words.confidence(config),
        entries=every,
    )


def groups(config: Config, claims: Iterable[Entry]) -> list[Group]:
    """Claims by the table or figure that prints them, or as a document's theorems, in the order of the claims."""
    found: dict[str, list[Entry]] = {}
    for claim in claims:
        found.setdefault(claim.group, []).append(claim)
    return [Group(name, *printed_as(config, name), own) for name, own in found.items()]


def printed_as(config: Config, group: str) -> tuple[str, str]:
    """``Table 2`` and the title of ``mine/table2``; of what is not printed, the title and nothing."""
    paper, _, name = group.partition("/")
    declared = config.papers[paper].artifacts.get(name)
    if declared is None:
        return "Theorems and identities" if name == "theorems" else name.replace("_", " "), ""
    return (declared.printed, declared.title) if declared.printed else (declared.title, "")


# Of all evidence


def _knowledge(config: Config, evidence: Evidence, every: Mapping[str, Entry]) -> Known:
    certainty = load_certainty(config.root)
    rules = rules_file.load(config.root)
    settled = []
    for name, claims, hours in price.settled_first(pd.DataFrame(evidence.claims), HOURS):
        printed, _ = printed_as(config, name)
        settled.append(Settled(name, printed, claims, hours))
    compared = evidence.studies["studies"]
    return Known(
        questions=_questions(config, evidence.findings, every),
        leading=findings.leading(evidence.findings),
        unknown=findings.not_known(evidence.findings),
        pictures=_pictures(config, evidence.claims),
        front=Picture(front.NAME, "What we found", front.alt()),
        criteria=evidence.criteria,
        studies=list(our_studies.of_project(config, compared)),
        progress=our_studies.progress(config, evidence.studies["progress"]),
        splits=false_calls.of_splits(evidence.studies["splits"]),
        called=false_calls.of_again(compared, rules.confidence),
        prices=prices.of_claims(config, evidence.claims, rules),
        settled=settled,
        measured_share=price.hours().measured_share,
        ladder=ladder(certainty),
        enough=certainty.enough_runs,
    )


def _questions(
    config: Config, rows: Sequence[Row], every: Mapping[str, Entry]
) -> dict[str, list[Question]]:
    """The questions by their paper; a paper without any is left out."""
    declared = load_questions(config)
    found: dict[str, list[Question]] = {name: [] for name in (SEVERAL, *config.papers)}
    for row in rows:
        claims = [every[one] for one in row["about"].split()]
        limits = declared[row["id"]][1].limits if row["id"] in declared else []
        found[row["paper"]].append(Question(row, claims, limits))
    return {name: questions for name, questions in found.items() if questions}


def _pictures(config: Config, claims: Sequence[Row]) -> list[Picture]:
    every = forest.rows(config, claims)
    captions = [forest.caption(forest.claims_of(rows)) for rows in (forest.short(every), every)]
    pictures = []
    for name, alt in zip(forest.NAMES, captions, strict=True):
        pictures.append(Picture(name, "Published effects and ours", alt))
    return [*pictures, Picture(our_studies.NAME, "Studies of our own", our_studies.CAPTION)]


def ladder(certainty: Certainty) -> list[Rung]:
    """The rules of certainty (config/certainty.yaml): each rung, its grade, and what lowers it."""
    rungs = []
    for rung, rule in certainty.rungs.items():
        lowered = []
        for grade in GRADES:
            why = [SHORTCOMINGS[one] for one, most in rule.at_most.items() if most == grade]
            lowered += [f"to {grade}: {'; '.join(why)}"] if why else []
        rungs.append(Rung(RUNGS[rung], rule.grade, ". ".join(lowered) or NOTHING))
    return rungs


# Of one scale


def artifacts_of(results: Results, paper: str) -> tuple[list[Shown], list[Missing]]:
    """The artifacts of a paper with results, those of exact studies first; and the others."""
    declared = results.config.papers[paper]
    made = results.with_numbers(paper)
    found = list[Shown]()
    missing = list[Missing]()
    for name, artifact in declared.artifacts.items():
        shown = show(results, paper, name) if name in made else None
        if shown and (shown.grid or results.drawing(paper, name).is_file()):
            found.append(shown)
        else:
            why = why_not_made(results.plan, paper, name) or NOT_MADE_YET
            reason = "measured, but not drawn yet" if shown else why
            missing.append(Missing(name, artifact.printed or "", artifact.title, reason))
    return sorted(found, key=lambda shown: shown.id in declared.measured), missing


def _scale(results: Results) -> Scale:
    config = results.config
    return Scale(
        name=config.scale_name,
        folder=config.results.name,
        level=config.scale.level,
        describe=config.scale.describe,
        notice=words.notice(config),
        seeds=_seeds(results.plan),
        device=words.distinct(results.runs["device"]),
        torch=words.distinct(results.runs["torch"]),
        runs=len(results.runs),
        undeclared=_undeclared_settings(results.plan),
    )


def _seeds(plan: Plan) -> str:
    """The seeds of tables and of sweeps; where all numbers come from records, the seeds that each arm has."""
    planned = plan.config.scale.seeds
    if plan.records is None:
        listed = notes.seeds(planned.tables)
        if planned.sweeps != planned.tables:
            listed += f"; in sweeps {notes.seeds(planned.sweeps)}"
        if planned.compared:
            listed += f", and of runs that sweeps compare {notes.seeds(planned.compared)}"
        return listed
    of_arm: dict[tuple[str, str, str], set[int]] = {}
    for cell in filter(is_made, plan.cells):
        of_arm.setdefault((cell.paper, cell.artifact, cell.text), set()).add(cell.run.seed)
    recorded = sorted(set().union(*of_arm.values()))
    return (
        notes.seeds(recorded, sorted(set(map(len, of_arm.values())))) if recorded else words.NOT_RUN
    )


def _undeclared_settings(plan: Plan) -> list[str]:
    """What the configuration does not declare, of each such record."""
    recorded = list(chain.from_iterable((plan.records or {}).values()))
    folder = Path(FOLDER) / plan.config.scale_name
    return list(undeclared_records(plan, recorded, folder)) if recorded else []
