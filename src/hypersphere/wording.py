"""Words that pages and messages share: numbers with the noun that they count, and a page's written part."""


def count_of(count: int | str, noun: str, plural: str = "") -> str:
    """``1 epoch``, ``5 epochs``, ``64, 128 epochs``."""
    return f"{count} {noun if str(count) == '1' else plural or f'{noun}s'}"


def replace_between(page: str, begin: str, end: str, text: str) -> str:
    """The page, with ``text`` in place of what is between the marks ``begin`` and ``end``, which stay."""
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text}\n{end}{after}"


def in_one_line(text: object) -> str:
    """The words of a text, or of an error, in one line."""
    return " ".join(str(text).split())
