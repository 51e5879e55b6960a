"""docs/judge.md: what the page tells its reader to type gives what the page shows."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from hypersphere.judging import command, page, prespecified, reading

PAGE = Path(__file__).parents[3] / "docs" / "judge.md"
TEXT = PAGE.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_page_give_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (table,), (plan,) = blocks("csv"), blocks("yaml")
    Path("runs.csv").write_text(table)
    Path("plan.yaml").write_text(plan)
    first, second = (shlex.split(line)[1:] for line in blocks("bash"))
    answer, end = blocks("text")
    assert command.main(first) == 0
    assert capsys.readouterr().out == answer
    assert command.main(second) == 1
    assert capsys.readouterr().out.endswith(f"\n{end}")


def test_the_page_lists_every_file_role_and_field() -> None:
    for names in (page.FILES, reading.ROLES, prespecified.Plan.model_fields):
        assert [name for name in names if not re.search(rf"\b{re.escape(name)}\b", TEXT)] == []
    assert yaml.safe_load(blocks("yaml")[0]).keys() <= prespecified.Plan.model_fields.keys()
