"""What throughput.py times: our views and step, lightly's, and the bare encoder."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from throughput_page import Case
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from hypersphere import prng
from hypersphere.augmentations.draws import draw
from hypersphere.augmentations.ops import make_views
from hypersphere.config.recipe import Views
from hypersphere.config.run import Run
from hypersphere.methods.base import Method
from hypersphere.training import optimisation
from hypersphere.training.build import build_encoder, build_method
from hypersphere.training.loop import Execution, _step, passes_of
from hypersphere.training.trainers.image import Images
from hypersphere.training.trainers.image import Views as Source

try:
    import lightly
    from lightly.loss import NTXentLoss
    from lightly.models.modules import SimCLRProjectionHead
    from lightly.transforms import SimCLRTransform
    from PIL import Image

    LIGHTLY: str | None = lightly.__version__
except ImportError:
    LIGHTLY = None

Call = Callable[[], Any]
TEMPERATURE, HIDDEN, DIM, RATE, DECAY, MOMENTUM = 0.5, 256, 128, 0.1, 1e-4, 0.9
SIGMAS = (0.1, 2.0)
# lightly's SimCLRTransform by default, without its normalisation; the window holds three deviations to each side.
PLAIN: dict[str, Any] = {
    "crop_scale": (0.08, 1.0),
    **{"brightness": 0.8, "contrast": 0.8, "saturation": 0.8, "hue": 0.2},
    **{"jitter_coins": "shared", "jitter_order": "random"},
}
BLURRED = {**PLAIN, "blur": 0.5, "blur_kernel": 13, "blur_sigma": SIGMAS}


@contextmanager
def as_trained() -> Iterator[None]:
    """Our own step runs with deterministic algorithms, as in training; what it is compared with does not."""
    torch.set_deterministic_debug_mode("error")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode("default")


def run_of(case: Case, views: dict[str, Any]) -> Run:
    """SimCLR as lightly builds it: one pass per view, a head of two linear layers, SGD."""
    fields = {
        "dataset": {"name": "random_bytes"},
        "views": views,
        "method": {"name": "simclr", "hidden": HIDDEN, "dim": DIM},
        "objective": {"name": "nt_xent", "temperature": TEMPERATURE},
        "encoder": case.encoder,
        "optimiser": {"learning_rate": RATE, "weight_decay": DECAY, "momentum": MOMENTUM},
        "schedule": {"epochs": 1, "warmup": 0.0, "shape": "constant"},
        "batch": {"size": case.batch, "micro": case.batch},
        "seed": 0,
    }
    return Run.model_validate(fields)


def pixels_of(case: Case) -> UInt8[np.ndarray, "n h w 3"]:
    """One batch of random bytes: no operation here takes longer for one image than for another."""
    return np.random.default_rng(0).integers(0, 256, (case.batch, case.size, case.size, 3), dtype=np.uint8)


def our_views(case: Case, views: dict[str, Any], device: torch.device) -> Call:
    """Two views of a batch, and the draws for them."""
    branches, pixels = [Views.model_validate(views)] * 2, torch.from_numpy(pixels_of(case)).to(device)
    return lambda: make_views(pixels, draw(branches, case.batch, case.size, 0, 0), branches)


def our_model(run: Run, device: torch.device) -> tuple[Method, torch.optim.Optimizer]:
    """The model and optimiser that training builds, in training's memory format."""
    method = build_method(run, run.batch.size, 1).to(device, memory_format=torch.channels_last)
    optimiser = optimisation.build(method, run.optimiser)
    optimisation.set_rate(optimiser, optimisation.peak_rate(run), 1.0)
    return method.train(), optimiser


def our_source(run: Run, case: Case, device: torch.device) -> Source:
    """The batch as training holds it."""
    images = Images(pixels_of(case), np.zeros(case.batch, dtype=np.int64), np.arange(case.batch))
    return Source(run, images, device)


def our_step(case: Case, device: torch.device, precision: torch.dtype = torch.float32) -> Call:
    """Training's own step over an epoch of one batch: its draws and its order too."""
    run = run_of(case, PLAIN)
    (method, optimiser), source = our_model(run, device), our_source(run, case, device)
    execution = Execution(device, frozenset(), {}, precision)

    def step() -> None:
        source.start(0)
        order = torch.from_numpy(prng.permutation(case.batch, run.seed, "order", 0))
        with as_trained():
            views = passes_of(source, [order], 0, case.batch)
            _step(run, method, optimiser, views, order, source.labels, (run.seed, 0, 0), execution)
            method.after_step(1.0, 1.0)

    return step


def floor_step(case: Case, device: torch.device) -> Call:
    """Forward and backward of the bare encoder, on as many images of floats that lie ready on the device."""
    encoder = build_encoder(run_of(case, PLAIN)).to(device, memory_format=torch.channels_last).train()
    views = torch.rand(2, case.batch, 3, case.size, case.size, device=device)
    batches = [view.contiguous(memory_format=torch.channels_last) for view in views]

    def step() -> None:
        encoder.zero_grad(set_to_none=True)
        torch.stack([encoder(batch).sum() for batch in batches]).sum().backward()

    return step


class Pictures(Dataset[tuple[Any, int]]):
    """A set of images in memory, as lightly's transforms take them."""

    def __init__(self, pixels: UInt8[np.ndarray, "n h w 3"], transform: Callable[[Any], Any]) -> None:
        self.pictures = [Image.fromarray(one) for one in pixels]
        self.transform = transform

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self.transform(self.pictures[index]), 0


def lightly_loader(case: Case, views: dict[str, Any]) -> DataLoader[Any]:
    """lightly's transform of the same strengths, in a loader of one process, over one batch."""
    transform = SimCLRTransform(case.size, gaussian_blur=views.get("blur", 0.0), sigmas=SIGMAS, normalize=None)
    return DataLoader(Pictures(pixels_of(case), transform), batch_size=case.batch, shuffle=True)


class LightlyModel(nn.Module):
    """The same encoder with lightly's head."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.encoder = build_encoder(run)
        width = int(self.encoder.feature_dim)
        self.head = SimCLRProjectionHead(width, HIDDEN, DIM, batch_norm=False)

    def forward(self, images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n d"]:
        return self.head(self.encoder(images))


def lightly_step(case: Case, device: torch.device) -> Call:
    """A step as lightly's SimCLR example takes it: its loader, head and loss, with our encoder and torch's SGD."""
    model = LightlyModel(run_of(case, PLAIN)).to(device, memory_format=torch.channels_last).train()
    loader, criterion = lightly_loader(case, PLAIN), NTXentLoss(temperature=TEMPERATURE)
    rate = optimisation.peak_rate(run_of(case, PLAIN))
    optimiser = torch.optim.SGD(model.parameters(), lr=rate, momentum=MOMENTUM, weight_decay=DECAY)

    def step() -> None:
        for views, _ in loader:
            loss = criterion(*(model(view.to(device)) for view in views))
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()

    return step
