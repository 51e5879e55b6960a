"""The last bits of a layout differ between two runs; a figure's files do not."""

import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from hypersphere.report import figures, style


class Shaky(ConstrainedLayoutEngine):
    """A layout that puts the first axes at a place of its own, ``shift`` of the width further right."""

    def __init__(self, shift: float) -> None:
        super().__init__()
        self.shift, self.runs = shift, 0

    def execute(self, fig: Figure) -> None:
        super().execute(fig)
        self.runs += 1
        fig.axes[0].set_position((0.2 + self.shift, 0.15, 0.6, 0.7))


def files(folder: Path, shift: float) -> tuple[list[bytes], Figure, Shaky]:
    """A figure with a colour bar and a legend outside of the axes: its files, itself, and what laid it out."""
    engine = Shaky(shift)
    with style.house_style():
        figure, part = figures.figure_in_frame(
            figures.Frame("A heading", "what", "small print"), 4.0, 2.0
        )
        figure.set_layout_engine(engine)
        axes = part.subplots()
        axes.plot([0, 1], [0.1, 0.7], label="a line")
        part.colorbar(axes.scatter([0, 1], [0, 1], c=[0, 1]), ax=axes)
        part.legend(loc="outside lower center")
        paths = [folder / f"{shift}.{form}" for form in ("svg", "png", "csv")]
        figures.save(figure, paths, "a\n1\n")
    return [path.read_bytes() for path in paths], figure, engine


def test_last_bits_of_a_layout_date_and_release_change_no_byte_for_it_is_made_once_with_round_positions(
    tmp_path: Path,
) -> None:
    # far more than a solver's last bits; a hundredth of a pixel
    shaken, figure, engine = files(tmp_path, 1e-5)
    assert shaken == files(tmp_path, 0.0)[0]
    assert engine.runs == 1
    assert len(figure.axes) == 2
    boxes = [axes.get_position(original=True) for axes in figure.axes] + [
        part.bbox_relative for part in figure.subfigs
    ]
    corners = np.array([box.extents for box in boxes])
    assert np.abs(corners * 1e4 - np.round(corners * 1e4)).max() < 1e-8
    svg, png, numbers = shaken[0].decode(), *shaken[1:]
    for pattern in (r'<clipPath id="p\d+">', r'clip-path="url\(#p\d+\)"'):
        assert re.search(pattern, svg)
    assert "dc:date" not in svg
    assert "matplotlib.org/" not in svg.split("</metadata>")[0].replace(
        "http://matplotlib.org/", ""
    )
    assert b"Software" not in png
    assert numbers == b"a\n1\n"


def test_the_text_of_an_svg_is_text_in_the_fonts_of_the_page_with_all_its_digits(
    tmp_path: Path,
) -> None:
    with style.house_style():
        figure, part = figures.figure_in_frame(
            figures.Frame("A heading", "p = 0.0000123456", "small print"), 4.0, 2.0
        )
        part.subplots().set_xlabel("$z_1$")
        figures.save(figure, [tmp_path / "a.svg"], "")
    svg = (tmp_path / "a.svg").read_text()
    words = dict(re.findall(r'<text style="([^"]*)"[^>]*>([^<]*)</text>', svg))
    assert {"A heading", "p = 0.0000123456", "small print"} <= {*words.values()}
    assert all(f"font-family: {style.PAGE_FONTS}" in look for look in words)
    css = (Path(figures.__file__).parent / "templates" / "page.css").read_text()
    assert style.PAGE_FONTS.replace("'", '"') in css
    assert re.search(
        rf"<tspan [^>]*'{style.FONT}', sans-serif[^>]*>z</tspan>", svg
    )  # a formula's characters have places


def test_a_users_matplotlibrc_changes_nothing_and_is_left_as_it_was() -> None:
    with matplotlib.rc_context({"font.size": 31.0}):
        with style.house_style():
            assert matplotlib.rcParams["font.size"] == style.RC["font.size"]
        assert matplotlib.rcParams["font.size"] == 31.0


NO_FORMULAS = [
    "$_$",
    "$\\frac$",
    "$x^$",
    "$a$ and $b_$",
    "$\\nonesuch{x}$",
    "$}{$",
    "two\n$_$ lines",
    "$$",
]
FORMULAS = ["$z_1$", "a $\\beta$ b", "5 $", "\\$5 to \\$6", "no dollar", "über $x$"]


def test_text_that_is_no_formula_is_drawn_in_every_place(tmp_path: Path) -> None:
    """One figure has it everywhere: on axes of two kinds, in a legend, beside a bar of colours, around the panels."""
    with style.house_style():
        figure, part = figures.figure_in_frame(
            figures.Frame("$_$ heading", "what $_$", "small $_$"), 6.0, 3.0
        )
        flat, space = part.add_subplot(121), part.add_subplot(122, projection="3d")
        part.suptitle("$_$")
        flat.plot([0, 1], [0, 1], label="$_$")
        flat.set(title="$_$", xlabel="$_$")
        flat.set_xticks([0, 1], ["$_$", "b"])
        flat.yaxis.set_major_formatter(lambda value, _: f"$_$ {value:g}")
        flat.annotate("$_$", (0.5, 0.5))
        flat.legend()
        part.colorbar(flat.scatter([0, 1], [0, 1], c=[0, 1]), ax=flat, label="$_$")
        space.set_zlabel("$_$")
        figures.save(figure, [tmp_path / "a.svg", tmp_path / "a.png"], "")
    assert (tmp_path / "a.png").stat().st_size > 10_000


@pytest.mark.parametrize("text", [*NO_FORMULAS, *FORMULAS])
def test_only_text_that_is_no_formula_is_drawn_as_it_is(tmp_path: Path, text: str) -> None:
    """The control: a formula is one still, which matplotlib draws otherwise than its characters."""
    figure = Figure()
    shown = figure.text(0, 0, text)
    figures.save(figure, [tmp_path / "a.svg"], "")
    assert shown.get_parse_math() == (text in FORMULAS)
