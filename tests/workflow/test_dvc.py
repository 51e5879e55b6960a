"""DVC around the pipeline: repro, status, metrics, plots and push; and the pipeline without DVC (docs/dvc.md)."""

import csv
import hashlib
import json
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from hypersphere.config import project, records
from hypersphere.provenance import data_files

from ..harm import flipped
from .conftest import REPOSITORY, Checkout, program, set_up
from .released import ARCHIVE, STRAY, alone, dvc, listed, objects, rewrite

pytestmark = pytest.mark.tools

DECLARED = yaml.safe_load((REPOSITORY / "dvc.yaml").read_text())
ENTRIES = [
    entry
    for stage in DECLARED["stages"].values()
    for entry in [*stage["outs"], *stage.get("metrics", [])]
]
OUTPUTS = {path: options for entry in ENTRIES for path, options in entry.items()}
"""Every output and metric of dvc.yaml, with its options."""


NOT_DECISIVE = ("tests", "profiles")
"""Of an erratum's test it is asked whether it exists; a profile says how jobs are run, and not what they make."""
WATCHED = """
import atexit, os, runpy, sys
opened = set()
sys.addaudithook(lambda event, given: opened.add(str(given[0])) if event == "open" else None)
atexit.register(lambda: print(*sorted(os.path.relpath(path) for path in opened), sep="\\n"))
sys.argv = ["snakemake", "--dry-run", "--nolock", "--cores", "1", "--quiet", "all", "--", "data", "everything"]
runpy.run_module("snakemake", run_name="__main__")
"""


@pytest.fixture
def copied(released: Checkout, tmp_path: Path) -> Checkout:
    """The published checkout again, its files hard links of its cache as they were, for one test to change."""
    made = Checkout(tmp_path / "checkout", released.environment | alone(tmp_path / "home"))
    shutil.copytree(released.root, made.root, symlinks=True)
    dvc(made, "checkout", "--relink")
    return made


def damaged(folder: Path) -> set[str]:
    """Names of objects of a cache whose bytes have another md5."""
    found = objects(folder)
    assert len(found) > 100
    return {
        n
        for n, path in found.items()
        if hashlib.md5(path.read_bytes()).hexdigest() != n.removesuffix(".dir")
    }


# What dvc.yaml and the configuration declare.


def test_at_most_four_stages_each_calls_snakemake_and_every_output_persists() -> None:
    assert len(DECLARED["stages"]) <= 4
    for stage in DECLARED["stages"].values():
        commands = [stage["cmd"]] if isinstance(stage["cmd"], str) else stage["cmd"]
        assert commands[-1].startswith("snakemake --cores all")
    assert all(options == {"persist": True} for options in OUTPUTS.values())


def test_every_result_is_an_output(finished: Checkout) -> None:
    """Those of the scale, the exact studies, and the report."""
    outputs = [path.replace("${scale}", finished.results.name) for path in OUTPUTS]
    results = finished.root / "results"
    files = {
        path.relative_to(finished.root).as_posix() for path in results.rglob("*") if path.is_file()
    }
    assert {
        f"results/{name}" for name in ("quick/claims.csv", "report/index.html", "exact/theory.csv")
    } <= files
    assert not_below(files, outputs) == set()


def not_below(files: Iterable[str], places: Iterable[str]) -> set[str]:
    """The files that are neither among places nor in one of them."""
    return {file for file in files if not any(Path(file).is_relative_to(place) for place in places)}


def tracked(*folders: str) -> set[str]:
    done = subprocess.run(
        ["git", "ls-files", *folders], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines())


@pytest.fixture(scope="module")
def decisive(environment: dict[str, str]) -> set[str]:
    """Tracked files that Snakemake reads to decide what of the repository's own papers is made."""
    done = Checkout(REPOSITORY, environment).run("python", "-c", WATCHED)
    opened = set(done.stdout.splitlines()) & tracked()
    return not_below(opened, NOT_DECISIVE)


def test_the_stages_depend_on_every_tracked_file_that_decides_what_they_make(
    decisive: set[str],
) -> None:
    """All is of the last stage. Of the others are the configuration, the code, and what decides bytes of datasets."""
    deps = {name: stage["deps"] for name, stage in DECLARED["stages"].items()}
    tables = {file for file in tracked("data") if not file.endswith(".md")}
    assert {"papers", "evidence", "plugins", "data"} <= {
        file.partition("/")[0] for file in decisive
    }
    assert not_below(decisive | tables, deps["results"]) == set()
    assert not_below(decisive, [one for one in deps["results"] if one != "plugins"])  # the control

    code = {file for file in decisive if file.endswith((".py", ".smk", "Snakefile"))}
    configured = {
        *project.load(REPOSITORY, {"scale": "paper"}).read,
        *project.load(REPOSITORY, {}).read,
    }
    of_datasets = {data_files.TABLE, data_files.CHECKSUMS, *data_files.WHOLE.values()}
    needed = code | {path.relative_to(REPOSITORY).as_posix() for path in configured | of_datasets}
    for name in ("data", "runs"):
        assert not_below(needed, deps[name]) == set()


