"""The scripts of benchmarks/, and a case that takes them milliseconds."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest
import torch

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
MODULES = ("throughput_page", "throughput_steps", "throughput")


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """The scripts, which import one another as neighbours in a folder that is no package."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return {name: importlib.import_module(name) for name in MODULES}


@pytest.fixture
def page(modules: dict[str, ModuleType]) -> ModuleType:
    return modules["throughput_page"]


@pytest.fixture
def steps(modules: dict[str, ModuleType]) -> ModuleType:
    return modules["throughput_steps"]


@pytest.fixture
def throughput(modules: dict[str, ModuleType]) -> ModuleType:
    return modules["throughput"]


@pytest.fixture
def tiny(page: ModuleType) -> tuple:
    return page.Case("tiny", {"name": "resnet8", "width": 4}, 8, 6)


@pytest.fixture
def clock(throughput: ModuleType) -> tuple:
    return throughput.Clock(torch.device("cpu"), 1)
