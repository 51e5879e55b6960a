"""``hypersphere trace``: where a number comes from."""

import difflib
import shlex
from collections.abc import Iterator

from hypersphere.config import records
from hypersphere.config.claims import load
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.provenance import state
from hypersphere.provenance.state import State


def lines(plan: Plan, name: str) -> Iterator[str]:
    """What is known of a claim, by its id, or of a run, by its name."""
    papers = plan.config.papers
    claims = {claim.id: (paper, claim) for paper in papers for claim in load(plan.config.claims_file(paper))}
    if name not in claims:
        try:
            run = plan.run(name)
        except HypersphereError as error:
            near = difflib.get_close_matches(name, claims, 1)
            hint = f"; did you mean the claim {near[0]}?" if near else ""
            raise HypersphereError(f"trace: {error}; no claim has this id either{hint}") from None
        yield from _run(plan, run)
        return
    paper, claim = claims[name]
    reported = claim.direction or ("–" if claim.reported is None else f"{claim.reported:g}")
    yield f"claim     {claim.id} ({claim.source}, {paper}/{claim.artifact})"
    yield f"{claim.origin:<9} {claim.sentence or claim.metric}: {reported}"
    cells = [cell for cell in plan.artifacts.get((paper, claim.artifact), []) if cell.text in claim.cells]
    if not cells:
        yield "measured  by no cell made from runs at this scale"
        return
    runs = {cell.run.name: cell.run for cell in cells if cell.run is not None and not cell.missing}
    for reason in dict.fromkeys(cell.missing for cell in cells if cell.missing):
        yield f"missing   {reason}"
    for cell in dict.fromkeys(cell.text for cell in cells):
        yield f"cell      {cell}"
    for run in runs.values():
        yield ""
        yield from _run(plan, run)


def _run(plan: Plan, run: Run) -> Iterator[str]:
    settings = {"scale": plan.config.settings.scale} | plan.config.overrides
    given = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    yield f"run       {run.name}"
    yield f"command   {shlex.join(['hypersphere', 'pretrain', run.name, *given])}"
    folder, evidence = plan.run_folder(run.name), plan.config.evidence
    here = state.look(folder)
    if here.state is State.DAMAGED:
        yield f"damaged   {here.problem}"
    origins = [(str(folder.relative_to(plan.config.root)), here.manifest)] if here.done else []
    table = (evidence / "runs.csv").relative_to(plan.config.root)
    found = records.read_all(evidence, plan.config.expected).get(run.name, ())
    origins += [(f"{table}, key {record.key}", record.model_dump()) for record in found]
    if not origins:
        yield "made      not yet"
    for where, origin in origins:
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
