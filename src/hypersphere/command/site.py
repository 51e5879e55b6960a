"""Pages of the documentation site that are generated, and the report: hooks that MkDocs calls (mkdocs.yml).

The reference is taken from the sources, so that it cannot fall behind: losses, theorems and the fields of the
configuration from their docstrings, by mkdocstrings; the command line from its parser; errata, and what is ours in a
figure, from the papers' folders; promises from the list of their tests. Pictures are of any scale, because an exact
figure is the same at all.
"""

import csv
import inspect
import io
import logging
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hypersphere.command import cli
from hypersphere.command.templates import fill
from hypersphere.config import project, registry
from hypersphere.config.claims import NOT_MADE_YET
from hypersphere.config.errata import load_errata
from hypersphere.files import read_text, write_text
from hypersphere.report.docs import BEGIN, END, ROOT
from hypersphere.report.errata import ledger
from hypersphere.report.proofs import NAMES

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

REPORT = ROOT / "results" / "report"
FINDINGS = "<!-- findings of the README -->"
"""Where docs/index.md has the findings of README.md."""
REPORTED = "<!-- the report -->"
"""Where it has the link to the report."""
LINK_TO_REPORT = (
    '**<a href="report/index.html">Open the report</a>**: what is known of every claim.'
)
OUTSIDE = {
    "CONTRIBUTING.md": "contributing.md",
    "data/README.md": "own_images.md",
    "plugins/control/README.md": "control.md",
}
"""Pages of the site that are files outside docs/."""
LINK = re.compile(r'\b(?:href|src)="(?!#|\w+:)([^"]+)"')
"""A link of a page to a file beside it."""
LOG = logging.getLogger("mkdocs.hypersphere")
"""Its warnings count as those of MkDocs."""
KINDS: dict[str, tuple[registry.Kind, str]] = {
    "Losses": (
        "objectives",
        "Scalar losses of embeddings: `objective`, or `regulariser` for a second one.",
    ),
    "Maps to logits": ("logits", "From cosines and targets to logits: `logits`."),
    "Gradient transforms": ("gradients", "The same embeddings with another gradient: `gradient`."),
    "Initialisations": (
        "initialisations",
        "Changes to a model before its training: `initialisation`.",
    ),
}


class Figure(NamedTuple):
    """An exact figure of a component, and where the site has it."""

    key: str
    """``paper/artifact``."""
    caption: str
    file: Path | None
    """The newest of those that scales have drawn; the figure is the same at all."""

    @property
    def place(self) -> str:
        """The file's path beside the page."""
        return f"figures/{self.key.replace('/', '-')}.svg"


class Component(NamedTuple):
    """What the page of losses says of a component beside its docstring."""

    module: str
    """The dotted name of its module, from which mkdocstrings takes the docstring."""
    errata: list[str]
    figures: list[Figure]


def docstring(kind: registry.Kind, name: str) -> str:
    """The docstring of a loss, map to logits, gradient transform or initialisation."""
    return inspect.getdoc(registry.load(kind, name)) or ""


def figures(docstring: str) -> list[str]:
    """The artifacts, as ``paper/artifact``, that the paragraph ``Figure:`` of a docstring names."""
    paragraph = re.search(r"^Figure: (.*?)(?:\n\n|\Z)", docstring, re.MULTILINE | re.DOTALL)
    return re.findall(r"\w+/\w+", paragraph[1]) if paragraph else []


def figure_of(config: project.Config, results: Path, key: str) -> Figure:
    """An exact figure, if a folder of results has it."""
    paper, artifact = key.split("/")
    about = config.papers[paper].studied[artifact]
    caption = f"{about.printed}: {about.title}" if about.printed else about.title
    files = results.glob(f"*/figures/{key}.svg")
    newest = max(files, key=lambda file: file.stat().st_mtime_ns, default=None)
    return Figure(key, caption, newest)


