"""Notes on an artifact made from runs: scale, what is shown, seeds, device, protocol, what is missing."""

from collections import Counter

from hypersphere.config import coordinates
from hypersphere.config.artifacts import Measured, Studied
from hypersphere.config.cells import SHARED, untrained
from hypersphere.config.measures import MEASURES
from hypersphere.config.project import Config
from hypersphere.report import labels, words
from hypersphere.report.points import Points
from hypersphere.report.results import settles
from hypersphere.wording import counted


def heading(points: Points) -> str:
    """``Table 5 at scale quick: kNN accuracy``."""
    artifact = points.artifact
    return f"{words.heading(points.context.results.config, artifact.printed)}: {artifact.title}"


def of(points: Points, shown: str, figure: bool = True) -> tuple[str, ...]:
    """All notes. The first one names the scale.

    Args:
        points: the artifact's points.
        shown: what a cell contains, or what lines and bands are, in one or more sentences.
        figure: whether to list the stand-ins of datasets, which stand in the heads of a table.
    """
    context = points.context
    config = context.results.config
    return tuple(
        filter(
            None,
            (
                f"{words.scale_line(config)} {words.notice(config)}",
                shown,
                _shared(points),
                _stand_ins(points) if figure else "",
                f"Conditions: {words.conditions(points.tables)}",
                words.protocol(context.results.plan, context.paper, context.name),
                _shrunk(points, config),
                _missing(points),
                _without_control(points),
                unjudged(points.artifact),
            ),
        )
    )


def _without_control(points: Points) -> str:
    """That no record has the untrained encoder, so that the artifact is shown without it; empty if one has."""
    plan, key = points.context.results.plan, (points.context.paper.paper, points.context.name)
    if plan.records is None or plan.controls[key] or not untrained(plan.artifacts[key]):
        return ""
    return "Without the untrained encoder, of which no record is kept."


def measured(points: Points) -> str:
    """Every measure that is shown: ``kNN accuracy (%; weighted k-nearest-neighbour vote)``."""
    return "; ".join(
        f"{MEASURES[name].label} ({MEASURES[name].unit or 'no unit'}; {MEASURES[name].what})"
        for name in _measures(points)
    )


def _measures(points: Points) -> list[str]:
    return list(dict.fromkeys(str(cell.coordinates["measure"]) for cell in points.every))


def measures(points: Points) -> str:
    """The labels of what is shown: ``embedding norm; kNN accuracy (%)``."""
    return "; ".join(labels.measure(name) for name in _measures(points))


def small(points: Points) -> str:
    """Scale, n, device and protocol in a line, for a figure without its caption."""
    context = points.context
    config = context.results.config
    worth = words.short_notice(config)
    protocol = words.protocol(context.results.plan, context.paper, context.name)
    others = "Other data stand in for the named datasets. " if any(cell.stands_in for cell in points.every) else ""
    return f"Scale {config.scale_name}. {worth} {others}{words.conditions(points.tables)} {protocol}"


def unjudged(artifact: Measured | Studied) -> str:
    """Why our numbers cannot judge those of the document; empty if they can."""
    return f"Cannot be judged: {artifact.cannot_be_judged.rstrip('.')}." if artifact.cannot_be_judged else ""


def _shared_coordinates(points: Points) -> dict[str, coordinates.Scalar]:
    shown = {key for of in points.axes.values() for key in labels.varying(of)}
    return {key: value for key, value in points.fixed.items() if key != "measure" and key not in shown}


def _shared(points: Points) -> str:
    """The coordinates that all cells share: ``Everywhere: SimCLR, CIFAR-10 (measured on digits_lt).``"""
    context, shared = points.context, _shared_coordinates(points)
    text = labels.standing(context.results.config, context.paper, shared, shared)
    return f"Everywhere: {text.rstrip('.')}." if text else ""


def _stand_ins(points: Points) -> str:
    """``Measured on stand-ins: digits for CIFAR-10.``: of datasets that cells do not share; empty if there are none."""
    config, paper, shared = points.context.results.config, points.context.paper, _shared_coordinates(points)
    keys = [key for key in ("dataset", "target") if key not in shared]
    published = dict.fromkeys(
        str(cell.coordinates[key]) for cell in points.every for key in keys if key in cell.coordinates
    )
    used = {name: words.replacement(config, name, paper.paper) for name in published}
    listed = [f"{other} for {paper.label(name)}" for name, other in used.items() if other]
    return f"Measured on stand-ins: {', '.join(listed)}." if listed else ""


def _shrunk(points: Points, config: Config) -> str:
    """A note that the shown coordinates are the published ones, if the scale shrinks them."""
    keys = {key.partition(".")[0] for cell in points.every for key in cell.coordinates}
    if settles(config) or not keys & set(labels.SHRINKS):
        return ""
    paper = points.context.paper.paper
    own = [one for one in config.scale.overrides if paper in one.papers]
    divided = {path for one in own for path in one.divide if not path.startswith("batch.")}
    negatives = any(divided & cell.coordinates.keys() for cell in points.every)
    shown = "Epochs, batches, rates and numbers of negatives" if negatives else "Epochs, batches and rates"
    return f"{shown} are the published ones; scale {config.scale_name} shrinks them in proportion."


def _missing(points: Points) -> str:
    """``Not run, of 20: 4 cells (nothing stands for stl10 at this scale).`` Shared numbers count together."""
    reasons = Counter(
        f"{SHARED} another cell" if cell.missing.startswith(SHARED) else cell.missing
        for cell in points.every
        if cell.missing
    )
    if not reasons:
        return ""
    listed = "; ".join(f"{counted(count, 'cell')} ({why})" for why, count in reasons.items())
    return f"Not run, of {len(points.every)}: {listed}."


def published(points: Points, where: str) -> str:
    """Where the published numbers come from, or that they are of other data; empty if there are none."""
    if all(cell.claim is None for cell in points.every):
        return ""
    document = f"{points.artifact.printed or 'the document'} of “{points.context.paper.title}”"
    if all(cell.beside is None for cell in points.every):
        return f"The numbers of {document} are of other data: the verdicts list them."
    return f"{where} {document}: published images, encoder and schedule."


def difference(points: Points) -> str:
    """The baseline of a table's cells, in words; empty if there is none."""
    baseline = points.artifact.baseline
    if baseline is None:
        return ""
    paper, level = points.context.paper, words.confidence(points.context.results.config)
    other = labels.point(paper, coordinates.ordered(baseline), baseline)
    return f"; below it, the difference from {other}, all else equal, with its {level} interval after Holm's correction"
