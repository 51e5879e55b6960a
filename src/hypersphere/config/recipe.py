"""The recipe of a training: views, optimiser, schedule and batch.

The meaning of a default never changes, so that a run which leaves a field out keeps its name.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, NonNegativeFloat, PositiveFloat, model_validator

from hypersphere.config.validation import AsList, Epochs, Fraction, PositiveInt, Strict

DecayRate = Annotated[float, Field(ge=0, lt=1)]
"""The share of the past in a running mean; at 1, nothing new would count."""
InnerFraction = Annotated[float, Field(gt=0, lt=1)]


OfChannels = Annotated[tuple[float, float, float], AsList]
"""Numbers of red, green and blue, of values in [0, 1]."""
PositiveOfChannels = Annotated[tuple[PositiveFloat, PositiveFloat, PositiveFloat], AsList]


class Normalisation(Strict):
    """An encoder's input: (pixel - mean) / std, channel by channel (torchvision's ``Normalize``)."""

    mean: OfChannels
    std: PositiveOfChannels


class Views(Strict):
    """Random augmentation of one view; strengths as in torchvision's transforms.

    In this order: crop, flip, jitter (brightness, contrast, saturation, hue), grayscale, blur, solarize, normalisation.
    """

    side: PositiveInt | None = None
    """Pixels to which a random resized crop is resized; None: as many as the image has."""
    crop_scale: Annotated[tuple[PositiveFloat, PositiveFloat], AsList] = (0.2, 1.0)
    """Share of the image's area in a random resized crop."""
    crop_padding: PositiveInt | None = None
    """Black pixels added around the image before a crop of its own size, in place of a random resized crop."""
    flip: Fraction = 0.5
    brightness: NonNegativeFloat = 0.4
    contrast: NonNegativeFloat = 0.4
    saturation: NonNegativeFloat = 0.4
    hue: Annotated[float, Field(ge=0, le=0.5)] = 0.1
    jitter_probability: Fraction = 0.8
    jitter_coins: Literal["each", "shared"] = "each"
    """Whether each of the four jitters is applied at random, or all together (as by torchvision's RandomApply)."""
    jitter_order: Literal["fixed", "random"] = "fixed"
    """The order above, or one drawn for each image (torchvision's ColorJitter)."""
    grayscale: Fraction = 0.2
    blur: Fraction = 0.0
    blur_kernel: PositiveInt = 3
    """Width of the Gaussian's window in pixels, odd."""
    blur_sigma: Annotated[tuple[PositiveFloat, PositiveFloat], AsList] = (0.1, 2.0)
    """Its standard deviation in pixels, uniform between the two."""
    solarize: Fraction = 0.0
    """Probability that values of at least one half are inverted."""
    normalisation: Normalisation | None = None
    """How the encoder's input is normalised, also the plain images of probes; None: pixels in [0, 1]."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.crop_scale[0] <= self.crop_scale[1] <= 1:
            raise ValueError(
                "crop_scale: must be [smallest, largest] with smallest <= largest <= 1"
            )
        if self.crop_padding is not None and self._changed_fields("crop_scale"):
            raise ValueError(
                "crop_padding: replaces the random resized crop of crop_scale; set one of the two"
            )
        if self.crop_padding is not None and self.side is not None:
            raise ValueError(
                "side: a crop after padding has the image's own size; leave side or crop_padding out"
            )
        if self.blur_kernel % 2 == 0:
            raise ValueError(f"blur_kernel: must be odd (given: {self.blur_kernel})")
        if self.blur_sigma[0] > self.blur_sigma[1]:
            raise ValueError("blur_sigma: must be [smallest, largest]")
        unused = self._changed_fields("blur_kernel", "blur_sigma")
        if not self.blur and unused:
            raise ValueError(f"{unused[0]}: has no effect, because blur is 0")
        return self


class Optimiser(Strict):
    """The update rule."""

    name: Literal["sgd", "adam", "adamw", "lars"] = "sgd"
    learning_rate: PositiveFloat
    """The learning rate; with linear ``scaling``, for a batch of 256 images."""
    scaling: Literal["linear", "none"] = "linear"
    """The peak's growth with the batch: ``linear`` to learning_rate · batch / 256; ``none``: it is learning_rate. Each
    document says which."""
    weight_decay: NonNegativeFloat
    """Added to the gradient; for AdamW, decoupled from it (Loshchilov & Hutter 2019)."""
    decay: Literal["all", "weights"] = "all"
    """The parameters that decay: ``weights`` excludes biases and the scales and shifts of normalisations."""
    momentum: DecayRate = 0.9
    nesterov: bool = False
    betas: Annotated[tuple[DecayRate, DecayRate], AsList] = (0.9, 0.999)
    trust: PositiveFloat = 0.001
    """LARS's trust coefficient (You et al. 2017)."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        parameters = {"sgd": ("momentum", "nesterov"), "lars": ("momentum", "nesterov", "trust")}
        taken = parameters.get(self.name, ("betas",))
        stray = [
            name
            for name in self._changed_fields("momentum", "nesterov", "betas", "trust")
            if name not in taken
        ]
        if stray:
            raise ValueError(f"{stray[0]}: {self.name} takes {', '.join(taken)}")
        if self.nesterov and not self.momentum:
            raise ValueError("nesterov: needs a momentum above 0")
        if self.name == "lars" and self.decay != "weights":
            raise ValueError(
                "decay: must be weights for lars, which excludes biases and normalisations"
            )
        return self


