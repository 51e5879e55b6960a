"""What needs a Unix, and the sentence that says so elsewhere.

Losses, audit, training, probes and pages use calls that every system has. What installs and what schedules does not:
make has a POSIX shell, Snakemake's jobs are stopped by signals that they may answer, and locks must end with their
process (fcntl). It needs the standard library alone.
"""

import sys

WINDOWS = "win32"
"""What Python calls Windows, of any size."""


def why_not(what: str) -> str:
    """Why ``what``, which needs a Unix, does not run on this system; empty if it does."""
    if sys.platform != WINDOWS:
        return ""
    return f"{what}: needs Linux or macOS; on Windows, type it in the Windows Subsystem for Linux"
