"""docs/laptop.md quotes what the records in evidence/laptop1/ hold.

After new records: ``python -m tests.unit.laptop.page``, and read what the page says of them.
"""

import pytest

from .laptop import lmcl, norms
from .laptop.page import PAGE, TABLES, rows, table
from .laptop.records import difference


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("heading", TABLES)
def test_a_table_has_the_numbers_of_the_records(page: str, heading: str) -> None:
    lines = rows(table(page, heading))
    assert lines == TABLES[heading](lines)


def test_norms_before_gradscale_diverges_are_those_of_its_record(page: str) -> None:
    text, found = " ".join(page.split()), norms.gradscale_norms()
    assert f"{found[2]:.1f} after two epochs, {found[10]:.0f} after ten, {found[17]:.0f} after seventeen, " in text
    assert f"{round(found[18], -3):,.0f} after eighteen" in text


def test_the_gain_of_agents_is_that_of_the_records(page: str) -> None:
    gain = difference(lmcl.of_agents("score", "dp"), lmcl.of_agents("score", "default"))
    assert f"with the regulariser minus without: {gain}" in page
