"""A build in a process of its own, with another hash seed and time zone, that loads and opens only what it may."""

import os
import subprocess
import sys

from hypersphere.config.plan import Plan

NEVER = ("torch", "torchvision", "sklearn")
BUILD = """
import sys
from pathlib import Path
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
from hypersphere.config import plan
made = plan.make(Path(sys.argv[1]), {{"scale": sys.argv[2]}})
{build}
print("loaded:", *[name for name in sys.argv[3:] if name in sys.modules])
print("runs:", *[path for path in opened if f"/results/{{sys.argv[2]}}/runs" in path])
print("of statistics:", any(f"/results/{{sys.argv[2]}}/statistics" in path for path in opened))
"""


def build_elsewhere(plan: Plan, build: str, *never: str) -> None:
    """Run lines that build from the plan ``made``; a module of ``never``, or NEVER, or a run's file is a failure."""
    scale = plan.config.scale_name
    command = [
        sys.executable,
        "-c",
        BUILD.format(build=build),
        str(plan.config.root),
        scale,
        *NEVER,
        *never,
    ]
    environment = {**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.splitlines() == ["loaded:", "runs:", "of statistics: True"], done.stdout
