"""Training: what a step is, equal bytes, resuming, divergence. Each promise beside a control that must fail."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, create_autospec

import numpy as np
import pandas as pd
import pytest
import torch

from hypersphere import prng
from hypersphere.augmentations.draws import draw
from hypersphere.augmentations.ops import make_views
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.methods.base import Batch
from hypersphere.methods.simclr import SimCLR
from hypersphere.training import loop, optimisation
from hypersphere.training.build import build_method
from hypersphere.training.loop import Execution
from hypersphere.training.trainers import image as module
from hypersphere.training.trainers.image import Views
from hypersphere.training.weights import ENCODER, HEADS, snapshot_names

from ...broken_off import contents
from ...of_images import METHODS
from .conftest import IMAGES, PIXELS, Images, execute, make_run, numbered, of_method

pytestmark = pytest.mark.heavy

CPU = torch.device("cpu")


def seen(run: Run, images: Images) -> Views:
    """Where an epoch's views come from."""
    source = Views(run, *images, CPU)
    source.start(0)
    return source


def test_an_image_has_the_same_views_in_a_part_of_a_dataset_as_in_the_whole() -> None:
    """Keys are original numbers: images 3, 4, … of the whole are given the whole's draws when they come alone."""
    part, run, all_of_it = np.arange(3, 19), make_run(), torch.arange(16)
    whole = seen(run, IMAGES).views(all_of_it + 3)
    assert torch.equal(seen(run, numbered(PIXELS[part], part)).views(all_of_it), whole)
    assert not torch.equal(seen(run, numbered(PIXELS[part])).views(all_of_it), whole)


