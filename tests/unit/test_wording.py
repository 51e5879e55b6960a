"""A noun follows its count, and a page's marked part is replaced, and nothing else."""

import pytest

from hypersphere.wording import counted, renewed


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "1 epoch"), ("1", "1 epoch"), (0, "0 epochs"), (10, "10 epochs"), ("64, 128", "64, 128 epochs")],
)
def test_a_noun_follows_its_count(count: int | str, text: str) -> None:
    assert counted(count, "epoch") == text


def test_what_is_between_the_marks_is_replaced() -> None:
    page = "# Title\n<!-- a -->\nold\nlines\n<!-- end -->\nafter\n<!-- end -->\n"
    new = renewed(page, "<!-- a -->", "<!-- end -->", "new")
    assert new == "# Title\n<!-- a -->\nnew\n<!-- end -->\nafter\n<!-- end -->\n"
    assert renewed(new, "<!-- a -->", "<!-- end -->", "new") == new
