"""What a person types after SET= reaches the commands unchanged."""

import shlex
import subprocess
from pathlib import Path

import pytest
from tests.conftest import pytest_collection_modifyitems

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("target", ["plan", "reproduce"])
@pytest.mark.parametrize(
    ("typed", "settings"),
    [
        ('seeds={"tables":[0],"sweeps":[1]}', ['seeds={"tables":[0],"sweeps":[1]}']),
        ("seeds=[0,1] epochs=3", ["seeds=[0,1]", "epochs=3"]),
        ("data_root=/a/$$HOME/*", ["data_root=/a/$HOME/*"]),
        ('epochs=3 \'probes={"knn":{"k":20}}\'', ["epochs=3", 'probes={"knn":{"k":20}}']),
        ("", []),
    ],
)
def test_settings_reach_the_command_as_they_were_typed(target: str, typed: str, settings: list[str]) -> None:
    """``make -n`` prints what the shell would get, and shlex splits it as the shell does."""
    command = ["make", "-n", "-o", ".venv/.ready", target, f"SET={typed}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    words = shlex.split(done.stdout)
    assert [word for word in words[words.index("scale=quick") + 1 :] if word not in ("--set", ";")] == settings


@pytest.mark.parametrize(
    ("fixtures", "marks", "heavy"),
    [
        (["tmp_path"], [], False),
        (["tiny_plan", "prepared_data", "tmp_path"], [], True),
        (["tab"], [], True),
        ([], ["trained"], True),
        ([], ["long"], False),
    ],
)
def test_fast_tests_neither_train_nor_serve_nor_browse(fixtures: list[str], marks: list[str], heavy: bool) -> None:
    """``fixturenames`` is what pytest gives: a test's fixtures with all that these ask for."""

    class Item:
        fixturenames, path, marked = fixtures, ROOT / "tests" / "test_x.py", {*marks}

        def get_closest_marker(self, name: str) -> bool | None:
            return name in self.marked or None

        def add_marker(self, name: str) -> None:
            self.marked.add(name)

    item = Item()
    pytest_collection_modifyitems([item])  # type: ignore[list-item]
    assert ("heavy" in item.marked) == heavy
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "not heavy" in makefile.partition("\ntest-fast:")[2].partition("\n\n")[0]
