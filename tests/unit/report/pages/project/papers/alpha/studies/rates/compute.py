"""A curve of rates."""

import pandas as pd

from hypersphere.exact.study import Context, Study


def rates(context: Context) -> Study:
    return Study({"curve": pd.DataFrame({"x": [1.0, 2.0]})})
