"""The command from an empty folder: its answers, its exit status, what it writes, and what it never imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from hypersphere.judging import command, page

from ...fixtures import Names

TABLE = "arm,seed,value\n" + "".join(
    f"{arm},{seed},{value}\n"
    for arm, values in {"base": (90.1, 90.4, 89.9), "ours": (92.1, 92.4, 91.8)}.items()
    for seed, value in enumerate(values)
)
PLAN = "baseline: base\narms: [ours]\nruns: 3\nmargin: 1.0\nexpects: {ours: better}\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs.csv").write_text(TABLE)
    Path("plan.yaml").write_text(PLAN)


def judge(*words: str) -> int:
    return command.main(["judge", "runs.csv", *words])


def test_an_answer_is_printed_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    assert judge("--baseline", "base", "--margin", "1") == 0
    assert "ours is better than base: +1.97" in capsys.readouterr().out
    assert sorted(tmp_path.iterdir()) == before


def test_the_folder_gets_every_file_and_the_same_bytes_again(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        assert judge("--baseline", "base", "--out", folder) == 0
    written = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    assert written.keys() == page.FILES.keys()
    assert written == {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}


def test_runs_as_planned_pass_and_others_have_a_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert judge("--plan", "plan.yaml") == 0
    assert "as planned" in capsys.readouterr().out
    Path("plan.yaml").write_text(PLAN.replace("runs: 3", "runs: 5"))
    assert judge("--plan", "plan.yaml") == 1
    assert "deviated" in capsys.readouterr().out
    Path("plan.yaml").write_text(PLAN.replace("better", "worse"))
    assert judge("--plan", "plan.yaml") == 1
    assert "was expected to be worse than the baseline: better." in capsys.readouterr().out


def test_lower_is_better_where_it_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert judge("--baseline", "base", "--lower-is-better") == 0
    assert "ours is worse than base" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ([], "judge: --baseline"),
        (["--baseline", "base", "--margin", "0"], "judge: --margin"),
        (["--baseline", "base", "--margin", "1%"], "judge: --margin"),
        (["--baseline", "base", "--margin", "nan"], "judge: --margin"),
        (["--baseline", "base", "--test-size", "many"], "judge: --test-size"),
        (["--baseline", "base", "--column", "colour=arm"], "judge: --column"),
        (["--baseline", "base", "--plan", "plan.yaml"], "judge: --baseline"),
        (["--plan", "plan.yaml", "--lower-is-better"], "judge: --lower-is-better"),
        (["--plan", "gone.yaml"], "gone.yaml"),
        (["--baseline", "nobody", "--out", "out"], "runs.csv"),
        (["--baseline", "base", "--test-size", "10"], ""),
        (["--baseline", "base", "--frobnicate"], "judge"),
        (["--baseline", "base", "--out", ""], "judge: out"),
        (["--plan", ""], "judge: plan"),
    ],
)
def test_wrong_arguments_are_one_sentence_and_nothing_is_written(
    words: list[str], place: str, capsys: pytest.CaptureFixture[str], names: Names, tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    status = judge(*words)
    said = capsys.readouterr()
    if not place:  # the control
        assert (status, said.err) == (0, "")
        return
    assert (status, said.out) == (2, "")
    names(said.err.strip().removeprefix("hypersphere: "), place)
    assert sorted(tmp_path.iterdir()) == before


def test_a_missing_file_and_a_folder_that_cannot_be_written_are_sentences(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main(["judge", "gone.csv", "--baseline", "base"]) == 2
    assert "gone.csv: No such file" in capsys.readouterr().err
    Path("file").write_text("")
    assert judge("--baseline", "base", "--out", "file") == 2
    assert capsys.readouterr().err.startswith("hypersphere: file/")


def test_it_imports_neither_torch_nor_pandas() -> None:
    """Nor scipy.stats, matplotlib or Snakemake, by the names of all modules."""
    program = (
        "import sys\nfrom hypersphere.judging import command\n"
        "command.main(['judge', 'runs.csv', '--baseline', 'base', '--out', 'out'])\n"
        "heavy = {'torch', 'pandas', 'matplotlib', 'snakemake', 'sklearn', 'scipy.stats'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr
