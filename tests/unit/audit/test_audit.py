"""The audit of a table: what it finds, what it never says of an honest table, and what it refuses in one sentence."""

import csv
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hypersphere.audit import checks, command, page, table
from hypersphere.audit.checks import FITS, NOT

from ...fixtures import Refused

HEAD = "where,row,column,metric,mean,std,n_test"


def audited(tmp_path: Path, text: str, claims: str = "") -> list[checks.Finding]:
    file = tmp_path / "numbers.csv"
    file.write_text(text, encoding="utf-8")
    numbers, said = table.read(file)
    (tmp_path / "claims.txt").write_text(claims, encoding="utf-8")
    said += command.sentences(tmp_path / "claims.txt", {cell.where for cell in numbers})
    return checks.audit(numbers, said)


def impossible(found: list[checks.Finding]) -> list[str]:
    return [finding.check for finding in found if finding.impossible]


def verdicts(found: list[checks.Finding], check: str) -> list[str]:
    return [finding.verdict for finding in found if finding.check == check]


TESTED = st.one_of(st.integers(1, 300), st.sampled_from([999, 5000, 9984, 10_000, 50_000, 9_999_991]))
ROUNDINGS = st.sampled_from([ROUND_DOWN, ROUND_HALF_UP, ROUND_HALF_EVEN])


@settings(max_examples=150, deadline=None)
@given(n=st.one_of(st.integers(1, 12), st.integers(13, 80)), n_test=TESTED, rounding=ROUNDINGS, data=st.data())
def test_an_honest_table_is_never_called_impossible(n: int, n_test: int, rounding: str, data: st.DataObject) -> None:
    """Runs with any hits, of any number, printed or not, at any size of the test set, any decimals and rounding."""
    centre, reach = data.draw(st.integers(0, n_test)), data.draw(st.integers(0, n_test))
    near = st.integers(max(0, centre - reach), min(n_test, centre + reach))
    unit, runs_rounded = Decimal(1).scaleb(-data.draw(st.integers(0, 5))), data.draw(st.sampled_from([None, 1, 2]))
    with localcontext() as context:
        context.prec = 60
        runs = [Decimal(100 * hits) / n_test for hits in data.draw(st.lists(near, min_size=n, max_size=n))]
        if runs_rounded is not None:
            runs = [run.quantize(Decimal(1).scaleb(-runs_rounded), ROUND_HALF_UP) for run in runs]
        exact = sum(runs) / n
        square = sum((run - exact) ** 2 for run in runs)
        mean = exact.quantize(unit, rounding)
        std = None if n == 1 else (square / (n - data.draw(st.integers(0, 1)))).sqrt().quantize(unit, rounding)
    told = n if data.draw(st.booleans()) else None
    found = checks.audit([table.Cell("T", "r", "c", "top1", mean, std, told, n_test, low=min(runs), high=max(runs))])
    assert not impossible(found)
    assert {finding.check for finding in found} >= {"range", "grim"}


@pytest.mark.parametrize(
    ("line", "checks_of"),
    [
        ("T,r,c,top1,61.005,,100,3,,", ["grim"]),  # no mean of three whole percents
        ("T,r,c,top1,50.000,0.025,10000,2,,", ["grim"]),  # two runs are 0.00707 times a whole number apart
        ("T,r,c,top1,99.5,30.1,200,,,", ["grim"]),  # no numbers up to 100 spread so far around 99.5
        ("T,r,c,top1,101.2,,10000,,,", ["range"]),
        ("T,r,c,top1,50.0,,10000,,50.2,51.0", ["range"]),
        ("T,r,c,top1,0.93%,,10000,,,", []),  # less than one percent is said with a percent sign
    ],
)
def test_impossible_numbers(tmp_path: Path, line: str, checks_of: list[str]) -> None:
    assert impossible(audited(tmp_path, f"{HEAD},n,low,high\n{line}\n")) == checks_of


def test_averages_copies_and_digits(tmp_path: Path) -> None:
    columns = {"a": "61.1 62.3 63.7 64.9", "b": "61.1 62.3 63.7 64.9", "c": "55.3 61.1 62.3 63.7"}
    lines = [f"T,r{at},{name},,{mean},," for name, means in columns.items() for at, mean in enumerate(means.split())]
    lines += ["T,r0,Average,,59.2,,", "T,r1,Average,,66.0,,"]
    audit = audited(tmp_path, "\n".join([HEAD, *lines]))
    assert verdicts(audit, "average") == [FITS, NOT]
    said = [finding.says for finding in audit if finding.check == "copies"]
    assert said[0] == "column b prints 4 numbers of column a"
    assert any("column c" in one and "one place further" in one for one in said)
    assert verdicts(audit, "digits") == [NOT]  # 13 of 14 are odd


