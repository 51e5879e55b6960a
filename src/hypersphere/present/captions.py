"""Captions of Snakemake's report (workflow/report/*.rst), as reStructuredText.

They are the artifacts' own notes, so that the report claims no more than the artifacts do.
"""

import re
from collections.abc import Sequence

from hypersphere.declared.plan import Plan
from hypersphere.present import pages, words
from hypersphere.present.results import Results
from hypersphere.present.shown import show

Caption = dict[str, str | list[str]]


def of_artifact(plan: Plan, paper: str, artifact: str) -> Caption:
    """``title`` and ``notes`` of a table or figure. The first note names the scale and says whether it counts.

    Raises:
        HypersphereError: no such artifact, or a results file is missing.
    """
    shown = show(Results(plan), paper, artifact)
    return _escaped(shown.title, shown.notes)


def of_studies(plan: Plan, paper: str) -> Caption:
    """``title`` and ``notes`` of all artifacts of a paper's exact studies: their size, then a note for each.

    Raises:
        HypersphereError: a results file is missing.
    """
    results, document = Results(plan), plan.config.papers[paper]
    artifacts = [show(results, paper, name) for name in results.made(paper) if name in document.studied]
    sizes = dict.fromkeys(artifact.notes[0] for artifact in artifacts)
    notes = [f"{artifact.title}. {' '.join(artifact.notes[1:])}".strip() for artifact in artifacts]
    return _escaped(f"Exact studies of “{document.title}”", [*sizes, *notes])


def of_scale(plan: Plan) -> Caption:
    """``title`` and ``notes`` of the whole scale: whether it counts, seeds, device and protocols.

    Raises:
        HypersphereError: a results file is missing.
    """
    results = Results(plan)
    protocols = [
        f"{paper.title}. {text}"
        for name, paper in plan.config.papers.items()
        for text in pages.protocols(results, name, results.made(name))
    ]
    conditions = f"Conditions: {words.conditions_of_scale(results)}"
    first = f"{words.scale_line(plan.config)} {words.notice(plan.config)}"
    return _escaped(words.heading(plan.config, "Everything"), [first, conditions, *dict.fromkeys(protocols)])


def in_short(plan: Plan) -> str:
    """``quick: not a reproduction``, for lists of results."""
    notice = words.short_notice(plan.config).rstrip(".")
    return f"{plan.config.scale_name}: {notice[:1].lower()}{notice[1:]}"


def _escaped(title: str, notes: Sequence[str]) -> Caption:
    return {"title": escape(title), "notes": [escape(note) for note in notes]}


def escape(text: str) -> str:
    """``text`` as reStructuredText that is shown unchanged: an underscore makes no link, a star no emphasis."""
    return re.sub(r"([\\*`_|])", r"\\\1", text)
