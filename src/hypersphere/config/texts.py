"""What is said beside the runs (claims, sentences, errata, findings, rules), checked before anything is trained.

Each file has a model of its own. Here is checked what one file says of another.
"""

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config import citation, claims, errata, questions, registry, rules, sentences
from hypersphere.config.artifacts import into_a_run
from hypersphere.config.certainty import load_certainty
from hypersphere.config.claims import SENTENCES, Claim
from hypersphere.config.coordinates import READINGS, of_run
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.config.validation import check_name, not_one_of, unknown_key
from hypersphere.errors import HypersphereError


def check(plan: Plan) -> None:
    """Read the rules, the citation and all that documents say, and check the names that one file uses of another."""
    config = plan.config
    rules.load(config.root)
    load_certainty(config.root)
    citation.read(config.root)
    listed = {paper: claims.of(config, paper) for paper in config.papers}
    for paper, of_paper in listed.items():
        _check_settings(config, paper, of_paper)
        _check_theorems(config, paper, of_paper)
        _check_shown(config, paper, of_paper)
        _check_sentences(config, paper, of_paper)
    _check_errata(config, listed)
    _check_questions(config, listed)


@cache
def statements(file: Path) -> tuple[str, ...]:
    """The ids of a document's statements, read from its theorems.py without importing torch; none without that file.

    ``STATEMENTS`` lists calls, of which the first argument is the id.
    """
    if not file.is_file():
        return ()
    listed = registry.definitions(file).get("STATEMENTS")
    if listed is None:
        raise HypersphereError(f"{file}: has no STATEMENTS")
    ids = []
    for node in ast.walk(listed):
        match node:
            case ast.Call(args=[ast.Constant(value=str(statement)), *_]):
                ids.append(statement)
    return tuple(ids)


def _check_settings(config: Config, paper: str, listed: list[Claim]) -> None:
    """Claims about tables and figures made from runs use coordinates that a cell can have.

    What a study measures is its own to name, so that claims about studies may have any key in their setting.
    """
    measured = config.papers[paper].measured
    for claim in listed:
        if claim.artifact not in measured or measured[claim.artifact].missing:
            continue
        named = {"setting": claim.coordinates, "baseline": claim.compared_with}
        for field, coordinates in named.items():
            for key in of_run(coordinates):
                if not into_a_run(key):
                    where = f"{config.claims_file(paper)}: {claim.id}: {field}: {key}"
                    allowed = unknown_key(key, READINGS[:-1])
                    raise HypersphereError(
                        f"{where}: {allowed}, and paths into the run (schedule.epochs)"
                    )


def _check_theorems(config: Config, paper: str, listed: list[Claim]) -> None:
    """Each theorem is a statement that can be checked, in the same reading."""
    theorems = config.theorems_file(paper)
    known = statements(theorems)
    for claim in listed:
        if claim.kind != "theorem":
            continue
        where = f"{config.claims_file(paper)}: {claim.id}"
        if claim.id not in known:
            raise HypersphereError(
                f"{where}: kind: no statement in {theorems}: {not_one_of(claim.id, known)}"
            )
        reading = claims.reading_of(claim.id)
        if claim.reading != reading:
            raise HypersphereError(
                f"{where}: reading: its statement is read '{reading}', not '{claim.reading}'"
            )


def _check_shown(config: Config, paper: str, listed: list[Claim]) -> None:
    """The claims that an artifact shows, and those that the report tells first, exist."""
    document = config.papers[paper]
    file = config.paper_file(paper)
    ids = [claim.id for claim in listed]
    for name, artifact in document.studied.items():
        for shown in artifact.shows:
            check_name(shown, ids, f"{file}: artifacts.{name}.shows")
    if document.report:
        theorems = [claim for claim in listed if claim.kind == "theorem"]
        printed = [claim.id for claim in theorems if claim.origin == "printed"]
        for erratum in document.report.gravest:
            check_name(erratum, printed, f"{file}: report.gravest")


def _check_sentences(config: Config, paper: str, listed: list[Claim]) -> None:
    """A document's sentences are claims, their cells are printed, and each claim of that kind has its sentence."""
    studied = config.papers[paper].studied
    of_sentences = [name for name, artifact in studied.items() if artifact.study == SENTENCES]
    file = config.sentences_file(paper)
    if not (of_sentences or file.is_file()):
        return
    with_sentence = {one.claim for one in sentences.check_sentences(config, paper, listed)}
    for claim in listed:
        if claim.artifact in of_sentences and claim.id not in with_sentence:
            raise HypersphereError(f"{file}: {claim.id}: this claim has no sentence here")


def _check_errata(config: Config, listed: Mapping[str, list[Claim]]) -> None:
    """What an erratum names as its tests exists: statements and claims by their ids, and tests by file and name."""
    known: set[str] = set()
    for paper, of_paper in listed.items():
        known.update(claim.id for claim in of_paper)
        known.update(statements(config.theorems_file(paper)))
    ledgers = config.files_named(errata.ERRATA)
    for erratum in errata.load_errata(config):
        for test in erratum.tests:
            where = f"{ledgers[erratum.document]}: {erratum.id}: tests: '{test}'"
            if "::" in test:
                if not _is_test(config.root, test):
                    raise HypersphereError(f"{where}: there is no such test")
            elif test not in known:
                raise HypersphereError(f"{where}: is neither a statement nor a claim")


def _is_test(root: Path, name: str) -> bool:
    """Whether a test such as ``tests/unit/test_docs.py::test_x`` is in the project, or in this checkout."""
    file, _, test = name.partition("::")
    function = re.escape(test.partition("[")[0])
    defined = re.compile(rf"^ *def {function}\(", re.MULTILINE)
    places = (root / file, registry.CHECKOUT / file)
    return any(defined.search(_source(place)) for place in places if place.is_file())


@cache
def _source(file: Path) -> str:
    return files.read_text(file)


def _check_questions(config: Config, listed: Mapping[str, list[Claim]]) -> None:
    """Each question of findings.yaml finds its claims, and names no number that they cannot have."""
    rows: dict[str, dict[str, Any]] = {}
    for paper, of_paper in listed.items():
        for claim in of_paper:
            fields = claim.model_dump(exclude={"level", "margin"})
            answering = claims.answering(config.papers[paper], claim)
            rows[claim.id] = {**fields, "paper": paper, "metric": claim.metric or "", **answering}
    for name, (file, question) in questions.load(config).items():
        where = f"{file}: {name}"
        leading = rows[questions.choose(where, question, rows).leading]
        also = {key: rows[claim] for key, claim in question.also.items()}
        questions.check_names(where, question, leading, also)