def test_images_that_stay_on_disk_have_the_same_views(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A set above the limit is a memory-mapped file that nothing copies."""
    np.save(tmp_path / "images.npy", PIXELS)
    stored, index = np.load(tmp_path / "images.npy", mmap_mode="r"), torch.tensor([7, 0, 18])
    expected = seen(make_run(), IMAGES).views(index)
    monkeypatch.setattr(module, "RESIDENT", PIXELS.nbytes - 1)
    source = seen(make_run(), numbered(stored))
    assert source.resident is None
    assert source.stored is stored
    assert torch.equal(source.views(index), expected)


@pytest.mark.trained
@pytest.mark.parametrize("accumulate", ["mean", "sum"])
@pytest.mark.parametrize("method", ["simclr", "simsiam"])
def test_accumulated_gradient_is_the_mean_or_the_sum_of_the_passes(
    method: str, accumulate: str
) -> None:
    """Against a loop that takes each pass's gradient by itself; loss and norm are means either way.

    Of a step over sixteen images, the last first, at rate 0.
    """
    run = make_run(method, batch={"size": 16, "micro": 4, "accumulate": accumulate})
    model, reference = build_method(run).train(), build_method(run).train()
    source, index, execution = (
        seen(run, IMAGES),
        torch.arange(16).flip(0),
        Execution(CPU, frozenset(), {}),
    )
    optimiser, passes = (
        optimisation.build(model, run.optimiser),
        loop.passes_of(source, [index], 0, 4),
    )
    mean, _ = loop._step(run, model, optimiser, passes, index, source.labels, (0, 0, 0), execution)
    loss, norm = mean.tolist()

    data, draws = torch.from_numpy(PIXELS), draw(run.branches, 19, 8, 0, 0)
    outputs = []
    for number, part in enumerate(index.split(4)):
        views = make_views(data[part], draws.take(part), run.branches)
        outputs.append(reference(Batch(views, part, part % 3, (0, 0, 0, number))))
    each = [torch.autograd.grad(output.loss, list(reference.parameters())) for output in outputs]
    for parameter, *gradients in zip(model.parameters(), *each, strict=True):
        assert parameter.grad is not None
        expected = torch.stack(gradients).mean(dim=0) * (4 if accumulate == "sum" else 1)
        torch.testing.assert_close(parameter.grad, expected, atol=4e-6, rtol=1e-4)
    assert loss == pytest.approx(np.mean([output.loss.item() for output in outputs]), abs=1e-6)
    norms = [np.linalg.norm(output.embeddings.numpy(), axis=1).mean() for output in outputs]
    assert norm == pytest.approx(np.mean(norms), rel=1e-5)


def test_an_epoch_is_whole_batches_in_keyed_order_at_annealed_rates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """19 images, batches of 8: two steps of two passes, and three images are left out; the peak is 1.0 · 8/256.

    The method is told places, labels, each pass's moment, and the share of training done before and after each step.
    """
    rates: list[float] = []
    shares: list[tuple[float, float]] = []
    forward, set_rate = (
        create_autospec(SimCLR.forward, side_effect=SimCLR.forward),
        optimisation.set_rate,
    )

    def setting(optimiser: torch.optim.Optimizer, peak: float, fraction: float) -> None:
        set_rate(optimiser, peak, fraction)
        rates.append(optimiser.param_groups[0]["lr"])

    monkeypatch.setattr(SimCLR, "forward", forward)
    monkeypatch.setattr(SimCLR, "after_step", lambda self, *share: shares.append(share))
    monkeypatch.setattr(optimisation, "set_rate", setting)
    run = make_run(schedule={"counted_in": "passes"}, seed=5)
    execute(run, IMAGES, tmp_path)
    seen: list[Batch] = [call.args[1] for call in forward.call_args_list]
    places = torch.stack([batch.places for batch in seen])
    orders = [prng.permutation(19, 5, "order", epoch)[:16] for epoch in range(4)]
    assert places.flatten().tolist() == np.concatenate(orders).tolist()
    assert torch.equal(torch.stack([batch.labels for batch in seen]), places % 3)
    assert [batch.rng_key for batch in seen] == [
        (5, e, i, k) for e in range(4) for i in range(2) for k in range(2)
    ]
    assert {batch.views.shape for batch in seen} == {(2, 4, 3, 8, 8)}
    assert shares == [(step / 8, (step + 1) / 8) for step in range(8)]
    assert rates == pytest.approx(
        [optimisation.fraction_of_peak(run.schedule, k, 2, 2) * 8 / 256 for k in range(8)]
    )
    history = pd.read_csv(tmp_path / "history.csv")
    assert list(history) == ["epoch", "loss", "norm", "learning_rate"]
    assert history.epoch.tolist() == [1, 2, 3, 4]
    assert history.learning_rate.tolist() == rates[1::2]


def test_views_made_for_several_passes_at_once_train_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four passes of four images an epoch. The two views of one image, at 8 px, take 1,536 bytes."""
    spy = Mock(wraps=make_views)
    monkeypatch.setattr(module, "make_views", spy)
    for together in (0, 3, 100):
        monkeypatch.setattr(module, "CHUNK_BYTES", together * 4 * 1536)
        execute(make_run(), IMAGES, tmp_path / str(together))
    assert [len(call.args[0]) for call in spy.call_args_list] == [4] * 16 + [12, 4] * 4 + [16] * 4
    assert contents(tmp_path / "0") == contents(tmp_path / "3") == contents(tmp_path / "100")


@pytest.mark.parametrize("method", METHODS)
def test_a_shorter_run_of_a_schedule_is_the_beginning_of_the_longer(
    methods_plan: Plan, tmp_path: Path, method: str
) -> None:
    """Five of twenty epochs: rates and momenta follow the schedule, not its end, in every method."""
    run, data = of_method(methods_plan, method)
    fields, found = run.model_dump(), []
    for epochs in (20, 5):
        schedule = fields["schedule"] | {"epochs": epochs, "horizon": 20}
        folder = tmp_path / str(epochs)
        execute(
            Run.model_validate(fields | {"schedule": schedule}),
            data,
            folder,
            snapshots=frozenset({5}),
        )
        found.append(contents(folder))
    longer, shorter = found
    assert [longer[name] for name in snapshot_names(5)] == [
        shorter[name] for name in (ENCODER, HEADS)
    ]
    assert longer["history.csv"].splitlines()[:6] == shorter["history.csv"].splitlines()


def test_it_trains_on_the_training_split_and_on_the_labels_that_its_method_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever else there is; and on the images' original numbers."""
    monkeypatch.setattr(loop, "train", lambda run, views, *rest: views)
    named = {"class": np.array([0, 11]), "digit_2": np.array([0, 10])}
    splits = {"train": SimpleNamespace(images=PIXELS[:2], labels=named, index=np.array([7, 10]))}
    data: Any = SimpleNamespace(split=splits.__getitem__)
    for labels, expected in (({}, [0, 11]), ({"labels": "digit_2"}, [0, 10])):
        run = make_run(method={"name": "supervised", **labels}, objective={"name": "cross_entropy"})
        found: Any = module.pretrain(run, data, Execution(CPU, frozenset(), {}), tmp_path)
        assert torch.equal(found.resident, torch.tensor(PIXELS[:2]))
        assert found.numbers.tolist() == [7, 10]
        assert found.labels.tolist() == expected


def test_another_run_other_bytes(tmp_path: Path) -> None:
    """Each of these fields reaches training."""
    changes: list[dict[str, Any]] = [
        {},
        {"seed": 1},
        {"optimiser": {"learning_rate": 1.0001}},
        {"objective": {"temperature": 0.51}},
        {"views": {"brightness": 0.41}},
        {"gradient": {"name": "grad_scale", "power": 1}},
    ]
    for number, change in enumerate(changes):
        execute(make_run(**change), IMAGES, tmp_path / str(number))
    found = [contents(tmp_path / str(number)) for number in range(len(changes))]
    assert (
        len({one["encoder.safetensors"] for one in found})
        == len({one["history.csv"] for one in found})
        == 6
    )


def test_draws_made_ahead_in_a_thread_are_those_of_their_epoch() -> None:
    """Also where training begins in a later epoch, as a resumed run does."""
    run = make_run("simclr")
    ahead, plain = seen(run, IMAGES), seen(run, IMAGES)
    ahead.ahead = ThreadPoolExecutor(max_workers=1)
    for epoch in (1, 2, 3, 1):
        ahead.start(epoch)
        plain.start(epoch)
        for one, other in zip(ahead.draws, plain.draws, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=0)
