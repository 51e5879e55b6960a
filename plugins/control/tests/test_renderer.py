"""What is said while planning where control tasks cannot be simulated."""

from importlib.machinery import ModuleSpec

import pytest

from hypersphere_control import rendering

BOTH = {"dm_control", "mujoco"}


@pytest.mark.parametrize(
    ("packages", "libraries", "chosen", "missing"),
    [
        (BOTH, {"EGL"}, "", ""),
        (BOTH, {"OSMesa"}, "", ""),
        (BOTH, set(), "glfw", ""),  # a backend that the user chose is believed
        ({"mujoco"}, {"EGL"}, "", "dm-control"),
        ({"dm_control"}, {"EGL"}, "", "mujoco"),
        (BOTH, set(), "", "nothing here renders"),
    ],
    ids=["EGL", "OSMesa", "chosen", "no dm_control", "no mujoco", "no library"],
)
def test_what_is_missing_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
    packages: set[str],
    libraries: set[str],
    chosen: str,
    missing: str,
) -> None:
    """On a Linux machine with these packages, libraries and choice of a backend."""
    monkeypatch.setattr(
        rendering, "find_spec", {name: ModuleSpec(name, None) for name in packages}.get
    )
    monkeypatch.setattr(
        rendering, "find_library", {name: f"lib{name}.so" for name in libraries}.get
    )
    monkeypatch.setattr(rendering.sys, "platform", "linux")
    monkeypatch.setenv(rendering.BACKEND, chosen)
    found = rendering.missing.__wrapped__()  # whose answer would be kept
    assert bool(found) == bool(missing)
    assert found.startswith(missing)