def test_one_number_of_runs_for_a_table(tmp_path: Path) -> None:
    """Thirds and halves of a hundredth have six runs in common."""
    lines = ["T,a,c,top1,50.003,,10000", "T,b,c,top1,50.005,,10000"]
    (finding,) = (one for one in audited(tmp_path, "\n".join([HEAD, *lines])) if one.check == "runs")
    assert " 6, " in finding.says
    assert finding.verdict == FITS


TABLE = f"""{HEAD}
T,old,a,top1,80.4,,
T,new,a,top1,81.9,,
T,old,b,top1,50.0,,
T,new,b,top1,49.9,,
T,old,a,loss,1.2,,
T,new,a,loss,1.1,,
"""


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("new > old in all columns for top1", NOT),
        ("new > old in some columns for top1", FITS),
        ("new > old in most columns for top1", NOT),
        ("new > old in a for top1", FITS),
        ("new − old up to 1.5 for top1", FITS),
        ("new - old up to 3.2 for top1", NOT),
        ("new - old on average +0.7 for top1", FITS),
        ("new - old on average +1.4 for top1", NOT),
        ("new - old at least 1.5 in a for top1", FITS),
        ("new at most 81,9 for top1", FITS),
        ("T: new < old for loss", FITS),
        ("new ≥ old in a for top1", FITS),
    ],
)
def test_sentences(tmp_path: Path, claim: str, verdict: str) -> None:
    assert verdicts(audited(tmp_path, TABLE, claim), "claims") == [verdict]


def test_a_sentence_in_the_table_knows_what_is_better(tmp_path: Path) -> None:
    text = "row,column,mean,higher_is_better,claims\nold,a,1.2,no,\nnew,a,1.1,no,new beats old\n"
    assert verdicts(audited(tmp_path, text), "claims") == [FITS]


@pytest.mark.parametrize(
    "claim",
    ["new is good", "new - old", "newer > old", "new > old in c", "new - old up to 3", "new > old for top5",
     "new - old up to 3,2,1 for top1"],
)  # fmt: skip
def test_a_wrong_sentence_is_refused(tmp_path: Path, refused: Refused, claim: str) -> None:
    with refused():
        audited(tmp_path, TABLE, claim)


@pytest.mark.parametrize(
    ("written", "mean", "std"),
    [
        ("93.10", "93.10", None),
        ('"93,1"', "93.1", None),
        ("\N{MINUS SIGN}3.5", "-3.5", None),
        ("\N{EN DASH}3.5", "-3.5", None),
        ("93.1 ± 0.2", "93.1", "0.2"),
        ("93.1+-0.2", "93.1", "0.2"),
        (" 93.1 % ", "93.1", None),
        ("1e1", "10", None),
    ],
)
def test_how_numbers_are_written(tmp_path: Path, written: str, mean: str, std: str | None) -> None:
    (tmp_path / "n.csv").write_text(f"row,mean\na,{written}\n", encoding="utf-8")
    ((cell,), _) = table.read(tmp_path / "n.csv")
    assert (str(cell.mean), cell.std and str(cell.std)) == (mean, std)


def test_a_table_of_decimal_commas(tmp_path: Path) -> None:
    """As a spreadsheet of another language writes it, with a mark of the byte order and separators of thousands."""
    file = tmp_path / "n.csv"
    file.write_text("\ufeffRow;Mean;Std;N_test\na;93,125;0,1;10.000\nb;92,5;;10 000\n", encoding="utf-8")
    cells, _ = table.read(file)
    assert [(str(cell.mean), cell.n_test) for cell in cells] == [("93.125", 10_000), ("92.5", 10_000)]


