"""The memory that a training step keeps on its device, counted on the run's own modules, on tensors without data.

Forward passes run on torch's device ``meta``, and what autograd saves for the backward pass is added up: see
docs/cost.md. Everything is float32.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import NamedTuple

import torch
from pydantic import ValidationError
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef

from hypersphere.config import registry
from hypersphere.config.run import Component, Run
from hypersphere.datasets.training_sizes import Size
from hypersphere.methods.base import Batch
from hypersphere.training import work
from hypersphere.training.build import assemble
from hypersphere.training.trainers.image import RESIDENT

PER_WEIGHT = {"sgd": 1, "lars": 1, "adam": 2, "adamw": 2}
"""Numbers that an optimiser keeps for each weight that it moves; without momentum SGD needs fewer."""


def key(run: Run, size: Size) -> tuple[object, ...]:
    """What decides a run's memory: modules, images, batch, and the names of what its loss is made of."""
    return *work.key(run, size.side), size, run.batch.parts, run.components, run.optimiser.name


class Need(NamedTuple):
    """What a step of a run needs at once."""

    encoder: str
    """Name and parameters, as JSON."""
    side: int
    """Pixels of a view's side."""
    given: tuple[int, ...]
    """Images in each of the encoder's calls of a pass whose backward pass follows."""
    rest: int
    """Bytes of all but what autograd saves of the encoder."""

    def with_parts(self, parts: int) -> int:
        """Bytes of all, if the encoder takes a pass in so many parts: then one part's activations are there at once."""
        saved = [_of_encoder(self.encoder, images // parts, self.side) for images in self.given]
        return self.rest + (sum(saved) if parts == 1 else max(saved))


def needed(run: Run, size: Size) -> Need:
    """The bytes that a step of a run of images keeps on its device at once, at least.

    They are weights, gradients and the optimiser's state; targets and memories; the training images, if they lie on the
    device; the views of a pass; and what autograd saves of encoder, heads and loss. A loss that cannot run without data
    is left out. What an operation needs while it runs is not counted.
    """
    side = run.views.side or int(size.side)
    given: list[int] = []
    with torch.device("meta"):
        method = assemble(run, size.train, size.classes)
        # Its activations are counted apart, because many runs have the same.
        features = int(method.encoder.feature_dim)  # type: ignore[arg-type]
        method.encoder.forward = partial(_features, features, given)
        method.begin()
        views = torch.empty(len(run.branches), run.batch.micro, 3, side, side)
        places = torch.zeros(run.batch.micro, dtype=torch.int64)
    batch = Batch(views, places, places)
    own = [*method.parameters(), *method.buffers(), views]
    try:
        saved = _saved(lambda: method(batch), own)
    # torch's word on an operation whose result has no shape without data
    except NotImplementedError:
        given.clear()
        method.objective = work.plain_sum
        saved = _saved(lambda: method(batch), own)
    lasting = sum(tensor.nbytes for tensor in own)
    moved = sum(weights.nbytes for weights in method.parameters() if weights.requires_grad)
    state = moved * (1 + PER_WEIGHT[run.optimiser.name])  # and the gradients
    images = size.train * int(size.side) ** 2 * 3
    resident = images if images <= RESIDENT else 0
    rest = saved + lasting + state + resident
    return Need(run.encoder.model_dump_json(), side, tuple(given), rest)


def least_parts(run: Run, need: Need, room: float) -> int | None:
    """The fewest parts with which a run needs at most ``room`` bytes; None: no number of parts is enough."""
    for parts in range(1, run.batch.micro + 1):
        if run.batch.micro % parts or need.with_parts(parts) > room:
            continue
        fields = run.model_dump()
        fields["batch"]["parts"] = parts
        try:
            Run.model_validate(fields)
        except ValidationError:  # its method takes none, or they are of one image each
            return None
        return parts
    return None


def _features(length: int, given: list[int], images: Tensor) -> Tensor:
    """Stands in for an encoder's features, and notes of how many images a backward pass will be."""
    differentiable = torch.is_grad_enabled()
    if differentiable:
        given.append(len(images))
    return torch.empty(len(images), length, device="meta", requires_grad=differentiable)


@cache
def _of_encoder(encoder: str, images: int, side: int) -> int:
    component = Component.model_validate_json(encoder)
    with torch.device("meta"):
        module: nn.Module = registry.load("encoders", component.name)(**component.parameters)
        views = torch.empty(images, 3, side, side)
    return _saved(lambda: module(views), [*module.parameters(), *module.buffers(), views])


def _saved(forward: Callable[[], object], apart_from: Iterable[Tensor]) -> int:
    """Bytes of the storages that autograd saves in a forward pass, each once, apart from those of some tensors."""
    known = {StorageWeakRef(one.untyped_storage()) for one in apart_from}
    bytes_of: dict[StorageWeakRef, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        bytes_of[StorageWeakRef(storage)] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        forward()
    return sum(size for storage, size in bytes_of.items() if storage not in known)
