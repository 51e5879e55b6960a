"""A plug-in of pytest: tests in a paper's folder import its code as ``papers.<id>``, wherever the folder lies."""

from pathlib import Path


def pytest_collect_file(file_path: Path) -> None:
    """Make the code of the paper importable whose folder ``tests`` holds the file."""
    folder = file_path.parent.parent
    if file_path.suffix == ".py" and (folder / "paper.yaml").is_file():
        # here, because every pytest of this environment loads this module
        from hypersphere.config import paper_code

        paper_code.admit({folder.name: folder})
