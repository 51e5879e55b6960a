"""How fast a device works, and what it draws: stated here, not measured by the command that uses it.

Each has its source. ``hypersphere cost --tflops … --bandwidth … --watts …`` replaces them for one call.
"""

import argparse
import math
from typing import NamedTuple

from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError

TERA = 10**12
OPTIONS = ("tflops", "bandwidth", "watts", "price")


class Rates(NamedTuple):
    """Of one device: a GPU, or one core of a processor."""

    device: str
    unit: str
    """What its hours are called: ``GPU`` or ``core``."""
    tflops: float
    """Sustained 10^12 floating-point operations a second."""
    bandwidth: float
    """Sustained 10^12 bytes a second, to and from its memory."""
    watts: float
    source: str
    price: float | None = None
    """For an hour, in any currency; None: not given."""

    def seconds(self, flops: int, moved: int) -> float:
        """Time of some work: that of its arithmetic or of its memory traffic, whichever is longer."""
        return max(flops / (self.tflops * TERA), moved / (self.bandwidth * TERA))


GPU = Rates(
    device="one NVIDIA H200",
    unit="GPU",
    tflops=200,
    bandwidth=3.4,
    watts=700,
    source="rated: 495 TFLOP/s of TF32 arithmetic, 4.8 TB/s, 700 W; assumed: 40 % of the one, 70 % of the other",
)
CORE = Rates(
    device="one core",
    unit="core",
    tflops=0.07,
    bandwidth=0.002,
    watts=15,
    source="training steps timed on one core at 2.5 GHz (docs/performance.md); the watts are assumed",
)


def of(plan: Plan, arguments: argparse.Namespace) -> Rates:
    """The rates of the device that trains this plan's runs, with those that the command line gives.

    Raises:
        HypersphereError: one is not a positive number.
    """
    device = plan.config.settings.device
    on_gpu = device == "cuda" or (device == "auto" and plan.config.scale.resources.gpu > 0)
    given = {name: getattr(arguments, name) for name in OPTIONS if getattr(arguments, name) is not None}
    for name, value in given.items():
        if not (math.isfinite(value) and value > 0):
            raise HypersphereError(f"cost: --{name}: must be a positive number (given: {value:g})")
    rates = (GPU if on_gpu else CORE)._replace(**given)
    changed = [f"--{name}" for name in given if name != "price"]
    return rates._replace(source=f"{rates.source}; given here: {', '.join(changed)}") if changed else rates
