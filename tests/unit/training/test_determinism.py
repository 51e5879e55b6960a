"""The switches that a promise of equal bytes needs. The fixture of every test here called make_deterministic(1)."""

import os

import pytest
import torch


def test_nondeterministic_operations_are_errors() -> None:
    assert torch.get_deterministic_debug_mode() == 2
    assert not torch.backends.cudnn.benchmark
    with pytest.raises(RuntimeError, match="deterministic"):
        torch.nn.functional.max_unpool1d(torch.ones(1, 1, 2), torch.zeros(1, 1, 2, dtype=torch.int64), [2])


def test_threads_are_those_asked_for_and_cublas_has_a_fixed_workspace() -> None:
    assert torch.get_num_threads() == 1
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] in (":4096:8", ":16:8")  # the two that NVIDIA calls deterministic
