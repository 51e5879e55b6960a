"""The project of a few lines of YAML that the tests of declarations use, and a page of the report."""

from ..config.conftest import planned as planned
from ..config.conftest import project as project
from ..report.conftest import report_page as report_page
