"""Each choice that a document leaves open has an arm with another choice, or says why it has none."""

from itertools import chain

import pytest

from hypersphere.config.artifacts import OpenChoice, Paper
from hypersphere.config.cells import SHARED
from hypersphere.config.coordinates import text

from .released import configured, released

PAPERS = {name: paper for name, paper in configured().papers.items() if paper.open_choices}
ARTIFACTS = [
    (name, key)
    for name, paper in PAPERS.items()
    for key in paper.measured
    if key.startswith("open_choices")
]


def silent(paper: Paper) -> list[str]:
    """The choices that name neither an arm nor a reason."""
    return [
        one.choice for one in chain(*paper.open_choices.values()) if not one.arms and not one.no_arm
    ]


@pytest.mark.parametrize("name", PAPERS)
def test_every_choice_names_an_arm_or_a_reason(name: str) -> None:
    """The control: a plain sentence names neither."""
    assert len(PAPERS) == 5
    assert silent(PAPERS[name]) == []
    plain = PAPERS[name].model_copy(
        update={"open_choices": {"all": [OpenChoice.model_validate("no blur")]}}
    )
    assert silent(plain) == ["no blur"]


@pytest.mark.parametrize("name", PAPERS)
def test_every_arm_of_open_choices_is_named_by_a_choice(name: str) -> None:
    """But those whose choice is an erratum's: the text has another loss than the authors' code (N24)."""
    named = {arm for one in chain(*PAPERS[name].open_choices.values()) for arm in one.arms}
    unnamed = {variant for variant in PAPERS[name].variants if variant.startswith("open_")} - named
    assert unnamed == ({"open_authors_loss"} if name == "embedding_norms" else set())


@pytest.mark.parametrize("name", PAPERS)
def test_every_arm_that_a_choice_names_is_in_an_artifact_made_from_runs(name: str) -> None:
    """As a variant, an evaluation, or a coordinate."""
    paper = PAPERS[name]
    known = set[object]()
    for artifact in paper.measured.values():
        for point in artifact.points:
            known |= {point["variant"], point.get("by", artifact.by)}
            known |= {text({key: value}) for key, value in point.items()}
    named = {arm for one in chain(*paper.open_choices.values()) for arm in one.arms}
    assert named - known == set()
    assert "open_nothing" not in known  # the control


@pytest.mark.parametrize(("name", "key"), ARTIFACTS)
def test_arms_are_runs_of_their_own_beside_a_baseline(name: str, key: str) -> None:
    """At the published scale all; at laptop those whose field the scale leaves as it is, and always the baseline."""
    artifact = PAPERS[name].measured[key]
    assert (artifact.draw, artifact.made_at) == ("dots", ["laptop", "paper"])
    lost = dict[str, dict[str, str]]()
    for scale in ("paper", "laptop"):
        lost[scale] = {
            cell: reason for cell, reason in released(scale).missing(name, key).items() if reason
        }
    assert lost["paper"] == {}
    assert all(reason.startswith(SHARED) for reason in lost["laptop"].values()), lost
    baselines = {point.text for point in artifact.points if artifact.compared_with(point) is None}
    assert baselines
    assert not baselines & lost["laptop"].keys()
