"""The sentences of findings: what they say follows from the evidence, and nothing else does."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hypersphere.config import questions as asked
from hypersphere.config.certainty import RUNGS
from hypersphere.config.rules import Verdict
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.report import findings
from hypersphere.statistics.confirmed import TABLES

from ...golden.released import configured
from . import made_up, reading

RELEASED = configured()
NO_STUDIES = {name: pd.DataFrame(columns=list(kinds)) for name, kinds in TABLES.items()}
NOTHING: dict[str, Any] = {
    "rung": "nothing",
    "answer": "not tested",
    "certainty": "none",
    "verdict": "not run",
}
COUNTS = "Counted: {holds} {direction_only} {fails} {opposite} {cannot_tell} {not_tested} of {all}"
HEADLINES = dict.fromkeys(map(str, asked.OUTCOMES), COUNTS)
QUESTION: dict[str, Any] = {"question": "Does it?", "about": [{"id": "c*"}], "headline": HEADLINES}


def claim(place: int, answer: str = "holds", **changed: Any) -> dict[str, Any]:
    """A comparison of which small encoders say something; its effect is of no other claim."""
    named = {"metric": "knn_top1", "source": f"Table {place}", "answer": answer, "certainty": "low"}
    return made_up.comparison(f"c{place}", 4.6, place + 0.5, 0.5, **named | changed)


def removed(one: dict[str, Any]) -> dict[str, Any]:
    """The claim without any evidence."""
    return one | {name: made_up.EMPTY[name] for name in columns.LADDER if name != "id"} | NOTHING


def answered(root: Path, claims: Sequence[dict[str, Any]], **changed: Any) -> dict[str, Any]:
    """The row of findings.csv of one question."""
    (root / "margins").mkdir(exist_ok=True)
    (root / "margins" / asked.FILE).write_text(
        yaml.safe_dump({"q": QUESTION | changed}, allow_unicode=True), encoding="utf-8"
    )
    folders = {paper: root / paper for paper in RELEASED.papers}
    config = RELEASED.model_copy(update={"root": root, "folders": folders})
    (row,) = tables.rows(findings.table_of(config, pd.DataFrame(claims), {}))
    return row


EACH = [*map(str, asked.OUTCOMES)]
ANSWERS = st.lists(st.sampled_from(EACH), min_size=1, max_size=7)
QUIETLY = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


@QUIETLY
@given(answers=ANSWERS)
def test_outcomes_are_what_all_or_most_claims_say(tmp_path: Path, answers: list[str]) -> None:
    claims = [claim(place, answer) for place, answer in enumerate(answers)]
    every, most = (answered(tmp_path, claims, rule=rule) for rule in ("all", "most"))
    assert (every["outcome"] == "holds") == (set(answers) == {"holds"})
    against = {"fails", "opposite"} & set(answers)
    untested = set(answers) == {"not tested"}
    unknown = {"cannot tell", "not tested"} & set(answers)
    assert (every["outcome"] == "cannot tell") == (not against and bool(unknown) and not untested)
    assert (every["outcome"] == "not tested") == untested
    assert (every["outcome"] == "opposite") == ("opposite" in answers)
    assert (every["outcome"] == "direction only") == (
        "direction only" in answers and set(answers) <= {"holds", "direction only"}
    )
    if most["outcome"] != "cannot tell":
        assert answers.count(most["outcome"]) > len(answers) / 2
    assert [every[name.replace(" ", "_")] for name in EACH] == [
        answers.count(name) for name in EACH
    ]
    counted = [answers.count(name) or "none" for name in EACH]
    assert every["headline"] == f"Counted: {' '.join(map(str, counted))} of {len(answers)}"
    assert every["sentence"].startswith(every["headline"])


@QUIETLY
@given(answers=ANSWERS, data=st.data())
def test_without_its_record_a_sentence_loses_the_number_or_the_build_fails(
    tmp_path: Path, answers: list[str], data: st.DataObject
) -> None:
    claims = [claim(place, answer) for place, answer in enumerate(answers)]
    gone = data.draw(st.sampled_from(range(len(claims))))
    effect = f"+{gone}.5"
    says = dict.fromkeys(EACH, "It is {effect} here.")
    assert effect in answered(tmp_path, claims, says=says, leading=f"c{gone}")["sentence"].split()
    claims[gone] = removed(claims[gone])
    with pytest.raises(HypersphereError):
        answered(tmp_path, claims, says=says, leading=f"c{gone}")
    assert effect not in answered(tmp_path, claims)["sentence"].split()


@pytest.mark.parametrize("rung", [rung for rung in RUNGS if rung not in ("nothing", "own_table")])
def test_small_encoders_are_said_to_be_small(tmp_path: Path, rung: str) -> None:
    """By whatever its headline says, and by what encoders gave."""
    headlines = HEADLINES | {"holds": "It does, for {encoders}."}
    if rung in findings.SIZES:
        found = answered(tmp_path, [claim(1, rung=rung)], headline=headlines)
        assert ("small" in found["headline"]) == (rung == "laptop")
        assert found["sentence"].count("mall encoders") == 2 * (rung == "laptop")
    else:
        with pytest.raises(HypersphereError):
            answered(tmp_path, [claim(1, rung=rung)], headline=headlines)
    with_holds = {name: HEADLINES[name] for name in ("holds", "fails")}
    assert (
        answered(tmp_path, [removed(claim(1))], headline=with_holds)["sentence"]
        == "We have not tested this yet."
    )


def test_the_places_of_all_claims_are_counted_together(tmp_path: Path) -> None:
    """By hand: 3 of 4 places and all of 4, as percentages; the third claim is of no places."""
    shares = [
        claim(place, metric="share", measured=held, n=4.0)
        for place, held in ((1, "75"), (2, "100"))
    ]
    headline = HEADLINES | {"holds": "It holds in {k_all} of {n_all} places."}
    found = answered(tmp_path, [*shares, claim(3)], headline=headline)
    assert found["headline"] == "It holds in 7 of 8 places."


def test_a_group_is_counted_beside_the_claims_that_answer(tmp_path: Path) -> None:
    grouped = {"about": [{"id": "c1"}], "groups": {"others": {"id": ["c2", "c3"]}}}
    headline = HEADLINES | {"holds": "{others.fails} of {others.all} others fail."}
    found = answered(
        tmp_path, [claim(1), claim(2, "fails"), claim(3)], headline=headline, **grouped
    )
    assert found["headline"] == "1 of 2 others fail."


def test_what_is_published_stands_beside_what_encoders_gave_and_not_beside_computations(
    tmp_path: Path,
) -> None:
    """Published are 4.6 of both; ours are the made-up effects."""
    one = answered(tmp_path, [claim(1)])["sentence"]
    both = answered(tmp_path, [claim(1), claim(2), removed(claim(3))])["sentence"]
    assert "The paper publishes +4.6. Small encoders on real images give +1.5 [" in one
    assert both.endswith("Small encoders on real images give +1.5 to +2.5 in 2 of 3 comparisons.")
    assert (
        "give" not in answered(tmp_path, [claim(1, answered_by="study", rung="exact")])["sentence"]
    )


def test_an_arm_that_learnt_nothing_is_named(tmp_path: Path) -> None:
    level = claim(1, "cannot tell", floored="both")
    assert "raw pixels" in answered(tmp_path, [level, claim(2)])["sentence"]
    assert "raw pixels" not in answered(tmp_path, [claim(1, "cannot tell"), claim(2)])["sentence"]


def test_a_sentence_is_added_to_any_outcome_while_it_has_its_numbers(tmp_path: Path) -> None:
    adds = {"about": [{"id": "c1"}], "also": {"best": "c2"}, "adds": "At its best: {best.effect}."}
    for answer in ("holds", "fails"):
        shown = answered(tmp_path, [claim(1, answer), claim(2)], **adds)["sentence"]
        assert shown.endswith("At its best: +2.5.")
        assert shown.startswith(
            answered(tmp_path, [claim(1, answer), removed(claim(2))], **adds)["sentence"]
        )
        for lacking in (removed(claim(2)), claim(2, n_missing=1.0)):
            assert (
                "At its best"
                not in answered(tmp_path, [claim(1, answer), lacking], **adds)["sentence"]
            )


def test_a_table_of_its_own_counts_for_questions_on_the_text_alone(tmp_path: Path) -> None:
    borne = [claim(1, str(Verdict.BORNE)), claim(2, str(Verdict.CONTRADICTED))]
    assert answered(tmp_path, borne[:1])["outcome"] == "holds"
    assert answered(tmp_path, borne)["outcome"] == "fails"
    assert answered(tmp_path, [borne[0], claim(3, "holds")])["outcome"] == "cannot tell"


def test_each_arm_of_a_study_is_named_by_all_that_it_is() -> None:
    called = ["ahead; beyond", "ahead; level", "level; behind", "behind", "ahead", "", ""]
    arm = "method=simclr;variant={}"
    rows = [
        {
            "coordinates": arm.format(f"v{at}"),
            "baseline": arm.format("default"),
            "called": one,
            "floored": "",
        }
        for at, one in enumerate(called)
    ]
    rows[-1] |= {"floored": "both"}
    found = findings.arms(RELEASED, "ours", rows)
    for name in ("ahead", "beyond", "level", "behind"):
        expected = ", ".join(f"v{at}" for at, own in enumerate(called) if name in own.split("; "))
        assert found[f"which_{name}"] == expected
    assert (found["which_open"], found["which_unread"]) == ("v5", "v6")
    assert set(findings.arms(RELEASED, "ours", []).values()) == {"none"}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [("yes", "holds"), ("no", "fails"), *((one, "cannot tell") for one in ("unclear", ""))],
)
def test_a_question_about_a_study_has_its_answer(
    unrecorded: pd.DataFrame, answer: str, outcome: str
) -> None:
    """The headline is that of the answer."""
    claims = pd.DataFrame([evidence(row, "holds") for row in tables.rows(unrecorded)])
    answers = pd.DataFrame([{"paper": "ours", "study": "step_size", "answer": answer}])
    found = (
        findings.table_of(RELEASED, claims, NO_STUDIES | {"answers": answers})
        .set_index("id")
        .loc["step_size"]
    )
    headlines = {
        str(outcome): text
        for outcome, text in asked.load(RELEASED)["step_size"][1].headline.items()
    }
    general = findings.GENERAL | findings.OF_STUDY
    headline = (general | headlines)[str(findings.ANSWERS[answer])]
    assert found["outcome"] == outcome
    assert found["headline"].startswith(headline.split("{")[0])


SLIPS: dict[str, tuple[str, dict[str, Any]]] = {
    "neither claims nor study": ("q.about", {"about": []}),
    "claims and study": ("q.about", {"study": "s"}),
    "no such study": (
        "q: study",
        {
            "about": [],
            "study": "s",
            "headline": dict.fromkeys(("holds", "fails", "unclear"), "a"),
        },
    ),
    "an outcome that no study has": (
        "q.headline.opposite",
        {
            "about": [],
            "study": "s",
            "headline": HEADLINES | {"unclear": "a"},
        },
    ),
    "an outcome that only a study has": (
        "q.headline.unclear",
        {"headline": HEADLINES | {"unclear": "a"}},
    ),
    "a headline too few": (
        "q.headline",
        {"headline": {name: "yes" for name in HEADLINES if name != "fails"}},
    ),
    "a name too many": ("q.headline.holds", {"headline": HEADLINES | {"holds": "{size_of}"}}),
    "a name too many in how we know": ("q.says.holds", {"says": {"holds": "{size_of}"}}),
    "a number of no other claim": ("q.says.holds", {"says": {"holds": "{other.effect}"}}),
    "no number of another claim": (
        "q.says.holds",
        {"says": {"holds": "{other.k_all}"}, "also": {"other": "c2"}},
    ),
    "no number of a group": (
        "q.says.holds",
        {
            "says": {"holds": "{others.effect}"},
            "groups": {"others": {"id": "c2"}},
        },
    ),
    "a group without claims": ("q: groups.others", {"groups": {"others": {"id": "d*"}}}),
    "a group with the name of a claim": (
        "q.groups.other",
        {
            "groups": {"other": {"id": "c2"}},
            "also": {"other": "c2"},
        },
    ),
    "a name too many in what is added": ("q.adds", {"adds": "{size_of}"}),
    "no counterexample": (
        "q: says.holds: {counterexample}",
        {"says": {"holds": "{counterexample}"}},
    ),
    "no claims that fail": ("q: says.holds: {which_fail}", {"says": {"holds": "{which_fail}"}}),
    "no leading claim": ("q: leading", {"leading": "d1"}),
    "no other claim": ("q: also.other", {"also": {"other": "d1"}}),
    "no claim": ("q: about.1", {"about": [{"id": "c*"}, {"id": "d*"}]}),
    "no field": ("q.about.0.colour", {"about": [{"colour": "red"}]}),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_the_file_is_one_sentence(tmp_path: Path, refused: Any, slip: str) -> None:
    place, change = SLIPS[slip]
    with refused("margins/findings.yaml", place):
        answered(tmp_path, [claim(1), claim(2)], **change)


# The file of the repository


def test_a_few_questions_lead_in_an_order_and_no_number_is_typed_that_the_evidence_has() -> None:
    """Names may have digits: Table 5, Theorem 3.4, ImageNet-100, DM3, MoCo v3, and settings that no claim measures."""
    file = {name: one for name, (_, one) in asked.load(RELEASED).items()}
    leads = [one.lead for one in file.values() if one.lead]
    places = sorted(lead for lead in leads if isinstance(lead, int))
    assert places == list(range(1, len(places) + 1))
    assert leads.count("not known") == 1
    for name, one in file.items():
        for where, sentence in one.sentences().items():
            text = re.sub(
                r"(Table|Theorem|Lemma|cut by|s =) [\d.]+", "", re.sub(r"{.*?}", "", sentence)
            )
            assert not re.search(r"(?<![\w-])[+−]?\d", text), f"{name}: {where}: {sentence}"


def test_without_evidence_no_question_is_answered(unrecorded: pd.DataFrame) -> None:
    bare = pd.DataFrame([removed(row) for row in tables.rows(unrecorded)])
    assert set(findings.table_of(RELEASED, bare, NO_STUDIES)["outcome"]) == {
        "cannot tell",
        "not tested",
    }


MADE_UP = {"measured": "50", "low": 49.0, "high": 51.0, "n": 4.0, "n_missing": 0.0, "draws": 10.0}
TEXT = {"holds": Verdict.BORNE, "fails": Verdict.CONTRADICTED}


def evidence(row: dict[str, Any], outcome: str) -> dict[str, Any]:
    """The claim with made-up evidence for an outcome."""
    rung = {"encoder": "laptop", "theorem": "proof", "sentence": "own_table"}.get(
        row["answered_by"], "exact"
    )
    answer = str(TEXT.get(outcome, outcome)) if row["answered_by"] == "sentence" else outcome
    counterexample = '{"t": 1.0, "left": 1.5, "right": 1.0}' if outcome == "fails" else ""
    found = {
        "rung": rung,
        "certainty": "low",
        "answer": answer,
        "counterexample": counterexample,
        "source": "Table",
    }
    return row | MADE_UP | found


@pytest.mark.parametrize("outcome", ["holds", "fails", "opposite"])
def test_every_sentence_has_its_numbers_where_there_is_evidence(
    unrecorded: pd.DataFrame, outcome: str
) -> None:
    """Each question of the repository, with made-up evidence for one outcome. What a study fixed has numbers too."""
    made = [evidence(row, outcome) for row in tables.rows(unrecorded)]
    found = findings.table_of(RELEASED, pd.DataFrame(made), NO_STUDIES).set_index("id")["outcome"]
    fixed = [name for name, (_, one) in asked.load(RELEASED).items() if one.study]
    assert fixed
    assert {name: its for name, its in found.drop(fixed).items() if its != outcome} == {}


# What a tired reader must not read twice

MOST_IN_HEADLINE = 30
MOST_IN_SENTENCE = 35
NUMBERS_IN_HEADLINE = 3


def test_each_rule_of_reading_refuses_something() -> None:
    assert reading.hard_to_read("It is so. It has three of four.", 5) == []
    for text in (
        "It is far too long here.",
        "It is: a: b.",
        "It is in 0 of 3.",
        "Of the whole.",
        "It is no gain.",
    ):
        assert reading.hard_to_read(text, 5), text


@pytest.mark.parametrize("number", ["none", "one", "three", "all"])
@pytest.mark.parametrize("outcome", [outcome for outcome in EACH if outcome != "not tested"])
def test_each_sentence_can_be_read_aloud(
    unrecorded: pd.DataFrame, outcome: str, number: str
) -> None:
    """With evidence for an outcome on so many claims of each question, and nothing on all other claims."""
    rows = {str(row["id"]): removed(row) for row in tables.rows(unrecorded)}
    hard = []
    for name, (file, question) in asked.load(RELEASED).items():
        about = asked.choose(name, question, rows).about
        many = {"none": 0, "one": 1, "three": 3, "all": len(about)}[number]
        listed = rows | {one: evidence(rows[one], outcome) for one in about[:many]}
        for answer in ("yes", "no", "unclear", "") if question.study else ("",):
            answers = pd.DataFrame(
                [{"paper": question.paper, "study": question.study or "", "answer": answer}]
            )
            finding = findings.Finding(
                RELEASED, f"{file}: {name}", question, listed, NO_STUDIES | {"answers": answers}
            )
            try:
                row = finding.row()
            # a sentence that needs a number which so little evidence does not have
            except HypersphereError:
                continue
            if len(reading.numbers(row["headline"])) > NUMBERS_IN_HEADLINE:
                hard.append(f"{name}: too many numbers: {row['headline']}")
            hard += [
                f"{name}: {one}" for one in reading.hard_to_read(row["headline"], MOST_IN_HEADLINE)
            ]
            hard += [
                f"{name}: {one}" for one in reading.hard_to_read(row["sentence"], MOST_IN_SENTENCE)
            ]
    assert not hard, "\n".join(dict.fromkeys(hard))
