"""What a finished pipeline leaves behind, and that it is finished."""

import csv
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hypersphere.command import preview

from .conftest import RUNS, Checkout

# What docs/results.md promises to other tools.
CLAIMS = """
    id kind paper artifact method variant dataset setting metric reported reported_std measured measured_std n p
    scale reading verdict source
"""
TABLES = ("embedding_norms/table5", "lecture/supervised_knn")
FIGURES = [f"embedding_norms/{name}" for name in ("norms_over_epochs", "spread_of_norms", "fig1", "fig6", "figS1")]
RUN_FILES = {"run.yaml", "encoder.safetensors", "heads.safetensors", "history.csv", "timing.csv", "manifest.json"}


def test_claims_has_the_columns_of_the_contract_and_a_row_per_published_claim(finished: Checkout) -> None:
    with (finished.results / "claims.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    with (finished.root / "config" / "papers" / "embedding_norms" / "claims.csv").open() as handle:
        published = [row["id"] for row in csv.DictReader(handle)]
    assert set(CLAIMS.split()) <= set(rows[0])
    assert [row["id"] for row in rows if row["kind"] == "value"]
    assert set(published) <= {row["id"] for row in rows}
    assert {row["scale"] for row in rows} == {finished.results.name}


def test_each_artifact_has_the_verdicts_of_claims_csv_and_a_table_shows_them(finished: Checkout) -> None:
    """Whoever makes one table alone (`ONLY`) sees what the whole rebuild says of it."""
    with (finished.results / "claims.csv").open() as handle:
        every = {row["id"]: row for row in csv.DictReader(handle) if not row["study"]}
    tables = [path for path in finished.results.glob("statistics/*/*/claims.csv")]
    assert len(tables) == len(TABLES) + len(FIGURES) - 3  # three figures are of exact studies
    judged = {}
    for path in tables:
        with path.open() as handle:
            judged |= {row["id"]: row for row in csv.DictReader(handle)}
    assert judged
    assert judged == {name: every[name] for name in judged}
    page = (finished.results / "tables" / "embedding_norms" / "table5.md").read_text()
    shown = page.partition("### Verdicts on table5\n")[2]
    answered = [row for row in judged.values() if row["artifact"] == "table5" and row["verdict"] != "not run"]
    assert answered
    assert shown.count("| quick only |") == len(answered)
    assert "published, by its own run" in shown
    assert "make reproduce SCALE=quick" in shown


def test_every_artifact_of_the_paper_is_there_in_every_format(finished: Checkout) -> None:
    expected = {f"tables/{name}.{form}" for name in TABLES for form in ("csv", "md", "tex")}
    expected |= {f"figures/{name}.{form}" for name in FIGURES for form in ("svg", "png", "csv")}
    assert set(finished.files("tables/**/*", "figures/**/*")) == expected


def test_paper_is_a_pdf(finished: Checkout) -> None:
    assert (finished.results / "paper.pdf").read_bytes().startswith(b"%PDF-")


def test_every_run_folder_holds_the_files_of_the_contract_and_no_state_to_resume(finished: Checkout) -> None:
    folders = list((finished.results / "runs").iterdir())
    assert len(folders) == RUNS
    for folder in folders:
        names = {path.name for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")}
        assert names == RUN_FILES, folder.name
        epochs = [line.split(",")[0] for line in (folder / "history.csv").read_text().splitlines()]
        assert epochs == ["epoch", "1", "2"]


class Fetches(HTMLParser):
    """Collects what a browser would fetch to show a page; a link to click on is no fetch."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.found += re.findall(r"url\(\s*['\"]?(?!data:|#)([^'\")]+)", page) + re.findall(r"@import[^;]+", page)
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Sources of any element, and the target of <link>."""
        wanted = {"src", "srcset", "data", "poster", "xlink:href"} | (
            {"href"} if tag in {"link", "image", "use"} else set()
        )
        self.found += [v for k, v in attrs if k in wanted and v and not v.startswith(("data:", "#"))]


def test_scorecard_fetches_nothing(finished: Checkout) -> None:
    page = (finished.results / "scorecard.html").read_text()
    assert "</html>" in page
    assert Fetches(page).found == []


@pytest.mark.parametrize(
    "stray",
    [
        '<img src="figure.svg">',
        '<script src="https://x.org/a.js"></script>',
        '<link rel=stylesheet href="a.css">',
        "<style>@import 'a.css'; </style>",
        "<style>a {background: url(a.png)}</style>",
    ],
)
def test_a_page_that_fetches_something_is_seen(stray: str) -> None:
    """The control of the test above."""
    assert Fetches(f'<p><a href="https://x.org">a link to click on</a>{stray}</p>').found


def test_nothing_to_do_on_a_second_run(finished: Checkout) -> None:
    assert finished.jobs() == []


def test_plan_says_that_nothing_would_run_and_which_runs_there_are(finished: Checkout) -> None:
    done = finished.hypersphere("plan", "--verbose")
    assert done.returncode == 0, done.stderr
    assert "nothing would run" in done.stdout
    assert len(re.findall(r"^  finished +\S+$", done.stdout, flags=re.MULTILINE)) == RUNS
    assert "to train" not in done.stdout


def test_plan_gives_the_reason_that_snakemake_gives(copy: Checkout) -> None:
    copy.edit("src/hypersphere/probes/knn.py", "/ temperature).exp()", "* temperature).exp()")
    done = copy.hypersphere("plan")
    assert done.returncode == 0, done.stderr
    assert "nothing would run" not in done.stdout
    reason = next(job.reason for job in copy.jobs() if job.rule == "evaluate")
    assert "Params have changed" in reason
    assert f"evaluate (5): {reason.split(': ')[0]}" in done.stdout


def test_root_and_workflow_snakefile_list_the_same_jobs(fresh: Checkout) -> None:
    """Fact 7 of test_snakemake_facts.py: a root Snakefile without a default rule of its own does nothing, silently."""
    root = {job.output for job in fresh.jobs()}
    inner = {job.output for job in fresh.jobs("--snakefile", "workflow/Snakefile")}
    assert any("paper.pdf" in output for output in root)
    assert root == inner


def test_a_dry_run_imports_no_torch(fresh: Checkout, tmp_path: Path) -> None:
    for module in ("torch", "torchvision"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('a dry run imported torch')\n")
    used = fresh.run("python", "-c", "import torch", PYTHONPATH=str(tmp_path))
    assert "a dry run imported torch" in used.stderr  # control: this would have been seen
    assert fresh.jobs(PYTHONPATH=str(tmp_path))


def test_every_rule_that_computes_names_the_conda_environment(fresh: Checkout) -> None:
    """docs/conda.md: `--sdm conda` works where conda exists; without this it would run a bare `python`."""
    for file in (fresh.root / "workflow" / "rules").glob("*.smk"):
        text = file.read_text()
        rules = len(re.findall(r"^ *rule\b", text, flags=re.MULTILINE))
        assert text.count("    conda:\n") == rules > 0 or file.name == "common.smk", file.name
        for named in re.findall(r"    conda:\n +\"(.+)\"", text):
            assert (file.parent / named).resolve() == (fresh.root / "environment.yml").resolve()


def test_preview_reads_every_job_of_a_dry_run(fresh: Checkout) -> None:
    """The other tests read dry runs by `preview.parse`; here its count is compared with Snakemake's own table."""
    text = fresh.dry_run()
    table = {name: int(n) for name, n in re.findall(r"^(\w+) +(\d+)$", text.split("\n\n\n")[0], flags=re.MULTILINE)}
    jobs = preview.parse(text)
    counted = {name: sum(job.rule == name for job in jobs) for name in table if name not in {"total", "all"}}
    assert counted == {name: n for name, n in table.items() if name in counted}
    assert sum(counted.values()) + 1 == table["total"]
