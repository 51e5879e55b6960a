"""What runs and probes leave, damaged or lost: one sentence each, and nothing is written."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hypersphere import files
from hypersphere.config.plan import MANIFEST
from hypersphere.statistics import claims, gather, measure

from ...harm import flip
from .world import GLOBE, PAPER, POINTS, World, claim

Make = Callable[..., World]
Refused = Callable[..., AbstractContextManager[None]]
BY = {"table5": "knn", "epochs": "knn", "violins": "norms", "portraits": "extremes", "globe": "points"}
IMAGES = POINTS.assign(split=["train", "test"], norm=[1.0, 2.0])
PORTRAITS = pd.DataFrame(
    [("train", extreme, "a", 1, "1.50") for extreme in ("highest", "lowest")],
    columns=["split", "extreme", "row", "column", "caption"],
)


def seal(path: Path, change: Callable[[dict[str, str]], Any]) -> None:
    """Change the checksums that a file's manifest lists, and seal it again."""
    manifest = path.parent / (MANIFEST if path.name == "history.csv" else f"{path.name.partition('.')[0]}.json")
    content = files.read_sealed(manifest)
    change(content["files"])
    files.write_sealed(manifest, content)


def lose(path: Path) -> None:
    path.unlink()
    seal(path, lambda listed: listed.pop(path.name))


def edit(pattern: str, new: str) -> Callable[[Path], None]:
    """Other words, or none, sealed as if they were right."""

    def harm(path: Path) -> None:
        path.write_text(re.sub(pattern, new, path.read_text()))
        seal(path, lambda listed: listed.update({path.name: files.sha256(path)}))

    return harm


HARMED: dict[str, tuple[str, str, Callable[[Path], None]]] = {
    "answers deleted": ("table5", "answers", Path.unlink),
    "answers flipped": ("table5", "answers", flip),
    "answers without a column": ("table5", "answers", edit("target", "aim")),
    "answers without an epoch": ("epochs", "answers", edit(".*,50,.*\\n", "")),
    "pixels without a measure": ("epochs", "pixels", edit(".*knn_top1.*\\n", "")),
    "history flipped": ("training", "history", flip),
    "history without a column": ("training", "history", edit("norm", "normal")),
    "images flipped": ("violins", "images", flip),
    "images lost": ("violins", "images", lose),
    "pictures flipped": ("portraits", "pictures", flip),
    "pictures lost": ("portraits", "pictures", lose),
    "points without a coordinate": ("globe", "images", edit(",z", ",w")),
}


@pytest.mark.parametrize("harmed", HARMED)
def test_damage_is_refused_and_nothing_is_written(make_world: Make, refused: Refused, harmed: str) -> None:
    artifact, what, harm = HARMED[harmed]
    world = make_world(seeds=[0], paper={"artifacts": PAPER["artifacts"] | {"globe": GLOBE}})
    world.images, world.portraits = (dict.fromkeys(world.plan.runs, table) for table in (IMAGES, PORTRAITS))
    world.pictures = dict.fromkeys(world.plan.runs, np.zeros((2, 5, 4, 3), dtype=np.uint8))
    world.write(artifact)
    run = next(cell.run.name for cell in world.plan.artifacts["norms", artifact] if cell.run)
    if what == "history":
        path = world.plan.run_folder(run) / "history.csv"
    else:
        digest = world.plan.protocols["norms"][BY[artifact]].digest
        answers = world.plan.evaluation("pixels-digits" if what == "pixels" else run, digest)
        of_images = {"images": ".csv", "pictures": ".png"}
        path = answers.with_name(f"{answers.stem}.0100.digits{of_images[what]}") if what in of_images else answers
    harm(path)
    with refused():
        measure.build(world.plan, "norms", artifact)
    assert not world.plan.artifact_folder("norms", artifact).exists()


def test_a_damaged_table_is_refused_and_not_taken_for_one_that_is_not_made(make_world: Make, refused: Refused) -> None:
    world = make_world(seeds=[0])
    world.measure("table5")
    world.judged(claim("a"))
    flip(world.plan.artifact_folder("norms", "table5") / "claims.csv")
    with refused():
        claims.build(world.plan)


def test_runs_say_what_they_were_made_by_or_are_refused(make_world: Make, refused: Refused) -> None:
    world = make_world(seeds=[0])
    world.write()
    name, other = sorted(world.plan.runs)[:2]
    made = [name, "finished", 100, "a processor", 1, "2.13.0", "c0de", "da7a", "cpu", "float32", ""]
    assert gather.runs(world.plan, [name, name]).to_numpy().tolist() == [made]
    path = world.plan.run_folder(name) / MANIFEST
    files.write_json(path, files.read_json(path) | {"status": "diverged"})
    with refused():
        gather.runs(world.plan, [name])
    path.unlink()
    assert gather.runs(world.plan, [name, other])["run"].tolist() == [other]  # what has no manifest yet has no row
