"""Every mistake in config/ is one sentence with the file, the field and what is allowed; the command exits with 2."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere.command import cli
from hypersphere.config import plan as planning
from hypersphere.errors import HypersphereError

Project = Callable[..., Path]
Refused = Callable[..., str]
STUDY = {"draw": "study_table", "title": "A study", "study": "cosine_field"}

# where the mistake is, its path and the wrong value; how the sentence begins after the file's name; other words in it
MISTAKES: dict[str, tuple[str, str, Any, str, list[str]]] = {
    "misspelt setting": (
        "config",
        "onyl",
        ["p"],
        "onyl: unknown; did you mean only? Allowed: scale, only",
        ["data_root"],
    ),
    "an old setting": ("config", "papers", ["p"], "papers: unknown; allowed: scale, only", []),
    "unknown scale": ("config", "scale", "huge", "scale: 'huge' is not one of small", []),
    "unknown device": ("config", "device", "tpu", "device: ", ["'auto', 'cpu' or 'cuda'", "'tpu'"]),
    "only an unknown paper": ("config", "only", ["q"], "only: 'q' is not one of p", []),
    "only an unknown artifact": (
        "config",
        "only",
        ["p/tabel"],
        "only: 'p/tabel' is not one of p/table; did you mean p/table?",
        [],
    ),
    "only a number": ("config", "only", [3], "only.0: ", ["string"]),
    "misspelt key of a scale": (
        "scale",
        "epoch",
        3,
        "epoch: unknown; did you mean epochs? Allowed: ",
        ["runs_per_job"],
    ),
    "misspelt key of the resources": ("scale", "resources.memory", 3, "resources.memory: unknown; ", ["mem_mb"]),
    "a required key left out": ("scale", "epochs", ..., "epochs: this key is required", []),
    "what stands for others left out": ("scale", "other_datasets", ..., "other_datasets: this key is required", []),
    "others stand for something": (
        "scale",
        "other_datasets",
        "cats",
        "other_datasets: ",
        ["'themselves' or 'nothing'"],
    ),
    "epochs in words": ("scale", "epochs", "many", "epochs", ["integer"]),
    "no seeds": ("scale", "seeds", [], "seeds.tables: ", ["at least 1"]),
    "no seeds of sweeps": ("scale", "seeds", {"tables": [0], "sweeps": []}, "seeds.sweeps: ", ["at least 1"]),
    "seeds of tables alone": ("scale", "seeds", {"tables": [0]}, "seeds.sweeps: this key is required", []),
    "seeds of something else": (
        "scale",
        "seeds",
        {"tables": [0], "sweeps": [0], "x": [0]},
        "seeds.x: unknown; allowed: tables, sweeps",
        [],
    ),
    "a negative seed": ("scale", "seeds", [-1], "seeds.tables.0: ", ["greater than or equal to 0"]),
    "a seed that is true": ("scale", "seeds", [True], "seeds.tables.0: ", ["valid integer", "True"]),
    "a seed that is a date": ("scale", "seeds", ["2024-13-45"], "seeds.tables.0: ", ["valid integer"]),
    "a seed beyond all bounds": ("scale", "seeds", [10**20], "seeds.tables.0: ", ["less than or equal to 2147483647"]),
    "epochs beyond all bounds": ("scale", "epochs", 10**26, "epochs: ", ["less than or equal to 1000000"]),
    "epochs that are text": ("scale", "epochs", "3", "epochs: ", ["valid integer"]),
    "epochs that are true": ("scale", "epochs", True, "epochs: ", ["valid integer"]),
    "threads beyond all bounds": ("scale", "threads", 10**8, "threads: ", ["less than or equal to 1024"]),
    "a misspelt probe": ("scale", "probes", {"knnn": {}}, "probes: 'knnn' is not one of ", ["did you mean knn?"]),
    "a misspelt parameter of a probe that nothing uses": (
        "scale",
        "probes",
        {"linear_sgd": {"epohcs": 3}},
        "probes.linear_sgd.epohcs: unknown; did you mean epochs?",
        [],
    ),
    "a misspelt field of an override that nothing matches": (
        "scale",
        "overrides",
        [{"when": {"method": "simsiam"}, "set": {"optimizer": {}}}],
        "overrides.0.set.optimizer: unknown; did you mean optimiser?",
        [],
    ),
    "a misspelt field of a variant that nothing uses": (
        "paper",
        "variants.spare",
        {"objectiv": {}},
        "variants.spare.objectiv: unknown; did you mean objective?",
        [],
    ),
    "an artifact twice": ("config", "only", ["p", "p/table", "p"], "only: 'p' is listed twice", []),
    "an artifact left out twice": (
        "scale",
        "leaves_out",
        ["p/table", "p/table"],
        "leaves_out: 'p/table' is listed twice",
        [],
    ),
    "a dataset with a path for a name": (
        "datasets",
        "/evil",
        {"source": None},
        "/evil.name: a name is a letter and then letters, digits and _",
        [],
    ),
    "a dataset with two names": ("datasets", "cats.name", "dogs", "cats.name: the key is the name; leave it out", []),
    "a name too long for a file": ("paper", "variants", {"x" * 61: {}}, "variants.xxx", ["at most 60 characters"]),
    "a seed twice": ("scale", "seeds", [0, 1, 0], "seeds.tables: ", ["twice"]),
    "an unknown stand-in": (
        "scale",
        "datasets",
        {"cats": "few_cat"},
        "datasets.cats: 'few_cat' is not one of birds, cats, dogs, few_cats",
        [],
    ),
    "a stand-in for nothing": ("scale", "datasets", {"catz": "cats"}, "datasets: 'catz' is not one of birds, cats", []),
    "unknown paper left out": ("scale", "leaves_out", ["q/table"], "leaves_out: 'q' is not one of p", []),
    "a whole paper left out": ("scale", "leaves_out", ["p"], "leaves_out: 'p' is not one of p/table", []),
    "unknown artifact left out": ("scale", "leaves_out", ["p/x"], "leaves_out: 'p/x' is not one of p/table", []),
    "a paper's unknown method": (
        "scale",
        "overrides",
        [{"when": {"paper": "p", "method": "byol"}}],
        "overrides.0.when.method: 'byol' is not one of simclr, simsiam",
        [],
    ),
    "crop scale upside down": (
        "scale",
        "overrides",
        [{"set": {"views": {"crop_scale": [1.0, 0.2]}}}],
        "overrides.0.views",
        ["smallest"],
    ),
    "a paper that is another": ("paper", "paper", "q", "paper: must be the file's own name (given: 'q')", []),
    "a paper that is no name": (
        "paper",
        "paper",
        "p-1",
        "paper: a name is a letter and then letters, digits and _",
        [],
    ),
    "a variant that is no name": (
        "paper",
        "variants",
        {"c=3": {}},
        "variants.c=3",
        ["a name is a letter and then letters, digits and _"],
    ),
    "an artifact that is no name": (
        "paper",
        "artifacts",
        {"table/1": STUDY},
        "artifacts.table/1",
        ["a name is a letter and then letters, digits and _"],
    ),
    "misspelt key of a paper": (
        "paper",
        "variant",
        {},
        "variant: unknown; did you mean variants? Allowed: ",
        ["overrides"],
    ),
    "misspelt field of a run": (
        "paper",
        "run.views.brightnes",
        1,
        "run.views.brightnes: unknown; did you mean brightness?",
        [],
    ),
    "misspelt parameter": (
        "paper",
        "methods.simclr.objective.temprature",
        1,
        "methods.simclr.objective.temprature: ",
        ["unknown; did you mean temperature? nt_xent takes temperature"],
    ),
    "unknown method": ("paper", "methods.simclr.method.name", "simcrl", "methods.simclr.method.name: ", ["'simcrl'"]),
    "unknown objective": (
        "paper",
        "methods.simclr.objective.name",
        "x",
        "methods.simclr.objective",
        ["'x'", "nt_xent"],
    ),
    "unknown encoder": ("paper", "run.encoder.name", "vgg", "run.encoder.name: 'vgg' is not one of ", ["resnet8"]),
    "unknown probe": ("paper", "evaluations.knn.probe.name", "nn", "evaluations.knn.probe", ["'nn'", "knn"]),
    "unknown key of a protocol": ("paper", "evaluations.knn.at", "end", "evaluations.knn.at: unknown; ", ["layer"]),
    "a protocol like none": ("paper", "evaluations.transfer.like", "x", "evaluations", ["'x' is not one of knn"]),
    "negative temperature": (
        "paper",
        "methods.simclr.objective.temperature",
        -0.5,
        "methods.simclr.objective.temperature: ",
        ["greater than 0"],
    ),
    "negative learning rate": (
        "paper",
        "run.optimiser.learning_rate",
        -1,
        "run.optimiser.learning_rate: ",
        ["greater"],
    ),
    "a learning rate in words": ("paper", "run.optimiser.learning_rate", "fast", "run.optimiser.learning_rate", []),
    "a probability above 1": (
        "paper",
        "run.views.grayscale",
        1.5,
        "run.views.grayscale: ",
        ["less than or equal to 1"],
    ),
    "passes that do not fill a batch": ("paper", "run.batch.micro", 96, "run.batch", ["multiple"]),
    "an unknown study": ("paper", "artifacts.table", STUDY | {"study": "x"}, "artifacts.table.study: 'x' is not", []),
    "a study's misspelt key": (
        "paper",
        "artifacts.table",
        STUDY | {"rows": {}},
        "artifacts.table.rows: unknown; ",
        [],
    ),
    "unknown source": ("datasets", "cats.source.name", "cifer", "cats.source", ["'cifer'", "cifar"]),
    "an imbalance that grows": (
        "datasets",
        "cats.imbalance",
        {"head": 5, "ratio": 0.5},
        "cats.imbalance.ratio: ",
        ["equal to 1"],
    ),
    "a dataset that is no mapping": ("datasets", "cats", "digits", "cats: must be a mapping of keys to values", []),
}
PLACES = {"config": "config.yaml", "paper": "papers/p.yaml", "scale": "scales/small.yaml", "datasets": "datasets.yaml"}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(refused: Refused, name: str) -> None:
    file, path, value, begins, words = MISTAKES[name]
    said = refused(**{file: {path: value}})
    assert said.startswith(f"{PLACES[file]}: {begins}")
    for word in words:
        assert word in said


def test_without_a_mistake_nothing_is_said(project: Project) -> None:
    """Control for all of the above."""
    assert planning.make(project()).cells


def test_a_study_is_taken_too(project: Project) -> None:
    """Control for those of a study."""
    assert planning.make(project(paper={"artifacts.table": STUDY})).config.studied("p").keys() == {"table"}


# The command


def command(root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Standard error of a command that plans and then does nothing; it must exit with 2."""
    monkeypatch.chdir(root)
    assert cli.main(["pretrain", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("hypersphere: ")
    assert captured.err.endswith("\n")
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.mark.parametrize(
    "name", ["misspelt setting", "misspelt key of a scale", "misspelt parameter", "unknown source"]
)
def test_the_command_says_it_in_one_line(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file, path, value, begins, _ = MISTAKES[name]
    assert f"{PLACES[file]}: {begins}" in command(project(**{file: {path: value}}), monkeypatch, capsys)


@pytest.mark.parametrize("text", ["", "[1, 2]", "scale: [", "\x00", "scale: quick: x"])
@pytest.mark.parametrize("file", PLACES.values())
def test_a_file_that_is_no_mapping(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file: str, text: str
) -> None:
    root = project()
    (root / "config" / file).write_text(text)
    error = command(root, monkeypatch, capsys)
    assert file in error
    assert "must be a mapping" in error or "not valid YAML" in error


SETTINGS = {
    "epoch=3": ["command line", "epoch is not a setting", "epochs"],
    "papers=[p]": ["command line", "papers is not a setting", "only"],
    "epochs=-3": ["command line: epochs", "greater than 0"],
    "seeds=[]": ["command line: seeds"],
    "only=q": ["command line: only: 'q' is not one of p"],
    "scale=huge": ["scale: 'huge' is not one of small"],
    "epochs": ["epochs", "KEY=VALUE"],
    "device=tpu": ["command line: device"],
    "seeds=[0": ["seeds=[0"],
    "epochs={": ["epochs={"],
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_mistakes_on_the_command_line(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    error = command(project(), monkeypatch, capsys, "--set", setting)
    for word in SETTINGS[setting]:
        assert word in error


def test_outside_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert "config/config.yaml" in command(tmp_path, monkeypatch, capsys)


def test_unknown_run_and_batch(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project()
    assert "no run 'x' at scale small" in command(root, monkeypatch, capsys, "x")
    assert "no batch 'x' at scale small" in command(root, monkeypatch, capsys, "--batch", "x")


def test_from_a_folder_below_the_root(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Control for all of the above."""
    monkeypatch.chdir(project() / "config" / "scales")
    assert cli.main(["snapshots"]) == 0
    assert capsys.readouterr().err == ""


# Any value anywhere


def sentence(root: Path) -> str:
    """What planning says, or nothing; any other exception passes through and fails the test."""
    try:
        planning.make(root)
    except HypersphereError as error:
        return str(error)
    return ""


def paths(content: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every key of a mapping, at any depth."""
    for key, value in content.items() if isinstance(content, dict) else ():
        yield (*above, key)
        yield from paths(value, (*above, key))


@pytest.mark.parametrize("value", [None, [], "x", {"a": {"b": 1}}, -1, [[0]]], ids=repr)
@pytest.mark.parametrize("file", PLACES.values())
def test_any_value_anywhere_is_taken_or_refused_in_a_sentence(project: Project, file: str, value: Any) -> None:
    """Each key in turn; nothing but a HypersphereError may come out."""
    root = project()
    path = root / "config" / file
    whole = yaml.safe_load(path.read_text())
    for *outer, last in paths(whole):
        content = inner = copy.deepcopy(whole)
        for key in outer:
            inner = inner[key]
        inner[last] = value
        path.write_text(yaml.safe_dump(content))
        said = sentence(root)
        assert "\n" not in said, (*outer, last)
        assert not said or str(root / "config") in said, (*outer, last)
