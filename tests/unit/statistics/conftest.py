"""A small results folder, written by hand: one paper, one table, fake runs. No torch and no training."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from hypersphere.declared import config as cfg
from hypersphere.declared.artifacts import Paper, Table
from hypersphere.declared.plan import Cell, Plan
from hypersphere.statistics import gather, theorems
from hypersphere.statistics.build import write

REPOSITORY = Path(__file__).parents[3]
ROWS = ["simclr.default", "simclr.cut3", "simsiam.default", "simsiam.cut9"]
USED = {"ten": "digits", "hundred": "pairs", "flowers": None}
CLAIM = (
    "id,kind,origin,artifact,method,variant,baseline,dataset,setting,metric,reported,reported_std,"
    "reading,sentence,source"
)

Row = tuple[str, int, bool, str, str, float | None, int | None, str]


class World:
    """A plan over a temporary root, and its evaluation files."""

    rows = ROWS

    @staticmethod
    def run_name(row: str, used: str, seed: int) -> str:
        """How the fake runs are called."""
        return f"{row}-{used}-s{seed}"

    def __init__(self, root: Path, level: str = "paper", seeds: Sequence[int] = (0, 1, 2), **overrides: Any) -> None:
        (root / "config").mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / "config" / "statistics.yaml", root / "config")
        table = Table(kind="table", title="t", metric="knn_top1", rows=ROWS, columns=list(USED), baseline="default")
        paper = Paper(
            paper="norms",
            title="Norms",
            run={},
            methods={},
            variants={},
            open_choices={"all": ["a", "b"], "simsiam": ["c"]},
            evaluations=[],
            artifacts={"table5": table},
            datasets={},
            labels={},
        )
        scale = cfg.Scale.model_construct(scale=level, level=level, seeds=list(seeds), datasets=USED)
        settings = cfg.Settings(scale=level, papers=["norms"])
        config = cfg.Config(
            root=root,
            settings=settings,
            scale=scale,
            overrides=overrides,
            papers={"norms": paper},
            datasets={},
        )
        cells = []
        for row in ROWS:
            for dataset, used in USED.items():
                for seed in seeds if used else ():
                    run = SimpleNamespace(
                        name=self.run_name(row, used, seed), seed=seed, dataset=SimpleNamespace(name=used)
                    )
                    cells.append(Cell("norms", *row.split("."), dataset, run))  # type: ignore[arg-type]
        self.plan = Plan(config, tuple(cells), ())
        self.files: list[Path] = []

    def evaluate(self, name: str, rows: Sequence[Row]) -> None:
        """Write one evaluations file."""
        path = self.plan.config.results / "evaluations" / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows, columns=gather.EVALUATION).to_csv(path, index=False)
        self.files.append(path)

    def finals(self, row: str, values: Sequence[float | None], used: str = "digits") -> None:
        """kNN accuracies at the last epoch by seed; None is a run that diverged at epoch 3."""
        self.evaluate(
            f"{row}-{used}",
            [
                (self.run_name(row, used, seed), 10, True, "knn_top1", used, value, 100, "finished")
                if value is not None
                else (self.run_name(row, used, seed), 3, True, "knn_top1", used, None, None, "diverged")
                for seed, value in enumerate(values)
            ],
        )

    def history(self, run: str, norms: Sequence[float]) -> None:
        """A run's history, epochs from 1."""
        path = self.plan.run_folder(run) / "history.csv"
        path.parent.mkdir(parents=True)
        frame = pd.DataFrame({"epoch": range(1, len(norms) + 1), "loss": 1.5, "norm": norms, "learning_rate": 0.1})
        frame.to_csv(path, index=False)

    def claims(self, *rows: str) -> None:
        """Write paper/claims/norms.csv."""
        path = self.plan.config.root / "paper" / "claims" / "norms.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([CLAIM, *rows]) + "\n")

    def theory(self, *rows: Sequence[Any]) -> None:
        """Write theory.csv, as the command `theory` does."""
        table = pd.DataFrame(rows, columns=theorems.COLUMNS)
        write(self.plan.config.results, {"theory": (table, theorems.COLUMNS)})

    def table(self, name: str) -> pd.DataFrame:
        """A written table as text, an empty field as ''."""
        return pd.read_csv(self.plan.config.results / name, dtype=str, keep_default_na=False)


@pytest.fixture
def make_world(tmp_path: Path) -> Callable[..., World]:
    """Worlds over one temporary root."""

    def make(**options: Any) -> World:
        return World(tmp_path, **options)

    return make
