"""Whole plans as text: cells, controls and comparisons, runs and who set what in them, batches and jobs.

plans.yaml has the projects and plans.txt their plans. All have in common, however they are configured: each run once,
in one batch.
"""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pytest
import yaml

from hypersphere import files
from hypersphere.config import plan as planning
from hypersphere.config.cells import LEFT_OUT, Cell, confirms
from hypersphere.config.coordinates import text
from hypersphere.config.plan import Plan, check_sizes
from hypersphere.config.run import Run

from ...fixtures import Planned, Project, Refused
from ...golden.released import ROOT, released

PLANS: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("plans.yaml").read_text(encoding="utf-8")
)
del PLANS["parts"]
FILE_OF_PLANS = Path(__file__).with_name("plans.txt")
"""What each project plans, by its name; ``APPROVE=1 pytest -n 0`` writes it anew."""
EXPECTED: dict[str, list[str]] = {}
for _block in FILE_OF_PLANS.read_text(encoding="utf-8").strip().split("\n\n"):
    _name, *_lines = _block.split("\n  ")
    EXPECTED[_name] = _lines
APPROVE = bool(os.environ.get("APPROVE"))
USUAL = {"run", "methods.simclr", "methods.simsiam", "default"}
"""What sets most fields of a run; these are not written."""
FILE = re.compile(r"\S+: ")


def listed(words: Iterable[object]) -> str:
    return ", ".join(map(str, words))


def numbered(plan: Plan) -> dict[str, str]:
    """A name for each run of a plan, without its seed and digest: ``simclr1``."""
    runs = [cell.run for cell in plan.cells if cell.run]
    alike = list(dict.fromkeys(run.model_dump_json(exclude={"seed"}) for run in runs))
    return {
        run.name: f"{run.method.name}{alike.index(run.model_dump_json(exclude={'seed'})) + 1}"
        for run in runs
    }


def of_cells(cells: list[Cell], numbers: dict[str, str]) -> Iterator[str]:
    """A line for each cell, of all its seeds."""

    def line(cell: Cell) -> str:
        run = f"{numbers[cell.run.name]} of {cell.run.dataset.name}" if cell.run else "no run"
        last = cell.run is not None and cell.epoch == cell.run.schedule.epochs
        epoch = f"{'last ' if last else ''}epoch {cell.epoch}"
        how = f"{run}, {epoch}, on {cell.target and cell.target.name} by {cell.protocol}"
        return f"{cell.text}: {cell.missing or how}"

    for said, same in groupby(cells, key=line):
        seeds = [cell.run.seed for cell in same if cell.run]
        yield f"{said}, seeds {listed(seeds)}" if seeds else said


def of_run(plan: Plan, run: Run) -> str:
    """What is special in a run, and what is asked of it."""
    fields = []
    for path, value, places in plan.explain(run.name):
        where = FILE.sub("", places)
        if where not in USUAL and path not in ("dataset", "seed"):  # that their names say
            fields.append(f"{path}={value} ({where})")
    for one in plan.evaluations[run.name].values():
        places = listed(f"{epoch} {dataset}" for epoch, dataset in sorted(one.at))
        fields.append(
            f"{one.protocol.probe.name}({text(one.protocol.probe.parameters)}) at {places}"
        )
    shown = [cell for cell in plan.cells if cell.run and cell.run.name == run.name]
    studies = {named for cell in shown for named in confirms(cell, plan.config)}
    study = [f"plan {named.rpartition('=')[0]}" for named in sorted(studies)]
    return "; ".join([*fields, f"kept {listed(plan.kept_epochs(run)) or 'nothing'}", *study])


