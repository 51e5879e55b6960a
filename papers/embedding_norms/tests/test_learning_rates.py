"""Learning rates: the authors' schedule by torch's own ``LambdaLR``, pass by pass; answers by hand."""

import math

import pytest
import torch

from hypersphere.exact.study import ExactStudy
from papers.embedding_norms.studies.learning_rates import compute as study


@pytest.fixture(scope="module")
def result() -> ExactStudy:
    return study.learning_rates(None)


def scheduled(base: float, loader: int, passes: int, warmup: int, epochs: int) -> list[float]:
    """The rate of each optimiser step, from a scheduler that is handed a rate in place of a factor (erratum N17)."""

    def rate(step: int) -> float:
        if step > warmup * loader:
            return 1e-3 + (base - 1e-3) * 0.5 * (1 + math.cos(math.pi * step / (loader * 512)))
        return base * step / (warmup * loader)

    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=base)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, rate)
    used = []
    for _ in range(epochs):
        for batch in range(loader):
            if batch % passes == passes - 1:
                used.append(optimiser.param_groups[0]["lr"])
                optimiser.step()
                schedule.step()
    return used


@pytest.mark.parametrize(("passes", "warmup"), [(1, 10), (2, 10), (8, 3)])
def test_authors_scheduler(monkeypatch: pytest.MonkeyPatch, passes: int, warmup: int) -> None:
    """1,300 images: ten passes of 128 and a remainder; of eight passes to a step, two wait at the epoch's end."""
    monkeypatch.setattr(study, "IMAGES", 1_300)
    rates, per_epoch = study.authors(0.6, 128, passes, warmup, 40)
    assert per_epoch == 10 // passes
    assert rates.tolist() == pytest.approx(scheduled(0.6, 10, passes, warmup, 40), rel=1e-12)
    assert rates[0] == 0


def test_warm_up_is_stretched(result: ExactStudy) -> None:
    """Erratum N41. 390 passes an epoch are 195, 97 and 48 steps; 3,900 steps from rate 0 are 20.0, 40.2 and 81.3."""
    found = result.tables["learning_rates"].set_index(["method", "batch", "curve"])["warmup"]
    for batch, steps, epochs in zip(study.BATCHES, (195, 97, 48), (20.0, 40.2, 81.3), strict=True):
        rates, per_epoch = study.authors(study.AUTHORS_SIMSIAM, 128, batch // 128, 10, 500)
        assert (per_epoch, rates.argmax()) == (steps, 3_900)
        assert found["simsiam", batch, "authors"] == pytest.approx(epochs, abs=0.05)
        assert found["simsiam", batch, "stated"] == 10


def test_answers(result: ExactStudy) -> None:
    """Authors': 0.6² = 0.36, 0.1² = 0.01, 0.2² = 0.04 and 2, 4 and 8 times as much."""
    answers, rows = (
        result.answers,
        result.tables["learning_rates"].set_index(["method", "batch", "curve"]),
    )
    found = {
        answer.id.removeprefix("norms.learning_rates."): answer.arms["value"][0]
        for answer in answers
    }
    expected = {
        **{"peak.simclr.n17": 0.36, "peak.simclr.batch512.n17": 0.36, "gradscale.n17": 1 / 36},
        **{f"peak.batch{batch}.n17": 0.04 for batch in study.BATCHES},
        **{"peak.batch256.n25": 0.08, "peak.batch512.n25": 0.16, "peak.batch1024.n25": 0.32},
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-12)
    warmups = {name: round(value) for name, value in found.items() if name.startswith("warmup")}
    assert warmups == {
        **{"warmup.simclr.n17": 10, "warmup.gradscale.n17": 100},
        **{"warmup.batch256.n41": 20, "warmup.batch512.n41": 40, "warmup.batch1024.n41": 81},
    }
    assert len(found) == len(answers) == len(expected) + len(warmups)
    assert len(rows) == 5 * 2
    stated = rows.loc[("simsiam", 1024, "stated")]
    assert stated[["rate", "per_256", "warmup"]].tolist() == pytest.approx([0.48, 0.12, 10])
