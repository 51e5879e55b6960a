"""Config, claims and errata that are wrong in any way: one sentence that names the file, and never a traceback.

``HYPERSPHERE_FUZZ=20000`` tries so many of each kind; by default four, always the same ones.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hypersphere.config import plan as planning
from hypersphere.config import texts
from hypersphere.errors import HypersphereError

PROJECT = Path(__file__).parents[2] / "project"
EXAMPLES = int(os.environ.get("HYPERSPHERE_FUZZ", "4"))
TRIED = settings(
    max_examples=EXAMPLES,
    derandomize="HYPERSPHERE_FUZZ" not in os.environ,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
EDITED = [*PROJECT.glob("config/**/*.yaml"), *PROJECT.glob("papers/**/*.yaml")]
YAML = sorted(path.relative_to(PROJECT).as_posix() for path in EDITED)
CLAIMS = sorted(
    path.relative_to(PROJECT).as_posix() for path in PROJECT.glob("papers/*/claims.csv")
)

WRONG: list[Any] = [
    *(None, True, False, -1, 0, 1, 3.5, 1e308, float("inf"), float("nan"), 10**26, -(10**26)),
    *(
        "",
        " ",
        "a",
        "../../evil",
        "/",
        ".",
        "a\nb",
        "é",
        "\u202e",
        "x" * 300,
        "knn",
        "1e-3",
        "2024-13-45",
    ),
    *(
        [],
        [[]],
        {},
        [None],
        {"a": {}},
        {"name": "simclr"},
        [1, "a", None],
        {"": 1},
        {3: 4},
        {None: None},
        {True: 1},
    ),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("fuzz") / "project"
    shutil.copytree(PROJECT, root)
    return root


def judge(root: Path, file: str, content: bytes) -> str | None:
    """Write ``content`` in the place of a file, plan, and put the file back. The sentence, or None if it is taken.

    It is one line of text that names a file of the project. The longest lists the allowed keys of a paper.
    """
    before = (root / file).read_bytes()
    (root / file).write_bytes(content)
    try:
        plan = planning.make(root)
        texts.check(plan)
        planning.check_sizes(plan)
    except HypersphereError as error:
        said = str(error)
        named = any(
            word in said
            for word in (f"{root}/config/", f"{root}/papers/", "errata.yaml", "statistics.yaml")
        )
        assert (named, "\n" in said) == (True, False), said
        assert len(said.replace(str(root), "")) <= 2100, said
        return said
    finally:
        (root / file).write_bytes(before)
    written = [plan.config.results, *map(plan.data_folder, plan.config.datasets.values())]
    for batch in plan.batches:
        written += [plan.marker(batch), *(plan.run_folder(run.name) for run in batch.runs)]
    for key in plan.made_artifacts:
        written += [*plan.config.outputs(*key), plan.config.artifact_folder(*key)]
    assert all(path.resolve().is_relative_to(root.resolve()) for path in written)
    return None


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        yield from places(inner, (*path, key))


@pytest.mark.parametrize("file", YAML)
@TRIED
@given(data=st.data())
def test_one_wrong_value(project: Path, file: str, data: st.DataObject) -> None:
    """A value replaced, removed or misnamed anywhere in a file that is YAML."""
    whole = yaml.safe_load((project / file).read_text(encoding="utf-8"))
    *outer, last = data.draw(st.sampled_from(list(places(whole))))
    wrong = data.draw(st.sampled_from(WRONG))
    how = data.draw(st.sampled_from(["replaced", "renamed", "removed"]))
    container = whole
    for key in outer:
        container = container[key]
    if how == "replaced":
        container[last] = wrong
    elif how == "removed":
        del container[last]
    elif isinstance(container, dict):
        container[f"{last}x"] = container.pop(last)
    judge(project, file, yaml.safe_dump(whole, allow_unicode=True).encode())


@pytest.mark.parametrize("file", [*YAML, *CLAIMS])
@TRIED
@given(data=st.data())
def test_damaged_text(project: Path, file: str, data: st.DataObject) -> None:
    """Bytes replaced, removed, repeated or added anywhere in a file."""
    content = (project / file).read_bytes()
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 40)))
    other = data.draw(
        st.one_of(
            st.binary(max_size=8),
            st.sampled_from([b"\0", b"\xff", b"\n", b"  ", b'"', b",,", b": "]),
        )
    )
    times = data.draw(st.sampled_from([0, 1, 2, 50]))
    judge(project, file, content[:start] + other + content[start:end] * times + content[end:])


@pytest.mark.parametrize("file", CLAIMS)
@TRIED
@given(data=st.data())
def test_one_wrong_field_of_a_claim(project: Path, file: str, data: st.DataObject) -> None:
    lines = (project / file).read_text(encoding="utf-8").splitlines(keepends=True)
    row = data.draw(st.integers(0, len(lines) - 1))
    fields = lines[row].rstrip("\n").split(",")
    fields[data.draw(st.integers(0, len(fields) - 1))] = data.draw(
        st.sampled_from([str(value) for value in WRONG])
    )
    lines[row] = ",".join(fields) + "\n"
    judge(project, file, "".join(lines).encode())


@pytest.mark.parametrize("file", [*YAML, *CLAIMS])
def test_undamaged_it_is_taken(project: Path, file: str) -> None:
    """The control of all above."""
    assert judge(project, file, (project / file).read_bytes()) is None
