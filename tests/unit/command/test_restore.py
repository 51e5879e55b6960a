"""`make restore`: Snakemake's records are written only where all before them went well. DVC is stood in for here."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hypersphere.command import restore
from hypersphere.config import plan as planning
from hypersphere.errors import HypersphereError

LOCK = "stages:\n  runs:\n    outs:\n    - path: results/tiny/runs\n"
Spoil = Callable[[pytest.MonkeyPatch, dict[str, str]], object]


def refuse(*arguments: Any, **options: Any) -> None:
    raise HypersphereError("code: not that of this checkout")


CHANGED = json.dumps({"runs": [{"changed deps": {"src/hypersphere": "modified"}}, "always changed"]})
SPOILS: dict[str, Spoil] = {
    "names no remote": lambda patch, said: said.update(list=""),
    "dvc pull: failed": lambda patch, said: patch.setattr(
        restore.subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1)
    ),
    "src/hypersphere: changed since the results": lambda patch, said: said.update(status=CHANGED),
    "not that of this checkout": lambda patch, said: patch.setattr(restore.verify, "verify", refuse),
    "Snakemake would still make it": lambda patch, said: patch.setattr(
        restore.preview, "dry_run", lambda root, overrides, options: [restore.preview.Job("rule", "x", "why")]
    ),
}


@pytest.mark.parametrize("sentence", [*SPOILS, ""])
def test_what_is_not_as_released_is_refused(tiny_root: Path, monkeypatch: pytest.MonkeyPatch, sentence: str) -> None:
    """The control is the last row, of which nothing is spoilt."""
    said = {"list": "store", "config": "store", "modify": "", "status": "{}", "--touch": ""}
    asked: list[str] = []

    def call(root: Path, program: str, *arguments: str) -> str:
        word = next(word for word in said if word in arguments)
        asked.append(word)
        return said[word]

    (tiny_root / "dvc.lock").write_text(LOCK)
    pulled = subprocess.CompletedProcess([], 0)
    monkeypatch.setattr(restore.subprocess, "run", lambda command, **_: pulled)
    monkeypatch.setattr(restore, "_call", call)
    monkeypatch.setattr(restore.verify, "verify", lambda plan, rerun, rebuild: None)
    monkeypatch.setattr(restore.preview, "dry_run", lambda root, overrides, options: [])
    if sentence:
        SPOILS[sentence](monkeypatch, said)
        with pytest.raises(HypersphereError, match=sentence):
            restore.restore(planning.make(tiny_root))
    else:
        restore.restore(planning.make(tiny_root))
        assert asked.index("modify") < asked.index("status") < asked.index("--touch")  # bytes are checked by DVC
    assert ("--touch" in asked) == (sentence in ("", "Snakemake would still make it"))


@pytest.mark.parametrize(
    ("scale", "lock", "sentence"),
    [
        ("tiny", None, "dvc.lock: the file is missing"),
        ("tiny", LOCK.replace("tiny", "paper"), "dvc.lock: does not list results/tiny"),
        ("quick", LOCK, "config/config.yaml: scale: is tiny"),
    ],
)
def test_without_a_release_of_this_scale_nothing_is_asked_of_dvc(
    tiny_root: Path, monkeypatch: pytest.MonkeyPatch, scale: str, lock: str | None, sentence: str
) -> None:
    monkeypatch.setattr(restore, "_call", lambda *arguments: pytest.fail("asked"))
    if lock:
        (tiny_root / "dvc.lock").write_text(lock)
    with pytest.raises(HypersphereError, match=sentence):
        restore.restore(planning.make(tiny_root, {"scale": scale}))
