"""Whether a table of the smoke scale is measured on the real CIFAR-10, complete, and says that it is no reproduction.

python .ci/check_smoke.py RESULTS, in the checkout: RESULTS is results/smoke-<digest>. That the images are the published
ones is checked where they are read: by checksums, and by tests/unit/datasets/test_cifar.py.
"""

import sys
from pathlib import Path

import pandas as pd

DATASET, LABEL = "cifar10_lt_tenth", "Not a reproduction"

if __name__ == "__main__":
    table = Path(sys.argv[1]) / "tables" / "embedding_norms" / "table5"
    cells = pd.read_csv(table.with_suffix(".csv"))
    cells = cells[cells["measured_on"] == DATASET]
    empty = list(cells["coordinates"][cells["mean"].isna()])
    if empty or cells.empty:
        sys.exit(f"{table}.csv: no number measured on {DATASET} for {empty or 'any cell'}")
    if LABEL not in table.with_suffix(".md").read_text(encoding="utf-8"):
        sys.exit(f"{table}.md: does not say `{LABEL}`")
    print(f"{len(cells)} cells measured on {DATASET}, and labelled: {LABEL}")
