"""Steps until pairs of points meet under the gradient of their cosine: norms paper, Table 1 and Fig. 2a.

500 pairs of random directions in R^20 descend the gradient of their mean loss at rate 10, until their mean cosine
exceeds 0.999 (Sec. 4.1, App. B.1). By Proposition 3.1 no step leaves the plane of its pair, so three numbers describe a
pair in any dimension, exactly: its cosine and two norms.

Shapes: runs (each has one setting and one seed), pairs, and the 2 points of a pair.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from scipy import stats

from hypersphere.exact.study import (
    PRINTED,
    Context,
    ExactNumber,
    ExactStudy,
    effect,
    ending,
    everywhere,
    over_seeds,
    stack,
)
from hypersphere.generators import generator, normal
from hypersphere.objectives.geometry import unit

PAIRS = 500
DIMENSION = 20
RATE = 10.0
CONVERGED = 0.999
CLEARED_EVERY = 40
"""Steps after which finished runs are dropped. Step limits are multiples of it."""
AT_ONCE = 64
"""Runs that are stepped together: their arrays fit into a processor's cache."""


class Runs(NamedTuple):
    """The current pairs of all runs, and the constants of a step."""

    cosine: Float[np.ndarray, "runs pairs"]
    norm: Float[np.ndarray, "2 runs pairs"]
    rate: Float[np.ndarray, "2 runs 1"]
    """Learning rate over the number of pairs, because the loss is a mean over pairs; 0 for a static point."""
    keep: Float[np.ndarray, "2 runs 1"]
    """Factor by which a penalty on the squared norm shrinks a point in a step."""
    pull: Float[np.ndarray, "2 runs 1"]
    """Length that a penalty on the norm takes off a point in a step."""

    def only(self, which: slice | Bool[np.ndarray, "runs"]) -> "Runs":
        """Some of the runs."""
        of_both_points = [field[:, which] for field in self[1:]]
        return Runs(self.cosine[which], *of_both_points)


def interpolated(
    cosine: Float[np.ndarray, "*n"], alpha: Float[np.ndarray, "*n"]
) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
    """Cosine with x1, and norm, of x2 (1 - |alpha|) + x1 alpha, for unit vectors of that cosine (App. B.1)."""
    rest = 1 - abs(alpha)
    norm = np.sqrt(rest * rest + alpha * alpha + 2 * alpha * rest * cosine)
    return (rest * cosine + alpha) / norm, norm


def step(runs: Runs) -> Runs:
    """Move all points at once down the gradient of -cos, which is -(u_j - cos u_i) / ||z_i|| (Proposition 3.1).

    A point arrives at ``along`` times its direction u_i, plus ``across`` times u_j - cos u_i. So ||z_i'||² = along² +
    across² s, with s = sin², and the new inner product follows from (u_j - cos u_i) · (u_i - cos u_j) = -cos s.
    """
    along = runs.keep * runs.norm - runs.pull
    across = runs.rate / runs.norm
    square = (1 - runs.cosine) * (1 + runs.cosine)
    np.maximum(square, 0, out=square)  # a cosine may round to more than 1
    ahead = along * along
    aside = across * across * square
    norm = np.sqrt(ahead + aside)
    both_along = along[0] * along[1]
    both_across = across[0] * across[1] * square
    mixed = along[0] * across[1] + along[1] * across[0]
    dot = runs.cosine * (both_along - both_across) + mixed * square
    return runs._replace(cosine=dot / (norm[0] * norm[1]), norm=norm)


def converge(runs: Runs, limit: Float[np.ndarray, "runs"]) -> dict[str, Float[np.ndarray, "runs"]]:
    """Step every run until its mean cosine exceeds 0.999, or to its own limit of steps.

    Finished runs are dropped every ``CLEARED_EVERY`` steps. No operation mixes runs, so the bits of a run do not
    depend on that, nor on the other runs.

    Returns:
        steps: until the mean cosine exceeded 0.999; infinite if it did not within the limit.
        norm: the median norm of the first points at the limit; nan for a run that converged.
    """
    steps = np.full(len(limit), math.inf)
    norm = np.full(len(limit), math.nan)
    alive = np.arange(len(limit))
    count = 0
    while len(alive):
        means = np.empty((CLEARED_EVERY, len(alive)))
        for row in means:
            row[:] = runs.cosine.mean(axis=1)
            runs = step(runs)
        reached = means > CONVERGED
        converged = reached.any(axis=0)
        first = reached.argmax(axis=0)
        steps[alive[converged]] = count + first[converged]
        count += CLEARED_EVERY
        ended = ~converged & (count >= limit[alive])
        if ended.any():
            norm[alive[ended]] = np.median(runs.norm[0, ended], axis=1)
        going = ~(converged | ended)
        alive = alive[going]
        runs = runs.only(going)
    return {"steps": steps, "norm": norm}


