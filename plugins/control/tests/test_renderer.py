"""What is said while planning where control tasks cannot be simulated."""

import importlib.machinery
from collections.abc import Callable, Iterator

import pytest

from hypersphere_control import rendering


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """``problem()`` on a Linux machine with these packages, libraries and choice of a backend."""

    def asked(packages: set[str], libraries: set[str], chosen: str = "") -> str:
        found = importlib.machinery.ModuleSpec("found", None)
        monkeypatch.setattr(rendering, "find_spec", lambda name: found if name in packages else None)
        monkeypatch.setattr(rendering, "find_library", lambda name: f"lib{name}.so" if name in libraries else None)
        monkeypatch.setattr(rendering.sys, "platform", "linux")
        monkeypatch.setenv(rendering.BACKEND, chosen)
        rendering.missing.cache_clear()
        return rendering.missing()

    yield asked
    rendering.missing.cache_clear()


BOTH = {"dm_control", "mujoco"}


@pytest.mark.parametrize(
    ("packages", "libraries", "chosen"),
    [
        (BOTH, {"EGL"}, ""),
        (BOTH, {"OSMesa"}, ""),
        (BOTH, set(), "glfw"),  # a backend that the user chose is believed
        ({"mujoco"}, {"EGL"}, ""),
        ({"dm_control"}, {"EGL"}, ""),
        (BOTH, set(), ""),
    ],
    ids=["EGL", "OSMesa", "chosen", "no dm_control", "no mujoco", "no library"],
)
def test_what_is_missing_is_named_with_what_to_install(
    machine: Callable[..., str], packages: set[str], libraries: set[str], chosen: str, approve: Callable[[object], None]
) -> None:
    approve(machine(packages, libraries, chosen))
