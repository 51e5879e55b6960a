"""The audit of a table: what it finds, what it never says of an honest table, and what it refuses in one sentence."""

import contextlib
import csv
import json
import math
import os
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from hypersphere import foreign
from hypersphere.audit import checks, command, page, table
from hypersphere.audit.checks import BEYOND_RUNS, BEYOND_TEST_SET, FITS, NOT

from ...fixtures import Refused

HEAD = "where,row,column,metric,mean,std,n_test"


def audited(tmp_path: Path, text: str, claims: str = "") -> list[checks.Finding]:
    file = tmp_path / "numbers.csv"
    file.write_text(text, encoding="utf-8")
    numbers, said, decimal = table.read(file)
    (tmp_path / "claims.txt").write_text(claims, encoding="utf-8")
    said += command.sentences(tmp_path / "claims.txt", {cell.where for cell in numbers})
    return checks.audit(numbers, said, decimal)


def impossible(found: list[checks.Finding]) -> list[str]:
    return [finding.check for finding in found if finding.impossible]


def verdicts(found: list[checks.Finding], check: str) -> list[str]:
    return [finding.verdict for finding in found if finding.check == check]


TESTED = st.one_of(
    st.integers(1, 300), st.sampled_from([999, 5000, 9984, 10_000, 50_000, 9_999_991])
)
ROUNDINGS = st.sampled_from([ROUND_DOWN, ROUND_HALF_UP, ROUND_HALF_EVEN])


@settings(max_examples=150, deadline=None)
@given(
    n=st.one_of(st.integers(1, 12), st.integers(13, 80)),
    n_test=TESTED,
    rounding=ROUNDINGS,
    data=st.data(),
)
def test_an_honest_table_is_never_called_impossible(
    n: int, n_test: int, rounding: str, data: st.DataObject
) -> None:
    """Runs with any hits, of any number, printed or not, at any size of the test set, any decimals and rounding."""
    centre, reach = data.draw(st.integers(0, n_test)), data.draw(st.integers(0, n_test))
    near = st.integers(max(0, centre - reach), min(n_test, centre + reach))
    unit, runs_rounded = (
        Decimal(1).scaleb(-data.draw(st.integers(0, 5))),
        data.draw(st.sampled_from([None, 1, 2])),
    )
    with localcontext() as context:
        context.prec = 60
        runs = [
            Decimal(100 * hits) / n_test
            for hits in data.draw(st.lists(near, min_size=n, max_size=n))
        ]
        if runs_rounded is not None:
            runs = [run.quantize(Decimal(1).scaleb(-runs_rounded), ROUND_HALF_UP) for run in runs]
        exact = sum(runs) / n
        square = sum((run - exact) ** 2 for run in runs)
        mean = exact.quantize(unit, rounding)
        std = (
            None
            if n == 1
            else (square / (n - data.draw(st.integers(0, 1)))).sqrt().quantize(unit, rounding)
        )
    told = n if data.draw(st.booleans()) else None
    found = checks.audit(
        [table.Cell("T", "r", "c", "top1", mean, std, told, n_test, low=min(runs), high=max(runs))]
    )
    assert not impossible(found)
    assert {finding.check for finding in found} >= {"range", "grim"}


@pytest.mark.parametrize(
    ("line", "checks_of"),
    [
        ("T,r,c,top1,61.005,,100,3,,", ["grim"]),  # no mean of three whole percents
        # two runs are 0.00707 times a whole number apart
        ("T,r,c,top1,50.000,0.025,10000,2,,", ["grim"]),
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
    lines = [
        f"T,r{at},{name},,{mean},,"
        for name, means in columns.items()
        for at, mean in enumerate(means.split())
    ]
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
    (finding,) = (
        one for one in audited(tmp_path, "\n".join([HEAD, *lines])) if one.check == "runs"
    )
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
    with refused(f"claim '{claim}'"):
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
    (cell,) = table.read(tmp_path / "n.csv").cells
    assert (str(cell.mean), cell.std and str(cell.std)) == (mean, std)


def test_a_table_of_decimal_commas(tmp_path: Path) -> None:
    """As a spreadsheet of another language writes it, with a mark of the byte order and separators of thousands."""
    file = tmp_path / "n.csv"
    file.write_text(
        "\ufeffRow;Mean;Std;N_test\na;93,125;0,1;10.000\nb;92,5;;10 000\n", encoding="utf-8"
    )
    cells = table.read(file).cells
    assert [(str(cell.mean), cell.n_test) for cell in cells] == [
        ("93.125", 10_000),
        ("92.5", 10_000),
    ]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "sep=;\nrow;mean\nA;93,1\nB;92,0\n"),
        ("utf-8-sig", '"sep=;"\r\nrow;mean\r\nA;93,1\r\nB;92,0\r\n'),
        ("utf-8", "SEP=|\nrow|mean\nA|93,1\nB|92,0\n"),
        ("utf-8", "sep=\t\rrow\tmean\rA\t93.1\rB\t92.0\r"),
        ("utf-16", "row\tmean\nA\t93,1\nB\t92,0\n"),
        ("utf-8-sig", "row,mean\rA,93.1\rB,92.0"),
        ("utf-8", "Row\xa0,\xa0MEAN\nA,\xa093.1\xa0%\nB,92.0\u202f\n"),
    ],
)
def test_what_spreadsheets_write_around_numbers(tmp_path: Path, encoding: str, text: str) -> None:
    """A line for the separator, marks of the byte order, line ends of a Mac, spaces that do not break."""
    (tmp_path / "n.csv").write_bytes(text.encode(encoding))
    cells = table.read(tmp_path / "n.csv").cells
    assert [(cell.row, str(cell.mean)) for cell in cells] == [("A", "93.1"), ("B", "92.0")]


