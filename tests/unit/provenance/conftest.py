"""A copy of the package whose files tests edit."""

import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hypersphere.provenance import sources


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the package. Whoever edits it puts it back (``edited``)."""
    copy = tmp_path_factory.mktemp("package") / "hypersphere"
    shutil.copytree(sources.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "PACKAGE", copy)
        sources.forget()
        yield copy
    sources.forget()


_moments = itertools.count(1)


@contextmanager
def edited(path: Path, old: str, new: str) -> Iterator[None]:
    """A file of the copy with ``new`` in the place of ``old``, changed at a moment of its own."""
    kept = path.with_suffix(".kept")
    if old:
        shutil.copy2(path, kept)
    text = path.read_text() if old else ""
    assert old in text, f"{path.name} no longer holds {old!r}"
    path.write_text(text.replace(old, new, 1))
    os.utime(path, (0, next(_moments)))
    sources.forget()
    try:
        yield
    finally:
        if old:
            kept.replace(path)
        else:
            path.unlink()
        sources.forget()
