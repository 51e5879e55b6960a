"""The example notebook runs from an empty folder, ends where geometry says, and is kept without outputs.

Its code runs as one program in a process of its own: the lock has nothing that starts a kernel.
"""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "loss_on_the_sphere.ipynb"
LOOK = """
figure.savefig("figure.png")
pairs = torch.nn.functional.cosine_similarity(*after)
means = normalize(after.sum(0), dim=-1)
print(pairs.min().item(), (means @ means.T)[others].min().item(), (means @ means.T)[others].max().item())
"""


@pytest.fixture(scope="module")
def notebook() -> nbformat.NotebookNode:
    return nbformat.read(NOTEBOOK, as_version=4)


def test_it_is_valid_and_keeps_no_output(notebook: nbformat.NotebookNode) -> None:
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(cells) >= 3
    assert [cell for cell in cells if cell.outputs or cell.execution_count] == []


def test_four_images_end_in_the_corners_of_a_tetrahedron(
    notebook: nbformat.NotebookNode, tmp_path: Path
) -> None:
    """Of n points that are as far apart as can be, any two have the cosine -1/(n-1): here -1/3."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    program = "\n".join([*sources, LOOK])
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said, looked = done.stdout.splitlines()
    assert said == "views of one image: cosine 1.000; of two images: -0.333"
    pair, least, most = map(float, looked.split())
    assert pair > 0.999
    assert [least, most] == pytest.approx([-1 / 3, -1 / 3], abs=0.01)
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    assert {path.name for path in tmp_path.iterdir()} == {"figure.png"}
