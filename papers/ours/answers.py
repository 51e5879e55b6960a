"""Whether yes and whether no fits what a study found, where numbers of arms cannot say it.

Each function has the name of its study, and does what the study's ``answers`` say in paper.yaml. Its code is a part of
the digest that records carry. It gets the comparisons of the family, the A/A ones, the values of every arm by seed, and
the rules of all verdicts.
"""

from hypersphere.config import coordinates
from hypersphere.config.rules import Rules
from hypersphere.statistics import effects
from hypersphere.statistics.answers import Comparison, Family
from hypersphere.statistics.effects import Arms


def sentences(family: Family, again: Family, values: Arms, rules: Rules) -> tuple[bool, bool]:
    """Of three tasks; helped are those on which + DP (summed) is ahead of none, as compared with uniformity."""
    of_dp = [one for one in family if one.arm["variant"] == "dp_sum"]
    against_none = [one for one in of_dp if one.against["variant"] == "default"]
    against_uniform = {
        one.arm["target"]: one.called for one in of_dp if one.against["variant"] == "uniform"
    }
    helped = [against_uniform[one.arm["target"]] for one in against_none if "ahead" in one.called]
    better, worse = any("ahead" in one for one in helped), any("behind" in one for one in helped)
    yes = len(helped) >= 2 and better and not worse
    return yes, all("level" in one or "behind" in one for one in helped)


def confidence(family: Family, again: Family, values: Arms, rules: Rules) -> tuple[bool, bool]:
    """Of two methods on two sets, the trained encoder against itself before its training."""
    yes = all("beyond" in one.called and one.mean > one.margin for one in family)
    return yes, all("level" in one.called or "behind" in one.called for one in family)


def cut_by_steps(family: Family, again: Family, values: Arms, rules: Rules) -> tuple[bool, bool]:
    """Of two methods, the cut at the least and at the most steps; steps are in proportion to epochs."""
    by_method: dict[str, list[Comparison]] = {}
    for one in sorted(family, key=lambda one: float(one.arm["schedule.epochs"])):
        by_method.setdefault(str(one.arm["method"]), []).append(one)
    late = []
    for first, *_, last in by_method.values():
        if "behind" in first.called:
            arms = [
                values[coordinates.text(point)]
                for point in (last.arm, last.against, first.arm, first.against)
            ]
            means = [arm.mean() for arm in arms]
            risen = means[0] - means[1] - (means[2] - means[3])
            low, _ = effects.welch(*arms).interval(risen, rules.confidence)
            late.append((last.called, low > 0))
    level_or_ahead = all("level" in called or "ahead" in called for called, _ in late)
    yes = bool(late) and level_or_ahead and all(clear for _, clear in late)
    return yes, bool(late) and all("behind" in called for called, _ in late)
