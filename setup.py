"""A wheel has some files of the checkout beside the modules that read them; all else is in pyproject.toml."""

from pathlib import Path
from shutil import copyfile

from setuptools import setup
from setuptools.command.build_py import build_py

RULES = ("config/statistics.yaml",)
TABLES = (
    "data/checksums.csv",
    "data/datasets.csv",
    "data/images.csv",
    "data/imagenet100.txt",
    "data/severities.csv",
)
PLACES = {
    **dict.fromkeys(RULES, "hypersphere/config"),
    **dict.fromkeys(TABLES, "hypersphere/provenance/data"),
}
"""The folder of each file in a wheel. An editable package reads it in the checkout."""


class WithFiles(build_py):
    """Builds the package as ever, and then copies the files."""

    def run(self) -> None:
        """Build."""
        super().run()
        if self.editable_mode:
            return
        for file, place in PLACES.items():
            folder = Path(self.build_lib, place)
            folder.mkdir(parents=True, exist_ok=True)
            copyfile(file, folder / Path(file).name)


setup(cmdclass={"build_py": WithFiles})