def written(plan: Plan) -> Iterator[str]:
    """The lines of a plan: jobs of several artifacts, and data that more or less than one protocol asks for.

    Of a plan with a study its cells, comparisons and runs alone.
    """
    numbers, studies = numbered(plan), plan.config.papers["p"].studies
    for (paper, artifact), cells in plan.artifacts.items():
        shown = [*cells, *plan.controls[paper, artifact]]
        if studies:
            shown = [cell for cell in cells if cell.missing != LEFT_OUT]
        yield from (f"{artifact}: {line}" for line in of_cells(shown, numbers))
        declared = plan.config.papers[paper].measured[artifact]
        for point, other in declared.comparisons:
            changed = {key: value for key, value in other.items() if point.get(key) != value}
            yield f"{artifact}: {text(point)} against {text(changed)}, {declared.test}"
    yield from dict.fromkeys(
        f"{numbers[run.name]}: {of_run(plan, run)}" for run in plan.runs.values()
    )
    if studies:
        return
    for batch in plan.batches:
        yield f"batch {batch.id[:-9]}: {listed(f'{numbers[run.name]}/{run.seed}' for run in batch.runs)}"
    for job, artifacts in plan.drawn_together.items():
        if len(artifacts) > 1:
            yield f"job {job}: {listed(map('/'.join, artifacts))}"
    pixels = {
        name: len(asked) for name, asked in plan.protocols_of_pixels(plan.runs.values()).items()
    }
    if pixels != dict.fromkeys(plan.datasets, 1):
        yield f"data: {listed(plan.datasets)}; protocols of raw pixels {pixels}"


def check_batches(plan: Plan) -> None:
    """Each run is in one batch of its own name, and an artifact waits for the batches of its runs alone."""
    batched = chain.from_iterable(batch.runs for batch in plan.batches)
    assert sorted(run.name for run in batched) == sorted(plan.runs)
    assert len({batch.id for batch in plan.batches}) == len(plan.batches)
    for batch in plan.batches:
        assert {plan.batch_of[run.name].id for run in batch.runs} == {batch.id}
    for key in plan.made_artifacts:
        waits = [{run.name for run in batch.runs} for batch in plan.batches_of(*key)]
        assert plan.runs_of(*key).keys() <= set().union(*waits)
        assert all(names & plan.runs_of(*key).keys() for names in waits)


@pytest.mark.parametrize("name", PLANS)
def test_plan(project: Project, name: str) -> None:
    changes = dict(PLANS[name])
    command, texts = changes.pop("command", {}), changes.pop("files", {})
    root = project(**changes)
    for file, content in texts.items():
        files.write_text(root / file, content)
    plan = planning.make(root, command)
    if APPROVE:
        EXPECTED[name] = [*written(plan)]
        blocks = ["\n  ".join((one, *EXPECTED[one])) + "\n" for one in PLANS]
        files.write_text(FILE_OF_PLANS, "\n".join(blocks))
    assert [*written(plan)] == EXPECTED[name]
    check_batches(plan)


def test_every_plan_is_of_a_project_that_is_there() -> None:
    assert [*EXPECTED] == [*PLANS]


@pytest.mark.parametrize(
    ("size", "jobs"), [(1, [1] * 12), (3, [2, 2, 3, 3, 2]), (4, [4, 4, 4]), (100, [12])]
)
def test_batches_hold_no_more_runs_than_they_may(
    project: Project, size: int, jobs: list[int]
) -> None:
    """Numbers of runs by hand, for two seeds: of cats one shared run of SimCLR, one more, two of SimSiam; two of dogs.

    One of SimSiam's four runs, which no job of three has room for, shares a job with those of dogs.
    """
    shared = PLANS["a run that several cells share is planned once"]
    plan = planning.make(project(**shared, scale={"runs_per_job": size}))
    assert [len(batch.runs) for batch in plan.batches] == jobs
    check_batches(plan)


SCALES = {path.stem for path in (ROOT / "config" / "scales").glob("*.yaml")}


@pytest.mark.parametrize("scale", sorted(SCALES - {"paper", "quick", "smoke", "workstation"}))
def test_the_released_config_is_planned_at_every_other_scale(scale: str) -> None:
    """Than those of which golden/test_run_names.py plans every run."""
    plan = released(scale)
    assert plan.made_artifacts
    check_batches(plan)


