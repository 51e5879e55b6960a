"""From a run to its model: encoder, objective, method, initial weights."""

from collections.abc import Callable
from functools import partial, reduce
from operator import add
from typing import Any

import torch
from torch import Tensor, nn

from hypersphere.config import registry
from hypersphere.config.run import Component, Run
from hypersphere.methods.base import GradientTransform, Method, Objective, Parts
from hypersphere.training.initialise import initialise


def build_encoder(run: Run) -> nn.Module:
    """The run's encoder with its initial weights before any cut; maps [n, 3, h, w] to [n, feature_dim]."""
    return registry.load("encoders", run.encoder.name)(**run.encoder.parameters)


def build_method(run: Run, images: int = 1, classes: int = 1) -> Method:
    """The run's model with its initial weights, cut if the run has a cut initialisation, on the CPU.

    Args:
        run: what to build.
        images: number of training images (a memory bank has a row for each).
        classes: number of their classes.
    """
    method = assemble(run, images, classes)
    initialise(method, run.seed)
    if run.initialisation is not None:
        registry.load("initialisations", run.initialisation.name)(method, **run.initialisation.parameters)
    method.begin()
    return method


def assemble(run: Run, images: int, classes: int) -> Method:
    """The run's model with the weights that torch draws by default, which are not the run's initial weights."""
    parts = Parts(
        build_encoder(run), loss_of(run), _gradient(run.gradient), images, classes, run.seed, _temperature(run)
    )
    method: Method = registry.load("methods", run.method.name)(parts, **run.method.parameters)
    return method


def loss_of(run: Run) -> Objective:
    """The run's objective plus its regulariser, as a function of two batches of embeddings, by position, or of the
    tensors that the method gives, by name.
    """
    terms = [_term(part, run.logits) for part in (run.objective, run.regulariser) if part is not None]
    return lambda *batches, **given: reduce(add, [term(*batches, **given) for term in terms])


def _term(component: Component, logits: Component | None) -> Objective:
    arguments = registry.tensors("objectives", component.name)
    loss = _bind("objectives", component)
    if registry.TO_LOGITS in arguments and logits is not None:
        loss = partial(loss, **{registry.TO_LOGITS: _bind("logits", logits)})
    return lambda *batches, **given: _in_full(loss, batches, {name: given[name] for name in arguments if name in given})


def _in_full(loss: Callable[..., Tensor], batches: tuple[Tensor, ...], given: dict[str, Any]) -> Tensor:
    """The loss in at least float32, also where the encoder computes in bfloat16."""
    kind = next(value for value in (*batches, *given.values()) if isinstance(value, Tensor)).device.type
    if not torch.is_autocast_enabled(kind):
        return loss(*batches, **given)
    with torch.autocast(kind, enabled=False):
        return loss(*map(_full, batches), **{name: _full(value) for name, value in given.items()})


def _full(value: Any) -> Any:
    return value.float() if isinstance(value, Tensor) and value.dtype in (torch.bfloat16, torch.float16) else value


def _temperature(run: Run) -> float | None:
    for part in (run.logits, run.objective):
        if part is not None and "temperature" in part.parameters:
            return float(part.parameters["temperature"])
    return None


def _gradient(component: Component | None) -> GradientTransform:
    return (lambda z: z) if component is None else _bind("gradients", component)


def _bind(kind: registry.Kind, component: Component) -> Callable[..., Tensor]:
    return partial(registry.load(kind, component.name), **component.parameters)
