"""YAML without surprises, compared with PyYAML's safe loader, an independent reader, where both agree."""

from pathlib import Path

import pytest
import yaml

from hypersphere.strict_yaml import DEEPEST, LARGEST, MOST_VALUES, InvalidYamlError, parse

REPOSITORY = Path(__file__).parents[2]
FILES = [*sorted(REPOSITORY.glob("config/**/*.yaml")), REPOSITORY / "paper" / "errata.yaml"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_projects_own_files_mean_what_pyyaml_says(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert parse(text) == yaml.load(text, Loader=yaml.CSafeLoader)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: 1", {"a": 1}),
        ("a: 1e-3", {"a": 0.001}),  # YAML 1.2; PyYAML reads text
        ("a: -2E+5", {"a": -200000.0}),
        ("a: 1.0e-3", {"a": 0.001}),
        ("a: 2024-01-02", {"a": "2024-01-02"}),  # PyYAML makes a date
        ("a: 2024-13-45", {"a": "2024-13-45"}),  # PyYAML fails
        ("a: &x {b: 1}\nc: {<<: *x, b: 2}", {"a": {"b": 1}, "c": {"b": 2}}),
        ("[true, null, .inf, 'x']", [True, None, float("inf"), "x"]),
        ("!!str 5", "5"),
    ],
)
def test_values(text: str, value: object) -> None:
    parsed = parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: 2\na: 3", "line 3: the key 'a' is given twice, first on line 1"),
        ("a: {b: 1, b: 1}", "line 1: the key 'b' is given twice"),
        ("- {x: {y: 1}, x: 2}", "line 1: the key 'x' is given twice"),
        ("a: !!python/object/apply:os.system [ls]", "line 1: the tag !!python/object/apply:os.system is not allowed"),
        ("a: !!timestamp 2024-01-02", "line 1: the tag !!timestamp is not allowed"),
        ("a: !mine 1", "line 1: the tag !mine is not allowed"),
        ("a:\n  - &x [*x]", "line 2: an alias refers to the value that holds it"),
        (BOMB, f"more than {MOST_VALUES:,} values, with aliases written out"),
        ("[" * 100_000, f"line 1: values are nested more than {DEEPEST} levels deep"),
        ("- " * 100_000, f"line 1: values are nested more than {DEEPEST} levels deep"),
        ("x" * (LARGEST + 1), f"{LARGEST + 1:,} characters, more than {LARGEST:,}"),
        ("? [a]\n: 1", "line 1: a key must be a single word or number"),
        ("a: [", "line 2, column 1: did not find expected node content"),
        ("a: b: c", "line 1, column 5: mapping values are not allowed"),
        ("a: \0", "control characters are not allowed"),
        ("--- 1\n--- 2", "expected a single document in the stream, but found another document"),
        (f"a: {'9' * 5000}", "limit"),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidYamlError) as caught:
        parse(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_alias_that_unfolds_to_little_is_allowed() -> None:
    """The control of the bomb: the same form, with two levels fewer, has a tenth of the values that are allowed."""
    short = "".join(BOMB.splitlines(keepends=True)[:4])
    assert len(str(parse(short))) > 9**4