def test_two_papers_of_one_run_train_it_once_and_each_has_its_protocol(project: Project) -> None:
    """By two protocols where the second paper asks for fewer neighbours."""
    root = project()
    text = (root / "papers/p/paper.yaml").read_text().replace("paper: p\n", "paper: q\n")
    for k, asked in ((200, 1), (5, 2)):
        files.write_text(root / "papers/q/paper.yaml", text.replace("k: 200", f"k: {k}"))
        plan = planning.make(root)
        assert (len(plan.cells), len(plan.runs), {cell.missing for cell in plan.cells}) == (
            2 * 16,
            16,
            {""},
        )
        assert {len(protocols) for protocols in plan.evaluations.values() if protocols} == {asked}


PARTS = (
    "method",
    "objective",
    "logits",
    "gradient",
    "regulariser",
    "initialisation",
    "encoder",
    "optimiser",
)


def exercised(plan: Plan) -> set[tuple[str, ...]]:
    """What making a plan's artifacts exercises: kinds, probes, measures, datasets, and the parts of runs."""
    found: set[tuple[str, ...]] = set()
    for paper, name in plan.made_artifacts:
        found.add(("draw", paper, name))
        for cell in plan.artifacts[paper, name]:
            if cell.run is not None and not cell.missing:
                found |= {
                    ("measure", cell.measure),
                    ("probe", paper, cell.protocol),
                    ("kind", cell.run.kind),
                }
                found |= {
                    (part, one.name)
                    for part in PARTS
                    if (one := getattr(cell.run, part)) is not None
                }
                found |= {
                    ("dataset", one.source.name)
                    for one in (cell.run.dataset, cell.target)
                    if one and one.source
                }
    return found


def test_quick_exercises_all_that_it_would_with_every_value() -> None:
    quick, every = released("quick"), planning.make(ROOT, {"most_values": 1000})
    assert exercised(quick) == exercised(every)
    assert len(quick.runs) < len(every.runs) / 2


@pytest.mark.parametrize("epoch", [{}, {"epoch": 100}])
@pytest.mark.parametrize(
    ("again", "field"),
    [
        ({"variant": "baseline"}, {"objective.temperature": 1}),  # where the variant writes 1.0
        # a default written out
        ({"variant": "baseline"}, {"objective.temperature": 1.0, "optimiser.momentum": 0.9}),
        ({"variant": "hot"}, {"schedule.epochs": 100}),
    ],
)
@pytest.mark.parametrize("shrunk", ["published", 10])
def test_one_thing_described_twice_is_shown_twice(
    planned: Planned,
    again: dict[str, Any],
    field: dict[str, Any],
    epoch: dict[str, Any],
    shrunk: Any,
) -> None:
    shared = {"draw": "table", "title": "A table", "measure": "knn_top1"}
    shared["columns"] = {"method": "simclr", "dataset": "cats"}
    one, two = ({**shared, "rows": rows} for rows in ({"variant": "hot"}, again | field | epoch))
    paper = {"artifacts.table": "(removed)", "artifacts.one": one, "artifacts.two": two}
    plan = planned(paper=paper, scale={"seeds": [0], "epochs": shrunk})
    assert [cell.missing for cell in plan.cells] == ["", ""]
    assert len(plan.runs) == 1


def test_a_job_has_runs_of_the_same_papers_alone(project: Project) -> None:
    root = project(scale={"runs_per_job": 100})
    other = yaml.safe_load((root / "papers/p/paper.yaml").read_text()) | {"paper": "q"}
    other["artifacts"]["table"]["rows"] = {"method": ["simclr"], "variant": ["baseline", "hot"]}
    files.write_text(root / "papers/q/paper.yaml", yaml.safe_dump(other))
    plan = planning.make(root)
    shown = {
        run: "".join(paper for paper in "pq" if run in plan.runs_of(paper, "table"))
        for run in plan.runs
    }
    assert [{shown[run.name] for run in batch.runs} for batch in plan.batches] == [
        {"pq"},
        {"p"},
        {"q"},
    ]


def test_a_batch_is_named_by_its_runs(planned: Planned) -> None:
    def batches(**scale: Any) -> dict[str, list[str]]:
        return {
            batch.id: [run.name for run in batch.runs] for batch in planned(scale=scale).batches
        }

    before = batches()
    assert (
        batches(threads=2, describe="other", resources={"mem_mb": 1, "runtime": 1, "gpu": 0})
        == before
    )
    assert not before.keys() & batches(seeds=[2, 3]).keys()


