"""Behaviour of DVC and Snakemake that dvc.yaml and `make restore` are built on: facts 3 to 5.

When one of these fails after an upgrade, dvc.yaml has to be thought through again, not the test.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from .conftest import Checkout
from .released import alone, dvc, rewrite

pytestmark = pytest.mark.tools

BEYOND = 1_100_000
"""Bytes that Snakemake's default for `--max-checksum-file-size`, one megabyte, does not cover."""
COVERS = ("--max-checksum-file-size", "10MB")

# z/early.txt -> a/late.txt: alphabetical order is not the order in which they are made.
CHAIN = f"""
rule late:
    input: "z/early.txt"
    output: "a/late.txt"
    shell: "cp {{input}} {{output}}; echo late >> {{output}}"
rule early:
    output: "z/early.txt"
    shell: "head -c {BEYOND} /dev/zero > {{output}}"
"""

Place = Callable[[str], Checkout]


@pytest.fixture
def place(standalone: Place, tmp_path: Path, environment: dict[str, str]) -> Place:
    """A folder with a Snakefile and DVC without git, which finds no configuration but its own."""

    def make(snakefile: str) -> Checkout:
        made = standalone(snakefile)
        (made.root / ".dvc").mkdir()
        configure(made, "copy")
        return Checkout(made.root, environment | alone(tmp_path / "home"))

    return make


def configure(place: Checkout, links: str, verify: bool = False) -> None:
    """Write the whole configuration: how files and cache are linked, and a folder as remote."""
    remote = f"[core]\nno_scm = true\nremote = store\n['remote \"store\"']\nurl = ../store\nverify = {verify}\n"
    (place.root / ".dvc" / "config").write_text(f"{remote}[cache]\ntype = {links}\n")


def stage(place: Checkout, command: str, **outputs: bool) -> None:
    """Write dvc.yaml: one stage that depends on source.txt; each output, and whether it persists."""
    outs = [{name.replace("__", "."): {"persist": persist}} for name, persist in outputs.items()]
    content = {"stages": {"all": {"cmd": command, "deps": ["source.txt"], "outs": outs}}}
    (place.root / "dvc.yaml").write_text(yaml.safe_dump(content))
    (place.root / "source.txt").write_text("1")


def jobs(place: Checkout, *options: str) -> set[str]:
    """Outputs that Snakemake would make."""
    return {job.output for job in place.jobs(*options)}


def test_fact_3_only_a_forced_touch_records_what_files_are_made_from(standalone: Place, tmp_path: Path) -> None:
    """As after a clone and `dvc pull`: files in order of time, and no record of Snakemake's. Touched without force
    nothing is recorded, and a stale file passes for made."""
    made = standalone(
        "VERSION = 1\nrule model:\n    output: 'model.txt'\n    params: code=VERSION\n    shell: 'exit 1'\n"
    )
    (tmp_path / "model.txt").write_text("weights")
    for force, stale in (((), set()), (("--forceall",), {"model.txt"})):
        assert made.snakemake("--touch", *force, "--cores", "1", "--quiet", "host").returncode == 0
        made.edit("Snakefile", "VERSION = 1", "VERSION = 2")
        assert jobs(made) == stale
        made.edit("Snakefile", "VERSION = 2", "VERSION = 1")
        assert jobs(made) == set()


def test_fact_4_an_output_is_deleted_before_its_stage_runs_unless_it_persists(place: Place) -> None:
    made = place("")
    stage(made, "ls > seen.log; touch kept.txt lost.txt", kept__txt=True, lost__txt=False)
    dvc(made, "repro")
    assert "kept.txt" not in (made.root / "seen.log").read_text()
    (made.root / "source.txt").write_text("2")
    dvc(made, "repro")
    seen = (made.root / "seen.log").read_text().split()
    assert "kept.txt" in seen
    assert "lost.txt" not in seen


def test_fact_5_checked_out_copies_and_symlinks_restage_and_hard_links_and_covered_files_do_not(place: Place) -> None:
    """Each file is checked out from the cache, the input after what is made from it."""
    made = place(CHAIN)
    assert made.snakemake("--cores", "1", *COVERS).returncode == 0
    configure(made, "hardlink")  # or the cache would hold copies, with times of their own
    dvc(made, "add", "a/late.txt", "z/early.txt")
    found, covered = {}, {}
    for links in ("copy", "symlink", "hardlink"):
        configure(made, links)
        for name in ("a/late.txt", "z/early.txt"):
            (made.root / name).unlink()
            dvc(made, "checkout", f"{name}.dvc")
        found[links] = jobs(made)
        covered[links] = jobs(made, *COVERS)
    assert found == {"copy": {"a/late.txt"}, "symlink": {"a/late.txt"}, "hardlink": set()}
    assert covered["copy"] == covered["hardlink"] == set()


@pytest.mark.parametrize(("options", "again"), [((), {"late:"}), (COVERS, set())], ids=["not covered", "covered"])
def test_fact_5_a_second_repro_makes_new_copies_of_hard_links_which_restages_what_is_not_covered(
    place: Place, options: tuple[str, ...], again: set[str]
) -> None:
    """One output after the other in the order of dvc.yaml, here against the order in which they are made."""
    made = place(CHAIN)
    configure(made, "hardlink")
    stage(made, f"{sys.executable} -m snakemake --cores 1 {' '.join(options)}", a=True, z=True)
    dvc(made, "repro")
    (made.root / "source.txt").write_text("2")
    said = dvc(made, "repro")
    assert {line.split()[1] for line in said.splitlines() if line.startswith("localrule")} == again


def test_a_lock_that_git_ignores_is_refused(standalone: Place, tmp_path: Path, environment: dict[str, str]) -> None:
    """So .gitignore cannot keep a quick run's dvc.lock out of a commit."""
    made = Checkout(standalone("").root, environment | alone(tmp_path / "home"))
    for command in (("git", "init", "-q"), (sys.executable, "-m", "dvc", "init", "-q")):
        assert made.run(*command).returncode == 0
    stage(made, "touch made.txt", made__txt=True)
    dvc(made, "status")
    (tmp_path / ".gitignore").write_text("dvc.lock\n")
    ignored = made.run(sys.executable, "-m", "dvc", "status")
    assert ignored.returncode != 0
    assert "git-ignored" in ignored.stderr


def test_a_remote_hands_out_altered_bytes_and_all_seems_up_to_date_unless_it_verifies(place: Place) -> None:
    made = place("")
    (made.root / "weights.bin").write_bytes(b"weights")
    dvc(made, "add", "weights.bin")
    dvc(made, "push")
    (stored,) = (path for path in (made.root / "store").rglob("*") if path.is_file())
    rewrite(stored, b"Weights")
    results = {}
    for verify in (True, False):
        configure(made, "copy", verify)
        for cached in (path for path in (made.root / ".dvc" / "cache").rglob("*") if path.is_file()):
            cached.unlink()
        (made.root / "weights.bin").unlink(missing_ok=True)
        results[verify] = made.run(sys.executable, "-m", "dvc", "pull").returncode
    assert results[True] != 0
    assert results[False] == 0
    assert (made.root / "weights.bin").read_bytes() == b"Weights"
    assert "up to date" in dvc(made, "status")
