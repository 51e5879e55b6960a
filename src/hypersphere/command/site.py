"""Pages of the documentation site that are generated, and the report: hooks that MkDocs calls (mkdocs.yml).

The reference is taken from the sources, so that it cannot fall behind: losses from their docstrings, by mkdocstrings;
configuration from the models that check it; the command line from its parser; errata from the documents' folders;
equations from all of these (equations.py, which alone needs torch).
"""

import ast
import html
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypersphere.command import cli, equations
from hypersphere.config import project, registry
from hypersphere.report import pages
from hypersphere.report.docs import BEGIN, END

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[3]
REPORT = ROOT / "results" / "report"
FINDINGS = "<!-- findings of the README -->"
"""Where docs/index.md has the findings of README.md."""
REPORTED = "<!-- the report -->"
"""Where it has the link to the report."""
OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "data/README.md": "own_images.md"}
"""Pages of the site that are files outside docs/."""
KINDS: dict[str, tuple[registry.Kind, str]] = {
    "Losses": ("objectives", "Scalar losses of embeddings: `objective`, or `regulariser` for a second one."),
    "Maps to logits": ("logits", "From cosines and targets to logits: `logits`."),
    "Gradient transforms": ("gradients", "The same embeddings with another gradient: `gradient`."),
    "Initialisations": ("initialisations", "Changes to a model before its training: `initialisation`."),
}
FILES: dict[str, tuple[str, ...]] = {
    "config/config.yaml": ("project.Settings",),
    "config/scales/<scale>.yaml": (
        "project.Scale",
        "project.UsualEpochs",
        "project.ScaleOverride",
        "project.Seeds",
        "project.Resources",
    ),
    "config/datasets.yaml": ("run.Dataset", "run.Imbalance"),
    "config/papers/<document>/paper.yaml": (
        *(
            "artifacts.Paper",
            "artifacts.Section",
            "artifacts.Measured",
            "artifacts.Studied",
            "artifacts.Protocol",
            "artifacts.Override",
            "coordinates.Contrast",
        ),
        *("study.Study", "study.StudySeeds", "study.Answers"),
    ),
    "runs: `methods` and `variants` of a document, `set` of a scale, `--set`": (
        *("run.Run", "recipe.Views", "recipe.Optimiser", "recipe.Schedule", "recipe.Batch"),
    ),
    "config/statistics.yaml and config/certainty.yaml": (
        "rules.Rules",
        "rules.Margin",
        "rules.Certainty",
        "rules.RungRules",
    ),
    "config/papers/<document>/findings.yaml": ("questions.Question",),
    "config/papers/<document>/claims.csv, sentences.yaml, errata.yaml": (
        *("claims.Claim", "claims.Sentence", "claims.Check", "claims.Erratum"),
    ),
}
"""The models that check each file of a project, in hypersphere.config."""


def losses() -> str:
    """The page of all objectives, logits, gradients and initialisations, from their docstrings."""
    lines = ["# Losses", "", "One function per equation; the name is what YAML says.", ""]
    lines += ["::: hypersphere.objectives", "    options: {members: false, show_root_heading: false}"]
    for title, (kind, what) in KINDS.items():
        lines += ["", f"## {title}", "", what, ""]
        for name in registry.names(kind):
            lines += [f"::: {registry.module_name(kind, name)}.{name}", "    options: {heading_level: 3}", ""]
    return "\n".join(lines)


def configuration() -> str:
    """The page of every field of every file, from the models that check them."""
    lines = ["# Configuration", "", "Every field of every file. A field without a default is required; other keys are"]
    lines += ["refused, and the error names what is allowed."]
    for file, models in FILES.items():
        lines += ["", f"## {html.escape(file)}"]
        for model in models:
            module, _, name = model.partition(".")
            own = ast.parse((ROOT / f"src/hypersphere/config/{module}.py").read_text(encoding="utf-8"))
            written = next(node for node in own.body if isinstance(node, ast.ClassDef) and node.name == name)
            lines += ["", f"### {name}", "", html.escape(ast.get_docstring(written) or ""), ""]
            lines += ["| field | type | default | meaning |", "|---|---|---|---|"]
            lines += [f"| {' | '.join(row)} |" for row in _fields(written)]
    return "\n".join(lines)


def _fields(model: ast.ClassDef) -> Iterator[tuple[str, ...]]:
    """Name, type, default and docstring of each field that a model declares."""
    for node, after in pairwise([*model.body, ast.Pass()]):
        if not isinstance(node, ast.AnnAssign) or ast.unparse(node.target).startswith(("_", "model_")):
            continue
        kind, default = node.annotation, "" if node.value is None else ast.unparse(node.value)
        if (
            isinstance(kind, ast.Subscript)
            and ast.unparse(kind.value) == "Annotated"
            and isinstance(kind.slice, ast.Tuple)
        ):
            kind = kind.slice.elts[0]
        if "Field(" in default:
            factory = {"list": "[]", "dict": "{}"}
            default = next((empty for name, empty in factory.items() if f"default_factory={name}" in default), "")
        said = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
        parts = ast.unparse(node.target), ast.unparse(kind).replace(" | ", " or "), default
        cells = [f"<code>{html.escape(part)}</code>" if part else "" for part in parts]
        yield *cells, " ".join(str(said).replace("``", "`").split()).replace("|", "\\|")


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
    for group in pages.ledger(config):
        lines += ["", f"## {group['title']}"]
        for one in group["entries"]:
            lines += ["", f"### {one['id']}: {one['place']} {{ #{one['id']} }}", "", f"**Printed.** {one['printed']}"]
            lines += ["", f"**Taken.** {one['chosen']}", "", f"**Why.** {one['decided']}", ""]
            lines += ["Shown by " + ", ".join(f"`{test}`" for test in one["tests"]) + "."] if one["tests"] else []
    return "\n".join(lines)


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the generated pages."""
    from mkdocs.structure.files import File

    loaded = project.load(ROOT, {})
    shown = equations.Equations(loaded, ROOT / "results")
    pages = {
        **{page: linked((ROOT / file).read_text(encoding="utf-8")) for file, page in OUTSIDE.items()},
        "reference/losses.md": losses(),
        "reference/configuration.md": configuration(),
        "reference/command_line.md": command_line(),
        "reference/errata.md": errata(loaded),
        "reference/theorems.md": equations.reference(loaded),
        equations.PLACE: shown.page((title, kind) for title, (kind, _) in KINDS.items()),
    }
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    for name, path in shown.pictures.items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
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