def test_no_lock_of_a_quick_run_is_in_git() -> None:
    """It must not be ignored either: DVC would refuse it (test_facts.py)."""
    tracked = subprocess.run(
        ["git", "ls-files", "dvc.lock"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    lock = (REPOSITORY / "dvc.lock").read_text() if tracked.stdout else ""
    assert "results/quick" not in lock
    ignored = subprocess.run(["git", "check-ignore", "-q", "dvc.lock"], cwd=REPOSITORY, check=False)
    assert ignored.returncode == 1


# After `dvc repro`.


def test_repro_has_snakemake_make_what_is_missing_and_only_that_and_leaves_it_nothing_to_do(
    released: Checkout, finished: Checkout
) -> None:
    said = (released.root.parent / "repro.log").read_text()
    assert said.count("> snakemake --cores all") == len(DECLARED["stages"])
    made = re.findall(r"^Finished jobid: .* \(Rule: (\w+)\)$", said, flags=re.MULTILINE)
    collecting = ("all", "data", "runs", "reproduce")  # rules that make no file
    assert [rule for rule in made if rule not in collecting] == ["scorecard"]
    assert (released.results / "scorecard.html").read_bytes() == (
        finished.results / "scorecard.html"
    ).read_bytes()
    assert released.jobs() == []


def test_weights_data_archives_and_evidence_are_outputs_and_states_locks_and_halves_are_not(
    released: Checkout,
) -> None:
    runs = listed(released, f"results/{released.results.name}/runs")
    assert {Path(path).name for path in runs} >= {
        "encoder.safetensors",
        "history.csv",
        "manifest.json",
        "run.yaml",
    }
    assert not {Path(path).name for path in runs} & {Path(name).name for name in STRAY}
    # and they were left alone
    assert next((released.results / "runs").glob("*/unfinished-*/resume.safetensors"))
    assert list(listed(released, "data/raw")) == [Path(ARCHIVE).name]
    evidence = listed(released, f"results/{released.results.name}/evidence")
    tables = [f"{name}.csv" for name in records.TABLES]
    assert sorted(evidence) == sorted([*tables, "datapackage.json"])
    remote = objects(released.root.parent / "remote")
    for moved in (runs, evidence, listed(released, "data/raw"), listed(released, "data/processed")):
        assert set(moved.values()) <= remote.keys()


def test_only_what_is_finished_and_committed_is_stored(
    copied: Checkout, released: Checkout
) -> None:
    """The published checkout is the control: it says what to do next, and its lock lists the report."""
    said = (released.root.parent / "store.log").read_text()
    assert said.endswith(
        f"results/{copied.results.name}: pushed; next: git add dvc.lock and commit it\n"
    )
    assert {"index.html", "report.pdf", "claims.csv"} <= listed(copied, "results/report").keys()
    lock = (copied.root / "dvc.lock").read_bytes()
    (copied.results / "scorecard.html").unlink()
    unfinished = copied.hypersphere("store", status=2).stderr
    assert f"hypersphere: results/{copied.results.name}: is not finished" in unfinished
    (copied.root / "src" / "hypersphere" / "mine.py").write_text("# not committed\n")
    uncommitted = copied.hypersphere("store", status=2).stderr
    assert "hypersphere: src/hypersphere/mine.py: differs from the commit" in uncommitted
    assert (copied.root / "dvc.lock").read_bytes() == lock


def test_status_is_clean_with_the_archives_and_without_them_after_the_next_repro(
    copied: Checkout,
) -> None:
    """The control is in between: status names what was deleted and edited. Snakemake has nothing to do all along,
    although DVC turns its hard links into new copies before each stage."""
    assert json.loads(dvc(copied, "status", "--json")) == {}
    (copied.root / ARCHIVE).unlink()
    source = copied.root / "src" / "hypersphere" / "prng.py"
    source.write_text(f"{source.read_text()}# A comment.\n")
    changed = json.loads(dvc(copied, "status", "--json"))
    assert changed.keys() == DECLARED["stages"].keys()
    assert {"changed outs": {"data/raw": "modified"}} in changed["data"]
    said = dvc(copied.equipped(), "repro")
    assert said.count("Nothing to be done") == len(DECLARED["stages"])
    assert json.loads(dvc(copied, "status", "--json")) == {}
    assert listed(copied, "data/raw") == {}


def test_metrics_show_the_numbers_of_the_scorecard(released: Checkout) -> None:
    shown = json.loads(dvc(released, "metrics", "show", "--json"))[""]["data"]
    written = json.loads((released.results / "scorecard.json").read_text())
    assert list(shown.values()) == [{"data": written}]
    counted = written[released.results.name]
    kinds = [counted.get(kind, {}) for kind in ("claims", "exact studies", "theorems", "sentences")]
    with (released.results / "claims.csv").open() as handle:
        assert sum(sum(of.values()) for kind in kinds for of in kind.values()) == len(
            list(csv.DictReader(handle))
        )


def test_plots_show_the_figures_and_their_curves(released: Checkout, tmp_path: Path) -> None:
    """Images lie beside the page; its interactive chart needs scripts from the net (docs/dvc.md)."""
    dvc(released, "plots", "show", "--out", str(tmp_path))
    page = (tmp_path / "index.html").read_text()
    figure = released.results / "figures" / "embedding_norms" / "norms_over_epochs"
    (image,) = re.findall(r'<img src="([^"]+)"', page)
    assert (tmp_path / image).read_bytes() == figure.with_suffix(".svg").read_bytes()
    chart = json.JSONDecoder().raw_decode(page.partition("var spec = ")[2])[0]
    with figure.with_suffix(".csv").open() as handle:
        kept = ("measure", "method", "variant", "epoch", "mean")
        drawn = [{key: row[key] for key in kept} for row in csv.DictReader(handle)]
    assert [{key: row[key] for key in drawn[0]} for row in chart["data"]["values"]] == drawn
    assert chart["title"].endswith(released.results.name)
    assert "<DVC_" not in page


def test_a_retrained_run_and_a_new_figure_leave_the_cache_as_it_was(copied: Checkout) -> None:
    """The files are hard links of the cache, so whatever is written in place is seen there: the control, at the end."""
    run = min((copied.results / "runs").glob("simclr-default-*"))
    drawing = copied.results / "figures" / "embedding_norms" / "norms_over_epochs.png"
    before = {path: path.read_bytes() for path in (run / "encoder.safetensors", drawing)}
    assert all(path.stat().st_nlink > 1 for path in before)
    copied.edit(
        "src/hypersphere/objectives/nt_xent.py",
        "return F.cross_entropy",
        "return 2 * F.cross_entropy",
    )
    copied.edit("src/hypersphere/report/kinds/lines.py", "PANEL = 2.1", "PANEL = 2.4")
    for command in (("pretrain", run.name), ("artifact", "embedding_norms/norms_over_epochs")):
        copied.hypersphere(*command)
    assert all(path.read_bytes() != content for path, content in before.items())
    cache = copied.root / ".dvc" / "cache"
    assert damaged(cache) == set()
    other = min((copied.results / "runs").glob("simsiam-*/encoder.safetensors"))
    rewrite(other, flipped(other.read_bytes()))
    assert len(damaged(cache)) == 1


def test_reproduce_never_needs_dvc(finished: Checkout, tmp_path: Path) -> None:
    """In a copy with an environment that has all libraries but DVC, and a program `dvc` that fails."""
    root = tmp_path / "checkout"
    shutil.copytree(finished.root, root, symlinks=True)
    environment, here = root / ".venv", Path(sys.prefix)
    libraries = Path(sysconfig.get_path("purelib"))
    (environment / libraries.relative_to(here)).mkdir(parents=True)
    for path in (here / "pyvenv.cfg", *libraries.iterdir()):
        if not path.name.startswith("dvc"):
            (environment / path.relative_to(here)).symlink_to(path)
    python = environment / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(Path(sys.executable).resolve())
    program(python.with_name("snakemake"), f'exec "{python}" -m snakemake "$@"')
    program(python.with_name("hypersphere"), f'exec "{python}" "{root}/src/hypersphere" "$@"')
    program(python.with_name("dvc"), "echo DVC is not to be had >&2", "exit 97")
    set_up(root)
    path = f"/usr/bin:/bin:{finished.environment['PATH']}"
    without_dvc = Checkout(root, finished.environment | {"PATH": path})
    (without_dvc.results / "scorecard.html").unlink()
    without_dvc.run("make", "reproduce")
    assert (without_dvc.results / "scorecard.html").read_bytes() == (
        finished.results / "scorecard.html"
    ).read_bytes()
    assert not (without_dvc.root / "dvc.lock").exists()
    # The control: what does need DVC fails, and says so.
    (without_dvc.root / "dvc.lock").write_text(
        "stages: {runs: {outs: [{path: results/quick/runs, md5: 0}]}}"
    )
    assert "No module named dvc" in without_dvc.run("make", "restore", status=2).stderr
    without_dvc.run(str(without_dvc.root / ".venv" / "bin" / "dvc"), status=97)
