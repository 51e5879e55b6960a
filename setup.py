"""The wheel has the tables of data/ beside the module that reads them; all else is in pyproject.toml."""

from pathlib import Path
from shutil import copyfile

from setuptools import setup
from setuptools.command.build_py import build_py

TABLES = (
    "checksums.csv",
    "datasets.csv",
    "images.csv",
    "imagenet100.txt",
    "severities.csv",
)
PLACE = Path("hypersphere", "provenance", "data")


class WithTables(build_py):
    """Builds the package as ever, and then copies the tables. An editable package reads them in the checkout."""

    def run(self) -> None:
        """Build."""
        super().run()
        if self.editable_mode:
            return
        place = Path(self.build_lib) / PLACE
        place.mkdir(parents=True, exist_ok=True)
        for table in TABLES:
            copyfile(Path("data") / table, place / table)


setup(cmdclass={"build_py": WithTables})
