"""Pages of the documentation site that are generated, and the report: hooks that MkDocs calls (mkdocs.yml).

The reference is taken from the sources, so that it cannot fall behind: losses, theorems and the fields of the
configuration from their docstrings, by mkdocstrings; the command line from its parser; errata, and what is ours in a
figure, from the papers' folders; promises from the list of their tests. Pictures are of any scale, because an exact
figure is the same at all.
"""

import ast
import csv
import logging
import os
import re
import shutil
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypersphere.command import cli
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


def docstring(kind: registry.Kind, name: str) -> str:
    """What is said of a loss, map to logits, gradient transform or initialisation."""
    module = ast.parse(read_text(registry.components(kind)[name].file))
    function = next(
        node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == name
    )
    return ast.get_docstring(function) or ""


def figures(said: str) -> list[str]:
    """The artifacts, as ``paper/artifact``, that the paragraph ``Figure:`` of a docstring names."""
    found = re.search(r"^Figure: (.*?)(?:\n\n|\Z)", said, re.MULTILINE | re.DOTALL)
    return re.findall(r"\w+/\w+", found[1]) if found else []


def losses(config: project.Config, results: Path) -> tuple[str, dict[str, Path]]:
    """The page of all losses, maps to logits, gradient transforms and initialisations.

    Each has its docstring with the equation, its errata and its exact figures. Returns the page, and the files of its
    pictures by where the site has them. ``results`` holds a folder for each scale.
    """
    known = {one.id for one in load_errata(config)}
    lines = [
        "# Losses",
        "",
        "One function per equation; the name is what YAML says. [Exact figures](figures.md) says",
    ]
    lines += ["what is our choice in a figure.", ""]
    lines += [
        "::: hypersphere.objectives",
        "    options: {members: false, show_root_heading: false}",
    ]
    pictures: dict[str, Path] = {}
    for title, (kind, what) in KINDS.items():
        lines += ["", f"## {title}", "", what]
        for name in registry.names(kind):
            said = docstring(kind, name)
            lines += ["", f"::: {registry.module_name(kind, name)}.{name}", ""]
            named = dict.fromkeys(re.findall(rf"\b{NAMES.pattern}\b", said))
            links = ", ".join(f"[{one}](errata.md#{one})" for one in named if one in known)
            lines += [f"What is wrong in print, or open: {links}.", ""] if links else []
            for key in figures(said):
                paper, artifact = key.split("/")
                about = config.papers[paper].studied[artifact]
                caption = f"{about.printed}: {about.title}" if about.printed else about.title
                made = list(results.glob(f"*/figures/{key}.svg"))
                if made:
                    place = f"figures/{paper}-{artifact}.svg"
                    pictures[f"reference/{place}"] = max(
                        made, key=lambda file: file.stat().st_mtime_ns
                    )
                    lines += [f"![{caption}]({place})", "", f"*{caption}.*", ""]
                else:
                    how = f"`make reproduce ONLY={key}` draws it, without training"
                    lines += [f"*{caption}: {NOT_MADE_YET}; {how}.*", ""]
    return "\n".join(lines), pictures


def command_line() -> str:
    """The page of all commands, from their parser."""
    parser, commands = cli.parser()
    lines = ["# Command line", "", "```text", parser.format_help().rstrip(), "```"]
    for name, one in commands.items():
        lines += ["", f"## hypersphere {name}", "", "```text", one.format_help().rstrip(), "```"]
    return "\n".join(lines)


def errata(config: project.Config) -> str:
    """The page of what the documents get wrong, contradict themselves in, or leave open."""
    lines = ["# What the papers get wrong", ""]
    lines += [
        "Each entry names what the paper publishes, what we take instead, which published runs have it, why, and"
    ]
    lines += ["the tests or statements that show it."]
    for title, entries in groupby(ledger(config), itemgetter("title")):
        lines += ["", f"## {title}"]
        for one in entries:
            lines += [
                "",
                f"### {one['id']}: {one['place']} {{ #{one['id']} }}",
                "",
                f"**Published.** {one['printed']}",
            ]
            lines += ["", f"**Taken.** {one['chosen']}", ""]
            lines += (
                [f"**What is run at the published scale.** {one['run']}", ""] if one["run"] else []
            )
            lines += [f"**Why.** {one['decided']}", ""]
            lines += (
                ["Shown by " + ", ".join(f"`{test}`" for test in one["tests"]) + "."]
                if one["tests"]
                else []
            )
    return "\n".join(lines)


def promises() -> str:
    """The page of what is promised, each promise with its tests, from tests/promises.csv."""
    lines = [
        "# Promises and their tests",
        "",
        "Each promise has a test that shows it, and a control: a test that must",
    ]
    lines += [
        "fail, or see a difference, when the promise is broken on purpose. Paths are under `tests/`."
    ]
    with (ROOT / "tests" / "promises.csv").open(newline="", encoding="utf-8") as file:
        listed = list(csv.DictReader(file))
    for about, rows in groupby(listed, itemgetter("about")):
        lines += ["", f"## {about}", "", "| promise | test | control |", "|---|---|---|"]
        lines += [f"| {row['promise']} | {row['test']} | {row['control']} |" for row in rows]
    return "\n".join(lines)


def exact_figures(config: project.Config) -> str:
    """The page of what is our choice in a figure of an exact study, from figures.md in the papers' folders."""
    lines = [
        "# Exact figures and tables",
        "",
        "What the papers leave open in a figure or table, and what we chose.",
    ]
    for name, paper in config.papers.items():
        file = config.folders[name] / "figures.md"
        if file.is_file():
            text = file.read_text(encoding="utf-8").partition("\n")[2]
            lines += ["", f"## {paper.title}", re.sub("^## ", "### ", text, flags=re.MULTILINE)]
    return "\n".join(lines)


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the generated pages."""
    from mkdocs.structure.files import File

    loaded = project.load(ROOT, {})
    equations, pictures = losses(loaded, ROOT / "results")
    written = {
        page: linked((ROOT / file).read_text(encoding="utf-8")) for file, page in OUTSIDE.items()
    }
    written |= {"reference/losses.md": equations, "reference/errata.md": errata(loaded)}
    written |= {"reference/command_line.md": command_line(), "reference/promises.md": promises()}
    written |= {"reference/figures.md": exact_figures(loaded)}
    for name, content in written.items():
        files.append(File.generated(config, name, content=content))
    for name, path in pictures.items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: "Page", **_: Any) -> str:
    """Put the README's findings on the first page, and links to files outside docs/ where the site has them."""
    if FINDINGS in markdown:
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        markdown = markdown.replace(FINDINGS, readme.partition(BEGIN)[2].partition(END)[0].strip())
    made = (REPORT / "index.html").is_file()
    link = (
        '**<a href="report/index.html">Open the report</a>**: what is known of every claim.'
        if made
        else ""
    )
    return linked(markdown.replace(REPORTED, link))


def linked(markdown: str) -> str:
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
    source, target = root / REPORT.relative_to(ROOT), site / "report"
    page = (source / "index.html").read_text(encoding="utf-8")
    leads: dict[str, str] = {}
    for link in sorted(set(LINK.findall(page))):
        path, mark, part = link.partition("#")
        file = Path(os.path.normpath(source / path))
        place = file.relative_to(root).as_posix()
        if file.is_relative_to(source):
            here = path
        elif file.suffix == ".md" and file.is_relative_to(root / "docs"):
            here = f"../{file.relative_to(root / 'docs').with_suffix('.html').as_posix()}"
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
