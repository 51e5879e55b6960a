"""docs/reliability.md names its tests; code blocks that no other test runs; the page of objectives."""

import csv
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from hypersphere.config import claims, coordinates, project, registry
from hypersphere.config.questions import Question

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`([\w/]+\.py::\w+)`")
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_every_promise_has_a_test_and_a_control_and_every_test_that_is_named_exists(
    missing_tests: Callable[[list[str]], list[str]],
) -> None:
    named = NAMED.findall(PAGE)
    assert len(named) > 50
    assert missing_tests(named) == []
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert len(rows) > 40
    for row in rows:
        promise, test, control = (cell.strip() for cell in row.strip("|").split("|"))
        assert promise
        assert NAMED.search(test), row
        assert control, row


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def test_the_entry_point_is_that_of_the_example() -> None:
    (text,) = blocks("docs/adding_a_loss.md", "toml")
    example = tomllib.loads((ROOT / "examples" / "my_loss" / "pyproject.toml").read_text(encoding="utf-8"))
    assert tomllib.loads(text)["project"]["entry-points"] == example["project"]["entry-points"]


def test_the_claim_is_one_of_a_cell_of_the_block(tmp_path: Path) -> None:
    """The page leaves out the last columns and values, behind an ellipsis."""
    (text,), (block,) = (blocks("docs/adding_a_table.md", language) for language in ("csv", "yaml"))
    head, row = (line.rstrip("…").strip(",").split(",") for line in text.splitlines())
    columns = [name for name, field in claims.Claim.model_fields.items() if not field.exclude]
    assert head == [name for name in columns if name != "reported_n"][: len(head)]
    given = (
        dict.fromkeys(columns, "") | dict(zip(head, row, strict=False)) | {"reported": "50", "reading": claims.PRINTED}
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
    known = {one.id for one in claims.load(ROOT / "config" / "papers" / "embedding_norms" / "claims.csv")}
    assert {str(about["id"]) for about in question.about} <= known


def test_settings_and_datasets_are_those_that_a_project_takes(config_root: Path) -> None:
    papers, images = (*blocks("docs/own_paper.md", "yaml"), *blocks("data/README.md", "yaml"))
    assert yaml.safe_load(papers).keys() <= project.Settings.model_fields.keys()
    datasets = config_root / "config" / "datasets.yaml"
    datasets.write_text(datasets.read_text(encoding="utf-8") + images, encoding="utf-8")
    (name,) = yaml.safe_load(images)
    assert name in project.load(config_root, {}).datasets


@pytest.mark.parametrize(
    ("section", "kinds"),
    [("Losses", ["objectives"]), ("Maps", ["logits"]), ("Gradients", ["gradients", "initialisations"])],
)
def test_every_component_has_its_row(section: str, kinds: list[registry.Kind]) -> None:
    page = (ROOT / "docs" / "objectives.md").read_text(encoding="utf-8")
    (text,) = re.findall(rf"^## {section}[^\n]*\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| (`[^|]*)\|", text, re.MULTILINE)
    listed = sorted(name for row in rows for name in re.findall(r"`(\w+)`", row))
    assert listed == sorted(name for kind in kinds for name in registry.names(kind))
