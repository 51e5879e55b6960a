"""Settings as people type them: ``--set`` of the command, Snakemake's ``--config`` and ``SET=`` of make.

One parser reads every value, and it is that of config.yaml. Snakemake has a parser of its own, so the Snakefile asks
for the words that were typed.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hypersphere import files
from hypersphere.config.validation import COMMAND_LINE, read_mapping
from hypersphere.errors import HypersphereError

TYPED = "set"
"""The key under which make hands over all that was typed after ``SET=``."""
_DOUBLE = r'"(?:[^"\\]|\\.)*"'
_SETTING = re.compile(rf"""(?:[^\s'"]|'[^']*'|{_DOUBLE}|\s+(?!['"]?\w+=))+""")
"""A blank begins another setting if a key and = follow it, and if it is in no quotes."""


def parse(typed: Iterable[str]) -> dict[str, Any]:
    """The values of ``KEY=VALUE``, by key; of a key that is given twice, the last."""
    values: dict[str, Any] = {}
    for setting in typed:
        key, equals, value = setting.partition("=")
        if not (key and equals):
            raise HypersphereError(
                f"{COMMAND_LINE}: {setting}: must be KEY=VALUE, for example epochs=3"
            )
        if key == TYPED:
            values |= parse(split(value))
            continue
        try:
            values[key] = files.parse_yaml(value)
        except ValueError as error:
            raise HypersphereError(f"{COMMAND_LINE}: {setting}: not valid YAML ({error})") from None
    return values


def split(text: str) -> list[str]:
    """The settings in what was typed after ``SET=``: ``seeds=[0, 1] epochs=3`` has two.

    Single quotes, and double quotes around a whole setting, are removed, as a shell does. Other double quotes are the
    value's own, which YAML reads.
    """
    if _SETTING.sub("", text).strip():
        raise HypersphereError(f"{COMMAND_LINE}: SET={text}: a quote is not closed")
    return [_unquote(setting.strip()) for setting in _SETTING.findall(text.strip())]


def _unquote(setting: str) -> str:
    if re.fullmatch(_DOUBLE, setting):
        return setting[1:-1]
    return re.sub(rf"'([^']*)'|({_DOUBLE})", lambda found: found[1] or found[2] or "", setting)


def of_snakemake(config_files: Sequence[Path], typed: Iterable[str]) -> dict[str, Any]:
    """The settings of Snakemake's ``--configfile``, if any, and of its ``--config``, which come after them."""
    values: dict[str, Any] = {}
    for file in config_files:
        values |= read_mapping(file)
    return values | parse(typed)


def quote(typed: Iterable[str]) -> list[str]:
    """The words as a shell takes them. Snakemake writes them into the command of each job that it sends to a cluster.

    It would quote them as Python does, but leaves alone what begins and ends with a quote.
    """
    return ["'" + word.replace("'", """'"'"'""") + "'" for word in typed]


def words(settings: Mapping[str, Any]) -> list[str]:
    """``KEY=VALUE`` of each setting, as ``parse`` reads it."""
    return [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in settings.items()]
