"""``hypersphere``, ``python -m hypersphere``, and ``python src/hypersphere`` where the package is not installed."""

import atexit
import gc
import sys
import traceback
from pathlib import Path

if not __package__:  # started by its path (docs/untested.md): the checkout's plug-ins come along
    src = Path(__file__).resolve().parent.parent
    sys.path[:1] = map(str, (src, *sorted(src.parent.glob("plugins/*/src"))))


PIPELINE = (
    *("PIL", "filelock", "pandas", "pooch", "pytorch_optimizer", "requests", "safetensors"),
    *("sklearn", "threadpoolctl", "torchvision"),
)
"""The modules of the extra ``pipeline``."""
CRASHED = 70
"""The exit status after an error that nobody foresaw, as sysexits.h has it. Python's own is 1, which an audit gives to
impossible numbers."""


def run() -> int:
    """The command, as a process of its own. Returns its exit status; 70 after a crash, whose traceback it prints."""
    try:
        return _run()
    except Exception:
        traceback.print_exc()
        return CRASHED


def _run() -> int:
    """The command, imported and run.

    Importing torch makes a million objects, and all of them stay. By default Python searches them for garbage many
    times during the import, and once more at exit. That takes a quarter of the time of a small job.
    """
    from hypersphere import DISTRIBUTION, foreign, terminal

    foreign.start_again(str(foreign.PACKAGE))
    from hypersphere.audit import command as audit
    from hypersphere.judging import command as judging

    terminal.use(sys.stdout, sys.stderr)
    gc.set_threshold(10_000)  # new objects before it looks among them; Python 3.11 takes 700
    atexit.register(gc.freeze)
    try:
        # they need nothing of what the others import
        if sys.argv[1:2] and sys.argv[1] in audit.COMMANDS:
            return audit.main(sys.argv[1:])
        if sys.argv[1:2] and sys.argv[1] in judging.COMMANDS:
            return judging.main(sys.argv[1:])
        from hypersphere.command.cli import main

        return main()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in PIPELINE:
            raise
        without = ", ".join(audit.COMMANDS | judging.COMMANDS)
        print(
            f"hypersphere: {error.name} is not installed; it comes with the extra {DISTRIBUTION}[pipeline], "
            f"without which there are only the losses and the commands {without}",
            file=sys.stderr,
        )
        return 2


if __name__ == "__main__":
    sys.exit(run())
