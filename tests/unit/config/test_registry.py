"""Components are found by file, and checked against their own signatures, without being imported."""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from hypersphere.config import registry
from hypersphere.errors import HypersphereError

ALL = [(kind, name) for kind in registry.KINDS for name in registry.names(kind)]


def test_what_there_is() -> None:
    assert {"negative_cosine", "nt_xent"} <= set(registry.names("objectives"))
    assert registry.names("gradients") == ("grad_scale",)
    assert registry.names("initialisations") == ("cut_initialisation",)
    assert {"simclr", "simsiam"} <= set(registry.names("methods"))
    of_images = ("convnet", "lab_streams", "resnet", "resnet10", "resnet8", "vit")
    assert registry.names("encoders") == tuple(sorted((*of_images, "gru", "pixel_convnet")))
    assert {"cifar", "digits", "folder", "mnist"} <= set(registry.names("datasets"))
    assert {"human", "published", "store"}.isdisjoint(registry.names("datasets"))  # helpers
    assert {"knn", "linear", "linear_sgd", "mlp", "norms"} <= set(registry.names("probes"))
    assert {"descent", "evaluate", "frozen", "view_pairs"}.isdisjoint(registry.names("probes"))  # helpers


def test_a_gradient_transform_is_no_objective() -> None:
    """They share a folder; what a function returns tells them apart."""
    with pytest.raises(HypersphereError, match=r"'grad_scale' is not one of .*negative_cosine, .*nt_xent"):
        registry.schema("objectives", "grad_scale")


def test_what_a_file_of_objectives_is_for_is_what_its_function_returns() -> None:
    """Every component has one kind, and the helpers beside them (geometry, pairs …) have none."""
    kinds: tuple[registry.Kind, ...] = ("objectives", "logits", "gradients", "initialisations")
    found = [name for kind in kinds for name in registry.names(kind)]
    assert len(found) == len(set(found))
    folder = Path(registry.__file__).parents[1] / "objectives"
    helpers = {path.stem for path in folder.glob("[a-z]*.py")} - set(found)
    assert helpers == {"geometry", "pairs", "sinkhorn", "surgery"}


def test_tensors_are_the_positional_arguments() -> None:
    assert registry.tensors("objectives", "nt_xent") == ("z_a", "z_b")
    assert registry.tensors("objectives", "momentum_contrast") == ("q", "k", "queue")
    assert registry.tensors("logits", "cosine_logits") == ("cosines", "targets")


@pytest.mark.parametrize("name", registry.names("objectives"))
def test_every_objective_takes_two_embeddings_first_or_names_what_else(name: str) -> None:
    """A misspelt `z_A` would otherwise be taken for something that a method has to give."""
    methods = registry.names("methods")
    known = {given for method in methods for given in registry.read_constant("methods", method, "GIVES", ())}
    assert set(registry.needs(name)) <= known


def test_needs_are_two_batches_by_position_and_the_rest_by_name() -> None:
    """Read off the signatures by hand."""
    assert registry.needs("nt_xent") == registry.needs("negative_cosine") == ("pair",)
    assert registry.needs("generalised_info_nce") == ("pair",)  # and a map to logits, which is no method's to give
    assert registry.needs("momentum_contrast") == ("pair", "queue")
    assert registry.needs("nce_memory_bank") == ("z", "index", "bank", "noise")
    assert [name for name in registry.names("objectives") if registry.takes_logits(name)] == ["generalised_info_nce"]


def test_what_a_file_says_of_its_component_is_read_without_importing_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "queued.py").write_text('import nothing_such\nGIVES = ("pair", "queue")\nVIEWS = 1\n')
    own = registry.packages()[0]
    monkeypatch.setattr(registry, "components", lambda kind: {"queued": registry.Found(tmp_path / "queued.py", own)})
    assert registry.read_constant("methods", "queued", "GIVES", ()) == ("pair", "queue")
    assert registry.read_constant("methods", "queued", "VIEWS", 2) == 1
    assert registry.read_constant("methods", "queued", "USES", ()) == ()


