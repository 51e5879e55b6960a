"""From a run to its model: initial weights, keyed by seed and tensor; and its loss."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor, nn
from torchvision.models import VisionTransformer

from hypersphere import prng
from hypersphere.encoders.resnet import resnet
from hypersphere.encoders.vit import vit
from hypersphere.objectives.alignment import alignment
from hypersphere.objectives.distance_polarization import distance_polarization
from hypersphere.objectives.generalised_info_nce import generalised_info_nce
from hypersphere.objectives.nt_xent import nt_xent
from hypersphere.objectives.positive_scaling import positive_scaling
from hypersphere.objectives.tuplet import tuplet
from hypersphere.training.build import build_method, initialise, loss_of

from .conftest import MakeRun

ENCODERS: dict[str, dict[str, Any]] = {
    "lab_streams": {"backbone": "resnet8", "width": 2},
    "resnet": {"depth": 18, "stem": "max_pool"},
    "convnet": {"width": 2},
    "resnet8": {"width": 2},
    "vit": {"image_size": 8, "patch": 4, "depth": 2, "width": 12, "heads": 3},
}
# Tensors of a transformer that are zero at first, and no draw; all of a residual network's are drawn but batch norm's.
ZERO = ("class_token", "conv_proj.bias", "in_proj_bias", "out_proj.bias")


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoders_weights_are_a_function_of_the_seed_alone(make_run: MakeRun, name: str) -> None:
    """Of every tensor that is drawn at all, whatever torch's own generator says; another seed draws all anew."""
    methods, encoder = [], {"name": name} | ENCODERS[name]
    for torch_seed, seed in ((1, 0), (2, 0), (1, 1)):
        torch.manual_seed(torch_seed)
        methods.append(build_method(make_run(encoder=encoder, seed=seed)))
    a, b, other = (dict(method.named_parameters()) for method in methods)
    assert all(torch.equal(a[tensor], b[tensor]) for tensor in a)
    kept = {tensor for tensor in a if torch.equal(a[tensor], other[tensor])}
    norms = {name for name, one in methods[0].named_modules() if isinstance(one, nn.BatchNorm2d | nn.LayerNorm)}
    of_norms = {f"{norm}.{part}" for norm in norms for part in ("weight", "bias")}
    assert {tensor for tensor in kept if not tensor.endswith(ZERO)} == of_norms
    assert all((a[tensor] == (tensor in of_norms and tensor.endswith("weight"))).all() for tensor in kept)


def test_a_tensor_does_not_depend_on_the_rest_of_the_model(make_run: MakeRun) -> None:
    """What makes a paired test paired: variants and methods with one seed share all that they have in common."""
    base = build_method(make_run()).encoder.state_dict()
    for other in (make_run(method={"hidden": 16}), make_run("simsiam"), make_run(objective={"temperature": 0.1})):
        shared = build_method(other).encoder.state_dict()
        assert shared.keys() == base.keys()
        assert all(torch.equal(tensor, base[name]) for name, tensor in shared.items())


def test_a_tensors_key_is_its_name() -> None:
    """Drawn apart, by hand: every published run's initial weights hang on these keys and rules.

    He et al. 2015, fan-out: normal of std sqrt(2 / (out · k · k)). torch's Linear: uniform in ± 1/sqrt(in).
    """
    parts = {"encoder": vit(**ENCODERS["vit"]), "stem": nn.Conv2d(2, 4, 3), "head": nn.Sequential(nn.Linear(9, 5))}
    model = nn.ModuleDict(parts)
    initialise(model, seed=7)
    layer = "encoder.encoder.layers.encoder_layer_1"
    normal = {"stem.weight": (2 / 36) ** 0.5, "encoder.encoder.pos_embedding": 0.02, f"{layer}.mlp.3.bias": 1e-6}
    uniform = {
        "head.0.weight": 1 / 3,
        "head.0.bias": 1 / 3,
        "stem.bias": 18**-0.5,
        f"{layer}.self_attention.in_proj_weight": (6 / 48) ** 0.5,
        f"{layer}.mlp.3.weight": (6 / 60) ** 0.5,
    }
    truncated = {"encoder.conv_proj.weight": 48**-0.5}
    for name in (*normal, *uniform, *truncated):
        generator = torch.Generator().manual_seed(prng.torch_seed(7, "initial", name))
        blank = torch.empty(model.get_parameter(name).shape)
        if name in normal:
            drawn = blank.normal_(0, normal[name], generator=generator)
        elif name in truncated:
            drawn = nn.init.trunc_normal_(blank, std=truncated[name], generator=generator)
        else:
            drawn = blank.uniform_(-uniform[name], uniform[name], generator=generator)
        torch.testing.assert_close(model.get_parameter(name).detach(), drawn, atol=0, rtol=1e-6)


