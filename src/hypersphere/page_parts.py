"""Parts of a page that a command writes, between two marks."""


def renewed(page: str, begin: str, end: str, text: str) -> str:
    """The page, with ``text`` in place of what is between the marks ``begin`` and ``end``, which stay."""
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text}\n{end}{after}"
