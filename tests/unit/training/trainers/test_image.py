"""Training: what a step is, equal bytes, resuming, divergence. Each promise beside a control that must fail."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from jaxtyping import UInt8
from torch import Tensor

from hypersphere.augmentations.draws import draw
from hypersphere.augmentations.ops import make_views
from hypersphere.config.plan import Plan
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.datasets.store import Prepared
from hypersphere.methods.base import Batch, Method, Output
from hypersphere.methods.simclr import SimCLR
from hypersphere.training import loop, optimisation
from hypersphere.training.build import build_method
from hypersphere.training.loop import Execution, Outcome
from hypersphere.training.trainers import image as module
from hypersphere.training.trainers.image import Views, train, training_images
from hypersphere.training.weights import ENCODER, HEADS, snapshot_names

from ....of_images import METHODS
from ..conftest import SELDOM, numbered, of_method
from ..conftest import contents as result
from ..conftest import execute as saving

pytestmark = pytest.mark.heavy

CPU = torch.device("cpu")
Images = UInt8[np.ndarray, "n h w 3"]
MakeRun = Callable[..., Run]


def execute(run: Run, images: Images, folder: Path, **changes: Any) -> Outcome:
    """Train on the CPU; snapshots after 0 and 2 epochs unless said otherwise."""
    return saving(run, images, folder, **(SELDOM | changes))


CONTRACT = {
    "encoder.safetensors",
    "heads.safetensors",
    "history.csv",
    "snapshots/epoch-0000.heads.safetensors",
    "snapshots/epoch-0000.safetensors",
    "snapshots/epoch-0002.heads.safetensors",
    "snapshots/epoch-0002.safetensors",
}


def seen(run: Run, images: module.Images) -> Views:
    """Where an epoch's views come from."""
    source = Views(run, images, CPU)
    source.start(0)
    return source


def test_an_image_has_the_same_views_in_a_part_of_a_dataset_as_in_the_whole(make_run: MakeRun, images: Images) -> None:
    """Keys are original numbers: images 3, 4, … of the whole are given the whole's draws when they come alone."""
    part, run, all_of_it = np.arange(3, 19), make_run(), torch.arange(16)
    whole = seen(run, numbered(images)).views(torch.from_numpy(part))
    assert torch.equal(seen(run, numbered(images[part], part)).views(all_of_it), whole)
    assert not torch.equal(seen(run, numbered(images[part])).views(all_of_it), whole)


