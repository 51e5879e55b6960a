"""Devices are shared out by file locks. Two are simulated: nothing here needs a GPU."""

import threading
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch

from hypersphere.errors import HypersphereError
from hypersphere.training import device as module


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[torch.device]:
    gpus = [torch.device("cuda", i) for i in range(2)]
    monkeypatch.setattr(module, "devices", lambda setting: gpus)
    monkeypatch.setattr(module, "_lock_path", lambda device: tmp_path / f"{device.index}.lock")
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.02)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    return gpus


def test_jobs_side_by_side_get_different_devices(two_gpus: list[torch.device]) -> None:
    with module.acquire("auto") as first, module.acquire("auto") as second:
        assert [first, second] == two_gpus
    with module.acquire("auto") as again:
        assert again == two_gpus[0]


def test_a_third_job_waits_for_a_free_device(two_gpus: list[torch.device]) -> None:
    got: list[torch.device] = []

    def third() -> None:
        with module.acquire("auto") as device:
            got.append(device)

    waiting = threading.Thread(target=third)
    with module.acquire("auto"), ExitStack() as second:
        second.enter_context(module.acquire("auto"))
        waiting.start()
        waiting.join(timeout=0.3)
        assert waiting.is_alive()
        assert not got
        second.close()
        waiting.join(timeout=5)
    assert got == [two_gpus[1]]


def test_a_job_that_fails_gives_its_device_back(two_gpus: list[torch.device]) -> None:
    with pytest.raises(RuntimeError, match="ours"), module.acquire("auto"):
        raise RuntimeError("ours")
    with module.acquire("auto") as device:
        assert device == two_gpus[0]


def test_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert module.devices("auto") == module.devices("cpu") == [torch.device("cpu")]
    with pytest.raises(HypersphereError, match=r"^device: cuda was asked for.*allowed here: auto, cpu$"):
        module.devices("cuda")
    with module.acquire("auto") as a, module.acquire("auto") as b:  # a processor is shared
        assert a == b == torch.device("cpu")
    assert module.describe(torch.device("cpu")) == "cpu"


def test_with_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert module.devices("auto") == module.devices("cuda") == [torch.device("cuda", 0), torch.device("cuda", 1)]
    assert module.devices("cpu") == [torch.device("cpu")]


def test_nondeterministic_operations_are_errors() -> None:
    """The fixture called make_deterministic(1)."""
    assert torch.get_deterministic_debug_mode() == 2
    assert torch.get_num_threads() == 1
    assert not torch.backends.cudnn.benchmark
    with pytest.raises(RuntimeError, match="deterministic"):
        torch.nn.functional.max_unpool1d(torch.ones(1, 1, 2), torch.zeros(1, 1, 2, dtype=torch.int64), 2)
