"""The input of a probe: a frozen encoder with its head, on one prepared dataset."""

from collections.abc import Callable
from copy import deepcopy
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Shaped, UInt8
from torch import Tensor, nn

from hypersphere.augmentations.ops import to_float
from hypersphere.config.run import Dataset, Run
from hypersphere.datasets.composing.biased import CONFLICTING
from hypersphere.datasets.store import Prepared
from hypersphere.datasets.types import CLASS
from hypersphere.errors import HypersphereError
from hypersphere.probes.result import NotFiniteError

__all__ = ["BLOCK", "Frozen", "Layer", "NotFiniteError", "Pixels"]

BLOCK = 512
"""Images per forward pass; batch norm is in evaluation mode, so results do not depend on it."""
Layer = Literal["backbone", "embeddings"]
"""The encoder's output, or its head's."""


class Frozen:
    """An encoder and its head on a dataset's plain images. Features are computed on first use and cached.

    Nothing is trained: batch norm uses its running statistics, and images are not augmented.

    Args:
        encoder: maps [n, 3, h, w] to [n, d].
        head: maps [n, d] to embeddings [n, e]; None for raw pixels.
        data: the prepared dataset.
        device: where to compute; results stay there.
        layer: the default layer of ``features``.
        run: how the encoder was trained, for a probe that repeats some of it; None: unknown.
        home: the same encoder on the dataset that it was trained on; None: this is it.
    """

    def __init__(
        self,
        encoder: nn.Module,
        head: nn.Module | None,
        data: Prepared,
        device: torch.device,
        layer: Layer = "backbone",
        run: Run | None = None,
        home: "Callable[[], Frozen] | None" = None,
    ) -> None:
        self._encoder = encoder.eval().to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._head = None if head is None else head.eval().to(device)
        self._data = data
        self._device = device
        self._layer = layer
        self._run = run
        self._home = home
        self._cache: dict[tuple[str, str], Tensor] = {}

    @property
    def encoder(self) -> nn.Module:
        """The encoder, in evaluation mode."""
        return self._encoder

    @property
    def device(self) -> torch.device:
        """Where features are computed."""
        return self._device

    @property
    def run(self) -> Run:
        """The run that trained the encoder.

        Raises:
            HypersphereError: there is none, as for raw pixels.
        """
        if self._run is None:
            raise HypersphereError("probe: repeats a part of the training, and raw pixels have none")
        return self._run

    @property
    def dataset(self) -> Dataset:
        """How the prepared dataset is declared."""
        return Dataset.model_validate(self._data.manifest["spec"])

    @property
    def home(self) -> "Frozen":
        """The same encoder on the dataset that it was trained on."""
        return self if self._home is None else self._home()

    def copy(self) -> nn.Module:
        """A copy of the network up to the protocol's layer, from images to vectors, for a probe that changes its mode.

        Raises:
            HypersphereError: the layer is embeddings, and there is no head.
        """
        encoder = deepcopy(self._encoder)
        return encoder if self._layer == "backbone" else nn.Sequential(encoder, deepcopy(self._above()))

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the dataset's splits."""
        return self._data.split_names

    def features(self, split: str, layer: Layer | None = None) -> Float[Tensor, "n d"]:
        """Vectors of one split's images, in the order of the split.

        Args:
            split: its name.
            layer: "backbone" or "embeddings"; None: the protocol's layer.

        Raises:
            HypersphereError: no such split or layer, or embeddings without a head.
            NotFiniteError: a vector has NaN or infinite entries.
        """
        key = split, layer or self._layer
        if key not in self._cache:
            self._cache[key] = self._check_finite(*key, self._compute(*key))
        return self._cache[key]

    def embeddings(self, split: str) -> Float[Tensor, "n e"]:
        """The head's output on one split. Raises the same errors as ``features``."""
        return self.features(split, "embeddings")

    def images(self, split: str) -> UInt8[np.ndarray, "n h w 3"]:
        """Plain images of one split, memory-mapped.

        Raises:
            HypersphereError: no such split.
        """
        return self._data.split(split).images

    def labels(self, split: str, name: str = CLASS) -> Int[Tensor, "n"]:
        """One split's labels of this name.

        Raises:
            HypersphereError: no such split, or it has no labels of this name.
        """
        return torch.from_numpy(np.array(self._data.split(split).labels[name])).to(self._device)

    def attributes(self, split: str, name: str) -> Shaped[np.ndarray, "n"]:
        """One split's attribute of this name, a value for each image.

        Raises:
            HypersphereError: no such split, or it has no attribute of this name.
        """
        return self._data.split(split).attributes[name]

    def conflicting(self, split: str) -> Bool[np.ndarray, "n"] | None:
        """Whether each image's bias conflicts with its class; None: the dataset is not biased."""
        attributes = self._data.split(split).attributes
        return np.array(attributes[CONFLICTING]) if CONFLICTING in attributes else None

    def embed(self, images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n e"]:
        """The head's output for other images than the dataset's: views, for example.

        Raises:
            HypersphereError: there is no head.
            NotFiniteError: an embedding has NaN or infinite entries.
        """
        blocks = [self._project(self._forward(block)) for block in images.to(self._device).split(BLOCK)]
        return self._check_finite("given", "embeddings", torch.cat(blocks))

    def encode(self, images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n d"]:
        """The encoder's output for other images than the dataset's.

        Raises:
            NotFiniteError: a vector has NaN or infinite entries.
        """
        blocks = [self._forward(block) for block in images.to(self._device).split(BLOCK)]
        return self._check_finite("given", "backbone", torch.cat(blocks))

    def has(self, split: str, name: str) -> bool:
        """Whether a split has labels or an attribute of this name."""
        prepared = self._data.split(split)
        return name in prepared.labels or name in prepared.attributes

    def classes(self, name: str = CLASS) -> int:
        """Number of classes of the labels of this name.

        Raises:
            HypersphereError: there are no labels of this name.
        """
        return self._data.classes(name)

    def class_names(self, name: str = CLASS) -> tuple[str, ...]:
        """Names of the classes of the labels of this name, from label 0 on.

        Raises:
            HypersphereError: there are no labels of this name.
        """
        return self._data.class_names(name)

    def _compute(self, split: str, layer: str) -> Tensor:
        if layer not in get_args(Layer):
            raise HypersphereError(f"layer: '{layer}' is not one of {', '.join(get_args(Layer))}")
        if layer == "backbone":
            images = self.images(split)
            return torch.cat([self._encode(images[i : i + BLOCK]) for i in range(0, len(images), BLOCK)])
        return torch.cat([self._project(block) for block in self.features(split, "backbone").split(BLOCK)])

    # Only the blocks are computed in inference mode: concatenated outside it, they are a tensor for probes to train on.

    def _encode(self, images: UInt8[np.ndarray, "n h w 3"]) -> Tensor:
        return self._forward(to_float(torch.from_numpy(np.array(images)).to(self._device)))

    @torch.inference_mode()
    def _forward(self, images: Float[Tensor, "n 3 h w"]) -> Tensor:
        output: Tensor = self._encoder(images)
        return output.float()

    @torch.inference_mode()
    def _project(self, features: Tensor) -> Tensor:
        output: Tensor = self._above()(features)
        return output.float()

    def _above(self) -> nn.Module:
        if self._head is None:
            raise HypersphereError("layer: raw pixels have no embeddings, because they have no head; allowed: backbone")
        return self._head

    def _check_finite(self, split: str, layer: str, features: Tensor) -> Tensor:
        bad = int((~features.isfinite()).any(dim=1).sum())
        if bad:
            what = "features" if layer == "backbone" else layer
            raise NotFiniteError(f"the {what} of {bad} of {len(features)} images of split {split} are NaN or infinite")
        return features


class Pixels(nn.Module):
    """An encoder without weights: the raw pixels, flattened."""

    def forward(self, images: Float[Tensor, "n c h w"]) -> Float[Tensor, "n chw"]:
        """Flatten each image."""
        return images.flatten(1)
