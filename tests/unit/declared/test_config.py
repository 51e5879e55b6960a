"""Every mistake in config/ is one sentence with the file, the field and what is allowed; the command exits with 2."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere.command import cli
from hypersphere.declared import plan as planning
from hypersphere.errors import HypersphereError

CONFIG, PAPER, SCALE, DATASETS = "config.yaml", "papers/embedding_norms.yaml", "scales/quick.yaml", "datasets.yaml"

# file, path of keys, wrong value, what the sentence must name
MISTAKES: dict[str, tuple[str, list[str], Any, list[str]]] = {
    "misspelt setting": (CONFIG, ["papres"], ["x"], ["papres: unknown key", "papers", "data_root"]),
    "misspelt key of a scale": (SCALE, ["epoch"], 3, ["epoch: unknown key", "epochs", "runs_per_job"]),
    "misspelt key of the resources": (SCALE, ["resources", "memory"], 3, ["resources.memory", "mem_mb"]),
    "misspelt field of a run": (PAPER, ["run", "views", "brightnes"], 1, ["run.views.brightnes", "brightness", "flip"]),
    "misspelt key of a table": (PAPER, ["artifacts", "table5", "row"], [], ["artifacts.table5.row", "rows", "columns"]),
    "misspelt parameter": (
        PAPER,
        ["methods", "simclr", "objective", "temprature"],
        1,
        ["methods.simclr", "objective", "temprature", "temperature"],
    ),
    "unknown method": (
        PAPER,
        ["methods", "simclr", "method", "name"],
        "simcrl",
        ["method", "simcrl", "simclr, simsiam"],
    ),
    "unknown objective": (PAPER, ["methods", "simclr", "objective", "name"], "x", ["objective", "'x'", "nt_xent"]),
    "unknown encoder": (
        PAPER,
        ["run", "encoder", "name"],
        "vgg",
        ["encoder", "'vgg'", "resnet, resnet10, resnet8, vit"],
    ),
    "unknown source": (
        DATASETS,
        ["cifar10", "source", "name"],
        "mnist",
        ["cifar10.source", "'mnist'", "cifar, digits"],
    ),
    "unknown probe": (
        PAPER,
        ["evaluations"],
        [{"metric": "knn_top1", "probe": {"name": "nn"}, "at": "end"}],
        ["'nn'", "knn"],
    ),
    "unknown metric": (
        PAPER,
        ["artifacts", "table5", "metric"],
        "top1",
        ["artifacts.table5.metric", "knn_top1, linear_top1"],
    ),
    "negative temperature": (
        PAPER,
        ["methods", "simclr", "objective", "temperature"],
        -0.5,
        ["methods.simclr", "objective", "temperature", "greater than 0"],
    ),
    "negative learning rate": (
        PAPER,
        ["methods", "simclr", "optimiser", "learning_rate"],
        -1,
        ["learning_rate", "greater"],
    ),
    "a learning rate in words": (
        PAPER,
        ["methods", "simclr", "optimiser", "learning_rate"],
        "fast",
        ["methods.simclr"],
    ),
    "a probability above 1": (
        PAPER,
        ["run", "views", "grayscale"],
        1.5,
        ["run.views.grayscale", "less than or equal to 1"],
    ),
    "crop scale upside down": (SCALE, ["run", "views", "crop_scale"], [1.0, 0.2], ["run.views", "smallest"]),
    "passes that do not fill a batch": (
        PAPER,
        ["methods", "simclr", "batch"],
        {"size": 256, "micro": 96},
        ["batch", "multiple"],
    ),
    "no seeds": (SCALE, ["seeds"], [], ["seeds", "at least 1"]),
    "a negative seed": (SCALE, ["seeds"], [-1], ["seeds", "greater than or equal to 0"]),
    "a seed twice": (SCALE, ["seeds"], [0, 1, 0], ["seeds", "twice"]),
    "unknown scale": (CONFIG, ["scale"], "huge", ["scale", "'huge'", "laptop, paper, quick, smoke"]),
    "unknown paper": (CONFIG, ["papers"], ["norms"], ["papers", "'norms'", "embedding_norms"]),
    "no papers": (CONFIG, ["papers"], [], ["papers", "at least 1"]),
    "unknown device": (CONFIG, ["device"], "tpu", ["device", "'auto', 'cpu' or 'cuda'"]),
    "unknown dataset": (
        SCALE,
        ["datasets", "cifar10_lt"],
        "digit_lt",
        ["datasets.cifar10_lt", "'digit_lt'", "digits_lt"],
    ),
    "a column without a dataset": (
        PAPER,
        ["artifacts", "table5", "columns"],
        ["stl10"],
        ["datasets", "stl10", "table5"],
    ),
    "unknown variant": (
        PAPER,
        ["artifacts", "table5", "rows"],
        ["simclr.cut5"],
        ["table5.rows", "'simclr.cut5'", "cut3"],
    ),
    "unknown row method": (
        PAPER,
        ["artifacts", "table5", "rows"],
        ["byol.default"],
        ["table5.rows", "'byol.default'", "simclr"],
    ),
    "a row that is no name": (PAPER, ["artifacts", "table5", "rows"], ["simclr"], ["table5.rows", "'simclr'"]),
    "unknown kind of artifact": (
        PAPER,
        ["artifacts", "table5", "kind"],
        "pie",
        ["artifacts.table5", "'table'", "'curves'"],
    ),
    "an imbalance that grows": (
        DATASETS,
        ["digits_lt", "imbalance", "ratio"],
        0.5,
        ["digits_lt.imbalance.ratio", "equal to 1"],
    ),
    "a required key left out": (SCALE, ["epochs"], ..., ["epochs", "required"]),
    "epochs in words": (SCALE, ["epochs"], "many", ["epochs"]),
}
PUBLISHED = ("unknown encoder", "a probability above 1")
"""Mistakes in what the quick scale replaces, so that only the paper scale sees them."""


def edit(file: Path, keys: list[str], value: Any) -> None:
    """Set (or with ``...`` remove) one value of a YAML file."""
    content = yaml.safe_load(file.read_text())
    inner = content
    for key in keys[:-1]:
        inner = inner.setdefault(key, {})
    if value is ...:
        del inner[keys[-1]]
    else:
        inner[keys[-1]] = value
    file.write_text(yaml.safe_dump(content))


def command(root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Standard error of a command that plans and then does nothing; it must exit with 2."""
    monkeypatch.chdir(root)
    assert cli.main(["pretrain", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(
    config_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file, keys, value, words = MISTAKES[name]
    edit(config_root / "config" / file, keys, value)
    options = ("--set", "scale=paper") if name in PUBLISHED else ()
    error = command(config_root, monkeypatch, capsys, *options)
    assert error.startswith("hypersphere: ")
    assert error.count("\n") == 1
    assert error.endswith("\n")
    for word in words:
        assert word in error
    # a column that the scale does not list is the scale's omission
    assert (SCALE if name == "a column without a dataset" else file) in error


@pytest.mark.parametrize("text", ["", "[1, 2]", "scale: [", "\x00", "scale: quick: x"])
@pytest.mark.parametrize("file", [CONFIG, PAPER, SCALE, DATASETS])
def test_a_file_that_is_no_mapping(
    config_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file: str, text: str
) -> None:
    (config_root / "config" / file).write_text(text)
    error = command(config_root, monkeypatch, capsys)
    assert error.count("\n") == 1
    assert file in error
    assert "must be a mapping" in error or "not valid YAML" in error


SETTINGS = {
    "epoch=3": ["command line", "epoch is not a setting", "epochs"],
    "epochs=-3": ["command line", "epochs"],
    "seeds=[]": ["command line", "seeds"],
    "scale=huge": ["scale", "'huge'", "quick"],
    "epochs": ["epochs", "KEY=VALUE"],
    "device=tpu": ["command line", "device"],
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_mistakes_on_the_command_line(
    config_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    error = command(config_root, monkeypatch, capsys, "--set", setting)
    assert error.count("\n") == 1
    for word in SETTINGS[setting]:
        assert word in error


@pytest.mark.parametrize("setting", ["seeds=[0", "epochs={"])
def test_a_setting_that_is_no_yaml(
    config_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    error = command(config_root, monkeypatch, capsys, "--set", setting)
    assert error.count("\n") == 1
    assert setting in error


def test_outside_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert "config/config.yaml" in command(tmp_path, monkeypatch, capsys)


def test_unknown_run_and_batch(
    config_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no run 'x' at scale quick" in command(config_root, monkeypatch, capsys, "x")
    assert "no batch 'x' at scale quick" in command(config_root, monkeypatch, capsys, "--batch", "x")


def test_the_released_config_is_valid(
    config_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Control for all of the above, from a folder below the root."""
    monkeypatch.chdir(config_root / "config" / "scales")
    assert cli.main(["pretrain"]) == 0
    assert capsys.readouterr().err == ""


def test_changed_numbers_go_to_a_folder_of_their_own(config_root: Path) -> None:
    results = {
        planning.make(config_root, overrides).config.results.name
        for overrides in ({"epochs": 3}, {"epochs": 4}, {"seeds": [0]}, {}, {"device": "cpu"}, {"scale": "quick"})
    }
    assert len(results) == 4
    assert "quick" in results
    assert all(name == "quick" or name.startswith("quick-") for name in results)


def sentence(root: Path) -> str:
    """What planning says, or nothing; any other exception passes through and fails the test."""
    try:
        planning.make(root)
    except HypersphereError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("value", [None, [], "x", {"a": {"b": 1}}], ids=repr)
@pytest.mark.parametrize("file", [CONFIG, PAPER, SCALE, DATASETS])
def test_any_value_anywhere_is_taken_or_refused_in_a_sentence(config_root: Path, file: str, value: Any) -> None:
    """Each key of the first two levels in turn; nothing but a HypersphereError may come out."""
    path = config_root / "config" / file
    text = path.read_text()
    content = yaml.safe_load(text)
    places = [[key] for key in content]
    places += [[key, inner] for key in content if isinstance(content[key], dict) for inner in content[key]]
    for keys in places:
        path.write_text(text)
        edit(path, keys, value)
        assert "\n" not in sentence(config_root), keys
