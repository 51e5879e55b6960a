"""A drawing's text does not show the last bits of a layout, which depend on where its parts lie in memory."""

import re

import pytest
from matplotlib.figure import Figure

from hypersphere.present import study, style


def drawn(shift: float) -> str:
    """A line in axes that are ``shift`` of the figure's width out of their place."""
    with style.applied():
        figure = Figure(figsize=(3, 2))
        figure.add_axes((0.2 + shift, 0.2, 0.7, 0.7)).plot([0, 1, 2], [0.1234567, 1 / 3, 0.3])
        return study.as_svg(figure)


def test_last_bits_do_not_show() -> None:
    assert drawn(1e-13) == drawn(0.0)


def test_what_can_be_seen_does() -> None:
    """The control: a hundredth of a point."""
    assert drawn(0.01 / 72 / 3) != drawn(0.0)


def test_without_care_they_would_show() -> None:
    """The other control: matplotlib's own text differs, in the names of clipping areas."""
    import io

    texts = []
    for shift in (0.0, 1e-13):
        with style.applied():
            figure = Figure(figsize=(3, 2))
            figure.add_axes((0.2 + shift, 0.2, 0.7, 0.7)).plot([0, 1, 2], [0, 1, 0])
            buffer = io.StringIO()
            figure.savefig(buffer, format="svg", metadata=style.SVG_METADATA)
            texts.append(buffer.getvalue())
    assert texts[0] != texts[1]


@pytest.mark.parametrize("pattern", [r'<clipPath id="p\d+">', r'clip-path="url\(#p\d+\)"', r"scale\(0\.\d{4,}\)"])
def test_areas_are_numbered_and_glyphs_keep_their_scale(pattern: str) -> None:
    assert re.search(pattern, drawn(0.0))


def test_every_area_that_is_used_is_defined() -> None:
    text = drawn(0.0)
    used = set(re.findall(r'(?:url\(|xlink:href=")#([\w-]+)', text))
    assert used <= set(re.findall(r'id="([\w-]+)"', text))
    assert len(used) > 3
