"""Whether control tasks can be simulated here, and by which renderer.

A plan imports this module, so it imports the standard library alone.
"""

import importlib
import os
import sys
from contextlib import suppress
from ctypes.util import find_library
from functools import cache
from importlib.util import find_spec

BACKEND = "MUJOCO_GL"
"""The environment variable by which MuJoCo's users choose how to render: egl, osmesa or glfw."""


@cache
def missing() -> str:
    """Why control tasks cannot be simulated here, and what to install; empty if nothing is known to be missing.

    A backend that the user chose is believed, so that a plan can be made on another machine than the one that renders.
    """
    for module, package in (("dm_control", "dm-control"), ("mujoco", "mujoco")):
        if find_spec(module) is None:
            return f"{package} is not installed; with Python 3.11 or 3.12: pip install ./plugins/control"
    if sys.platform != "linux" or os.environ.get(BACKEND) or _renderer():
        return ""
    return (
        "nothing here renders without a screen; install libegl1 and libgl1-mesa-dri, or libosmesa6"
    )


def choose() -> None:
    """Choose how to render, unless the user has: in software or on a GPU, without a screen. Call it before dm_control.

    Mesa's software renderer and triton, which torch loads with its first optimiser, each bring an LLVM. The process
    crashes if triton is loaded second, so it is loaded here.
    """
    with suppress(ImportError):
        importlib.import_module("triton")
    if sys.platform == "linux" and (found := _renderer()):
        os.environ.setdefault(BACKEND, found)


def _renderer() -> str:
    libraries = {"egl": "EGL", "osmesa": "OSMesa"}
    return next((backend for backend, library in libraries.items() if find_library(library)), "")