SEEDS = range(16)
SWEEP_SEEDS = range(8)
"""The seeds of Fig. 2a; Table 1 has all seeds."""
LIMIT = 12_000
LIMIT_WITH_PENALTY = 2_000
"""Twice the steps of Table 1's slowest cell. Where a penalty pulls points to the origin, they arrive by step 70."""


class Setting(NamedTuple):
    """One simulation, except for its seed."""

    norms: tuple[float, float]
    """Norms at the start: of all first points, and of all second points before any interpolation."""
    alpha: float = 0.0
    """Interpolation of the second point towards the first one, or towards its opposite (App. B.1)."""
    normalised: bool = True
    """Whether an interpolated point gets its norm back (erratum N7); in the printed formula it does not."""
    static: bool = False
    """Whether the first points do not move."""
    penalty: str = ""
    """A reading of Table 1's objective, from ``READINGS``."""
    gamma: float = 0.0

    # Of each point of a pair

    def moves(self) -> tuple[float, float]:
        return (0.0 if self.static else 1.0), 1.0

    def pull_of_square(self) -> tuple[float, float]:
        """The penalty's derivative by a point, over the point."""
        return (2 * self.gamma, 0.0) if self.penalty == "square" else (0.0, 0.0)

    def pull_of_norm(self) -> tuple[float, float]:
        """The length of the penalty's derivative: gamma over two, because the mean is over 1000 points."""
        return (self.gamma / 2, self.gamma / 2) if self.penalty == "norm" else (0.0, 0.0)

    def limit(self) -> int:
        """The most steps."""
        return LIMIT_WITH_PENALTY if self.penalty else LIMIT


READINGS = {
    # mean over pairs of -cos + gamma ||z_i||²: the index i says one point of each pair
    "square": PRINTED,
    "norm": "N1",  # gamma times the mean norm of all points
}
TABLE_NORMS = (1.0, 4.0, 7.0)
GAMMAS = (0.5, 1.0, 10.0)
NORMS = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
ALPHAS = (*(round(0.08 * k, 2) for k in range(-12, 13)), 1.0)
WIDEST = min(ALPHAS)  # a mean angle of 3.10
OBTUSE = -0.48  # a mean angle of 2.31, close to 3 pi / 4


def free(norm: float, alpha: float = 0.0) -> Setting:
    """No penalty, both sets trained and scaled, interpolated points normalised (errata N6, N7)."""
    return Setting((norm, norm), alpha)


def cell(penalty: str, norm: float, gamma: float) -> Setting:
    """A cell of Table 1, or of its column without penalty."""
    return Setting((norm, norm), penalty=penalty, gamma=gamma) if gamma else free(norm)


CURVES: dict[tuple[str, str], list[Setting]] = {
    ("norm", "both"): [free(norm) for norm in NORMS],
    ("norm", "second"): [Setting((1.0, norm)) for norm in NORMS],
    # twice the steps
    ("norm", "static"): [Setting((norm, norm), static=True) for norm in NORMS[:5]],
    ("angle", "normalised"): [free(1.0, alpha) for alpha in ALPHAS],
    ("angle", "printed"): [Setting((1.0, 1.0), alpha, normalised=False) for alpha in ALPHAS],
}
"""The curves of Fig. 2a, by panel and name."""
CELLS = {place: cell(*place) for place in product(READINGS, TABLE_NORMS, (0.0, *GAMMAS))}
"""The cells of Table 1 by penalty, norm and gamma, and of its column without penalty."""
SETTINGS = list(dict.fromkeys([*chain(*CURVES.values()), *CELLS.values()]))
Results = dict[str, Float[np.ndarray, "seeds settings"]]


