"""``hypersphere trace``: where a number comes from."""

import difflib
import shlex
from collections.abc import Iterator
from typing import Any

from hypersphere.config import records
from hypersphere.config.claims import Claim, load
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.provenance.manifest import read_manifest


def lines(plan: Plan, name: str) -> Iterator[str]:
    """What is known of a claim, by its id, or of a run, by its name.

    Raises:
        HypersphereError: it is neither.
    """
    claims = {claim.id: (paper, claim) for paper in plan.config.papers for claim in _claims(plan, paper)}
    if name not in claims:
        try:
            run = plan.run(name)
        except HypersphereError as error:
            near = difflib.get_close_matches(name, claims, 1)
            hint = f"; did you mean the claim {near[0]}?" if near else ""
            raise HypersphereError(f"trace: {error}; no claim of paper/claims/ has this id either{hint}") from None
        yield from _run(plan, run)
        return
    paper, claim = claims[name]
    yield from _claim(plan, paper, claim)


def _claims(plan: Plan, paper: str) -> list[Claim]:
    return load(plan.config.claims_file(paper))


def _claim(plan: Plan, paper: str, claim: Claim) -> Iterator[str]:
    reported = claim.direction or ("–" if claim.reported is None else f"{claim.reported:g}")
    yield f"claim     {claim.id} ({claim.source}, {paper}/{claim.artifact})"
    yield f"printed   {claim.sentence or claim.metric}: {reported}"
    cells = [cell for cell in plan.artifacts.get((paper, claim.artifact), []) if cell.text in claim.cells]
    if not cells:
        yield "measured  by no cell made from runs at this scale"
        return
    runs = {cell.run.name: cell.run for cell in cells if cell.run is not None and not cell.missing}
    reasons = dict.fromkeys(cell.missing for cell in cells if cell.missing)
    for reason in reasons:
        yield f"missing   {reason}"
    for cell in dict.fromkeys(cell.text for cell in cells):
        yield f"cell      {cell}"
    for run in runs.values():
        yield ""
        yield from _run(plan, run)


def _run(plan: Plan, run: Run) -> Iterator[str]:
    yield f"run       {run.name}"
    yield f"command   {shlex.join(_command(plan, run.name))}"
    found = list(_origins(plan, run))
    for where, origin in found or [("", {})]:
        if not origin:
            yield "made      not yet"
            return
        yield f"made      {where}"
        yield f"  status  {origin['status']} after {origin['epochs']} epochs, {origin['seconds']:.0f} s"
        yield f"  code    {origin['code']}"
        yield f"  data    {origin['data']}"
        for file, checksum in sorted(origin["files"].items()):
            yield f"  sha256  {checksum[:16]} {file}"
        device, machine = origin["device"], origin["environment"]
        yield f"  device  {device['name']} ({machine['machine']}, {machine['platform']}, Python {machine['python']})"
        yield f"  with    {', '.join(f'{name} {version}' for name, version in sorted(machine['packages'].items()))}"
        yield f"  how     {', '.join(f'{key} {value}' for key, value in sorted(origin['numerics'].items()))}"


def _origins(plan: Plan, run: Run) -> Iterator[tuple[str, dict[str, Any]]]:
    """The run's own manifest, and its records of evidence."""
    folder = plan.run_folder(run.name)
    if (folder / "manifest.json").is_file():
        yield str(folder.relative_to(plan.config.root)), read_manifest(folder)
    for record in records.read_all(plan.config.evidence, plan.config.expected).get(run.name, ()):
        path = plan.config.evidence / "runs.csv"
        yield f"{path.relative_to(plan.config.root)}, key {record.key}", record.model_dump()


def _command(plan: Plan, name: str) -> list[str]:
    settings = [f"{key}={value}" for key, value in plan.config.overrides.items() if key != "scale"]
    return ["hypersphere", "pretrain", name, "--set", f"scale={plan.config.settings.scale}"] + [
        part for setting in settings for part in ("--set", setting)
    ]
