"""``pytest --since``: which tests a change leaves out, and that what is left out is named."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ..changed import ABOUT, ROOT, left_out

BORROWED = "papers/one"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository of two papers and a plug-in: the second borrows from the first, which needs the plug-in."""
    for folder in (BORROWED, "papers/two", "plugins/text"):
        (tmp_path / folder / "tests").mkdir(parents=True)
    (tmp_path / BORROWED / "paper.yaml").write_text("title: One\n")
    (tmp_path / "papers" / "two" / "paper.yaml").write_text("borrows: {simclr: one}\n")
    study = tmp_path / "papers" / "one" / "studies" / "words" / "compute.py"
    study.parent.mkdir(parents=True)
    study.write_text('NEEDS = "hypersphere_text"\n')
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "run"),
    [
        ("papers/one/claims.csv", {"papers/one", "papers/two"}),
        ("papers/two/tests/test_tables.py", {"papers/two"}),
        ("plugins/text/src/text/probes/senteval.py", {"papers/one", "plugins/text"}),
        ("papers/errata.yaml", {"papers/one", "papers/two", "plugins/text"}),
        ("src/hypersphere/objectives/nt_xent.py", {"papers/one", "papers/two", "plugins/text"}),
        ("config/scales/quick.yaml", {"papers/one", "papers/two", "plugins/text"}),
        ("tests/conftest.py", {"papers/one", "papers/two", "plugins/text"}),
        ("something_new/file.py", {"papers/one", "papers/two", "plugins/text"}),
        ("docs/running.md", set()),
        ("papers/one/README.md", {"papers/one", "papers/two"}),
    ],
)
def test_tests_of_a_folder_run_if_it_or_what_it_uses_changed(
    root: Path, changed: str, run: set[str]
) -> None:
    out = {path for path, _ in left_out([changed], root)}
    assert {f"{name}/tests" for name in (BORROWED, "papers/two", "plugins/text")} - out == {
        f"{one}/tests" for one in run
    }


@pytest.mark.parametrize(
    ("changed", "run"),
    [
        ("requirements.lock", {*ABOUT}),
        ("environment.yml", {"conda"}),
        ("workflow/rules/new.smk", ABOUT.keys() - {"facts", "setup"}),
        ("workflow/install.py", ABOUT.keys() - {"facts"}),
        ("profiles/slurm/config.yaml", {"profiles", "slurm"}),
        ("tests/workflow/test_dvc.py", {"dvc"}),
        ("src/hypersphere/files.py", set()),
    ],
)
def test_tests_of_tools_run_if_what_they_are_about_changed(
    root: Path, changed: str, run: set[str]
) -> None:
    out = {path for path, _ in left_out([changed], root)}
    assert {name for name in ABOUT if f"tests/workflow/test_{name}.py" not in out} == run


def test_what_a_test_is_about_exists_and_each_test_of_tools_says_it() -> None:
    for name, subjects in ABOUT.items():
        assert [path for path in subjects if not (ROOT / path).exists()] == [], name
    tools = set()
    for path in (ROOT / "tests" / "workflow").glob("test_*.py"):
        whole = re.search(r"^pytestmark = .*(\n    .*)*", path.read_text(), re.MULTILINE)
        if whole and "pytest.mark.tools" in whole[0]:
            tools.add(path.stem.removeprefix("test_"))
    assert tools == ABOUT.keys()


def test_pytest_names_what_it_leaves_out_and_does_not_collect_it(tmp_path: Path) -> None:
    """In a repository of its own, with one commit and one paper whose test would fail."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "papers" / "one" / "tests").mkdir(parents=True)
    (tmp_path / "papers" / "one" / "tests" / "test_one.py").write_text(
        "def test_one():\n    raise AssertionError\n"
    )
    (tmp_path / "test_engine.py").write_text("def test_engine():\n    pass\n")
    (tmp_path / "tests" / "changed.py").write_text((ROOT / "tests" / "changed.py").read_text())
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.changed"]\n')
    (tmp_path / ".gitignore").write_text("__pycache__\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    for words in ("init -q", "add .", "-c user.name=n -c user.email=e commit -q -m all"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)

    # other plug-ins take seconds to import
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def said(commit: str) -> str:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--since", commit]
        done = subprocess.run(
            command, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    text = said("HEAD")
    assert "left out: papers/one/tests: neither the engine nor papers/one changed" in text
    assert "1 passed" in text
    assert "--since nonesuch: fatal: bad revision" in said("nonesuch")
    (tmp_path / "papers" / "one" / "claims.csv").write_text("id\n")  # which git does not know yet
    text = said("HEAD")
    assert "left out: papers" not in text
    assert "1 failed, 1 passed" in text
