"""In which settings two runs differ: defaults count, and what replaces another thing is one setting."""

from hypersphere.config.difference import between
from hypersphere.config.run import Component, Run

from ...fixtures import Planned


def some_run(planned: Planned) -> Run:
    """SimCLR on cats, at seed 0."""
    return next(iter(planned().runs.values()))


def test_a_run_differs_in_no_setting_from_its_other_seeds(planned: Planned) -> None:
    run = some_run(planned)
    assert between(run, run) == {}
    assert between(run, run.of_seed(7)) == {}


def test_each_field_is_a_setting_in_the_order_of_a_run_and_a_default_is_said(
    planned: Planned,
) -> None:
    """The default of hue is 0.2 in project.yaml, and SimCLR's head has batch norm only if a file says so."""
    run = some_run(planned)
    method = Component(**{**run.method.model_dump(), "batch_norm": True})
    batch = run.batch.model_copy(update={"size": 512})
    views = run.views.model_copy(update={"hue": 0.4})
    other = run.model_copy(update={"batch": batch, "method": method, "views": views})
    assert between(run, other) == {
        "views.hue": ("0.2", "0.4"),
        "method.batch_norm": ("false", "true"),
        "batch.size": ("256", "512"),
    }
    assert [*between(run, other)] == ["views.hue", "method.batch_norm", "batch.size"]


def test_what_stands_in_place_of_another_thing_is_one_setting(planned: Planned) -> None:
    run = some_run(planned)
    dogs = planned().config.datasets["dogs"]
    cut = Component(name="cut_initialisation", c=9)
    encoder = Component(name="resnet", depth=18)
    other = run.model_copy(update={"encoder": encoder, "initialisation": cut, "dataset": dogs})
    assert between(run, other) == {
        "dataset": ("cats", "dogs"),
        "encoder": ("resnet8", "resnet (depth 18)"),
        "initialisation": ("none", "cut_initialisation (c 9)"),
    }
    assert between(other, run)["initialisation"] == ("cut_initialisation (c 9)", "none")


def test_of_one_dataset_its_parts_are_settings(planned: Planned) -> None:
    run = some_run(planned)
    fewer = run.dataset.model_copy(update={"test_per_class": 3})
    assert between(run, run.model_copy(update={"dataset": fewer})) == {
        "dataset.test_per_class": ("none", "3")
    }
