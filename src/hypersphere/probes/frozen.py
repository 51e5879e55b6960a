"""The input of a probe: a frozen encoder with its head, on one prepared dataset."""

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped, UInt8
from torch import Tensor, nn

from hypersphere.augmentations.ops import to_float
from hypersphere.config.recipe import Views
from hypersphere.config.run import Run
from hypersphere.datasets.store import Prepared, PreparedSplit
from hypersphere.datasets.types import CLASS, PROBE, TRAIN
from hypersphere.errors import NotFiniteError

BLOCK = 512
"""The number of images per forward pass. Results do not depend on it: batch norm is in evaluation mode."""
Layer = Literal["backbone", "embeddings"]
"""The layer that a probe measures: the encoder's output, or the head's."""


class Foreign(NamedTuple):
    """What stands in place of a run for an encoder that somebody else trained: the views to measure it on."""

    branches: tuple[Views, ...]
    """One or two, as a run has them."""


class Frozen:
    """An encoder and its head on a dataset's plain images. Features are computed on first use and cached.

    Nothing is trained: batch norm uses its running statistics, and images are not augmented. Vectors with NaN or
    infinite entries raise a NotFiniteError.

    Args:
        encoder: maps [n, 3, h, w] to [n, d].
        head: maps [n, d] to embeddings [n, e].
        data: the prepared dataset.
        device: where to compute; results stay there.
        layer: the default layer of ``features``.
        run: how the encoder was trained, for a probe that repeats some of the training. Raw pixels have None, and no
            such probe measures them. Of somebody else's encoder there are only the views.
        home: the same encoder on the dataset that it was trained on; None: ``data`` is that dataset.
    """

    def __init__(
        self,
        encoder: nn.Module,
        head: nn.Module,
        data: Prepared,
        device: torch.device,
        layer: Layer = "backbone",
        run: Run | Foreign | None = None,
        home: "Callable[[], Frozen] | None" = None,
    ) -> None:
        self.encoder: nn.Module = encoder.eval().to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.device = device
        self.splits = data.split_names
        self._head = head.eval().to(device)
        self._data = data
        self._layer: Layer = layer
        self.run: Run = run  # type: ignore[assignment]
        self._home = home
        self._cache: dict[tuple[str, Layer], Tensor] = {}
        self._mapped: dict[str, PreparedSplit] = {}

    @property
    def home(self) -> "Frozen":
        """The same encoder on the dataset that it was trained on."""
        return self if self._home is None else self._home()

    def copy(self) -> nn.Module:
        """A copy of the network up to the protocol's layer, for a probe that changes its mode."""
        if self._layer == "backbone":
            return deepcopy(self.encoder)
        return deepcopy(nn.Sequential(self.encoder, self._head))

    def features(self, split: str, layer: Layer | None = None) -> Float[Tensor, "n d"]:
        """Vectors of one split's images, in the order of the split; by default of the protocol's layer."""
        layer = layer or self._layer
        if (split, layer) not in self._cache:
            if layer == "backbone":
                vectors = _through(self.encoder, self._blocks(split), "features", split)
            else:
                blocks = self.features(split, "backbone").split(BLOCK)
                vectors = _through(self._head, blocks, layer, split)
            self._cache[split, layer] = vectors
        return self._cache[split, layer]

    def _blocks(self, split: str) -> Iterator[Float[Tensor, "n 3 h w"]]:
        """A split's images in the form that the encoder takes, a block at a time."""
        images = self.images(split)
        for first in range(0, len(images), BLOCK):
            block = torch.from_numpy(np.array(images[first : first + BLOCK]))
            yield to_float(block.to(self.device))

    def embeddings(self, split: str) -> Float[Tensor, "n e"]:
        """The head's output on one split."""
        return self.features(split, "embeddings")

    def embed(self, images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n e"]:
        """The head's output for other images than the dataset's: views, for example."""
        both = nn.Sequential(self.encoder, self._head)
        return _through(both, images.to(self.device).split(BLOCK), "embeddings", "given")

    def encode(self, images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n d"]:
        """The encoder's output for other images than the dataset's."""
        return _through(self.encoder, images.to(self.device).split(BLOCK), "features", "given")

    def split(self, name: str) -> PreparedSplit:
        """A split, memory-mapped once, because probes ask often. ``train`` is the split ``probe``, if there is one."""
        if name not in self._mapped:
            source = PROBE if name == TRAIN and PROBE in self.splits else name
            self._mapped[name] = self._data.split(source)
        return self._mapped[name]

    def images(self, split: str) -> UInt8[np.ndarray, "n h w 3"]:
        """Plain images of one split, memory-mapped."""
        return self.split(split).images

    def labels(self, split: str, name: str = CLASS) -> Int[Tensor, "n"]:
        """One split's labels of this name."""
        return torch.from_numpy(np.array(self.split(split).labels[name])).to(self.device)

    def attribute(self, split: str, name: str) -> Shaped[np.ndarray, "n"] | None:
        """One split's attribute of this name, a value for each image; None: it has none."""
        values = self.split(split).attributes.get(name)
        return None if values is None else np.array(values)

    def classes(self, name: str = CLASS) -> int:
        """Number of classes of the labels of this name."""
        return len(self.class_names(name))

    def class_names(self, name: str = CLASS) -> tuple[str, ...]:
        """Names of the classes of the labels of this name, from label 0 on."""
        return self._data.class_names(name)


def _through(module: nn.Module, blocks: Iterable[Tensor], what: str, split: str) -> Tensor:
    """Only blocks are computed in inference mode: concatenated outside it, they are a tensor for probes to train on."""
    with torch.inference_mode():
        outputs = [module(block).float() for block in blocks]
    vectors = torch.cat(outputs)
    bad = int((~vectors.isfinite()).any(dim=1).sum())
    if bad:
        raise NotFiniteError(
            f"the {what} of {bad} of {len(vectors)} images of split {split} are NaN or infinite"
        )
    return vectors