def test_a_line_for_the_separator_counts_as_a_line(tmp_path: Path, refused: Refused) -> None:
    with refused("numbers.csv", "line 3", "mean"):
        audited(tmp_path, "sep=;\nrow;mean\nA;good\n")


@pytest.mark.parametrize(("decimal", "verdict", "status"), [(".", FITS, 0), (",", NOT, 1)])
def test_the_option_decides_where_no_number_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], decimal: str, verdict: str, status: int
) -> None:
    """1,234 points are more than 987, and 1.234 points are fewer; a sentence is read as its table is."""
    (tmp_path / "n.csv").write_text('row,mean,claims\nA,"1,234",A > B\nB,987,"A at least 1,000"\n')
    assert command.main(["audit", str(tmp_path / "n.csv")]) == 2
    assert "--decimal" in capsys.readouterr().err
    assert command.main(["audit", str(tmp_path / "n.csv"), "--decimal", decimal]) == status
    numbers, said, _ = table.read(tmp_path / "n.csv", decimal)
    assert verdicts(checks.audit(numbers, said, decimal), "claims") == [verdict, FITS]


PRINTED_ZEROS = {"0": 0.5, "0.0": 0.05, "0.00": 0.005, "0.000": 0.0005}


@pytest.mark.parametrize("printed", PRINTED_ZEROS)
@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_deviation_printed_as_zero_is_at_most_half_its_last_place(
    tmp_path: Path, printed: str, n: int
) -> None:
    """Against scipy: Welch's test with that deviation; and a chi-square, of which it can only be too small."""
    bound = PRINTED_ZEROS[printed]
    text = f"where,row,mean,std,n,n_test\nT,A,91.4,{printed},{n},10000\nT,B,92.1,0.1,{n},10000\n"
    found = audited(tmp_path, text)
    (welch,) = (one for one in found if one.check == "welch")
    expected = stats.ttest_ind_from_stats(92.1, 0.1, n, 91.4, bound, n, equal_var=False).pvalue
    assert welch.value == pytest.approx(expected, rel=1e-6)
    below = stats.chi2.cdf((n - 1) * bound**2 / (91.4 * 8.6 / 10_000), n - 1)
    (spread, _) = (one for one in found if one.check == "spread")
    assert float(spread.says.rpartition(" ")[2]) == pytest.approx(min(1, 2 * below), rel=0.05)
    assert spread.verdict == (FITS if 2 * below >= 0.05 else NOT)


def test_two_deviations_printed_as_zero_are_no_certainty_and_that_of_one_run_is_none(
    tmp_path: Path,
) -> None:
    """0.1 points between two arms of 0.0 each: t = 0.1 / sqrt(2 · 0.05² / 3) = 2.45, with 4 degrees of freedom."""
    three = audited(tmp_path, "row,mean,std,n\nA,91.4,0.0,3\nB,91.5,0.0,3\n")
    (welch,) = (one for one in three if one.check == "welch")
    assert welch.value == pytest.approx(2 * stats.t.sf(0.1 / math.sqrt(2 * 0.05**2 / 3), 4))
    assert welch.verdict == FITS
    one = audited(tmp_path, "row,mean,std,n,n_test\nA,91.4,0,1,10000\nB,91.5,0,1,10000\n")
    assert not {"welch", "spread"} & {finding.check for finding in one}


