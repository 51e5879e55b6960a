"""tests/promises.csv names its tests; what pages name is there; code blocks that no other test runs; objectives."""

import csv
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from hypersphere.config import claims, coordinates, project, registry
from hypersphere.config.artifacts import OpenChoice
from hypersphere.config.errata import Erratum
from hypersphere.config.questions import Question

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`([\w/]+\.py::\w+)`")


def test_every_promise_has_a_test_and_a_control_and_every_test_that_is_named_exists(
    missing_tests: Callable[[list[str]], list[str]],
) -> None:
    with (ROOT / "tests" / "promises.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 40
    for row in rows:
        assert all(row.values()), row
        assert NAMED.search(row["test"]), row
    assert missing_tests(NAMED.findall(f"{rows}")) == []


PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("*/README.md"),
]
PAGES += ROOT.glob("examples/*/README.md")
"""Without the history of changes, which names what is gone."""
TO_COME = {
    **{
        "src/hypersphere/objectives/chord.py": "docs/adding_a_loss.md",
        "papers/mine": "docs/own_paper.md",
    },
    "evidence/paper": "docs/running.md",
}
"""What a page tells its reader to make, or what a command makes, and the page."""


def inline(page: Path) -> list[str]:
    """What stands in a page's text as code."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return re.findall(r"`([^`\n]+)`", text)


def test_every_path_that_a_page_names_exists() -> None:
    """Paths from a folder of the repository, of its tests or of the page, and modules by their place in a package."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    tops = {name.partition("/")[0] for name in listed if "/" in name}
    packages = [
        "src/hypersphere",
        "tests",
        *(str(path.relative_to(ROOT)) for path in ROOT.glob("*/*/src/*/")),
    ]
    named, missing = set[str](), list[tuple[str, str]]()
    for page in PAGES:
        place = page.relative_to(ROOT).as_posix()
        for code in inline(page):
            path = code.partition("::")[0].rstrip("/")
            if not re.fullmatch(r"[\w.-]+(/[\w.-]+)+", path) or TO_COME.get(path) == place:
                continue
            known = path.partition("/")[0] in tops
            if not known and not path.endswith(".py"):  # a path of data or results, or no path
                continue
            bases = ["", "tests"] if known else packages
            named.add(path)
            if not any(
                (base / path).exists() for base in (page.parent, *(ROOT / base for base in bases))
            ):
                missing.append((place, path))
    made = subprocess.run(
        ["git", "check-ignore", "--stdin"],
        cwd=ROOT,
        input="\n".join(path if "." in path else f"{path}/" for _, path in missing),
        capture_output=True,
        text=True,
    ).stdout.split()
    assert len(named) > 50
    assert [
        (place, path) for place, path in missing if path not in made and f"{path}/" not in made
    ] == []


def test_every_rule_that_a_profile_or_a_page_names_is_one_of_the_workflow() -> None:
    files = [
        ROOT / "Snakefile",
        ROOT / "workflow" / "Snakefile",
        *ROOT.glob("workflow/rules/*.smk"),
    ]
    texts = [file.read_text(encoding="utf-8") for file in files]
    rules = {name for text in texts for name in re.findall(r"^ *rule (\w+):", text, re.MULTILINE)}
    named = dict[str, str]()
    for file in ROOT.glob("profiles/*/config.yaml"):  # an example in a comment, too
        for name in re.findall(
            r"^[# ]*- (\w+):\w+=", file.read_text(encoding="utf-8"), re.MULTILINE
        ):
            named[name] = str(file.relative_to(ROOT))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(
            r"--(?:until|omit-from|forcerun|set-resources|set-threads)[ =](\w+)", text
        ):
            named[name] = str(page.relative_to(ROOT))
        for name in re.findall(r"\brule `(\w+)`", text):
            named[name] = str(page.relative_to(ROOT))
    assert {"pretrain", "evaluate"} <= named.keys()
    assert {name: place for name, place in named.items() if name not in rules} == {}


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def test_the_entry_point_is_that_of_the_example() -> None:
    (text,) = blocks("docs/adding_a_loss.md", "toml")
    example = tomllib.loads(
        (ROOT / "examples" / "my_loss" / "pyproject.toml").read_text(encoding="utf-8")
    )
    assert tomllib.loads(text)["project"]["entry-points"] == example["project"]["entry-points"]


