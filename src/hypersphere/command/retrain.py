"""``hypersphere retrain``: train one recorded run again, and say whether its bytes and its numbers come out.

It works in a folder that holds nothing else: no record, run or table of the project is replaced.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config import records
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config, Scale
from hypersphere.config.records import FOLDER, TABLES, Records
from hypersphere.config.validation import LISTED, not_one_of, read_table
from hypersphere.errors import HypersphereError
from hypersphere.provenance.manifest import check_run
from hypersphere.statistics import retrained
from hypersphere.statistics.judged_records import recorded_scales
from hypersphere.statistics.retrained import Comparison, Number, Verdict
from hypersphere.wording import counted


class Recorded(NamedTuple):
    """Where a run is recorded."""

    scale: str
    name: str


def retrain(config: Config, name: str, folder: Path | None) -> None:
    """Train the recorded run of that name, or beginning of a name, again; measure it, compare, and print the verdict.

    ``folder`` keeps what is made, in a folder of the run's name; None: it is removed at the end.

    Raises:
        HypersphereError: the run is not recorded or cannot be trained here, or what comes out is not the record's.
    """
    from hypersphere.probes import evaluate
    from hypersphere.provenance import evidence
    from hypersphere.training import pretrain

    found = find(config, name)
    plan = planning.make(
        config.root, config.overrides | {"scale": found.scale, "evidence_only": False}
    )
    if found.name not in plan.runs:
        raise HypersphereError(
            f"retrain: {found.name}: no artifact of scale {found.scale} asks for this run any more"
        )
    known = records.read_all(plan.config.evidence, plan.config.scale.level)
    device = known[found.name][0].device["type"]
    print(f"{found.name}: {told(plan, known, found.name)}", flush=True)
    with _place(found.name, folder) as place:
        again = alone(plan, found.name, place, device)
        run = again.run(found.name)
        pretrain.pretrain(again, [run], also=pretrain.snapshot_epochs(known[run.name][0].files))
        evaluate.evaluate_runs(again, [run])
        evidence.pack(again, run)
        manifest = check_run(again, run.name)
        several = records.read_all(evidence.folder_of(again), plan.config.scale.level, found.scale)[
            run.name
        ]
        # The folder may hold a record of earlier code, too.
        made = next(
            one for one in several if (one.files, one.code) == (manifest["files"], manifest["code"])
        )
    # Of replicates, the one of the same weights is what was made again.
    record = min(known[run.name], key=lambda one: one.weights != made.weights)
    siblings = retrained.seeds_of(record, known)
    comparison = retrained.compare(record, made, siblings)
    for line in lines(comparison, len(siblings), retrained.processors_of(siblings)):
        print(line, flush=True)
    if comparison.verdict in (Verdict.DIFFERENT, Verdict.UNBOUNDED):
        raise HypersphereError(f"retrain: {run.name}: {comparison.verdict}: {why(comparison)}")
    print(f"{run.name}: {comparison.verdict}", flush=True)


def find(config: Config, name: str) -> Recorded:
    """The record that a name, or the beginning of one, stands for: at the scale that was typed, or at any."""
    typed = config.overrides.keys() & Scale.model_fields.keys()
    scales = [config.scale_name] if typed else recorded_scales(config.root)
    looked_in = ", ".join(f"{FOLDER}/{scale}" for scale in scales) or FOLDER
    every: list[Recorded] = []
    for scale in scales:
        table = config.root / FOLDER / scale / "runs.csv"
        rows = read_table(table, TABLES["runs"]) if table.exists() else []
        every += dict.fromkeys(Recorded(scale, row["name"]) for row in rows)
    if not every:
        raise HypersphereError(f"retrain: {looked_in}: holds no record")
    matches = [one for one in every if one.name == name]
    matches = matches or [one for one in every if one.name.startswith(f"{name}-")]
    matches = matches or [one for one in every if one.name.startswith(name)]
    if not matches:
        raise HypersphereError(
            f"retrain: {looked_in}: {not_one_of(name, dict.fromkeys(one.name for one in every))}"
        )
    if len(matches) > 1:
        shown = ", ".join(one.name for one in matches[:LISTED])
        more = f" and {len(matches) - LISTED} more" if matches[LISTED:] else ""
        raise HypersphereError(
            f"retrain: {looked_in}: '{name}' begins {len(matches)} names: {shown}{more}; name one"
        )
    return matches[0]


def told(plan: Plan, known: Records, name: str) -> str:
    """What the record says of the training to come."""
    record = known[name][0]
    epochs, seconds = counted(record.epochs, "epoch"), f"{record.seconds:.0f} s"
    return f"recorded at {plan.config.scale_name}, {record.status} after {epochs}, which took {seconds}"


@contextmanager
def _place(name: str, folder: Path | None) -> Iterator[Path]:
    """The folder of a run in ``folder``, or in a temporary one."""
    if folder is not None:
        yield folder.resolve() / name
    else:
        with files.temporary_folder("the run that is trained again") as temporary:
            yield temporary


def alone(plan: Plan, name: str, place: Path, device: str) -> Plan:
    """The plan of one run, whose results and records go to ``place``, with links to the project's data and config.

    It runs on the kind of device that the record is of, unless another was typed.
    """
    cells = tuple(cell for cell in plan.cells if cell.run is not None and cell.run.name == name)
    config = plan.config
    with files.writing(place):
        place.mkdir(parents=True, exist_ok=True)
        for folder in ("config", "data"):
            if not (place / folder).exists():
                (place / folder).symlink_to(config.root / folder)
    changed = {} if "device" in config.overrides else {"device": device}
    elsewhere = {"root": place, "settings": config.settings.model_copy(update=changed)}
    return replace(plan, config=config.model_copy(update=elsewhere), cells=cells)


def lines(comparison: Comparison, seeds: int, processors: int) -> Iterator[str]:
    """What was compared, in lines: the numbers that differ most first, what bounds them, and what else differs."""
    numbers = comparison.numbers
    for number in numbers[:LISTED]:
        yield f"  {_told(number)}"
    if rest := numbers[LISTED:]:
        yield f"  {counted(len(rest), 'more number')}, no further from the record for the bound"
    if comparison.lost:
        yield f"  {counted(comparison.lost, 'number')} of the record: not measured again"
    if comparison.files:
        by = f"{counted(seeds, 'recorded seed')} of this run, of {counted(processors, 'kind')} of processor"
        share = f"{retrained.CONFIDENCE:.0%} for {counted(len(numbers), 'number')} together"
        yield f"bounds: how far apart two seeds lie at most, with a confidence of {share}, by {by}"
    if comparison.other:
        yield f"made with other {', '.join(comparison.other)} than the record, so that equal bytes are not promised"


def _told(number: Number) -> str:
    recorded, again = (
        "none" if one is None else f"{one:.6g}" for one in (number.recorded, number.again)
    )
    if recorded == again:
        return f"{number.words}: {again}, as recorded"
    limit = f"bound {number.bound:.3g}" if number.within is not None else "no bound"
    return f"{number.words}: {again}, recorded {recorded} (difference {number.difference:.3g}, {limit})"


def why(comparison: Comparison) -> str:
    """Why what came out is not what the record says, in one sentence."""
    recorded, now = comparison.statuses
    if recorded != now:
        return f"the recorded run {recorded}, and now it {now}"
    if outside := [number for number in comparison.numbers if number.within is False]:
        whole = f"{len(outside)} of {counted(len(comparison.numbers), 'number')}"
        return f"{whole} beyond the bound; {_told(outside[0])}"
    files_differ = f"{', '.join(comparison.files)}: other bytes"
    if comparison.verdict is Verdict.UNBOUNDED:
        return f"{files_differ}, and no other seed of the run is recorded, so that nothing bounds the noise"
    return f"{files_differ}, though code, data, device and machine are the record's, which promises equal bytes"
