"""A small project with made-up measurements: real configuration and plan, no torch and no training.

Every number that a test does not set is filled in, so that every artifact can be made.
"""

import copy
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config import rules
from hypersphere.config.artifacts import Protocol
from hypersphere.config.cells import Cell, raw_pixels
from hypersphere.config.coordinates import parse, text
from hypersphere.config.plan import Plan
from hypersphere.config.records import UNDEFINED
from hypersphere.exact.study import COLUMNS
from hypersphere.file_names import MANIFEST
from hypersphere.provenance import exact, pictures, tables
from hypersphere.provenance.columns import TABLES, THEORY
from hypersphere.statistics import exact_claims, judge, measure

PROJECT = Path(__file__).parents[2] / "project"
RULES = rules.load(PROJECT)
ROWS = ["simclr.default", "simclr.cut3", "simsiam.default", "simsiam.cut9"]
DATASETS: dict[str, Any] = {
    name: {"source": None} for name in ("ten", "hundred", "flowers", "far", "text")
}
DATASETS |= {
    used: {"source": {"name": "digits", "task": task}}
    for used, task in (("digits", "upright"), ("pairs", "turned"))
}
USED = {"ten": "digits", "hundred": "pairs", "flowers": None, "far": "far"}
"""What stands for the published datasets."""
CLASSES = {"pairs": 16}
"""Of a dataset; 10 of all others."""
PAPER: dict[str, Any] = files.read_yaml(Path(__file__).with_name("paper.yaml"))
STUDY: dict[str, Any] = {
    **{
        "question": "?",
        "title": "Cuts",
        "measure": "knn_top1",
        "margin": 1.0,
        "hours": 1,
        "scale": "laptop",
    },
    "answers": {"yes": "a", "no": "b", "unclear": "c", "numbers": {"yes": {"ahead": [0, 0]}}},
}
"""What every study says; its arms and seeds are its own."""
GLOBE: dict[str, Any] = {
    **{"draw": "sphere", "title": "Points", "measure": "spread", "by": "points"},
    "rows": {"variant": ["default", "cut3"]},
    "columns": {"epoch": [50, 100]},
    "fixed": {"method": "simclr", "dataset": "ten"},
}
"""An artifact whose probe leaves tables like ``POINTS``."""
POINTS = pd.DataFrame(
    {"image": [3, 8], "class": [1, 0], "x": [0.25, 0.0], "y": [0.0, 1.0], "z": [0.5, 0.0]}
)
CLAIM: dict[str, Any] = {
    **{
        "id": "c",
        "kind": "value",
        "origin": "printed",
        "artifact": "table5",
        "method": "simclr",
        "variant": "default",
    },
    **{
        "baseline": "",
        "dataset": "ten",
        "setting": "",
        "metric": "knn_top1",
        "reported": 51.0,
        "reported_std": "",
    },
    "reported_n": "",
    **{"direction": "", "reading": "as printed", "sentence": "", "source": "Table 5"},
}
"""A claim of the first cell of table5; ``claim`` changes fields of it."""
SPLITS = ["split=test", "split=train"]
EXTREMES = ["split=train;extreme=highest", "split=train;extreme=lowest"]


def claim(identifier: str, **changed: Any) -> dict[str, Any]:
    return CLAIM | {"id": identifier} | changed


def gain(identifier: str, **changed: Any) -> dict[str, Any]:
    """A comparison of cut3 with the default, by a printed difference of 5 points."""
    compared = {"kind": "comparison", "variant": "cut3", "baseline": "default", "reported": 5.0}
    return claim(identifier, **compared | changed)


def at(row: str = ROWS[0], **coordinates: Any) -> str:
    """The text of a cell's coordinates: of a row of table5 on ten, measured by kNN, but for what is changed."""
    method, variant = row.split(".")
    first = {"method": method, "variant": variant, "dataset": "ten", "measure": "knn_top1"}
    return text({**first, **{key.replace("__", "."): value for key, value in coordinates.items()}})


