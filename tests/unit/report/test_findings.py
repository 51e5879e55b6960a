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
from hypersphere.config.rules import RUNGS, Verdict
from hypersphere.errors import HypersphereError
from hypersphere.provenance import columns, tables
from hypersphere.report import findings
from hypersphere.statistics.confirmed import TABLES

from ...golden.released import configured
from . import made_up

RELEASED = configured()
NO_STUDIES = {name: pd.DataFrame(columns=list(kinds)) for name, kinds in TABLES.items()}
NOTHING: dict[str, Any] = {"rung": "nothing", "answer": "not tested", "certainty": "none", "verdict": "not run"}
COUNTS = "{ours}: {holds} {direction_only} {fails} {opposite} {cannot_tell} {not_tested} of {all}"
SAYS = dict.fromkeys(map(str, asked.OUTCOMES[:-1]), COUNTS)
QUESTION: dict[str, Any] = {"question": "Does it?", "about": [{"id": "c*"}], "says": SAYS}


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
QUIETLY = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


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
    assert [every[name.replace(" ", "_")] for name in EACH] == [answers.count(name) for name in EACH]
    counted = [answers.count(name) or "none" for name in EACH]
    if every["outcome"] in SAYS:
        assert every["sentence"].endswith(f"{' '.join(map(str, counted))} of {len(answers)}")


@QUIETLY
@given(answers=ANSWERS, data=st.data())
def test_without_its_record_a_sentence_loses_the_number_or_the_build_fails(
    tmp_path: Path, answers: list[str], data: st.DataObject
) -> None:
    claims = [claim(place, answer) for place, answer in enumerate(answers)]
    gone = data.draw(st.sampled_from(range(len(claims))))
    effect = f"+{gone}.5"
    says = dict.fromkeys(EACH, "{effect} {ours}")
    assert effect in answered(tmp_path, claims, says=says, leading=f"c{gone}")["sentence"].split()
    claims[gone] = removed(claims[gone])
    with pytest.raises(HypersphereError):
        answered(tmp_path, claims, says=says, leading=f"c{gone}")
    assert effect not in answered(tmp_path, claims)["sentence"].split()


@pytest.mark.parametrize("rung", [rung for rung in RUNGS if rung not in ("nothing", "own_table")])
def test_small_encoders_are_said_to_be_small(tmp_path: Path, rung: str) -> None:
    sentence = answered(tmp_path, [claim(1, rung=rung)])["sentence"]
    assert ("small" in sentence) == (rung == "laptop")
    assert answered(tmp_path, [removed(claim(1))])["sentence"] == "This has not been tested yet."


def test_an_arm_that_learnt_nothing_is_named(tmp_path: Path) -> None:
    level = claim(1, "cannot tell", floored="both")
    assert "raw pixels" in answered(tmp_path, [level, claim(2)])["sentence"]
    assert "raw pixels" not in answered(tmp_path, [claim(1, "cannot tell"), claim(2)])["sentence"]


def test_a_sentence_is_added_to_any_outcome_while_it_has_its_numbers(tmp_path: Path) -> None:
    adds = {"about": [{"id": "c1"}], "also": {"best": "c2"}, "adds": "At its best: {best.effect}."}
    for answer in ("holds", "fails"):
        shown = answered(tmp_path, [claim(1, answer), claim(2)], **adds)["sentence"]
        assert shown.endswith("At its best: +2.5.")
        assert shown.startswith(answered(tmp_path, [claim(1, answer), removed(claim(2))], **adds)["sentence"])
        for lacking in (removed(claim(2)), claim(2, n_missing=1.0)):
            assert "At its best" not in answered(tmp_path, [claim(1, answer), lacking], **adds)["sentence"]


def test_a_table_of_its_own_counts_for_questions_on_the_text_alone(tmp_path: Path) -> None:
    borne = [claim(1, str(Verdict.BORNE)), claim(2, str(Verdict.CONTRADICTED))]
    assert answered(tmp_path, borne[:1])["outcome"] == "holds"
    assert answered(tmp_path, borne)["outcome"] == "fails"
    assert answered(tmp_path, [borne[0], claim(3, "holds")])["outcome"] == "cannot tell"


