"""What every probe keeps to, those of plug-ins too: one frozen encoder serves all of a run's protocols, one by one."""

import pickle
from typing import Any

import numpy as np
import pytest
import torch

from hypersphere.config import coordinates, registry
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.result import ProbeResult, reading
from hypersphere_control.probes import score

from .test_undefined import Still, quick, worlds


@pytest.fixture
def frozen(name: str, monkeypatch: pytest.MonkeyPatch) -> Frozen:
    """An untrained encoder on a few images, sentences or frames, whichever the probe looks at."""
    tasks = (Still(), Still())
    monkeypatch.setattr(score, "_simulators", lambda settings, count: tasks)
    package = registry.module_name("probes", name).partition(".")[0]
    return dict(worlds(package))["usual"]


def probed(name: str, frozen: Frozen) -> ProbeResult:
    result: ProbeResult = registry.load("probes", name)(frozen, **quick(name))
    return result


def seen(frozen: Frozen) -> dict[str, Any]:
    """All that the next probe finds: weights, modes, cached features, and the processes' generators."""
    networks = {"encoder": frozen.encoder, "head": frozen._head}
    tensors = {f"{layer} of {split}": value for (split, layer), value in frozen._cache.items()}
    modes = {}
    for part, network in networks.items():
        for key, value in network.state_dict().items():
            tensors[f"{part}.{key}"] = value
        for key, module in network.named_modules():
            modes[f"{part}.{key}"] = module.training
        for key, parameter in network.named_parameters():
            assert parameter.grad is None, key
    found = {key: value.numpy().tobytes() for key, value in tensors.items()}
    found["torch"] = torch.get_rng_state().numpy().tobytes()
    found["numpy"] = pickle.dumps(np.random.get_state())
    return {**found, **modes}


def content(result: ProbeResult) -> list[object]:
    """As it is written, so that NaN equals NaN."""
    table = "" if result.table is None else result.table.to_csv()
    pictures = b"" if result.pictures is None else np.asarray(result.pictures).tobytes()
    return [repr(result.values), repr(dict(result.counts)), result.n, table, pictures]


def check_writable(result: ProbeResult) -> None:
    """Keys are canonical, numbers are Python's, counts are of values, and each picture has its place and caption."""
    for key, value in result.values.items():
        measure, _, readings = key.partition(";")
        assert key == reading(measure, **coordinates.parse(readings, key))
        assert isinstance(value, float)
    assert result.counts.keys() <= result.values.keys()
    counts = [result.n, *result.counts.values()]
    assert all(isinstance(count, int) and count >= 0 for count in counts)
    if result.pictures is not None:
        assert result.table is not None
        assert {"row", "column", "caption"} <= {*result.table}
        assert len(result.table) == len(result.pictures)
        assert result.pictures.dtype == np.uint8


@pytest.mark.parametrize("name", registry.names("probes"))
def test_it_says_the_same_again_in_a_form_that_can_be_written_and_changes_nothing_for_the_next(
    name: str, frozen: Frozen
) -> None:
    """Whatever the generators' states; features that it was the first to ask for stay in the cache."""
    first = probed(name, frozen)
    check_writable(first)
    torch.manual_seed(1)
    np.random.seed(1)
    before = seen(frozen)
    again = probed(name, frozen)
    assert seen(frozen) == before
    assert content(again) == content(first)
