"""`hypersphere snapshots`, as it is typed: in a project's folder or one below it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hypersphere import files
from hypersphere.command import cli
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.provenance import stop

SIZES = {
    f"snapshots/epoch-000{epoch}{kind}.safetensors": size
    for epoch in range(2)
    for kind, size in (("", 200_000), (".heads", 50_000))
}
Typed = Callable[..., tuple[int, list[str], list[str]]]


@pytest.fixture
def typed(tiny_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """``typed("--remove", "1")``: the command's status, and the lines of what it says and complains of."""
    monkeypatch.chdir(tiny_root / "config")
    monkeypatch.setattr(stop, "exit_in_order", lambda: None)

    def type_(*words: str) -> tuple[int, list[str], list[str]]:
        status = cli.main(["snapshots", *words])
        said = capsys.readouterr()
        return status, said.out.splitlines(), said.err.splitlines()

    return type_


@pytest.fixture
def made(tiny_root: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Plan, list[str]]:
    """Two finished runs with snapshots of epochs 0 and 1, of which the plan asks for 0."""
    monkeypatch.setattr(Plan, "kept_epochs", lambda self, run: [0, 4])
    plan = planning.make(tiny_root)
    names = list(plan.runs)[:2]
    for name in names:
        listed = {}
        for file, size in SIZES.items():
            files.write_text(plan.run_folder(name) / file, "x" * size)
            listed[file] = files.sha256(plan.run_folder(name) / file)
        files.write_sealed(plan.run_folder(name) / "manifest.json", {"epochs": 4, "files": listed})
    return plan, names


def test_they_are_listed_removed_and_no_longer_listed(typed: Typed, made: tuple[Plan, list[str]]) -> None:
    plan, (first, second) = made
    status, out, err = typed()
    assert (status, err) == (0, [])
    assert [line.split(maxsplit=3) for line in out[1:]] == [
        [name, str(epoch), "0.250", note]
        for name in (first, second)
        for epoch, note in enumerate(("needed", "no longer needed"))
    ]
    assert typed(second, "--remove", "1") == (0, [f"removed {second} epoch 1"], [])
    for file in SIZES:
        assert (plan.run_folder(second) / file).exists() == ("0001" not in file)
        assert (plan.run_folder(first) / file).exists()
    status, out, _ = typed(second)
    assert (status, [line.split()[:2] for line in out[1:]]) == (0, [[second, "0"]])


def test_what_is_not_allowed_is_a_sentence(typed: Typed, made: tuple[Plan, list[str]]) -> None:
    plan, (first, _) = made
    wrong = {
        (first, "--remove", "0"): f"{first}: the plan needs the snapshot of epoch 0",
        (first, "--remove", "1", "2"): f"{first}: no snapshot of epoch 2; it has those of 0, 1",
        ("--remove", "1"): "snapshots: --remove needs the names of runs before it; without it they are listed",
        ("none",): "no run 'none' at scale tiny; `hypersphere plan --verbose` lists those there are",
    }
    for words, sentence in wrong.items():
        assert typed(*words) == (2, [], [f"hypersphere: {sentence}"])
    assert len(list(plan.run_folder(first).glob("snapshots/*"))) == len(SIZES)
