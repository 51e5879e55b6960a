"""The forest: which comparisons it draws, in which rows and order, and how it says what a row is worth."""

from typing import Any

from hypersphere.config.rules import Answer
from hypersphere.provenance import tables
from hypersphere.report import forest, intervals

from ...golden.released import configured
from . import made_up
from .approval import approve

CONFIG = configured("laptop")
TARGETS = ("cifar10", "cifar100", "stl10", "tiny_imagenet")
EVERY = [
    made_up.comparison("left_out_no_number", "larger", 1.0),
    made_up.comparison("left_out_not_run", 1.0),
    made_up.comparison("left_out_another_unit", 2.0, 40.0, metric="score"),
    made_up.comparison("left_out_a_sentence", 2.0, 1.0, answered_by="sentence"),
    made_up.comparison("drawn", 1.25, -8.8),
    made_up.comparison("more", 0.1, 2.0, variant="ratio", scale="workstation", n=2.0),
    made_up.comparison("against_another_arm", 1.0, 1.0, variant="pos_curv", baseline="pos"),
    made_up.comparison("another_document", 14.7, 30.0, **made_up.NORMS),
    *(
        made_up.comparison(
            f"{name}_{place}", 1.0, place, artifact=table, setting=f"target={target}", n=3.0 + place
        )
        for name, table, targets in (
            ("one_row", "table3", TARGETS),
            ("own_row", "table4", TARGETS[:3]),
        )
        for place, target in enumerate(targets)
    ),
]


def listed(*claims: dict[str, Any]) -> list[dict[str, Any]]:
    return tables.rows(made_up.table([*claims]))


def test_rows_and_caption_are_as_approved() -> None:
    """Within a document they are sorted by our effect, and more than three settings share a row."""
    shown = forest.rows(CONFIG, listed(*EVERY))
    (axis,) = forest.draw(CONFIG, shown, len(forest.claims_of(shown))).axes
    runs = iter(text.get_text() for text in axis.texts if text.get_text().startswith("n = "))
    found = [
        f"{name} ({next(runs)}): {', '.join(claim['id'] for claim in alike)}"
        for lines in shown.values()
        for name, alike in lines
    ]
    approve("forest.txt", "\n".join([*found, forest.caption(listed(*EVERY))]) + "\n")


def test_the_short_forest_has_clear_directions_first_and_then_the_largest_printed_effects() -> None:
    clear = made_up.comparison("clear", 0.1, 0.0, answer="fails")
    many = [made_up.comparison(f"at_{one}", one, -one, variant=f"v{one}") for one in range(1, 15)]
    chosen = forest.short(forest.rows(CONFIG, listed(clear, *many)))
    assert [claim["id"] for claim in forest.claims_of(chosen)] == [
        "clear",
        *(f"at_{one}" for one in range(4, 15)),
    ]
    assert "12 of 15 differences in accuracy" in forest.draw(CONFIG, chosen, 15).texts[0].get_text()


def test_shape_and_hue_say_the_answer_and_floored_arms_are_pale() -> None:
    claims = [
        made_up.comparison("far", -73.8, -12.9, 2.0, answer="holds"),
        made_up.comparison("floored", 1.0, -9.0, 9.0, variant="margins", floored="both"),
        made_up.comparison("none", 2.0, 0.0, variant="ratio", answer="fails"),
    ]
    (axis,) = forest.draw(CONFIG, forest.rows(CONFIG, listed(*claims)), 0).axes
    ours = {line.get_marker(): line for line in axis.lines if line.get_marker() in "os^v"}
    assert {marker: (line.get_color(), line.get_alpha()) for marker, line in ours.items()} == {
        "o": (forest.LOOKS[Answer.HOLDS].colour, 1.0),
        "^": (forest.LOOKS[Answer.FAILS].colour, 1.0),
        "v": (forest.LOOKS[Answer.CANNOT_TELL].colour, forest.FADED),
    }
    assert [text.get_text()[-1] for text in axis.get_yticklabels()] == ["0", "†", ")"]
    assert "−73.8" in axis.get_yticklabels()[-1].get_text()
    assert [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "<"]


def test_in_a_narrow_window_names_stand_above_their_rows() -> None:
    """At the same height as in a wide window a name would leave no room for the axis."""
    shown = forest.rows(
        CONFIG,
        listed(
            made_up.comparison("one", 1.0, 2.0), made_up.comparison("two", 1.0, variant="ratio")
        ),
    )
    figure = forest.draw(CONFIG, shown, 1, intervals.PHONE)
    (axis,) = figure.axes
    assert figure.get_figwidth() == intervals.PHONE.width
    assert list(axis.get_yticks()) == []
    said = [" ".join(text.get_text().split()) for text in axis.texts]
    assert said[-1] == "MoCo v3, positives emphasised, CIFAR-10: n = 5"
    (ours,) = (line.get_ydata()[0] for line in axis.lines if line.get_marker() == "v")
    assert axis.texts[-1].get_position()[1] < ours


def test_without_any_comparison_the_picture_says_so() -> None:
    (axis,) = forest.draw(
        CONFIG, forest.rows(CONFIG, listed(made_up.comparison("not_run", 1.0))), 0
    ).axes
    assert [text.get_text() for text in axis.texts if text.get_text() != "n"] == [
        "No comparison has an interval yet."
    ]
