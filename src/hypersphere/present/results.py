"""Read the tidy tables of a results folder: all that tables, figures, scorecard and paper ever read."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from hypersphere.declared.config import Config
from hypersphere.errors import HypersphereError
from hypersphere.integrity.manifest import check_tidy

SETTLED = ("reproduced", "not reproduced", "diverged as published", "exact", "exact (erratum)", "refuted")
"""Verdicts that say something for or against a published claim."""

# The columns that present/ leans on (docs/results.md lists them all).
_KEY = ("paper", "method", "variant", "dataset", "measured_on")
COLUMNS: dict[str, tuple[str, ...]] = {
    "statistics/summary.csv": (
        *(*_KEY, "epoch", "final", "metric", "probed_on"),
        *("mean", "std", "n", "low", "high", "n_diverged"),
    ),
    "statistics/effects.csv": (
        *("paper", "artifact", "method", "variant", "baseline", "dataset", "metric", "effect", "p_holm", "measured_on"),
        *("low_holm", "high_holm", "n_variant", "n_baseline", "welch_low", "welch_high"),
        *("paired_low", "paired_high", "low_power", "detectable"),
    ),
    "statistics/measurements.csv": (*_KEY, "seed", "run", "final", "metric"),
    "statistics/runs.csv": ("run", "status", "epochs", "device", "threads", "torch", "code", "data"),
    "claims.csv": (
        *("id", "kind", "paper", "artifact", "method", "variant", "dataset", "setting", "metric", "reported"),
        *("reported_std", "measured", "measured_std", "n", "scale", "reading", "verdict", "source", "baseline"),
        *("low", "high", "low_power", "margin", "verdict_half", "verdict_double", "unstated", "sentence"),
        *("draws", "met", "violated", "counterexample", "study"),
    ),
}
_NUMBERS = {
    *("epoch", "mean", "std", "n", "low", "high", "n_diverged", "effect", "p_holm", "low_holm", "high_holm"),
    *("n_variant", "n_baseline", "welch_low", "welch_high", "paired_low", "paired_high", "detectable"),
    *("seed", "measured", "measured_std", "epochs"),
}


def settles(config: Config) -> bool:
    """Whether a number of this scale may count: the published level, with none of its numbers changed."""
    return config.scale.level == "paper" and config.scale_name == config.settings.scale


def has_no_scale(claim: Mapping[Any, Any]) -> bool:
    """Whether a row of claims.csv says the same at every scale: a theorem, or the answer of an exact study."""
    return bool(claim["kind"] == "theorem" or claim["study"])


@dataclass
class Results:
    """The tidy tables of one scale, read once each. Numbers are floats (NaN: missing), the rest text."""

    config: Config

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Means over seeds."""
        return self._read("statistics/summary.csv")

    @cached_property
    def effects(self) -> pd.DataFrame:
        """Interventions against their baselines."""
        return self._read("statistics/effects.csv")

    @cached_property
    def measurements(self) -> pd.DataFrame:
        """One row per run and metric: read only to list the runs behind a number."""
        return self._read("statistics/measurements.csv")

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per run: device and library versions."""
        return self._read("statistics/runs.csv")

    @cached_property
    def claims(self) -> pd.DataFrame:
        """Published claims and their verdicts.

        Raises:
            HypersphereError: a row that is not of the published scale is judged as if it were.
        """
        table = self._read("claims.csv")
        if not settles(self.config):
            posing = [row for row in table.to_dict("records") if row["verdict"] in SETTLED and not has_no_scale(row)]
            for row in posing[:1]:
                raise HypersphereError(
                    f"{self.config.results / 'claims.csv'}: {row['id']} says '{row['verdict']}', "
                    f"but scale {self.config.scale_name} settles nothing"
                )
        return table

    def simulated(self, paper: str, artifact: str) -> pd.DataFrame:
        """What an exact study handed over for one artifact."""
        return pd.read_csv(check_tidy(self.config.results, f"simulations/{paper}/{artifact}.csv"))

    def _read(self, name: str) -> pd.DataFrame:
        path = check_tidy(self.config.results, name)
        try:
            table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
        except (pd.errors.EmptyDataError, pd.errors.ParserError) as error:
            raise HypersphereError(f"{path}: not a table ({error})") from None
        missing = [column for column in COLUMNS[name] if column not in table.columns]
        if missing:
            raise HypersphereError(f"{path}: column {missing[0]} is missing")
        for column in _NUMBERS & set(table.columns):
            try:
                table[column] = pd.to_numeric(table[column].where(table[column] != "")).astype("float64")
            except ValueError as error:
                raise HypersphereError(f"{path}: column {column}: {error}") from None
        return table

    def devices(self) -> str:
        """The devices that the runs of this scale ran on."""
        return self._distinct("device")

    def torch(self) -> str:
        """The torch releases that the runs of this scale ran with."""
        return self._distinct("torch")

    def _distinct(self, column: str) -> str:
        return ", ".join(sorted({str(value) for value in self.runs[column] if value})) or "not run"

    def runs_behind(self, claim: dict[str, str]) -> list[str]:
        """Names of the runs that a claim was measured on: its variant's and, for a comparison, its baseline's."""
        table = self.measurements
        variants = [value for value in (claim["variant"], claim["baseline"]) if value]
        chosen = table[
            (table["paper"] == claim["paper"])
            & (table["method"] == claim["method"])
            & table["variant"].isin(variants)
            & (table["dataset"] == claim["dataset"])
            & (table["metric"] == claim["metric"])
            & (table["final"] == "True")
        ]
        return sorted(set(chosen["run"]))
