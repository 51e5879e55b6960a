"""What every encoder promises: a fixed length of features, and images apart."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from hypersphere.config import registry
from hypersphere.training.weights import save_weights

ENCODERS: dict[str, dict[str, Any]] = {
    "convnet": {"width": 4},
    "lab_streams": {"backbone": "resnet8", "width": 4},
    "resnet": {"depth": 18, "stem": "max_pool"},
    "resnet8": {"width": 4},
    "vit": {"image_size": 16, "patch": 8, "depth": 2, "width": 12, "heads": 3},
}


def make(name: str, seed: int = 0) -> nn.Module:
    """As evaluation makes it: parameters checked against the schema, then given to the function."""
    parameters = (
        registry.schema("encoders", name)
        .model_validate(ENCODERS[name])
        .model_dump(exclude_defaults=True)
    )
    torch.manual_seed(seed)
    return registry.load("encoders", name)(**parameters)


def images(count: int) -> torch.Tensor:
    return torch.rand(count, 3, 16, 16, generator=torch.Generator().manual_seed(0))


def randomise(model: nn.Module) -> nn.Module:
    """Draw every tensor of a model, batch norm's too, and put the model into evaluation mode."""
    generator = torch.Generator().manual_seed(0)
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point():
            drawn = torch.randn(tensor.shape, generator=generator)
            tensor.copy_(drawn.abs() + 0.5 if "running_var" in name else drawn * 0.2)
    return model.eval()


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


every = pytest.mark.parametrize("name", ENCODERS)


def test_every_encoder_is_here() -> None:
    """All but those of sentences and of agents, which the tests of their plug-ins have."""
    assert {*ENCODERS, "gru", "pixel_convnet"} == set(registry.names("encoders"))


@every
def test_features_have_the_length_that_is_said_and_a_pass_repeats_its_bytes(name: str) -> None:
    """Features and gradients, under deterministic algorithms; every parameter gets a gradient."""
    passes = []
    for _ in range(2):
        model = make(name)
        features = model(images(6))
        assert features.shape == (6, model.feature_dim)
        features.square().sum().backward()
        passes.append([features, *(parameter.grad for parameter in model.parameters())])
    for first, second in zip(*passes, strict=True):
        assert first is not None
        assert first.isfinite().all()
        assert torch.equal(first, second)


@every
@torch.inference_mode()
def test_features_differ_between_images_whatever_the_batch_file_or_layout(
    name: str, tmp_path: Path
) -> None:
    """In evaluation mode; in training mode batch norm makes them depend on the batch, and a transformer has none.
    Weights are saved channels last, as training leaves them, and read into an encoder with other weights."""
    model = make(name)
    model.train()(images(8))  # so that its running statistics are its own
    model.eval()
    whole = model(images(5))
    for i in range(5):
        torch.testing.assert_close(model(images(5)[i : i + 1])[0], whole[i], atol=1e-5, rtol=1e-4)
    assert (whole[:, None] - whole[None]).abs().amax(dim=-1).fill_diagonal_(1).min() > 1e-3
    other = make(name, seed=1).eval()
    assert not torch.allclose(other(images(5)), whole, atol=1e-3)
    model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    save_weights(model, tmp_path / "encoder.safetensors")
    other.load_state_dict(load_file(tmp_path / "encoder.safetensors"))
    assert torch.equal(other(images(5)), whole)
    last = model(images(5).to(memory_format=torch.channels_last))
    torch.testing.assert_close(last, whole, atol=1e-5, rtol=1e-4)
    other.train()
    normed = any(isinstance(module, nn.BatchNorm2d) for module in other.modules())
    assert torch.allclose(other(images(5)[:2]), other(images(5))[:2], atol=1e-3) != normed
