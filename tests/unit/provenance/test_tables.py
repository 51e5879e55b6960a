"""Tidy tables: one spelling of every number, and the types that a table declares."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hypersphere.errors import DamagedError
from hypersphere.provenance import tables
from hypersphere.provenance.manifest import check_files, check_tidy

from ...fixtures import Names, Refused


def test_numbers_have_one_spelling(tmp_path: Path) -> None:
    values = [-0.0, 0.1 + 0.2, np.inf, -np.inf, np.nan, 1e-12, 1 / 3, 123456789012.0]
    table = pd.DataFrame({"value": values, "n": range(8), "more": "x"})
    tables.write(tmp_path, {"t": (table, ["n", "value"])})
    spelled = ["0", "0.3", "", "", "", "1e-12", "0.3333333333", "1.23456789e+11"]
    lines = [f"{n},{number}" for n, number in enumerate(spelled)]
    assert (tmp_path / "t.csv").read_bytes() == ("\n".join(["n,value", *lines]) + "\n").encode()


def test_a_manifest_lists_the_checksum_of_each(tmp_path: Path, names: Names) -> None:
    table = pd.DataFrame({"value": [1.0]})
    tables.write(tmp_path / "statistics", {name: (table, ["value"]) for name in ("a", "b")})
    proof = tmp_path / "statistics" / "manifest.json"
    assert check_files(proof, "a.csv")["files"].keys() == {"a.csv", "b.csv"}
    (tmp_path / "statistics" / "b.csv").write_text("value\n2\n")
    assert check_tidy(tmp_path, "statistics/a.csv").name == "a.csv"
    with pytest.raises(DamagedError) as caught:
        check_tidy(tmp_path, "statistics/b.csv")
    names(caught.value, "statistics/b.csv")
    assert caught.value.proofs == (proof,)
    for name in ("claims", "theory"):  # pages of their own
        tables.write(tmp_path / name, {name: (table, ["value"])})
        assert {path.name for path in (tmp_path / name).iterdir()} == {
            f"{name}.csv",
            f"{name}.json",
        }


def test_types_are_those_that_the_table_declares(tmp_path: Path) -> None:
    lines = [
        "coordinates,value,seed,final,low_power,run,protocol_digest",
        "epoch=5,,3,True,,1e5,00123456",
        ",2.5,,,True,,",
    ]
    columns = {
        **tables.texts("coordinates", "run", "protocol_digest"),
        **tables.numbers("value", "seed"),
        **tables.flags("final", "low_power"),
    }
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    found = tables.read(tmp_path / "t.csv", columns)
    assert found[["value", "seed"]].equals(
        pd.DataFrame({"value": [np.nan, 2.5], "seed": [3.0, np.nan]})
    )
    assert found[["final", "low_power"]].values.tolist() == [[True, False], [False, True]]
    # text stays text, however much it looks like a number, and empty stays empty
    texts = found[["coordinates", "run", "protocol_digest"]]
    assert texts.values.tolist() == [["epoch=5", "1e5", "00123456"], ["", "", ""]]


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"coordinates": ["a=1;b=NA", ""], "value": [0.25, np.nan], "final": [True, False]}
    )
    columns = tables.texts("coordinates") | tables.numbers("value") | tables.flags("final")
    tables.write(tmp_path, {"t": (table, columns)})
    pd.testing.assert_frame_equal(tables.read(tmp_path / "t.csv", columns), table)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        'a,b\n1,"2\n',
        "value\n1\n",
        "epoch,value,entropy\n1,2,0.5\n",
        "epoch,value\n1,many\n",
    ],
)
def test_what_is_no_such_table_is_one_sentence(
    tmp_path: Path, refused: Refused, text: str | None
) -> None:
    if text is not None:
        (tmp_path / "t.csv").write_text(text)
    with refused("t.csv"):
        tables.read(tmp_path / "t.csv", tables.numbers("epoch", "value"))
