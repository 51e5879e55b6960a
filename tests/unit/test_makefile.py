"""What a person types after SET= reaches the commands unchanged."""

import shlex
import subprocess
from pathlib import Path

import pytest

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
