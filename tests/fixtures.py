"""Types of fixtures, for hints."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from hypersphere.config.plan import Plan

Approve = Callable[[object], None]
Refused = Callable[..., AbstractContextManager[None]]
Planned = Callable[..., Plan]
Project = Callable[..., Path]
