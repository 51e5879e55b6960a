"""One run on several processes, as ``torchrun`` starts them: the same weights as on one, up to rounding.

Each process encodes its share of every batch. Features are gathered, so that heads, losses, queues and centres see the
whole batch everywhere, and no method knows that it is shared. Batch norms of the encoder take their statistics over the
whole batch. Gradients of the encoder are added up; those of the heads are equal everywhere.

Shapes: n images of a batch, of which each of p processes has n/p, in order; c channels.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere.errors import HypersphereError

BACKENDS = "cpu:gloo,cuda:nccl"


class Group:
    """The processes that train a run together. This one is alone: nothing is shared, and nothing is asked."""

    number = 0
    count = 1

    @property
    def first(self) -> bool:
        """Whether this process writes the results."""
        return self.number == 0

    def share(self, rows: Tensor) -> Tensor:
        """This process's part of a batch."""
        return rows

    def gather(self, part: Tensor, dim: int = 0) -> Tensor:
        """The whole batch from everybody's part; its gradient is this process's part of the whole gradient."""
        return part

    def largest(self, *values: float) -> list[float]:
        """The largest of everybody's values, one by one."""
        return list(values)

    def wait(self) -> None:
        """Until all processes have come here."""

    def join(self, method: nn.Module) -> None:
        """Let the encoders of a method share their batches from now on."""

    def add_gradients(self, method: nn.Module) -> None:
        """Add up the gradients of shared encoders, after the backward pass."""

    def check(self, method: nn.Module, step: int) -> None:
        """Raise an error unless all processes have the same weights after the same number of steps."""


class Workers(Group):
    """Several processes, each with a number from 0 and a device of its own."""

    def __init__(self) -> None:
        self.number, self.count = dist.get_rank(), dist.get_world_size()

    def share(self, rows: Tensor) -> Tensor:
        """This process's part of a batch, which must divide evenly.

        Raises:
            HypersphereError: it does not.
        """
        if len(rows) % self.count:
            raise HypersphereError(
                f"{len(rows)} images of a pass cannot be shared equally by {self.count} processes; "
                f"start as many as divide batch.micro"
            )
        return rows.chunk(self.count)[self.number]

    def gather(self, part: Tensor, dim: int = 0) -> Tensor:
        """The whole batch from everybody's part; its gradient is this process's part of the whole gradient."""
        gathered: Tensor = _Gather.apply(part, dim)
        return gathered

    def largest(self, *values: float) -> list[float]:
        """The largest of everybody's values, one by one. All must call it equally often; it never waits for a GPU."""
        agreed = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(agreed, dist.ReduceOp.MAX)
        return agreed.tolist()

    def wait(self) -> None:
        """Until all processes have come here."""
        dist.barrier()

    def join(self, method: nn.Module) -> None:
        """Let the encoders of a method share their batches from now on."""
        for encoder in _encoders(method):
            _synchronise_batch_norms(encoder)
            encoder.register_forward_pre_hook(lambda _, given: tuple(map(self.share, given)))
            encoder.register_forward_hook(lambda _, __, features: self.gather(features))

    def add_gradients(self, method: nn.Module) -> None:
        """Add up the gradients of shared encoders, after the backward pass."""
        shared = [parameter.grad for encoder in _encoders(method) for parameter in encoder.parameters()]
        gradients = [gradient for gradient in shared if gradient is not None]
        if not gradients:
            return
        flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
        dist.all_reduce(flat)
        for gradient, total in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(total.view_as(gradient))

    def check(self, method: nn.Module, step: int) -> None:
        """Raise an error unless all processes have the same weights after the same number of steps.

        Raises:
            HypersphereError: they differ.
        """
        sums = [value.detach().double().sum().item() for value in method.state_dict().values()]
        own = [float(step), *(value if value == value else 0.0 for value in sums)]  # a diverged run's are no numbers
        least = [-value for value in self.largest(*(-value for value in own))]
        if self.largest(*own) != least:
            raise HypersphereError(f"after step {step}, process {self.number} of {self.count} has weights of its own")


@contextmanager
def joined(device: torch.device) -> Iterator[Group]:
    """The group that ``torchrun`` started, on one machine or several that see one file system; else this process alone.

    Args:
        device: of this process: collective operations on a GPU need to know it.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or "MASTER_ADDR" not in os.environ:
        yield Group()
        return
    dist.init_process_group(BACKENDS if device.type == "cuda" else "gloo")
    try:
        yield Workers()
    finally:
        dist.destroy_process_group()


class _Gather(torch.autograd.Function):
    """All parts, one behind the other. Every process computes the whole loss, so each part's gradient is complete."""

    @staticmethod
    def forward(context: Any, part: Tensor, dim: int) -> Tensor:
        context.dim = dim
        parts = [torch.empty_like(part, memory_format=torch.contiguous_format) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, part.contiguous())
        return torch.cat(parts, dim)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0].chunk(dist.get_world_size(), context.dim)[dist.get_rank()], None


class _Sum(torch.autograd.Function):
    """The sum over all processes. Each uses it for its own part of the loss, so their gradients add up too."""

    @staticmethod
    def forward(context: Any, value: Tensor) -> Tensor:
        total = value.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> Tensor:
        total = gradients[0].clone()
        dist.all_reduce(total)
        return total


class BatchNorm(nn.BatchNorm2d):
    """Batch norm over the images of all processes. torch's own, ``SyncBatchNorm``, does not run on a CPU."""

    def forward(self, images: Float[Tensor, "n c h w"]) -> Float[Tensor, "n c h w"]:
        """As ``nn.BatchNorm2d`` does it for the whole batch; in evaluation nothing is shared."""
        if not self.training:
            return super().forward(images)
        total: Callable[[Tensor], Tensor] = _Sum.apply
        values = images.float() if images.dtype in (torch.bfloat16, torch.float16) else images
        count = values.numel() // values.shape[1] * dist.get_world_size()
        mean = total(values.sum((0, 2, 3))) / count
        centred = values - mean[:, None, None]
        variance = total(centred.square().sum((0, 2, 3))) / count
        self._follow(mean.detach(), variance.detach() * count / (count - 1))
        scale = torch.rsqrt(variance + self.eps) * self.weight
        return (centred * scale[:, None, None] + self.bias[:, None, None]).to(images.dtype)

    @torch.no_grad()
    def _follow(self, mean: Float[Tensor, "c"], variance: Float[Tensor, "c"]) -> None:
        """Move the running statistics."""
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        assert self.momentum is not None
        self.num_batches_tracked += 1
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), self.momentum)
        self.running_var.lerp_(variance.to(self.running_var.dtype), self.momentum)


def _encoders(method: nn.Module) -> list[nn.Module]:
    """The encoders of a method, a target's too; of an encoder with several streams, the backbone of each."""
    encoders = [module for name, module in method.named_modules() if name.rpartition(".")[2] == "encoder"]
    return [part for one in encoders for part in getattr(one, "backbones", [one])]


def _synchronise_batch_norms(module: nn.Module) -> None:
    """Let batch norms see all processes' images. Parameters and their names stay."""
    for one in module.modules():
        if type(one) is nn.BatchNorm2d:
            one.__class__ = BatchNorm