def test_an_effect_beyond_noise_is_said_so_and_is_no_misfit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["T,old,a,top1,80.0,0.1,10000", "T,new,a,top1,90.0,0.1,10000"]
    found = audited(tmp_path, "\n".join([HEAD, *lines]))
    said = {check: set(verdicts(found, check)) for check in ("floor", "table", "welch")}
    assert said == {"floor": {BEYOND_TEST_SET}, "table": {BEYOND_TEST_SET}, "welch": {BEYOND_RUNS}}
    assert not impossible(found)
    assert command.main(["audit", str(tmp_path / "numbers.csv"), "--out", str(tmp_path)]) == 0
    for text in (capsys.readouterr().out, (tmp_path / "audit.html").read_text()):
        assert "arger than the noise of the test set" in text
        assert "does not fit" not in text
        assert "Not so" not in text


WRONG = {
    "empty": ("line 1", ""),
    "no mean": ("column 'value'", "row,value\na,1\n"),
    "misspelt mean": ("column 'maen'", "row,maen\na,1\n"),
    "mean twice": ("column 'mean'", "mean,mean\n1,2\n"),
    "decimal comma": ("line 2", "row,mean\na,93,1\n"),
    "words": ("line 2: mean", "row,mean\na,good\n"),
    "two points": ("line 2: mean", "row,mean\na,1.2.3\n"),
    "nan": ("line 2: mean", "row,mean\na,nan\n"),
    "inf": ("line 2: mean", "row,mean\na,inf\n"),
    "beyond a float": ("line 2: mean", "row,mean\na,1e999\n"),
    "a square": ("line 2: mean", "row,mean\na,93²\n"),
    "no mean before a deviation": ("line 2: mean", "row,mean\na,± 2\n"),
    "a cell twice": ("line 3", "row,mean\na,1\na,2\n"),
    "no number": ("mean", "row,mean\na,\n"),
    "negative std": ("line 2: std", "row,mean,std\na,1,-1\n"),
    "half a run": ("line 2: n", "row,mean,n\na,1,2.5\n"),
    "no images": ("line 2: n_test", "row,mean,n_test\na,1,0\n"),
    "a share for a percentage": ("mean", "row,mean,n_test\na,0.93,100\nb,0.91,100\n"),
    "neither yes nor no": ("line 2: higher_is_better", "row,mean,higher_is_better\na,1,perhaps\n"),
    "a quote": ("line 2", 'row,mean\n"a,1\n'),
    "a fraction beside percents": (
        "line 2: mean",
        "row,mean,n_test\nA,0.931,10000\nB,92.0,10000\n",
    ),
    "a fraction of two decimals beside percents": (
        "line 3: mean",
        "row,mean,n_test\nA,92.10,10000\nB,0.93,10000\n",
    ),
    "a fraction beside percents without a test set": (
        "line 2: mean",
        "row,mean\nA,0.9310\nB,92.0\nC,91.55\n",
    ),
    "a fraction after a decimal comma": (
        "line 2: mean",
        "row;mean;n_test\nA;0,931;10.000\nB;92,0;10.000\n",
    ),
    "a fraction in one of two columns": (
        (
            "line 4: mean",
            "row,column,mean,n_test\nA,a,93.1,100\nB,a,92.0,100\nA,b,0.9,100\nB,b,88.0,100\n",
        )
    ),
    "an unknown separator": ("column 'sep=#'", "sep=#\nrow#mean\na#1\n"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_table_is_refused(tmp_path: Path, refused: Refused, wrong: str) -> None:
    place, table = WRONG[wrong]
    with refused("numbers.csv", place):
        audited(tmp_path, table)


@pytest.mark.parametrize(
    "lines",
    [
        ["A,a,0.93%,10000", "B,a,92.0,10000"],  # a percent sign says what it is
        ["A,a,0.83,10000", "B,a,1.20,10000"],  # errors on MNIST
        # any measure; a share would have more decimals than the percents
        ["A,a,0.9,", "B,a,92.0,"],
        ["A,a,0.931,", "B,a,9.312,"],  # losses
        ["A,a,0.0,10000", "B,a,92.0,10000"],
        ["A,a,0.1,10000", "B,b,92.0,10000"],  # chance on one set, a trained encoder on another
        ["A,a,0.931,", "B,a,987.0,"],  # no percents
    ],
)
def test_small_numbers_that_are_no_fractions_are_read(tmp_path: Path, lines: list[str]) -> None:
    audit = audited(tmp_path, "\n".join(["row,column,mean,n_test", *lines]))
    assert not impossible(audit)
    assert len(verdicts(audit, "grim")) == 2


LIKELY = [
    "",
    "50",
    "99.99",
    "1e3",
    "-1",
    "0",
    "100",
    "93,1",
    "1 000",
    "nan",
    "±",
    "50 ± 1",
    "no",
    "A > B",
    "up to",
]
FIELD = st.one_of(
    st.sampled_from(LIKELY), st.text(max_size=6), st.decimals(allow_nan=True, places=3).map(str)
)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
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


def test_a_file_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "n.csv").write_bytes(b"row,mean\n\xff\xfe,1\n")
    for file in ("n.csv", "none.csv", "."):
        assert command.main(["audit", str(tmp_path / file)]) == 2
    assert capsys.readouterr().err.count("\n") == 3


def test_an_endless_file_or_pipe_ends_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As numbers or as sentences; a pipe that ends is read."""
    monkeypatch.setattr(table, "LARGEST_FILE", 1 << 20)
    (tmp_path / "n.csv").write_text("row,mean\na,1\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write(times: int) -> None:
        with contextlib.suppress(BrokenPipeError), pipe.open("w") as handle:
            handle.write("row,mean\n")
            for at in range(times):
                handle.write(f"r{at},93.1\n")

    for times, status in ((10**9, 2), (3, 0)):
        writer = threading.Thread(target=write, args=(times,), daemon=True)
        writer.start()
        assert command.main(["audit", str(pipe)]) == status
        writer.join(10)
        assert not writer.is_alive()
    assert command.main(["audit", "/dev/zero"]) == 2
    assert command.main(["audit", str(tmp_path / "n.csv"), "--claims", "/dev/zero"]) == 2
    complaints = capsys.readouterr().err.splitlines()
    assert len(complaints) == 3
    assert all("has more than 1 MiB" in one for one in complaints)


@pytest.mark.parametrize(
    "words",
    [
        *(["grim"], ["grim", "93.1"], ["grim", "--n-test", "100"], ["grim", "", "--n-test", "100"]),
        *(
            ["grim", "93.1", "", "--n-test", "100"],
            ["grim", "93.1", "--n-test", ""],
            ["grim", " ", "--n-test", " "],
        ),
        *(
            ["grim", "93.1", "--n-test", "1.000"],
            ["grim", "93.1", "--n-test", "100", "--decimal", ""],
        ),
        *(
            ["audit"],
            ["audit", ""],
            ["audit", "FILE", "--out", ""],
            ["audit", "FILE", "--claims", ""],
        ),
        *(["audit", "FILE", "--decimal", "x"], ["audit", "FILE", "--shiny"]),
    ],
    ids=repr,
)
def test_arguments_that_are_empty_missing_or_wrong_are_one_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
) -> None:
    (tmp_path / "n.csv").write_text("row,mean\na,1\n")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert command.main([word.replace("FILE", "n.csv") for word in words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith(f"hypersphere: {words[0]}: ")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["0.93", "--n-test", "100"],
            "read as 0.93 percent of 100 test examples; for a share of 0.93 write 93",
        ),
        (
            ["0,9315", "--n-test", "10.000"],
            "0.9315 percent of 10000 test examples; for a share of 0.9315 write 93.15",
        ),
        (["0.93%", "--n-test", "100"], "read as 0.93 percent of 100 test examples"),
        (
            ["93,125", "0,1", "--n-test", "10000"],
            "read as 93.125 ± 0.1 percent of 10000 test examples",
        ),
        # not above 100
        (["1,234", "--n-test", "10000"], "read as 1.234 percent of 10000 test examples"),
        (["93.125", "--n-test", "10,000"], "read as 93.125 percent of 10000 test examples"),
    ],
)
def test_grim_says_what_it_reads(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert command.main(["grim", *words]) == 0
    assert capsys.readouterr().out.splitlines()[0].removeprefix("read as ") == said.removeprefix(
        "read as "
    )


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
    lines = [
        f"T{at // 100},r{at % 20},c{at // 20 % 5},top1,{50 + at % 977 / 25:.2f},,10000"
        for at in range(100_000)
    ]
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
    given = {
        name: value for name, value in os.environ.items() if name not in foreign.found(os.environ)
    }
    command = [sys.executable, "-c", code]
    out = subprocess.run(
        command, cwd=tmp_path, env=given, capture_output=True, text=True, check=True
    ).stdout
    loaded = set(out.splitlines()[-1].split())
    assert loaded.isdisjoint(
        {"torch", "pandas", "pydantic", "yaml", "matplotlib", "snakemake", "sklearn"}
    )
    assert {"numpy", "scipy"} <= loaded


def test_the_example_of_the_page_is_what_the_audit_says(tmp_path: Path) -> None:
    docs = Path(__file__).resolve().parents[3] / "docs"
    text = (docs / "audit.md").read_text(encoding="utf-8")
    audit = audited(tmp_path, text.partition("```csv\n")[2].partition("```")[0])
    said = (
        page.markdown(audit)
        .partition("\n\n")[2]
        .replace("## ", "### ")
        .removesuffix(f"\n{page.LIMITS}\n")
    )
    assert said in text
    assert page.svg(audit) == (docs / "images" / "audit.svg").read_text(encoding="utf-8")
