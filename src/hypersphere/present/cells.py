"""One table as rows of cells: what its csv, md and tex, the scorecard and the paper all show."""

import math
from dataclasses import dataclass
from typing import Any

from hypersphere.declared.artifacts import Paper, Table
from hypersphere.declared.config import Config
from hypersphere.declared.measures import METRICS
from hypersphere.errors import HypersphereError
from hypersphere.present import words
from hypersphere.present.results import Results

NAN = math.nan
Record = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """A published dataset, and what stands for it at this scale (``None``: nothing)."""

    dataset: str
    measured_on: str | None
    probed_on: str | None
    label: str
    note: str
    has_published: bool


@dataclass(frozen=True)
class Cell:
    """One mean, its effect over the baseline, and the published number beside it."""

    column: Column
    decimals: int
    mean: float = NAN
    std: float = NAN
    n: int = 0
    low: float = NAN
    high: float = NAN
    n_diverged: int = 0
    is_baseline: bool = False
    control: bool = False
    effect: float = NAN
    effect_low: float = NAN
    effect_high: float = NAN
    p_holm: float = NAN
    low_power: bool = False
    published: str = ""

    @property
    def ours(self) -> str:
        """``83.2 ± 0.5 (5)``; n in parentheses."""
        if math.isnan(self.mean):
            missing = "–" if self.control and self.column.measured_on else words.NOT_RUN
            return "diverged" if self.n_diverged else missing
        spread = "" if math.isnan(self.std) else f" ± {words.number(self.std, self.decimals)}"
        lost = f"; {self.n_diverged} diverged" if self.n_diverged else ""
        single = self.control and not spread  # chance and raw pixels are one number, not a mean of runs
        count = "" if single else f" ({self.n}{lost})"
        return words.number(self.mean, self.decimals) + spread + count

    @property
    def printed(self) -> str:
        """The published number, or an en dash."""
        return words.published(self.published, self.decimals) or "–"

    @property
    def difference(self) -> str:
        """``+1.2 [+0.4, +2.0]``; ``baseline`` for the row that the others are compared with; else empty."""
        if self.is_baseline:
            return "" if math.isnan(self.mean) else "baseline"
        if math.isnan(self.effect):
            return ""
        bounds = words.interval(self.effect_low, self.effect_high, self.decimals)
        return f"{words.signed(self.effect, self.decimals)} {bounds}{' low power' if self.low_power else ''}"


