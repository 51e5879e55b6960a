"""From a run to its model: encoder, objective, method, initial weights.

Each tensor's initial weights come from its own generator, whose key is (seed, "initial", tensor name). So two runs with
one seed start with equal values in every tensor that both have, which is what makes a paired test paired.
"""

from collections.abc import Callable, Collection
from contextlib import nullcontext
from functools import partial, reduce
from operator import add
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere import prng
from hypersphere.config import registry
from hypersphere.config.recipe import Normalisation
from hypersphere.config.run import Component, Run
from hypersphere.methods.base import Method, Objective, Parts
from hypersphere.training.parts import take_in_parts


def build_encoder(run: Run) -> nn.Module:
    """The run's encoder with its initial weights before any cut; maps [n, 3, h, w] in [0, 1] to [n, feature_dim]."""
    encoder: nn.Module = registry.load("encoders", run.encoder.name)(**run.encoder.parameters)
    if run.views.normalisation is not None:
        normalise_input(encoder, run.views.normalisation)
    if run.batch.parts > 1:
        take_in_parts(encoder, run.batch.parts)
    return encoder


def normalise_input(encoder: nn.Module, by: Normalisation) -> None:
    """Let an encoder normalise the images that it is given, in place: views, plain images and copies' alike.

    Mean and deviation move with the encoder, and are no part of its weights.
    """
    for name, channels in (("pixel_mean", by.mean), ("pixel_std", by.std)):
        encoder.register_buffer(name, torch.tensor(channels)[:, None, None], persistent=False)
    encoder.register_forward_pre_hook(_normalised)


def _normalised(encoder: Any, images: tuple[Float[Tensor, "n 3 h w"]]) -> Float[Tensor, "n 3 h w"]:
    return (images[0] - encoder.pixel_mean) / encoder.pixel_std


def build_method(run: Run, images: int = 1, classes: int = 1) -> Method:
    """The run's model with its initial weights, cut if the run has a cut initialisation, on the CPU.

    ``images`` is the number of training images (a memory bank has a row for each), ``classes`` that of their classes.
    """
    method = assemble(run, images, classes)
    initialise(method, run.seed)
    if run.initialisation is not None:
        registry.load("initialisations", run.initialisation.name)(
            method, **run.initialisation.parameters
        )
    method.begin()
    return method


@torch.no_grad()
def initialise(model: nn.Module, seed: int) -> None:
    """Redraw the weights of ``model`` in place, on the CPU.

    Convolutions are drawn as in torchvision's ResNet (He et al. 2015, fan-out), linear layers and biases as in torch
    (uniform within 1/sqrt(fan-in)). Batch norm keeps scale 1 and shift 0, or scale 0 where the encoder set it; layer
    norm keeps scale 1 and shift 0. Modules with a method ``draw_initial`` then redraw in place what these rules do not
    set or set differently; its argument maps a tensor's name within the module to that tensor's generator.
    """

    def of_tensor(module: str, tensor: str) -> torch.Generator:
        return torch.Generator().manual_seed(prng.torch_seed(seed, "initial", f"{module}.{tensor}"))

    for name, layer in model.named_modules():
        if not isinstance(layer, nn.Conv2d | nn.Linear):
            continue
        bound = layer.weight[0].numel() ** -0.5
        generator = of_tensor(name, "weight")
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(
                layer.weight, mode="fan_out", nonlinearity="relu", generator=generator
            )
        else:
            nn.init.uniform_(layer.weight, -bound, bound, generator=generator)
        if layer.bias is not None:
            nn.init.uniform_(layer.bias, -bound, bound, generator=of_tensor(name, "bias"))
    # a second loop, because a module is listed before its layers
    for name, module in model.named_modules():
        if hasattr(module, "draw_initial"):
            module.draw_initial(partial(of_tensor, name))


def assemble(run: Run, images: int, classes: int) -> Method:
    """The run's model with the weights that torch draws by default, which are not the run's initial weights."""
    parts = Parts(
        build_encoder(run),
        loss_of(run),
        _bind("gradients", run.gradient) if run.gradient else lambda z: z,
        images,
        classes,
        run.seed,
        temperature_of(run),
    )
    method: Method = registry.load("methods", run.method.name)(parts, **run.method.parameters)
    return method


def temperature_of(run: Run) -> float | None:
    """The temperature of a run's logits, or else of its objective; None if neither has one."""
    for part in filter(None, (run.logits, run.objective)):
        if "temperature" in part.parameters:
            return float(part.parameters["temperature"])
    return None


def loss_of(run: Run) -> Objective:
    """The run's objective plus its regulariser, as a function of two batches of embeddings, by position, or of the
    tensors that the method gives, by name. It computes in at least float32, also where the encoder is in bfloat16.
    """
    terms: list[tuple[Callable[..., Tensor], Collection[str]]] = []
    for part in filter(None, (run.objective, run.regulariser)):
        term = _bind("objectives", part)
        arguments = registry.tensors("objectives", part.name)
        if registry.TO_LOGITS in arguments and run.logits is not None:
            term = partial(term, **{registry.TO_LOGITS: _bind("logits", run.logits)})
        terms.append((term, arguments))

    def total(*batches: Tensor, **given: Any) -> Tensor:
        values = (*batches, *given.values())
        kind = next(value.device.type for value in values if isinstance(value, Tensor))
        rounded = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
        if rounded:
            batches = tuple(map(_full, batches))
            given = {name: _full(value) for name, value in given.items()}
        losses = []
        with torch.autocast(kind, enabled=False) if rounded else nullcontext():
            for term, arguments in terms:
                taken = {name: given[name] for name in arguments if name in given}
                losses.append(term(*batches, **taken))
            return reduce(add, losses)

    return total


def _full(value: Any) -> Any:
    """A value in float32 if it is a tensor in half precision."""
    if isinstance(value, Tensor) and value.dtype in (torch.bfloat16, torch.float16):
        return value.float()
    return value


def _bind(kind: registry.Kind, component: Component) -> Callable[..., Tensor]:
    return partial(registry.load(kind, component.name), **component.parameters)
