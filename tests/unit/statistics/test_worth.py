"""What a change of settings is worth: by runs that differ in it alone, and by nothing else."""

from collections.abc import Sequence

import pytest
from scipy import stats

from hypersphere.config.coordinates import Position, in_order
from hypersphere.config.difference import Change
from hypersphere.statistics import worth
from hypersphere.statistics.worth import Worth

from .world import Make, World, at

ABOUT: Position = in_order(
    {"method": "simclr", "variant": "default", "dataset": "ten", "measure": "knn_top1"}
)
COLD, WARM, HOT = (70.0, 71.5, 72.0), (64.0, 63.0, 66.5), (60.0, 62.0, 61.0)
"""kNN accuracies at the temperatures 0.1, 0.5 and 1."""
SETTING = "objective.temperature"


@pytest.fixture
def world(make_world: Make) -> World:
    made = make_world()
    for temperature, values in ((0.1, COLD), (0.5, WARM), (1, HOT)):
        made.say("temperatures", at(objective__temperature=temperature), values)
    made.write()
    return made


def changed(first: str, second: str, setting: str = SETTING) -> dict[str, Change]:
    return {setting: Change(first, second)}


@pytest.mark.parametrize(
    ("values", "first", "second"),
    [(("0.5", "1.0"), WARM, HOT), (("1.0", "0.5"), HOT, WARM), (("0.1", "1.0"), COLD, HOT)],
)
def test_it_is_the_second_value_minus_the_first_with_the_interval_of_welch(
    world: World, values: tuple[str, str], first: Sequence[float], second: Sequence[float]
) -> None:
    """The expected interval is that of scipy.stats."""
    changes = changed(*values)
    (one,) = worth.explaining(worth.of_changes([world.plan], changes, ABOUT), changes)
    test = stats.ttest_ind(second, first, equal_var=False)
    low, high = test.confidence_interval(0.95)
    mean = sum(second) / 3 - sum(first) / 3
    assert (one.effect, one.low, one.high) == pytest.approx((mean, low, high))
    assert (one.n_first, one.n_second) == (3, 3)
    assert (one.scale, one.paper, one.method, one.dataset) == ("paper", "norms", "simclr", "ten")


def test_other_values_of_the_setting_are_known_and_explain_nothing(world: World) -> None:
    changes = changed("0.5", "0.9")
    found = worth.of_changes([world.plan], changes, ABOUT)
    assert worth.explaining(found, changes) == []
    nearest = worth.nearest(found, SETTING, changes[SETTING])
    assert nearest is not None
    assert nearest.changes == changed("0.5", "1.0")
    # the control: of another setting nothing is known
    assert worth.of_changes([world.plan], changed("0.1", "0.2", "views.hue"), ABOUT) == []


def test_numbers_of_another_measure_or_reading_are_not_compared(world: World) -> None:
    changes = changed("0.5", "1.0")
    assert worth.of_changes([world.plan], changes, in_order({**ABOUT, "measure": "norm"})) == []
    assert worth.of_changes([world.plan], changes, in_order({**ABOUT, "epoch": 50})) == []
    assert worth.of_changes([world.plan], changes, ABOUT) != []


def test_an_arm_that_lost_a_run_or_is_level_with_pixels_has_no_worth(make_world: Make) -> None:
    """Other cells have 140 or more at the end of training, so that 40 is not above its untrained encoder's."""
    changes = changed("0.5", "1.0")
    for values in ((60.0, None, 61.0), (40.0, 41.0, 40.5)):
        made = make_world()
        made.say("temperatures", at(objective__temperature=0.5), WARM)
        made.say("temperatures", at(objective__temperature=1), values)
        made.write()
        found = worth.of_changes([made.plan], changes, ABOUT)
        assert worth.explaining(found, changes) == [], values


def made_up(effect: float, method: str = "simclr", **changes: tuple[str, str]) -> Worth:
    return Worth(
        {key.replace("__", "."): Change(*values) for key, values in changes.items()},
        *(effect, effect - 1, effect + 1),
        *(5, 5),
        *("laptop", "norms", method, "ten"),
    )


def test_each_setting_is_explained_once_and_settings_that_changed_together_first() -> None:
    both = made_up(3, views__hue=("0.1", "0.2"), views__blur=("0.0", "0.5"))
    alone = made_up(9, views__hue=("0.1", "0.2"))
    rate = made_up(1, optimiser__learning_rate=("0.1", "0.3"))
    again = made_up(2, optimiser__learning_rate=("0.1", "0.3"))
    changes = dict(both.changes) | dict(rate.changes)
    assert worth.explaining([alone, rate, again, both], changes) == [both, rate]
    assert worth.explaining([alone, rate], dict(alone.changes)) == [alone]


def test_the_nearest_values_are_those_of_the_nearest_ratio_in_the_nearest_records() -> None:
    far = made_up(9, views__hue=("0.001", "0.002"))
    near = made_up(1, views__hue=("0.1", "0.3"))
    elsewhere = made_up(5, "byol", views__hue=("0.1", "0.2"))
    found = [far, near, elsewhere]
    assert worth.nearest(found, "views.hue", Change("0.1", "0.2")) == near
    assert worth.nearest(found, "views.hue", Change("0.001", "0.003")) == far
    assert worth.nearest(found, "views.hue", Change("none", "0.3")) == near
    assert worth.nearest(found, "views.blur", Change("0.1", "0.2")) is None
