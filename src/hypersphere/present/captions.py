"""What the captions of Snakemake's report (workflow/report/*.rst) say, as reStructuredText: the sentences that each
artifact itself carries, so that a report cannot claim more than what it shows.
"""

import re

from hypersphere.declared.artifacts import Curves, Studied
from hypersphere.declared.config import Config
from hypersphere.present import figure, study, words
from hypersphere.present.cells import sheet
from hypersphere.present.results import Results

Caption = dict[str, str | list[str]]


def of_artifact(config: Config, paper: str, artifact: str) -> Caption:
    """``title`` and ``notes`` of a table or figure; the first note names the scale and what it is worth.

    Raises:
        HypersphereError: no such artifact, or a results file is missing.
    """
    document, results = config.papers[paper], Results(config)
    declared = document.artifacts.get(artifact)
    if isinstance(declared, Studied):
        return _escaped(study.heading(declared), study.caption(results, document, artifact))
    if isinstance(declared, Curves):
        title = f"{words.heading(config, None)}: {declared.title}"
        return _escaped(title, figure.caption(config, document, declared, results))
    layout = sheet(config, document, artifact, results)
    return _escaped(layout.title, layout.notes)


def of_scale(config: Config) -> Caption:
    """``title`` and ``notes`` of everything at this scale together: scale, what it is worth, n, device and protocols.

    Raises:
        HypersphereError: a results file is missing.
    """
    protocols = [
        f"{paper.title}. {words.protocol(config, paper, artifact)}"
        for paper in config.papers.values()
        for artifact in paper.measured.values()
    ]
    conditions = f"Conditions: {words.conditions(config, Results(config))}"
    first = f"{words.scale_line(config)} {words.notice(config)}"
    return _escaped(words.heading(config, "Everything"), [first, conditions, *dict.fromkeys(protocols)])


def in_short(config: Config) -> str:
    """``quick: not a reproduction``, for a list of results."""
    notice = words.short_notice(config).rstrip(".")
    return f"{config.scale_name}: {notice[:1].lower()}{notice[1:]}"


def _escaped(title: str, notes: list[str] | tuple[str, ...]) -> Caption:
    return {"title": escape(title), "notes": [escape(note) for note in notes]}


def escape(text: str) -> str:
    """``text`` as reStructuredText that shows it as it is: a name's underscore makes no link, a star no emphasis."""
    return re.sub(r"([\\*`_|])", r"\\\1", text)
