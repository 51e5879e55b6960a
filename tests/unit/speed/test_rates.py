"""What is written is read back; of several runs with a network the slowest counts."""

from pathlib import Path

import pytest

from hypersphere.errors import HypersphereError
from hypersphere.speed import rates

ROW = {"device": "NVIDIA X", "kind": "cuda", "network": "resnet depth=18, 32 px"}


def test_the_slowest_run_of_a_network_counts(tmp_path: Path) -> None:
    rows = [
        {**ROW, "tflops": "200"},
        {**ROW, "tflops": "150.5"},
        {**ROW, "network": "resnet depth=50, 32 px", "tflops": "90"},
        {**ROW, "tflops": "", "note": "the device has not enough memory for a step"},
    ]
    file = rates.file_of(tmp_path, "NVIDIA X")
    assert file == tmp_path / "data" / "rates" / "nvidia-x.csv"
    rates.write(file, rates.COLUMNS, rows)
    rates.write(rates.file_of(tmp_path, "NVIDIA X", "-ways.csv"), rates.WAYS, [{"times": "2"}])
    of_networks = {"resnet depth=18, 32 px": 150.5, "resnet depth=50, 32 px": 90.0}
    assert rates.measured(tmp_path, "cuda") == {"NVIDIA X": of_networks}
    assert rates.measured(tmp_path, "cpu") == {}


def test_without_a_look_nothing_is_measured(tmp_path: Path) -> None:
    assert rates.measured(tmp_path, "cuda") == {}


HEADER = ",".join(rates.COLUMNS)
OF_WORDS = ",".join("fast" for _ in rates.COLUMNS)
NEGATIVE = ",".join("-1" for _ in rates.COLUMNS)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("device,kind\nx,cuda\n", "x.csv: torch: the column is missing"),
        ("", "x.csv: device: the column is missing"),
        (f"{HEADER}\n{OF_WORDS}\n", "x.csv: line 2: tflops: must be a positive number"),
        (f"{HEADER}\n{NEGATIVE}\n", "x.csv: line 2: tflops: must be a positive number"),
    ],
)
def test_another_table_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    file = rates.file_of(tmp_path, "x")
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(HypersphereError, match=problem):
        rates.measured(tmp_path, "cuda")


def test_rated_peaks_are_those_of_the_cards_own_name() -> None:
    """By NVIDIA's data sheets: an H100 on PCIe is slower than one on SXM."""
    pcie = rates.peak("NVIDIA H100 PCIe", "bfloat16")
    sxm = rates.peak("NVIDIA H100 80GB HBM3", "bfloat16")
    assert pcie is not None
    assert sxm is not None
    assert (pcie[0], sxm[0]) == (756, 989)
    assert rates.peak("a processor", "float32") is None
