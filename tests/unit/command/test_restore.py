"""`make restore`: Snakemake's records are written only where all before them went well. DVC is stood in for here."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from hypersphere.command import restore
from hypersphere.config import plan as planning
from hypersphere.errors import HypersphereError

from ...fixtures import Refused

LOCK = "stages:\n  runs:\n    outs:\n    - path: results/tiny/runs\n"


OTHER_CODE = HypersphereError("code: differs from this checkout")
CHANGED = json.dumps(
    {"runs": [{"changed deps": {"src/hypersphere": "modified"}}, "always changed"]}
)
SPOILS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch, dict[str, str]], object]]] = {
    "no remote": (".dvc/config", lambda patch, said: said.update(list="")),
    "a failed pull": (
        "dvc pull",
        lambda patch, said: patch.setattr(
            restore.subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1)
        ),
    ),
    "changed sources": ("src/hypersphere", lambda patch, said: said.update(status=CHANGED)),
    "other code": (
        "code",
        lambda patch, said: patch.setattr(restore.verify, "verify", Mock(side_effect=OTHER_CODE)),
    ),
    "work left": (
        "results/tiny",
        lambda patch, said: patch.setattr(restore.preview, "dry_run", lambda *_: "Job stats: 1"),
    ),
}


@pytest.mark.parametrize("spoil", [*SPOILS, ""])
def test_what_is_not_as_stored_is_refused(
    tiny_root: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused, spoil: str
) -> None:
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
    monkeypatch.setattr(restore, "call", call)
    monkeypatch.setattr(restore.verify, "verify", lambda plan, rerun, rebuild: None)
    monkeypatch.setattr(restore.preview, "dry_run", lambda *_: "Nothing to be done (all is there).")
    if spoil:
        place, harm = SPOILS[spoil]
        harm(monkeypatch, said)
        with refused(place):
            restore.restore(planning.make(tiny_root))
    else:
        restore.restore(planning.make(tiny_root))
        # bytes are checked by DVC
        assert asked.index("modify") < asked.index("status") < asked.index("--touch")
    assert ("--touch" in asked) == (spoil in ("", "work left"))


@pytest.mark.parametrize(
    ("scale", "lock", "place"),
    [
        ("tiny", None, "dvc.lock"),
        ("tiny", LOCK.replace("tiny", "paper"), "dvc.lock"),
        ("quick", LOCK, "config/config.yaml: scale"),
    ],
    ids=["no lock", "of another scale", "another scale"],
)
def test_without_stored_results_of_this_scale_nothing_is_asked_of_dvc(
    tiny_root: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: Refused,
    scale: str,
    lock: str | None,
    place: str,
) -> None:
    monkeypatch.setattr(restore, "call", lambda *arguments: pytest.fail("asked"))
    if lock:
        (tiny_root / "dvc.lock").write_text(lock)
    with refused(place):
        restore.restore(planning.make(tiny_root, {"scale": scale}))


@pytest.mark.parametrize(("finished", "target"), [("tiny", "everything"), ("paper", "reproduce")])
def test_where_another_scale_was_finished_the_report_is_left_to_be_made_anew(
    tiny_root: Path, monkeypatch: pytest.MonkeyPatch, finished: str, target: str
) -> None:
    """It shows the claims of every scale that was finished here, and the stored report does not."""
    said = {"list": "store", "config": "store", "modify": "", "status": "{}"}
    touched: list[str] = []

    def call(root: Path, program: str, *arguments: str) -> str:
        if program == "snakemake":
            touched.append(arguments[0])
            return ""
        return said[next(word for word in said if word in arguments)]

    (tiny_root / "dvc.lock").write_text(LOCK)
    claims = tiny_root / "results" / finished / "claims.csv"
    claims.parent.mkdir(parents=True)
    claims.touch()
    monkeypatch.setattr(restore, "call", call)
    monkeypatch.setattr(restore, "move", lambda *_: None)
    monkeypatch.setattr(restore.verify, "verify", lambda plan, rerun, rebuild: None)
    monkeypatch.setattr(
        restore.preview,
        "dry_run",
        lambda root, overrides, made: "Nothing to be done" * (made == target),
    )
    restore.restore(planning.make(tiny_root))
    assert touched == [target]
