"""Indirectness: in what a measured run differs from the published one, and whether other data stand in."""

from collections.abc import Mapping
from typing import Any

from hypersphere.config import registry
from hypersphere.config.project import Config
from hypersphere.config.run import Component, Run
from hypersphere.datasets import training_sizes

PARTS = ("method", "optimiser", "views", "views_b")
"""Parts of a run that are named, and not described, where they differ."""


def differences(ours: Run, published: Run) -> list[str]:
    """The parts in which a measured run differs from the published one, in words: ``64 images a batch for 256``."""
    compared: list[tuple[str, Any, Any]] = [
        ("encoder {} for {}", _encoder(ours.encoder), _encoder(published.encoder)),
        *_of_data(ours, published),
        ("batches of {} for {}", ours.batch.size, published.batch.size),
        ("{} epochs for {}", ours.schedule.epochs, published.schedule.epochs),
    ]
    parts = [words.format(here, there) for words, here, there in compared if here != there]
    for part in PARTS:
        if getattr(ours, part) != getattr(published, part):
            parts.append(f"other {part.replace('_', ' ')}")
    return parts


def _of_data(ours: Run, published: Run) -> list[tuple[str, Any, Any]]:
    """Examples, pixels and steps, where the sizes of both datasets are stated."""
    here = training_sizes.stated(ours.dataset)
    there = training_sizes.stated(published.dataset)
    if not (here and there):
        return []
    examples = "{:,} training examples for {:,}", here.train, there.train
    if not registry.read_constant("trainers", ours.kind, "IMAGES", False):
        return [examples]
    steps = _steps(here.train, ours), _steps(there.train, published)
    return [examples, ("{:g} px for {:g}", here.side, there.side), ("{:,} steps for {:,}", *steps)]


def _steps(examples: int, run: Run) -> int:
    return examples // run.batch.size * run.schedule.epochs


def _encoder(encoder: Component) -> str:
    """``resnet (depth 18, stem cifar)``."""
    parameters = []
    for key, value in encoder.parameters.items():
        parameters.append(f"{key.replace('_', ' ')} {value}")
    return f"{encoder.name} ({', '.join(parameters)})" if parameters else encoder.name


def stands_in(config: Config, row: Mapping[str, Any]) -> bool:
    """Whether the images are of another set than the named one; a part of it, or smaller images of it, are its own."""
    measured, named = str(row["measured_on"]), str(row["dataset"])
    if measured not in config.datasets or named not in config.datasets:
        return True
    return _origin(config, measured) != _origin(config, named)


def _origin(config: Config, dataset: str) -> tuple[str, str, str]:
    """The published images or sentences that a dataset is made of, and its labels."""
    source = config.datasets[dataset].source
    if source is None:
        return dataset, "", ""
    given = source.parameters
    base = given.get("base", source.name)
    if source.name == "cifar":
        base = f"cifar{given.get('classes', 10)}"
    return base, given.get("labels", "class"), given.get("corpus", "")