class Schedule(Strict):
    """Linear warm-up over a fraction of the horizon, then ``shape``."""

    epochs: Epochs
    warmup: Fraction
    shape: Literal["cosine", "constant", "step"] = "cosine"
    """Half a cosine towards zero; the peak; or the peak times ``factor`` for each of the ``drops`` passed."""
    drops: Annotated[tuple[InnerFraction, ...], AsList] = ()
    """The places where a step schedule drops, as fractions of the horizon."""
    factor: InnerFraction = 0.1
    horizon: Epochs | None = None
    """Epochs of the whole schedule, if training stops earlier; None: ``epochs``."""
    counted_in: Literal["steps", "passes"] = "steps"
    """The unit of the horizon: optimiser steps; or forward passes, although the schedule advances once per optimiser
    step, so that k passes per step stretch it k times (norms authors' code, erratum N41)."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.shape == "step" and (not self.drops or list(self.drops) != sorted(set(self.drops))):
            raise ValueError("drops: must list rising fractions of the horizon for shape: step")
        unused = self._changed_fields("drops", "factor")
        if self.shape != "step" and unused:
            raise ValueError(f"{unused[0]}: only shape: step takes it (given: {self.shape})")
        if self.drops and self.drops[0] < self.warmup:
            raise ValueError(
                f"drops: the first, {self.drops[0]:g}, is within the warm-up of {self.warmup:g}"
            )
        if self.horizon is not None and self.horizon < self.epochs:
            raise ValueError(f"horizon: {self.horizon} is less than epochs {self.epochs}")
        return self


class Batch(Strict):
    """Images per optimiser step and per forward pass, and the parts of a pass."""

    size: PositiveInt
    micro: PositiveInt
    accumulate: Literal["mean", "sum"] = "mean"
    """How the gradients of a step's passes are combined (``sum``: norms authors' code, erratum N25)."""
    parts: PositiveInt = 1
    """Equal parts in which the encoder takes a pass, to save memory; heads and loss see the whole pass. Batch norms in
    the encoder see one part at a time, as on as many devices, so the number decides the result."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.size % self.micro:
            raise ValueError(f"size: {self.size} is not a multiple of micro {self.micro}")
        if self.micro % self.parts:
            raise ValueError(f"parts: micro {self.micro} is not a multiple of {self.parts}")
        return self
