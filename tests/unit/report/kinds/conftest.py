"""A small project of its own (project/), and tidy tables of made-up numbers in its results folder."""

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hypersphere.config import coordinates
from hypersphere.config import plan as planning
from hypersphere.config.artifacts import Measured
from hypersphere.config.cells import Cell
from hypersphere.config.claims import load
from hypersphere.config.plan import Plan
from hypersphere.provenance import pictures, tables
from hypersphere.provenance.columns import CLAIMS, DISTRIBUTION, EFFECTS, PICTURES, POINTS, TABLES
from hypersphere.report import writer
from hypersphere.report.artifact import Shown
from hypersphere.report.results import Results
from hypersphere.report.studies import Drawing, Layout
from hypersphere.simulations.pair_attraction import draw

PROJECT = Path(__file__).parent / "project"
PAPER = "made_up"
NAN = math.nan
CHANCE, PIXELS, UNTRAINED = 10.0, 41.25, 35.5
GAIN = {"plain": 25.0, "cut": 29.0}
NORM = {"plain": 8.0, "cut": 0.9}
SHADES = np.full((4, 4, 3), (10, 4, 7), np.uint8)
"""The first picture; the others are twice, three times … as bright."""


def mean_of(cell: Cell) -> float:
    """A smooth made-up number: accuracies of 40 to 70, norms that grow."""
    at, variant = cell.coordinates, str(cell.coordinates["variant"])
    if cell.measure == "spread":
        return 0.5
    if cell.measure == "norm":
        return NORM[variant] * (1 + cell.epoch) ** 0.6
    assert cell.run is not None
    course = (cell.epoch / cell.run.schedule.epochs) ** 0.5
    start = 35.0 if at["dataset"] == "first" else 12.0
    gain = GAIN[variant] - (4.0 if at["method"] == "simsiam" else 0.0)
    best = abs(math.log(float(at.get("objective.temperature", 0.5)) / 0.5))
    return start + gain * course - 3 * best + 0.002 * float(at.get("batch.size", 0))


