"""Two processes that torchrun starts, against one that is alone: an independent way to the same batch's gradient."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import torch
from safetensors.torch import load_file

from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.datasets import store
from hypersphere.provenance.manifest import read_manifest
from hypersphere.training.images import training_images
from hypersphere.training.pretrain import pretrain
from hypersphere.training.processes import Group

from ...of_images import METHODS
from . import shared_steps
from .conftest import of_method

HERE = Path(__file__).resolve().parent


LAUNCHER = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
SETTINGS = [f"--set={key}={value}" for key, value in shared_steps.SETTINGS.items()]


def start(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    """Start two processes in a folder, as a user does."""
    command, around = [*LAUNCHER, *map(str, arguments)], os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, cwd=folder, env=around, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def torchrun(folder: Path, *arguments: object) -> str:
    """Let two processes come to their end; what they said."""
    process = start(folder, *arguments)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return said


@pytest.fixture(scope="module")
def project(methods_plan: Plan) -> Path:
    """Every method's run, with 80 prepared images."""
    return methods_plan.config.root


@pytest.fixture(scope="module")
def of_two(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Steps of every method by two processes."""
    target = tmp_path_factory.mktemp("of_two")
    torchrun(project, HERE / "shared_steps.py", project, target)
    return target


@pytest.mark.parametrize("method", METHODS)
def test_two_processes_take_the_step_of_one(methods_plan: Plan, of_two: Path, method: str) -> None:
    """Loss, gradients, weights, targets, queues, banks and running statistics, in float64."""
    run = of_method(methods_plan, method)
    alone = shared_steps.steps(run, training_images(store.open(methods_plan.data_folder(run.dataset))), Group())
    shared = load_file(of_two / f"{run.name}.safetensors")
    assert shared.keys() == alone.keys()
    assert any(name.startswith("gradient.encoder.") for name in shared)
    for name, value in alone.items():
        torch.testing.assert_close(shared[name], value, rtol=1e-9, atol=1e-11, msg=lambda text, name=name: name + text)


def test_without_shared_statistics_the_step_is_another(methods_plan: Plan, of_two: Path) -> None:
    """The control: batch norms that see half of the batch."""
    local, shared = (
        load_file(of_two / f"{name}.safetensors") for name in ("local", of_method(methods_plan, "simclr").name)
    )
    differences = [(local[name] - value).abs().max().item() for name, value in shared.items() if "gradient" in name]
    assert max(differences) > 1e-3


def copied(project: Path, root: Path) -> tuple[Path, Path]:
    """The project without results, and the folder of the run that two processes will train there."""
    shutil.copytree(project, root, ignore=shutil.ignore_patterns("results"))
    plan = planning.make(root, shared_steps.SETTINGS)
    return root, plan.run_folder(of_method(plan, "mocov2").name)


@pytest.fixture(scope="module")
def whole(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder, trained by the command on two processes."""
    root, folder = copied(project, tmp_path_factory.mktemp("whole") / "project")
    command = ("-m", "hypersphere", "pretrain", folder.name, *SETTINGS)
    assert torchrun(root, *command).count("finished after 4 epochs") == 1
    assert torchrun(root, *command).count("already finished") == 1
    return folder


def test_the_command_trains_on_two_processes_what_it_trains_on_one(methods_plan: Plan, whole: Path) -> None:
    """In float32, eight steps; only the first process leaves files, and its manifest counts both."""
    pretrain(methods_plan, [methods_plan.run(whole.name)])
    for name in ("encoder", "heads"):
        alone = load_file(methods_plan.run_folder(whole.name) / f"{name}.safetensors")
        for key, value in load_file(whole / f"{name}.safetensors").items():
            torch.testing.assert_close(value, alone[key], rtol=1e-2, atol=1e-3)
    assert read_manifest(whole)["numerics"]["processes"] == 2
    assert not list(whole.glob("unfinished-*"))


def test_two_processes_that_are_killed_resume_to_the_same_bytes(project: Path, whole: Path, tmp_path: Path) -> None:
    root, folder = copied(project, tmp_path / "project")
    command = ("-m", "hypersphere", "pretrain", folder.name, "--save-every", "0", *SETTINGS)
    process = start(root, *command)
    deadline = time.monotonic() + 200
    while not list(folder.glob("unfinished-*/resume.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.005)
    launcher = psutil.Process(process.pid)
    for one in [*launcher.children(recursive=True), launcher]:  # each of them has a session of its own
        one.kill()
    process.communicate()
    torchrun(root, *command)
    starts = read_manifest(folder)["started_at_steps"]
    assert starts[0] == 0
    assert 0 < starts[1] < 8
    for name in ("encoder.safetensors", "heads.safetensors", "history.csv"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes()


def test_a_batch_that_cannot_be_shared_equally_is_one_sentence(project: Path, tmp_path: Path) -> None:
    root, folder = copied(project, tmp_path / "project")
    launcher = [*LAUNCHER[:-1], "--nproc-per-node=3", "-m", "hypersphere", "pretrain", folder.name, *SETTINGS]
    done = subprocess.run(launcher, cwd=root, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode != 0
    assert "cannot be shared equally by 3 processes" in done.stderr
    assert not (folder / "manifest.json").exists()
