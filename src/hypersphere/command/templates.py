"""Pages and pictures that are written as templates of Jinja, in the folder ``templates`` beside this file."""

from pathlib import Path
from typing import Any

import jinja2

from hypersphere.wording import count_of

FOLDER = Path(__file__).with_name("templates")


def fill(name: str, /, **values: Any) -> str:
    """The text of a template with its values, without line breaks at its end; a value that is missing is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["counted"] = count_of
    return environment.get_template(name).render(values).rstrip()
