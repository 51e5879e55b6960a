"""`snakemake --report`: one page, without network, of every result under its paper and kind, honestly captioned."""

import base64
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml

from .conftest import Checkout, Once
from .test_contract import FIGURES, TABLES, Fetches

pytestmark = pytest.mark.tools

DOCUMENTS = {"claims.csv", "scorecard.html", "paper.pdf"}
FORMS = {"tables": ("csv", "md"), "figures": ("svg", "csv")}
"""What the page shows of each kind: its folder, and the files."""
STUDIED = ("fig1", "fig6", "figS1")


@dataclass(frozen=True)
class Report:
    """A page, and what it holds: the data that its scripts draw from."""

    page: str

    def data(self, element: str) -> Any:
        """The value that the script of that id sets."""
        found = re.search(rf'<script id="{element}">\s*var \w+ = (.+?);\s*</script>', self.page, flags=re.DOTALL)
        assert found, element
        return json.loads(found[1])

    @property
    def results(self) -> dict[str, dict[str, Any]]:
        """By path: labels, caption, content."""
        found: dict[str, dict[str, Any]] = self.data("results")
        return found

    @property
    def categories(self) -> dict[str, dict[str, set[str]]]:
        """Paths by category and subcategory."""
        return {name: {key: set(v) for key, v in inner.items()} for name, inner in self.data("categories").items()}


def make(place: Checkout, page: Path) -> None:
    """Make the report, which must succeed."""
    place.make("--report", str(page))


@pytest.fixture(scope="session")
def reported(finished: Checkout, shared: Path, once: Once) -> Report:
    """The report of the finished copy."""
    folder = shared / "reported"

    def fill() -> None:
        shutil.copytree(finished.root, folder, symlinks=True)
        make(Checkout(folder, finished.environment), folder / "report.html")

    once(folder, fill)
    return Report((folder / "report.html").read_text())


def expected(finished: Checkout) -> dict[str, dict[str, set[str]]]:
    """What has to be on the page: every artifact under the title of its paper and the name of its folder."""
    results = finished.results.relative_to(finished.root).as_posix()
    pages = {"All papers": {"Other": {f"{results}/{name}" for name in DOCUMENTS}}}
    for name in (*TABLES, *FIGURES):
        folder = "tables" if name in TABLES else "figures"
        paper = yaml.safe_load((finished.root / "config" / "papers" / f"{name.split('/')[0]}.yaml").read_text())
        files = {f"{results}/{folder}/{name}.{form}" for form in FORMS[folder]}
        pages.setdefault(paper["title"], {}).setdefault(folder.capitalize(), set()).update(files)
    return pages


def studied(path: str) -> bool:
    """Whether a result is of an exact study."""
    return Path(path).stem in STUDIED


def text(html: str) -> str:
    """The words of a piece of HTML."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_every_artifact_is_under_its_paper_and_kind(reported: Report, finished: Checkout) -> None:
    assert reported.categories == expected(finished)
    assert set(reported.results) == {
        path for kinds in reported.categories.values() for v in kinds.values() for path in v
    }


def test_the_page_holds_the_files_themselves(reported: Report, finished: Checkout) -> None:
    for path, result in reported.results.items():
        head, _, body = result["data_uri"].partition(";base64,")
        assert head.startswith("data:")
        assert base64.b64decode(body) == (finished.root / path).read_bytes(), path


def test_every_caption_says_scale_n_protocol_and_that_it_is_no_reproduction(
    reported: Report, finished: Checkout
) -> None:
    """Two epochs; two seeds, of the lecture one. A caption that docutils could not read holds a `system-message`."""
    captions = {path: result["caption"] for path, result in reported.results.items()}
    for path, html in (captions | {"the first page": reported.data("workflow-desc")}).items():
        said = text(html)
        if studied(path):
            assert "Exact study at its published size, the same at every scale; one CPU thread" in said, path
            assert "system-message" not in html, path
            continue
        assert f"Scale {finished.results.name} (level quick)" in said, path
        assert "Not a reproduction" in said, path
        alone = "/lecture/" in path
        assert ("n = 1 (seed 0)" if alone else "n = 2 (seeds 0, 1)") in said, path
        assert re.search(f"Protocol: .*resnet8.*{'supervised' if alone else 'SimCLR'}.* 2 epochs", said), path
        assert "system-message" not in html, path
        assert not re.search(r"[{}\\]|\*\*|\bsnakemake\.", said), path
    for path, result in reported.results.items():
        size = "published size" if studied(path) else f"{finished.results.name}: not a reproduction"
        assert result["labels"]["scale"] == size
    titles = [text(caption) for path, caption in captions.items() if path.endswith("table5.md")]
    assert titles[0].startswith(f"Table 5 at scale {finished.results.name}: kNN accuracy")


def test_files_of_one_artifact_are_told_apart_by_their_labels(reported: Report) -> None:
    """The page's lists are keyed by labels: of two equal ones, one would not be shown."""
    for kinds in reported.categories.values():
        for paths in kinds.values():
            labels = {tuple(reported.results[path]["labels"].values()) for path in paths}
            assert len(labels) == len(paths)


