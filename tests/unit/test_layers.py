"""Imports go one way between the folders of the package, and no two modules import each other in a circle."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "hypersphere"
LAYERS: tuple[tuple[str, ...], ...] = (
    ("",),  # errors, files, prng, t_test, wording
    ("audit",),
    ("config",),
    ("provenance",),
    ("objectives", "augmentations", "encoders", "datasets"),
    ("methods",),
    ("training",),
    ("probes", "speed"),
    ("exact",),
    ("statistics",),
    ("report", "judging", "certificate"),
    ("command", "results", "testing"),
)
LEVEL = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}


def imports(path: Path) -> set[str]:
    """All names that a file imports, at its top or anywhere in it: of modules, and of their members."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """Modules of this package that a file imports; of a package and its modules, the modules alone."""
    found = {name for name in imports(path) if name in known and name != "hypersphere"}
    return {name for name in found if not any(other.startswith(f"{name}.") for other in found)}


def level(module: str) -> int:
    parts = module.split(".")
    return LEVEL[parts[1] if len(parts) > 2 or parts[-1] in LEVEL else ""]


def test_every_folder_has_its_layer_and_says_what_lives_there() -> None:
    folders = {
        path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    assert folders == LEVEL.keys() - {""}
    assert [
        one for one in folders if not (PACKAGE / one / "__init__.py").read_text().startswith('"""')
    ] == []


def test_nothing_imports_upwards_or_in_a_circle() -> None:
    known = {
        ".".join(("hypersphere", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): path
        for path in PACKAGE.rglob("*.py")
        if path.name != "__main__.py"
    }
    graph = {name: imported(path, known) for name, path in known.items()}
    upwards = [
        f"{name} imports {other}"
        for name, others in graph.items()
        for other in others
        if level(other) > level(name)
    ]
    assert upwards == []
    # or it names the circle
    TopologicalSorter({name: others - {name} for name, others in graph.items()}).prepare()


def test_papers_are_the_top_floor() -> None:
    """The package and its plug-ins import nothing of a paper, and no paper anything of another."""
    root = PACKAGE.parents[1]
    papers = {file.parent.name for file in (root / "papers").glob("*/paper.yaml")}
    found = []
    for path in (
        *PACKAGE.rglob("*.py"),
        *root.glob("plugins/*/src/**/*.py"),
        *root.glob("papers/*/**/*.py"),
    ):
        parts = path.relative_to(root).parts
        own = parts[1] if parts[0] == "papers" else None
        for name in imports(path):
            package, _, inside = name.partition(".")
            if package == "papers" and inside.partition(".")[0] in papers - {own}:
                found.append(f"{path.relative_to(root)} imports {name}")
    assert found == []
