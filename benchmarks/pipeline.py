"""Time the quick pipeline from scratch, and a rebuild with nothing to do, in a copy of this checkout."""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def snakemake(folder: Path) -> float:
    """Wall seconds of ``snakemake --cores all`` in ``folder``."""
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "all"], cwd=folder, check=True, stderr=subprocess.DEVNULL
    )
    return time.perf_counter() - begun


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rebuilds", type=int, default=3, help="rebuilds with nothing to do (default: 3)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "hypersphere"
        ignore = shutil.ignore_patterns(".venv", "results", "logs", ".snakemake", "processed", ".git")
        shutil.copytree(ROOT, copy, ignore=ignore)
        fresh = snakemake(copy)
        nothing = [snakemake(copy) for _ in range(arguments.rebuilds)]
        manifests = [json.loads(path.read_text()) for path in copy.glob("results/quick/runs/*/manifest.json")]
    result = {
        "quick_from_nothing_s": round(fresh, 1),
        "nothing_to_do_s": [round(seconds, 2) for seconds in nothing],
        "runs": len(manifests),
        "peak_memory_of_a_training_job_mb": max(m["peak_memory_mb"] for m in manifests),
        "peak_memory_of_any_process_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        "cores": os.cpu_count(),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
