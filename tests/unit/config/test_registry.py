"""Components are found by file, and checked against their own signatures, without being imported."""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from hypersphere.config import registry

pytestmark = pytest.mark.pythons


def test_what_a_file_of_objectives_is_for_is_what_its_function_returns() -> None:
    """Every component has one kind, and the helpers beside them (geometry, pairs …) have none."""
    assert registry.names("gradients") == ("grad_scale",)
    assert registry.names("initialisations") == ("cut_initialisation",)
    assert {"human", "published", "store"}.isdisjoint(registry.names("datasets"))
    assert {"descent", "evaluate", "frozen", "view_pairs"}.isdisjoint(registry.names("probes"))
    found = [name for kind in registry.OBJECTIVES for name in registry.names(kind)]
    assert len(found) == len(set(found))
    folder = Path(registry.__file__).parents[1] / "objectives"
    helpers = {path.stem for path in folder.glob("[a-z]*.py")} - set(found)
    assert helpers == {"geometry", "pairs", "surgery"}


def test_needs_are_two_batches_by_position_and_the_rest_by_name() -> None:
    """Read off the signatures by hand."""
    assert registry.needs("nt_xent") == registry.needs("negative_cosine") == ("pair",)
    # and a map to logits, which is no method's to give
    assert registry.needs("generalised_info_nce") == ("pair",)
    assert registry.needs("momentum_contrast") == ("pair", "queue")
    assert registry.needs("nce_memory_bank") == ("z", "index", "bank", "noise")
    gives = {
        one
        for name in registry.names("methods")
        for one in registry.read_constant("methods", name, "GIVES", ())
    }
    # a misspelt `z_A` would be taken for something that a method has to give
    for name in registry.names("objectives"):
        assert set(registry.needs(name)) <= gives, name
    assert registry.tensors("objectives", "momentum_contrast") == ("q", "k", "queue")
    assert registry.tensors("objectives", "generalised_info_nce") == ("z_a", "z_b", "to_logits")
    assert registry.tensors("logits", "cosine_logits") == ("cosines", "targets")


@pytest.mark.parametrize(
    ("method", "objective", "main", "reason"),
    [
        ("simclr", "momentum_contrast", True, "momentum_contrast needs queue; simclr gives "),
        ("simclr", "cross_entropy", True, "cross_entropy needs scores; simclr gives "),
        ("mocov2", "nt_xent", True, "nt_xent takes no queue, and mocov2 needs "),
        ("mocov2", "nt_xent", False, ""),
        ("mocov2", "momentum_contrast", True, ""),
        ("simclr", "nt_xent", True, ""),
    ],
)
def test_why_a_method_cannot_train_with_an_objective(
    method: str, objective: str, main: bool, reason: str
) -> None:
    found = registry.misfit(method, objective, main)
    assert (found is None) == (reason == "")
    assert (found or "").startswith(reason)


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in registry.KINDS for name in registry.names(kind)]
)
def test_the_schema_is_the_imported_functions_signature(kind: registry.Kind, name: str) -> None:
    """inspect on the function itself, against the syntax tree."""
    function = registry.load(kind, name)
    assert function is getattr(importlib.import_module(registry.module_name(kind, name)), name)
    parameters = [*inspect.signature(function).parameters.values()]
    # another component's, of that name
    for passed in [p.name for p in parameters if p.kind is p.VAR_KEYWORD]:
        parameters += inspect.signature(registry.load(kind, passed)).parameters.values()
    expected = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    fields = registry.schema(kind, name).model_fields
    assert fields.keys() == expected.keys()
    for key, default in expected.items():
        assert fields[key].is_required() == (default is inspect.Parameter.empty)
        assert fields[key].is_required() or fields[key].default == default


def test_reading_signatures_imports_nothing() -> None:
    code = (
        "import sys; from hypersphere.config import registry;"
        "[registry.schema(kind, name) for kind in registry.KINDS for name in registry.names(kind)];"
        "print(*(m for m in sys.modules if m == 'torch' or (m.startswith('hypersphere.') and m.count('.') > 1)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["hypersphere.config.validation", "hypersphere.config.registry"]
