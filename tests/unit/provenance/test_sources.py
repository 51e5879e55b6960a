"""A code digest moves when, and only when, code changes that decides a byte: each edit is stated with its class."""

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from hypersphere.provenance import sources

from .conftest import edited

NAMES = ("training.trainers.image", "training.weights", "training.determinism", "methods.simclr", "encoders.resnet8")
MODULES = tuple(f"hypersphere.{name}" for name in (*NAMES, "objectives.nt_xent", "objectives.debiased"))
"""What a run of SimCLR is made by, and an objective that refuses bad parameters."""
LOOP = "training/loop.py"
MOVES, STAYS = True, False

# What is edited: file, text, its replacement, whether the digest moves. An empty text: the replacement is a new file.
EDITS: dict[str, tuple[str, str, str, bool]] = {
    # Edits that change what a run is, or could.
    "an operator in the loop": (LOOP, "output.loss * share", "output.loss / share", MOVES),
    "a default of a run": ("config/recipe.py", "momentum: DecayRate = 0.9", "momentum: DecayRate = 0.8", MOVES),
    "how defaults are merged": ("config/registry.py", "... if default is None", "0 if default is None", MOVES),
    "the condition of an error": ("config/run.py", "self.batch.size > examples", "self.batch.size >= examples", MOVES),
    "the type of an error": ("config/run.py", "raise HypersphereError(\n  ", "raise ValueError(\n  ", MOVES),
    # Edits of what only speaks, of what decides no byte, and of what the run does not use.
    "a comment": ("objectives/nt_xent.py", "    n = len(z_a)\n", "    n = len(z_a)  # a batch\n", STAYS),
    "a docstring": (LOOP, '"""Pretraining, top to', '"""Pretraining, from top to', STAYS),
    "a field's docstring": ("config/recipe.py", "Probability that values", "How probable it is that values", STAYS),
    "line breaks": ("objectives/nt_xent.py", "    n = len(z_a)\n", "\n    n = len(\n        z_a\n    )\n", STAYS),
    "an objective's error": ("objectives/debiased.py", "no negative would be", "none would be", STAYS),
    "a run's error": ("config/run.py", "is more than the", "exceeds the", STAYS),
    "a new note": (LOOP, "    checkpointer = C", '    print("keeping")\n    checkpointer = C', STAYS),
    "an assertion's message": (
        "training/trainers/image.py",
        "stored is not None\n",
        'stored is not None, "no"\n',
        STAYS,
    ),
    "how a device is shared": ("training/device.py", "WAIT_SECONDS = 1.0", "WAIT_SECONDS = 2.0", STAYS),
    "the lock of a run": ("provenance/state.py", "60.0", "61.0", STAYS),
    "the console": ("command/console.py", "import", "import os\nimport", STAYS),
    "an objective of no such run": ("objectives/uniformity.py", ".mean()", ".sum()", STAYS),
    "a new objective": ("objectives/newest.py", "", "def newest(z_a, z_b):\n    return (z_a * z_b).sum()\n", STAYS),
}


@pytest.fixture(scope="module")
def unedited(package: Path) -> str:
    return sources.code_digest(*MODULES)


@pytest.mark.parametrize("name", EDITS)
def test_which_edits_move_the_digest(package: Path, unedited: str, name: str) -> None:
    file, old, new, moves = EDITS[name]
    with edited(package / file, old, new):
        compile((package / file).read_text(), file, "exec")  # an edit that is no Python would prove nothing
        assert (sources.code_digest(*MODULES) != unedited) == moves
    assert sources.code_digest(*MODULES) == unedited


