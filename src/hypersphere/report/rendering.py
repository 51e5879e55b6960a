"""What fills templates: the pages of report/templates, and the sentences that stand in a module as macros."""

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from hypersphere import templating

TEMPLATES = Path(__file__).parent / "templates"


@cache
def template(name: str) -> jinja2.Template:
    """A template by its name: it takes longer to compile than to fill."""
    return templating.environment(TEMPLATES).get_template(name)


def fill(name: str, /, **values: Any) -> str:
    """A template with its values."""
    return template(name).render(values)


class Sentences:
    """Macros of Jinja, by name, as functions that give a text without line breaks.

    They stand in the module that uses them, where its text decides an artifact: digests of artifacts are of code.
    """

    def __init__(self, macros: str) -> None:
        self._macros = templating.environment(TEMPLATES).from_string(macros).module

    def __call__(self, name: str, *values: Any) -> str:
        """The text of a macro."""
        text = getattr(self._macros, name)(*values)
        return " ".join(text.split("\n")).strip()
