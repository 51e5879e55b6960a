"""Runs are frozen, strict, and named by what differs from the defaults."""

import hashlib
import json
from typing import Any

import pytest
from pydantic import ValidationError

from hypersphere.config import registry
from hypersphere.config.recipe import Views
from hypersphere.config.run import Dataset, Run

from ...fixtures import Refused

pytestmark = pytest.mark.pythons

RUN: dict[str, Any] = {
    "dataset": {"name": "noise", "source": {"name": "digits"}},
    "views": {},
    "method": {"name": "simclr", "hidden": 8, "dim": 4},
    "objective": {"name": "nt_xent", "temperature": 0.5},
    "encoder": {"name": "resnet8"},
    "optimiser": {"learning_rate": 0.18, "weight_decay": 0.0},
    "schedule": {"epochs": 4, "warmup": 0.0},
    "batch": {"size": 8, "micro": 8},
    "seed": 3,
}


OPTIMISER, SCHEDULE, BATCH = RUN["optimiser"], RUN["schedule"], RUN["batch"]


@pytest.mark.parametrize(
    "same",
    [
        {
            "gradient": None,
            "initialisation": None,
            "logits": None,
            "regulariser": None,
            "views_b": None,
        },
        {"encoder": {"name": "resnet8", "width": 16, "stride": 1}},
        {"views": {"flip": 0.5, "crop_scale": [0.2, 1.0]}},
        {
            "views": {
                "crop_padding": None,
                "side": None,
                "normalisation": None,
                "blur": 0,
                "blur_kernel": 3,
                "jitter_coins": "each",
                "solarize": 0,
            }
        },
        {
            "dataset": {
                "name": "noise",
                "source": {"name": "digits", "task": "upright"},
                "imbalance": None,
            }
        },
        {"optimiser": {"learning_rate": 0.18, "weight_decay": 0, "momentum": 0.9, "name": "sgd"}},
        {"optimiser": OPTIMISER | {"decay": "all", "betas": [0.9, 0.999], "trust": 0.001}},
        {"schedule": SCHEDULE | {"shape": "cosine", "drops": [], "factor": 0.1}},
        {"schedule": SCHEDULE | {"horizon": None, "counted_in": "steps"}},
        {"batch": BATCH | {"accumulate": "mean"}},
    ],
)
def test_writing_a_default_out_renames_nothing(same: dict[str, Any]) -> None:
    assert Run.model_validate(RUN | same).name == Run.model_validate(RUN).name


def test_every_other_value_renames() -> None:
    others: list[dict[str, Any]] = [
        {"seed": 4},
        {"encoder": {"name": "resnet8", "width": 8}},
        {"objective": {"name": "nt_xent", "temperature": 0.1}},
        {"dataset": RUN["dataset"] | {"imbalance": {"head": 5, "ratio": 1}}},
        {"gradient": {"name": "grad_scale", "power": 0}},
        {"regulariser": {"name": "distance_polarization", "weight": 0}},
        {"views": {"flip": 0.4}},
        *(
            {"views": {"normalisation": {"mean": [0, 0, 0], "std": [1, 1, last]}}}
            for last in (1, 2)
        ),
        {"views": {"side": 8}},
        {"views_b": {"flip": 0.1}},
        *({"optimiser": OPTIMISER | one} for one in ({"decay": "weights"}, {"name": "adam"})),
        *(
            {"schedule": SCHEDULE | one}
            for one in ({"shape": "constant"}, {"horizon": 5}, {"counted_in": "passes"})
        ),
        {"batch": BATCH | {"accumulate": "sum"}},
    ]
    assert len({Run.model_validate(RUN | other).name for other in [{}, *others]}) == 1 + len(others)


CUT = {"name": "cut_initialisation", "c": 3.0}
GRADSCALE = {"name": "grad_scale", "power": 0.5}
INFO_NCE = {"name": "generalised_info_nce", "negatives": "both_views"}
CURVATURE = {"name": "curvature", "temperature": 0.25, "c": 1.5, "curve": "algorithm_3"}


