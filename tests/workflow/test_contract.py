"""What a finished pipeline leaves behind, to the same bytes however it ran, and that it is finished."""

import csv
import re
import shutil
from pathlib import Path

import pytest

from .conftest import RUNS, Checkout, differing, parse, rules

# What docs/results.md promises to other tools.
CLAIMS = """
    id kind paper artifact method variant dataset setting metric reported reported_std measured measured_std n p
    scale reading verdict source
"""
TABLES = ("embedding_norms/table5", "lecture/supervised_knn")
FIGURES = [
    f"embedding_norms/{name}"
    for name in ("norms_over_epochs", "spread_of_norms", "fig1", "fig6", "figS1")
]
RUN_FILES = {
    "run.yaml",
    "encoder.safetensors",
    "heads.safetensors",
    "history.csv",
    "timing.csv",
    "manifest.json",
}


def read(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a table of claims, by their names."""
    with path.open() as handle:
        return {row["id"]: row for row in csv.DictReader(handle)}


def test_claims_has_the_columns_of_the_contract_and_a_row_per_published_claim_whose_verdict_its_artifact_has_too(
    finished: Checkout,
) -> None:
    rows = read(finished.results / "claims.csv")
    published = read(finished.root / "papers" / "embedding_norms" / "claims.csv")
    assert rows.keys() >= published.keys()
    for row in rows.values():
        assert row.keys() >= set(CLAIMS.split())
        assert row["scale"] == finished.results.name
    assert "value" in {row["kind"] for row in rows.values()}
    # Whoever makes one table alone (`ONLY`) sees what the whole rebuild says of it.
    tables = [*finished.results.glob("statistics/*/*/claims.csv")]
    assert len(tables) == len(TABLES) + len(FIGURES) - 3  # three figures are of exact studies
    judged = {name: row for path in tables for name, row in read(path).items()}
    assert judged
    assert judged == {name: rows[name] for name in judged}
    page = (finished.results / "tables" / "embedding_norms" / "table5.md").read_text()
    answered = [
        row
        for row in judged.values()
        if row["artifact"] == "table5" and row["verdict"] != "not run"
    ]
    assert (
        page.partition("### Verdicts on table5\n")[2].count("| quick only |") == len(answered) > 0
    )


def test_every_artifact_is_there_in_every_format_and_every_run_with_its_files_and_no_state_to_resume(
    finished: Checkout,
) -> None:
    expected = {f"tables/{name}.{form}" for name in TABLES for form in ("csv", "md", "tex", "json")}
    expected |= {
        f"figures/{name}.{form}" for name in FIGURES for form in ("svg", "png", "csv", "json")
    }
    assert set(finished.files("tables/**/*", "figures/**/*")) == expected
    folders = list((finished.results / "runs").iterdir())
    assert len(folders) == RUNS
    for folder in folders:
        names = {
            path.name
            for path in folder.iterdir()
            if path.is_file() and not path.name.startswith(".")
        }
        assert names == RUN_FILES, folder.name


def test_nothing_to_do_on_a_second_run_and_plan_says_so_and_which_runs_there_are(
    finished: Checkout,
) -> None:
    assert finished.jobs() == []
    said = finished.hypersphere("plan", "--verbose").stdout
    assert "Nothing to be done" in said
    assert len(re.findall(r"^  finished +\S+$", said, flags=re.MULTILINE)) == RUNS
    assert "missing" not in said


def test_plan_gives_the_jobs_and_reasons_of_snakemake(copy: Checkout) -> None:
    copy.edit("src/hypersphere/probes/knn.py", "/ temperature).exp()", "* temperature).exp()")
    said = copy.hypersphere("plan").stdout
    assert "Nothing to be done" not in said
    assert re.search(r"^evaluate +5$", said, flags=re.MULTILINE)
    assert re.search(r"params have changed since last execution:\n +evaluate", said)


@pytest.mark.long
def test_the_root_snakefile_makes_everything_and_every_job_of_a_dry_run_is_read(
    fresh: Checkout,
) -> None:
    """A root Snakefile that only includes the other, without a default rule of its own, does nothing, silently.

    The other tests read dry runs by `parse`; here its count is compared with Snakemake's own table.
    """
    text = fresh.dry_run()
    table = {
        name: int(n)
        for name, n in re.findall(r"^(\w+) +(\d+)$", text.split("\n\n\n")[0], flags=re.MULTILINE)
    }
    counted = {**rules(parse(text)), "all": 1}
    assert {**counted, "total": sum(counted.values())} == table
    assert any("scorecard.html" in job.output for job in parse(text))
    root = (fresh.root / "Snakefile").read_text()
    assert re.search(r"default_target: True\n +input:\n +rules\.everything\.input,\n", root)


def test_a_dry_run_imports_no_torch(place: Checkout) -> None:
    """Modules of these names lie beside the package, where Python looks first; a process of its own, to look anew."""
    for module in ("torch", "torchvision"):
        (place.root / "src" / f"{module}.py").write_text(
            "raise SystemExit('a dry run imported torch')\n"
        )
    done = place.run("python", "-m", "snakemake", "--dry-run", "--cores", "2", "--quiet", "host")
    assert parse(done.stdout + done.stderr)
    used = place.run("python", "src/hypersphere", "rehearse", status=1)
    assert "a dry run imported torch" in used.stderr  # the control


def test_every_rule_that_computes_names_the_conda_environment(fresh: Checkout) -> None:
    """docs/untested.md: `--sdm conda` works where conda exists; without this it would run a bare `python`."""
    files = list((fresh.root / "workflow" / "rules").glob("*.smk"))
    assert len(files) > 5
    for file in files:
        text = file.read_text()
        rules = len(re.findall(r"^ *rule\b", text, flags=re.MULTILINE))
        assert text.count("    conda:\n") == rules > 0 or file.name == "common.smk", file.name
        for named in re.findall(r"    conda:\n +\"(.+)\"", text):
            assert (file.parent / named).resolve() == (fresh.root / "environment.yml").resolve()


def test_a_wiped_folder_rebuilt_one_job_at_a_time_has_the_same_bytes(
    finished: Checkout, copy: Checkout
) -> None:
    """The finished copy ran two jobs at a time; here all results, data, logs and Snakemake's records are removed."""
    for folder in ("results", "logs", ".snakemake", "data/processed"):
        shutil.rmtree(copy.root / folder)
    copy.snakemake("--cores", "1")
    rebuilt = copy.content()
    assert {name.rpartition(".")[2] for name in rebuilt} >= {
        "safetensors",
        "csv",
        "md",
        "tex",
        "svg",
        "png",
        "html",
    }
    assert differing(finished.content(), rebuilt) == set()
    for file in ("encoder.safetensors", "history.csv"):  # the control: another seed has other bytes
        contents = [path.read_bytes() for path in (finished.results / "runs").glob(f"*/{file}")]
        assert len(set(contents)) == len(contents) == RUNS
