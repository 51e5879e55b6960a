"""The site's page of equations: each loss and each theorem with its place, what it does, its errata and its figure.

All is taken from where it is decided: losses from their docstrings, which have a paragraph ``Geometry:`` and may have
one ``Figure:`` with the ids of artifacts; theorems from the documents' claims, and from the docstrings of their checks
in theory/; errata from the documents' folders; pictures from the results of any scale, because an exact figure is the
same at all. To know which function checks a theorem, theory/ is imported, and torch with it.
"""

import ast
import html
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from hypersphere.config import registry
from hypersphere.config.claims import NOT_MADE_YET, Claim, Erratum, load, load_errata
from hypersphere.config.project import Config
from hypersphere.provenance import columns, tables
from hypersphere.report.page import ANSWERS, BY_KIND
from hypersphere.report.proofs import NAMES
from hypersphere.theory import build as theory

NAMED = re.compile(rf"\b{NAMES.pattern}\b")
"""Ids of errata in a docstring, and not the end of ``DM1``."""
PLACE, PICTURES = "explanation/equations.md", "explanation/figures"
"""Where the site has the page, and its pictures."""
HEAD = """# Each equation with its figure

Every loss and every theorem of the documents: the equation, where it is printed, what it does, what is wrong about it
in print, the function that computes or checks it, and the exact figure that shows it, where there is one. The choices
that are ours in a figure are in [figures.md](../figures.md)."""
GREEK = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ", "pi": "π"},
    **{"lambda": "λ", "rho": "ρ", "tau": "τ", "phi": "φ"},
}
SIGNS = {"&lt;=": "≤", "&gt;=": "≥", "!=": "≠", " - ": " − ", "(-": "(−"}


class Part(NamedTuple):
    """What the docstring of a loss says."""

    equation: str
    place: list[str]
    """Paragraphs on where it is printed, and how it is read."""
    geometry: str
    figures: list[str]
    """Artifacts, as ``paper/artifact``."""
    errata: list[str]
    """Names that the whole docstring has; some may be of something else."""


def part(kind: registry.Kind, name: str) -> Part:
    """The docstring of a loss, map to logits, gradient transform or initialisation."""
    module = ast.parse(registry.components(kind)[name].file.read_text(encoding="utf-8"))
    function = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == name)
    text = ast.get_docstring(function) or ""
    equation, *others = re.split(r"^(?:Args|Returns|Numerics):", text, flags=re.MULTILINE)[0].strip().split("\n\n")
    marked = dict(one.split(": ", 1) for one in others if re.match("(Geometry|Figure): ", one))
    place = [one for one in others if not re.match("(Geometry|Figure): ", one)]
    return Part(
        equation,
        place,
        marked.get("Geometry", ""),
        re.findall(r"\w+/\w+", marked.get("Figure", "")),
        NAMED.findall(text),
    )


def typeset(text: str) -> str:
    """Plain text of a docstring with Greek letters, subscripts, powers and signs; code between `` `` `` stays."""
    found = []
    for at, piece in enumerate(text.split("``")):
        if at % 2:
            found.append(f"`{piece}`")
            continue
        piece = html.escape(piece, quote=False)
        piece = re.sub("|".join(map(re.escape, SIGNS)), lambda one: SIGNS[one[0]], piece)
        piece = re.sub(rf"(?<![A-Za-z])({'|'.join(GREEK)})(?![A-Za-z])", lambda one: GREEK[one[0]], piece)
        piece = re.sub(r"(?<=\w)((?:_(?:plus|[a-zA-Z0-9+]{1,2}))+)(?![a-zA-Z0-9_])", _subscript, piece)
        piece = re.sub(r"\^(?:\(([^()]*)\)|(-?\w+))", lambda one: f"<sup>{one[1] or one[2]}</sup>", piece)
        found.append(re.sub(r"^-(?=\w)", "−", piece))
    return "".join(found)


def _subscript(match: re.Match[str]) -> str:
    return f"<sub>{match[1].removeprefix('_').replace('_', ',').replace('plus', '+')}</sub>"


def titled(artifact: str) -> str:
    """An artifact's id in words: ``proposition_c_1`` is Proposition C.1."""
    numbered = re.sub(r"(?<=_[a-z0-9])_(?=\d)", ".", artifact)
    words = re.sub(r"(?<=_)[a-z](?=[_.]|$)", lambda letter: letter[0].upper(), numbered).replace("_", " ")
    return words[0].upper() + words[1:]


def checks(config: Config) -> dict[str, Callable[..., object]]:
    """The function that checks each statement, by the id of its claim."""
    found = {}
    for paper in theory.documents():
        for statement in theory.statements(paper) if paper in config.papers else ():
            check = inspect.unwrap(statement.check)
            while isinstance(check, partial):
                check = inspect.unwrap(check.func)
            named = getattr(inspect.getmodule(check), check.__qualname__.partition(".")[0])  # what makes a closure
            found[statement.id] = named
    return found


