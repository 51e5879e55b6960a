"""What is said while planning where control tasks cannot be simulated."""

import importlib.machinery
from collections.abc import Callable, Iterator

import pytest

from hypersphere.config import registry


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """``problem()`` on a Linux machine with these packages, libraries and choice of a backend."""

    def asked(packages: set[str], libraries: set[str], chosen: str = "") -> str:
        found = importlib.machinery.ModuleSpec("found", None)
        monkeypatch.setattr(registry, "find_spec", lambda name: found if name in packages else None)
        monkeypatch.setattr(registry, "find_library", lambda name: f"lib{name}.so" if name in libraries else None)
        monkeypatch.setattr(registry.sys, "platform", "linux")
        monkeypatch.setenv(registry.BACKEND, chosen)
        registry.no_renderer.cache_clear()
        return registry.no_renderer()

    yield asked
    registry.no_renderer.cache_clear()


BOTH = {"dm_control", "mujoco"}


@pytest.mark.parametrize("library", ["EGL", "OSMesa"])
def test_nothing_is_missing(machine: Callable[..., str], library: str) -> None:
    assert machine(BOTH, {library}) == ""


@pytest.mark.parametrize(("packages", "named"), [({"mujoco"}, "dm-control"), ({"dm_control"}, "mujoco")])
def test_a_missing_package_is_named(machine: Callable[..., str], packages: set[str], named: str) -> None:
    said = machine(packages, {"EGL"})
    assert said.startswith(f"{named} is not installed")
    assert "pip install 'hypersphere[control]'" in said


def test_a_missing_library_is_named_with_its_package(machine: Callable[..., str]) -> None:
    assert "install libegl1" in machine(BOTH, set())


def test_a_backend_that_the_user_chose_is_believed(machine: Callable[..., str]) -> None:
    assert machine(BOTH, set(), chosen="glfw") == ""
