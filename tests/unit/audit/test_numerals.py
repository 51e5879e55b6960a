"""How people write numbers: the convention of a table, found from all of its numbers, or asked for."""

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypersphere.audit import numerals, table
from hypersphere.audit.numerals import COMMA, POINT

from ...fixtures import Refused

HEAD = "row,mean,std,low,high,n_test"


def means(tmp_path: Path, *lines: str, head: str = HEAD) -> list[str]:
    """Lines of fields between `|`, as a spreadsheet quotes them, and how their means are read."""
    file = tmp_path / "n.csv"
    quoted = [",".join(f'"{field}"' for field in line.split("|")) for line in lines]
    file.write_text("\n".join([head, *quoted]), encoding="utf-8")
    return [str(cell.mean) for cell in table.read(file).cells]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["A|1,234", "B|987.5"], ["1234", "987.5"]),
        (["A|1.234", "B|987,5"], ["1234", "987.5"]),
        (["A|1,234", "B|12,345,678"], ["1234", "12345678"]),
        (["A|1.234", "B|12.345.678"], ["1234", "12345678"]),
        (["A|1,234", "B|0,321"], ["1.234", "0.321"]),  # no thousands begin with a zero
        (["A|1.234", "B|0.321"], ["1.234", "0.321"]),
        (["A|1,234", "B|2,5"], ["1.234", "2.5"]),
        (["A|1,234", "B|1234,5"], ["1.234", "1234.5"]),
        (["A|1,234", "B|1,234.5"], ["1234", "1234.5"]),
        (["A|1.234", "B|1.234,5"], ["1234", "1234.5"]),
        (["A|1,234", "B|1.5e3"], ["1234", "1500"]),
        (["A|1,234", "B|-.5"], ["1234", "-0.5"]),
        (["A|1,234 ± 0.5", "B|987"], ["1234", "987"]),
        (["A|1,234 ± 0,5", "B|987"], ["1.234", "987"]),
        (["A|1 234", "B|987"], ["1234", "987"]),
        (["A|1\xa0234", "B|1\u202f234,5"], ["1234", "1234.5"]),
        (["A|1'234", "B|1’234.5"], ["1234", "1234.5"]),
        (["A|−1,234", "B|–987.5"], ["-1234", "-987.5"]),
        (["A|1.234", "B|2.345"], ["1.234", "2.345"]),  # as programs write three decimals
        (["A|987", "B|654"], ["987", "654"]),
    ],
)
def test_other_numbers_of_the_table_decide(
    tmp_path: Path, lines: list[str], expected: list[str]
) -> None:
    assert means(tmp_path, *lines, head="row,mean") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("A|1,234|0.5|||", "1234"),
        ("A|1,234|0,5|||", "1.234"),
        ("A|1,234||987.5||", "1234"),
        ("A|1,234|||1,5|", "1.234"),
        ("A|93,125||||10000", "93.125"),  # a share of test examples is at most 100 percent
        ("A|93.125||||10000", "93.125"),
        ("A|93.125||||10,000", "93.125"),
        ("A|93,125||||10.000", "93.125"),
        ("A|93,1||||10\xa0000", "93.1"),
        ("A|104,0||||10000", "104.0"),  # too large either way: the audit says so
    ],
)
def test_every_column_of_a_line_tells(tmp_path: Path, line: str, expected: str) -> None:
    assert means(tmp_path, line) == [expected]


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("A|1,234||||", "mean"),  # nothing tells
        ("A|1,234|12|||", "mean"),
        ("A|1.234|12|||", "mean"),
        ("A|1,234|||9,876|", "mean"),
        ("A|93.1||||10.000", "mean"),  # one text, two readings
        ("A|99,930||||10,000", "n_test"),
        ("A|93,1|0.2|||", "std"),
        ("A|1,234|0.5|12,5||", "std"),
        ("A|93.1||||2.5", "n_test"),
    ],
)
def test_numbers_that_do_not_tell_or_tell_opposite_are_refused(
    tmp_path: Path, refused: Refused, line: str, column: str
) -> None:
    with refused("n.csv", "line 2", column):
        means(tmp_path, line)


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_without_commas_between_fields_a_point_before_three_digits_is_asked_about(
    tmp_path: Path, refused: Refused, delimiter: str
) -> None:
    """A spreadsheet that writes 1.234 for a thousand puts semicolons between fields."""
    file = tmp_path / "n.csv"
    file.write_text(f"row{delimiter}mean\nA{delimiter}1.234\nB{delimiter}2.345\n")
    with refused("n.csv", "line 2", "mean"):
        table.read(file)
    for decimal, read in ((POINT, "1.234"), (COMMA, "1234")):
        assert str(table.read(file, decimal).cells[0].mean) == read
    file.write_text(f"row{delimiter}mean\nA{delimiter}1.234\nB{delimiter}2,5\n")
    assert [str(cell.mean) for cell in table.read(file).cells] == ["1234", "2.5"]


@pytest.mark.parametrize(
    "text", ["93,1", "1.234,5", "1,23", "1.2.3", "12,34,567", "1,234.567,8", "0,123,456"]
)
def test_a_text_that_the_given_convention_does_not_allow_is_refused(
    tmp_path: Path, refused: Refused, text: str
) -> None:
    file = tmp_path / "n.csv"
    file.write_text(f"row;mean\nA;{text}\n")
    with refused("n.csv", "line 2", "mean"):
        table.read(file, POINT)


@given(
    number=st.decimals(min_value=-(10**9), max_value=10**9, allow_nan=False, places=2),
    mark=st.sampled_from([POINT, COMMA]),
    between=st.sampled_from(["", " ", "\u202f", "'", "other"]),
)
def test_any_number_is_read_back_as_python_writes_it(
    number: Decimal, mark: str, between: str
) -> None:
    """``f"{number:,}"`` is an independent way to write thousands; only the convention is another."""
    swapped = {",": numerals.OTHER[mark] if between == "other" else between, ".": mark}
    text = "".join(swapped.get(character, character) for character in f"{number:,}")
    assert numerals.read(text, mark) == number
    if "." in f"{number}" and between == "other" and abs(number) >= 1000:
        assert numerals.read(text, numerals.OTHER[mark]) is None
