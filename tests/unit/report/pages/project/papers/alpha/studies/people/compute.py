"""What people say."""

import pandas as pd

from hypersphere.exact.study import Context, ExactStudy


def people(context: Context) -> ExactStudy:
    return ExactStudy({"people": pd.DataFrame({"x": [1.0, 2.0]})})