def test_the_example_has_every_file_of_configuration_and_our_rules() -> None:
    """Without one of them `hypersphere plan` and Snakemake refuse the example, as they did."""
    ours, example = ROOT / "config", ROOT / "examples" / "my_loss" / "config"
    names = {path.name for path in ours.glob("*.yaml")}
    assert names == {path.name for path in example.glob("*.yaml")}
    for name in ("certainty.yaml", "statistics.yaml"):
        assert (example / name).read_bytes() == (ours / name).read_bytes()


def test_the_claim_is_one_of_a_cell_of_the_block(tmp_path: Path) -> None:
    """The page leaves out the last columns and values, behind an ellipsis."""
    (text,), (block,) = (blocks("docs/adding_a_table.md", language) for language in ("csv", "yaml"))
    head, row = (line.rstrip("…").strip(",").split(",") for line in text.splitlines())
    columns = [name for name, field in claims.Claim.model_fields.items() if not field.exclude]
    assert head == [name for name in columns if name != "reported_n"][: len(head)]
    given = (
        dict.fromkeys(columns, "")
        | dict(zip(head, row, strict=False))
        | {"reported": "50", "reading": claims.PRINTED}
    )
    with (tmp_path / "claims.csv").open("w", newline="") as file:
        lines = csv.DictWriter(file, columns)
        lines.writeheader()
        lines.writerow(given)
    (claim,) = claims.load(tmp_path / "claims.csv")
    (name,) = (artifacts := yaml.safe_load(block)["artifacts"])
    assert claim.artifact == name
    asked = artifacts[name]
    cell = {**asked["rows"][1], **asked["columns"], **asked["fixed"], "measure": asked["measure"]}
    assert claim.coordinates.keys() == cell.keys()
    assert all(value == cell[key] or value in cell[key] for key, value in claim.coordinates.items())
    assert claim.setting == coordinates.text(
        {key: claim.coordinates[key] for key in coordinates.parse(claim.setting, "")}
    )


def test_the_question_is_one_that_a_file_of_findings_may_have() -> None:
    (text,) = blocks("docs/report.md", "yaml")
    (given,) = yaml.safe_load(text).values()
    question = Question.model_validate(given | {"paper": "embedding_norms"})
    known = {one.id for one in claims.load(ROOT / "papers" / "embedding_norms" / "claims.csv")}
    assert {str(about["id"]) for about in question.about} <= known


def test_scales_errata_and_datasets_are_those_that_a_project_takes(config_root: Path) -> None:
    at_scale, errata, open_choices = blocks("docs/own_paper.md", "yaml")
    (images,) = blocks("data/README.md", "yaml")
    shown = project.PaperScale.model_validate(yaml.safe_load(at_scale))
    assert shown.model_fields_set == set(project.PaperScale.model_fields)
    (erratum,) = yaml.safe_load(errata)
    Erratum.model_validate(erratum | {"document": "mine"})
    (choices,) = yaml.safe_load(open_choices).values()
    assert {
        field for one in choices["all"] for field in OpenChoice.model_validate(one).model_fields_set
    } == {*OpenChoice.model_fields}
    datasets = config_root / "config" / "datasets.yaml"
    datasets.write_text(datasets.read_text(encoding="utf-8") + images, encoding="utf-8")
    (name,) = yaml.safe_load(images)
    assert name in project.load(config_root, {}).datasets


@pytest.mark.parametrize(
    ("section", "kinds"),
    [
        ("Losses", ["objectives"]),
        ("Maps", ["logits"]),
        ("Gradients", ["gradients", "initialisations"]),
    ],
)
def test_every_component_has_its_row(section: str, kinds: list[registry.Kind]) -> None:
    page = (ROOT / "docs" / "objectives.md").read_text(encoding="utf-8")
    (text,) = re.findall(rf"^## {section}[^\n]*\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| (`[^|]*)\|", text, re.MULTILINE)
    listed = sorted(name for row in rows for name in re.findall(r"`(\w+)`", row))
    assert listed == sorted(name for kind in kinds for name in registry.names(kind))
