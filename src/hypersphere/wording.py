"""Numbers with the noun that they count."""


def counted(count: int | str, noun: str, plural: str = "") -> str:
    """``1 epoch``, ``5 epochs``, ``64, 128 epochs``."""
    return f"{count} {noun if str(count) == '1' else plural or f'{noun}s'}"
