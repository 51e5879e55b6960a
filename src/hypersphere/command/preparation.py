"""``hypersphere prepare``: datasets by their names, or the several that one job of Snakemake prepares."""

from hypersphere.config.plan import Plan, check_sizes
from hypersphere.config.run import Dataset
from hypersphere.datasets import store
from hypersphere.errors import HypersphereError
from hypersphere.provenance import markers
from hypersphere.statistics import repeated


def one(plan: Plan, dataset: Dataset) -> str:
    """Prepare a dataset unless it is current, and return its digest."""
    folder = store.prepare(dataset, plan.config.data, plan.config.data_root)
    manifest = store.read_manifest(folder)
    print(repeated.in_a_line(dataset.name, manifest.get("repeated")))
    print(folder)
    return str(manifest["digest"])


def together(plan: Plan, job: str) -> None:
    """Prepare the datasets of a job, and write the marker that Snakemake waits for.

    One that fails does not stop the others, nor what needs only them. If all fail, or runs do not fit one, the job
    fails, too.
    """
    digests: dict[str, str] = {}
    failed: dict[str, str] = {}
    for dataset in plan.prepared_together[job]:
        try:
            digests[dataset.folder] = one(plan, dataset)
        except HypersphereError as error:
            print(f"note: {error}")
            failed[dataset.folder] = str(error)
    if not digests:
        raise HypersphereError("; ".join(failed.values()))
    check_sizes(plan, [dataset.name for dataset in plan.prepared_together[job]])
    markers.write_prepared(plan.prepared_marker(job), digests, failed)