class Tables(dict[str, dict[str, pd.DataFrame]]):
    """An artifact's tables, made when they are first asked for."""

    def __init__(self, make: Callable[[str], dict[str, pd.DataFrame]]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> dict[str, pd.DataFrame]:
        self[name] = self._make(name)
        return self[name]


class Made:
    """A results folder: its tidy tables by artifact and name, to change before they are written."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.tables = Tables(self._of)
        self.shades = SHADES

    def _of(self, name: str) -> dict[str, pd.DataFrame]:
        artifact, cells = self.plan.config.papers[PAPER].measured[name], self.plan.artifacts[PAPER, name]
        own = [cell for cell in cells if cell.run is not None and not cell.missing]
        each = {cell.text: cell for cell in own}
        seeds = sorted({cell.run.seed for cell in own if cell.run})
        summary = [self._row(cell, mean_of(cell), 0.9, len(seeds)) for cell in each.values()]
        return {
            "measurements": pd.DataFrame([self._measurement(cell) for cell in own]),
            "summary": pd.DataFrame([*summary, *self._controls(list(each.values()), len(seeds))]),
            "effects": self._effects(artifact, each, len(seeds)),
            "distribution": pd.DataFrame(
                [quantile for cell in own for quantile in self._quantiles(cell)],
                columns=list(DISTRIBUTION),
            ),
            "pictures": pd.DataFrame(
                [picture for place, cell in enumerate(each.values()) for picture in self._pictures(place, cell)],
                columns=list(PICTURES),
            ),
            "points": pd.DataFrame(
                [point for cell in each.values() for point in self._points(cell)], columns=list(POINTS)
            ),
            "runs": pd.DataFrame(
                [self._run(cell) for cell in {cell.run.name: cell for cell in own if cell.run}.values()]
            ),
        }

    def _described(self, point: coordinates.Coordinates, cell: Cell) -> dict[str, Any]:
        assert cell.run is not None
        assert cell.target is not None
        return {
            "coordinates": coordinates.text(point),
            **{key: point[key] for key in coordinates.IDENTITY},
            **{"setting": coordinates.setting(point), "measure": cell.measure, "measured_on": cell.run.dataset.name},
            **{"probed_on": cell.target.name, "epoch": cell.epoch, "final": cell.final, "protocol": cell.protocol},
            **{"protocol_digest": "c0de", "n_test": 360},
        }

    def _row(self, cell: Cell, mean: float, std: float, n: int) -> dict[str, Any]:
        low, high = (mean - 1.1 * std, mean + 1.1 * std) if n > 1 else (NAN, NAN)
        spread = {"std": std if n > 1 else NAN, "n": n, "low": low, "high": high, "n_diverged": 0, "n_declared": n}
        return self._described(cell.coordinates, cell) | {"mean": mean, "level": "", **spread}

    def _measurement(self, cell: Cell) -> dict[str, Any]:
        assert cell.run is not None
        known = {"seed": cell.run.seed, "run": cell.run.name, "status": "finished"}
        return self._described(cell.coordinates, cell) | known | {"value": mean_of(cell) + 0.9 * (cell.run.seed - 0.5)}

    def _controls(self, cells: list[Cell], n: int) -> list[dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for cell in cells:
            for variant, mean, std in (("chance", CHANCE, NAN), ("pixels", PIXELS, NAN), ("untrained", UNTRAINED, 0.8)):
                if cell.measure != "norm":
                    kept = {k: v for k, v in cell.coordinates.items() if k in ("dataset", "target", "label", "measure")}
                    point = coordinates.ordered({**kept, "method": "control", "variant": variant})
                    known = {"mean": mean, "std": std, "low": NAN, "high": NAN, "n_diverged": 0, "epoch": 0}
                    known |= {"n_declared": NAN, "level": ""}
                    row = self._described(point, cell) | known | {"n": 0 if math.isnan(std) else n, "final": True}
                    found.setdefault(coordinates.text(point), row)
        return list(found.values())

    def _effects(self, artifact: Measured, cells: dict[str, Cell], n: int) -> pd.DataFrame:
        rows = []
        for text, cell in cells.items():
            other = artifact.compared_with(cell.coordinates)
            if other is not None:
                effect = mean_of(cell) - mean_of(cells[coordinates.text(other)])
                bounds = {"low_holm": effect - 1.5, "high_holm": effect + 1.5, "p_holm": 0.0002, "low_power": n < 3}
                bounds["in_family"] = True
                known = {"coordinates": text, "baseline": coordinates.text(other), "effect": effect}
                rows.append({**dict.fromkeys(EFFECTS, NAN), **known, **bounds})
        return pd.DataFrame(rows, columns=list(EFFECTS))

    def _quantiles(self, cell: Cell) -> list[dict[str, Any]]:
        assert cell.run is not None
        known = {"coordinates": cell.text, "seed": cell.run.seed, "run": cell.run.name}
        spread = [(at / 100, mean_of(cell) * math.exp(0.8 * (at / 50 - 1) ** 3)) for at in range(0, 101, 2)]
        return (
            [{**known, "quantile": quantile, "value": value} for quantile, value in spread]
            if (cell.measure == "norm" and "epoch" not in cell.coordinates)
            else []
        )

    def _run(self, cell: Cell) -> dict[str, Any]:
        assert cell.run is not None
        made_by = {"device": "cpu", "threads": 1, "torch": "2.13.0", "code": "c0de", "data": "da7a"}
        made_by |= {"kind": "cpu", "precision": "float32", "plan": ""}
        return {"run": cell.run.name, "status": "finished", "epochs": cell.run.schedule.epochs, **made_by}

    def _pictures(self, place: int, cell: Cell) -> list[dict[str, Any]]:
        """Two rows of three pictures of 4 by 4 pixels."""
        if "extreme" not in cell.coordinates or cell.run is None:
            return []
        known = {"coordinates": cell.text, "seed": cell.run.seed, "run": cell.run.name, "height": 4, "width": 4}
        return [
            {**known, "row": row, "column": str(column), "caption": f"{2 - column / 4}"}
            | {"top": 4 * (6 * place + 3 * at + column)}
            for at, row in enumerate(("cat", "dog"))
            for column in range(3)
        ]

    def _points(self, cell: Cell) -> list[dict[str, Any]]:
        """Thirty points along a spiral from pole to pole, of three classes."""
        if cell.measure != "spread" or cell.run is None:
            return []
        known = {"coordinates": cell.text, "seed": cell.run.seed, "run": cell.run.name}
        heights = [1 - (at + 0.5) / 15 for at in range(30)]
        return [
            {**known, "image": at, "class": at % 3, "x": math.sqrt(1 - z * z) * math.cos(2.4 * at)}
            | {"y": math.sqrt(1 - z * z) * math.sin(2.4 * at), "z": z}
            for at, z in enumerate(heights)
        ]

    def change(self, artifact: str, table: str, where: str, **values: Any) -> None:
        """Set columns of the rows whose coordinates are ``where``."""
        rows = self.tables[artifact][table]
        chosen = rows["coordinates"] == where
        assert chosen.any(), where
        for column, value in values.items():
            rows.loc[chosen, column] = value

    def results(self, *names: str) -> Results:
        """Write the tidy tables of artifacts, of all if none is named, as the statistics do, and read them anew."""
        for name in [name for _, name in self.plan.artifacts if name in names or not names]:
            written = {table: (rows, TABLES[table]) for table, rows in self.tables[name].items()}
            folder, count = self.plan.artifact_folder(PAPER, name), len(self.tables[name]["pictures"])
            pictures.write(folder / "pictures.png", [self.shades * shade for shade in range(1, count + 1)] or [SHADES])
            tables.write(folder, written, [folder / "pictures.png"])
        self._studies()
        return Results(self.plan)

    def _studies(self) -> None:
        folder = self.plan.config.results
        study = pd.DataFrame({"step": [1, 2, 3], "value": [0.5, 0.25, 0.125]})
        columns = list(study.columns)
        tables.write(folder / "simulations" / PAPER, {"sketch": (study, columns), "steps": (study, columns)})
        printed = load(self.plan.config.root / "config" / "papers" / PAPER / "claims.csv")
        rows = [
            {**dict.fromkeys(CLAIMS, ""), "id": claim.id, "paper": PAPER, "artifact": claim.artifact}
            | {"kind": claim.kind, "source": claim.source, "variant": claim.variant, "metric": claim.metric or ""}
            | {"reported": "" if claim.reported is None else str(claim.reported), "measured": "7"}
            | {"verdict": "exact" if claim.kind == "theorem" else "reproduced"}
            for claim in printed
            if claim.artifact in ("steps", "theorem1")
        ]
        tables.write(
            folder / "statistics" / PAPER,
            {"studies": (pd.DataFrame(rows, columns=list(CLAIMS)), CLAIMS)},
        )

    def build(self, *names: str) -> Path:
        """Write the files of artifacts, of all if none is named; the results folder."""
        results = self.results(*names)
        for name in names or self.plan.config.papers[PAPER].artifacts:
            writer.build(results, PAPER, name)
        return self.plan.config.results

    def show(self, name: str) -> Shown:
        """An artifact as others show it."""
        return writer.show(self.results(name), PAPER, name)


def sketch(table: pd.DataFrame, finding: str = "") -> Drawing:
    """A figure of a made-up study."""
    curve = lambda figure: figure.subplots().plot(table["step"], table["value"])  # noqa: E731
    return Drawing((4.0, 2.0), "Halves by step", curve, f"Three steps of {len(table)}.", finding)


def steps(table: pd.DataFrame, claims: pd.DataFrame) -> Layout:
    """A table of a made-up study."""
    printed = {row["variant"]: row["reported"] for row in claims.to_dict("records")}
    body = [[name, "7.0", f"{value:g}"] for name, value in printed.items()]
    return Layout(["Name", "Ours", "Printed"], body, "Steps | γ‖z‖² <script>alert(1)</script>.")


Make = Callable[..., Made]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """``make(scale="small", folder="project", **overrides)``: tidy tables of a scale, not written yet."""
    for function in (sketch, steps):
        monkeypatch.setattr(draw, function.__name__, function, raising=False)

    def _make(scale: str = "small", folder: str = "project", **overrides: Any) -> Made:
        shutil.copytree(PROJECT, tmp_path / folder, dirs_exist_ok=True)
        return Made(planning.make(tmp_path / folder, {"scale": scale, **overrides}))

    return _make
