"""A prepared dataset as probes see it: ``train`` names the images that they are fitted on.

Those are the images that encoders are trained on, unless the set has labelled images of its own for probes, the split
``probe``: after training on several digits, MultiDigits is probed on one (lecture, Table 3).
"""

from dataclasses import dataclass, field
from pathlib import Path

from hypersphere.datasets import store
from hypersphere.datasets.store import Prepared, PreparedSplit
from hypersphere.datasets.types import TRAIN

PROBE = "probe"


@dataclass(frozen=True)
class Probed(Prepared):
    """A prepared dataset whose split ``train`` is its split ``probe``, if it has one."""

    _mapped: dict[str, PreparedSplit] = field(default_factory=dict, compare=False, repr=False)
    """Splits that were asked for: probes ask for some a hundred times, and each has several files."""

    def split(self, name: str) -> PreparedSplit:
        """Memory-map a split. Raises the errors of ``Prepared.split``."""
        if name not in self._mapped:
            whose = PROBE if name == TRAIN and PROBE in self.split_names else name
            self._mapped[name] = super().split(whose)
        return self._mapped[name]


def open_for_probes(folder: Path) -> Probed:
    """Check a prepared dataset's files and return it. Raises the errors of ``store.open``."""
    return Probed(folder, store.verify(folder))
