"""In what a measured run differs from the published one, and which data stand in for others."""

import pytest

from hypersphere.config import project
from hypersphere.config.run import Component, Run
from hypersphere.datasets import training_sizes
from hypersphere.datasets.training_sizes import Size
from hypersphere.statistics import indirectness

from ...golden.released import ROOT, released
from .world import Make

LAPTOP = project.load(ROOT, {"scale": "laptop"})


@pytest.mark.parametrize(
    ("dataset", "on", "stands_in"),
    [
        ("cifar10_lt", "cifar10_lt_5k_10k_16px", False),
        ("cifar100", "cifar100_5k_10k_16px", False),
        ("colored_mnist_1", "colored_mnist_1_5k_10k_14px", False),
        ("bookcorpus", "novels", True),
        ("stl10", "cifar20_15k", True),
        ("flowers102_lt", "cifar20_lt_5k_10k_16px", True),
        ("cifar10", "digits", True),
        ("cifar10", "no_longer_listed", True),
    ],
)
def test_a_part_of_the_named_set_is_no_stand_in(dataset: str, on: str, stands_in: bool) -> None:
    assert indirectness.stands_in(LAPTOP, {"dataset": dataset, "measured_on": on}) == stands_in


def test_a_run_that_is_the_published_one_differs_in_nothing(make_world: Make) -> None:
    """SimCLR on imbalanced CIFAR-10 (norms paper, App. C.1): 14,736 images of 32 px in batches of 256, 500 epochs."""
    run = next(iter(make_world(seeds=[0]).plan.runs.values()))

    def changed(dataset: str, batch: int, epochs: int) -> Run:
        batches, schedule = run.batch.model_copy(update={"size": batch}), {"epochs": epochs}
        trained = {"batch": batches, "schedule": run.schedule.model_copy(update=schedule)}
        return run.model_copy(update={"dataset": LAPTOP.datasets[dataset], **trained})

    ours, theirs = changed("cifar10_lt_5k_10k_16px", 64, 100), changed("cifar10_lt", 256, 500)
    assert indirectness.differences(theirs, theirs) == []
    said = "; ".join(indirectness.differences(ours, theirs))
    for part in (
        "for 14,736",
        "16 px for 32",
        "64 for 256",
        "100 epochs for 500",
        f"for {14736 // 256 * 500:,}",
    ):
        assert part in said, (part, said)


def test_every_difference_is_named_in_its_order(make_world: Make) -> None:
    """Each with ours first; a part that needs many words is named alone. Sets of unknown size are not compared."""
    run = next(iter(make_world(seeds=[0]).plan.runs.values()))
    deeper = Component(name="resnet18", cut_at=3)
    other = run.model_copy(
        update={
            "encoder": deeper,
            "batch": run.batch.model_copy(update={"size": 256}),
            "schedule": run.schedule.model_copy(update={"epochs": 7}),
            "optimiser": run.optimiser.model_copy(update={"weight_decay": 9.0}),
            "views_b": run.views.model_copy(),
        }
    )
    known = "cifar10_lt"
    run, other = (
        one.model_copy(update={"dataset": LAPTOP.datasets[known]}) for one in (run, other)
    )
    steps = [14736 // one.batch.size * one.schedule.epochs for one in (run, other)]
    assert indirectness.differences(run, other) == [
        "encoder resnet8 (width 2) for resnet18 (cut at 3)",
        f"{steps[0]:,} steps for {steps[1]:,}",
        "batches of 64 for 256",
        "100 epochs for 7",
        "other optimiser",
        "other views b",
    ]
    unknown = run.dataset.model_copy(update={"name": "nowhere", "source": None})
    nowhere = other.model_copy(update={"dataset": unknown})
    assert not any("steps" in one for one in indirectness.differences(run, nowhere))
    bare = run.model_copy(update={"encoder": Component(name="resnet8")})
    assert indirectness.differences(bare, run) == ["encoder resnet8 for resnet8 (width 2)"]


def test_sentences_are_compared_in_number_and_not_in_pixels() -> None:
    """Sets of images have pixels and steps, too."""
    run = next(run for run in released("laptop").runs.values() if run.kind == "text")
    sizes = {
        "novels": Size(side=32, classes=2, train=1000),
        "bookcorpus": Size(side=32, classes=2, train=5000),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_sizes, "stated", lambda dataset: sizes[dataset.name])
        named = [run.dataset.model_copy(update={"name": name}) for name in sizes]
        ours, theirs = [run.model_copy(update={"dataset": dataset}) for dataset in named]
        said = indirectness.differences(ours, theirs)
        assert said == ["1,000 training examples for 5,000"]
        image = ours.model_copy(update={"kind": "image"})
        steps = [size // run.batch.size * run.schedule.epochs for size in (1000, 5000)]
        expected = [*said, f"{steps[0]:,} steps for {steps[1]:,}"]
        assert indirectness.differences(image, theirs) == expected
