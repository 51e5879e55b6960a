"""Pairs of a method and an objective take two steps, or say in a sentence why they cannot.

SimCLR is trained with all, other methods with the ends of their lists; `hypersphere rehearse` tries all planned runs.
"""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from hypersphere.config import registry

from ...fixtures import Refused
from ...of_images import METHODS as OF_IMAGES
from .conftest import IMAGES, execute, make_run
from .test_build import GENERALISED, SCALED

pytestmark = pytest.mark.heavy

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "compatibility.md"
METHODS, OBJECTIVES = registry.names("methods"), registry.names("objectives")


def some_value(annotation: Any) -> Any:
    """A value that a parameter without a default takes."""
    choices = getattr(annotation, "__args__", None)
    return choices[0] if choices else {bool: True, int: 2}.get(annotation, 0.5)


def component(kind: registry.Kind, name: str) -> dict[str, Any]:
    """With a value for each parameter that has no default."""
    fields = registry.schema(kind, name).model_fields
    return {"name": name} | {
        key: some_value(f.annotation) for key, f in fields.items() if f.is_required()
    }


def pair(method: str, objective: str, logits: str = "cosine_logits") -> dict[str, Any]:
    """Two epochs of one step of two passes; the encoder that the method can train."""
    (encoder, *_) = registry.read_constant("methods", method, "ENCODERS", ("resnet8",))
    open_map = registry.TO_LOGITS in registry.tensors("objectives", objective)
    mapped = {"logits": component("logits", logits)} if open_map else {}
    narrow = {"width": 2} if "width" in registry.schema("encoders", encoder).model_fields else {}
    return mapped | {
        "method": component("methods", method),
        "objective": component("objectives", objective),
        "encoder": component("encoders", encoder) | narrow,
        "optimiser": {"learning_rate": 0.01},
        "schedule": {"epochs": 2},
        "batch": {"size": 16, "micro": 8},
    }


FITTING = [one for one in product(OF_IMAGES, OBJECTIVES) if registry.misfit(*one) is None]
BY_METHOD = {
    method: [objective for of, objective in FITTING if of == method] for method in OF_IMAGES
}
TRAINED = [("simclr", objective) for objective in BY_METHOD["simclr"]]
TRAINED += [(method, BY_METHOD[method][-1]) for method in BY_METHOD if method != "simclr"]
"""All objectives with SimCLR, and with every other method the last that fits; the plans have the rest."""
OPEN = [
    one for one in BY_METHOD["simclr"] if registry.TO_LOGITS in registry.tensors("objectives", one)
]
MAPPED = [("simclr", OPEN[0], one) for one in registry.names("logits") if one != "cosine_logits"]
"""Every other map to logits, with one objective that takes one."""


@pytest.mark.parametrize(
    ("method", "objective", "logits"), [*((m, o, "cosine_logits") for m, o in TRAINED), *MAPPED]
)
def test_a_pair_that_fits_takes_two_steps(
    tmp_path: Path, method: str, objective: str, logits: str
) -> None:
    """The wiring holds, nothing becomes infinite, and the encoder has moved."""
    run = make_run(**pair(method, objective, logits))
    outcome = execute(run, IMAGES, tmp_path)
    assert (outcome.status, outcome.epochs) == ("finished", 2)
    before, after = (
        tmp_path / name for name in ("snapshots/epoch-0000.safetensors", "encoder.safetensors")
    )
    assert before.read_bytes() != after.read_bytes()


MISFITS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("logits", {"objective": GENERALISED}),  # without a map to logits
    ("logits", {"logits": SCALED}),  # which the objective does not take
    ("encoder", {"method": {"name": "cmc", "dim": 4}}),  # without an encoder of two streams
    ("regulariser", {"regulariser": {"name": "momentum_contrast", "temperature": 0.1}}),
    ("regulariser.wait", {"regulariser": {"name": "distance_polarization", "wait": 1}}),
)


def test_what_does_not_fit_is_one_sentence(refused: Refused) -> None:
    for method, objective in product(METHODS, OBJECTIVES):
        if registry.misfit(method, objective) is not None:
            with refused("objective", kind=ValidationError):
                make_run(**pair(method, objective))
    for field, changes in MISFITS:
        with refused(field, kind=ValidationError):
            make_run(**changes)


def test_every_method_trains_with_something_and_every_objective_is_trained_by_something() -> None:
    assert {method for method, _ in FITTING} == set(OF_IMAGES)
    assert {objective for _, objective in FITTING} == set(OBJECTIVES)


def table() -> str:
    """Which objective trains with which method: ``yes``, ``added`` (as a regulariser only) or nothing."""

    def cell(method: str, objective: str) -> str:
        if registry.misfit(method, objective) is None:
            return "yes"
        return "added" if registry.misfit(method, objective, main=False) is None else ""

    rows = [["objective", *(f"`{method}`" for method in METHODS)], ["---", *[":-:"] * len(METHODS)]]
    rows += [[f"`{name}`", *(cell(method, name) for method in METHODS)] for name in OBJECTIVES]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def test_the_page_has_the_table_as_it_is_now() -> None:
    """What it lacks is in the message of the failure."""
    assert f"<!-- compatibility -->\n{table()}\n<!-- end -->" in PAGE.read_text(encoding="utf-8"), (
        table()
    )