@pytest.mark.parametrize(
    ("change", "tag"),
    [
        ({}, "default"),
        ({"initialisation": CUT}, "cut3"),
        ({"initialisation": CUT | {"c": 2.5}, "gradient": GRADSCALE}, "cut2.5-gradscale0.5"),
        (
            {"regulariser": {"name": "distance_polarization", "weight": 0.1}},
            "distancepolarization0.1",
        ),
        ({"objective": INFO_NCE, "logits": CURVATURE}, "curvature0.25_1.5_algorithm_3"),
    ],
)
def test_the_name_has_a_tag_and_the_hash_of_what_differs_from_the_defaults(
    change: dict[str, Any], tag: str
) -> None:
    """The digest worked out here with json and hashlib; ``views`` has only defaults."""
    text = json.dumps(RUN | change, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    assert Run.model_validate(RUN | change).name == f"simclr-{tag}-noise-s3-{digest}"


def saying(monkeypatch: pytest.MonkeyPatch, **constants: Any) -> None:
    """Let every method's file say so, whatever it says."""
    real = registry.read_constant
    monkeypatch.setattr(
        registry,
        "read_constant",
        lambda kind, name, which, default: constants.get(which, real(kind, name, which, default)),
    )


WEAK: dict[str, Any] = {"grayscale": 0.0, "jitter_probability": 0.0}


def test_each_view_may_be_made_its_own_way_if_the_method_takes_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Margins paper, App. C.1: strong for the student, weak for the teacher."""
    run = Run.model_validate(RUN | {"views_b": WEAK})
    assert run.branches == (Views(), Views(grayscale=0.0, jitter_probability=0.0))
    assert Run.model_validate(RUN).branches == (Views(), Views())
    saying(monkeypatch, VIEWS=1, ENCODERS=("resnet", "resnet8"))
    run = Run.model_validate(RUN)
    assert (run.branches, run.encoder.name) == ((Views(),), "resnet8")


NORMALISATION = {"mean": [0.5, 0.5, 0.5], "std": [0.2, 0.2, 0.2]}
NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("field", "change", "constants"),
    [
        ("device", {"device": "cpu"}, {}),
        *((key, {key: ...}, {}) for key in RUN),
        *(
            ("objective.temperature", {"objective": {"name": "nt_xent", "temperature": value}}, {})
            for value in (NAN, INFINITE)
        ),
        *(
            (
                "optimiser.learning_rate",
                {"optimiser": {"learning_rate": value, "weight_decay": 0}},
                {},
            )
            for value in (NAN, INFINITE)
        ),
        ("views_b", {"views_b": RUN["views"]}, {}),
        ("views_b", {"views_b": WEAK}, {"VIEWS": 1}),
        ("views_b.side", {"views_b": WEAK, "views": {"side": 8}}, {}),
        ("views_b.normalisation", {"views_b": WEAK | {"normalisation": NORMALISATION}}, {}),
        ("views.normalisation", {"views": {"normalisation": NORMALISATION}}, {"SRGB": True}),
        ("encoder", {}, {"ENCODERS": ("resnet",)}),
        ("encoder", {}, {"ENCODERS": ("resnet", "vit")}),
        ("kind", {"kind": "contrl"}, {}),
    ],
    ids=str,
)
def test_what_is_no_run_is_said(
    monkeypatch: pytest.MonkeyPatch,
    refused: Refused,
    field: str,
    change: dict[str, Any],
    constants: dict[str, Any],
) -> None:
    """Every field is required, none is unknown, numbers are finite, and views and encoder are those of the method."""
    saying(monkeypatch, **constants)
    fields = {key: value for key, value in (RUN | change).items() if value is not ...}
    with refused(field, kind=ValidationError):
        Run.model_validate(fields)


def test_a_datasets_folder_changes_with_its_content() -> None:
    plain, base = Dataset.model_validate(RUN["dataset"]), RUN["dataset"]
    assert (
        plain.folder
        == Dataset.model_validate(base | {"source": {"name": "digits", "seed": 0}}).folder
    )
    assert plain.folder.startswith("noise-")
    assert (
        Dataset.model_validate(base | {"imbalance": {"head": 9, "ratio": 1.5}}).folder
        != plain.folder
    )
