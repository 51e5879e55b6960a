"""Which runs share a job: those of one method stay together, and small methods share one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypersphere import files
from hypersphere.config.run import Run


@dataclass(frozen=True)
class BatchOfRuns:
    """Runs on one dataset that one job trains and one job probes."""

    id: str
    runs: tuple[Run, ...]


def batch(runs: Sequence[Run]) -> BatchOfRuns:
    """A batch whose id says its method, or how many it has, and its dataset: ``simclr-cifar10-1f3a9c2e``."""
    methods = {run.method.name for run in runs}
    method = runs[0].method.name if len(methods) == 1 else f"{len(methods)}methods"
    return BatchOfRuns(f"{method}-{runs[0].dataset.name}-{files.digest([run.name for run in runs], 8)}", tuple(runs))


def pool(groups: Mapping[tuple[str, str], list[Run]], size: int) -> list[list[Run]]:
    """Join small groups, of at most a third of a job, that have a dataset and all their papers in common.

    Args:
        groups: runs by dataset and by the artifacts that show them: ``lecture/fig1 lecture/table2``.
        size: most runs of a job.
    """
    pooled: dict[tuple[str, ...], list[Run]] = {}
    for (dataset, artifacts), runs in groups.items():
        papers = {artifact.partition("/")[0] for artifact in artifacts.split()}
        small = 3 * len(runs) <= size
        pooled.setdefault((dataset, *sorted(papers)) if small else (dataset, artifacts), []).extend(runs)
    return list(pooled.values())


def split(runs: Sequence[Run], size: int) -> list[list[Run]]:
    """Divide runs among jobs of at most ``size`` runs and of about equal numbers.

    A method's runs share a job if they fit, so that an edit of a method concerns few jobs.
    """
    of_method: dict[str, list[Run]] = {}
    for run in runs:
        of_method.setdefault(run.method.name, []).append(run)
    even = len(runs) / -(-len(runs) // size)
    jobs: list[list[Run]] = []
    for part in (part for group in of_method.values() for part in _evenly(group, size)):
        if jobs and len(jobs[-1]) + len(part) <= even:
            jobs[-1] += part
        else:
            jobs.append(list(part))
    return jobs


def _evenly(runs: list[Run], size: int) -> list[list[Run]]:
    parts = -(-len(runs) // size)
    return [runs[i * len(runs) // parts : (i + 1) * len(runs) // parts] for i in range(parts)]
