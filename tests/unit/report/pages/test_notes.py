"""What is said of how numbers were made, in words."""

from types import SimpleNamespace
from typing import Any

import pandas as pd

from hypersphere.report import notes, page, words
from hypersphere.report.artifact import Points


def test_several_values() -> None:
    given = (["64"], ["64", "64", "128"], "12345", "")
    assert [words.several(values) for values in given] == ["64", "64, 128", "1 to 5", ""]


def test_cells_with_other_seeds_are_said_to_have_them() -> None:
    """The conditions of an artifact are those of its own measurements, whatever the scale asks for."""

    def conditions(**seeds: list[int]) -> str:
        rows = [
            {"coordinates": cell, "seed": float(seed)}
            for cell, some in seeds.items()
            for seed in some
        ]
        rows.append({"coordinates": "chance", "seed": float("nan")})
        made = {
            "run": "a",
            "status": "finished",
            "device": "cpu",
            "kind": "cpu",
            "precision": "float32",
            "torch": "2",
        }
        runs = pd.DataFrame([made | {"weights": "", "alike": ""}])
        about = SimpleNamespace(table={"measurements": pd.DataFrame(rows), "runs": runs}.get)
        return notes.conditions(about).partition(";")[0]

    assert conditions(a=[0, 1], b=[0, 1]) == "n = 2 (seeds 0, 1)"
    assert conditions(a=[0], b=[0]) == "n = 1 (seed 0)"
    assert conditions(a=[0, 1, 2], b=[0]) == "n = 1 to 3 (of seeds 0, 1, 2)"
    assert conditions(a=[0, 1], b=[1, 2]) == "n = 2 (of seeds 0, 1, 2)"


def test_equal_lists_of_seeds_are_said_once(make: Any) -> None:
    scale = page.of_scale(make(seeds=[4, 7]).results).scale
    assert scale is not None
    assert scale.seeds == "n = 2 (seeds 4, 7)"


def test_a_dataset_is_named_with_what_is_measured_in_its_place(quick: Any, make: Any) -> None:
    here, themselves = (
        Points(world.results, world.plan.config.papers["alpha"], "table1")
        for world in (quick, make(other_datasets="themselves"))
    )
    for points, name, said in (
        (here, "photos", "digits (for Photos)"),
        (here, "faces", "Faces (not run at this scale)"),
        (here, "undeclared", "undeclared (not run at this scale)"),
        (themselves, "faces", "Faces (not run: no loader yet)"),
        (themselves, "digits", "digits"),
    ):
        assert points.name_by({"dataset": name}, ["dataset"]) == said


def test_what_all_cells_share_is_named_without_the_point_of_the_first_cell() -> None:
    """At the first epoch of an axis nothing may have run: which epochs ran is asked of all cells."""
    asked: list[Any] = []

    def name_by(point: Any, keys: Any) -> str:
        asked.append((dict(point), list(keys)))
        return "epochs = 256 (here 8)"

    cells = [
        SimpleNamespace(coordinates={"method": "simclr", "schedule.epochs": 256, "epoch": epoch})
        for epoch in (1, 256)
    ]
    axes = {"x": [{"epoch": 1}, {"epoch": 256}]}
    points: Any = SimpleNamespace(every=cells, artifact=SimpleNamespace(axes=axes), name_by=name_by)
    assert notes.shared_coordinates(points) == "Everywhere: epochs = 256 (here 8)."
    shared = {"method": "simclr", "schedule.epochs": 256}
    assert asked == [(shared, [*shared])]
