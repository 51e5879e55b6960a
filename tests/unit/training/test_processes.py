"""Two processes that torchrun starts, against one that is alone: an independent way to the same batch's gradient."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from hypersphere.datasets import store
from hypersphere.declared import plan as planning
from hypersphere.declared import registry
from hypersphere.declared.plan import Plan
from hypersphere.training.images import training_images
from hypersphere.training.pretrain import pretrain
from hypersphere.training.processes import Group

from . import shared_steps

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1] / "project"
METHODS = [name for name in registry.names("methods") if registry.read_constant("methods", name, "KIND", "") != "text"]


def torchrun(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Start two processes in a folder, as a user does."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command, around = [*launcher, *map(str, arguments)], os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=around, timeout=300, check=False)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, prepared_data: Path) -> Path:
    """Every method's run, with 80 prepared images."""
    root = tmp_path_factory.mktemp("processes")
    shutil.copytree(PROJECT, root, dirs_exist_ok=True)
    shutil.copytree(prepared_data, root / "data")
    return root


@pytest.fixture(scope="module")
def plan(project: Path) -> Plan:
    return planning.make(project, shared_steps.SETTINGS)


@pytest.fixture(scope="module")
def of_two(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Steps of every method by two processes."""
    target = tmp_path_factory.mktemp("of_two")
    done = torchrun(project, HERE / "shared_steps.py", project, target)
    assert done.returncode == 0, done.stderr
    return target


def named(plan: Plan, method: str) -> str:
    return next(name for name in plan.runs if name.startswith(f"{method}-"))


@pytest.mark.parametrize("method", METHODS)
def test_two_processes_take_the_step_of_one(plan: Plan, of_two: Path, method: str) -> None:
    """Loss, gradients, weights, targets, queues, banks and running statistics, in float64."""
    run = plan.run(named(plan, method))
    alone = shared_steps.steps(run, training_images(store.open(plan.data_folder(run.dataset))), Group())
    shared = load_file(of_two / f"{run.name}.safetensors")
    assert shared.keys() == alone.keys()
    assert any(name.startswith("gradient.encoder.") for name in shared)
    for name, value in alone.items():
        torch.testing.assert_close(shared[name], value, rtol=1e-9, atol=1e-11, msg=lambda text, name=name: name + text)


def test_without_shared_statistics_the_step_is_another(plan: Plan, of_two: Path) -> None:
    """The control: batch norms that see half of the batch."""
    local, shared = (load_file(of_two / f"{name}.safetensors") for name in ("local", named(plan, "simclr")))
    differences = [(local[name] - value).abs().max().item() for name, value in shared.items() if "gradient" in name]
    assert max(differences) > 1e-3


def test_the_command_trains_on_two_processes_what_it_trains_on_one(plan: Plan, tmp_path: Path, project: Path) -> None:
    """In float32, four epochs; only the first process leaves files, and its manifest counts both."""
    name = named(plan, "mocov2")
    pretrain(plan, [plan.run(name)])
    alone = load_file(plan.run_folder(name) / "encoder.safetensors")
    root = tmp_path / "two"
    shutil.copytree(project, root, ignore=shutil.ignore_patterns("results"))
    settings = [f"--set={key}={value}" for key, value in shared_steps.SETTINGS.items()]
    command = ("-m", "hypersphere", "pretrain", name, *settings)
    done = torchrun(root, *command)
    assert done.returncode == 0, done.stderr
    two = planning.make(root, shared_steps.SETTINGS)
    folder = two.run_folder(name)
    for key, value in load_file(folder / "encoder.safetensors").items():
        torch.testing.assert_close(value, alone[key], rtol=1e-2, atol=1e-3)
    assert '"processes": 2' in (folder / "manifest.json").read_text()
    assert not list(folder.glob("unfinished-*"))
    assert torchrun(root, *command).stdout.count("already finished") == 1
