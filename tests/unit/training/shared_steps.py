"""Two steps of every method in float64, by all the processes that torchrun started: ``shared_steps.py ROOT TARGET``.

The first process writes each run's losses, gradients and weights to TARGET/<run>.safetensors; and those of SimCLR with
batch norms that see their own process's images alone to TARGET/local.safetensors.
"""

import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from hypersphere.config import plan as planning
from hypersphere.config.run import Run
from hypersphere.datasets import store
from hypersphere.training import loop, optimisation, processes
from hypersphere.training.build import build_method
from hypersphere.training.contract import Execution
from hypersphere.training.determinism import make_deterministic
from hypersphere.training.images import Images, training_images
from hypersphere.training.processes import Group, joined
from hypersphere.training.trainers.image import Views

CPU = torch.device("cpu")
SETTINGS: dict[str, Any] = {"scale": "methods", "batch_divisor": 8}


class Doubles(Views):
    """Views in float64."""

    def views(self, index: Tensor) -> Tensor:
        return super().views(index).double()


def steps(run: Run, images: Images, group: Group, checked: bool = True) -> dict[str, Tensor]:
    """Losses and norms of two steps, the second one's gradients, and the weights and buffers after it."""
    source, execution = Doubles(run, images, CPU), Execution(CPU, frozenset(), {}, group=group)
    method = build_method(run, len(images.labels), int(images.labels.max()) + 1).double().train()
    optimiser = optimisation.build(method, run.optimiser)
    optimisation.set_rate(optimiser, 0.1, 1.0)
    group.join(method)
    source.start(0)
    means, indices = [], [part.flip(0) for part in torch.arange(2 * run.batch.size).split(run.batch.size)]
    views = loop.passes_of(source, indices, 0, run.batch.micro, group)
    for number, index in enumerate(indices):
        moment = run.seed, 0, number
        means.append(loop._step(run, method, optimiser, views, index, source.labels, moment, execution))
        method.after_step(number / 2, (number + 1) / 2)
    gradients = {f"gradient.{name}": p.grad for name, p in method.named_parameters() if p.grad is not None}
    if checked:
        group.check(method, 2)
    found = {"means": torch.stack(means), **gradients, **method.state_dict()}
    return {name: value.detach().clone().contiguous() for name, value in found.items()}


def main(root: Path, target: Path) -> None:
    make_deterministic(1)
    plan = planning.make(root, SETTINGS)
    runs = {name: run for name, run in plan.runs.items() if run.kind == "image"}

    def save(run: Run, name: str, checked: bool = True) -> None:
        found = steps(run, training_images(store.open(plan.data_folder(run.dataset))), group, checked)
        if group.first:
            save_file(found, target / f"{name}.safetensors")

    with joined(CPU) as group:
        for name, run in runs.items():
            save(run, name)
        processes._synchronise_batch_norms = lambda module: None
        save(next(run for run in runs.values() if run.method.name == "simclr"), "local", checked=False)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
