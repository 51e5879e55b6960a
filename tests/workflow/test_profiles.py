"""Profiles, and what every job asks for."""

import re

import pytest
import yaml

from .conftest import Checkout, parse

pytestmark = pytest.mark.tools


@pytest.mark.parametrize(
    ("scale", "profile"),
    [("quick", ""), ("paper", ""), ("paper", "--workflow-profile"), ("paper", "--profile")],
)
def test_every_job_declares_memory_and_time_and_the_gpu_that_its_scale_needs(
    fresh: Checkout, scale: str, profile: str
) -> None:
    """By a dry run, which has no cluster, data or GPU. Slurm's profile has defaults for what a rule leaves out."""
    text = fresh.dry_run(
        *([profile, "profiles/slurm"] if profile else ()), settings=(f"scale={scale}",)
    )
    assert ("profiles/slurm" in text) == bool(profile)
    assert not (fresh.root / "data" / "processed").exists()
    jobs = parse(text)
    table = "artifact_embedding_norms__table5"
    assert {job.rule for job in jobs} >= {
        "prepare",
        "pretrain",
        "evaluate",
        table,
        "claims",
        "scorecard",
    }
    declared = yaml.safe_load((fresh.root / "config" / "scales" / f"{scale}.yaml").read_text())[
        "resources"
    ]
    for rule, _, _, asked in jobs:
        assert int(asked["mem_mb"]) > 0, rule
        assert int(asked["runtime"]) > 0, rule
        wanted = str(declared["gpu"]) if rule in {"pretrain", "evaluate"} else None
        assert asked.get("gpu") == wanted, rule
        # The Slurm plugin refuses two ways of asking for a GPU.
        assert not {"gpu_model", "gres", "slurm_extra"} & asked.keys()


@pytest.mark.parametrize("name", ["generic", "slurm"])
def test_profiles_agree_but_for_gpus_which_a_cluster_counts_itself(
    fresh: Checkout, name: str
) -> None:
    """GPUs: test_facts.py. What DVC copies is newer, so Snakemake has to compare bytes."""
    files = [fresh.root / "profiles" / one / "config.yaml" for one in ("default", name)]
    default, cluster = (yaml.safe_load(file.read_text()) for file in files)
    assert default["resources"] == ["gpu=1"]
    assert "resources" not in cluster
    for key in ("rerun-triggers", "rerun-incomplete", "max-checksum-file-size"):
        assert default[key] == cluster[key]
    command = re.search(r"^# snakemake (.+?)  ", files[1].read_text(), re.MULTILINE)
    assert command
    # The generic profile leaves the command that submits jobs to its user, and other profiles do not read it.
    done = fresh.snakemake("--dry-run", "--cluster-generic-submit-cmd", "qsub", *command[1].split())
    assert f"workflow specific profile profiles/{name}" in done.stdout + done.stderr
    assert "profiles/default" not in done.stdout + done.stderr


def test_every_rule_that_a_profile_names_exists(fresh: Checkout) -> None:
    """Lines that are for people to uncomment, too: `- pretrain:slurm_partition=gpu`."""
    rules = {job.rule for job in fresh.jobs()}
    named = set[str]()
    for file in fresh.root.glob("profiles/*/config.yaml"):
        named |= set(re.findall(r"^[# ]*- (\w+):\w+=", file.read_text(), flags=re.MULTILINE))
    assert "pretrain" in named
    assert named <= rules
