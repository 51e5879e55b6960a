"""``python -m hypersphere``, and ``python src/hypersphere`` where the package is not installed."""

import sys
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from hypersphere.command.cli import main

if __name__ == "__main__":
    sys.exit(main())
