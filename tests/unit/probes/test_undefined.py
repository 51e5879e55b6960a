"""Whatever an encoder has become, each probe gives values or says that there are none, and the run's record is kept.

An encoder that collapsed to one point or to zero, one that gives no numbers, a target of one class: training may have
ended in order, and then nothing of the run may be lost (no file drawer).
"""

import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from hypersphere.config import records, registry
from hypersphere.config.artifacts import Protocol
from hypersphere.config.cells import PIXELS, on_pixels, raw_pixels
from hypersphere.config.measures import MEASURES
from hypersphere.config.plan import Evaluation, Plan
from hypersphere.config.recipe import Views
from hypersphere.config.records import UNDEFINED, Measurement
from hypersphere.config.run import Dataset
from hypersphere.datasets.store import Named, PreparedSplit
from hypersphere.encoders.resnet8 import resnet8
from hypersphere.methods.heads import mlp
from hypersphere.probes import evaluate
from hypersphere.probes.frozen import Frozen
from hypersphere.provenance import digests, evidence
from hypersphere_control.encoders.pixel_convnet import pixel_convnet
from hypersphere_control.probes import score

CPU = torch.device("cpu")
CLASSES = 3


class Data:
    """Stands in for a prepared dataset, which has corrupted images too."""

    split_names = ("fog-1", "test", "train")

    def __init__(self, shape: tuple[int, ...], values: int, classes: int = CLASSES) -> None:
        self.shape, self.values, self.classes = shape, values, classes

    def split(self, name: str) -> PreparedSplit:
        random, n = np.random.default_rng(len(name)), 80 if name == "train" else 30
        labels = {"class": random.integers(0, self.classes, n)}
        images = random.integers(0, self.values, (n, *self.shape)).astype(np.uint8)
        return PreparedSplit(images, Named(labels, "labels"), Named({}, "attribute"), np.arange(n))

    def class_names(self, label: str = "class") -> tuple[str, ...]:
        return tuple(map(str, range(self.classes)))


class Words(nn.Module):
    """An encoder of sentences: how often each word is there, sentence by sentence, by a linear map."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(20, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        counts = nn.functional.one_hot(tokens.long(), 20).sum(dim=2).float()
        return torch.cat([self.linear(counts), self.linear(counts)], dim=2).flatten(1)


class Still:
    """A control task of black frames, whose reward is an action's sign."""

    actions = 1

    def reset(self, seed: int, *purpose: str | int) -> np.ndarray:
        return np.zeros((3, 8, 8), dtype=np.uint8)

    def act(self, action: np.ndarray) -> tuple[np.ndarray, float]:
        return self.reset(0), float(action[0] > 0)


def filled(module: nn.Module, value: float) -> nn.Module:
    """With this value in place of all weights."""
    for parameter in module.parameters():
        nn.init.constant_(parameter, value)
    return module


class At(nn.Module):
    """Some rows, or all, become a value."""

    def __init__(self, value: float, every: int = 1) -> None:
        super().__init__()
        self.value, self.every = value, every

    def forward(self, x: Tensor) -> Tensor:
        x = x.clone()
        x[:: self.every] = self.value
        return x


SOURCE = {
    "name": "control_task",
    "domain": "made",
    "task": "still",
    "action_repeat": 100,
    "size": 8,
}
TASK = Dataset.model_validate({"name": "still", "source": SOURCE})
OBJECTIVE = SimpleNamespace(name="nt_xent", parameters={"temperature": 0.5})
RUN: Any = SimpleNamespace(
    branches=(Views(), Views()), objective=OBJECTIVE, logits=None, seed=0, dataset=TASK
)


def networks(package: str) -> tuple[nn.Module, nn.Module]:
    """An encoder and a head of untrained weights, of what a package's probes look at."""
    torch.manual_seed(0)
    if package == "hypersphere_text":
        return Words(), nn.Identity()
    if package == "hypersphere_control":
        encoder = pixel_convnet(frames=2, size=6, filters=2, layers=1)
        return encoder, nn.Linear(int(encoder.feature_dim), 2)  # type: ignore[call-overload]
    return resnet8(width=2), mlp([8, 7, 3], batch_norm=True)


SHAPES = {"hypersphere": (12, 12, 3), "hypersphere_text": (2, 6), "hypersphere_control": (8, 8, 3)}


