"""The plan file, logs/<scale>/plan.txt: the plan of a DAG, which its jobs read in place of making it again.

A job reads config/ all the same, and takes the file only if that is what the plan was made from: the same settings, the
same files with the same bytes, the same code and the same Python. Otherwise it makes the plan itself, so that a stale
or damaged file costs seconds and decides nothing. A plan from records is not written, because reading the records is
most of the work.
"""

import base64
import hashlib
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import pydantic

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config import registry
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config
from hypersphere.errors import HypersphereError


def path(config: Config) -> Path:
    """Where the plan of these settings is written: with the logs, because no result depends on it."""
    return config.root / "logs" / config.results.name / "plan.txt"


def write(plan: Plan) -> None:
    """Write a plan for the jobs of its DAG: a seal in the first line, and the pickled cells and protocols."""
    if plan.records is None:
        # what describes a cell's run is most of a plan, and no job asks for it
        cells = tuple(replace(cell, resolved=None) for cell in plan.cells)
        content = base64.b64encode(pickle.dumps((cells, plan.protocols))).decode()
        files.write_text(path(plan.config), f"{_seal(plan.config, content)}\n{content}\n")


def load(config: Config) -> Plan:
    """The plan in the file if it fits, or, with a note of why not, one that is made anew."""
    if config.settings.evidence_only:
        return planning.of(config)
    try:
        cells, protocols = pickle.loads(base64.b64decode(_sealed(config)))
    except HypersphereError as error:
        print(f"note: {error}; the plan is made again", file=sys.stderr, flush=True)
        return planning.of(config)
    return Plan(config, cells, protocols)


def _sealed(config: Config) -> str:
    """The content of the plan file, which must be as it was written, from these settings, files and code."""
    file = path(config)
    seal, _, content = files.read_text(file).partition("\n")
    content = content.removesuffix("\n")
    if seal != _seal(config, content):
        raise HypersphereError(f"{file}: is of other settings, files or code, or was altered")
    return content


def _seal(config: Config, content: str) -> str:
    """The digest of a plan and of all that it was made from."""
    code: list[str] = []
    read = {str(file): digest for file, digest in config.read.items()}
    for package in registry.packages():
        sources = sorted(package.folder.rglob("*.py"))
        code += [package.missing, *map(files.sha256, sources)]
        for source in sources:
            # a process reads the source of a component once, whoever asks first
            read.pop(str(source), None)
    made_from = {
        "settings": config.overrides,
        "files": read,
        "code": code,
        "python": [sys.executable, pydantic.VERSION],
    }
    text = files.canonical_json(made_from) + content
    return hashlib.sha256(text.encode()).hexdigest()