ABOUT = {"queued": {"GIVES": ("pair", "queue"), "USES": ("queue",)}, "plain": {"GIVES": ("pair",)}}


@pytest.mark.parametrize(
    ("method", "objective", "main", "problem"),
    [
        ("plain", "nt_xent", True, None),
        ("queued", "momentum_contrast", True, None),
        ("plain", "momentum_contrast", True, "momentum_contrast needs queue; plain gives two batches of embeddings"),
        ("plain", "cross_entropy", True, "cross_entropy needs scores, labels; plain gives two batches of embeddings"),
        (
            "queued",
            "nt_xent",
            True,
            "nt_xent takes no queue, and queued needs an objective that does: momentum_contrast",
        ),
        ("queued", "nt_xent", False, None),
    ],
)
def test_why_a_method_cannot_train_with_an_objective(
    monkeypatch: pytest.MonkeyPatch, method: str, objective: str, main: bool, problem: str | None
) -> None:
    monkeypatch.setattr(registry, "read_constant", lambda kind, name, which, default: ABOUT[name].get(which, default))
    assert registry.misfit.__wrapped__(method, objective, main) == problem


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_the_schema_is_the_imported_functions_signature(kind: registry.Kind, name: str) -> None:
    """inspect on the function itself, against the syntax tree."""
    function = registry.load(kind, name)
    assert function is getattr(importlib.import_module(registry.module_name(kind, name)), name)
    parameters = [*inspect.signature(function).parameters.values()]
    for passed in [p.name for p in parameters if p.kind is p.VAR_KEYWORD]:  # another component's, of that name
        parameters += inspect.signature(registry.load(kind, passed)).parameters.values()
    expected = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    fields = registry.schema(kind, name).model_fields
    assert fields.keys() == expected.keys()
    for key, default in expected.items():
        assert fields[key].is_required() == (default is inspect.Parameter.empty)
        assert fields[key].is_required() or fields[key].default == default


def test_constraints_are_the_annotations() -> None:
    schema = registry.schema("objectives", "nt_xent")
    assert schema.model_validate({"temperature": 0.5})
    for wrong in ({"temperature": 0}, {"temperature": "x"}, {}, {"temperature": 1, "t": 1}, {"temperature": 1e999}):
        with pytest.raises(ValidationError):
            schema.model_validate(wrong)
    with pytest.raises(ValidationError, match="18 or 50"):
        registry.schema("encoders", "resnet").model_validate({"depth": 34, "stem": "cifar"})


def test_an_unknown_component_is_said() -> None:
    with pytest.raises(HypersphereError, match=r"^'x' is not one of byol, cmc, .*, simclr, simsiam, "):
        registry.schema("methods", "x")


def test_reading_signatures_imports_nothing() -> None:
    code = (
        "import sys; from hypersphere.config import registry;"
        "[registry.schema(kind, name) for kind in registry.KINDS for name in registry.names(kind)];"
        "print(*(m for m in sys.modules if m == 'torch' or (m.startswith('hypersphere.') and m.count('.') > 1)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["hypersphere.config.validation", "hypersphere.config.registry"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('GIVES = ("a", "b")', ("a", "b")),
        ('GIVES: tuple[str, ...] = ("a", "b")', ("a", "b")),
        ('USES = GIVES = ("a",)', ("a",)),
        ("GIVES: tuple[str, ...]", "default"),
        ("", "default"),
    ],
)
def test_a_constant_is_read_however_it_is_assigned(tmp_path: Path, text: str, value: object) -> None:
    (tmp_path / "x.py").write_text(text)
    assert registry.read_literal(tmp_path / "x.py", "GIVES", "default") == value


@pytest.mark.parametrize("text", ["GIVES = tuple(NAMES)", "GIVES: tuple[str, ...] = (NAME,)"])
def test_a_constant_that_is_no_literal_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.py").write_text(text)
    with pytest.raises(HypersphereError, match=r"x\.py: GIVES must be a literal, .*NAME"):
        registry.read_literal(tmp_path / "x.py", "GIVES", ())
