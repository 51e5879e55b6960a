"""One value has one reading, whichever door it comes in by: config.yaml, ``--set``, make's ``SET=``, ``--config``."""

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.cli import get_argument_parser, parse_config
from snakemake.settings.types import ConfigSettings
from snakemake_interface_executor_plugins.utils import format_cli_arg

from hypersphere.command import cli
from hypersphere.config import project as cfg
from hypersphere.config import settings
from hypersphere.errors import HypersphereError

from ...fixtures import Project, Refused
from ...golden.released import ROOT

READ: list[tuple[str, Any]] = [
    ("3", 3),
    ("+5", 5),
    ("010", 10),  # PyYAML alone: 8
    ("0x10", "0x10"),
    ("1_0", "1_0"),
    ("9_9.5", "9_9.5"),
    ("1:30", "1:30"),  # PyYAML alone: 90
    (".5e1", 5.0),  # PyYAML alone: text
    ("1e-3", 0.001),
    ("1.5e-05", 1.5e-05),
    ("5.e3", 5000.0),
    ("2024-01-02", "2024-01-02"),
    ("yes", True),
    ("off", False),
    ("True", True),
    ("null", None),
    ("~", None),
    ("None", "None"),
    ("", None),
    ('"010"', "010"),
    ('"null"', "null"),
    ('"a b"', "a b"),
    ('"  two  blanks "', "  two  blanks "),
    ('"it\'s"', "it's"),
    ("my data", "my data"),
    ("/a/b c/d", "/a/b c/d"),
    ("[0, 1]", [0, 1]),
    ("[010, 1_0, yes]", [10, "1_0", True]),
    ('["010", "true"]', ["010", "true"]),
    ("[]", []),
    ("{}", {}),
    ('{"tables": [0], "sweeps": [1, 2]}', {"tables": [0], "sweeps": [1, 2]}),
    ("{knn: {k: 20}}", {"knn": {"k": 20}}),
    ("a=b", "a=b"),
    ("a=b=[0, 1]", "a=b=[0, 1]"),
    ("=", "="),
    ("größe/データ/😀", "größe/データ/😀"),
    ("$HOME/*", "$HOME/*"),
    ("a;b&c|d", "a;b&c|d"),
    ("back\\slash", "back\\slash"),
    ("print", "print"),  # Snakemake asks whether a value is callable
]
REFUSED = ["[0, 1", "{a: 1", '"a', "{a: 1, a: 2}", "!!python/name:os.system x", "@a", "%a"]


def of_file(value: str) -> Any:
    return cfg.files.parse_yaml(f"key: {value}")["key"]


def of_set(value: str) -> Any:
    words = cli.parser()[0].parse_args(["plan", "--set", f"key={value}"]).settings
    return settings.parse(words)["key"]


def of_make(value: str, target: str = "plan") -> Any:
    """What a shell gives the command after ``make SET=…``; single quotes keep a value whole, if it has none itself."""
    typed = f"'key={value}'" if "'" not in value else "key=" + value
    found = made(target, f"other=1 {typed} last=[2, 3]")
    assert (found["other"], found["last"]) == (1, [2, 3])
    return found["key"]


def made(target: str, typed: str) -> dict[str, Any]:
    """The settings that the last line of ``make -n`` gives its command."""
    command = ["make", "-n", "-o", "ready", target, f"SET={typed.replace('$', '$$')}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    words = shlex.split(done.stdout.splitlines()[-1])
    if words[0] == "snakemake":
        return of_snakemake(words[words.index("--config") + 1 :])
    return settings.parse(word for at, word in enumerate(words) if words[at - 1] == "--set")


def of_snakemake(words: list[str]) -> dict[str, Any]:
    """Settings of ``--config``, through Snakemake's own parser, and again as it hands them on to a job of its own."""
    typed = get_argument_parser().parse_args(["--config", *words]).config
    first = ConfigSettings(config=parse_config(typed), config_args=typed)
    again = shlex.split(format_cli_arg("--config", settings.quote(first.config_args)))[1:]
    assert again == first.config_args
    return settings.of_snakemake(first.configfiles, first.config_args)


def of_config(value: str) -> Any:
    return of_snakemake([f"key={value}"])["key"]


def of_make_reproduce(value: str) -> Any:
    return of_make(value, "reproduce")


def handed_on(value: str) -> Any:
    """As the DAG hands its settings to its jobs, and the command to Snakemake."""
    return settings.parse(settings.words({"key": of_file(value)}))["key"]


DOORS = [of_file, of_set, of_make, of_make_reproduce, of_config, handed_on]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("value", "expected"), READ)
def test_a_value_has_one_reading(door: Callable[[str], Any], value: str, expected: Any) -> None:
    found = door(value)
    assert found == expected
    assert repr(found) == repr(expected)  # 1, 1.0 and true are equal


