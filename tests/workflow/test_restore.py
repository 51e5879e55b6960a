"""`make restore`: a clone takes over published results, reruns nothing, and refuses what is not as published."""

import shutil
from pathlib import Path

import pytest

from ..harm import flipped
from .conftest import DATASETS, Checkout, batches, rules
from .released import ARCHIVE, alone, dvc, git, listed, objects, plant, point
from .served import SERVERS

# of equal bytes in two folders, of which one is made of the other
FIGURE = "embedding_norms/figS1.csv"
pytestmark = pytest.mark.tools


@pytest.fixture
def cloned(released: Checkout, tmp_path: Path) -> Checkout:
    """What git carries of it, with a copy of its remote: no cache, no data, no results, no records of Snakemake."""
    environment = released.environment | alone(tmp_path / "home")
    made = Checkout(
        tmp_path / "clone", environment | {"PYTHONPATH": str(tmp_path / "clone" / "src")}
    )
    git(released, "clone", "-q", str(released.root), str(made.root))
    shutil.copytree(released.root.parent / "remote", tmp_path / "remote")
    point(made.root, tmp_path / "remote")
    return made


def test_restore_refuses_what_is_damaged_or_of_other_code_and_else_leaves_nothing_to_do(
    cloned: Checkout, released: Checkout, tmp_path: Path
) -> None:
    """The refusals are the controls of the restore at the end, and that of an edited loss after it."""
    results = f"results/{released.results.name}"
    path = next(
        path for path in listed(released, f"{results}/runs") if path.endswith("encoder.safetensors")
    )
    stored = objects(tmp_path / "remote")[listed(released, f"{results}/runs")[path]]
    sound = stored.read_bytes()

    plant(stored, flipped(sound))
    done = cloned.hypersphere("restore", status=2)
    assert "hypersphere: dvc pull: failed" in done.stderr
    assert f"{results}/runs" in done.stdout + done.stderr  # DVC's own words
    assert not (cloned.root / ".snakemake").exists()

    # Nor does a remote without `verify` hand it out: restoring asks DVC to compare the bytes.
    plant(stored, flipped(sound))
    point(cloned.root, tmp_path / "remote", verify=False)
    cloned.hypersphere("restore", status=2)
    assert not (cloned.root / ".snakemake").exists()

    # Another refusal: an edit makes the weights those of other code.
    plant(stored, sound)
    point(cloned.root, tmp_path / "remote")
    loss = ("src/hypersphere/objectives/negative_cosine.py", "return ", "return 2 * ")
    cloned.edit(*loss)
    done = cloned.hypersphere("restore", status=2)
    assert done.stderr.splitlines()[-1].startswith(
        "hypersphere: src/hypersphere: changed since the results"
    )
    assert not (cloned.root / ".snakemake").exists()
    cloned.edit(loss[0], loss[2], loss[1])

    cloned.hypersphere("restore")
    assert cloned.jobs() == []
    assert cloned.files("**/*").keys() >= {
        f"runs/{path}",
        "scorecard.html",
        "scorecard.json",
        "evidence/runs.csv",
    }
    assert (cloned.results / "runs" / path).read_bytes() == sound
    assert (cloned.root / ARCHIVE).read_bytes() == b"an archive"
    assert not (cloned.results / "simulations" / FIGURE).samefile(
        cloned.results / "figures" / FIGURE
    )
    cloned.edit(*loss)
    jobs = cloned.jobs()
    assert batches(jobs, "pretrain") == {f"simsiam-{dataset}" for dataset in DATASETS}
    assert "simulate_embedding_norms" in rules(jobs)


@pytest.mark.parametrize("server", ["ssh", "s3", "http"])
def test_restore_from_a_server_refuses_a_flipped_byte_and_else_brings_all_to_store_again(
    cloned: Checkout, released: Checkout, tmp_path: Path, server: str
) -> None:
    folder = f"results/{released.results.name}"
    _, name = next(
        item
        for item in listed(released, f"{folder}/runs").items()
        if item[0].endswith("safetensors")
    )
    with SERVERS[server](tmp_path / "remote", tmp_path / "server") as remote:
        point(cloned.root, remote.settings)
        sound = remote.read(name)
        remote.write(name, flipped(sound))
        done = cloned.hypersphere("restore", status=2)
        assert "hypersphere: dvc pull: failed" in done.stderr
        remote.write(name, sound)
        cloned.hypersphere("restore")
    assert cloned.jobs() == []
    kinds = ("runs/*/*.safetensors", "evaluations/**/*.csv", "tables/**/*", "claims.csv")
    brought = cloned.files(*kinds)
    assert brought == released.files(*kinds)
    assert sum(file.startswith("tables/") for file in brought) > 5

    (tmp_path / "empty").mkdir()
    with SERVERS[server](tmp_path / "empty", tmp_path / "other") as other:
        point(cloned.root, other.settings)
        if server == "http":  # the control: a web server takes nothing
            assert "hypersphere: dvc push: failed" in cloned.hypersphere("store", status=2).stderr
        else:
            cloned.hypersphere("store")
            assert other.read(name) == sound


def test_a_pull_alone_leaves_something_to_do(cloned: Checkout) -> None:
    """The control: without `make restore` Snakemake goes by the times of the files, which are those of the pull."""
    dvc(cloned, "pull")
    next((cloned.results / "batches").glob("simclr-upright-*")).touch()
    assert rules(cloned.jobs())["evaluate"] >= 1
