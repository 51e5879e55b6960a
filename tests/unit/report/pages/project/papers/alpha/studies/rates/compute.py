"""A curve of rates."""

import pandas as pd

from hypersphere.exact.study import Context, ExactStudy


def rates(context: Context) -> ExactStudy:
    return ExactStudy({"curve": pd.DataFrame({"x": [1.0, 2.0]})})
