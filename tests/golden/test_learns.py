"""What no unit test can show: at the quick scale, training makes features better than no training does.

The same of every method, by the lecture's table, is .ci/check_learns.py's, which reads what `make reproduce` measured.
"""

from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import torch

from hypersphere.datasets import store
from hypersphere.declared import plan as planning
from hypersphere.declared.run import Run
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import knn
from hypersphere.probes.linear import linear
from hypersphere.training import checkpoint
from hypersphere.training.build import build_encoder
from hypersphere.training.checkpoint import ENCODER, snapshot_name
from hypersphere.training.determinism import make_deterministic
from hypersphere.training.images import training_images
from hypersphere.training.trainers.image import Execution, train

ROOT = Path(__file__).resolve().parents[2]
SEEDS = range(5)
KNN, LINEAR = 0, 1


def gains(run: Run, data: store.Prepared, k: int, folder: Path) -> list[float]:
    """Points of accuracy that training adds: kNN, linear probe."""
    cpu = torch.device("cpu")
    outcome = train(run, training_images(data), Execution(cpu, frozenset({0}), {}), folder)
    assert outcome.status == "finished"
    accuracies = []
    for file in (snapshot_name(0), ENCODER):
        encoder = build_encoder(run)
        checkpoint.load_weights(encoder, folder / file)
        frozen = Frozen(encoder, None, data, cpu)
        accuracies.append([knn(frozen, k=k).values["knn_top1"], linear(frozen).values["linear_top1"]])
    return list(np.subtract(accuracies[1], accuracies[0]))


def paired_gain(runs: list[Run], k: int, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Mean gain of kNN and linear probe over the runs, and half the width of its 95 % t interval."""
    assert [run.seed for run in runs] == list(SEEDS)
    data = store.open(store.prepare(runs[0].dataset, folder, None))
    threads, mode = torch.get_num_threads(), torch.get_deterministic_debug_mode()
    make_deterministic(1)
    try:
        found = np.array([gains(run, data, k, folder / run.name) for run in runs])
    finally:
        torch.set_num_threads(threads)
        torch.set_deterministic_debug_mode(mode)
    half = scipy.stats.t.ppf(0.975, len(found) - 1) * found.std(axis=0, ddof=1) / len(found) ** 0.5
    for probe, mean, width in zip(("kNN", "linear"), found.mean(axis=0), half, strict=True):
        print(f"{runs[0].method.name}, {runs[0].dataset.name}, {probe}: {mean:+.1f} ± {width:.1f} (n = {len(found)})")
    return found.mean(axis=0), half


@pytest.mark.long
@pytest.mark.parametrize("dataset", ["digits_lt", "turned_digits_lt"])
@pytest.mark.parametrize(("method", "probes"), [("simclr", (KNN, LINEAR)), ("simsiam", (LINEAR,))])
def test_training_helps(tmp_path: Path, method: str, probes: tuple[int, ...], dataset: str) -> None:
    """Five pretrainings: the 95 % t interval of trained minus untrained lies above zero.

    Of SimSiam only the linear probe is asserted: in its few steps at this scale kNN stays near the untrained encoder.
    """
    plan = planning.make(ROOT, {"scale": "quick"})
    cells = [cell for cell in plan.cells if (cell.paper, cell.artifact) == ("embedding_norms", "table5") and cell.run]
    found = [
        cell.run for cell in cells if (cell.coordinates["method"], cell.coordinates["variant"]) == (method, "default")
    ]
    runs = [run for run in found if run is not None and run.dataset.name == dataset]
    mean, half = paired_gain(runs, plan.config.scale.probes["knn"]["k"], tmp_path)
    assert all(mean[probe] - half[probe] > 0 for probe in probes)
