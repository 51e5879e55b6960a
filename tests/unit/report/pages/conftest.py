"""A small project of two documents (project/) with made-up results, and stand-ins for how artifacts are shown."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config.claims import Claim
from hypersphere.config.plan import Plan
from hypersphere.config.rules import Verdict
from hypersphere.provenance import tables
from hypersphere.provenance.columns import CLAIMS, RUNS
from hypersphere.report import page, scorecard
from hypersphere.report.results import Results

from ...statistics.world import Runs
from ..conftest import ROOT
from .stand_ins import stand_in

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>\n'


def claim(name: str, kind: str = "value", origin: str = "printed", **given: Any) -> dict[str, Any]:
    """A row of claims.csv: of Table 1, printed and not run, unless said."""
    cell = {
        "method": "plain",
        "variant": "cut",
        "dataset": "photos",
        "metric": "knn_top1",
        "artifact": "table1",
    }
    usual = {} if kind == "theorem" or "study" in given else cell
    said = {
        "reading": "as printed",
        "source": "somewhere",
        "verdict": "not run",
        "unstated": "2",
        "n": 0,
    }
    study = given.get("study", kind if kind == "theorem" else "encoder")
    by = {"theorem": "theorem", "encoder": "encoder", "sentences": "sentence"}.get(study, "study")
    row = {
        "id": name,
        "kind": kind,
        "origin": origin,
        "paper": "alpha",
        "answered_by": by,
        **usual,
        **said,
        **given,
    }
    return {"answer": Verdict.of(row["verdict"]).answer} | row


def claims_at(verdict: str) -> list[dict[str, Any]]:
    """Claims of every sort; those of trained encoders that were measured have this verdict."""
    ours = {
        "measured": "64",
        "n": 2,
        "low": 63.0,
        "high": 65.0,
        "verdict": verdict,
        "measured_on": "digits",
    }
    effect = ours | {
        "measured": "4",
        "low": 2.5,
        "high": 5.5,
        "low_unadjusted": 2.8,
        "high_unadjusted": 5.2,
    }
    effect |= {"baseline": "default", "reported": "4.6"}
    stated = {"artifact": "theorem_1", "sentence": "One is one", "unstated": "0"}
    checked = {"draws": 1000, "met": 900, "violated": 0, "measured": "3e-15"}
    refuted = checked | {"violated": 12, "measured": "0.25", "verdict": "refuted"}
    refuted["counterexample"] = (
        '{"tau": 1.0, "angles": [0.5, -2.0], "left": [0.25, 1.0], "right": [0.0, 1.0]}'
    )
    mended = checked | {"verdict": "no counterexample (erratum)", "reading": "X2"}
    solved = {"artifact": "curve", "study": "rates", "metric": "learning_rate", "n": 1}
    never = {
        "metric": "steps",
        "n": 3,
        "reported": "inf",
        "measured": "inf",
        "verdict": "diverged as published",
    }
    shares = solved | {"metric": "share", "measured": "100", "n": 5}
    says = shares | {"study": "sentences", "n": 2, "verdict": "its table bears it"}
    return [
        claim("alpha.cut", reported="61.1", **ours, runs="run-a run-b"),
        claim("alpha.cut.gain", "comparison", **effect, runs="run-a run-b run-c", answer="holds"),
        claim(
            "alpha.sweep",
            artifact="sweep",
            setting="batch.size=128",
            reported="50",
            why="not made yet",
        ),
        claim(
            "alpha.faces",
            artifact="only_faces",
            dataset="faces",
            reported="9",
            why="nothing stands for faces",
        ),
        claim("alpha.cut.e1", origin="corrected", reading="X1", reported="60", **ours),
        claim("alpha.wider", "comparison", "ours", **effect | {"baseline": "batch.size=64"}),
        claim("alpha.one", "theorem", **stated, **refuted),
        claim("alpha.one.x2", "theorem", "corrected", **stated, **mended),
        claim("alpha.rate", **solved, reported="0.12", measured="0.12", verdict="exact"),
        claim("alpha.never", **solved | never, setting="beta=1;m1=0.4"),
        claim(
            "alpha.shares",
            "comparison",
            **shares,
            sentence="All are so",
            verdict="no counterexample",
        ),
        claim("alpha.gain", "comparison", "implied", **effect, answer="opposite"),
        claim("alpha.says", "comparison", **says, sentence="Both hold"),
        claim("alpha.sketch", **solved, reported="1", measured="0.5", verdict="cannot be judged"),
    ]


class World(Runs):
    """A plan, and results of Table 1, of the curve, and of whatever a test measures."""

    def __init__(self, plan: Plan, verdict: str, shift: float) -> None:
        super().__init__(plan, "alpha")
        self.claims = claims_at(verdict)
        for cell in plan.artifacts["alpha", "table1"]:
            if cell.run is not None and not cell.missing:
                mean = (64.0 if cell.coordinates["variant"] == "cut" else 60.0) + shift
                # two of them have a standard deviation of 0.9
                self.tell(cell, mean + 0.6364 * (-1) ** cell.run.seed)
        self.write_claims()
        made_by = {
            "status": "finished",
            "epochs": 10,
            "device": "cpu",
            "threads": 1,
            "torch": "2.13.0",
        }
        made_by |= {
            "code": "c0de",
            "data": "da7a",
            "kind": "cpu",
            "precision": "float32",
            "plan": "",
        }
        made_by |= {"weights": "", "alike": "", "records": 1}
        runs = pd.DataFrame([{"run": f"run-{at}", **made_by} for at in "abc"])
        tables.write(self.folder / "statistics", {"runs": (runs, RUNS)})
        self.measure("table1")
        curve = pd.DataFrame({"x": [1.0]}), tables.numbers("x")
        for folder in (
            self.plan.config.exact_studies("alpha"),
            self.folder / "simulations" / "alpha",
        ):
            tables.write(folder, {"curve": curve})
        self.draw("curve")

    @property
    def results(self) -> Results:
        return Results(self.plan)

    @property
    def folder(self) -> Path:
        return self.plan.config.results

    def write_claims(self) -> None:
        table = pd.DataFrame(self.claims).reindex(columns=list(CLAIMS))
        table["scale"] = self.plan.config.scale_name
        tables.write(self.folder, {"claims": (table, CLAIMS)})

    def draw(self, name: str) -> None:
        svg = self.folder / "figures" / "alpha" / f"{name}.svg"
        files.write_text(svg, SVG)
        Image.new("RGB", (9, 9)).save(svg.with_suffix(".png"))

    def build(self) -> None:
        scorecard.build(self.plan)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


def made(
    scale: str = "quick",
    verdict: str = "quick only",
    *,
    root: Path,
    shift: float = 0.0,
    **overrides: Any,
) -> World:
    shutil.copytree(Path(__file__).parent / "project", root, dirs_exist_ok=True)
    shutil.copy(ROOT / "config" / "statistics.yaml", root / "config" / "statistics.yaml")
    columns = [name for name, field in Claim.model_fields.items() if not field.exclude]
    for one in ("alpha", "beta"):  # what they print stands in ``claims_at`` alone
        files.write_text(root / "papers" / one / "claims.csv", ",".join(columns) + "\n")
    return World(planning.make(root, {"scale": scale, **overrides}), verdict, shift)


@pytest.fixture(scope="session")
def _stand_ins() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "show", stand_in)
        yield


@pytest.fixture
def make(tmp_path: Path, _stand_ins: None) -> Callable[..., World]:
    return partial(made, root=tmp_path)


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory, _stand_ins: None) -> World:
    """The quick scale with everything built, to read only."""
    world = made(root=tmp_path_factory.mktemp("quick"))
    world.build()
    return world


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory, _stand_ins: None) -> World:
    """The published scale with everything built and every measured claim reproduced, to read only."""
    world = made("paper", "reproduced", root=tmp_path_factory.mktemp("published"))
    world.build()
    return world
