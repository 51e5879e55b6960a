"""Base classes for methods with a momentum target: a slow copy of encoder and projector, with or without a predictor.

The target is a frozen copy: it is in ``state_dict`` and in no optimiser. Its batch norms run in training mode and have
their own running statistics, as in the authors' codes of MoCo and BYOL.
"""

import math
from typing import Literal

import torch
from torch import nn

from hypersphere.methods.base import Batch, Method, Output, chain, follow, frozen_copy


class Momentum(Method):
    """Encoder and projector, and a target that follows them."""

    FOLLOWED: tuple[str, ...] = ("encoder", "projector")
    """Names of the modules that the target is a copy of, in order."""
    projector: nn.Module
    target: nn.Module
    momentum: float
    momentum_schedule: Literal["constant", "cosine"] = "constant"
    late = False
    """The target moves when the next step begins, so its momentum is the next step's; else at this step's end."""

    @property
    def online(self) -> nn.Module:
        """What the target follows, chained anew at each call, so that a tensor has one name in ``state_dict``."""
        return chain(**{name: self.get_submodule(name) for name in self.FOLLOWED})

    def begin(self) -> None:
        """Copy the initial weights to the target, after any cut (erratum N44)."""
        self.target = frozen_copy(self.online)

    def after_step(self, before: float, after: float) -> None:
        """Move the target a small part of the way to the new weights.

        BYOL's and DINO's codes do this after step k, counted from 0, with the momentum of step k. MoCo's do it in the
        forward pass of step k + 1, just before they use the target, with the momentum of step k + 1 (from memory).
        """
        momentum = self.momentum
        # Grill et al. 2020, Sec. 3.2: 1 - (1 - base)(cos(pi k/K) + 1)/2
        if self.momentum_schedule == "cosine":
            momentum = (
                1 - (1 - momentum) * (math.cos(math.pi * (after if self.late else before)) + 1) / 2
            )
        follow(self.target, self.online, momentum)


class Bootstrap(Momentum):
    """An online network with a predictor, which learns to predict the target's embedding of the other view."""

    HEADS = ("projector", "predictor")
    predictor: nn.Module
    symmetric: bool
    """Each view is predicted from the other; else the second from the first."""
    weight = 1.0

    def forward(self, batch: Batch) -> Output:
        """Sum of the losses of all directions, times ``weight``; the embeddings are the predictions."""
        online, directions = self.online, [(0, 1), (1, 0)] if self.symmetric else [(0, 1)]
        predictions = [self.predictor(online(batch.views[student])) for student, _ in directions]
        with torch.no_grad():
            targets = [self.target(batch.views[teacher]) for _, teacher in directions]
        losses = [
            self.objective(self.gradient(p), z) for p, z in zip(predictions, targets, strict=True)
        ]
        return Output(self.weight * torch.stack(losses).sum(), torch.cat(predictions).detach())
