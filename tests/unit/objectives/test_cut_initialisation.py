"""Cut-initialisation divides every parameter and nothing else (norms paper, Listing 1)."""

import copy

import pytest
import torch
from torch import nn

from hypersphere.objectives.cut_initialisation import cut_initialisation


@pytest.fixture
def model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)
    )


def test_every_parameter_is_divided_and_no_buffer(model: nn.Sequential) -> None:
    """Listing 1 on a copy; batch norm's scale and shift, and the biases, are parameters too."""
    nn.init.constant_(model[1].bias, 0.7)
    model(torch.rand(2, 3, 8, 8))  # so that the running statistics are not their initial ones
    listing = copy.deepcopy(model)
    for param in listing.parameters():
        param.data = param.data / 3
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    cut_initialisation(model, c=3)
    ours = dict(model.named_parameters())
    assert set(ours) == {"0.weight", "0.bias", "1.weight", "1.bias", "5.weight", "5.bias"}
    for name, parameter in listing.named_parameters():
        assert torch.equal(ours[name], parameter), name
    assert ours["1.weight"].tolist() == pytest.approx([1 / 3] * 4)
    for name, buffer in model.named_buffers():
        assert torch.equal(buffer, buffers[name]), name


def test_c_of_1_changes_nothing(model: nn.Sequential) -> None:
    before = copy.deepcopy(model.state_dict())
    cut_initialisation(model, c=1)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


@pytest.mark.parametrize("c", [3.0, 9.0])
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_output_of_a_linear_stack_without_bias_shrinks_by_c_per_layer(layers: int, c: float) -> None:
    """Closed form: ReLU networks without bias are homogeneous, so L layers give c^-L."""
    torch.manual_seed(0)
    parts = [part for _ in range(layers) for part in (nn.Linear(5, 5, bias=False, dtype=torch.float64), nn.ReLU())]
    stack = nn.Sequential(*parts[:-1])
    x = torch.rand(3, 5, dtype=torch.float64)
    before = stack(x).detach()
    cut_initialisation(stack, c=c)
    torch.testing.assert_close(stack(x).detach(), before / c**layers)


def test_parameters_stay_trainable_leaves(model: nn.Sequential) -> None:
    kept = [id(parameter) for parameter in model.parameters()]
    cut_initialisation(model, c=3)
    assert [id(parameter) for parameter in model.parameters()] == kept
    assert all(parameter.requires_grad and parameter.is_leaf for parameter in model.parameters())
