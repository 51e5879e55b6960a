"""The writer of tables: what readers of csv, Markdown and TeX see, and what they must not."""

import csv
import io
import re

import pytest

from hypersphere.report import writer
from hypersphere.report.artifact import Grid, Head, Line, Shown, Text, as_csv

GRID = Grid(
    head=(
        (Head("A | B", span=2), Head("C_1")),
        (Head("ours", "measured on digits_lt"), Head("published"), Head("ours")),
    ),
    corner=("Method", "Variant"),
    lines=(
        Line(
            ("SimCLR", "<script>alert(1)</script>"),
            (Text("1.0", "+0.1 [−0.2, +0.4]"), Text("–"), Text("words")),
        ),
        Line(("control", "chance"), (Text("0.5"), Text("–"), Text("not run")), control=True),
    ),
)
NOTES = ("Scale x: 5 % & more.", "γ‖z‖² ≤ 1 | *starred* `code` [link](http://x.y)")
SHOWN = Shown("x", "<b>T</b>", NOTES, GRID)


def test_csv_keeps_all_digits_and_says_nothing_of_what_is_missing() -> None:
    text = as_csv(
        ("a", "b"), [(1 / 3, float("nan")), (2.0, None), (True, "x,y"), (float("inf"), 0)]
    )
    rows = list(csv.reader(io.StringIO(text)))
    assert rows == [
        ["a", "b"],
        ["0.3333333333333333", ""],
        ["2", ""],
        ["True", "x,y"],
        ["inf", "0"],
    ]
    assert float(rows[1][0]) == 1 / 3


def test_tex_rows_fill_the_columns_and_braces_balance() -> None:
    text = writer.as_tex(SHOWN, "tab:x")
    assert "\\begin{tabular}{llrrl}" in text
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    for line in rows:
        spans = [int(width) - 1 for width in re.findall(r"\\multicolumn\{(\d)\}", line)]
        assert len(re.findall(r"(?<!\\)&", line)) + 1 + sum(spans) == 5, line
    assert len(rows) == 3 + 2 + 1  # headings with their notes, a row of two lines, a control
    assert rows[0] == r"\multicolumn{2}{c}{} & \multicolumn{2}{c}{A $|$ B} & C\_1 \\"
    assert rows[-1].startswith(r"\midrule control & chance & 0.5 ")
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.isascii()


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        (
            "a_b & 5% ± −1 {x} $ # ~ ^ \\",
            r"a\_b \& 5\% $\pm$ $-$1 \{x\} \$ \# \textasciitilde{} \textasciicircum{}",
        ),
        ("γ λ Σ ‖z‖²", r"$\gamma$ $\lambda$ $\Sigma$ $\|$z$\|$$^2$"),
        ("<a> | [b]", "$<$a$>$ $|$ {[}b{]}"),
    ],
)
def test_tex_escapes_what_tex_would_read(text: str, tex: str) -> None:
    assert writer.escape(text).startswith(tex)


def test_markdown_has_one_cell_per_column_in_every_line_and_no_html_or_mark_up_of_a_label() -> None:
    text = writer.as_markdown(SHOWN)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert [line.count("|") for line in lines] == [6] * 4
    assert lines[0] == (
        "| Method | Variant | A &#124; B<br>**ours**<br>measured on digits_lt | A &#124; B<br>**published** "
        "| C_1<br>**ours** |"
    )
    # numbers stand to the right, words to the left
    assert lines[1] == "| :-- | :-- | --: | --: | :-- |"
    assert lines[3] == "| *control* | *chance* | *0.5* | *–* | *not run* |"
    assert "<script>" not in text
    assert "<b>" not in text
    assert "&lt;script&gt;" in text
    assert "&#42;starred&#42; &#96;code&#96; [link]&#40;" in text
