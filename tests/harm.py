"""What happens to files, whoever reads them next: one bit changes, the end is lost, or all of it."""

from collections.abc import Callable
from pathlib import Path


def flipped(content: bytes) -> bytes:
    """With another bit in the middle."""
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    return bytes(changed)


def flip(path: Path) -> None:
    """Change one bit."""
    path.write_bytes(flipped(path.read_bytes()))


def truncate(path: Path) -> None:
    """Lose the end."""
    path.write_bytes(path.read_bytes()[:-2])


HARMS: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "truncated": truncate,
    "flipped": flip,
}
