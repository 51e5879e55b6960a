"""What people say."""

import pandas as pd

from hypersphere.exact.study import Context, Study


def people(context: Context) -> Study:
    return Study({"people": pd.DataFrame({"x": [1.0, 2.0]})})