def test_the_digest_is_of_the_content_alone(unedited: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where the package lies nor the order of the modules matters; which modules they are does."""
    assert sources.code_digest(*reversed(MODULES)) == unedited
    assert sources.code_digest(*MODULES[:-1]) != unedited
    monkeypatch.setattr(sources, "PACKAGE", Path(sources.__file__).parents[1])
    assert sources.code_digest(*MODULES) == unedited


def test_sources_are_read_once_in_a_process(package: Path, unedited: str) -> None:
    assert sources.code_digest(*MODULES) == unedited
    text = (package / "prng.py").read_text()
    (package / "prng.py").write_text("x = 1\n")
    assert sources.code_digest(*reversed(MODULES)) == unedited
    sources.forget()
    assert sources.code_digest(*MODULES) != unedited
    (package / "prng.py").write_text(text)
    sources.forget()


def test_a_closure_follows_imports_but_not_through_silent_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    for name in ("__init__", "two", "three", "four", "five", "six"):
        (tmp_path / f"{name}.py").write_text("import json\n")
    (tmp_path / "errors.py").write_text("import hypersphere.six\n")
    (tmp_path / "one.py").write_text(
        dedent("""\
        from typing import TYPE_CHECKING
        import hypersphere.two
        from hypersphere import three, errors
        if TYPE_CHECKING:
            from hypersphere import five
        def late():
            from hypersphere.four import member
        """)
    )
    found = sources.closure(["hypersphere.one"])
    assert list(found) == ["hypersphere", *(f"hypersphere.{name}" for name in ("four", "one", "three", "two"))]
    assert found["hypersphere.two"] == "import json"
    assert sources.closure(["hypersphere.errors", "hypersphere.nowhere", "json"]) == {}


def test_a_modules_table_counts_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit of the table moves the digest of what imports the module, and of nothing else."""
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    for name, text in {"one": "import hypersphere.two", "two": "", "three": ""}.items():
        (tmp_path / f"{name}.py").write_text(text)

    def digests() -> list[str]:
        sources.forget()
        return [sources.code_digest(f"hypersphere.{name}") for name in ("one", "two", "three")]

    tables = [digests()]
    for text in ("name\na\n", "name\nb\n"):
        (tmp_path / "two.csv").write_text(text)
        tables.append(digests())
    assert [len(set(column)) for column in zip(*tables, strict=True)] == [3, 3, 1]
    sources.forget()


def test_relative_imports_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a module, and from the __init__ of a package, where one dot is the package itself."""
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    (tmp_path / "inner").mkdir()
    texts = {
        "__init__": "",
        "top": "from .inner import deep",
        "inner/__init__": "from .aside import x",
        "inner/deep": "from .. import beside\nfrom . import sibling",
        **dict.fromkeys(("inner/aside", "inner/sibling", "beside", "alone"), ""),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    modules = ("inner", "inner.aside", "inner.deep", "inner.sibling", "beside", "top")
    assert set(sources.closure(["hypersphere.top"])) == {"hypersphere", *(f"hypersphere.{name}" for name in modules)}


def test_which_modules_exist() -> None:
    assert sources.exists("hypersphere.prng")
    assert sources.exists("hypersphere.training")
    assert not any(map(sources.exists, ("hypersphere.prng.uniform", "hypersphere.nowhere", "json", "prng")))
    assert [name for name in sources.SILENT if not sources.exists(name)] == []  # one renamed would count again


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('raise Wrong(f"no {x}") from None', "raise Wrong from None"),
        ("raise errors.Wrong(text, 3)", "raise errors.Wrong"),
        ("raise", "raise"),
        ("raise error", "raise error"),
        ('assert x > 0, f"{x}"', "assert x > 0"),
        ('if x:\n    """Words."""\n    print("x", x, sep="")', "if x:\n    pass"),
        ('for x in y:\n    print("x")\nelse:\n    print("y")', "for x in y:\n    pass"),
        ('import sys\nprint(f"{x}", file=sys.stderr, flush=True)', "import sys"),
        ('warnings.warn("old", stacklevel=2)', ""),
        ("def f(x: int) -> int:\n    'Words.'\n    return x  # words", "def f(x: int) -> int:\n    return x"),
        ("class C:\n    x: int = 1\n    'Words.'", "class C:\n    x: int = 1"),
        # What acts as well as speaks is kept as it is.
        ("print(next(steps))", "print(next(steps))"),
        ("print((x := 2))", "print((x := 2))"),
        ("print('1', file=history)", "print('1', file=history)"),
        ("print('1', **where)", "print('1', **where)"),
        ("x = print('1')", "x = print('1')"),
        ("save('1')", "save('1')"),
        ("x = 'words'", "x = 'words'"),
        ("if x:\n    'Words.'\nelse:\n    step()", "if x:\n    pass\nelse:\n    step()"),
        ("yield_ = lambda: (yield)", "yield_ = lambda: (yield)"),
    ],
)
def test_what_only_speaks_is_taken_out(text: str, kept: str) -> None:
    found = sources.stripped(ast.parse(text))
    assert found == kept
    assert sources.stripped(ast.parse(found)) == found
