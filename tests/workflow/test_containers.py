"""Images and the Kubernetes job: they name what the checkout has. Nothing here is built or started."""

import json
import re
import subprocess

import pytest
import yaml

from hypersphere.command import campaign
from hypersphere.command.cli import _parser

from .conftest import REPOSITORY

DOCKERFILE = REPOSITORY / "containers" / "Dockerfile"
JOB = yaml.safe_load((REPOSITORY / "profiles" / "kubernetes" / "campaign.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["Dockerfile", "hypersphere.def"])
def test_an_image_is_set_up_as_a_checkout_is_with_the_locks_python(name: str) -> None:
    text = (REPOSITORY / "containers" / name).read_text(encoding="utf-8")
    (version,) = re.findall(r"python:(\d+\.\d+)-", text)
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert f"--python-version {version} " in makefile  # for which the lock is resolved
    assert "make setup" in text  # which installs requirements.lock, with its hashes
    assert "\nsetup: " in makefile


def test_the_devcontainer_is_built_from_the_image() -> None:
    folder = REPOSITORY / ".devcontainer"
    build = json.loads((folder / "devcontainer.json").read_text(encoding="utf-8"))["build"]
    assert (folder / build["dockerfile"]).resolve() == DOCKERFILE
    assert (folder / build["context"]).resolve() == REPOSITORY


def test_an_image_holds_no_results_and_no_environment_of_its_builder() -> None:
    ignored = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".venv", "results", "data/raw", "data/processed"} <= set(ignored)


def test_every_pod_of_the_job_takes_a_part_and_together_they_take_all() -> None:
    """The shell computes the part, as in the pod, and the command's own parser reads it."""
    spec = JOB["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    line = container["args"][0].replace("exec hypersphere", "echo")
    parts = []
    for index in range(spec["completions"]):
        done = subprocess.run(
            ["sh", "-c", line], env={"JOB_COMPLETION_INDEX": str(index)}, capture_output=True, text=True, check=True
        )
        parts.append(campaign.part(_parser()[0].parse_args(done.stdout.split()).part))
    assert parts == [(number, spec["completions"]) for number in range(1, spec["completions"] + 1)]
