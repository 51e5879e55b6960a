"""What tests of exact studies share."""

from hypersphere.simulations.study import Study


def held(study: Study, prefix: str = "") -> dict[str, tuple[int, int]]:
    """Of each answer that counts places, by its id without ``prefix``: where it holds, and all."""
    counts = [one for one in study.answers if "held" in one.arms]
    found = {one.id.removeprefix(prefix): (int(one.arms["held"][0]), int(one.arms["places"][0])) for one in counts}
    assert len(found) == len(counts)
    return found
