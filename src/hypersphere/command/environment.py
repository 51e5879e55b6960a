"""Generate environment.yml for conda from requirements.lock, so that the two cannot disagree."""

import re
import sys
from pathlib import Path

from hypersphere import files
from hypersphere.errors import HypersphereError

HEADER = """\
# Generated from requirements.lock by `make lock`; do not edit.
# conda env create -f environment.yml && conda activate hypersphere && snakemake --cores all
name: hypersphere
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python >=3.11
  - pip
  - pip:
"""


def environment_yml(lock: str) -> str:
    """The conda environment for the text of a lock: Python and pip from conda-forge, all else pinned under pip."""
    pins = re.findall(r"^([a-z0-9][\w.-]*==[^\s;\\]+)(?: ; ([^\\\n]+?))?\s*\\?$", lock, flags=re.MULTILINE)
    if not pins:
        raise HypersphereError("requirements.lock: has no pinned requirement")
    lines = [f'    - "{pin} ; {marker}"' if marker else f'    - "{pin}"' for pin, marker in pins]
    return HEADER + "\n".join(lines) + "\n"


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    files.write_text(target, environment_yml(source.read_text(encoding="utf-8")))
