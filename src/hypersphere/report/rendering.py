"""What fills templates: the pages of report/templates, and the sentences that stand in a module as macros."""

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from hypersphere.wording import count_of

TEMPLATES = Path(__file__).parent / "templates"


def environment() -> jinja2.Environment:
    """An environment of Jinja, in which a name without a value is an error; only HTML is escaped."""
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=jinja2.select_autoescape(["html"], default_for_string=False),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters["counted"] = count_of
    return jinja


@cache
def template(name: str) -> jinja2.Template:
    """A template by its name: it takes longer to compile than to fill."""
    return environment().get_template(name)


def fill(name: str, /, **values: Any) -> str:
    """A template with its values."""
    return template(name).render(values)


class Sentences:
    """Macros of Jinja, by name, as functions that give a text without line breaks.

    They stand in the module that uses them, where its text decides an artifact: digests of artifacts are of code.
    """

    def __init__(self, macros: str) -> None:
        self._macros = environment().from_string(macros).module

    def __call__(self, name: str, *values: Any) -> str:
        """The text of a macro."""
        text = getattr(self._macros, name)(*values)
        return " ".join(text.split("\n")).strip()
