"""What methods with a momentum target share: a slow copy of encoder and projector, and learning to predict it.

The target is a frozen copy, so that it is in ``state_dict`` and in no optimiser. Its batch norms work as the online
network's do, in training mode with running statistics of their own, as in the authors' codes of MoCo and BYOL.
"""

from typing import Literal

import torch
from torch import nn

from hypersphere.methods.base import Batch, Method, Output, Parts, chain, follow, frozen_copy, momentum_at


class Momentum(Method):
    """Encoder and projector, and a target that follows them."""

    target: nn.Module

    def __init__(
        self,
        parts: Parts,
        projector: nn.Module,
        momentum: float,
        momentum_schedule: Literal["constant", "cosine"] = "constant",
    ) -> None:
        super().__init__(parts)
        self.projector = projector
        self.momentum = momentum
        self.momentum_schedule = momentum_schedule

    @property
    def online(self) -> nn.Module:
        """Encoder and projector; put together at each call, since a tensor has one name in ``state_dict``."""
        return chain(encoder=self.encoder, projector=self.projector)

    @property
    def head(self) -> nn.Module:
        """The online network's projector."""
        return chain(projector=self.projector)

    def begin(self) -> None:
        """The target starts as a copy of the initial weights, cut if they are (erratum N44)."""
        self.target = frozen_copy(self.online)

    def after_step(self, fraction: float) -> None:
        """The target goes a small part of the way to the new weights.

        MoCo's codes do this in the next forward pass, just before they use the target: the same weights, and, for a
        schedule, the same momentum.
        """
        follow(self.target, self.online, momentum_at(self.momentum, self.momentum_schedule, fraction))


class Bootstrap(Momentum):
    """A predictor on the online side, which learns to give the target's embedding of the other view."""

    def __init__(
        self,
        parts: Parts,
        projector: nn.Module,
        predictor: nn.Module,
        *,
        momentum: float,
        momentum_schedule: Literal["constant", "cosine"],
        symmetric: bool,
        weight: float = 1.0,
    ) -> None:
        super().__init__(parts, projector, momentum, momentum_schedule)
        self.predictor = predictor
        self.directions = [(0, 1), (1, 0)] if symmetric else [(0, 1)]
        self.weight = weight

    @property
    def head(self) -> nn.Module:
        """The projector and, behind it, the predictor: its outputs are the embeddings."""
        return chain(projector=self.projector, predictor=self.predictor)

    def forward(self, batch: Batch) -> Output:
        """Sum over the directions of the loss of predictions and targets, times ``weight``; the predictions."""
        online, views = self.online, batch.views
        predictions = [self.predictor(online(views[student])) for student, _ in self.directions]
        with torch.no_grad():
            targets = [self.target(views[teacher]) for _, teacher in self.directions]
        losses = [self.objective(self.gradient(p), z) for p, z in zip(predictions, targets, strict=True)]
        return Output(self.weight * torch.stack(losses).sum(), torch.cat(predictions).detach())
