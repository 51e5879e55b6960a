"""How much weight the nearest of three candidates has, at eight temperatures: no encoder is needed."""

import numpy as np
import pandas as pd

from hypersphere.exact.study import Context, ExactStudy, counted

COSINES = np.array([0.9, 0.5, 0.1])
TEMPERATURES = np.array([0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0])


def weights(context: Context) -> ExactStudy:
    """Figure 1, and at how many steps to a lower temperature the weight rises."""
    exponentials = np.exp(COSINES / TEMPERATURES[:, None])  # [temperatures, candidates]
    nearest = exponentials[:, 0] / exponentials.sum(axis=1)
    rises = nearest[:-1] > nearest[1:]
    table = pd.DataFrame({"temperature": TEMPERATURES, "weight": nearest})
    return ExactStudy({"fig1": table}, [counted("mine.fig1.rises", int(rises.sum()), len(rises))])
