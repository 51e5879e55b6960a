"""Reading a scorecard in tests: its tags, sections and claims."""

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """Collects ids, links and images, and checks that tags close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given[key] or "" for key in ("href", "src") if key in given]
        if tag == "img":
            self.images.append(given)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def section(page: str, name: str) -> str:
    """From a heading to the next."""
    return page[page.index(f'<h2 id="{name}"') :].split("<h2 ")[1]


def row(page: str, name: str) -> str:
    """A claim, with its line and its proof."""
    return page[page.index(f'<details class="claim" id="{name}"') :].split("</details>")[0]


def plain(html: str) -> str:
    """What is read of it."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def tones(page: str) -> set[str]:
    """The colours of the verdicts of trained encoders."""
    lines = re.findall(r'<details [^>]*data-kind="encoder"[^>]*>\s*(<summary>.*?</summary>)', page, re.S)
    return {tone for line in lines for tone in re.findall(r'class="badge (\w+)"', line)}
