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


@pytest.mark.parametrize("library", ["EGL", "OSMesa"])
def test_nothing_is_missing(machine: Callable[..., str], library: str) -> None:
    assert machine(BOTH, {library}) == ""


@pytest.mark.parametrize(("packages", "named"), [({"mujoco"}, "dm-control"), ({"dm_control"}, "mujoco")])
def test_a_missing_package_is_named(machine: Callable[..., str], packages: set[str], named: str) -> None:
    said = machine(packages, {"EGL"})
    assert said.startswith(f"{named} is not installed")
    assert "pip install ./plugins/control" in said


def test_a_missing_library_is_named_with_its_package(machine: Callable[..., str]) -> None:
    assert "install libegl1" in machine(BOTH, set())


def test_a_backend_that_the_user_chose_is_believed(machine: Callable[..., str]) -> None:
    assert machine(BOTH, set(), chosen="glfw") == ""