def worlds(package: str) -> Iterator[tuple[str, Frozen]]:
    """By name: encoders that have become something else, and data on which little can be measured."""

    def frozen(
        encoder: nn.Module, head: nn.Module, values: int = 20, classes: int = CLASSES
    ) -> Frozen:
        return Frozen(encoder, head, Data(SHAPES[package], values, classes), CPU, run=RUN)  # type: ignore[arg-type]

    for name, value in {"constant": 1.0, "zero": 0.0, "no number": math.nan}.items():
        encoder, head = networks(package)
        yield name, frozen(filled(encoder, value), nn.Sequential(head, At(value)))
    for name, value in {"some zero": 0.0, "some infinite": math.inf, "some huge": 3e38}.items():
        encoder, head = networks(package)
        yield name, frozen(encoder, nn.Sequential(head, At(value, every=7)))
    yield "one class", frozen(*networks(package), classes=1)
    yield "equal images", frozen(*networks(package), values=1)
    yield "usual", frozen(*networks(package))


def quick(name: str) -> dict[str, Any]:
    """Parameters by which a probe takes no time."""
    given = {
        "k": 20,
        "epochs": 2,
        "copies": 2,
        "episodes": 2,
        "folds": 3,
        "iterations": 5,
        "words": 15,
    }
    given |= {"hidden": 8} if name == "mlp" else {}
    return {
        key: value
        for key, value in given.items()
        if key in registry.schema("probes", name).model_fields
    }


def packed(plan: Plan, name: str, encoders: dict[str, Frozen]) -> dict[str, list[Measurement]]:
    """What the record of a run says of one probe on each of these, written and read: of the encoder, and of pixels."""
    run, epoch = plan.batches[0].runs[0], 4
    protocol = Protocol.model_validate({"probe": {"name": name, **quick(name)}})
    about = {"protocol": protocol.model_dump(mode="json", include={"probe", "layer"}), "threads": 1}
    about |= {"code": digests.protocol_digest(protocol, run), "data": {}}
    asked = Evaluation(protocol, {(epoch, target) for target in encoders})
    plan.__dict__["evaluations"] = {run.name: {protocol.digest: asked}}
    found = {(epoch, target): frozen for target, frozen in encoders.items()}
    evaluate._write(
        plan.evaluation_file(run.name, protocol.digest), run.name, protocol, found, about, CPU
    )
    for target, frozen in encoders.items() if on_pixels(protocol) else ():
        pixels = {(0, target): Frozen(nn.Flatten(), nn.Identity(), frozen._data, CPU)}
        evaluate._write(
            plan.evaluation_file(raw_pixels(target), protocol.digest),
            PIXELS,
            protocol,
            pixels,
            about,
            CPU,
        )
    (record,) = records.read_folder(evidence.pack(plan, run), plan.config.scale_name)
    answers = [*record.evaluations, *record.pixels]
    return {target: [one for one in answers if one.target == target] for target in encoders}


@pytest.mark.parametrize("name", registry.names("probes"))
@pytest.mark.filterwarnings("error")
def test_every_probe_of_any_encoder_has_values_or_says_that_there_are_none_and_is_recorded(
    tiny_plan: Plan, finished: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Of an encoder that gives no numbers no measure has one, unless it is of the data alone."""
    shutil.copytree(finished / "results", tiny_plan.config.root / "results")
    monkeypatch.setattr(
        score, "_simulators", lambda settings, count: tuple(Still() for _ in range(count))
    )
    package = registry.module_name("probes", name).partition(".")[0]
    found = packed(tiny_plan, name, dict(worlds(package)))
    every = registry.read_constant("probes", name, "MEASURES", ())
    own = {measure for measure in every if not MEASURES[measure].of_baseline}
    for target, answers in found.items():
        assert own <= {one.measure for one in answers} <= set(every)
        for one in answers:
            lacks = one.status == UNDEFINED or records.is_of_a_part(one.reading)
            assert (one.value is not None) or lacks, f"{target}: {one}"
    assert "finished" in {one.status for one in found["usual"]}
    of_encoder = [
        one for one in found["no number"] if one.epoch and not MEASURES[one.measure].of_data
    ]
    assert {one.status for one in of_encoder} <= {UNDEFINED}
