"""``hypersphere first-look``: all that only a device can tell, in the minutes that one has of it."""

from collections.abc import Iterator

from hypersphere.command.cost import Cost
from hypersphere.command.kinds import Kind, kinds_of
from hypersphere.config.plan import Plan
from hypersphere.speed import rates
from hypersphere.speed.look import Device, Look
from hypersphere.speed.trial import Trial
from hypersphere.training import device as devices
from hypersphere.training import memory

STEPS = 2
"""Batches of random images that a trial has: views are drawn anew in each of its epochs."""


def lines(plan: Plan, minutes: float) -> Iterator[str]:
    """Look at the configured device for so many minutes: a line for each trial, and tables and a page in data/rates."""
    scale = plan.config.scale
    trials = most_hours_first(plan)
    with devices.acquire(plan.config.settings.device) as held:
        name = devices.describe(held) if held.type == "cuda" else rates.processor()
        device = Device(held, name, devices.precision(scale.precision, held), scale.threads)
        yield from Look(plan.config.root, device, trials, minutes).lines()


def most_hours_first(plan: Plan) -> list[Trial]:
    """A trial for each kind of run of images, in the order of the operations that all runs of a kind take together."""
    flops = Cost(plan).flops

    def hours(kind: Kind) -> int:
        counted = [flops[run.name] for run in kind.runs]
        return sum(one for one in counted if isinstance(one, int))

    kinds = sorted(kinds_of(plan, memory.key).of_images, key=hours, reverse=True)
    return [Trial(kind.runs[0], kind.size, STEPS) for kind in kinds]
