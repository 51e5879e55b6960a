"""The plain network: size by hand, function against one written with torch's functions, sides of its stages."""

import torch
from torch import nn
from torch.nn import functional as F

from hypersphere.encoders.convnet import convnet


def randomised(model: nn.Module) -> nn.Module:
    """Other scales, shifts and running statistics than those of an untrained batch norm."""
    generator = torch.Generator().manual_seed(0)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            for tensor in (module.weight, module.bias, module.running_mean, module.running_var):
                assert tensor is not None
                tensor.data.uniform_(0.5, 1.5, generator=generator)
    return model


def test_convnet_is_three_convolutions_with_batch_norm_and_relu() -> None:
    """The same function written with torch's functions; the first layer keeps the sides, the others halve them."""
    model = randomised(convnet(width=4)).eval()
    images = torch.rand(3, 3, 10, 10, generator=torch.Generator().manual_seed(1))
    tensors = model.state_dict()
    x = images
    for i, stride in ((1, 1), (2, 2), (3, 2)):
        x = F.conv2d(x, tensors[f"layer{i}.conv.weight"], stride=stride, padding=1)
        norm = [tensors[f"layer{i}.bn.{name}"] for name in ("running_mean", "running_var", "weight", "bias")]
        x = F.relu(F.batch_norm(x, *norm))
        assert x.shape[-1] == {1: 10, 2: 5, 3: 3}[i]
    torch.testing.assert_close(model(images), x.mean(dim=(2, 3)))
