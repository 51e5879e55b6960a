"""Jobs that prepare several datasets: each fails, is damaged, is current and is made again for itself alone."""

from pathlib import Path
from typing import Any

import pytest

from hypersphere import files
from hypersphere.command import preparation
from hypersphere.config import plan as planning
from hypersphere.config import registry
from hypersphere.config.plan import Plan
from hypersphere.config.run import Dataset
from hypersphere.errors import HypersphereError
from hypersphere.file_names import MANIFEST
from hypersphere.provenance import digests, markers

from ...golden.released import released


@pytest.fixture
def together(project_root: Path) -> Plan:
    """A plan of which one job prepares all datasets; nothing is prepared."""
    plan = planning.make(project_root, {"datasets_per_job": 16})
    assert list(plan.prepared_together) == ["digits-1"]
    assert len(plan.datasets) == 2
    return plan


def times(plan: Plan) -> dict[str, int | None]:
    """When each dataset was prepared, by name; None: it is not."""
    found = {name: plan.data_folder(dataset) / MANIFEST for name, dataset in plan.datasets.items()}
    return {
        name: path.stat().st_mtime_ns if path.exists() else None for name, path in found.items()
    }


def test_the_jobs_of_a_scale_share_out_its_datasets_by_source_and_a_new_one_renames_no_job() -> (
    None
):
    plan = released("quick")
    jobs = plan.prepared_together
    assert sorted(one.name for job in jobs.values() for one in job) == sorted(plan.datasets)
    assert len(jobs) < len(plan.datasets) / 3
    for job, datasets in jobs.items():
        assert {one.source.name for one in datasets if one.source} == {job.rpartition("-")[0]}
        for one in datasets:
            assert plan.preparing([one.name]) == [job]
    assert plan.preparing(plan.datasets) == sorted(jobs)
    alone = released("smoke")  # which downloads: one each
    assert {
        job: [one.folder for one in several] for job, several in alone.prepared_together.items()
    } == {one.folder: [one.folder] for one in alone.datasets.values()}


def test_one_that_fails_loses_itself_alone_and_is_tried_again(
    together: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, whole = together.datasets["turned"], together.datasets["upright"]
    load = registry.load

    def failing(kind: Any, name: str) -> Any:
        def source(*place: Any, **parameters: Any) -> Any:
            if parameters.get("task") == "turned":
                raise HypersphereError("turned: cannot be fetched")
            return load(kind, name)(*place, **parameters)

        return source

    monkeypatch.setattr(registry, "load", failing)
    preparation.together(together, "digits-1")
    marker = together.prepared_marker("digits-1")
    content = files.read_sealed(marker)
    assert content["datasets"].keys() == {whole.folder}
    assert content["failed"] == {broken.folder: "turned: cannot be fetched"}
    (error,) = markers.damage(together)
    assert (str(error), error.proofs) == ("turned: cannot be fetched", (marker,))
    before = times(together)
    monkeypatch.undo()
    preparation.together(together, "digits-1")
    assert markers.damage(together) == []
    assert times(together)["upright"] == before["upright"]
    assert times(together)["turned"] is not None


def test_a_job_of_which_all_fail_fails_and_leaves_no_marker(
    together: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*place: Any, **parameters: Any) -> Any:
        raise HypersphereError("no network")

    monkeypatch.setattr(registry, "load", lambda kind, name: failing)
    with pytest.raises(HypersphereError, match="no network"):
        preparation.together(together, "digits-1")
    assert not together.prepared_marker("digits-1").exists()


def test_only_what_is_damaged_or_of_other_code_is_prepared_again(
    together: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    preparation.together(together, "digits-1")
    before = times(together)
    preparation.together(together, "digits-1")
    assert times(together) == before
    array = together.data_folder(together.datasets["turned"]) / "train" / "images.npy"
    array.unlink()
    (error,) = markers.damage(together)
    assert str(array) in str(error)
    preparation.together(together, "digits-1")
    mended = times(together)
    assert {name for name in before if before[name] != mended[name]} == {"turned"}
    of_code = digests.dataset_digest

    def edited(dataset: Dataset) -> str:
        return "other" if dataset.name == "upright" else of_code(dataset)

    monkeypatch.setattr(digests, "dataset_digest", edited)
    preparation.together(together, "digits-1")
    after = times(together)
    assert {name for name in mended if mended[name] != after[name]} == {"upright"}
    assert markers.damage(together) == []
