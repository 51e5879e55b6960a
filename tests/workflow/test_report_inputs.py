"""results/report is a function of what its rules declare: nothing else is opened, and nothing else changes a byte."""

import re
import shutil

import pytest

from .conftest import Checkout, differing, scale_on_real_images

PAGE = "results/report/index.html"
JOBS = {"judge_records": ("--records", "laptop"), "write_report": ()}
"""Rules that write to results/report, and what they add to the command ``report``."""
WATCHED = """
import atexit, os, runpy, sys
opened = set()
def watch(event, given):
    if event == "open" and isinstance(given[0], str):
        writes = given[2] & (os.O_WRONLY | os.O_RDWR) if given[1] is None else set("wax+") & set(given[1])
        if not writes:
            opened.add(os.path.relpath(given[0]))
sys.addaudithook(watch)
atexit.register(lambda: print(*sorted(name for name in opened if name.startswith("results/")), sep="\\n"))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture
def reported(laptop: Checkout) -> Checkout:
    """A copy with a report on the records of a scale laptop, which has runs and nothing else."""
    laptop.snakemake("--cores", "2", PAGE)
    return laptop


def written(place: Checkout) -> dict[str, bytes]:
    """Every file under results/report."""
    folder = place.root / "results" / "report"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def declared(place: Checkout, rule: str) -> tuple[set[str], set[str]]:
    """The inputs and the outputs of a rule's job."""
    text = place.dry_run("--forcerun", *JOBS, "--", PAGE)
    (block,) = (
        part
        for part in re.split(r"\n(?=(?:local)?rule )", text)
        if part.startswith(f"rule {rule}:")
    )
    found = (re.search(rf"^    {kind}: (.+)$", block, re.MULTILINE) for kind in ("input", "output"))
    inputs, outputs = (set(one[1].split(", ")) if one else set() for one in found)
    return inputs, outputs


def test_a_rule_opens_and_draws_only_what_it_declares(reported: Checkout) -> None:
    for rule, words in JOBS.items():
        inputs, outputs = declared(reported, rule)
        command = [str(reported.root / "src" / "hypersphere"), "report", *words]
        opened = set(reported.run("python", "-c", WATCHED, *command).stdout.split())
        assert opened, rule  # control: something was seen
        assert opened <= inputs | outputs, rule
    # What Typst reads is not seen by Python.
    drawn = set(
        re.findall(
            r'"/(results/[^"]+)"', (reported.root / "results/report/content.json").read_text()
        )
    )
    assert any("/figures/" in name for name in drawn)
    assert drawn <= outputs


def test_whatever_else_lies_in_the_results_changes_no_byte(reported: Checkout) -> None:
    """The order of README's commands: with all of a scale beside it, with half of it, and with what is of no scale."""
    first = written(reported)
    results = reported.root / "results"
    figure = results / "quick" / "figures" / "embedding_norms" / "fig1.svg"
    assert figure.is_file()
    for folder in ("figures", "tables", "statistics", "runs", "evaluations"):
        shutil.rmtree(results / "quick" / folder)
    reported.hypersphere("report")
    assert differing(first, written(reported)) == set()
    figure.parent.mkdir(parents=True)
    figure.write_text("<svg/>")
    shutil.copytree(results / "quick", results / "quick-abcdef")
    shutil.copytree(
        results / "quick", results / "laptop", dirs_exist_ok=True, ignore=lambda *_: {"claims.csv"}
    )
    reported.hypersphere("report")
    assert differing(first, written(reported)) == set()


def test_all_of_a_scale_on_real_images_is_made_before_the_report_that_shows_it(
    place: Checkout,
) -> None:
    """Evaluation for alone, the report makes nothing of it."""
    scale_on_real_images(place)
    inputs = []
    for target in ((), ("--", PAGE)):
        job = place.dry_run("--config", "scale=laptop", *target).split("\nrule write_report:")[1]
        inputs.append(job.partition("\n    output:")[0])
    whole, alone = inputs
    assert "results/laptop/claims.csv" in whole
    assert "results/laptop/claims.csv" not in alone
