"""The project of a few lines of YAML that the tests of declarations use."""

from ..declared.conftest import planned as planned
from ..declared.conftest import project as project
