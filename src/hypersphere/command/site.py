"""Pages of the documentation site that are generated, and the report: hooks that MkDocs calls (mkdocs.yml).

The reference is taken from the sources, so that it cannot fall behind: losses, theorems and the fields of the
configuration from their docstrings, by mkdocstrings; the command line from its parser; errata from the documents'
folders.
"""

import shutil
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypersphere.command import cli
from hypersphere.config import project
from hypersphere.report import pages
from hypersphere.report.docs import BEGIN, END, ROOT

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

REPORT = ROOT / "results" / "report"
FINDINGS = "<!-- findings of the README -->"
"""Where docs/index.md has the findings of README.md."""
REPORTED = "<!-- the report -->"
"""Where it has the link to the report."""
OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "data/README.md": "own_images.md"}
"""Pages of the site that are files outside docs/."""


def command_line() -> str:
    """The page of all commands, from their parser."""
    parser, commands = cli.parser()
    lines = ["# Command line", "", "```text", parser.format_help().rstrip(), "```"]
    for name, one in commands.items():
        lines += ["", f"## hypersphere {name}", "", "```text", one.format_help().rstrip(), "```"]
    return "\n".join(lines)


def errata(config: project.Config) -> str:
    """The page of what the documents get wrong, contradict themselves in, or leave open."""
    lines = ["# What the documents get wrong", ""]
    lines += ["Each entry names what is printed, what we take instead, why, and the tests or statements that show it."]
    for title, entries in groupby(pages.ledger(config), itemgetter("title")):
        lines += ["", f"## {title}"]
        for one in entries:
            lines += ["", f"### {one['id']}: {one['place']} {{ #{one['id']} }}", "", f"**Printed.** {one['printed']}"]
            lines += ["", f"**Taken.** {one['chosen']}", "", f"**Why.** {one['decided']}", ""]
            lines += ["Shown by " + ", ".join(f"`{test}`" for test in one["tests"]) + "."] if one["tests"] else []
    return "\n".join(lines)


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the generated pages."""
    from mkdocs.structure.files import File

    loaded = project.load(ROOT, {})
    written = {page: linked((ROOT / file).read_text(encoding="utf-8")) for file, page in OUTSIDE.items()}
    written |= {"reference/errata.md": errata(loaded), "reference/command_line.md": command_line()}
    for name, content in written.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: "Page", **_: Any) -> str:
    """Put the README's findings on the first page, and links to files outside docs/ where the site has them."""
    if FINDINGS in markdown:
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        markdown = markdown.replace(FINDINGS, readme.partition(BEGIN)[2].partition(END)[0].strip())
    made = (REPORT / "index.html").is_file()
    link = "**[Open the report](report/index.html)**: what is known of every claim." if made else ""
    return linked(markdown.replace(REPORTED, link))


def linked(markdown: str) -> str:
    """A page with links to files outside docs/ where the site has them."""
    for file, page in OUTSIDE.items():
        markdown = markdown.replace(f"](../{file})", f"]({page})").replace(f"]({file})", f"]({page})")
    return markdown.replace("](docs/", "](").replace("](../docs/", "](")


def on_post_build(config: "MkDocsConfig") -> None:
    """Copy the report beside the pages, if `make report` made it."""
    if (REPORT / "index.html").is_file():
        folder = Path(config.site_dir) / "report"
        folder.mkdir(exist_ok=True)
        for name in ("index.html", "report.pdf", "claims.csv"):
            shutil.copyfile(REPORT / name, folder / name)
