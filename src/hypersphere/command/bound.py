"""``hypersphere plan --claims``: what of this scale would measure each published claim, and why nothing would."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hypersphere.config.artifacts import Studied
from hypersphere.config.claims import Claim, load
from hypersphere.config.plan import Plan
from hypersphere.config.reasons import why_not_measured

CELL, STUDY, DRAWS, NOTHING = "a cell", "exact study", "draws", "nothing"
"""What would measure a claim: a cell of a table or figure made from runs; an exact study; random draws and round
inputs, for a statement; or nothing at this scale."""


class Bound(NamedTuple):
    """A claim, and what would measure it."""

    paper: str
    claim: Claim
    by: str
    why: str
    """Why nothing would; empty otherwise."""


def bound(plan: Plan) -> list[Bound]:
    """Every claim of the documents in the order of its file; ``only`` restricts them to its artifacts.

    Raises:
        HypersphereError: a file of claims is malformed.
    """
    config = plan.config
    loaded = [(paper, claim) for paper in config.papers for claim in load(config.claims_file(paper))]
    return [_bound(plan, paper, claim) for paper, claim in loaded if config.chosen(paper, claim.artifact)]


def _bound(plan: Plan, paper: str, claim: Claim) -> Bound:
    if claim.kind == "theorem":
        return Bound(paper, claim, DRAWS, "")
    if why := why_not_measured(plan, paper, claim):
        return Bound(paper, claim, NOTHING, why)
    studied = isinstance(plan.config.papers[paper].artifacts[claim.artifact], Studied)
    return Bound(paper, claim, STUDY if studied else CELL, "")


def lines(plan: Plan, verbose: bool = False) -> Iterator[str]:
    """Counts by document and by kind and origin, and why nothing would measure others; with ``verbose``, of each."""
    found = bound(plan)
    unmeasured = [one for one in found if one.by == NOTHING]
    yield f"scale     {plan.config.scale_name}: {plan.config.scale.describe}"
    yield f"claims    {len(found)}, of which nothing at this scale would measure {len(unmeasured)}"
    yield ""
    yield from _table("document", [(one.paper, one.by) for one in found])
    yield ""
    yield from _table("kind, origin", [(f"{one.claim.kind}, {one.claim.origin}", one.by) for one in found])
    if unmeasured:
        yield ""
        yield "why nothing would"
        for reason, count in Counter(_general(one.why) for one in unmeasured).most_common():
            yield f"  {count:>5}  {reason}"
    if verbose:
        yield ""
        yield from (f"  {one.paper}/{one.claim.artifact} {one.claim.id}: {one.why}" for one in unmeasured)
    elif unmeasured:
        yield "`hypersphere plan --claims --verbose` lists each of them with its reason"


def _table(title: str, counted: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Rows by name, columns by what would measure."""
    numbers = Counter(counted)
    names = list(dict.fromkeys(name for name, _ in numbers))
    width = max(map(len, [title, *names]))
    ways = (CELL, STUDY, DRAWS, NOTHING)
    yield f"{title:<{width}}  {'claims':>6}  " + "  ".join(f"{way:>11}" for way in ways)
    for name in names:
        counts = [numbers[name, way] for way in ways]
        yield f"{name:<{width}}  {sum(counts):>6}  " + "  ".join(f"{count:>11}" for count in counts)


def _general(reason: str) -> str:
    """A reason without the coordinates that it names."""
    return re.sub(r"(has the coordinates|does not compare|one number with) .*", r"\1 …", reason)
