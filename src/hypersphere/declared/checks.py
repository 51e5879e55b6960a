"""Check the files that are read only after hours of training, before any job starts."""

from hypersphere.declared import claims, errata, rules
from hypersphere.declared.coordinates import READINGS, of_run
from hypersphere.declared.plan import Plan
from hypersphere.declared.run import Run
from hypersphere.declared.validation import unknown_key
from hypersphere.errors import HypersphereError


def check_texts(plan: Plan) -> None:
    """Read config/statistics.yaml, paper/errata.yaml and the claims of every paper.

    Raises:
        HypersphereError: a sentence naming the file, the entry and the field that is wrong.
    """
    root = plan.config.root
    rules.load(root)
    errata.load(root)
    for paper in plan.config.papers:
        _check_claims(plan, paper)


def _check_claims(plan: Plan, paper: str) -> None:
    """Check that claims about tables and figures made from runs use coordinates that a cell can have.

    What a study measures is its own to name, so that claims about studies may have any key in their setting.
    """
    file = plan.config.root / "paper" / "claims" / f"{paper}.csv"
    measured = [name for name, artifact in plan.config.papers[paper].measured.items() if not artifact.missing]
    rows = claims.read(file)
    for claim in rows:
        if claim.artifact not in measured:
            continue
        for field, coordinates in (("setting", claim.coordinates), ("baseline", claim.compared_with)):
            for key in of_run(coordinates):
                if "." not in key or key.split(".")[0] not in Run.model_fields:
                    allowed = f"{unknown_key(key, READINGS[:-1])}, and paths into the run (schedule.epochs)"
                    raise HypersphereError(f"{file}: {claim.id}: {field}: {key}: {allowed}")
    claims.with_differences(rows, file)
