"""The project of a few lines of YAML that the tests of declarations use."""

from ..config.conftest import planned as planned
from ..config.conftest import project as project