WRONG = {
    "empty": "",
    "no mean": "row,value\na,1\n",
    "misspelt mean": "row,maen\na,1\n",
    "mean twice": "mean,mean\n1,2\n",
    "decimal comma": "row,mean\na,93,1\n",
    "words": "row,mean\na,good\n",
    "two points": "row,mean\na,1.2.3\n",
    "nan": "row,mean\na,nan\n",
    "inf": "row,mean\na,inf\n",
    "beyond a float": "row,mean\na,1e999\n",
    "a square": "row,mean\na,93²\n",
    "no mean before a deviation": "row,mean\na,± 2\n",
    "a cell twice": "row,mean\na,1\na,2\n",
    "no number": "row,mean\na,\n",
    "negative std": "row,mean,std\na,1,-1\n",
    "half a run": "row,mean,n\na,1,2.5\n",
    "no images": "row,mean,n_test\na,1,0\n",
    "a share for a percentage": "row,mean,n_test\na,0.93,100\nb,0.91,100\n",
    "neither yes nor no": "row,mean,higher_is_better\na,1,perhaps\n",
    "a quote": 'row,mean\n"a,1\n',
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_table_is_refused(tmp_path: Path, refused: Refused, wrong: str) -> None:
    with refused():
        audited(tmp_path, WRONG[wrong])


LIKELY = ["", "50", "99.99", "1e3", "-1", "0", "100", "93,1", "1 000", "nan", "±", "50 ± 1", "no", "A > B", "up to"]
FIELD = st.one_of(st.sampled_from(LIKELY), st.text(max_size=6), st.decimals(allow_nan=True, places=3).map(str))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.sampled_from([*table.COLUMNS, "mean"]), min_size=1, max_size=9, unique=True),
    rows=st.lists(st.lists(FIELD, min_size=9, max_size=9), max_size=6),
    claim=st.text(alphabet="AB >-<=.1 upton avegl", max_size=12),
)
def test_any_text_gives_an_answer_or_one_sentence(
    tmp_path: Path, names: list[str], rows: list[list[str]], claim: str
) -> None:
    with (tmp_path / "any.csv").open("w", encoding="utf-8", errors="replace", newline="") as handle:
        csv.writer(handle).writerows([names, *(row[: len(names)] for row in rows)])
    (tmp_path / "claims.txt").write_text(claim, encoding="utf-8")
    table_of, claims, out = (str(tmp_path / name) for name in ("any.csv", "claims.txt", "out"))
    assert command.main(["audit", table_of, "--claims", claims, "--out", out]) in (0, 1, 2)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "n.csv").write_bytes(b"row,mean\n\xff\xfe,1\n")
    for file in ("n.csv", "none.csv", "."):
        assert command.main(["audit", str(tmp_path / file)]) == 2
    assert capsys.readouterr().err.count("\n") == 3


def test_the_files_and_the_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers, out = tmp_path / "n.csv", tmp_path / "out"
    lines = ["T|<2>,plain,a&b,top1,80.40,0.5,10000", "T|<2>,new,a&b,top1,82.90,0.4,10000"]
    numbers.write_text("\n".join([HEAD, *lines]))
    assert command.main(["audit", str(numbers), "--out", str(out)]) == 0
    assert capsys.readouterr().out.startswith("# Audit")
    assert {file.name for file in out.iterdir()} == set(page.FILES)
    found = json.loads((out / "audit.json").read_text())["findings"]
    rows = list(csv.DictReader((out / "audit.csv").read_text().splitlines()))
    assert [row["says"] for row in rows] == [one["says"] for one in found]
    assert all(row["assumption"] for row in rows)
    assert len(ET.fromstring((out / "effects.svg").read_text()).findall("{*}circle")) == 1
    text = (out / "audit.html").read_text()
    assert "T|&lt;2&gt;" in text
    assert "<2>" not in text
    numbers.write_text("\n".join([HEAD, *lines, "T,c,d,top1,104.0,,100"]))
    assert command.main(["audit", str(numbers)]) == 1


@pytest.mark.long
def test_a_hundred_thousand_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"T{at // 100},r{at % 20},c{at // 20 % 5},top1,{50 + at % 977 / 25:.2f},,10000" for at in range(100_000)]
    (tmp_path / "n.csv").write_text("\n".join([HEAD, *lines]))
    assert command.main(["audit", str(tmp_path / "n.csv"), "--out", str(tmp_path / "out")]) == 0
    assert len(capsys.readouterr().out) < 500_000
    assert (tmp_path / "out" / "audit.html").stat().st_size < 3_000_000


def test_it_imports_little(tmp_path: Path) -> None:
    """Neither torch nor pandas, pydantic, yaml, matplotlib or Snakemake, by the names of all modules."""
    (tmp_path / "n.csv").write_text("row,mean,n_test\na,93.1,100\n")
    code = (
        "import sys; from hypersphere.__main__ import run; sys.argv = ['hypersphere', 'audit', 'n.csv']; run();"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    loaded = set(out.splitlines()[-1].split())
    assert loaded.isdisjoint({"torch", "pandas", "pydantic", "yaml", "matplotlib", "snakemake", "sklearn"})
    assert {"numpy", "scipy"} <= loaded


def test_the_example_of_the_page_is_what_the_audit_says(tmp_path: Path) -> None:
    docs = Path(__file__).resolve().parents[3] / "docs"
    text = (docs / "audit.md").read_text(encoding="utf-8")
    audit = audited(tmp_path, text.partition("```csv\n")[2].partition("```")[0])
    said = page.markdown(audit).partition("\n\n")[2].replace("## ", "### ").removesuffix(f"\n{page.LIMITS}\n")
    assert said in text
    assert page.svg(audit) == (docs / "images" / "audit.svg").read_text(encoding="utf-8")