def test_a_batch_larger_than_the_dataset_and_more_neighbours_than_the_bank(
    project_root: Path, refused: Refused
) -> None:
    plan = planning.make(project_root)
    check_sizes(plan)  # nothing is prepared, so nothing is known
    largest = max(run.batch.size for run in plan.runs.values() if run.dataset.name == "upright")
    manifest = plan.data_folder(plan.datasets["upright"]) / "manifest.json"
    files.write_json(manifest, {"splits": {"train": {"images": largest}, "test": {"images": 1}}})
    check_sizes(plan)
    with refused("simclr-default-upright-s0-…", "probe knn"):
        check_sizes(planning.make(project_root, {"probes": {"knn": {"k": largest + 1}}}))
    files.write_json(
        manifest, {"splits": {"train": {"images": largest - 1}, "test": {"images": 1}}}
    )
    with refused("run simsiam-default-upright-s0-…"):
        check_sizes(plan)
    check_sizes(plan, ["turned"])  # asked about another one


SPLITS: dict[str, tuple[list[str], bool]] = {
    "as asked for": (["train", "test"], True),
    "more than asked for": (["train", "test", "val", "probe"], True),
    "as ImageNet's": (["train", "val"], False),
    "training images alone": (["train"], False),
    "other words": (["training", "testing"], False),
    "other cases": (["Train", "Test"], False),
    "classes alone": (["cat", "dog"], False),
    "hidden": (["train", ".test"], False),
}


@pytest.mark.parametrize("case", SPLITS)
@pytest.mark.parametrize("prepared", [False, True])
def test_a_plan_looks_at_splits_before_and_after_they_are_prepared(
    project: Project, refused: Refused, case: str, prepared: bool
) -> None:
    """A folder of one's own tells before; of others, and where it is gone, the manifest tells."""
    splits, fits = SPLITS[case]
    plan = planning.make(
        project(datasets={"cats": {"source": {"name": "folder", "path": "my/cats", "size": 8}}})
    )
    check_sizes(plan)
    if prepared:
        manifest = plan.data_folder(plan.datasets["cats"]) / "manifest.json"
        files.write_json(manifest, {"splits": {name: {"images": 1000} for name in splits}})
    else:
        for name in splits:
            (plan.config.downloads / "my" / "cats" / name / "cat").mkdir(parents=True)
    if fits:
        check_sizes(plan)
    else:
        with refused("dataset cats"):
            check_sizes(plan)
    check_sizes(plan, ["dogs"])  # asked about another one


def test_a_folder_that_was_mended_is_believed_before_its_old_copy(project: Project) -> None:
    plan = planning.make(
        project(datasets={"cats": {"source": {"name": "folder", "path": "cats", "size": 8}}})
    )
    files.write_json(
        plan.data_folder(plan.datasets["cats"]) / "manifest.json",
        {"splits": {"train": {}, "val": {}}},
    )
    for name in ("train", "test"):
        (plan.config.downloads / "cats" / name).mkdir(parents=True)
    check_sizes(plan)


def test_the_digest_may_be_left_out_where_one_name_begins_so(planned: Planned) -> None:
    plan = planned(scale={"seeds": [1, 10]})
    assert all(plan.run(name) is plan.run(name[:-9]) is run for name, run in plan.runs.items())


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("simclr-cut3-cats", "run 'simclr-cut3-cats'"),
        ("simclr-cut3-cats-s", "no run 'simclr-cut3-cats-s'"),
        ("x", "no run 'x'"),
        ("simclr-cut3-birds", "run 'simclr-cut3-birds-s0-…'"),
        ("simsiam", "run 'simsiam'"),
    ],
)
def test_what_is_not_one_name_is_a_sentence(
    planned: Planned, refused: Refused, name: str, subject: str
) -> None:
    """Of many that begin so, a few are listed; one that nothing can measure has its reason."""
    plan = planned(paper={"artifacts.table.columns.dataset": ["cats", "birds"]})
    with refused(subject):
        plan.run(name)