def test_a_transformer_starts_as_torchvisions() -> None:
    """The deviation of every tensor beside that of torchvision's own constructor; a general rule alone would fail."""
    model = vit(image_size=16, patch=4, depth=2, width=48, heads=4)
    initialise(model, seed=0)
    torch.manual_seed(0)
    published = dict(VisionTransformer(16, 4, 2, 4, 48, 192).named_parameters())
    names = [name for name, _ in model.named_parameters()]
    assert names == [name for name in published if not name.startswith("heads.")]
    for name in names:
        ours, theirs = model.get_parameter(name).detach(), published[name].detach()
        few = 4 / theirs.numel() ** 0.5
        assert ours.square().mean().sqrt().item() == pytest.approx(theirs.square().mean().sqrt().item(), rel=few), name


def test_residual_branches_that_start_at_zero_stay_there() -> None:
    model = resnet(depth=18, stem="cifar", zero_init_residual=True)
    initialise(model, seed=0)
    scales = {name: p for name, p in model.named_parameters() if name.endswith("bn2.weight")}
    assert len(scales) == 8
    assert all((scale == 0).all() for scale in scales.values())
    assert (model.get_parameter("layer1.0.bn1.weight") == 1).all()


GENERALISED = {"name": "generalised_info_nce", "negatives": "both_views"}
SCALED = {"name": "positive_scaling", "temperature": 0.25, "s": 3}


@pytest.fixture
def z() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(6, 4, generator=generator, dtype=torch.float64) for _ in range(2))  # type: ignore[return-value]


def test_an_objective_is_given_its_map_to_logits(make_run: MakeRun, z: tuple[Tensor, Tensor]) -> None:
    run = make_run(objective=GENERALISED, logits=SCALED)

    def to_logits(cosines: Tensor, targets: Tensor) -> Tensor:
        return positive_scaling(cosines, targets, temperature=0.25, s=3)

    assert loss_of(run)(*z) == generalised_info_nce(*z, to_logits, negatives="both_views")


def test_what_the_method_gives_beside_goes_to_those_that_ask_for_it(
    make_run: MakeRun, z: tuple[Tensor, Tensor]
) -> None:
    """SimCLR gives labels: to the objective, and not to the regulariser."""
    run = make_run(objective={"name": "tuplet"}, regulariser={"name": "alignment", "weight": 2})
    labels = torch.tensor([0, 0, 1, 1, 2, 2])
    expected = tuplet(*z, labels) + alignment(*z, weight=2)
    assert loss_of(run)(*z, labels=labels, queue=None) == expected


SELF_DISTILLATION = {"name": "self_distillation", "student_temperature": 0.1, "teacher_temperature": 0.1}
MISFITS: dict[str, dict[str, Any]] = {
    "no logits": {"objective": GENERALISED},
    "logits too many": {"logits": SCALED},
    "objective": {"objective": SELF_DISTILLATION},
    "regulariser": {"regulariser": {"name": "momentum_contrast", "temperature": 0.1}},
    "unknown": {"regulariser": {"name": "distance_polarization", "wait": 1}},
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_is_one_sentence(make_run: MakeRun, name: str, approve: Callable[[object], None]) -> None:
    with pytest.raises(ValidationError) as caught:
        make_run(**MISFITS[name])
    for error in caught.value.errors():
        approve(f"{'.'.join(map(str, error['loc']))}: {error['msg']}")


def test_an_objective_alone_is_that_function_and_a_regulariser_is_added(
    make_run: MakeRun, z: tuple[Tensor, Tensor]
) -> None:
    alone = nt_xent(*z, temperature=0.5)
    assert loss_of(make_run())(*z) == alone
    both = loss_of(make_run(regulariser={"name": "distance_polarization", "weight": 2.0}))(*z)
    assert both == alone + distance_polarization(*z, weight=2.0)
    assert both != alone
