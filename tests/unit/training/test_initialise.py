"""Initial weights: keyed by seed and tensor, of the stated distributions, and of nothing else."""

from collections.abc import Callable
from typing import Any

import pytest
import scipy.stats
import torch
from torch import Tensor, nn
from torchvision.models import VisionTransformer

from hypersphere import prng
from hypersphere.config.run import Run
from hypersphere.encoders.resnet import resnet
from hypersphere.encoders.vit import vit
from hypersphere.methods.base import Batch
from hypersphere.training.build import build_method, initialise

ENCODERS: dict[str, dict[str, Any]] = {
    "lab_streams": {"backbone": "resnet10", "width": 2},
    "resnet": {"depth": 18, "stem": "max_pool"},
    "convnet": {"width": 2},
    "resnet8": {"width": 2},
    "resnet10": {"width": 2},
    "vit": {"image_size": 8, "patch": 4, "depth": 2, "width": 12, "heads": 3},
}
# Tensors of a transformer that are zero at first, and no draw; all of a residual network's are drawn but batch norm's.
ZERO = ("class_token", "conv_proj.bias", "in_proj_bias", "out_proj.bias")


def encoder(name: str) -> dict[str, Any]:
    return {"name": name} | ENCODERS[name]


def state(run: Run) -> dict[str, Tensor]:
    return dict(build_method(run).state_dict())


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoders_weights_are_a_function_of_the_seed_alone(make_run: Callable[..., Run], name: str) -> None:
    """Of every tensor that is drawn at all, whatever torch's own generator says; another seed draws all anew."""
    found = []
    for torch_seed, seed in ((1, 0), (2, 0), (1, 1)):
        torch.manual_seed(torch_seed)
        found.append(dict(build_method(make_run(encoder=encoder(name), seed=seed)).named_parameters()))
    a, b, other = found
    assert all(torch.equal(a[tensor], b[tensor]) for tensor in a)
    kept = {tensor for tensor in a if torch.equal(a[tensor], other[tensor])}
    norms = (nn.BatchNorm2d, nn.LayerNorm)
    modules = build_method(make_run(encoder=encoder(name))).named_modules()
    of_norms = {f"{module}.{part}" for module, m in modules if isinstance(m, norms) for part in ("weight", "bias")}
    assert {tensor for tensor in kept if not tensor.endswith(ZERO)} == of_norms
    assert all((a[tensor] == (tensor in of_norms and tensor.endswith("weight"))).all() for tensor in kept)


@pytest.mark.trained
@pytest.mark.parametrize("name", ENCODERS)
def test_simclr_takes_a_step_with_every_encoder(make_run: Callable[..., Run], name: str) -> None:
    """As a run builds it: a finite loss falls along its own gradient, which reaches every parameter.

    In float64, because a step of 1e-3 changes some losses by little more than float32 rounds them.
    """
    method = build_method(make_run(encoder=encoder(name))).double()
    views = torch.rand(2, 6, 3, 8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    batch = Batch(views, torch.arange(6), torch.zeros(6, dtype=torch.long))
    output = method(batch)
    output.loss.backward()
    assert output.embeddings.shape == (12, 4)
    for tensor, parameter in method.named_parameters():
        assert parameter.grad is not None, tensor
        assert parameter.grad.isfinite().all(), tensor
    nn.utils.clip_grad_norm_(method.parameters(), 1.0)
    torch.optim.SGD(method.parameters(), lr=1e-3).step()
    assert method(batch).loss.item() < output.loss.item()


def test_a_tensor_does_not_depend_on_the_rest_of_the_model(make_run: Callable[..., Run]) -> None:
    """What makes a paired test paired: variants and methods with one seed share all that they have in common."""
    base = state(make_run())
    for other in (make_run(method={"hidden": 16}), make_run("simsiam"), make_run(objective={"temperature": 0.1})):
        shared = {name: tensor for name, tensor in state(other).items() if name.startswith("encoder.")}
        assert len(shared) >= 18  # the smallest has three convolutions, each with five tensors of batch norm
        assert all(torch.equal(tensor, base[name]) for name, tensor in shared.items())


def test_distributions() -> None:
    """He et al. 2015, fan-out: normal of std sqrt(2 / (out · k · k)). torch's Linear: uniform in ± 1/sqrt(in)."""
    model = nn.Sequential(nn.Conv2d(16, 32, 3), nn.Linear(400, 50))
    initialise(model, seed=0)
    convolution = model.get_parameter("0.weight").detach().double().flatten().numpy()
    assert scipy.stats.kstest(convolution, "norm", (0, (2 / (32 * 9)) ** 0.5)).pvalue > 0.01
    for name in ("1.weight", "1.bias"):
        linear = model.get_parameter(name).detach().double().flatten().numpy()
        assert scipy.stats.kstest(linear, "uniform", (-0.05, 0.1)).pvalue > 0.01


def test_a_tensors_key_is_its_name() -> None:
    """Drawn apart, by hand: every published run's initial weights hang on these keys and rules."""
    model = nn.ModuleDict(
        {
            "encoder": vit(**ENCODERS["vit"]),
            "stem": nn.Conv2d(2, 4, 3),
            "head": nn.Sequential(nn.Linear(9, 5)),
        }
    )
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
