"""Snapshots of trained runs: no change of what the plan asks for loses one, whatever it is trained again for."""

import pytest

from hypersphere import files
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.provenance import digests
from hypersphere.training import loop
from hypersphere.training import pretrain as training
from hypersphere.training.weights import snapshot_names

from .conftest import contents, keeping
from .test_snapshots import epochs, files_of

pytestmark = pytest.mark.heavy


def test_a_shorter_list_removes_nothing_and_trains_nothing(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_plan.run_folder(runs[0].name)
    training.pretrain(tiny_plan, runs[:1])
    before = contents(folder)
    assert epochs(folder) == [0, 2]
    monkeypatch.setattr(loop, "train", lambda *arguments: pytest.fail("trained again"))
    training.pretrain(keeping(tiny_plan), runs[:1])
    assert contents(folder) == before
    with pytest.raises(pytest.fail.Exception, match="trained again"):  # the control
        training.pretrain(keeping(tiny_plan, 1), runs[:1])


def test_a_longer_list_is_trained_again_and_what_it_no_longer_asks_for_is_made_again(
    tiny_plan: Plan, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Epoch 1 is new, 0 and 2 are off the list: the same run, in the same folder. Then its code changes too."""
    folder = tiny_plan.run_folder(runs[0].name)
    training.pretrain(tiny_plan, runs[:1])
    before = contents(folder)
    files.write_text(folder / snapshot_names(3)[0], "left over")
    training.pretrain(keeping(tiny_plan, 1), runs[:1])
    assert epochs(folder) == [0, 1, 2]
    new = {name: content for name, content in contents(folder).items() if name not in before}
    assert new.keys() == {*files_of(1)}
    assert contents(folder) == before | new
    (folder / "manifest.json").unlink()  # without it, what lies there counts
    monkeypatch.setattr(digests, "run_digest", lambda run: "other")
    training.pretrain(keeping(tiny_plan), runs[:1])
    assert epochs(folder) == [0, 1, 2]
    assert contents(folder) == before | new


def test_what_a_result_never_had_is_not_made(tiny_plan: Plan, runs: list[Run]) -> None:
    """The control of the test above; and what a caller asks for beside the list is."""
    training.pretrain(keeping(tiny_plan, 1), runs[:1])
    assert epochs(tiny_plan.run_folder(runs[0].name)) == [1]
    training.pretrain(keeping(tiny_plan, 1), runs[:1], also=[3])
    assert epochs(tiny_plan.run_folder(runs[0].name)) == [1, 3]
