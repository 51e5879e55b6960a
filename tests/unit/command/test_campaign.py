"""A campaign takes the most telling runs first, packs what is finished, and loses nothing when time is over."""

import shutil
from pathlib import Path

import pytest
import yaml
from filelock import FileLock, Timeout

from hypersphere.command import campaign
from hypersphere.config import plan as planning
from hypersphere.config import records
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.probes import evaluate

LAPTOP = {"scale": "laptop"}


@pytest.fixture
def root(laptop_root: Path, finished: Path) -> Path:
    """The project with finished runs of the scale ``laptop``, and its data."""
    shutil.copytree(finished / "data", laptop_root / "data", dirs_exist_ok=True)
    return laptop_root


@pytest.fixture
def plan(root: Path) -> Plan:
    return planning.make(root, LAPTOP)


def artifacts_of(plan: Plan, runs: list[str]) -> list[set[str]]:
    """The artifacts that show each run."""
    return [{name for paper, name in plan.made if run in plan.runs_of(paper, name)} for run in runs]


def test_every_pending_run_comes_once(plan: Plan) -> None:
    names = [run.name for run in campaign.pending(plan)]
    assert sorted(names) == sorted(plan.runs)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("telling", ["upright", "turned"])
def test_the_artifact_with_more_claims_for_its_epochs_comes_first(
    root: Path, monkeypatch: pytest.MonkeyPatch, telling: str
) -> None:
    """Table 5 is cut into a table of each dataset; one of them has claims."""
    file = root / "config" / "papers" / "embedding_norms.yaml"
    paper = yaml.safe_load(file.read_text())
    whole = paper["artifacts"]["table5"]
    paper["artifacts"] = {
        name: {**whole, "columns": {"dataset": [dataset]}}
        for name, dataset in (("upright", "cifar10_lt"), ("turned", "cifar100_lt"))
    }
    file.write_text(yaml.safe_dump(paper))
    for scale in (root / "config" / "scales").glob("*.yaml"):
        fields = yaml.safe_load(scale.read_text())
        fields.pop("leaves_out", None)
        scale.write_text(yaml.safe_dump(fields))
    plan = planning.make(root, LAPTOP | {"only": ["embedding_norms"]})
    monkeypatch.setattr(campaign, "_claims", lambda plan: {("embedding_norms", telling): 7})
    datasets = [run.dataset.name for run in campaign.pending(plan)]
    assert datasets == sorted(datasets, key=lambda name: name != telling)
    assert set(datasets) == {"upright", "turned"}


def test_a_cell_gets_its_first_seed_before_another_gets_its_second(plan: Plan) -> None:
    runs = campaign.pending(plan)
    shown = artifacts_of(plan, [run.name for run in runs])
    seeds = [run.seed for run, names in zip(runs, shown, strict=True) if "table5" in names]
    assert seeds == sorted(seeds)
    assert len(seeds) > 1


def test_only_restricts_it(root: Path) -> None:
    plan = planning.make(root, LAPTOP | {"only": ["embedding_norms/table5"]})
    assert {run.name for run in campaign.pending(plan)} == plan.runs_of("embedding_norms", "table5").keys()


def test_finished_runs_are_packed_and_not_taken_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planning.make(root, LAPTOP)
    done = list(plan.batches[0].runs[:2])
    monkeypatch.setattr(campaign, "pending", lambda plan, part: done)
    campaign.run(plan, LAPTOP, minutes=10, jobs=1)
    known = records.read_all(plan.config.evidence)
    assert known.keys() == {run.name for run in done}
    assert "already finished" in (root / "logs" / "laptop" / "campaign" / f"{done[0].name}.log").read_text()
    monkeypatch.undo()
    assert not known.keys() & {run.name for run in campaign.pending(plan)}
    assert len(campaign.pending(plan)) == len(plan.runs) - 2


def test_time_that_is_over_packs_nothing_and_fails_nothing(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    campaign.run(plan, LAPTOP, minutes=0.001, jobs=1)
    assert "0 runs packed" in capsys.readouterr().out
    assert not plan.config.evidence.exists()


def test_a_run_that_fails_is_named_and_the_others_are_packed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planning.make(root, LAPTOP)
    runs = list(plan.batches[0].runs[:2])
    table = next((plan.config.results / "evaluations" / runs[0].name).glob("*.json"))
    table.unlink()
    table.mkdir()  # it cannot be replaced
    monkeypatch.setattr(campaign, "pending", lambda plan, part: runs)
    with pytest.raises(HypersphereError, match=f"campaign: failed: {runs[0].name}; their logs say why"):
        campaign.run(plan, LAPTOP, minutes=10, jobs=2)
    assert records.read_all(plan.config.evidence).keys() == {runs[1].name}


def test_raw_pixels_are_measured_by_one_process_at_a_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of one dataset share their measurement, which a process that makes it again would take from the others."""
    plan, measured = planning.make(root, LAPTOP), []

    def measure(plan: Plan, dataset: str) -> None:
        other = FileLock(plan.config.results / "evaluations" / f".pixels-{dataset}.lock")
        with pytest.raises(Timeout):
            other.acquire(timeout=0)
        measured.append(dataset)

    monkeypatch.setattr(evaluate, "evaluate_pixels", measure)
    campaign._complete(plan, plan.batches[0].runs[0].name)
    assert measured == ["turned", "upright"]  # it transfers to the other


@pytest.mark.parametrize("count", [2, 3, 7])
def test_parts_share_no_run_and_are_everything_together(plan: Plan, count: int) -> None:
    parts = [[run.name for run in campaign.pending(plan, (number, count))] for number in range(1, count + 1)]
    assert sorted(name for part in parts for name in part) == sorted(plan.runs)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    order = [run.name for run in campaign.pending(plan)]
    assert all(part == [name for name in order if name in part] for part in parts)


def test_a_part_stays_the_same_while_others_finish_their_runs(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of a job array start one after another; later ones find records of the earlier ones' runs."""
    before = [run.name for run in campaign.pending(plan, (2, 2))]
    done = campaign.pending(plan, (1, 2))[0].name
    monkeypatch.setattr(campaign, "_is_recorded", lambda plan, run, known: bool(known) and run.name == done)
    monkeypatch.setattr(records, "read_all", lambda folder, expected: {done: {}})
    assert [run.name for run in campaign.pending(plan, (2, 2))] == before
    assert done not in [run.name for run in campaign.pending(plan)]  # the control: there is one run less


@pytest.mark.parametrize("text", ["", "2", "0/8", "9/8", "1/0", "a/b", "1/2/3", "-1/2", "1 /2"])
def test_a_part_that_is_none(text: str) -> None:
    with pytest.raises(HypersphereError) as caught:
        campaign.part(text)
    assert str(caught.value) == f"campaign: --part: must be K/N with K from 1 to N, such as 2/8 (given: '{text}')"
    assert campaign.part("2/8") == (2, 8)