def test_images_that_stay_on_disk_have_the_same_views(
    make_run: MakeRun, images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A set above the limit is a memory-mapped file that nothing copies."""
    np.save(tmp_path / "images.npy", images)
    stored, index = np.load(tmp_path / "images.npy", mmap_mode="r"), torch.tensor([7, 0, 18])
    expected = seen(make_run(), numbered(images)).views(index)
    monkeypatch.setattr(module, "RESIDENT", images.nbytes - 1)
    source = seen(make_run(), numbered(stored))
    assert source.resident is None
    assert source.stored is stored
    assert torch.equal(source.views(index), expected)


# What a step is


def one_step(run: Run, model: Method, images: Images) -> tuple[float, float]:
    """Loss and norm of a step over sixteen images, last first, at rate 0; the gradients are left in ``model``."""
    source, execution = seen(run, numbered(images)), Execution(CPU, frozenset(), {})
    optimiser, index = optimisation.build(model, run.optimiser), torch.arange(16).flip(0)
    views = loop.passes_of(source, [index], 0, run.batch.micro)
    loss, norm = loop._step(run, model.train(), optimiser, views, index, source.labels, (0, 0, 0), execution).tolist()
    return loss, norm


@pytest.mark.trained
@pytest.mark.parametrize("accumulate", ["mean", "sum"])
@pytest.mark.parametrize("method", ["simclr", "simsiam"])
def test_accumulated_gradient_is_the_mean_or_the_sum_of_the_passes(
    make_run: MakeRun, images: Images, method: str, accumulate: str
) -> None:
    """Against a loop that takes each pass's gradient by itself; loss and norm are means either way."""
    run = make_run(method, batch={"size": 16, "micro": 4, "accumulate": accumulate})
    model = build_method(run)
    reference = copy.deepcopy(model).train()
    loss, norm = one_step(run, model, images)

    data, draws = torch.from_numpy(images), draw(run.branches, 19, 8, 0, 0)
    outputs = []
    for number, part in enumerate(torch.arange(16).flip(0).split(4)):
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


def test_a_method_is_told_what_it_sees_and_when(
    make_run: MakeRun, images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places, labels, the moment of each pass, and the share of training done before and after each step."""
    seen: list[Batch] = []
    counts: list[int] = []
    shares: list[tuple[float, float]] = []
    forward = SimCLR.forward

    def building(run: Run, images: int, classes: int) -> Method:
        counts.extend([images, classes])
        return build_method(run, images, classes)

    def recording(self: SimCLR, batch: Batch) -> Output:
        seen.append(batch)
        return forward(self, batch)

    monkeypatch.setattr(SimCLR, "forward", recording)
    monkeypatch.setattr(SimCLR, "after_step", lambda self, *share: shares.append(share))
    monkeypatch.setattr(loop, "build_method", building)
    execute(make_run(seed=5), images, tmp_path)
    assert counts == [19, 3]
    assert shares == [(step / 8, (step + 1) / 8) for step in range(8)]
    assert [batch.rng_key for batch in seen] == [(5, e, i, k) for e in range(4) for i in range(2) for k in range(2)]
    for epoch in range(4):
        places = torch.cat([batch.places for batch in seen[4 * epoch : 4 * epoch + 4]])
        assert len(set(places.tolist())) == 16
        assert max(places.tolist()) < 19
    assert all(torch.equal(batch.labels, batch.places % 3) for batch in seen)
    assert all(batch.views.shape == (2, 4, 3, 8, 8) for batch in seen)


@pytest.mark.parametrize("counted_in", ["steps", "passes"])
def test_an_epoch_is_whole_batches_in_keyed_order_at_annealed_rates(
    make_run: MakeRun, images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted_in: str
) -> None:
    """19 images, batches of 8: two steps, three images left out; peak 1.0 · 8/256; 8 steps, 2 of warm-up.

    Counted in passes, of which a step has two: 16, 4 of warm-up, and training ends half-way.
    """
    steps: list[tuple[list[int], float]] = []
    step = loop._step

    def spy(*arguments: Any) -> Tensor:
        optimiser, index = arguments[2], arguments[4]
        steps.append((index.tolist(), optimiser.param_groups[0]["lr"]))
        return step(*arguments)

    monkeypatch.setattr(loop, "_step", spy)
    execute(make_run(schedule={"counted_in": counted_in}), images, tmp_path)
    warmup, length = {"steps": (2, 8), "passes": (4, 16)}[counted_in]
    cosine = [0.5 * (1 + np.cos(np.pi * i / (length - warmup))) for i in range(8 - warmup)]
    fractions = [(i + 1) / warmup for i in range(warmup)] + cosine
    assert [rate for _, rate in steps] == pytest.approx([8 / 256 * fraction for fraction in fractions])
    for first, second in zip(steps[::2], steps[1::2], strict=True):
        assert len({*first[0], *second[0]}) == 16
    assert len({tuple(index) for index, _ in steps}) == 8
    history = (tmp_path / "history.csv").read_text().splitlines()
    assert history[0] == "epoch,loss,norm,learning_rate"
    rows = [[float(cell) for cell in line.split(",")] for line in history[1:]]
    assert [row[0] for row in rows] == [1, 2, 3, 4]
    assert [row[3] for row in rows] == pytest.approx([rate for _, rate in steps[1::2]])


# Equal bytes


@pytest.mark.parametrize("method", ["simclr", "simsiam"])
def test_same_run_same_bytes(make_run: MakeRun, images: Images, tmp_path: Path, method: str) -> None:
    for name, state in (("a", 1), ("b", 2)):
        torch.manual_seed(state)
        np.random.seed(state)
        outcome = execute(make_run(method), images, tmp_path / name)
        assert (outcome.status, outcome.epochs, outcome.starts) == ("finished", 4, [0])
    assert result(tmp_path / "a") == result(tmp_path / "b")
    assert result(tmp_path / "a").keys() == CONTRACT


def test_views_made_for_several_passes_at_once_train_the_same_bytes(
    make_run: MakeRun, images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four passes of four images an epoch. The two views of one image, at 8 px, take 1,536 bytes."""
    sizes: dict[int, list[int]] = {}
    for together in (0, 3, 100):
        made = sizes.setdefault(together, [])

        def record(data: Any, draws: Any, views: Any, made: list[int] = made) -> Any:
            made.append(len(data))
            return make_views(data, draws, views)

        monkeypatch.setattr(module, "make_views", record)
        monkeypatch.setattr(module, "CHUNK_BYTES", together * 4 * 1536)
        execute(make_run(), images, tmp_path / str(together))
    assert sizes == {0: [4] * 16, 3: [12, 4] * 4, 100: [16] * 4}
    assert result(tmp_path / "0") == result(tmp_path / "3") == result(tmp_path / "100")


@pytest.mark.parametrize(
    "options", [{"save_every": 0.0}, {"snapshots": frozenset({1, 3, 4})}, {"snapshots": frozenset()}]
)
def test_how_often_we_save_changes_no_byte_of_the_rest(
    make_run: MakeRun, images: Images, tmp_path: Path, options: dict[str, Any]
) -> None:
    """The last epoch's are the run's own files, and no snapshot."""
    execute(make_run(), images, tmp_path / "a")
    outcome = execute(make_run(), images, tmp_path / "b", **options)
    a, b = result(tmp_path / "a"), result(tmp_path / "b")
    assert all(a[name] == b[name] for name in ("encoder.safetensors", "heads.safetensors", "history.csv"))
    kept = options.get("snapshots", frozenset({0, 2})) - {4}
    wanted = {f"snapshots/epoch-{epoch:04d}{kind}.safetensors" for epoch in kept for kind in ("", ".heads")}
    assert {name for name in b if name.startswith("snapshots")} == wanted == outcome.snapshots.keys()


# A run that stops before its schedule does

FROZEN = {"dino": {"freeze_last_layer": 0.1}, "swav": {"frozen_prototypes": 0.1}}
"""For two of twenty epochs; of five it would be for the first step."""


@pytest.mark.parametrize("method", METHODS)
def test_a_shorter_run_of_a_schedule_is_the_beginning_of_the_longer(
    methods_plan: Plan, tmp_path: Path, method: str
) -> None:
    """Five of twenty epochs: rates, momenta and frozen prototypes follow the schedule, not its end, in every method."""
    run = of_method(methods_plan, method)
    data = training_images(store.open(methods_plan.data_folder(run.dataset)))
    fields = run.model_dump()
    fields["method"] |= FROZEN.get(method, {})
    found = {}
    for epochs in (20, 5):
        schedule = fields["schedule"] | {"epochs": epochs, "horizon": 20}
        one, folder = Run.model_validate(fields | {"schedule": schedule}), tmp_path / str(epochs)
        train(one, data, Execution(CPU, frozenset({5}), {}), folder)
        found[epochs] = folder
    snapshots = [found[20] / name for name in snapshot_names(5)]
    ends = [found[5] / name for name in (ENCODER, HEADS)]
    assert [path.read_bytes() for path in snapshots] == [path.read_bytes() for path in ends]
    histories = [(found[epochs] / "history.csv").read_text().splitlines() for epochs in (20, 5)]
    assert histories[0][:6] == histories[1]


# What a run is trained on: the training split's images, main labels and original numbers, whatever else there is


def prepared(folder: Path, splits: dict[str, list[str]]) -> Prepared:
    """Two images a split, each array with numbers of its own, with labels of the names given."""
    for i, (split, labels) in enumerate(splits.items()):
        (folder / split).mkdir()
        np.save(folder / split / "images.npy", np.full((2, 4, 4, 3), i, dtype=np.uint8))
        np.save(folder / split / "index.npy", np.array([7, 9 + i]))
        for j, label in enumerate(labels):
            np.save(folder / split / f"labels-{label}.npy", np.array([0, 10 * i + j]))
    about = {split: {"images": 2, "labels": labels, "attributes": []} for split, labels in splits.items()}
    return Prepared(folder, {"name": "two", "splits": about})


def test_it_trains_on_the_training_split_and_on_labels_by_name(tmp_path: Path) -> None:
    data = prepared(tmp_path, {"test": ["class"], "train": ["coarse", "class"]})
    found = training_images(data)
    assert (found.pixels == 1).all()
    assert found.labels.tolist() == [0, 11]
    assert found.numbers.tolist() == [7, 10]
    assert training_images(data, "coarse").labels.tolist() == [0, 10]


def test_what_lacks_is_a_sentence(make_run: MakeRun, images: Images, tmp_path: Path, refused: Any) -> None:
    """Images for a batch, a training split, labels of a name."""
    with refused():
        execute(make_run(), images[:7], tmp_path)
    for number, splits in enumerate(({"test": ["class"]}, {"train": ["coarse"]})):
        (tmp_path / str(number)).mkdir()
        with refused():
            training_images(prepared(tmp_path / str(number), splits))


@pytest.mark.parametrize(("labels", "expected"), [({}, [0, 0]), ({"labels": "digit_2"}, [0, 1])])
def test_a_method_is_trained_on_the_labels_that_it_names(
    labels: dict[str, str],
    expected: list[int],
    make_run: MakeRun,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two sets of labels, which differ in the second image."""
    run = make_run(method={"name": "supervised", **labels}, objective={"name": "cross_entropy"})
    monkeypatch.setattr(module, "train", lambda run, images, *rest: images.labels.tolist())
    data = prepared(tmp_path, {"train": ["class", "digit_2"]})
    np.save(tmp_path / "train" / "labels-class.npy", np.array([0, 0]))
    assert module.pretrain(run, data, None, tmp_path) == expected  # type: ignore[arg-type]


CHANGES: list[dict[str, Any]] = [
    {"seed": 1},
    {"optimiser": {"learning_rate": 1.0001}},
    {"objective": {"temperature": 0.51}},
    {"views": {"brightness": 0.41}},
    {"gradient": {"name": "grad_scale", "power": 1}},
]


def test_another_run_other_bytes(make_run: MakeRun, images: Images, tmp_path: Path) -> None:
    """Each of these fields reaches training."""
    execute(make_run(), images, tmp_path / "same")
    same = result(tmp_path / "same")
    for number, change in enumerate(CHANGES):
        execute(make_run(**change), images, tmp_path / str(number))
        other = result(tmp_path / str(number))
        assert other["encoder.safetensors"] != same["encoder.safetensors"], change
        assert other["history.csv"] != same["history.csv"], change
