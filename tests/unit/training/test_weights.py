"""What is saved of a tensor is its values, bit for bit."""

import torch

from hypersphere.training.weights import plain


def test_values_and_precision_are_kept_and_memory_is_in_order() -> None:
    words = torch.tensor([[1, -2, 3], [0x7FC00001, 5, 6]], dtype=torch.int32)  # a NaN, and numbers near 0, among them
    tensors = {"turned": words.view(torch.float32).T.requires_grad_(), "count": torch.tensor(3)}
    found = plain(tensors)
    assert found.keys() == tensors.keys()
    assert found["turned"].is_contiguous()
    assert not found["turned"].requires_grad
    assert torch.equal(found["turned"].view(torch.int32), words.T)
    assert found["count"].dtype == torch.int64
