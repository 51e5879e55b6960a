"""paper/outline.yaml: what of each document stands in the main part of the paper."""

from hypersphere import files
from hypersphere.config.artifacts import Paper
from hypersphere.config.project import Config
from hypersphere.config.validation import Strict, not_one_of, validate
from hypersphere.errors import HypersphereError

FILE = "paper/outline.yaml"


class Part(Strict):
    """One document's place in the paper."""

    short: str
    """How the prose names the document."""
    main: list[str]
    """Its artifacts in the main part, in this order. All others are in the appendix."""
    telling: list[str]
    """Claims that the findings tell in words."""


def load(config: Config) -> dict[str, Part]:
    """The part of each document. One that the outline lacks is named by its title, with all of it in the appendix.

    Raises:
        HypersphereError: the file is missing, has a wrong field, or names an artifact that the document lacks.
    """
    file = config.root / FILE
    listed = files.read_yaml(file)
    if not isinstance(listed, dict):
        raise HypersphereError(f"{file}: must map documents to their parts")
    parts = {str(name): validate(Part, given, file, str(name)) for name, given in listed.items()}
    return {name: _known(paper, parts.get(name), str(file)) for name, paper in config.papers.items()}


def _known(paper: Paper, part: Part | None, file: str) -> Part:
    if part is None:
        return Part(short=f"“{paper.title}”", main=[], telling=[])
    for artifact in part.main:
        if artifact not in paper.artifacts:
            raise HypersphereError(f"{file}: {paper.paper}: main: {not_one_of(artifact, paper.artifacts)}")
    return part
