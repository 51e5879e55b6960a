# Helpers of the rules: paths of the plan as Snakemake knows them, relative to the project.


def local(path):
    """A path of the project as Snakemake knows it."""
    return Path(path).relative_to(Path.cwd()).as_posix()


def trained(batch):
    """The marker of a batch's training."""
    return f"{RESULTS}/batches/{batch}.json"


def prepared(names):
    """The markers of prepared datasets. Their times say nothing, because one is of several: ``data_of`` does."""
    return [ancient(local(PLAN.prepared_marker(job))) for job in PLAN.preparing(names)]


def made_of(dataset):
    """What decides a dataset's bytes."""
    return [dataset.folder, digests.dataset_inputs(PLAN, dataset)]


def data_of(names):
    """What decides the bytes of datasets."""
    return [made_of(PLAN.datasets[name]) for name in sorted(names)]


def trained_on(batch):
    """The datasets on which a batch is trained."""
    return {run.dataset.name for run in BATCHES[batch].runs}


@cache
def ranks():
    """The order in which batches are trained if records are asked for: the most telling first."""
    asked = any(target == "records" or target.endswith(".recorded.json") for target in workflow.dag_settings.targets)
    return {batch.id: 1 / (rank + 2) for rank, batch in enumerate(campaign.order(PLAN, {}))} if asked else {}


def urgency(wildcards):
    """The priority of a batch's training. Without records, it takes longest and comes before what follows it."""
    return ranks().get(wildcards.batch, 0) if ranks() else 1


def at_once(wildcards):
    """The priority of what follows: a batch is recorded before the next is trained."""
    return 1 if ranks() else 0


def measured_for(paper, artifact):
    """The markers of the evaluations of an artifact's runs and controls; records are in its digest."""
    return [local(PLAN.evaluated_marker(batch.id)) for batch in PLAN.batches_of(paper, artifact)]


def tidy(paper, artifact):
    """The tidy tables from which an artifact is drawn."""
    names = ["measurements.csv", "summary.csv", "effects.csv", "runs.csv", "manifest.json", "claims.csv", "claims.json"]
    about_images = registry.artifact_kind(PLAN.config.papers[paper].artifacts[artifact].draw).images
    return [PLAN.config.artifact_folder(paper, artifact) / name for name in [*names, *about_images]]


def claims_of(paper):
    """Digest of a paper's published numbers; people edit the file, so its modification time says nothing."""
    return digests.file_digest(PLAN.config.claims_file(paper).as_posix())


def selected_values():
    """The tables of tuned values that studies chose."""
    folders = PLAN.config.folders.values()
    return [os.path.relpath(path) for folder in folders for path in sorted(folder.glob("selected/*.csv"))]


def notes_of(name):
    """The files of that name in the folders of documents."""
    return [os.path.relpath(path) for path in PLAN.config.files_named(name).values()]


class Exact(NamedTuple):
    """Files that are the same at every scale."""

    made: list[str]
    copies: list[str]
    of: list[str]
    """Digests of what they are made of. Copies have them too, so that a change is seen where ``made`` is gone."""


def exact(folder, copies, *of):
    """The files that a scale copies from a folder."""
    return Exact([f"{local(folder)}/{Path(path).name}" for path in copies], copies, list(of))


WHOLE = {"all", "everything"}


def judged_here(wildcards):
    """The claims of scales that were finished here, which are shown as they are: nothing is made for the report alone.

    Where all of a scale is asked for, its claims come first, as the report would otherwise depend on which job ends first.
    """
    found = {local(path) for path in judged_records.finished_here(Path.cwd())}
    targets = set(workflow.dag_settings.targets)
    on_real_images = SCALE.level != "quick" and Path(f"config/scales/{PLAN.config.results.name}.yaml").is_file()
    if on_real_images and (not targets or targets & WHOLE):
        found.add(f"{RESULTS}/claims.csv")
    return sorted(found)
