"""Components of other distributions: found without an import, used like ours, and refused with a sentence."""

import ast
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from hypersphere.config import measures, registry
from hypersphere.config import plan as planning
from hypersphere.config.claims import why_not_made
from hypersphere.provenance import sources
from hypersphere.testing import check_objective

from ...fixtures import Refused
from ...golden.released import ROOT

Install = Callable[..., Path]


def forget() -> None:
    for one in vars(registry).values():
        getattr(one, "cache_clear", lambda: None)()
    sources.forget()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """``install("package", {"objectives/loss.py": text})``: a distribution of that package, which is not imported."""

    def make(package: str, files: dict[str, str], entry: str | None = None) -> Path:
        site = tmp_path / package
        about = site / f"{package}_dist-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}-dist\nVersion: 1.0\n"
        )
        (about / "entry_points.txt").write_text(f"[{registry.GROUP}]\nany = {entry or package}\n")
        for name, text in {"__init__.py": "", **files}.items():
            path = site / package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        monkeypatch.syspath_prepend(site)
        forget()
        return site / package

    yield make
    monkeypatch.undo()
    forget()
    for name in [name for name in sys.modules if name.split(".")[0] in ("first", "second")]:
        del sys.modules[name]


def loss(
    name: str, annotation: str = "float", default: str = "1.0", value: str = "z_a.sum()"
) -> dict[str, str]:
    head = f'def {name}(z_a, z_b, *, weight: {annotation} = {default}) -> Float[Tensor, ""]:'
    return {f"objectives/{name}.py": f"{head}\n    return {value}\n"}


def test_a_loss_is_found_checked_and_loaded_from_its_file(install: Install) -> None:
    files = loss("tug", "PositiveFloat")
    files["objectives/tug.py"] = "from first.helper import *\n" + files["objectives/tug.py"]
    files["helper.py"] = (
        "from jaxtyping import Float\nfrom pydantic import PositiveFloat\nfrom torch import Tensor\n"
    )
    install("first", files)
    assert "tug" in registry.names("objectives")
    assert registry.needs("tug") == ("pair",)
    with pytest.raises(ValidationError):
        registry.schema("objectives", "tug").model_validate({"weight": -1})
    assert registry.module_name("objectives", "tug") == "first.objectives.tug"
    assert not any(name.startswith("first") for name in sys.modules)
    assert registry.load("objectives", "tug").__module__ == "first.objectives.tug"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('GIVES = ("a", "b")', ("a", "b")),
        ('GIVES: tuple[str, ...] = ("a", "b")', ("a", "b")),
        ('USES = GIVES = ("a",)', ("a",)),
        ("GIVES: tuple[str, ...]", "default"),
    ],
)
def test_a_constant_is_read_however_it_is_assigned(
    install: Install, text: str, value: object
) -> None:
    install("first", {"objectives/tug.py": f"{text}\n{loss('tug')['objectives/tug.py']}"})
    assert registry.read_constant("objectives", "tug", "GIVES", "default") == value


@pytest.mark.parametrize("text", ["GIVES = tuple(NAMES)", "GIVES: tuple[str, ...] = (NAME,)"])
def test_a_constant_that_is_no_literal_is_refused(
    install: Install, refused: Refused, text: str
) -> None:
    install("first", {"objectives/tug.py": f"{text}\n{loss('tug')['objectives/tug.py']}"})
    with refused("first/first/objectives/tug.py"):
        registry.read_constant("objectives", "tug", "GIVES", ())


def test_the_digest_of_its_code_follows_its_package_and_ours(install: Install) -> None:
    text = "import first.helper\nfrom hypersphere.objectives import geometry\n"
    folder = install("first", {"objectives/other.py": text, "helper.py": "x = 1\n"})
    found = sources.closure(["first.objectives.other"])
    assert {"first.helper", "hypersphere.objectives.geometry"} <= found.keys()
    before = sources.code_digest("first.objectives.other")
    (folder / "helper.py").write_text("x = 2\n")
    sources.forget()
    assert sources.code_digest("first.objectives.other") != before


