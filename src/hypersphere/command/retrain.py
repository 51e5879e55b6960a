"""``hypersphere retrain``: train one recorded run again, and say whether its bytes and its numbers come out.

It works in a folder that holds nothing else: no record, run or table of the project is replaced.
"""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from hypersphere import files
from hypersphere.command.templates import fill
from hypersphere.config import plan as planning
from hypersphere.config import records
from hypersphere.config.plan import Plan
from hypersphere.config.project import Config, Scale
from hypersphere.config.records import FOLDER, TABLES
from hypersphere.config.validation import LISTED, not_one_of, read_table
from hypersphere.errors import HypersphereError
from hypersphere.provenance.manifest import check_run
from hypersphere.statistics import retrained
from hypersphere.statistics.judged_records import recorded_scales
from hypersphere.statistics.retrained import Comparison, Number, Verdict
from hypersphere.wording import count_of


class Recorded(NamedTuple):
    """Where a run is recorded."""

    scale: str
    name: str


def retrain(config: Config, name: str, folder: Path | None) -> None:
    """Train a recorded run again, measure it, compare it with its record, and print the verdict.

    ``name`` is the run's name, or the beginning of it. What is made stays in ``folder``, in a folder of the run's name;
    without a ``folder`` it is removed at the end.

    Raises:
        HypersphereError: the run is not recorded or cannot be trained here, or what comes out is not the record's.
    """
    from hypersphere.probes import evaluate
    from hypersphere.provenance import evidence
    from hypersphere.training import pretrain

    scale, name = find(config, name)
    settings = {"scale": scale, "evidence_only": False}
    plan = planning.make(config.root, config.overrides | settings)
    if name not in plan.runs:
        raise HypersphereError(
            f"retrain: {name}: no artifact of scale {scale} asks for this run any more"
        )
    level = plan.config.scale.level
    known = records.read_all(plan.config.evidence, level)
    first = known[name][0]
    epochs = count_of(first.epochs, "epoch")
    training = f"{first.status} after {epochs}, which took {first.seconds:.0f} s"
    print(f"{name}: recorded at {plan.config.scale_name}, {training}")
    with ExitStack() as until_the_end:
        if folder is None:
            temporary = files.temporary_folder("the run that is trained again")
            place = until_the_end.enter_context(temporary)
        else:
            place = folder.resolve() / name
        again = alone(plan, name, place, first.device["type"])
        run = again.run(name)
        pretrain.pretrain(again, [run], also=pretrain.snapshot_epochs(first.files))
        evaluate.evaluate_runs(again, [run])
        evidence.pack(again, run)
        manifest = check_run(again, name)
        # The folder may hold a record of earlier code, too.
        records_there = records.read_all(evidence.folder_of(again), level, scale)[name]
    present = (manifest["files"], manifest["code"])
    new = next(one for one in records_there if (one.files, one.code) == present)
    # If the run has replicates, the new record is compared with the one of the same weights.
    old = min(known[name], key=lambda one: one.weights != new.weights)
    siblings = retrained.seeds_of(old, known)
    comparison = retrained.compare(old, new, siblings)
    processors = retrained.processors_of(siblings)
    print(lines(comparison, len(siblings), processors), end="")
    if comparison.verdict in (Verdict.DIFFERENT, Verdict.UNBOUNDED):
        verdict = f"{comparison.verdict}: {why(comparison)}"
        raise HypersphereError(f"retrain: {name}: {verdict}")
    print(f"{name}: {comparison.verdict}")


def find(config: Config, name: str) -> Recorded:
    """Find the record that a name, or the beginning of a name, stands for: at the typed scale, or at any."""
    typed = config.overrides.keys() & Scale.model_fields.keys()
    scales = [config.scale_name] if typed else recorded_scales(config.root)
    folders = {scale: config.root / FOLDER / scale for scale in scales}
    recorded: dict[Recorded, None] = {}
    for scale, folder in folders.items():
        if (folder / "runs.csv").exists():
            rows = read_table(folder / "runs.csv", TABLES["runs"])
            recorded |= dict.fromkeys(Recorded(scale, row["name"]) for row in rows)
    shown = ", ".join(f"{FOLDER}/{scale}" for scale in scales)
    where = f"retrain: {shown or FOLDER}"
    if not recorded:
        raise HypersphereError(f"{where}: holds no record")
    # the whole name, else all but its digest, else any beginning
    for beginning in (f"{name}$", f"{name}-", name):
        matches = [one for one in recorded if f"{one.name}$".startswith(beginning)]
        if matches:
            break
    else:
        names = dict.fromkeys(one.name for one in recorded)
        raise HypersphereError(f"{where}: {not_one_of(name, names)}")
    if len(matches) > 1:
        number = len(matches)
        shown = ", ".join(one.name for one in matches[:LISTED])
        more = f" and {number - LISTED} more" if number > LISTED else ""
        raise HypersphereError(f"{where}: '{name}' begins {number} names: {shown}{more}; name one")
    return matches[0]


def alone(plan: Plan, name: str, place: Path, device: str) -> Plan:
    """The plan of one run. Its results and records go to ``place``, which has links to the project's data and config.

    The run trains on the record's kind of device, unless another was typed.
    """
    cells = []
    for cell in plan.cells:
        if cell.run is not None and cell.run.name == name:
            cells.append(cell)
    config = plan.config
    with files.writing(place):
        place.mkdir(parents=True, exist_ok=True)
        for folder in ("config", "data"):
            if not (place / folder).exists():
                (place / folder).symlink_to(config.root / folder)
    changed = {} if "device" in config.overrides else {"device": device}
    elsewhere = {"root": place, "settings": config.settings.model_copy(update=changed)}
    return replace(plan, config=config.model_copy(update=elsewhere), cells=tuple(cells))


def lines(comparison: Comparison, seeds: int, processors: int) -> str:
    """The lines on a comparison: its numbers, those that differ most first, their bound, and what else differs."""
    numbers = [in_words(number) for number in comparison.numbers]
    text = fill(
        "retrain.txt",
        comparison=comparison,
        shown=numbers[:LISTED],
        others=len(numbers[LISTED:]),
        confidence=f"{retrained.CONFIDENCE:.0%}",
        seeds=seeds,
        processors=processors,
    )
    return f"{text}\n" if text else ""


def in_words(number: Number) -> str:
    """A number as it was recorded and now, with its bound."""
    values = (number.recorded, number.again)
    recorded, again = ("none" if value is None else f"{value:.6g}" for value in values)
    if recorded == again:
        return f"{number.words}: {again}, as recorded"
    difference = f"difference {number.difference:.3g}"
    limit = "no bound" if number.within is None else f"bound {number.bound:.3g}"
    return f"{number.words}: {again}, recorded {recorded} ({difference}, {limit})"


def why(comparison: Comparison) -> str:
    """Why the new run is not what the record says, in one sentence."""
    recorded, now = comparison.statuses
    if recorded != now:
        return f"the recorded run {recorded}, and now it {now}"
    if outside := [number for number in comparison.numbers if number.within is False]:
        numbers = count_of(len(comparison.numbers), "number")
        whole = f"{len(outside)} of {numbers}"
        return f"{whole} beyond the bound; {in_words(outside[0])}"
    files_differ = f"{', '.join(comparison.files)}: other bytes"
    if comparison.verdict is Verdict.UNBOUNDED:
        return f"{files_differ}, and no other seed of the run is recorded, so that nothing bounds the noise"
    return f"{files_differ}, though code, data, device and machine are the record's, which promises equal bytes"