class Equations:
    """The page of one project, and the pictures that it shows."""

    def __init__(self, config: Config, results: Path) -> None:
        """``results`` holds a folder for each scale, and the report."""
        self.config, self.results = config, results
        self.errata: dict[str, Erratum] = {one.id: one for one in load_errata(config)}
        self.checks = checks(config)
        self.shown: set[str] = set()
        """Figures that are on the page already."""
        self.pictures: dict[str, Path] = {}
        """The files of its pictures, by where the site has them."""
        known = results / "report" / "claims.csv"
        rows = tables.rows(tables.read(known, columns.KNOWN)) if known.exists() else []
        self.known = {row["id"]: row for row in rows}
        """What the report says of each claim, if it was made."""

    def page(self, kinds: Iterable[tuple[str, registry.Kind]]) -> str:
        """Losses by their kind, which has a title, and then the theorems of each document."""
        lines = [HEAD]
        for title, kind in kinds:
            lines += ["", f"## {title}"]
            for name in registry.names(kind):
                lines += ["", *self._loss(kind, name)]
        for paper, document in self.config.papers.items():
            groups: dict[str, list[Claim]] = {}
            for claim in load(self.config.claims_file(paper)):
                if claim.id in self.checks:
                    groups.setdefault(claim.artifact, []).append(claim)
            lines += ["", f"## Theorems of {document.title}"] if groups else []
            for artifact, claims in groups.items():
                lines += ["", *self._theorem(paper, artifact, claims)]
        return "\n".join(lines)

    def _loss(self, kind: registry.Kind, name: str) -> Iterator[str]:
        said, address = part(kind, name), f"{registry.module_name(kind, name)}.{name}"
        yield f"### {name}"
        yield from ("", f"> {' '.join(typeset(said.equation).split())}")
        for paragraph in (*said.place, f"**Geometry:** {said.geometry}"):
            yield from ("", typeset(paragraph))
        yield from ("", f"Computed by [`{name}`][{address}].", "")
        yield from self._wrong(said.errata)
        yield from self._figures(said.figures)

    def _theorem(self, paper: str, artifact: str, claims: list[Claim]) -> Iterator[str]:
        yield from (f"### {titled(artifact)} {{ #{paper}-{artifact} }}", "")
        for claim in claims:
            reading = {"printed": "As printed", "corrected": f"Corrected, {claim.reading}"}.get(claim.origin, "Ours")
            check = self.checks[claim.id]
            yield f"- **{reading}** ({claim.source}). {typeset(claim.sentence.rstrip('.'))}.{self._answer(claim)}"
            tried = (check.__doc__ or "").split("\n\n")[0]
            where = f"[`{check.__name__}`][{check.__module__}.{check.__name__}]"
            yield f"  Checked by {where}{f': {typeset(tried)}' if tried else '.'}"
        yield ""
        ids = {claim.id for claim in claims}
        readings = [name for claim in claims for name in NAMED.findall(claim.reading)]
        yield from self._wrong([*readings, *(one.id for one in self.errata.values() if ids & {*one.tests})])
        yield from self._figures(
            f"{paper}/{name}"
            for name, one in self.config.papers[paper].studied.items()
            if one.draw == "study_figure" and ids & {*one.shows}
        )

    def _answer(self, claim: Claim) -> str:
        """What the draws say of a theorem, if the report was made."""
        if claim.id not in self.known:
            return ""
        answer = self.known[claim.id]["answer"]
        said = BY_KIND["theorem"].get(answer, ANSWERS[answer])[0]
        return f' It <a href="../report/index.html#{claim.id}">{said}</a>.'

    def _wrong(self, named: Iterable[str]) -> Iterator[str]:
        """The errata of these names: where, what is printed, and what is taken instead."""
        listed = [self.errata[name] for name in dict.fromkeys(named) if name in self.errata]
        yield from ("What is wrong in print, or open:", "") if listed else ()
        for one in listed:
            yield f"- [{one.id}](../reference/errata.md#{one.id}), {one.place}."
            yield f"  Printed: {typeset(one.printed)}. Taken: {typeset(one.chosen)}."
        yield ""

    def _figures(self, ids: Iterable[str]) -> Iterator[str]:
        """Exact figures, each at its first place on the page; where one is not made yet, a line that says so."""
        for key in ids:
            paper, artifact = key.split("/")
            declared, name = self.config.papers[paper].studied[artifact], key.replace("/", "-")
            title = f"{declared.printed}: {declared.title}" if declared.printed else declared.title
            made = max(self.results.glob(f"*/figures/{key}.svg"), key=_written, default=None)
            if key in self.shown:
                yield f"[{title}](#{name}), above."
            elif made:
                self.pictures[f"{PICTURES}/{name}.svg"] = made
                yield f"![{title}](figures/{name}.svg){{ #{name} }}\n\n*{title}.*"
            else:
                yield f"*{title}: {NOT_MADE_YET}; `make reproduce ONLY={key}` draws it, without training.*{{ #{name} }}"
            self.shown.add(key)
            yield ""


def _written(file: Path) -> int:
    return file.stat().st_mtime_ns


def reference(config: Config) -> str:
    """The page of the functions that check theorems, by document."""
    used = dict.fromkeys((one.__module__, one.__name__) for one in checks(config).values())
    lines = [
        "# Theorems",
        "",
        "Each function says, for each draw, whether a theorem's hypothesis holds, and by how much",
    ]
    lines += ["its conclusion is violated. [Each equation with its figure](../explanation/equations.md) says what is"]
    lines += ["checked by which."]
    for module in dict.fromkeys(module for module, _ in used):
        names = [name for owner, name in used if owner == module]
        lines += [
            "",
            f"::: {module}",
            f"    options: {{members: [{', '.join(names)}], filters: [], show_if_no_docstring: true}}",
        ]
    return "\n".join(lines)
