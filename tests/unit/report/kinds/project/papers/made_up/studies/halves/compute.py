"""Three steps, each half as long as the one before."""

import pandas as pd

from hypersphere.exact.study import Context, ExactStudy


def halves(context: Context) -> ExactStudy:
    table = pd.DataFrame({"step": [1, 2, 3], "value": [0.5, 0.25, 0.125]})
    return ExactStudy({"sketch": table, "steps": table})
