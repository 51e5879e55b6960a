"""Types of fixtures, for hints."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from hypersphere.config.plan import Plan

Names = Callable[..., None]
Refused = Callable[..., AbstractContextManager[None]]
Planned = Callable[..., Plan]
Project = Callable[..., Path]
