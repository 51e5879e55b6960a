"""Find what a person means by the name of a run or batch, as the plan or a log prints it."""

from collections.abc import Collection, Mapping

from hypersphere.config.validation import either, nearest
from hypersphere.errors import HypersphereError

SHOWN = 3
"""Names that a sentence lists."""


def find(name: str, names: Collection[str], kind: str, scale: str, unplanned: Mapping[str, str] | None = None) -> str:
    """The one of ``names`` that is ``name``, or that continues it with a dash (``simclr-default-digits-s0``).

    Args:
        name: as given; the digest at the end may be left out if no other name begins so.
        names: to choose from.
        kind: ``run`` or ``batch``, for the error.
        scale: name of the scale, for the error.
        unplanned: names that exist and cannot be chosen, with the reason.

    Raises:
        HypersphereError: no name, or more than one, fits; the sentence lists those that come near.
    """
    if name in names:
        return name
    matches = [one for one in names if one.startswith(f"{name}-")]
    if len(matches) == 1:
        return matches[0]
    if matches:
        more = f" and {len(matches) - SHOWN} more" if len(matches) > SHOWN else ""
        raise HypersphereError(
            f"{kind} '{name}': {len(matches)} begin so at scale {scale}: {', '.join(matches[:SHOWN])}{more}; name one"
        )
    for one, reason in (unplanned or {}).items():
        if one == name or one.startswith(f"{name}-"):
            raise HypersphereError(f"{kind} '{one}' is not made at scale {scale}: {reason}")
    near = nearest(name, names, SHOWN) or nearest(name, _beginnings(names, name.count("-") + 1), SHOWN)
    hint = f"did you mean {either(near)}?" if near else "`hypersphere plan --verbose` lists those there are"
    raise HypersphereError(f"no {kind} '{name}' at scale {scale}; {hint}")


def _beginnings(names: Collection[str], parts: int) -> set[str]:
    """The first ``parts`` parts of each name, which dashes divide."""
    return {"-".join(name.split("-")[:parts]) for name in names}
