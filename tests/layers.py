"""Settings of a run laid over others, as a paper's are."""

from pathlib import Path
from typing import Any

from hypersphere.config.project import Layer
from hypersphere.config.resolve import Layers


def merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """What two layers of a run's settings say together."""
    return Layers(Layer(Path(), "", below), Layer(Path(), "", above)).fields
