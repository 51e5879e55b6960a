"""Grids of pictures: each where its probe put it, the pixels that were written, and what is missing is said."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hypersphere.errors import HypersphereError
from hypersphere.provenance import pictures as png
from hypersphere.report import style, writer
from hypersphere.report.artifact import SINGLE, Points
from hypersphere.report.kinds import pictures


def draw(made: Any) -> tuple[Figure, list[Axes]]:
    """The figure, and its panels that are shown."""
    points = Points(made.results("faces"), made.plan.config.papers["made_up"], "faces")
    with style.applied():
        figure = pictures.draw(points)
    return figure, [axis for axis in figure.findobj(Axes) if axis.get_visible()]


def test_a_grid_for_each_panel_and_row_of_the_artifact(make: Any) -> None:
    titles = [axis.get_title(loc="left").replace("\n", " ") for axis in draw(make())[1]]
    assert titles == [
        *(
            f"{name}, extreme {end}"
            for end in ("highest", "lowest")
            for name in ("stand_in (for FIRST-10)", "Second-100")
        ),
    ]


def test_pictures_are_in_the_places_of_the_table_with_their_pixels(make: Any) -> None:
    """By hand: the cells' order is panels, then rows; the first picture of a cell's second row is its fourth."""
    for axis, cell in zip(draw(make())[1], (0, 2, 1, 3), strict=True):
        shades = {}
        for image in axis.images:
            left, _, _, top = image.get_extent()
            shades[round(left, 3), round(top, 3)] = int(np.asarray(image.get_array())[0, 0, 0]) // 10
        order = [shades[place] for place in sorted(shades, key=lambda place: (place[1], place[0]))]
        assert order == [6 * cell + 1 + at for at in range(6)]
        assert [label.get_text() for label in axis.get_yticklabels()] == ["cat", "dog"]
        assert not [label for label in axis.get_xticklabels() if label.get_text()]  # ranks need no heading
        assert [text.get_text() for text in axis.texts] == ["2.0", "1.75", "1.5"] * 2


def test_words_for_columns_are_headings(make: Any) -> None:
    made = make()
    table = made.tables["faces"]["pictures"]
    table["column"] = table["column"].map({"0": "image", "1": "map", "2": "both"})
    for axis in draw(made)[1]:
        assert [label.get_text() for label in axis.get_xticklabels()] == ["image", "map", "both"]


def test_a_cell_without_pictures_has_no_panel_and_a_figure_without_any_says_so(make: Any) -> None:
    made = make()
    table = made.tables["faces"]["pictures"]
    made.tables["faces"]["pictures"] = table[~table["coordinates"].str.contains("second")]
    assert len(draw(made)[1]) == 2
    made.tables["faces"]["pictures"] = table[:0]
    (axis,) = draw(made)[1]
    assert [text.get_text() for text in axis.texts] == ["not run"]


def test_files_have_equal_bytes_and_another_pixel_is_seen(make: Any) -> None:
    first, second, other = (files(make(folder=name), change) for name, change in (("a", 0), ("b", 0), ("c", 1)))
    assert first == second
    assert [name for name in first if first[name] == other[name]] == ["faces.csv"]
    rows = list(csv.DictReader(io.StringIO(first["faces.csv"].decode())))
    assert tuple(rows[0]) == (*SINGLE, "seed", "run", "row", "column", "caption", "scale")
    assert len(rows) == 24
    assert (rows[4]["row"], rows[4]["column"], rows[4]["caption"], rows[4]["seed"]) == ("dog", "1", "1.75", "4")


def files(made: Any, change: int) -> dict[str, bytes]:
    """The files of the figure, with one pixel's colour changed by as much."""
    results = made.results("faces")
    folder = made.plan.artifact_folder("made_up", "faces")
    stack = png.read(folder / "pictures.png")
    stack[50, 2, 1] += change
    png.write(folder / "pictures.png", [stack])
    reseal(folder)
    writer.build(results, "made_up", "faces")
    return {path.name: path.read_bytes() for path in (made.plan.config.results / "figures").rglob("faces.*")}


def reseal(folder: Path) -> None:
    from hypersphere import files as project_files

    listed = project_files.read_sealed(folder / "manifest.json")["files"]
    project_files.write_sealed(
        folder / "manifest.json", {"files": {name: project_files.sha256(folder / name) for name in listed}}
    )


def test_an_altered_picture_is_refused(make: Any) -> None:
    made = make()
    results = made.results("faces")
    path = made.plan.artifact_folder("made_up", "faces") / "pictures.png"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(HypersphereError, match=r"pictures\.png: the file's bytes are not those of its manifest"):
        writer.build(results, "made_up", "faces")
