"""Time the exact studies that run over seeds: all seeds in one batch, compared with one seed after another, in turn.

Both give the same bytes, which is checked here too. A ratio above 1 says how many times faster the batch is.
"""

import argparse
import importlib
import json
import os
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from hypersphere.config import registry
from hypersphere.training.determinism import make_deterministic


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Wall seconds of a call, and its result."""
    begun = time.perf_counter()
    result = call()
    return time.perf_counter() - begun, result


def compare(module: ModuleType, repetitions: int) -> dict[str, Any]:
    """Median ratio of the time of a loop over seeds to that of one batch; each repetition times both in turn."""
    pairs = []
    for _ in range(repetitions):
        loop, apart = seconds(lambda: [module.simulate([seed]) for seed in module.SEEDS])
        batch, together = seconds(lambda: module.simulate(module.SEEDS))
        for name, values in together.items():
            assert np.concatenate([each[name] for each in apart]).tobytes() == np.asarray(values).tobytes(), name
        pairs.append((loop, batch))
    return {
        "seeds": len(module.SEEDS),
        "ratio": round(float(np.median([loop / batch for loop, batch in pairs])), 2),
        "batch_s": [round(batch, 2) for _, batch in pairs],
        "loop_s": [round(loop, 2) for loop, _ in pairs],
    }


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=3, help="of each study (default: 3)")
    repetitions = parser.parse_args().repetitions
    make_deterministic(1)
    found = {}
    for name in registry.names("simulations"):
        module = importlib.import_module(registry.module_name("simulations", name))
        if hasattr(module, "simulate"):
            found[name] = compare(module, repetitions)
    print(json.dumps({"studies": found, "threads": 1, "cores": os.cpu_count()}, indent=1))


if __name__ == "__main__":
    main()
