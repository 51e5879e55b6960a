"""What an erratum says of the runs is what the released configuration resolves to at the published scale.

Each entry of ``runs`` (``Trained`` in config/errata.py) is compared with all cells that can be measured. An erratum
whose choice is of no field says so (``of``), and then neither its words nor the open choices may speak of runs.
"""

import re
from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import pytest
from pydantic import ValidationError

from hypersphere.config import registry
from hypersphere.config.cells import Cell
from hypersphere.config.coordinates import Scalar, alternatives
from hypersphere.config.errata import Erratum, Trained, load_errata
from hypersphere.config.project import SEVERAL
from hypersphere.config.run import Run

from .published import COMPONENTS, equal, fields, of_protocol, planned_cells
from .released import configured, released
from .test_hyperparameters import rows

ERRATA = {erratum.id: erratum for erratum in load_errata(configured("paper"))}
RUN = {name: erratum for name, erratum in ERRATA.items() if erratum.runs}
DATASETS = configured("paper").datasets
OF_RUNS = re.compile(
    r"\b(trained|(is|are) (not |never )?(run|implemented|evaluated)|by default|the default|an option|rows? of \w*_)"
)
"""Words by which a choice speaks of runs."""
CITED = re.compile(r"\b[MLNSDX]\d+[a-z]?\b")


class Planned(NamedTuple):
    """A cell, and all that it has by key or path: coordinates, fields of its run, its protocol, its artifact."""

    cell: Cell
    has: dict[str, Any]


@cache
def planned(paper: str) -> list[Planned]:
    """What can be measured of a paper at the published scale."""
    listed = []
    for cell in planned_cells(paper):
        if not cell.missing:
            named = {"paper": paper, "artifact": cell.artifact, **cell.coordinates}
            listed.append(Planned(cell, named | fields(cell.run) | of_protocol(cell)))
    return listed


def is_one_of(one: Scalar | None, given: Scalar | list[Scalar]) -> bool:
    """Whether a value is the given one, or one of those."""
    return any(equal(one, value) for value in alternatives(given))


def fits(has: dict[str, Any], asked: Mapping[str, Scalar | list[Scalar]]) -> bool:
    """Whether a value that is asked for is there at every key."""
    return all(is_one_of(has.get(key), given) for key, given in asked.items())


def could_have(one: Planned, path: str, given: Scalar) -> bool:
    """Whether a run takes a value at a path: one that is misspelt is no choice that nothing trains."""
    first, *rest = path.split(".")
    whole = one.cell.run.model_dump() if one.cell.run else {}
    if path not in one.has or first not in whole or not rest:
        return False
    if rest == ["name"]:
        return given in (registry.names(COMPONENTS[first]) if first in COMPONENTS else DATASETS)
    of_part, *parts, last = whole[first], *rest
    for part in parts:
        of_part = of_part[part]
    of_part[last] = given
    try:
        Run.model_validate(whole)
    except ValidationError:
        return False
    return True


def wrong(erratum: Erratum, said: Trained) -> list[str]:
    """Where the runs are not as an erratum says, in words."""
    papers = released("paper").config.papers
    meant: list[Planned] = []
    for paper in papers if erratum.document == SEVERAL else [erratum.document]:
        meant += [one for one in planned(paper) if fits(one.has, said.when)]
    if said.by == "all" and "artifact" not in said.when:
        meant = [one for one in meant if papers[one.cell.paper].measured[one.cell.artifact].printed]
    having = [one for one in meant if fits(one.has, said.set)]
    if said.by == "none":
        found = [f"{one.cell.artifact} {one.cell.text} has it" for one in having]
        for path, given in said.set.items():
            if not any(could_have(one, path, given) for one in meant):
                found.append(f"no run could have {path}={given}")
        return found
    found = []
    for one in meant if said.by == "all" else []:
        if not fits(one.has, said.set):
            found.append(f"{one.cell.artifact} {one.cell.text} does not have it")
    for key, values in said.when.items():  # a name that nothing has would narrow what is said
        for given in alternatives(values):
            if not any(equal(one.has.get(key), given) for one in having):
                found.append(f"no run that has it has {key}={given}")
    return found if having or found else ["no run has it"]


@pytest.mark.parametrize("name", RUN)
def test_what_an_erratum_says_is_run_is_what_is_run(name: str) -> None:
    """The control: with another value, and with the contrary quantity, no entry passes."""
    erratum = RUN[name]
    contrary = {"all": "none", "some": "none", "none": "some"}
    for one in erratum.runs:
        assert wrong(erratum, one)[:3] == [], one
        assert wrong(erratum, one.model_copy(update={"by": contrary[one.by]})), one
        for path in one.set:
            other = one.model_copy(update={"set": one.set | {path: "another"}})
            assert wrong(erratum, other), (one, path)


UNTRUE = [
    ("M1", {"when": {"variant": ["curv", "pos_curv"]}, "set": {"logits.curve": "equation_10"}}),
    ("M4", {"set": {"logits.scope": "row"}, "by": "none"}),
    ("M10", {"set": {"logits.beyond_pi": "monotone"}, "by": "none"}),
    (
        "M16",
        {"when": {"method": "simclr"}, "set": {"objective.negatives": "other_view"}, "by": "none"},
    ),
    ("M22", {"set": {"method.two_tau": True}, "by": "none"}),
    (
        "N18",
        {"when": {"artifact": "table2"}, "set": {"schedule.epochs": 100, "schedule.horizon": 100}},
    ),
]
"""What entries once said: that all runs have a reading, that none has it, or a schedule as long as what is reported."""


@pytest.mark.parametrize(("name", "said"), UNTRUE)
def test_what_entries_once_said_is_refused(name: str, said: dict[str, Any]) -> None:
    assert wrong(ERRATA[name], Trained.model_validate(said))


def test_a_choice_that_is_of_no_field_speaks_of_no_run() -> None:
    spoken = {
        name: one.chosen for name, one in ERRATA.items() if one.of and OF_RUNS.search(one.chosen)
    }
    assert spoken == {}


def test_what_settings_and_open_choices_cite_is_no_reading_of_a_text() -> None:
    speaking = [(row.paper, row.reading) for row in rows()]
    for name, paper in released("paper").config.papers.items():
        speaking += [(name, one.choice) for one in chain(*paper.open_choices.values())]
    cited = set()
    for paper, words in speaking:
        entries = [ERRATA[name] for name in CITED.findall(words) if name in ERRATA]
        # "Table S1" is no erratum
        cited |= {one.id for one in entries if one.document in (paper, SEVERAL)}
    assert cited & set(RUN)
    assert [name for name in cited if ERRATA[name].of == "text"] == []