@pytest.mark.parametrize("door", [of_set, of_make, of_make_reproduce, of_config])
@pytest.mark.parametrize("value", REFUSED)
def test_a_value_that_is_no_yaml_is_refused_at_every_door(
    door: Callable[[str], Any], value: str
) -> None:
    with pytest.raises(ValueError, match=r"."):
        of_file(value)
    with pytest.raises(HypersphereError, match=r"^command line: key=.*not valid YAML \("):
        door(value)


@pytest.mark.parametrize(
    "target", ["plan", "verify", "mend", "archive", "test-results", "reproduce", "report"]
)
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("'seeds=[0, 1]'", {"seeds": [0, 1]}),
        ("seeds=[0, 1] epochs=3", {"seeds": [0, 1], "epochs": 3}),
        ("'data_root=../my  data' epochs=3", {"data_root": "../my  data", "epochs": 3}),
        ('"data_root=../my data" epochs=3', {"data_root": "../my data", "epochs": 3}),
        ("epochs=3 data_root='/a b/c d'", {"epochs": 3, "data_root": "/a b/c d"}),
        ('data_root="/a epochs=3/b"', {"data_root": "/a epochs=3/b"}),
        ('data_root="/o\'brien"', {"data_root": "/o'brien"}),
        ('epochs=3 probes={"knn": {"k": 20}}', {"epochs": 3, "probes": {"knn": {"k": 20}}}),
        ('seeds={"tables":[0],"sweeps":[1]}', {"seeds": {"tables": [0], "sweeps": [1]}}),
        ("data_root=/a/$HOME/*", {"data_root": "/a/$HOME/*"}),
        ("", {}),
        ("data_root=# none", {"data_root": None}),  # which ends Snakemake's own parser
        ("epochs=3 epochs=4", {"epochs": 4}),
        # Snakemake would merge them
        ("probes={knn: {k: 5}} probes={linear: {}}", {"probes": {"linear": {}}}),
    ],
)
def test_what_is_typed_after_set_reaches_every_target_whole(
    target: str, typed: str, expected: dict[str, Any]
) -> None:
    assert made(target, typed) == {"scale": "quick", **expected}


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("epochs", ["epochs"]),
        ("'epochs=3", ["SET='epochs=3"]),
        ('data_root="/a', ['SET=data_root="/a']),
        ("data_root=/o'brien", ["SET=data_root=/o'brien"]),
        ("=3 ; x", []),
        ("epochs:3", ["epochs:3"]),
    ],
)
@pytest.mark.parametrize("target", ["plan", "reproduce"])
def test_what_is_no_setting_is_one_sentence(
    typed: str, named: list[str], target: str, refused: Refused
) -> None:
    """Snakemake would end in a traceback, so make hands it all settings as one."""
    with refused("command line", *named):
        found = made(target, typed)
        cfg.load(ROOT, found)


@pytest.mark.parametrize("value", ["1_0", "1:30", '"010"', "yes", "0x10", "2.5", "", "[3]"])
def test_what_a_field_refuses_it_refuses_from_every_door(project: Project, value: str) -> None:
    """A scale's file and the command line have the same words for a wrong number of epochs."""
    said = set()
    root = project()
    scale = root / "config" / "scales" / "small.yaml"
    written = scale.read_text()
    for door in DOORS:
        with pytest.raises(HypersphereError) as caught:
            cfg.load(root, {"epochs": door(value)})
        said.add(str(caught.value))
    content = yaml.safe_load(written)
    del content["epochs"]
    scale.write_text(f"{yaml.safe_dump(content)}epochs: {value}\n")
    with pytest.raises(HypersphereError) as caught:
        cfg.load(root, {})
    said.add(str(caught.value).replace(str(scale), "command line"))
    assert len(said) == 1


def test_a_config_file_of_snakemake_comes_before_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("epochs: 010\nseeds: [0, 1]\n")
    assert settings.of_snakemake([file], ["epochs=3"]) == {"epochs": 3, "seeds": [0, 1]}
