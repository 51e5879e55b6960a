"""Where the project is."""

from pathlib import Path

from hypersphere.errors import HypersphereError


def project_root(current: Path) -> Path:
    """The folder of the project that a folder is in."""
    for folder in (current, *current.parents):
        if (folder / "config" / "config.yaml").is_file():
            return folder
    raise HypersphereError(
        f"{current}: neither this folder nor one above it holds config/config.yaml"
    )