def fetches(page: str) -> list[str]:
    """What a browser would fetch; the text of scripts, which Snakemake brings along, is no markup and no style."""
    return Fetches(re.sub(r"(<script\b[^>]*>).*?</script>", r"\1</script>", page, flags=re.DOTALL)).found


def test_the_page_fetches_nothing(reported: Report) -> None:
    assert reported.page.rstrip().endswith("</html>")
    assert fetches(reported.page) == []
    for chart in ("rulegraph", "runtimes", "timeline"):  # Vega fetches what a specification names by `url`
        specification = json.dumps(reported.data(chart))
        assert '"values": [{' in specification
        assert '"url"' not in specification


@pytest.mark.parametrize("stray", ['<script src="https://x.org/a.js"></script>', '<img src="a.svg">'])
def test_a_page_that_fetches_something_is_seen(reported: Report, stray: str) -> None:
    """The control of the test above."""
    head, end, tail = reported.page.rpartition("</body>")
    assert len(fetches(head + stray + end + tail)) == 1


def test_a_report_reruns_nothing_and_changes_nothing(copy: Checkout, tmp_path: Path) -> None:
    before = copy.files("**/*")
    make(copy, tmp_path / "report.html")
    assert copy.files("**/*") == before
    assert copy.jobs() == []


def test_marking_results_for_the_report_reruns_nothing(copy: Checkout) -> None:
    """A copy finished with the marks, and a Snakefile without any: as if it had run before there were marks."""
    copy.edit(
        "workflow/Snakefile",
        'include: "rules/data.smk"',
        'def report(path, **_):\n    return path\n\n\ninclude: "rules/data.smk"',
    )
    assert copy.jobs() == []
    done = copy.snakemake("--report", str(copy.root / "report.html"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert Report((copy.root / "report.html").read_text()).results == {}  # control: the marks are really gone


def test_a_misspelt_category_is_noticed(copy: Checkout, finished: Checkout) -> None:
    """The control of the categories' test."""
    copy.edit("workflow/report/captions.smk", '"All papers"', '"All paper"')
    make(copy, copy.root / "report.html")
    assert Report((copy.root / "report.html").read_text()).categories != expected(finished)


@pytest.mark.parametrize("damage", ["removed", "unreadable"])
def test_a_missing_or_broken_caption_is_named(copy: Checkout, damage: str) -> None:
    caption = copy.root / "workflow" / "report" / "table.rst"
    if damage == "removed":
        caption.unlink()
    else:
        caption.write_text("{{ snakemake.config.about.nonesuch() }}\n")
    done = copy.snakemake("--report", str(copy.root / "report.html"))
    assert done.returncode != 0
    assert "report/table.rst" in "".join((done.stdout + done.stderr).split())
    assert not (copy.root / "report.html").exists()


def make_report(place: Checkout) -> subprocess.CompletedProcess[str]:
    """`make report` in the interpreter of the tests: make is told that .venv is ready."""
    return place.run("make", "-o", ".venv/.ready", "report", "SET=device=cpu 'data_root=null'")


def test_make_report_writes_it_into_the_results_folder_of_the_scale(copy: Checkout) -> None:
    done = make_report(copy)
    assert done.returncode == 0, done.stdout + done.stderr
    page = copy.results / "report.html"
    assert Report(page.read_text()).results
    assert done.stdout.split() == [page.relative_to(copy.root).as_posix()]


def test_make_report_of_results_that_are_not_there_is_refused(copy: Checkout) -> None:
    """The control of the test above."""
    (copy.results / "claims.csv").unlink()
    done = make_report(copy)
    assert done.returncode != 0
    assert "claims.csv marked for report but does not exist" in " ".join(done.stderr.split())
    assert not list(copy.results.glob("*report*"))
