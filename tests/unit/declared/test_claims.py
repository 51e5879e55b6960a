"""paper/claims/*.csv: whose a claim is, and what a claims file may say."""

import re
from functools import cache
from pathlib import Path

import pytest

from hypersphere.declared import errata
from hypersphere.declared.claims import PRINTED, Claim, load
from hypersphere.errors import HypersphereError

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "paper" / "claims").glob("*.csv"))
FIELDS = "artifact,method,variant,baseline,dataset,setting,metric,reported,reported_std,reading,sentence,source"


@cache
def claims() -> list[Claim]:
    """Of every paper."""
    return [claim for file in FILES for claim in load(file)]


def written(folder: Path, origin: str, reading: str) -> Path:
    file = folder / "p.csv"
    file.write_text(f'id,kind,origin,{FIELDS}\na,theorem,{origin},t,,,,,,,,,{reading},"it holds",Theorem 1\n')
    return file


@pytest.mark.parametrize(
    ("origin", "reading"), [("printed", PRINTED), ("ours", PRINTED), ("corrected", "M7"), ("ours", "M7")]
)
def test_a_claim_is_printed_corrected_or_ours(tmp_path: Path, origin: str, reading: str) -> None:
    (claim,) = load(written(tmp_path, origin, reading))
    assert (claim.origin, claim.reading) == (origin, reading)


@pytest.mark.parametrize(
    ("origin", "reading", "message"),
    [
        ("corrected", PRINTED, r"origin: 'corrected' needs the erratum that corrects it as its reading"),
        ("theirs", PRINTED, r"origin: input should be 'printed', 'corrected' or 'ours' \(given: 'theirs'\)"),
    ],
)
def test_a_wrong_origin_is_one_sentence(tmp_path: Path, origin: str, reading: str, message: str) -> None:
    with pytest.raises(HypersphereError, match=rf"p\.csv: line 2 \(a\)\.{message}"):
        load(written(tmp_path, origin, reading))


def test_an_origin_is_required(tmp_path: Path) -> None:
    file = written(tmp_path, "printed", PRINTED)
    file.write_text(file.read_text().replace(",origin", "").replace(",printed", ""))
    with pytest.raises(HypersphereError, match=r"line 2 \(a\)\.origin: this key is required"):
        load(file)


def test_every_reading_is_as_printed_or_errata() -> None:
    known = {entry.id for entry in errata.load(ROOT)}
    readings = {part for claim in claims() for part in claim.reading.split(", ")}
    assert readings - {PRINTED} <= known


def test_what_an_erratum_reads_is_not_counted_as_printed() -> None:
    """Of a printed number or sentence, and of what somebody makes of it, only one is the document's."""
    assert not [claim.id for claim in claims() if claim.origin == "printed" and claim.reading != PRINTED]


def test_a_source_that_says_ours_is_ours() -> None:
    def says_so(claim: Claim) -> bool:
        return re.search(r"(^|[(;,] ?)ours\b", claim.source) is not None

    assert [claim.id for claim in claims() if says_so(claim) and claim.origin != "ours"] == []
    assert {claim.origin for claim in claims()} == {"printed", "corrected", "ours"}
