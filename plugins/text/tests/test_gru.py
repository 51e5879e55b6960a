"""The recurrent encoder of sentences: against a plain loop over words, and what every encoder promises."""

import torch
from torch import Tensor

from hypersphere.training.build import initialise
from hypersphere_text.encoders.gru import GRU, gru

TOKENS = torch.tensor([[2, 5, 3, 0, 0], [4, 0, 0, 0, 0], [6, 6, 1, 2, 3], [0, 0, 0, 0, 0]], dtype=torch.int32)


def make(seed: int = 0) -> GRU:
    model = gru(vocabulary=7, words=3, hidden=4)
    assert isinstance(model, GRU)
    initialise(model, seed)
    return model


def by_loop(model: GRU, sentence: Tensor) -> Tensor:
    """Cho et al. 2014 as torch's documentation states it, word by word; h is the last state."""
    w_i, w_h, b_i, b_h = (getattr(model.gru, f"{name}_l0") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    h = torch.zeros(4)
    for token in sentence[sentence != 0].tolist() or [0]:
        i, s = w_i @ model.words.weight[token] + b_i, w_h @ h + b_h
        reset, update = torch.sigmoid(i[:4] + s[:4]), torch.sigmoid(i[4:8] + s[4:8])
        h = (1 - update) * torch.tanh(i[8:] + reset * s[8:]) + update * h
    return h


@torch.no_grad()
def test_it_is_the_state_after_the_last_word() -> None:
    model = make()
    found = model(TOKENS)
    assert found.shape == (4, model.feature_dim) == (4, 4)
    for row, sentence in zip(found, TOKENS, strict=True):
        torch.testing.assert_close(row, by_loop(model, sentence))


@torch.no_grad()
def test_padding_and_other_sentences_change_nothing() -> None:
    model = make()
    longer = torch.nn.functional.pad(TOKENS, (0, 3))
    torch.testing.assert_close(model(longer), model(TOKENS))
    torch.testing.assert_close(model(TOKENS[1:2])[0], model(TOKENS)[1])
    assert not torch.allclose(model(TOKENS.flip(1)[:1]), model(TOKENS[:1]))  # the control: order matters


def test_initial_weights_are_a_function_of_the_seed() -> None:
    torch.manual_seed(1)
    first = make().state_dict()
    torch.manual_seed(2)
    second, other = make().state_dict(), make(seed=1).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first)
    assert (first["words.weight"][0] == 0).all()
    assert first["words.weight"].abs().max() <= 0.1
    assert first["gru.weight_hh_l0"].abs().max() <= 0.5


def test_padding_gets_no_gradient() -> None:
    model = make()
    model(TOKENS[:3]).square().sum().backward()
    gradient = model.words.weight.grad
    assert gradient is not None
    assert (gradient[0] == 0).all()
    assert (gradient[1:] != 0).any(dim=1).all()
