"""At the published scale every run has the hyperparameters that its document prints (hyperparameters.csv).

A row selects cells of the paper's printed artifacts (config/hyperparameters.py). ``path`` is a field of the cell's run,
or one of these:
``schedule.warmup_epochs``; ``probe.k`` and so on, a parameter of its protocol; ``epoch`` and other readings, a
coordinate; ``simulations.MODULE.NAME``, a constant of an exact study. Where our setting is another one, ``ours`` has
it, and ``reading`` says why: errata, or a reason that begins with "ours:".
"""

import importlib
import re
from collections import Counter
from functools import cache

import pytest

from hypersphere.config import coordinates, hyperparameters
from hypersphere.config.claims import PRINTED
from hypersphere.config.coordinates import Scalar
from hypersphere.config.errata import load_errata
from hypersphere.config.hyperparameters import Hyperparameter as Row

from .published import equal, fields, printed_cells, value
from .released import ROOT, configured


def expected(row: Row) -> Scalar:
    """The value of our configuration."""
    return coordinates.normal(row.ours or row.printed)


@cache
def rows() -> tuple[Row, ...]:
    files = sorted((ROOT / "papers").glob(f"*/{hyperparameters.FILE}"))
    return tuple(row for file in files for row in hyperparameters.load(file.parent))


def wrong(row: Row) -> list[str]:
    """The places where our configuration has another value than a row expects."""
    if row.path.startswith("studies."):
        module, _, name = row.path.rpartition(".")
        constant = getattr(importlib.import_module(f"papers.{row.paper}.{module}"), name)
        return [] if equal(constant, expected(row)) else [f"{row.path} is {constant}"]
    found = [(cell, value(cell, row.path)) for cell in printed_cells(row.paper) if row.is_of(cell)]
    if row.path.startswith("probe."):  # a table may show numbers of several protocols
        found = [(cell, one) for cell, one in found if one is not None]
    if not found:
        return ["no cell"]
    return [
        f"{cell.artifact} {cell.text}: {one}"
        for cell, one in found
        if not equal(one, expected(row))
    ]


@pytest.mark.parametrize("paper", sorted({row.paper for row in rows()}))
def test_every_run_has_the_printed_hyperparameters_and_no_others(paper: str) -> None:
    """The control: each number doubled, zero replaced, and each word or truth value another."""
    here = [row for row in rows() if row.paper == paper]
    found = {(row.path, row.printed, row.source, row.artifact): wrong(row) for row in here}
    assert {key: places[:3] for key, places in found.items() if places} == {}
    for row in here:
        now = expected(row)
        number = isinstance(now, int | float) and not isinstance(now, bool)
        other = coordinates.show(2 * now or 0.1) if number else "another"
        assert wrong(row._replace(printed=other, ours="")), row


def test_where_our_setting_is_another_the_reading_says_why() -> None:
    known = {entry.id for entry in load_errata(configured())}
    for row in rows():
        cited = re.findall(r"\b[MLNSDX]\d+[a-z]?\b", row.reading)
        assert set(cited) <= known, row
        assert row.reading == PRINTED or cited or row.reading.startswith("ours: "), row
        if row.ours:
            assert row.reading != PRINTED, row
            assert not equal(coordinates.normal(row.printed), expected(row)), row


def test_tables_of_hyperparameters_are_whole_and_no_place_has_one_twice() -> None:
    numbers = {
        ("margins", "Table 5"): 2 * 4 * 2,  # two methods, four datasets, two margins
        ("margins", "Table 6"): 2 * 4,
        ("margins", "Table 7"): 2 * 4 * 2 + 4,  # BYOL has no s
        ("margins", "Table 8"): 2 * 4,
        ("double_metric", "Table 1"): 4 * 2,
    }
    counted = Counter((row.paper, row.source) for row in rows())
    assert {table: counted[table] for table in numbers} == numbers
    places = [row[: Row._fields.index("printed")] for row in rows() if not row.ours]
    assert len(set(places)) == len(places)


AUTHORS = {
    "simclr": {
        "optimiser.nesterov": False,
        "method.layers": 2,
        "method.hidden": 256,
        "method.batch_norm": False,
    },
    "simsiam": {
        "optimiser.nesterov": True,
        "method.layers": 3,
        "method.hidden": 2048,
        "method.bottleneck": 512,
    },
    "byol": {
        "optimiser.nesterov": True,
        "method.layers": 3,
        "method.hidden": 2048,
        "method.dim": 2048,
    }
    | {"method.bottleneck": True, "method.momentum": 0.99, "method.momentum_schedule": "constant"},
}
"""What the norms paper leaves to its code: configs/<method>_default.yml and Projector, Predictor of
CLA/training/models.py, where hidden layers are as wide as the output, for which SimCLR's text has 256."""


@pytest.mark.parametrize("method", AUTHORS)
def test_where_the_norms_paper_is_silent_its_code_decides(method: str) -> None:
    runs = [
        cell.run
        for cell in printed_cells("embedding_norms")
        if cell.coordinates["method"] == method
    ]
    assert runs
    for run in runs:
        adam = {"optimiser.nesterov": False} if run.optimiser.name == "adam" else {}
        expected = AUTHORS[method] | adam
        assert {path: fields(run)[path] for path in expected} == expected, run.name


def test_jitter_is_halved_on_balanced_cifar_alone() -> None:
    """get_transforms of CLA/utils/data_utils.py: s = 0.5 for cifar10 and cifar100, else 1 (erratum N34)."""
    runs = [(cell.coordinates["dataset"], cell.run) for cell in printed_cells("embedding_norms")]
    found = {
        (dataset, run.views.brightness, run.views.hue) for dataset, run in runs if run and run.views
    }
    halved = {"cifar10", "cifar100"}
    assert found == {(name, *((0.4, 0.1) if name in halved else (0.8, 0.2))) for name, *_ in found}
    assert {name for name, *_ in found} > halved | {"imagenet100", "tiny_imagenet", "cifar10_lt"}
