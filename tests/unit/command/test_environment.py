"""environment.yml and requirements.lock: pinned, hashed, and in agreement."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
LOCK = (ROOT / "requirements.lock").read_text()


def test_every_requirement_of_the_lock_is_pinned_and_hashed() -> None:
    """Requirements begin lines; their hashes follow, indented."""
    blocks = re.split(r"\n(?=\S)", LOCK.strip())
    blocks = [block for block in blocks if not block.startswith("#")]
    assert len(blocks) > 50
    for block in blocks:
        assert re.match(r"[a-z0-9][\w.-]*==[\w.!+-]+", block), block.splitlines()[0]
        assert re.search(r"\n    --hash=sha256:[0-9a-f]{64}", block), block.splitlines()[0]


def test_the_lock_names_no_address_and_no_option() -> None:
    assert "://" not in LOCK
    assert not re.search(r"^\s*-[a-z-]+ ", LOCK.replace("--hash", ""), flags=re.MULTILINE)
    assert " @ " not in LOCK


def test_conda_gets_every_pin_with_its_marker_and_no_hash() -> None:
    *_, section = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pins = [line.rstrip("\\ ") for line in LOCK.splitlines() if line[:1].isalnum()]
    assert section == {"pip": pins}
    assert any(" ; " in pin for pin in pins)
