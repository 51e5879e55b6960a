"""A small project of its own (project/), whose runs are made to say smooth numbers; the statistics make its tables."""

import importlib
import math
import shutil
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from hypersphere.config import plan as planning
from hypersphere.config.artifacts import HISTORY
from hypersphere.config.cells import on_pixels
from hypersphere.exact.study import Context
from hypersphere.provenance import exact, tables
from hypersphere.report import style, writer
from hypersphere.report.artifact import Points, Shown
from hypersphere.report.results import Results
from hypersphere.statistics import exact_claims

from ...statistics.world import Runs

PROJECT = Path(__file__).parent / "project"
PAPER = "made_up"
SEEDS = (0.6364, -0.6364, 0.0, 1.1023, -1.1023)
"""How far each seed is from the mean: the first two, and all five, have a standard deviation of 0.9."""
START = {"first": 35.0, "stand_in": 35.0, "second": 12.0}
"""The accuracy before training, by dataset."""
GAIN = {"plain": 25.0, "cut": 29.0}
NORM = {"plain": 8.0, "cut": 0.9}
AT = np.arange(31)
HEIGHTS = np.linspace(0.95, -0.95, 31)
ACROSS = np.sqrt(1 - HEIGHTS**2)
IMAGES = pd.DataFrame(
    {
        "image": AT,
        "class": AT % 3,
        "x": ACROSS * np.cos(2.4 * AT),
        "y": ACROSS * np.sin(2.4 * AT),
        "z": HEIGHTS,
    }
)
"""Of three classes: points of a sphere, along a spiral from pole to pole."""


def norm(variant: str, epoch: Any) -> Any:
    return NORM[variant] * (1 + epoch) ** 0.6


PORTRAITS = pd.DataFrame(
    product(("highest", "lowest"), ("cat", "dog"), range(3)), columns=["extreme", "row", "column"]
)
PORTRAITS["caption"] = [f"{2 - column / 4}" for column in PORTRAITS["column"]]
PICTURES = np.arange(1, 13, dtype=np.uint8)[:, None, None, None] * np.full(
    (4, 4, 3), (10, 4, 7), np.uint8
)
"""Of 4 by 4 pixels; the second is twice as bright as the first, the third three times …"""


class Made(Runs):
    """The project under a folder: its tidy tables, which a test changes before it shows them."""

    def __init__(self, root: Path, scale: str, **overrides: Any) -> None:
        super().__init__(planning.make(root, {"scale": scale, **overrides}), PAPER)

    def measured(self) -> None:
        """Have every run say smooth numbers, accuracies of 40 to 70 and norms that grow, and make all tidy tables."""
        for cell in self.plan.cells:
            if cell.run is None or cell.target is None or cell.missing:
                continue
            name, epochs, deviation = cell.run.name, cell.run.schedule.epochs, SEEDS[cell.run.seed]
            at, variant = cell.coordinates, str(cell.coordinates["variant"])
            if cell.protocol == HISTORY:
                course = pd.DataFrame({"epoch": np.arange(1, epochs + 1)})
                self.histories[name] = course.assign(
                    norm=norm(variant, course["epoch"]) + deviation
                )
                continue
            gain = (GAIN[variant] - (4.0 if at["method"] == "simsiam" else 0.0)) * (
                cell.epoch / epochs
            ) ** 0.5
            best = abs(math.log(float(at.get("objective.temperature", 0.5)) / 0.5))
            accuracy = (
                START[str(at["dataset"])]
                + gain
                - 3 * best
                + 0.002 * (float(at.get("batch.size", 128)) - 128)
            )
            means = {"spread": 0.5, "norm": norm(variant, cell.epoch)}
            self.tell(cell, means.get(cell.measure, accuracy) + deviation)
            if on_pixels(self.plan.protocols[PAPER][cell.protocol]):
                self.tell(cell, START[cell.target.name] + 6.25, pixels=True)
            norms = norm(variant, epochs) * np.exp(0.8 * (AT / 15 - 1) ** 3)
            self.images[name], self.portraits[name] = IMAGES.assign(norm=norms), PORTRAITS
            self.pictures[name] = PICTURES * (2 if at["dataset"] == "second" else 1)
        for cell in (cell for cells in self.plan.controls.values() for cell in cells):
            assert cell.run is not None
            self.tell(cell, START[str(cell.coordinates["dataset"])] + 0.5 + SEEDS[cell.run.seed])
        self.measure(*(name for _, name in self.plan.artifacts))
        never = [
            ("made_up.steps.never", "as printed", "seeds", seed, math.inf) for seed in range(3)
        ]
        self.answers("halves", ("made_up.steps.seven", "as printed", "value", 0, 7.0), *never)
        folder = self.plan.config.results / "simulations" / PAPER
        compute = importlib.import_module(self.plan.config.study_code(PAPER, "halves").compute)
        made = compute.halves(Context(self.plan.config, PAPER)).tables
        tables.write(
            folder, {name: (one, list(one)) for name, one in made.items()}, [folder / "answers.csv"]
        )
        self.theory(
            ("made_up.theorem", PAPER, "as printed", 100, 90, 0, 0.0, "", "no counterexample")
        )
        exact_claims.write_theorems(self.plan.config, exact.of_scale(self.plan.config))
        exact_claims.write_studies(self.plan.config, PAPER, exact.of_scale(self.plan.config))

    @property
    def results(self) -> Results:
        return Results(self.plan)

    def build(self, *names: str) -> Path:
        """Write the files of artifacts; the results folder."""
        results = self.results
        for name in names:
            writer.build(results, PAPER, name)
        return self.plan.config.results

    def show(self, name: str) -> Shown:
        return writer.show(self.results, PAPER, name)

    def draw(self, name: str) -> Figure:
        paper = self.plan.config.papers[PAPER]
        kind = importlib.import_module(f"hypersphere.report.kinds.{paper.artifacts[name].draw}")
        with style.house_style():
            return kind.draw(Points(self.results, paper, name))


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Made]:
    """``measured(scale, **overrides)``: the project with everything measured, to read only."""

    @cache
    def _measured(scale: str, **overrides: Any) -> Made:
        root = tmp_path_factory.mktemp("measured")
        shutil.copytree(PROJECT, root, dirs_exist_ok=True)
        made = Made(root, scale, **overrides)
        made.measured()
        return made

    return _measured


@pytest.fixture
def make(tmp_path: Path, measured: Callable[..., Made]) -> Callable[..., Made]:
    """``make(scale="small", folder="project", **overrides)``: a copy of it, to change, without what nothing draws."""

    def _make(scale: str = "small", folder: str = "project", **overrides: Any) -> Made:
        undrawn = shutil.ignore_patterns("runs", "evaluations")  # of 1,800 files all but a hundred
        shutil.copytree(
            measured(scale, **overrides).plan.config.root, tmp_path / folder, ignore=undrawn
        )
        return Made(tmp_path / folder, scale, **overrides)

    return _make


@pytest.fixture(scope="session")
def figure(measured: Callable[..., Made]) -> Callable[..., Figure]:
    """``figure(name, scale="small")``: as it is drawn when nothing is changed, once."""
    return cache(lambda name, scale="small": measured(scale).draw(name))
