"""How templates of Jinja are read, wherever they lie."""

from pathlib import Path

import jinja2

from hypersphere.wording import count_of


def environment(folder: Path) -> jinja2.Environment:
    """An environment for a folder of templates: a name without a value is an error, and only HTML is escaped."""
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=jinja2.select_autoescape(["html"], default_for_string=False),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters["counted"] = count_of
    return jinja