def simulate(seeds: Sequence[int]) -> Results:
    """Run every setting of ``SETTINGS`` for every seed. Settings that are not in Table 1 run for ``SWEEP_SEEDS`` only.

    Returns:
        Those of ``converge``, and ``angle``, the mean angle at the start; nan where nothing was run.
    """
    in_table = set(CELLS.values())
    settings = []
    rows = []
    columns = []
    for column, setting in enumerate(SETTINGS):
        for row, seed in enumerate(seeds):
            if setting in in_table or seed in SWEEP_SEEDS:
                settings.append(setting)
                rows.append(row)
                columns.append(column)
    cosines = np.stack([random_cosines(seed) for seed in seeds])
    runs = start(settings, cosines[rows])
    angles = np.arccos(runs.cosine.clip(-1, 1))
    limit = np.array([setting.limit() for setting in settings], dtype=float)
    parts = [slice(first, first + AT_ONCE) for first in range(0, len(limit), AT_ONCE)]
    ends = [converge(runs.only(part), limit[part]) for part in parts]
    outcome = {"angle": angles.mean(axis=1)}
    for name in ("steps", "norm"):
        outcome[name] = np.concatenate([end[name] for end in ends])
    results = {}
    for name, values in outcome.items():
        results[name] = np.full((len(seeds), len(SETTINGS)), math.nan)
        results[name][rows, columns] = values
    return results


def random_cosines(seed: int) -> Float[np.ndarray, "pairs"]:
    """Cosines of 500 pairs of independent random directions in R^20 (App. B.1)."""
    points = normal(generator(seed, "pair attraction"), 2, PAIRS, DIMENSION)
    first, second = unit(points)
    return (first * second).sum(dim=-1).numpy()


def start(settings: Sequence[Setting], cosine: Float[np.ndarray, "runs pairs"]) -> Runs:
    """The runs before the first step, from the cosines of their random directions."""
    alpha = np.array([setting.alpha for setting in settings])
    normalised = np.array([setting.normalised for setting in settings])
    cosine, length = interpolated(cosine, alpha[:, None])
    norm = both_points(setting.norms for setting in settings) * np.ones_like(cosine)
    norm[1] *= np.where(normalised[:, None], 1, length)
    rate = RATE / PAIRS
    return Runs(
        cosine,
        norm,
        rate=rate * both_points(setting.moves() for setting in settings),
        keep=1 - rate * both_points(setting.pull_of_square() for setting in settings),
        pull=rate * both_points(setting.pull_of_norm() for setting in settings),
    )


def both_points(
    numbers: Iterable[tuple[float, float]],
) -> Float[np.ndarray, "2 runs 1"]:
    """A number of each point, from pairs by run."""
    by_run = np.array(list(numbers), dtype=float)
    return by_run.T[:, :, None]


def numbers(
    results: Results, settings: Iterable[Setting], name: str = "steps"
) -> Float[np.ndarray, "settings seeds"]:
    """The numbers of some settings, one for each seed."""
    places = [SETTINGS.index(setting) for setting in settings]
    return results[name].T[places]


def slopes(
    norms: Sequence[float], steps: Float[np.ndarray, "norms seeds"]
) -> Float[np.ndarray, "seeds"]:
    """Slope of log steps on log norm, by least squares; 2 is quadratic."""
    return np.polyfit(np.log(norms), np.log(steps), 1)[0]


def pair_attraction(context: Context) -> ExactStudy:
    """Table 1 and Fig. 2a, and answers to their numbers and to sentences about them."""
    results = simulate(SEEDS)
    of_sweep = {name: values[: len(SWEEP_SEEDS)] for name, values in results.items()}
    tables = {"table1": _table1(results), "fig2a": _fig2a(of_sweep)}
    answers = [*_on_table1(results), *_on_fig2a(of_sweep)]
    return ExactStudy(tables, answers)


def _table1(results: Results) -> pd.DataFrame:
    """One row per cell, with statistics of steps over the seeds that converged."""
    rows = []
    for (penalty, norm, gamma), setting in CELLS.items():
        (steps,) = numbers(results, [setting])
        done = pd.Series(steps[np.isfinite(steps)])  # whose statistics of nothing are nan
        rows.append(
            {
                "penalty": penalty,
                "reading": READINGS[penalty],
                "norm": norm,
                "gamma": gamma,
                "n": len(steps),
                "converged": len(done),
                "mean": done.mean(),
                "std": done.std(),
                "least": done.min(),
                "most": done.max(),
                "limit": setting.limit(),
            }
        )
    return pd.DataFrame(rows)


def _on_table1(results: Results) -> Iterator[ExactNumber]:
    """The answers on Table 1 in both readings: cells, a slope that should be 2, and the steps that a penalty saves."""
    for penalty in READINGS:
        yield from _in_reading(results, penalty)
    free_steps = numbers(results, map(free, TABLE_NORMS))
    yield over_seeds("norms.table1.slope.unregularised", slopes(TABLE_NORMS, free_steps), "N6")


