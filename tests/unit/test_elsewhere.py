"""The losses and encoders in somebody else's code: from the wheel, with the core's libraries alone."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from hypersphere import objectives
from hypersphere.__main__ import PIPELINE
from hypersphere.config import registry
from hypersphere.encoders.resnet import resnet

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "objectives.md"
KINDS: tuple[registry.Kind, ...] = ("objectives", "logits", "gradients", "initialisations")


def test_every_objective_is_a_function_of_the_package() -> None:
    listed = sorted(name for kind in KINDS for name in registry.names(kind))
    assert sorted(name for name, one in vars(objectives).items() if callable(one)) == listed
    assert all(getattr(objectives, name).__name__ == name for name in listed)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sources and unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    code = "from setuptools.build_meta import build_wheel; build_wheel(__import__('sys').argv[1])"
    source = folder / "source"
    shutil.copytree(
        ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, source / name)
    subprocess.run(
        [sys.executable, "-c", code, str(folder)], cwd=source, check=True, capture_output=True
    )
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as file:
        file.extractall(folder / "unpacked")
    return folder / "unpacked"


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def of_extras() -> set[str]:
    """The modules of libraries that only extras of the package ask for."""
    listed = [one for extra in PROJECT["optional-dependencies"].values() for one in extra]
    extras = {re.split(r"[^\w-]", one)[0].lower() for one in listed}
    modules = metadata.packages_distributions()
    return {
        module for module, owners in modules.items() if {owner.lower() for owner in owners} & extras
    } - {"setuptools"}


def run(
    wheel: Path, refused: set[str], program: str, *given: str
) -> subprocess.CompletedProcess[str]:
    """Run a program in a Python that cannot import the refused modules."""
    without = f"import sys\nsys.modules.update(dict.fromkeys({refused}))\n"
    command = [sys.executable, "-c", without + program, *given]
    return subprocess.run(
        command, cwd=wheel, env={"PYTHONPATH": str(wheel)}, capture_output=True, text=True
    )


def test_the_wheel_trains_with_the_libraries_of_the_core_alone(wheel: Path) -> None:
    # which are for the audit and for judge
    refused = of_extras() | {"jinja2", "pydantic", "scipy", "yaml"}
    assert {"pandas", "pydantic", "scipy", "torchvision", "yaml"} <= refused
    losses = "".join(
        re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)[:2]
    )
    program = (
        losses
        + "assert encoder.weight.grad.abs().sum() > 0\nimport hypersphere; print(hypersphere.__file__)"
    )
    done = run(wheel, refused, program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(wheel))
    assert (wheel / "hypersphere" / "py.typed").exists()


def test_the_command_says_what_to_install_where_only_the_core_is(wheel: Path) -> None:
    """In place of a command of the pipeline stands one that imports a library of the pipeline."""
    program = (
        "from hypersphere.command import cli\ncli.main = lambda: __import__('pandas')\n"
        "from hypersphere.__main__ import run; sys.exit(run())"
    )
    done = run(wheel, of_extras(), program, "plan")
    assert done.returncode == 2
    assert "hypersphere-repro[pipeline]" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_modules_of_the_extra_are_known() -> None:
    listed = PROJECT["optional-dependencies"]["pipeline"]
    modules = metadata.packages_distributions()
    for distribution in (re.split(r"[^\w-]", one)[0].lower() for one in listed):
        of = {
            module
            for module, owners in modules.items()
            if distribution in {owner.lower().replace("_", "-") for owner in owners}
        }
        assert of & {*PIPELINE}, distribution
    assert len(PIPELINE) == len(listed)


def test_judge_runs_from_the_wheel_with_the_small_libraries_of_the_core(wheel: Path) -> None:
    (wheel / "runs.csv").write_text(
        "arm,seed,value\na,0,90.1\na,1,90.4\na,2,89.9\nb,0,92.2\nb,1,92.0\nb,2,92.3\n"
    )
    refused = of_extras() | {"torch", "jaxtyping"}
    program = "from hypersphere.__main__ import run; sys.exit(run())"
    done = run(wheel, refused, program, "judge", "runs.csv", "--baseline", "a")
    assert (done.returncode, done.stderr) == (0, "")
    assert "b is better than a" in done.stdout


def test_weights_load_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = resnet(depth=18, stem="cifar").eval()
    save_file(trained.state_dict(), tmp_path / "encoder.safetensors")
    monkeypatch.chdir(tmp_path)
    block = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)[2]
    names: dict[str, object] = {}
    exec(block, names)
    loaded = names["encoder"]
    assert isinstance(loaded, torch.nn.Module)
    image = torch.rand(1, 3, 32, 32)
    assert torch.equal(loaded(image), trained(image))