def losses(config: project.Config, results: Path) -> tuple[str, dict[str, Path]]:
    """The page of all losses, maps to logits, gradient transforms and initialisations.

    Each has its docstring with the equation, its errata and its exact figures. Returns the page, and the files of its
    pictures by where the site has them. ``results`` holds a folder for each scale.
    """
    errata = {erratum.id for erratum in load_errata(config)}
    kinds: dict[str, tuple[str, list[Component]]] = {}
    pictures: dict[str, Path] = {}
    for title, (kind, what) in KINDS.items():
        components = []
        for name in registry.names(kind):
            text = docstring(kind, name)
            named = dict.fromkeys(re.findall(rf"\b{NAMES.pattern}\b", text))
            shown = [figure_of(config, results, key) for key in figures(text)]
            module = f"{registry.module_name(kind, name)}.{name}"
            components.append(Component(module, [one for one in named if one in errata], shown))
            for figure in shown:
                if figure.file:
                    pictures[f"reference/{figure.place}"] = figure.file
        kinds[title] = what, components
    return fill("losses.md", kinds=kinds, not_made_yet=NOT_MADE_YET), pictures


def command_line() -> str:
    """The page of all commands, from their parser."""
    parser, commands = cli.parser()
    return fill("command_line.md", parser=parser, commands=commands)


def errata(config: project.Config) -> str:
    """The page of what the documents get wrong, contradict themselves in, or leave open."""
    return fill("errata.md", errata=ledger(config))


def promises() -> str:
    """The page of what is promised, each promise with its tests, from tests/promises.csv."""
    listed = csv.DictReader(io.StringIO(read_text(ROOT / "tests" / "promises.csv")))
    return fill("promises.md", promises=listed)


def exact_figures(config: project.Config) -> str:
    """The page of what is our choice in a figure of an exact study, from figures.md in the papers' folders."""
    choices = {}
    for name, file in config.files_named("figures.md").items():
        _, _, text = read_text(file).partition("\n")
        choices[config.papers[name].title] = re.sub("^## ", "### ", text, flags=re.MULTILINE)
    return fill("figures.md", choices=choices)


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the generated pages."""
    from mkdocs.structure.files import File

    loaded = project.load(ROOT, {})
    equations, pictures = losses(loaded, ROOT / "results")
    outside = {page: with_links(read_text(ROOT / file)) for file, page in OUTSIDE.items()}
    pages = {
        **outside,
        "reference/losses.md": equations,
        "reference/errata.md": errata(loaded),
        "reference/command_line.md": command_line(),
        "reference/promises.md": promises(),
        "reference/figures.md": exact_figures(loaded),
    }
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    for name, path in pictures.items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: "Page", **_: Any) -> str:
    """Put the README's findings on the first page, and links to files outside docs/ where the site has them."""
    findings = read_text(ROOT / "README.md").partition(BEGIN)[2].partition(END)[0]
    report = LINK_TO_REPORT if (REPORT / "index.html").is_file() else ""
    return with_links(markdown.replace(FINDINGS, findings.strip()).replace(REPORTED, report))


def with_links(markdown: str) -> str:
    """A page with links to files outside docs/ where the site has them."""
    for file, page in OUTSIDE.items():
        markdown = re.sub(rf"\]\((\.\./)*{re.escape(file)}(?=[)#])", f"]({page}", markdown)
    return re.sub(r"\]\((\.\./)*docs/", "](", markdown)


def on_post_build(config: "MkDocsConfig") -> None:
    """Copy the report beside the pages, if `make report` made it, with all that it links to."""
    if (REPORT / "index.html").is_file():
        copy_report(ROOT, Path(config.site_dir))


def copy_report(root: Path, site: Path) -> None:
    """Copy the report of a project to report/ of its site, so that each of its links leads to a file of the site.

    A page of docs/ is the site's own. Other files of the repository and of results/ are copied to report/files/, under
    their paths there. A link without a file is a warning, which ends a strict build.
    """
    source = root / REPORT.relative_to(ROOT)
    target = site / "report"
    docs = root / "docs"
    page = read_text(source / "index.html")
    leads: dict[str, str] = {}
    for link in sorted(set(LINK.findall(page))):
        path, mark, part = link.partition("#")
        file = Path(os.path.normpath(source / path))
        place = file.relative_to(root).as_posix()
        if file.is_relative_to(source):
            here = path
        elif file.suffix == ".md" and file.is_relative_to(docs):
            html = file.relative_to(docs).with_suffix(".html")
            here = f"../{html.as_posix()}"
        else:
            here = f"files/{place}"
        leads[link] = f"{here}{mark}{part}"
        if not file.is_file():
            LOG.warning("report/index.html: %s is not there; make report", place)
        elif not here.startswith("../"):
            (target / here).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target / here)
    page = LINK.sub(lambda found: found[0].replace(found[1], leads[found[1]]), page)
    write_text(target / "index.html", page)
