"""What fills the templates of report/templates: pages are HTML, and anything else is text as it stands."""

from pathlib import Path
from typing import Any

import jinja2

from hypersphere.wording import counted

TEMPLATES = Path(__file__).parent / "templates"


def environment() -> jinja2.Environment:
    """An environment of Jinja in which a name without a value is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["counted"] = counted
    return made


def filled(template: str, **values: Any) -> str:
    """A template with its values."""
    return environment().get_template(template).render(values)
