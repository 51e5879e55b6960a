"""The Makefile, the pins, and the guard of this checkout."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text()


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


def test_every_requirement_of_the_lock_is_pinned_and_hashed_without_address_or_option() -> None:
    """Requirements begin lines; their hashes follow, indented."""
    blocks = re.split(r"\n(?=\S)", LOCK.strip())
    blocks = [block for block in blocks if not block.startswith("#")]
    assert len(blocks) > 50
    for block in blocks:
        assert re.match(r"[a-z0-9][\w.-]*==[\w.!+-]+", block), block.splitlines()[0]
        assert re.search(r"\n    --hash=sha256:[0-9a-f]{64}", block), block.splitlines()[0]
    assert "://" not in LOCK
    assert not re.search(r"^\s*-[a-z-]+ ", LOCK.replace("--hash", ""), flags=re.MULTILINE)
    assert " @ " not in LOCK


def test_conda_gets_every_pin_with_its_marker_and_no_hash() -> None:
    *_, section = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pins = [line.rstrip("\\ ") for line in LOCK.splitlines() if line[:1].isalnum()]
    assert section == {"pip": pins}
    assert any(" ; " in pin for pin in pins)


def test_the_guard_is_of_this_checkout() -> None:
    """Asked for what changes nothing: HEAD is moved to where it is."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    said: dict[str, Any] = {"capture_output": True, "text": True}
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, **said).stdout.strip()
    done = subprocess.run(["git", "update-ref", "HEAD", head, head], cwd=ROOT, **said)
    assert "a test would change the history of the checkout" in done.stderr
    assert subprocess.run(["git", "rev-parse"], cwd=Path(__file__).parent, **said).returncode != 0
