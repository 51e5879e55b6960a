"""What decides our studies is pinned, and records are known by it.

Each digest of study_plans.csv is of one part of what decides a study's answer. If a digest changes, look at what did.
Records with the study's old digest (the column ``digest``) then need it under the plan's ``earlier``, with a sentence
that says why they still count. Then:

    python -m tests.golden.test_study_plans --write
"""

import csv
import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hypersphere import files
from hypersphere.config import deciding, questions
from hypersphere.config.bare_code import behind
from hypersphere.config.study import Study

from .released import configured

ROOT = Path(__file__).resolve().parents[2]
PINNED = Path(__file__).with_name("study_plans.csv")
HEAD = ("study", *deciding.Deciding._fields, "digest")
CONFIG = configured("laptop")
STUDIES = {
    f"{paper}/{name}": (paper, name, study)
    for paper, document in CONFIG.papers.items()
    for name, study in document.studies.items()
}
STATISTICS = ROOT / "src" / "hypersphere" / "statistics"


def table() -> list[dict[str, str]]:
    found = ((name, CONFIG.decides[paper, study]) for name, (paper, study, _) in STUDIES.items())
    return [{"study": name, **parts._asdict(), "digest": parts.digest} for name, parts in found]


def recorded_plans() -> Iterator[tuple[str, str]]:
    """Every plan that a record of any scale names, as study and digest; a record of no study names none."""
    for file in sorted((ROOT / "evidence").glob("*/runs.csv")):
        with file.open(newline="", encoding="utf-8") as handle:
            for row in csv.DictReader(handle):
                for plan in filter(None, row["plan"].split(";")):
                    study, _, digest = plan.partition("=")
                    yield study, digest


def test_what_decides_a_study_is_pinned() -> None:
    assert table() == list(csv.DictReader(io.StringIO(PINNED.read_text(encoding="utf-8"))))


def test_a_finding_about_a_study_asks_its_question() -> None:
    asked = {
        f"{one.paper}/{one.study}": one.question
        for _, one in questions.load(CONFIG).values()
        if one.study
    }
    assert asked == {
        name: study.question for name, (_, _, study) in STUDIES.items() if name in asked
    }
    assert len(asked) > 3


def test_every_record_is_known_to_its_study_and_every_earlier_digest_to_a_record() -> None:
    """So no change of what decides loses a record in silence, and no sentence outlives its records."""
    carried: dict[str, set[str]] = {name: set() for name in STUDIES}
    for name, digest in recorded_plans():
        carried[name].add(digest)
    for name, (paper, study, declared) in STUDIES.items():
        known = {one.partition("=")[2] for one in CONFIG.plans(paper, study)}
        assert carried[name] <= known, name
        assert set(declared.earlier) <= carried[name], name


def test_a_digest_of_the_plan_alone_is_what_the_first_records_carry() -> None:
    """Of the studies whose declared plan never changed since: the digest was of nothing else then."""
    unchanged = {
        name for name, (_, _, declared) in STUDIES.items() if declared.digest in declared.earlier
    }
    assert unchanged == {"ours/step_size", "ours/confidence"}


def decided(name: str, root: Path = ROOT, folder: Path | None = None, **changed: Any) -> str:
    """The digest of a study under another root or in another document's folder, or with fields changed."""
    paper, study, declared = STUDIES[name]
    return deciding.of(
        root, folder or CONFIG.folders[paper], study, declared.model_copy(update=changed)
    ).digest


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_every_declared_field_decides_but_a_plans_history(name: str) -> None:
    before, answers = decided(name), STUDIES[name][2].answers
    changes: dict[str, Any] = dict.fromkeys(Study.model_fields, "another")
    for field, value in {
        **changes,
        "answers": answers.model_copy(update={"yes": "another"}),
    }.items():
        assert (decided(name, **{field: value}) == before) == (field in ("earlier", "closed")), (
            field
        )
    for field in type(answers).model_fields:
        assert decided(name, answers=answers.model_copy(update={field: {"no": {}}})) != before, (
            field
        )


def leaves(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, inner in value.items():
        yield from leaves(inner, (*place, key)) if isinstance(inner, dict) else [(*place, key)]


def test_every_number_of_the_rules_decides(tmp_path: Path) -> None:
    """And no comment does: the file is written anew without them."""
    before, written = (
        {name: decided(name) for name in STUDIES},
        files.read_yaml(ROOT / deciding.RULES),
    )
    for place in (None, *leaves(written)):
        changed = files.parse_yaml(files.canonical_json(written))
        if place is not None:
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] += 1
        files.write_text(tmp_path / deciding.RULES, files.canonical_json(changed))
        for name in STUDIES:
            assert (decided(name, tmp_path) == before[name]) == (place is None), (name, place)


def test_the_rule_of_a_study_decides_it_and_no_other_and_no_word_does(tmp_path: Path) -> None:
    """Each function in turn is changed in one operator; then every comment, type and docstring goes."""
    by_words = [
        name for name, (_, _, one) in STUDIES.items() if not (one.answers.numbers or one.closed)
    ]
    assert by_words
    for name in by_words:
        paper, study, _ = STUDIES[name]
        text = CONFIG.answers_file(paper).read_text(encoding="utf-8")
        start = text.index(f"def {study}(")
        end = text.index("\ndef ", start) if "\ndef " in text[start:] else len(text)
        before, operator, after = text[start:end].rpartition(" and ")
        assert operator
        files.write_text(
            tmp_path / deciding.ANSWERS, f"{text[:start]}{before} or {after}{text[end:]}"
        )
        for other in STUDIES:
            assert (decided(other, folder=tmp_path) == decided(other)) == (other != name)
        bare = behind(CONFIG.answers_file(paper), study)
        assert bare is not None
        assert '"""' not in bare
        files.write_text(tmp_path / deciding.ANSWERS, f"# reworded\n{bare}\n")
        assert decided(name, folder=tmp_path) == decided(name)


OPERATORS = {
    "of_study": ("yes == no", "yes != no"),
    "called": ('== "both"', '!= ""'),
    "adjusted": ('if row["in_family"]', 'if not row["in_family"]'),
    "by_numbers": ("<= counts[key] <=", "< counts[key] <"),
    "FLOORED": ('(True, False): "variant"', '(True, False): "both"'),
    "floor_of": ("not nearest >", "not nearest >="),
    "FLOORS": ("(PIXELS,", "("),
}
"""A change of each part that decides for all studies; the first uses ``called`` and ``adjusted``."""


def test_what_a_comparison_counts_as_and_which_arm_is_floored_decide_every_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a copy of statistics/, each of the named parts in turn."""
    before = {name: decided(name) for name in STUDIES}
    monkeypatch.setattr(deciding, "STATISTICS", tmp_path / "statistics")
    where = {name: module for module, name in deciding.COUNTED} | dict.fromkeys(
        ("called", "adjusted"), "answers.py"
    )
    assert where.keys() == OPERATORS.keys()
    for part, (old, new) in OPERATORS.items():
        shutil.copytree(STATISTICS, tmp_path / "statistics", dirs_exist_ok=True)
        assert {name: decided(name) for name in STUDIES} == before
        text = (STATISTICS / where[part]).read_text(encoding="utf-8")
        assert old in text, part
        files.write_text(tmp_path / "statistics" / where[part], text.replace(old, new))
        for name in STUDIES:
            assert decided(name) != before[name], (part, name)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    with PINNED.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table())
