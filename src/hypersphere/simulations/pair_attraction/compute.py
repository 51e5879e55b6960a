"""Steps until pairs of points meet under the gradient of their cosine: norms paper, Table 1 and Fig. 2a.

500 pairs of random directions in R^20 descend the gradient of their mean loss at rate 10, until their mean cosine
exceeds 0.999 (Sec. 4.1, App. B.1). By Proposition 3.1 no step leaves the plane of its pair, so three numbers describe a
pair in any dimension, exactly: its cosine and two norms.

Shapes: runs (each has one setting and one seed), pairs, and the 2 points of a pair.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from scipy import stats

from hypersphere import prng
from hypersphere.objectives.geometry import unit
from hypersphere.simulations.study import PRINTED, Context, ExactNumber, ExactStudy, counted, effect, over_seeds

PAIRS = 500
DIMENSION = 20
RATE = 10.0
CONVERGED = 0.999
CLEARED_EVERY = 40
"""Steps after which finished runs are dropped. Step limits are multiples of it."""


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
    along, across = runs.keep * runs.norm - runs.pull, runs.rate / runs.norm
    square = (1 - runs.cosine) * (1 + runs.cosine)
    np.maximum(square, 0, out=square)  # a cosine may round to more than 1
    ahead, aside = along * along, across * across * square
    norm = np.sqrt(ahead + aside)
    mixed = along[0] * across[1] + along[1] * across[0]
    dot = runs.cosine * (along[0] * along[1] - across[0] * across[1] * square) + mixed * square
    return runs._replace(cosine=dot / (norm[0] * norm[1]), norm=norm)


def converge(runs: Runs, limit: Float[np.ndarray, "runs"]) -> dict[str, Float[np.ndarray, "runs"]]:
    """Step every run until its mean cosine exceeds 0.999, or to its own limit of steps.

    Finished runs are dropped every ``CLEARED_EVERY`` steps. No operation mixes runs, so the bits of a run do not
    depend on that, nor on the other runs.

    Returns:
        steps: until the mean cosine exceeded 0.999; infinite if it did not within the limit.
        norm: the median norm of the first points at the limit; nan for a run that converged.
    """
    outcome = {"steps": np.full(len(limit), math.inf), "norm": np.full(len(limit), math.nan)}
    alive, count = np.arange(len(limit)), 0
    while len(alive):
        means = np.empty((CLEARED_EVERY, len(alive)))
        for row in means:
            row[:] = runs.cosine.mean(axis=1)
            runs = step(runs)
        reached = means > CONVERGED
        converged = reached.any(axis=0)
        outcome["steps"][alive[converged]] = count + reached.argmax(axis=0)[converged]
        count += CLEARED_EVERY
        ended = ~converged & (count >= limit[alive])
        if ended.any():
            outcome["norm"][alive[ended]] = np.median(runs.norm[0, ended], axis=1)
        going = ~(converged | ended)
        alive, runs = alive[going], Runs(runs.cosine[going], *(field[:, going] for field in runs[1:]))
    return outcome


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


READINGS = {
    "square": PRINTED,  # mean over pairs of -cos + gamma ||z_i||²: the index i says one point of each pair
    "norm": "N1",  # gamma times the mean norm of all points
}
TABLE_NORMS = (1.0, 4.0, 7.0)
GAMMAS = (0.5, 1.0, 10.0)
NORMS = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
ALPHAS = (*(round(0.08 * k, 2) for k in range(-12, 13)), 1.0)
WIDEST, OBTUSE = min(ALPHAS), -0.48
"""Their mean angles are 3.10 and, close to 3 pi / 4, 2.31."""


def free(norm: float, alpha: float = 0.0) -> Setting:
    """No penalty, both sets trained and scaled, interpolated points normalised (errata N6, N7)."""
    return Setting((norm, norm), alpha)


CURVES: dict[tuple[str, str], list[Setting]] = {
    ("norm", "both"): [free(norm) for norm in NORMS],
    ("norm", "second"): [Setting((1.0, norm)) for norm in NORMS],
    ("norm", "static"): [Setting((norm, norm), static=True) for norm in NORMS[:5]],  # twice the steps
    ("angle", "normalised"): [free(1.0, alpha) for alpha in ALPHAS],
    ("angle", "printed"): [Setting((1.0, 1.0), alpha, normalised=False) for alpha in ALPHAS],
}
"""The curves of Fig. 2a, by panel and name."""
CELLS = {
    (penalty, norm, gamma): Setting((norm, norm), penalty=penalty if gamma else "", gamma=gamma)
    for penalty, norm, gamma in product(READINGS, TABLE_NORMS, (0.0, *GAMMAS))
}
"""The cells of Table 1 by penalty, norm and gamma, and of its column without penalty."""
SETTINGS = list(dict.fromkeys([*chain(*CURVES.values()), *CELLS.values()]))
Results = dict[str, Float[np.ndarray, "seeds settings"]]


def simulate(seeds: Sequence[int]) -> Results:
    """Run every setting of ``SETTINGS`` for every seed. Settings that are not in Table 1 run for ``SWEEP_SEEDS`` only.

    Returns:
        Those of ``converge``, and ``angle``, the mean angle at the start; nan where nothing was run.
    """

    def columns(values: Iterable[tuple[float, float]]) -> Float[np.ndarray, "2 runs 1"]:
        return np.array(list(values), dtype=float).T[:, :, None]

    in_table = set(CELLS.values())
    needed = [(s in in_table or seed in SWEEP_SEEDS) for s in SETTINGS for seed in seeds]
    column, row = np.divmod(np.flatnonzero(needed), len(seeds))
    settings = [SETTINGS[i] for i in column]
    cosines = []  # of 500 pairs of independent random directions in R^20 (App. B.1)
    for seed in seeds:
        generator = torch.Generator().manual_seed(prng.torch_seed(seed, "pair attraction"))
        first, second = unit(torch.randn(2, PAIRS, DIMENSION, generator=generator, dtype=torch.float64))
        cosines.append((first * second).sum(dim=-1).numpy())
    cosine, length = interpolated(np.stack(cosines)[row], np.array([s.alpha for s in settings])[:, None])
    norm = columns(s.norms for s in settings) * np.ones_like(cosine)
    norm[-1] *= np.where(np.array([s.normalised for s in settings])[:, None], 1, length)
    rate = RATE / PAIRS
    on_square = columns((2 * s.gamma, 0) if s.penalty == "square" else (0, 0) for s in settings)
    on_norm = columns((s.gamma / 2, s.gamma / 2) if s.penalty == "norm" else (0, 0) for s in settings)  # of 1000 points
    moves = rate * columns((not s.static, True) for s in settings)
    runs = Runs(cosine, norm, rate=moves, keep=1 - rate * on_square, pull=rate * on_norm)
    limit = np.array([LIMIT_WITH_PENALTY if s.penalty else LIMIT for s in settings], dtype=float)
    outcome = {"angle": np.arccos(cosine.clip(-1, 1)).mean(axis=1), **converge(runs, limit)}
    results = {name: np.full((len(seeds), len(SETTINGS)), math.nan) for name in outcome}
    for name, values in outcome.items():
        results[name][row, column] = values
    return results


def numbers(results: Results, settings: Iterable[Setting], name: str = "steps") -> Float[np.ndarray, "settings seeds"]:
    """The numbers of some settings, one for each seed."""
    return results[name].T[[SETTINGS.index(setting) for setting in settings]]


def slopes(norms: Sequence[float], steps: Float[np.ndarray, "norms seeds"]) -> Float[np.ndarray, "seeds"]:
    """Slope of log steps on log norm, by least squares; 2 is quadratic."""
    return np.polyfit(np.log(norms), np.log(steps), 1)[0]


def pair_attraction(context: Context) -> ExactStudy:
    results = simulate(SEEDS)
    table1, of_table1 = _table1(results)
    fig2a, of_fig2a = _fig2a({name: values[: len(SWEEP_SEEDS)] for name, values in results.items()})
    return ExactStudy({"table1": table1, "fig2a": fig2a}, [*of_table1, *of_fig2a])


def _table1(results: Results) -> tuple[pd.DataFrame, list[ExactNumber]]:
    """One row per cell, with statistics of steps over the seeds that converged.

    Answers, in both readings: printed cells, the slope that should be 2, and the steps that a penalty saves.
    """
    rows, answers = [], []
    for (penalty, norm, gamma), setting in CELLS.items():
        steps = numbers(results, [setting])[0]
        done = pd.Series(steps[np.isfinite(steps)])  # whose statistics of nothing are nan
        rows.append(
            {
                **{"penalty": penalty, "reading": READINGS[penalty], "norm": norm, "gamma": gamma},
                **{"n": len(steps), "converged": len(done)},
                **{"mean": done.mean(), "std": done.std(), "least": done.min(), "most": done.max()},
                "limit": LIMIT_WITH_PENALTY if setting.penalty else LIMIT,
            }
        )
    for penalty, reading in READINGS.items():
        suffix = "" if reading == PRINTED else f".{reading.lower()}"
        cells = {cell[1:]: numbers(results, [CELLS[cell]])[0] for cell in CELLS if cell[0] == penalty}
        for norm, gamma in product(TABLE_NORMS, GAMMAS):
            place = f"norm{norm:g}.gamma{gamma:g}{suffix}"
            answers.append(over_seeds(f"norms.table1.{place}", cells[norm, gamma], reading))
            if gamma < 10:
                saved = cells[norm, 0.0], cells[norm, gamma]
                answers.append(effect(f"norms.table1.faster.{place}", *saved, reading))
        for norm in TABLE_NORMS:
            more = cells[norm, 0.5], cells[norm, 1.0]
            answers.append(effect(f"norms.table1.stronger.norm{norm:g}{suffix}", *more, reading))
        for gamma in (0.5, 1.0):
            fitted = slopes(TABLE_NORMS, np.stack([cells[norm, gamma] for norm in TABLE_NORMS]))
            answers.append(over_seeds(f"norms.table1.slope.gamma{gamma:g}{suffix}", fitted, reading))
        ends = numbers(results, [CELLS[penalty, norm, 10.0] for norm in TABLE_NORMS], "norm")
        shrunk = ends < np.array(TABLE_NORMS)[:, None]
        answers.append(counted(f"norms.table1.shrinks{suffix}", int(shrunk.sum()), shrunk.size, reading))
    fitted = slopes(TABLE_NORMS, numbers(results, [free(norm) for norm in TABLE_NORMS]))
    answers.append(over_seeds("norms.table1.slope.unregularised", fitted, "N6"))
    return pd.DataFrame(rows), answers


def _fig2a(results: Results) -> tuple[pd.DataFrame, list[ExactNumber]]:
    """Curves of two panels: mean steps over seeds, with a 95 % t interval.

    Answers: sentences about them, as App. B.1 is printed and with errata N6 and N7. As printed, only the second set is
    scaled, and interpolated points keep the norm they come out with.
    """
    tables, answers = [], []
    for (panel, curve), settings in CURVES.items():
        steps = numbers(results, settings)
        mean, half = steps.mean(axis=1), stats.t.ppf(0.975, steps.shape[1] - 1) * stats.sem(steps, axis=1)
        at: dict[str, Any] = {"norm": [s.norms[1] for s in settings], "alpha": [s.alpha for s in settings]}
        at |= {"angle": numbers(results, settings, "angle").mean(axis=1)}
        steps_of = {"mean": mean, "low": mean - half, "high": mean + half, "n": steps.shape[1]}
        tables.append(pd.DataFrame({"panel": panel, "curve": curve, **at, **steps_of}))
    for curve, angle, suffix in (("second", "printed", ""), ("both", "normalised", ".n6")):
        on_norm, on_angle = ("N6", "N6, N7") if suffix else (PRINTED, PRINTED)
        steps = numbers(results, CURVES["norm", curve])
        rises = np.diff(steps, axis=0) > 0
        answers.append(counted(f"norms.fig2a.norm_slows{suffix}", int(rises.sum()), rises.size, on_norm))
        answers.append(over_seeds(f"norms.fig2a.slope{suffix}", slopes(NORMS, steps), on_norm))
        widest = numbers(results, CURVES["angle", angle])[0]  # ALPHAS begin with the widest angle
        answers.append(effect(f"norms.fig2a.norm_above_angle{suffix}", steps[-1], widest, on_angle))
    steps, angles = (numbers(results, CURVES["angle", "normalised"][::-1], name) for name in ("steps", "angle"))
    with_sine = np.diff(steps, axis=0) * np.diff(np.sin(angles), axis=0) > 0
    none, right, obtuse, widest = numbers(results, [free(1.0, alpha) for alpha in (1.0, 0.0, OBTUSE, WIDEST)])
    answers += [
        counted("norms.fig2a.sine_slows", int(with_sine.sum()), with_sine.size, "N7"),
        effect("norms.fig2a.only_near_pi", widest - obtuse, obtuse - none, "N7"),
        effect("norms.fig2a.only_near_pi.obtuse", widest - obtuse, obtuse - right, "N7"),
    ]
    return pd.concat(tables, ignore_index=True), answers
