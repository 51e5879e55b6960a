"""`make store` records and pushes only what is committed, finished and verified. DVC is stood in for here."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from hypersphere.command import restore, store
from hypersphere.config import plan as planning
from hypersphere.errors import HypersphereError

from ...fixtures import Refused


def answering(status: int, text: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A program that ends so."""
    return lambda command, **_: subprocess.CompletedProcess(command, status, stdout=text)


DAMAGED = HypersphereError(
    "results/tiny/runs/a/encoder.safetensors: the file's bytes differ from its manifest"
)
SPOILS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch, dict[str, str]], object]]] = {
    "no git": (
        "FOLDER",
        lambda patch, said: patch.setattr(store.subprocess, "run", answering(128, "")),
    ),
    "uncommitted": (
        "Makefile",
        lambda patch, said: patch.setattr(
            store.subprocess, "run", answering(0, " M Makefile\n?? x\n")
        ),
    ),
    "no remote": (".dvc/config", lambda patch, said: said.update(list="")),
    "unfinished": (
        "results/tiny",
        lambda patch, said: patch.setattr(restore.preview, "dry_run", lambda *_: "Job stats: 1"),
    ),
    "damaged": (
        "results/tiny/runs/a/encoder.safetensors",
        lambda patch, said: patch.setattr(store.verify, "verify", Mock(side_effect=DAMAGED)),
    ),
    "changed meanwhile": (
        "papers",
        lambda patch, said: said.update(
            status='{"data": [{"changed deps": {"papers": "modified"}}]}'
        ),
    ),
    "failed push": (
        "dvc push",
        lambda patch, said: patch.setattr(
            restore, "move", Mock(side_effect=HypersphereError("dvc push: failed"))
        ),
    ),
}
RECORDED = ("changed meanwhile", "failed push", "")
"""What is only seen once dvc.lock is written."""


@pytest.mark.parametrize("spoil", [*SPOILS, ""])
def test_what_is_not_committed_finished_and_verified_is_refused(
    tiny_root: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: Refused,
    capsys: pytest.CaptureFixture[str],
    spoil: str,
) -> None:
    """The control is the last row, of which nothing is spoilt."""
    said = {"list": "store", "config": "store", "commit": "", "status": "{}"}
    asked: list[str] = []

    def call(root: Path, program: str, *arguments: str) -> str:
        word = next(word for word in said if word in arguments)
        asked.append(word)
        return said[word]

    monkeypatch.setattr(store.subprocess, "run", answering(0, ""))
    monkeypatch.setattr(restore, "call", call)
    monkeypatch.setattr(restore, "move", lambda root, verb, consequence: asked.append(verb))
    monkeypatch.setattr(store.verify, "verify", lambda plan, rerun, rebuild: None)
    monkeypatch.setattr(restore.preview, "dry_run", lambda *_: "Nothing to be done (all is there).")
    plan = planning.make(tiny_root)
    if spoil:
        place, harm = SPOILS[spoil]
        harm(monkeypatch, said)
        with refused(place):
            store.store(plan)
    else:
        store.store(plan)
        assert capsys.readouterr().out.endswith("pushed; next: git add dvc.lock and commit it\n")
    assert ("commit" in asked) == (spoil in RECORDED)
    assert ("push" in asked) == (spoil == "")


def test_another_scale_than_that_of_the_configuration_is_refused(
    tiny_root: Path, refused: Refused
) -> None:
    with refused("config/config.yaml", "scale"):
        store.store(planning.make(tiny_root, {"scale": "quick"}))
