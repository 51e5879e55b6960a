"""What is measured of an encoder and its controls: the house's own probes, on a network that stays as it was."""

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere.certificate import certificate
from hypersphere.certificate.certificate import ENCODER, PIXELS, UNTRAINED, Pixels
from hypersphere.certificate.claims import parse
from hypersphere.config.run import Component, Dataset
from hypersphere.datasets import store
from hypersphere.datasets.store import Prepared
from hypersphere.encoders.resnet8 import resnet8
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import knn
from hypersphere.probes.linear import linear

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Few of scikit-learn's digits."""
    few = {"canvas": 8, "shift": 0, "train_per_class": 20, "test_per_class": 12}
    dataset = Dataset(name="digits", source=Component(name="digits", **few))
    return store.open(store.prepare(dataset, tmp_path_factory.mktemp("data"), None))


class Noise(nn.Module):
    """Vectors of which the images decide nothing but the draw."""

    def forward(self, images: Float[Tensor, "n c h w"]) -> Float[Tensor, "n 4"]:
        seeds = images.double().flatten(1).sum(dim=1, keepdim=True) * 1e6
        return torch.sin(seeds * torch.arange(1, 5)).float()


def measured(digits: Prepared, encoder: nn.Module, *claims: str) -> certificate.Certificate:
    said: list[str] = []
    torch.manual_seed(0)
    untrained = resnet8(width=2)
    parsed = tuple(map(parse, claims))
    found = certificate.measure(encoder, untrained, digits, CPU, 20, parsed, said.append)
    assert len(said) == 3
    return found


def test_accuracies_are_those_of_the_house_s_probes_over_all_test_images(digits: Prepared) -> None:
    torch.manual_seed(1)
    encoder = resnet8(width=3).requires_grad_(False)
    found = measured(digits, encoder).accuracies
    frozen = Frozen(encoder, nn.Identity(), digits, CPU)
    for name, measure, result in (
        ("linear", "linear_top1", linear(frozen)),
        ("knn", "knn_top1", knn(frozen, k=20)),
    ):
        assert found[ENCODER][name].value == pytest.approx(result.values[measure])  # type: ignore[index]
        assert found[ENCODER][name].n == 120  # type: ignore[index]
    pixels = Frozen(nn.Flatten(), nn.Identity(), digits, CPU)
    assert found[PIXELS]["linear"].value == pytest.approx(linear(pixels).values["linear_top1"])


def test_nothing_of_the_encoder_moves(digits: Prepared) -> None:
    """Parameters, running statistics and counters have the same bytes. The control: training mode moves them."""
    torch.manual_seed(1)
    encoder = resnet8(width=3)
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    measured(digits, encoder)
    after = encoder.state_dict()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    encoder.train()(torch.rand(4, 3, 8, 8))
    assert not all(torch.equal(after[name], tensor) for name, tensor in before.items())


def test_claims_are_judged_and_an_encoder_of_noise_is_not_above_its_controls(
    digits: Prepared,
) -> None:
    found = measured(digits, Noise(), "95", "knn=1")
    assert [one.verdict for one in found.claims] == ["above the interval", "below the interval"]
    assert found.overclaimed
    assert PIXELS in found.not_above("linear")
    above = measured(digits, nn.Flatten(), "knn=1")
    assert not above.overclaimed
    # an encoder that is the pixels is level with them
    assert above.not_above("knn") in ([PIXELS], [UNTRAINED, PIXELS])


def test_the_geometry_of_a_point_and_of_many_directions(digits: Prepared) -> None:
    """One vector for all images: two views coincide, and so do all images. Noise spreads over its four dimensions."""

    class Point(nn.Module):
        def forward(self, images: Float[Tensor, "n c h w"]) -> Float[Tensor, "n 4"]:
            return torch.ones(len(images), 4)

    of_point = measured(digits, Point()).geometry[ENCODER]
    assert of_point == pytest.approx(
        {"effective_rank": 0, "alignment": 0, "uniformity": 0, "norm": 2}, abs=1e-6
    )
    of_noise = measured(digits, Noise()).geometry[ENCODER]
    assert 3 < of_noise["effective_rank"] <= 4
    assert of_noise["uniformity"] < -1


def test_large_images_are_reduced_before_they_are_measured_as_pixels() -> None:
    shown = torch.rand(2, 3, 64, 64)
    mean_of_four = nn.functional.avg_pool2d(shown, 2)
    assert Pixels()(shown).shape == (2, 3 * 32 * 32)
    torch.testing.assert_close(
        Pixels()(shown).mean(dim=1), mean_of_four.flatten(1).mean(dim=1), atol=0.01, rtol=0
    )
    assert torch.equal(Pixels()(mean_of_four), mean_of_four.flatten(1))
