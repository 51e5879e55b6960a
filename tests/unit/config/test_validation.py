"""A misspelt key is one sentence with the key as written and the nearest allowed one; the right source is blamed."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere.config import claims, rules
from hypersphere.config import plan as planning
from hypersphere.config import project as cfg
from hypersphere.config.validation import either, nearest, not_one_of, unknown_key
from hypersphere.errors import HypersphereError

Project = Callable[..., Path]
Refused = Callable[..., str]
PROJECT = Path(__file__).parents[2] / "project"
STUDY = {"draw": "study_table", "title": "A study"}

# The misspelt key replaces the right one, which most of these models require.
# file, the mapping that holds the key, the right key and the misspelt one; the field in the sentence
REPLACED: dict[str, tuple[str, str, str, str, str]] = {
    "a setting": ("config", "", "scale", "scael", "config.yaml: scael"),
    "a scale's number": ("scale", "", "epochs", "epohcs", "scales/small.yaml: epohcs"),
    "a scale's resources": ("scale", "resources", "mem_mb", "mem_gb", "scales/small.yaml: resources.mem_gb"),
    "a scale's seeds": ("scale", "seeds", "tables", "table", "scales/small.yaml: seeds.table"),
    "a paper's title": ("paper", "", "title", "titel", "papers/p.yaml: titel"),
    "a run's part": ("paper", "run", "schedule", "scheduel", "papers/p.yaml: run.scheduel"),
    "a run's field": ("paper", "run.optimiser", "learning_rate", "learning-rate", "papers/p.yaml: run.optimiser."),
    "epochs of a run": ("paper", "run.schedule", "epochs", "epoch", "papers/p.yaml: run.schedule.epoch"),
    "an objective's parameter": (
        *("paper", "methods.simclr.objective", "temperature", "temprature"),
        "papers/p.yaml: methods.simclr.objective.temprature",
    ),
    "a method's parameter": (
        *("paper", "methods.simsiam.method", "bottleneck", "bottelneck"),
        "papers/p.yaml: methods.simsiam.method.bottelneck",
    ),
    "a component's name": ("paper", "run.encoder", "name", "nmae", "papers/p.yaml: run.encoder.nmae"),
    "a probe's parameter": (
        *("paper", "evaluations.transfer", "transfer", "trasnfer"),
        "papers/p.yaml: evaluations.transfer.trasnfer",
    ),
    "a probe's name": ("paper", "evaluations.knn.probe", "name", "nane", "papers/p.yaml: evaluations.knn.probe.nane"),
    "an artifact's axis": ("paper", "artifacts.table", "columns", "colums", "papers/p.yaml: artifacts.table.colums"),
    "a dataset's source": ("datasets", "dogs", "source", "sorce", "datasets.yaml: dogs.sorce"),
    "a source's parameter": ("datasets", "dogs.source", "task", "tsak", "datasets.yaml: dogs.source.tsak"),
}


def contents(file: Path) -> Any:
    return yaml.safe_load(file.read_text())


def misspell(file: Path, path: str, right: str, wrong: str) -> None:
    content = inner = contents(file)
    for key in filter(None, path.split(".")):
        inner = inner[key]
    inner[wrong] = inner.pop(right)
    file.write_text(yaml.safe_dump(content, sort_keys=False))


@pytest.mark.parametrize("name", REPLACED)
def test_a_misspelt_key_is_named_with_the_nearest_one(project: Project, name: str) -> None:
    """And the key that is missing for it is not named as missing."""
    file, path, right, wrong, begins = REPLACED[name]
    places = {"config": "config.yaml", "paper": "papers/p.yaml", "scale": "scales/small.yaml"}
    root = project()
    misspell(root / "config" / places.get(file, "datasets.yaml"), path, right, wrong)
    with pytest.raises(HypersphereError) as caught:
        planning.make(root)
    said = str(caught.value).replace(f"{root / 'config'}/", "")
    assert said.startswith(begins)
    assert f"{wrong}: unknown; did you mean {right}?" in said
    assert "required" not in said


def test_a_misspelt_key_of_a_component_lists_what_the_component_takes(refused: Refused) -> None:
    said = refused(paper={"evaluations.knn.probe.neighbours": 3})
    assert said.startswith("papers/p.yaml: evaluations.knn.probe.neighbours: unknown; knn takes k, temperature")


def test_a_misspelt_study_is_no_table(refused: Refused) -> None:
    said = refused(paper={"artifacts.table": STUDY | {"sudty": "cosine_field"}})
    assert said.startswith("papers/p.yaml: artifacts.table.sudty: unknown; did you mean study? Allowed: draw, title")


@pytest.mark.parametrize("key", ["margin.high", "power", "low_power_df"])
def test_statistics(tmp_path: Path, key: str) -> None:
    shutil.copytree(PROJECT / "config", tmp_path / "config")
    outer, _, right = key.rpartition(".")
    file = tmp_path / "config" / "statistics.yaml"
    misspell(file, outer, right, f"{right}s")
    with pytest.raises(HypersphereError) as caught:
        rules.load(tmp_path)
    assert str(caught.value).startswith(f"{file}: {key}s: unknown; did you mean {right}? Allowed: ")


def test_errata(tmp_path: Path) -> None:
    shutil.copytree(PROJECT / "paper", tmp_path / "paper")
    file = tmp_path / "paper" / "errata.yaml"
    entries = contents(file)
    entries[0]["chosne"] = entries[0].pop("chosen")
    file.write_text(yaml.safe_dump(entries))
    with pytest.raises(HypersphereError) as caught:
        claims.load_errata(tmp_path)
    assert f"{file}: {entries[0]['id']}.chosne: unknown; did you mean chosen? Allowed: id, " in str(caught.value)


# file, path and value of a name that is not declared, and the end of the sentence
NAMES: dict[str, tuple[str, str, Any, str]] = {
    "method of a scale": (
        *("scale", "overrides", [{"when": {"method": "simcrl"}}]),
        "overrides.0.when.method: 'simcrl' is not one of simclr, simsiam",
    ),
    "probe of a scale": ("scale", "probes", {"knm": {}}, "probes: 'knm' is not one of "),
    "encoder": ("paper", "run.encoder.name", "resnet_8", "run.encoder.name: 'resnet_8' is not one of "),
    "field on an axis": (
        *("paper", "artifacts.table.fixed", {"optimizer.learning_rate": 1}),
        "artifacts.table: 'optimizer.learning_rate' is no field of a run and none of method, ",
    ),
    "reading on an axis": ("paper", "artifacts.table.fixed", {"epohc": 1}, "artifacts.table: 'epohc' is no field"),
}
MEANT = {
    "method of a scale": "simclr",
    "probe of a scale": "knn",
    "encoder": "resnet8",
    "field on an axis": "optimiser.learning_rate",
    "reading on an axis": "epoch",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_misspelt_name_is_named_with_the_nearest_one(refused: Refused, name: str) -> None:
    file, path, value, words = NAMES[name]
    said = refused(**{file: {path: value}})
    assert words in said
    assert said.endswith(f"did you mean {MEANT[name]}?")


def test_a_union_lists_all_that_it_allows(refused: Refused) -> None:
    said = refused(scale={"epochs": "many"})
    assert said.startswith("scales/small.yaml: epochs: input should be a valid integer")
    assert said.endswith(" or 'published' (given: 'many')")


# The command line


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"scale": "smal"}, "scale: 'smal' is not one of small; did you mean small?"),
        ({"only": ["p/tabel"]}, "only: 'p/tabel' is not one of p/table; did you mean p/table?"),
        ({"only": "q"}, "only: 'q' is not one of p"),
        ({"device": "tpu"}, "device: input should be 'auto', 'cpu' or 'cuda' (given: 'tpu')"),
        ({"seed": [0]}, "seed is not a setting; did you mean seeds? Allowed: "),
        ({"nonsense": 1}, "nonsense is not a setting; allowed: "),
        ({"epochs": "many"}, "epochs: input should be a valid integer"),
        ({"overrides": [{"set": {"veiws": {}}}]}, "overrides.0.set.veiws: unknown; did you mean views? Allowed: "),
        ({"overrides": [{"set": {"objective": {"temprature": 1}}}]}, "overrides.0.objective.temprature: unknown; "),
        ({"overrides": [{"when": {"paper": "p"}, "set": {"batch": {"size": 3}}}]}, "overrides.0.batch"),
        ({"probes": {"knn": {"kk": 3}}}, "probes.knn.kk: unknown; "),
        ({"datasets": {"cats": "dgos"}}, "datasets.cats: 'dgos' is not one of birds, cats, dogs, few_cats"),
        ({"leaves_out": ["p/x"]}, "leaves_out: 'p/x' is not one of p/table"),
    ],
    ids=str,
)
def test_the_command_line_is_blamed_for_its_own(project: Project, overrides: dict[str, Any], words: str) -> None:
    with pytest.raises(HypersphereError) as caught:
        planning.make(project(), overrides)
    assert str(caught.value).startswith(f"command line: {words}")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"scale": "huge"}, "scale: 'huge' is not one of small"),
        ({"only": ["q"]}, "only: 'q' is not one of p"),
        ({"device": "tpu"}, "device: input should be "),
        ({"onyl": []}, "onyl: unknown; did you mean only?"),
    ],
    ids=str,
)
def test_the_file_is_blamed_for_its_own(project: Project, settings: Any, words: str) -> None:
    root = project(config=settings)
    file = root / "config" / "config.yaml"
    with pytest.raises(HypersphereError) as caught:
        planning.make(root, {})
    assert str(caught.value).startswith(f"{file}: {words}")


def test_where_each_value_was_set(project: Project) -> None:
    root = project()
    config = cfg.load(root, {"scale": "small", "device": "cpu", "epochs": 3})
    line = {key for key, source in config.sources.items() if source == cfg.COMMAND_LINE}
    assert line == {"scale", "device", "epochs"}
    assert config.sources["only"] == root / "config" / "config.yaml"
    assert config.sources["seeds"] == root / "config" / "scales" / "small.yaml"
    assert config.settings == cfg.Settings(scale="small", device="cpu")


# The words


def test_words() -> None:
    assert nearest("temprature", ["weight", "temperature"]) == ["temperature"]
    assert nearest("x", ["weight"]) == []
    assert not_one_of("simcrl", ["byol", "simclr"]) == "'simcrl' is not one of byol, simclr; did you mean simclr?"
    assert [either(["a"]), either(["a", "b"]), either(["a", "b", "c"])] == ["a", "a or b", "a, b or c"]
    assert not_one_of("x", []) == "'x' is not one of none"
    many = [f"name_{i}" for i in range(30)]
    assert not_one_of("x", many).startswith("'x' is not one of name_0, name_1, ")
    assert not_one_of("nam_1", many).startswith("'nam_1' is not one of 30 names; did you mean name_1, ")
    assert (
        unknown_key("temprature", ["temperature", "n"]) == "unknown; did you mean temperature? Allowed: temperature, n"
    )
    assert unknown_key("x", ["temperature", "n"]) == "unknown; allowed: temperature, n"
    assert unknown_key("x", ["n"], "nt_xent") == "unknown; nt_xent takes n"
    assert unknown_key("x", [], "nt_xent") == "unknown; nt_xent takes no parameters"
