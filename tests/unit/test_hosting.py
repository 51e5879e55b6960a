"""What a host shows or starts is right about the repository: workflows, forms, the catalog, the container.

None of it ran on its host (docs/untested.md). A workflow's steps are commands that `.ci/run` or other tests run here.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from hypersphere import files

from ..conftest import ROOT

WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
FORMS = sorted(ROOT.glob(".github/ISSUE_TEMPLATE/[!c]*.yml"))
COMMANDS = {".ci/run", "make setup", "make report", "make site"}
"""What a machine of a host may be told: our one list of what must pass, or a target."""


def read(path: Path) -> Any:
    """A file with all values as they are typed: `on` is a key, and other readers take it for a truth value."""
    return yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_our_own_commands_alone_on_a_python_that_we_admit(path: Path) -> None:
    workflow = read(path)
    assert {"name", "on", "permissions", "jobs"} <= workflow.keys()
    assert workflow["permissions"] == {"contents": "read"}
    admitted = SpecifierSet(files.read_toml(ROOT / "pyproject.toml")["project"]["requires-python"])
    for job in workflow["jobs"].values():
        assert job["runs-on"].startswith("ubuntu-")
        asked = [step["run"] for step in job["steps"] if "run" in step]
        assert asked
        assert set(asked) <= COMMANDS
        pythons = [step["with"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
        assert all(f"{one['python-version']}.9" in admitted for one in pythons)
        assert len(pythons) == 1
        assert job["steps"][0]["uses"].startswith("actions/checkout@")


def test_a_workflow_calls_what_a_change_must_pass_with_the_commits_that_it_looks_at() -> None:
    job = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["run"]
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    (since,) = re.findall(r"HEAD~(\d+)", (ROOT / ".ci" / "run").read_text())
    assert int(job["steps"][0]["with"]["fetch-depth"]) > int(since)


def test_every_command_of_a_workflow_is_there() -> None:
    assert {one.removeprefix("make ") for one in COMMANDS if one.startswith("make ")} <= targets()
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_asks_for_what_it_needs(path: Path) -> None:
    """By GitHub's page on the syntax of forms: each field has a type, an id of its own and a label."""
    form = read(path)
    assert {"name", "description", "body"} <= form.keys()
    kinds = {field["type"] for field in form["body"]}
    assert kinds <= {"input", "textarea", "dropdown"}
    names = [field["id"] for field in form["body"]]
    assert len(set(names)) == len(names)
    assert all(field["attributes"]["label"] for field in form["body"])
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_there_are_two_forms() -> None:
    assert [path.stem for path in FORMS] == ["number_differs", "paper_to_add"]


def test_the_catalog_finds_the_workflow_and_its_configuration() -> None:
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert usage["software-stack-deployment"] == {"conda": True}
    assert (ROOT / "environment.yml").is_file()
    assert (ROOT / "workflow" / "Snakefile").is_file()
    listed = (ROOT / "config" / "README.md").read_text()
    missing = [path.name for path in ROOT.glob("config/*.yaml") if f"`{path.name}`" not in listed]
    assert missing == []


def test_the_container_copies_what_is_there_and_calls_make() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ")]
    assert [name for names in copied for name in names if not (ROOT / name).exists()] == []
    # setup reads these, and the last line copies the rest
    needed = {"Makefile", "pyproject.toml", "requirements.lock", "workflow", "plugins", "src"}
    assert needed <= {name for names in copied[:-1] for name in names}
    called = {word for line in lines for word in re.findall(r"make\W+([a-z]+)", line)}
    assert {"setup", "report"} <= called
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {".venv", "results", "data/raw"} <= set(ignored)


def test_the_devcontainer_is_a_stage_of_the_container() -> None:
    about = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    build = about["build"]
    file = ROOT / ".devcontainer" / build["dockerfile"]
    assert re.search(rf"^FROM \S+ AS {build['target']}$", file.read_text(), flags=re.MULTILINE)
    assert about["postCreateCommand"] == "make setup"