def test_trainers_kinds_of_artifacts_and_measures(install: Install, refused: Refused) -> None:
    table = "name,label,unit,decimals,what\nwarmth,warmth,%,1,how warm it is\n"
    folder = install(
        "first",
        {
            "trainers/sound.py": "IMAGES = True\ndef pretrain(run, data, execution, folder): ...\n",
            "kinds/radar.py": 'OF = "runs"\nAXES = {"rows": True}\nFOLDER = "figures"\ndef draw(points): ...\n',
            "measures.csv": table,
        },
    )
    assert registry.names("trainers") == ("control", "image", "sound", "text")
    assert "radar" in registry.artifact_kinds("runs")
    assert registry.artifact_kind("radar").folder == "figures"
    assert measures._all()["warmth"].label == "warmth"
    assert (
        "warmth" in sources.closure(["hypersphere.config.measures"])["hypersphere.config.measures"]
    )
    (folder / "measures.csv").write_text(table.replace("warmth,warmth", "knn_top1,warmth"))
    with refused("first/first/measures.csv"):
        measures._all()


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("tug", loss("tug")),  # first has one too
        ("nt_xent", loss("nt_xent")),
        ("pull", loss("pull", "np.float64")),
        ("pull", loss("pull", "Positive")),
        ("pull", loss("pull", "float", "DEFAULT")),
        ("pull", {"objectives/pull.py": "def pull(:\n"}),
    ],
    ids=["taken", "ours", "other annotation", "unknown annotation", "unknown default", "no Python"],
)
def test_a_component_that_cannot_be_read_is_said(
    install: Install, refused: Refused, name: str, files: dict[str, str]
) -> None:
    install("first", loss("tug"))
    install("second", files)
    with refused(f"second/second/objectives/{name}.py"):
        registry.schema("objectives", "pull")


@pytest.mark.parametrize(
    "entry", ["nowhere_at_all", "first.objectives", "first:objectives", "graphlib"]
)
def test_an_entry_point_that_names_no_package_is_said(
    install: Install, entry: str, refused: Refused
) -> None:
    install("first", {}, entry)
    with refused("first-dist"):
        registry.packages()


def test_the_example_keeps_the_contract_of_every_loss(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "examples" / "my_loss" / "src")
    install("first", {}, "my_loss")
    page = (ROOT / "docs" / "adding_a_loss.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[1], names)
    names["test_it_keeps_the_contract"]()


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("(z_a * z_b.detach()).sum()", "gradient"),
        ("(z_a.norm(dim=1) - z_b.norm(dim=1)).square().mean().sqrt()", "not finite: .*all zero"),
        ("(z_a - z_b)[0].square().sum()", "close"),
        ("z_a.sum().detach() + 0 * z_a.sum()", "does not lower it"),
    ],
)
def test_control_a_loss_that_breaks_the_contract_is_refused(
    install: Install, value: str, problem: str
) -> None:
    text = (
        "from jaxtyping import Float\nfrom torch import Tensor\n"
        + loss("tug", value=value)["objectives/tug.py"]
    )
    install("first", {"objectives/tug.py": text})
    with pytest.raises(Exception, match=problem):
        check_objective("tug", {})


@pytest.mark.usefixtures("install")
def test_without_the_plug_ins_what_needs_them_is_left_out_with_their_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The released papers, as they are planned where neither is installed; ``install`` forgets it afterwards."""
    monkeypatch.setattr(registry, "entry_points", lambda group: [])
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    forget()
    plan = planning.make(ROOT, {"scale": "quick"})
    reasons: dict[str, set[str]] = {}
    for cell in plan.cells:
        if cell.run is not None:
            reasons.setdefault(cell.run.kind, set()).add(cell.missing)
    said = "hypersphere-{0} is not installed: pip install ./plugins/{0}"
    assert all(said.format(kind) in reasons[kind] for kind in ("text", "control"))
    assert not any("is not installed" in reason for reason in reasons["image"])
    assert {run.kind for run in plan.runs.values()} == {"image"}
    assert why_not_made(plan, "lmcl", "word_counts") == said.format("text")


def test_started_by_its_path_the_checkouts_plug_ins_come_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in an environment of conda's, which has neither."""
    monkeypatch.setattr(sys, "path", ["a script's folder", "another"])
    runpy.run_path(str(ROOT / "src" / "hypersphere" / "__main__.py"))
    sources = [ROOT / "src", *(ROOT / "plugins" / name / "src" for name in ("control", "text"))]
    assert sys.path == [*map(str, sources), "another"]


def test_nothing_of_the_core_names_a_plug_in() -> None:
    """Neither imports one, nor asks for its kind of run."""
    paths = list((ROOT / "src" / "hypersphere").rglob("*.py"))
    assert len(paths) > 100
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                modules = [
                    getattr(node, "module", None) or "",
                    *(alias.name for alias in node.names),
                ]
                assert not any(
                    name.startswith(("hypersphere_", "dm_control", "mujoco")) for name in modules
                ), path
