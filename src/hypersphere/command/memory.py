"""Which runs of a plan need more memory than a device has, and how many parts would make them fit."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hypersphere.command.kinds import first_and_count, kinds_of
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.training import memory
from hypersphere.wording import count_of, in_one_line

GB = 10**9
"""Bytes of a GB. A card that is sold with 80 GB has up to 86 of these; the rest is for what is not counted."""


class Finding(NamedTuple):
    """A sentence on the memory of runs."""

    text: str
    misfits: Sequence[Run] = ()
    """The runs that it says do not fit."""


def findings(plan: Plan, gigabytes: float) -> Iterator[Finding]:
    """A finding for each kind of run that needs more than its slot of a card of so many ``gigabytes``.

    Then what was counted, and what was not.
    """
    slots = plan.config.settings.runs_per_gpu
    gigabytes /= slots
    kinds, without = kinds_of(plan, memory.key)
    most = 0
    known = 0
    for size, runs in kinds:
        run = runs[0]
        try:
            need = memory.needed(run, size)
            amount = need.with_parts(run.batch.parts)
        except Exception as error:  # any method or encoder may refuse tensors without data
            reason = f"{run.method.name} with {run.encoder.name}: {in_one_line(error)}"
            without[reason] += len(runs)
            continue
        known += len(runs)
        most = max(most, amount)
        if amount > gigabytes * GB:
            of_card = f", one of {slots} slots of a card" if slots > 1 else ""
            excess = f"{amount / GB:.1f} GB do not fit {gigabytes:g} GB{of_card}"
            remedy = _remedy(run, need, gigabytes)
            yield Finding(f"{first_and_count(runs)}: {excess}; {remedy}", runs)
    for reason, count in without.items():
        yield Finding(f"not counted  {count_of(count, 'run')}: {reason}")
    if known:
        yield Finding(
            f"memory     {count_of(known, 'run')} of images: each needs at most {most / GB:.1f} GB"
        )


def _remedy(run: Run, need: memory.Need, gigabytes: float) -> str:
    parts = memory.least_parts(run, need, gigabytes * GB)
    if parts is None:
        return "no number of batch.parts is enough"
    return f"with batch.parts={parts} it needs {need.with_parts(parts) / GB:.1f} GB"
