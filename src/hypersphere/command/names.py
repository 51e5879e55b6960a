"""Find the datasets, batches, runs, papers and artifacts that a command names, as the plan and logs print them."""

from collections.abc import Sequence

from hypersphere.config.artifacts import Studied
from hypersphere.config.plan import BatchOfRuns, Plan
from hypersphere.config.reasons import why_not_made
from hypersphere.config.run import Dataset, Run
from hypersphere.config.validation import not_one_of
from hypersphere.errors import HypersphereError


def find_dataset(plan: Plan, name: str) -> Dataset:
    """The dataset of that name, or of that folder under data/processed.

    Raises:
        HypersphereError: there is none.
    """
    datasets = plan.config.datasets
    for dataset in datasets.values():
        if name in (dataset.name, dataset.folder):
            return dataset
    raise HypersphereError(f"prepare: {not_one_of(name, sorted(datasets))}")


def find_batch(plan: Plan, name: str) -> BatchOfRuns:
    """The batch of that id, or the one that trains the run of that name.

    Raises:
        HypersphereError: there is none.
    """
    return plan.batch_of(name) if name in plan.runs else plan.batch(name)


def find_runs(plan: Plan, names: Sequence[str]) -> list[Run]:
    """The runs of those names, each once; a batch's id stands for its runs.

    Raises:
        HypersphereError: a name is that of no run and no batch.
    """
    batches = {batch.id: batch for batch in plan.batches}
    runs = [run for name in names for run in (batches[name].runs if name in batches else [plan.run(name)])]
    return list({run.name: run for run in runs}.values())


def check_paper(plan: Plan, name: str, command: str) -> None:
    """Check that a paper of that name exists.

    Raises:
        HypersphereError: it does not.
    """
    if name not in plan.config.papers:
        raise HypersphereError(f"{command}: {not_one_of(name, plan.config.papers)}")


def find_artifacts(plan: Plan, words: Sequence[str]) -> list[tuple[str, str]]:
    """The papers and ids of artifacts, which are given as ``margins/table2 lmcl/fig4``, or one as ``margins table2``.

    Raises:
        HypersphereError: there is none, or it is not made from runs at this scale.
    """
    one_in_two_words = len(words) == 2 and not any("/" in word for word in words)
    return [_find_artifact(plan, name) for name in (["/".join(words)] if one_in_two_words else words)]


def _find_artifact(plan: Plan, full_name: str) -> tuple[str, str]:
    paper, _, name = full_name.partition("/")
    check_paper(plan, paper, "artifact")
    declared = plan.config.papers[paper].artifacts
    if name not in declared:
        raise HypersphereError(f"artifact: {not_one_of(f'{paper}/{name}', [f'{paper}/{one}' for one in declared])}")
    if isinstance(declared[name], Studied):
        raise HypersphereError(f"artifact: {paper}/{name} is an exact study; `hypersphere studies {paper}` makes it")
    reason = why_not_made(plan, paper, name)
    if reason:
        raise HypersphereError(f"artifact: {paper}/{name} is not made at scale {plan.config.scale_name}: {reason}")
    return paper, name
