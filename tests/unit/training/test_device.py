"""Devices are shared out by file locks. Two are simulated: nothing here needs a GPU."""

import gc
import os
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from filelock import FileLock

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


@pytest.mark.parametrize("has_uuid", [True, False])
def test_a_device_is_locked_whatever_its_number_among_the_visible(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_uuid: bool
) -> None:
    """Slurm shows each job its own GPUs alone, and each job calls its first one cuda:0."""

    def visible() -> list[str]:
        return os.environ["CUDA_VISIBLE_DEVICES"].split(",")

    def properties(device: torch.device) -> SimpleNamespace:
        return SimpleNamespace(uuid=f"GPU-{visible()[device.index]}") if has_uuid else SimpleNamespace()

    def first(shown: str) -> torch.device | None:
        """The device that a job with these devices gets at once."""
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
        for device in module.devices("auto"):
            if lock := module._claim(device, 0.02):
                held.append(lock)
                return device
        return None

    held: list[FileLock] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(visible()))
    monkeypatch.setattr(torch.cuda, "get_device_properties", properties)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert first("0") == first("1") == torch.device("cuda", 0)  # two devices: neither waits for the other
    assert first("1") is None  # the same device
    assert first("0,2") == torch.device("cuda", 1)
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {0o666}  # other people's jobs can lock it
    for lock in held:
        lock.release()


def unwell(index: int) -> Callable[[torch.device], None]:
    """A call that one device does not take."""

    def call(device: torch.device) -> None:
        if device.index == index:
            raise RuntimeError("CUDA error: no device\nCUDA kernel errors might be asynchronously reported")

    return call


def test_a_gpu_that_cannot_be_used_is_left_out_and_given_back(
    two_gpus: list[torch.device], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    locks: list[FileLock] = []

    def locked(path: Path, mode: int) -> FileLock:
        locks.append(FileLock(path, mode=mode))
        return locks[-1]

    with monkeypatch.context() as patch:
        patch.setattr(torch.cuda, "set_device", unwell(0))
        patch.setattr(module, "FileLock", locked)
        with module.acquire("auto") as device:
            assert device == two_gpus[1]
            assert [lock.is_locked for lock in locks] == [False, True]
        said = "note: device: cuda:0 does not answer (CUDA error: no device); it is skipped\n"
        assert capsys.readouterr().out == said
    with module.acquire("auto") as device:  # the control, and nobody holds it
        assert device == two_gpus[0]
    assert capsys.readouterr().out == ""


def test_gpus_that_are_counted_and_say_nothing_of_themselves_are_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A driver that hangs after the count; torch's own assertion where the count was another's."""
    errors = [RuntimeError("CUDA unknown error - this may be due to a\nbad setup"), AssertionError("Invalid device id")]

    def properties(device: torch.device) -> None:
        raise errors[device.index]

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", properties)
    for setting in ("auto", "cuda"):
        with pytest.raises(HypersphereError) as caught, module.acquire(setting):
            pytest.fail("there is none")
        assert str(caught.value) == (
            "device: cuda:1 does not answer (Invalid device id); run again when it is back, or with device: cpu"
        )
        assert "cuda:0 does not answer (CUDA unknown error - this may be due to a); it is" in capsys.readouterr().out
    with module.acquire("cpu") as device:  # the control
        assert device == torch.device("cpu")


def test_memory_is_given_back_on_a_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: calls.append("cache"))
    monkeypatch.setattr(gc, "collect", lambda: calls.append("garbage"))
    module.free(torch.device("cpu"))
    assert calls == ["garbage"]
    module.free(torch.device("cuda", 0))
    assert calls == ["garbage", "garbage", "cache"]  # in this order: what is garbage still holds its memory


@pytest.mark.parametrize(
    ("text", "expected"),
    [("one.\ntwo", "one"), ("\n  a   b \n", "a b"), ("", "RuntimeError"), ("no stop", "no stop")],
)
def test_an_errors_first_line(text: str, expected: str) -> None:
    assert module.first_line(RuntimeError(text)) == expected


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
