"""Whatever a table holds, there is an answer or one sentence that names the file; never another error."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hypersphere.errors import HypersphereError
from hypersphere.judging import findings, judged, page, reading

from .test_exports import FILES
from .test_reading import SHAPES

TABLES = [*SHAPES.values(), *FILES.values(), "arm,mean,std,n\nbase,90.1,0.0,5\nours,91,0.3,3\n"]
PIECES = st.sampled_from(
    [
        *',;\t\n"#%.-+0',
        "nan",
        "1e999",
        "1e-400",
        "diverged",
        "base",
        "ours",
        "-1",
        "±",
        "\u3000",
        "\0",
    ]
)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    table=st.sampled_from(TABLES),
    cuts=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 9), PIECES), max_size=4),
    margin=st.sampled_from([None, 0.5, 1e-9]),
    size=st.sampled_from([None, 100]),
    paired=st.booleans(),
)
def test_any_table_gives_an_answer_or_one_sentence(
    tmp_path: Path,
    table: str,
    cuts: list[tuple[int, int, str]],
    margin: float | None,
    size: int | None,
    paired: bool,
) -> None:
    for start, length, piece in cuts:
        at = start % (len(table) + 1)
        table = table[:at] + piece + table[at + length :]
    file = tmp_path / "runs.csv"
    file.write_text(table, encoding="utf-8", newline="")
    question = judged.Question("base", margin=margin, test_size=size, paired=paired)
    try:
        runs = reading.read(file, reading.Asked("base"))
        by_rules = judged.judge(runs, question, judged.rules())
    except HypersphereError as refusal:
        sentence = str(refusal)
    else:
        sentence = f"{file}: judged"
        shown = page.Shown(by_rules, findings.of(by_rules))
        for write in page.FILES.values():
            assert write(shown)
    assert sentence.startswith(f"{file}: ")


@pytest.mark.parametrize("values", [(1e30, 2e30, 3e30), (1e-30, 2e-30, 3e-30), (0, 0, 1)])
def test_very_large_and_very_small_values_have_an_answer(
    tmp_path: Path, values: tuple[float, ...]
) -> None:
    lines = [f"{arm},{seed},{value}\n" for arm in "ab" for seed, value in enumerate(values)]
    file = tmp_path / "runs.csv"
    file.write_text("arm,seed,value\n" + "".join(lines))
    runs = reading.read(file, reading.Asked("a"))
    by_rules = judged.judge(runs, judged.Question("a"), judged.rules())
    assert by_rules.effects[0].answer == judged.UNDECIDED
    for write in page.FILES.values():
        assert write(page.Shown(by_rules, []))