@dataclass(frozen=True)
class Row:
    """A row of the printed table, or a control."""

    key: str
    method: str
    variant: str
    control: bool
    labels: tuple[str, str]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Sheet:
    """A table ready to be written in any format."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    short: str
    scale: str
    unit: str

    @property
    def has_published(self) -> bool:
        """Whether the original prints numbers for this table."""
        return any(column.has_published for column in self.columns)


def sheet(config: Config, paper: Paper, name: str, results: Results) -> Sheet:
    """Lay out artifact ``name`` of ``paper``.

    Raises:
        HypersphereError: the artifact is not a table, or a results file is missing.
    """
    artifact = paper.artifacts.get(name)
    if not isinstance(artifact, Table):
        raise HypersphereError(f"{paper.paper}: '{name}' is not a table of this paper")
    source = _Source(config, paper, name, artifact, results)
    columns = source.columns()
    rows = [source.row(key, columns) for key in artifact.rows]
    controls = [source.control(kind, columns) for kind in words.CONTROLS]
    title = f"{words.heading(config, artifact.printed)}: {artifact.title}"
    unit = METRICS[artifact.metric].unit
    notes = tuple(source.notes(columns))
    return Sheet(title, tuple(columns), (*rows, *controls), notes, source.short(), config.scale_name, unit)


@dataclass
class _Source:
    """Look-ups into the tidy tables for one artifact."""

    config: Config
    paper: Paper
    name: str
    artifact: Table
    results: Results

    def __post_init__(self) -> None:
        of_paper = {"paper": self.paper.paper, "metric": self.artifact.metric}
        of_artifact = {**of_paper, "artifact": self.name}
        self.summary = _select(self.results.summary, of_paper)
        self.effects = _select(self.results.effects, of_artifact)
        self.claims = _select(self.results.claims, {**of_artifact, "kind": "value"})
        self.decimals = METRICS[self.artifact.metric].decimals

    def columns(self) -> list[Column]:
        """A column per dataset; for a probe on other datasets, one per pair."""
        columns = []
        for dataset in self.artifact.columns:
            used = self.config.scale.datasets[dataset]
            trained = [row for row in self.summary if row["dataset"] == dataset and row["method"] != "control"]
            probed = list(dict.fromkeys(row["probed_on"] for row in trained)) or [used]
            has_published = any(claim["dataset"] == dataset for claim in self.claims)
            for other in probed if used is not None else [None]:
                label, note = self._heading(dataset, used, other)
                columns.append(Column(dataset, used, other, label, note, has_published))
        return columns

    def _heading(self, dataset: str, used: str | None, probed: str | None) -> tuple[str, str]:
        label, note = self.paper.label(dataset), words.stand_in(self.config, dataset)
        if used is None or probed is None or probed == used:
            return label, note
        published = next((key for key, value in self.config.scale.datasets.items() if value == probed), probed)
        note = f"measured on {used} → {probed}" if note or published != probed else ""
        return f"{label} → {self.paper.label(published)}", note

    def row(self, key: str, columns: list[Column]) -> Row:
        """A row ``method.variant``."""
        method, _, variant = key.partition(".")
        cells = tuple(self._cell(method, variant, column) for column in columns)
        return Row(key, method, variant, False, (self.paper.label(method), self.paper.label(variant)), cells)

    def control(self, kind: str, columns: list[Column]) -> Row:
        """A control row: chance, pixels, untrained."""
        cells = []
        for column in columns:
            found = [r for r in self.summary if r["method"] == "control" and _matches(r, kind, column)]
            found.sort(key=lambda row: (row["final"] == "True", row["epoch"]))
            measured = _measured(found[-1]) if found else {}
            cells.append(Cell(column, self.decimals, control=True, **measured))
        return Row(kind, "control", kind, True, ("control", words.CONTROLS[kind]), tuple(cells))

    def _cell(self, method: str, variant: str, column: Column) -> Cell:
        own = [row for row in self.summary if row["method"] == method and _matches(row, variant, column)]
        measured = [row for row in own if row["final"] == "True"]
        where = {"method": method, "variant": variant, "dataset": column.dataset}
        published = [claim for claim in self.claims if where.items() <= claim.items()]
        effects = [row for row in self.effects if where.items() <= row.items()]
        effects = [row for row in effects if row.get("probed_on", column.probed_on) == column.probed_on]
        fields: Record = _measured(measured[0]) if measured else {}
        if effects and measured:
            fields |= {"effect": effects[0]["effect"], "p_holm": effects[0]["p_holm"]}
            fields |= {"effect_low": effects[0]["low_holm"], "effect_high": effects[0]["high_holm"]}
            fields |= {"low_power": effects[0]["low_power"] == "True"}
        fields["published"] = published[0]["reported"] if published else ""
        return Cell(column, self.decimals, is_baseline=variant == self.artifact.baseline, **fields)

    def short(self) -> str:
        """The notes of a table that stands below another one in the same document."""
        metric = METRICS[self.artifact.metric]
        name = metric.label[:1].upper() + metric.label[1:]
        known = f"{name} ({metric.unit or 'no unit'}; {metric.what}); cells as above."
        conditions = words.conditions(self.config, self.results)
        protocol = words.protocol(self.config, self.paper, self.artifact)
        return f"{words.short_notice(self.config)} {known} Conditions: {conditions} {protocol}"

    def notes(self, columns: list[Column]) -> list[str]:
        """What a reader must know: scale, what a cell holds, n, device, protocol."""
        metric = METRICS[self.artifact.metric]
        spread = "mean ± standard deviation over independent pretrainings (their number in parentheses)"
        what = f"{metric.label} ({metric.unit or 'no unit'}; {metric.what}) at the last epoch, {spread}"
        notes = [
            f"{words.scale_line(self.config)} {words.notice(self.config)}",
            f"Cells: {what}{self._compared()}.",
            f"Conditions: {words.conditions(self.config, self.results)}",
            words.protocol(self.config, self.paper, self.artifact),
        ]
        if any(column.has_published for column in columns):
            printed = f"{self.artifact.printed or 'the table'} of “{self.paper.title}”"
            notes.append(f"The published column repeats {printed}: published images, encoder and schedule.")
        if len(columns) > len({column.dataset for column in columns}):
            notes.append("Where an encoder is probed on several datasets, the difference is that of their mean.")
        if any(row.get("low_power") == "True" for row in self.effects):
            notes.append("Low power: under four pooled degrees of freedom.")
        return notes

    def _compared(self) -> str:
        """What stands below a mean, if anything does."""
        if self.artifact.baseline is None:
            return ""
        baseline, level = self.paper.label(self.artifact.baseline), words.confidence(self.config)
        return (
            f"; below it, the difference from the same method's {baseline}, in points, with its {level} interval "
            f"after Holm's correction"
        )


def _select(table: Any, where: dict[str, str]) -> list[Record]:
    for column, value in where.items():
        table = table[table[column] == value]
    return table.to_dict("records")


def _matches(row: Record, variant: str, column: Column) -> bool:
    same = row["variant"] == variant and row["dataset"] == column.dataset
    return same and row["probed_on"] == column.probed_on


def _measured(row: Record) -> Record:
    fields = {key: row[key] for key in ("mean", "std", "low", "high")}
    return fields | {key: 0 if math.isnan(row[key]) else int(row[key]) for key in ("n", "n_diverged")}