class Runs:
    """What the runs of a document's plan, and their probes, are made to say."""

    def __init__(self, plan: Plan, paper: str) -> None:
        self.plan, self.paper = plan, paper
        self.said: dict[tuple[str, str], dict[tuple[int, str, str, str], float | str | None]] = {}
        self.made: dict[str, dict[str, Any]] = {}
        """Device and numerics of runs that were not made as the others."""
        self.status: dict[str, str] = {}
        self.histories: dict[str, pd.DataFrame] = {}
        self.images: dict[str, pd.DataFrame] = {}
        self.repeated: dict[str, dict[str, Any] | None] = {}
        """By the probed dataset: the counts of its repeated images."""
        self.portraits: dict[str, pd.DataFrame] = {}
        self.tables: dict[str, dict[str, pd.DataFrame]] = {}
        """By artifact, once it is measured."""
        self.pictures: dict[str, np.ndarray] = {}
        """By run, one for each row of its portraits."""

    def cells(self, artifact: str, coordinates: str) -> list[Cell]:
        """The cells of an artifact that have these coordinates, one for each seed."""
        wanted = text(parse(coordinates, "test"))
        found = [cell for cell in self.plan.artifacts[self.paper, artifact] if cell.text == wanted]
        assert found, f"{artifact} has no {wanted}"
        return found

    def run(self, artifact: str, coordinates: str, seed: int = 0) -> str:
        """The name of a cell's run of the ``seed``th seed."""
        return self.cells(artifact, coordinates)[seed].run.name

    def say(self, artifact: str, coordinates: str, values: Sequence[float | str | None]) -> None:
        """What is measured for a cell, a number for each seed; None: its run diverged; or the word undefined."""
        for cell, value in zip(self.cells(artifact, coordinates), values, strict=True):
            if value is None:
                self.status[cell.run.name] = "diverged"
            self.tell(cell, value)

    def tell(self, cell: Cell, value: float | str | None, pixels: bool = False) -> None:
        """What is measured for one cell; or for the raw pixels of its dataset."""
        target = cell.target.name
        subject, epoch = (raw_pixels(target), 0) if pixels else (cell.run.name, cell.epoch)
        key = epoch, target, cell.how.of_probe(cell.measure), cell.reading
        self.said.setdefault((subject, cell.how.digest), {})[key] = value

    def of_pixels(self, dataset: str, protocol: str, values: Mapping[str, float | str]) -> None:
        """What a protocol says of a dataset's raw pixels, by measure."""
        digest = self.plan.protocols[self.paper][protocol].digest
        self.said[f"pixels-{dataset}", digest] = {
            (0, dataset, name, ""): value for name, value in values.items()
        }

    def write(self, *artifacts: str) -> None:
        """Every file that the runs of these artifacts, by default of all, and their probes leave."""
        shown = {name for artifact in artifacts for name in self.plan.runs_of(self.paper, artifact)}
        for name in shown if artifacts else self.plan.runs:
            self._run(name, self.plan.runs[name].schedule.epochs)
            for asked in self.plan.evaluations[name].values():
                self._evaluation(name, asked.protocol, sorted(asked.at))
        for dataset, protocols in self.plan.protocols_of_pixels(self.plan.runs.values()).items():
            for protocol in protocols.values():
                self._evaluation(raw_pixels(dataset), protocol, [(0, dataset)])

    def _run(self, name: str, epochs: int) -> None:
        folder = self.plan.run_folder(name)
        plain = pd.DataFrame(
            {"epoch": range(1, epochs + 1), "loss": 1.5, "norm": 2.0, "learning_rate": 0.1}
        )
        files.write_text(
            folder / "history.csv", self.histories.get(name, plain).to_csv(index=False)
        )
        manifest = {
            **{
                "name": name,
                "status": self.status.get(name, "finished"),
                "epochs": epochs,
                "code": "c0de",
            },
            **{
                "data": "da7a",
                "device": {"type": "cpu", "name": "a processor"},
                "numerics": {"threads": 1},
            },
            **self.made.get(name, {}),
            **{"environment": {"packages": {"torch": "2.13.0"}}},
            "files": {"history.csv": files.sha256(folder / "history.csv")},
        }
        files.write_sealed(folder / MANIFEST, manifest)

    def _evaluation(self, subject: str, protocol: Protocol, at: Sequence[tuple[int, str]]) -> None:
        digest, own = protocol.digest, [protocol.of_probe(name) for name in protocol.measures]
        said, path = (
            self.said.get((subject, digest), {}),
            self.plan.evaluation_file(subject, digest),
        )
        extremes = protocol.probe.name == "extreme_norms"
        images = self.portraits if extremes else self.images
        rows, written = [], [path]
        for epoch, target in at:
            if self.status.get(subject) == "diverged" and epoch:
                rows += [_row(subject, epoch, digest, name, target) for name in own]
                continue
            for name in own:
                told = [key[3] for key in said if key[:3] == (epoch, target, name)]
                every = (EXTREMES if extremes else SPLITS) if name == "norm" else []
                for reading in dict.fromkeys([*every, *told]) or [""]:
                    value = said.get(
                        (epoch, target, name, reading),
                        40.0 + sum(map(ord, subject + target)) % 7 + epoch,
                    )
                    rows.append(_row(subject, epoch, digest, name, target, value, reading))
            if subject in images and own[0] in ("norm", "spread"):
                table = path.with_name(f"{path.stem}.{epoch:04d}.{target}.csv")
                files.write_text(table, images[subject].to_csv(index=False))
                written.append(table)
                if extremes and subject in self.pictures:
                    pictures.write(table.with_suffix(".png"), list(self.pictures[subject]))
                    written.append(table.with_suffix(".png"))
        # as pandas writes it, in a tenth of the time
        lines = (
            ",".join("" if x is None else str(x) for x in row) for row in (tables.EVALUATION, *rows)
        )
        files.write_text(path, "\n".join(lines) + "\n")
        counted = {target: self.repeated[target] for _, target in at if target in self.repeated}
        about = {"files": {one.name: files.sha256(one) for one in written}, "repeated": counted}
        files.write_sealed(path.with_suffix(".json"), about)

    def measure(self, *artifacts: str) -> None:
        """Write what these artifacts are made from, and make their tidy tables."""
        self.write(*artifacts)
        for artifact in artifacts:
            self.tables[artifact] = measure.build(self.plan, self.paper, artifact)

    def table(self, artifact: str, name: str) -> pd.DataFrame:
        """One of an artifact's tidy tables, by the coordinates of its rows."""
        path = self.plan.config.artifact_folder(self.paper, artifact) / f"{name}.csv"
        return tables.read(path, TABLES[name]).set_index("coordinates", drop=False)

    def tidy(self, artifact: str, name: str = "measurements") -> pd.DataFrame:
        """One of an artifact's tidy tables, which are made first."""
        self.measure(artifact)
        return self.table(artifact, name)

    def alter(self, artifact: str, name: str, how: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
        """Write one of an artifact's tidy tables otherwise, as if the statistics had."""
        folder, table = (
            self.plan.config.artifact_folder(self.paper, artifact),
            how(self.table(artifact, name)),
        )
        also = [
            folder / file
            for file in files.read_sealed(folder / MANIFEST)["files"]
            if file != f"{name}.csv"
        ]
        tables.write(folder, {name: (table, TABLES[name])}, also)

    def change(self, artifact: str, name: str, where: str, **values: Any) -> None:
        """Set columns of the rows whose coordinates are ``where``."""

        def changed(table: pd.DataFrame) -> pd.DataFrame:
            assert where in table.index, where
            for column, value in values.items():
                table.loc[where, column] = value
            return table

        self.alter(artifact, name, changed)

    def theory(self, *rows: Sequence[Any]) -> None:
        table = pd.DataFrame(rows, columns=list(THEORY))
        tables.write(self.plan.config.results, {"theory": (table, THEORY)})

    def answers(self, study: str, *rows: tuple[Any, ...]) -> None:
        """Write answers.csv, as an exact study does: its numbers as text, for infinity is one."""
        table = pd.DataFrame(
            [(study, *row[:-1], f"{row[-1]:.10g}") for row in rows], columns=list(COLUMNS)
        )
        tables.write(
            self.plan.config.results / "simulations" / self.paper, {"answers": (table, COLUMNS)}
        )


class World(Runs):
    """A project under a temporary root, its plan, and what its runs are made to say."""

    def __init__(
        self,
        root: Path,
        level: str = "paper",
        seeds: Sequence[int] = (0, 1, 2),
        paper: Mapping[str, Any] | None = None,
        **overrides: Any,
    ) -> None:
        document = copy.deepcopy(PAPER) | dict(paper or {})
        leaves_out = ["norms/left"] if "left" in document["artifacts"] else []
        scale = {
            **{
                "scale": level,
                "level": level,
                "describe": "made up",
                "seeds": list(seeds),
                "datasets": USED,
            },
            **{
                "other_datasets": "nothing",
                "leaves_out": leaves_out,
                "threads": 1,
                "runs_per_job": 4,
            },
            **{"epochs": "published" if level == "paper" else 10},
            **{"resources": {"mem_mb": 100, "runtime": 1, "gpu": 0}},
        }
        self.root = root
        for name, content in {
            "config/config.yaml": {"scale": level, "device": "cpu"},
            "config/datasets.yaml": DATASETS,
            f"config/scales/{level}.yaml": scale,
            "papers/norms/paper.yaml": document,
        }.items():
            files.write_text(root / name, yaml.safe_dump(content, sort_keys=False))
        for name in ("statistics.yaml", "certainty.yaml"):
            shutil.copy(PROJECT / "config" / name, root / "config")
        self.claims()
        super().__init__(planning.make(root, overrides), "norms")

    def claims(self, *rows: Mapping[str, Any]) -> None:
        path = self.root / "papers" / "norms" / "claims.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows, columns=list(CLAIM)).to_csv(path, index=False, lineterminator="\n")

    def judged(self, *rows: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        """claims.csv as text, by the claims' ids, of the artifacts that were measured."""
        self.claims(*rows)
        for artifact, made in self.tables.items():
            judge.build_artifact(self.plan, self.paper, artifact, made)
        exactly = exact.of_scale(self.plan.config)
        if exactly.theory.is_file():
            exact_claims.write_theorems(self.plan.config, exactly)
        if exactly.studies[self.paper].is_dir():
            exact_claims.write_studies(self.plan.config, self.paper, exactly)
        judge.build(self.plan)
        table = pd.read_csv(
            self.plan.config.results / "claims.csv", dtype=str, keep_default_na=False
        )
        return {row["id"]: row for row in table.to_dict("records")}


Make = Callable[..., World]
"""The fixture ``make_world``."""


def _row(
    run: str,
    epoch: int,
    digest: str,
    measure: str,
    target: str,
    value: float | str | None = None,
    reading: str = "",
) -> tuple[Any, ...]:
    status = "diverged" if value is None else "finished"
    n_test, classes = (None, None) if value is None else (100, CLASSES.get(target, 10))
    if value == UNDEFINED:
        status, value, n_test = UNDEFINED, None, None
    return run, epoch, digest, measure, target, reading, value, n_test, classes, status