def _in_reading(results: Results, penalty: str) -> Iterator[ExactNumber]:
    reading = READINGS[penalty]
    end = ending(reading)

    def of_norms(gamma: float, name: str = "steps") -> Float[np.ndarray, "norms seeds"]:
        return numbers(results, [CELLS[penalty, norm, gamma] for norm in TABLE_NORMS], name)

    steps = {gamma: of_norms(gamma) for gamma in (0.0, *GAMMAS)}
    for k, norm in enumerate(TABLE_NORMS):
        for gamma in GAMMAS:
            place = f"norm{norm:g}.gamma{gamma:g}{end}"
            yield over_seeds(f"norms.table1.{place}", steps[gamma][k], reading)
            if gamma < 10:
                yield effect(
                    f"norms.table1.faster.{place}",
                    steps[0.0][k],
                    steps[gamma][k],
                    reading,
                )
    for k, norm in enumerate(TABLE_NORMS):
        yield effect(
            f"norms.table1.stronger.norm{norm:g}{end}",
            steps[0.5][k],
            steps[1.0][k],
            reading,
        )
    for gamma in (0.5, 1.0):
        fitted = slopes(TABLE_NORMS, steps[gamma])
        yield over_seeds(f"norms.table1.slope.gamma{gamma:g}{end}", fitted, reading)
    at_start = np.array(TABLE_NORMS)[:, None]
    at_end = of_norms(10.0, "norm")
    yield everywhere(f"norms.table1.shrinks{end}", at_end < at_start, reading)


def _fig2a(results: Results) -> pd.DataFrame:
    """Curves of two panels: mean steps over seeds, with a 95 % t interval."""
    tables = []
    for (panel, curve), settings in CURVES.items():
        steps = numbers(results, settings)
        seeds = steps.shape[1]
        mean = steps.mean(axis=1)
        half = stats.t.ppf(0.975, seeds - 1) * stats.sem(steps, axis=1)
        columns = {
            "panel": panel,
            "curve": curve,
            "norm": [setting.norms[1] for setting in settings],
            "alpha": [setting.alpha for setting in settings],
            "angle": numbers(results, settings, "angle").mean(axis=1),
            "mean": mean,
            "low": mean - half,
            "high": mean + half,
            "n": seeds,
        }
        tables.append(pd.DataFrame(columns))
    return stack(tables)


def _on_fig2a(results: Results) -> Iterator[ExactNumber]:
    """Sentences about the curves, as App. B.1 is printed and with errata N6 and N7.

    As printed, only the second set is scaled, and interpolated points keep the norm they come out with.
    """
    yield from _on_both_panels(results, "second", "printed", "", PRINTED, PRINTED)
    yield from _on_both_panels(results, "both", "normalised", ".n6", "N6", "N6, N7")
    by_angle = CURVES["angle", "normalised"][::-1]
    steps = numbers(results, by_angle)
    sines = np.sin(numbers(results, by_angle, "angle"))
    rise_together = np.diff(steps, axis=0) * np.diff(sines, axis=0) > 0
    yield everywhere("norms.fig2a.sine_slows", rise_together, "N7")
    none, right, obtuse, widest = numbers(
        results, [free(1.0, alpha) for alpha in (1.0, 0.0, OBTUSE, WIDEST)]
    )
    yield effect("norms.fig2a.only_near_pi", widest - obtuse, obtuse - none, "N7")
    yield effect("norms.fig2a.only_near_pi.obtuse", widest - obtuse, obtuse - right, "N7")


def _on_both_panels(
    results: Results, by_norm: str, by_angle: str, end: str, on_norm: str, on_angle: str
) -> Iterator[ExactNumber]:
    """Sentences on a curve of each panel, in the readings that these curves have."""
    steps = numbers(results, CURVES["norm", by_norm])
    yield everywhere(
        f"norms.fig2a.norm_slows{end}",
        np.diff(steps, axis=0) > 0,
        on_norm,
    )
    yield over_seeds(f"norms.fig2a.slope{end}", slopes(NORMS, steps), on_norm)
    widest = numbers(results, CURVES["angle", by_angle])[0]  # ALPHAS begin with the widest angle
    yield effect(f"norms.fig2a.norm_above_angle{end}", steps[-1], widest, on_angle)
