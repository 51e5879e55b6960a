"""Pages and pictures that are written as templates of Jinja, in the folder ``templates`` beside this file."""

from pathlib import Path
from typing import Any

from hypersphere import templating

FOLDER = Path(__file__).with_name("templates")


def fill(name: str, /, **values: Any) -> str:
    """The text of a template with its values, without line breaks at its end; a value that is missing is an error."""
    return templating.environment(FOLDER).get_template(name).render(values).rstrip()
