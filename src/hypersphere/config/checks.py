"""Check what would otherwise fail after hours of training, before any job starts.

It is apart from what it checks, so that the code of exact studies, which read claims, does not include that of runs.
"""

from collections.abc import Collection

from hypersphere import files
from hypersphere.config import claims, registry, rules
from hypersphere.config.coordinates import READINGS, of_run
from hypersphere.config.plan import MANIFEST, Plan
from hypersphere.config.run import Run
from hypersphere.config.validation import unknown_key
from hypersphere.errors import HypersphereError


def check_texts(plan: Plan) -> None:
    """Read config/statistics.yaml, errata and the claims of every paper.

    Claims about tables and figures made from runs must use coordinates that a cell can have. What a study measures is
    its own to name, so that claims about studies may have any key in their setting.
    """
    rules.load(plan.config.root)
    claims.load_errata(plan.config)
    for name, paper in plan.config.papers.items():
        file = plan.config.claims_file(name)
        measured = [artifact for artifact, one in paper.measured.items() if not one.missing]
        for claim in (claim for claim in claims.load(file) if claim.artifact in measured):
            for field, coordinates in (("setting", claim.coordinates), ("baseline", claim.compared_with)):
                for key in of_run(coordinates):
                    if "." not in key or key.split(".")[0] not in Run.model_fields:
                        allowed = f"{unknown_key(key, READINGS[:-1])}, and paths into the run (schedule.epochs)"
                        raise HypersphereError(f"{file}: {claim.id}: {field}: {key}: {allowed}")


def check_sizes(plan: Plan, names: Collection[str] | None = None) -> None:
    """Check that each prepared dataset has enough training images for the runs and probes that use it.

    How many it has is known only once it is prepared: what is not prepared is left to the job that prepares it.
    ``names`` are datasets; None: all of the plan.
    """
    for name, dataset in plan.datasets.items():
        manifest = plan.data_folder(dataset) / MANIFEST
        if (names is not None and name not in names) or not manifest.is_file():
            continue
        images = files.read_json(manifest).get("splits", {}).get("train", {}).get("images")
        if not isinstance(images, int):
            continue
        for run in plan.runs.values():
            if run.dataset.name == name:
                run.check_batch(images)
            for asked in plan.asked[run.name].values():
                probe = asked.protocol.probe
                parameter = registry.read_constant("probes", probe.name, "AT_MOST_THE_BANK", "")
                if not parameter or all(target != name for _, target in asked.at):
                    continue
                value = getattr(registry.schema("probes", probe.name).model_validate(probe.parameters), parameter)
                if value > images:
                    raise HypersphereError(
                        f"{run.name}: probe {probe.name}: {parameter} {value} is more than the {images} training "
                        f"images of {name}"
                    )
