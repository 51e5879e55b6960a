"""What all tests of the released configuration share."""

import pytest

from hypersphere.config import paper_code

from .released import configured


@pytest.fixture(autouse=True)
def _released_papers() -> None:
    """The papers whose code can be imported are the released ones, whichever project another test has read."""
    paper_code.admit(configured().folders)