def test_each_arm_of_a_study_is_named_by_all_that_it_is() -> None:
    called = ["ahead; beyond", "ahead; level", "level; behind", "behind", "ahead", "", ""]
    arm = "method=simclr;variant={}"
    rows = [
        {"coordinates": arm.format(f"v{at}"), "baseline": arm.format("default"), "called": one, "floored": ""}
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
def test_a_question_about_a_study_has_its_answer(unrecorded: pd.DataFrame, answer: str, outcome: str) -> None:
    """The sentence is the one of that answer."""
    answers = pd.DataFrame([{"paper": "ours", "study": "step_size", "answer": answer}])
    found = findings.table_of(RELEASED, unrecorded, NO_STUDIES | {"answers": answers}).set_index("id").loc["step_size"]
    said = {"yes": "holds", "no": "fails", "": "cannot tell"}.get(answer, answer)
    (_, asked_of) = asked.load(RELEASED)["step_size"]
    assert found["outcome"] == outcome
    assert found["sentence"].startswith(asked_of.says[said].split("{")[0])


SLIPS: dict[str, dict[str, Any]] = {
    "neither claims nor study": {"about": []},
    "claims and study": {"study": "s"},
    "no such study": {"about": [], "study": "s", "says": dict.fromkeys({*SAYS, "unclear"} - {"opposite"}, "a")},
    "no outcome of a study": {"about": [], "study": "s", "says": SAYS},
    "a sentence too few": {"says": {name: "yes" for name in SAYS if name != "fails"}},
    "a name too many": {"says": SAYS | {"holds": "{size_of}"}},
    "a number of no other claim": {"says": SAYS | {"holds": "{other.effect}"}},
    "no number of another claim": {"says": SAYS | {"holds": "{other.ours}"}, "also": {"other": "c2"}},
    "a name too many in what is added": {"adds": "{size_of}"},
    "no counterexample": {"says": SAYS | {"holds": "{counterexample}"}},
    "no claims that fail": {"says": SAYS | {"holds": "{which_fail}"}},
    "no leading claim": {"leading": "d1"},
    "no other claim": {"also": {"other": "d1"}},
    "no claim": {"about": [{"id": "c*"}, {"id": "d*"}]},
    "no field": {"about": [{"colour": "red"}]},
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_the_file_is_one_sentence(tmp_path: Path, refused: Any, slip: str) -> None:
    with refused():
        answered(tmp_path, [claim(1), claim(2)], **SLIPS[slip])


# The file of the repository


def test_a_few_questions_lead_in_an_order_and_no_number_is_typed_that_the_evidence_has() -> None:
    """Names may have digits: Table 5, Theorem 3.4, ImageNet-100, DM3."""
    file = {name: one for name, (_, one) in asked.load(RELEASED).items()}
    assert len(file) >= 28
    leads = sorted(one.lead for one in file.values() if one.lead)
    assert leads == list(range(1, len(leads) + 1))
    assert 4 <= len(leads) <= 6
    for name, one in file.items():
        for sentence in one.says.values():
            text = re.sub(r"(Table|Theorem|Lemma) [\d.]+", "", re.sub(r"{.*?}", "", sentence))
            assert not re.search(r"(?<![\w-])[+−]?\d", text), f"{name}: {sentence}"


def test_without_evidence_no_question_is_answered(unrecorded: pd.DataFrame) -> None:
    bare = pd.DataFrame([removed(row) for row in tables.rows(unrecorded)])
    assert set(findings.table_of(RELEASED, bare, NO_STUDIES)["outcome"]) == {"cannot tell", "not tested"}


@pytest.mark.parametrize("outcome", ["holds", "fails", "opposite"])
def test_every_sentence_has_its_numbers_where_there_is_evidence(unrecorded: pd.DataFrame, outcome: str) -> None:
    """Each question of the repository, with made-up evidence for one outcome. What a study fixed has numbers too."""
    text = {"holds": Verdict.BORNE, "fails": Verdict.CONTRADICTED}
    numbers = {"measured": "50", "low": 49.0, "high": 51.0, "n": 4.0, "n_missing": 0.0, "draws": 10.0}
    counterexample = '{"t": 1.0, "left": 1.5, "right": 1.0}' if outcome == "fails" else ""
    made = []
    for row in tables.rows(unrecorded):
        answer = str(text.get(outcome, outcome)) if row["artifact"] == "sentences" else outcome
        found = {"rung": "exact", "certainty": "high", "answer": answer, "counterexample": counterexample}
        made.append(row | numbers | found)
    found = findings.table_of(RELEASED, pd.DataFrame(made), NO_STUDIES).set_index("id")["outcome"]
    fixed = [name for name, (_, one) in asked.load(RELEASED).items() if one.study]
    assert fixed
    assert set(found.drop(fixed)) == {outcome}
