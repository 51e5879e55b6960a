"""A page's marked part is replaced, and nothing else."""

from hypersphere import page_parts


def test_what_is_between_the_marks_is_replaced() -> None:
    page = "# Title\n<!-- a -->\nold\nlines\n<!-- end -->\nafter\n<!-- end -->\n"
    new = page_parts.renewed(page, "<!-- a -->", "<!-- end -->", "new")
    assert new == "# Title\n<!-- a -->\nnew\n<!-- end -->\nafter\n<!-- end -->\n"
    assert page_parts.renewed(new, "<!-- a -->", "<!-- end -->", "new") == new
