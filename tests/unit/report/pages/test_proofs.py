"""Links from claims to their proof, and figures inside the page."""

import base64
import dataclasses
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from hypersphere.config import plan as planning
from hypersphere.config import project, registry
from hypersphere.report import claims, pages, scorecard
from hypersphere.report.proofs import Link, Proofs, exact_code, hosted

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="session")
def proofs(quick: Any) -> Proofs:
    """Of the fixture's plan."""
    return Proofs(
        quick.plan, pages.ledger(quick.plan.config), frozenset(one["id"] for one in quick.claims), quick.folder
    )


def test_a_run_is_a_folder_or_its_records(quick: Any, proofs: Proofs) -> None:
    assert proofs.run("simclr-cut-digits-s0-14c73c94") == [Link("s0-14c73c94", "runs/simclr-cut-digits-s0-14c73c94/")]
    record = SimpleNamespace(key="1")
    from_records: Any = SimpleNamespace(config=quick.plan.config, records={"run": (record,)})
    recorded = dataclasses.replace(proofs, plan=from_records)
    assert recorded.run("run") == [Link("run 1", "../../evidence/quick/runs.csv")]
    assert recorded.run("another") == []


def test_the_tests_of_an_erratum_are_files_or_claims(proofs: Proofs) -> None:
    assert proofs.test("alpha.one", "alpha") == Link("alpha.one", "#alpha.one")
    assert proofs.test("tests/unit/a.py::test_b", "alpha") == Link("test_b", "../../tests/unit/a.py")
    assert proofs.test("alpha.gone", "alpha").href == "../../config/papers/alpha/errata.yaml"


def test_a_claim_that_was_not_run_links_no_results(quick: Any, proofs: Proofs) -> None:
    entries = {one.row["id"]: one for one in claims.entries(quick.results)}
    rate = entries["alpha.rate"]
    studied = dataclasses.replace(rate, row=rate.row | {"verdict": "not run"})
    for claim in (studied, entries["alpha.sweep"]):
        assert not [link for link in proofs.of([claim]) if not link.href.startswith("../../")]
    assert Link("study's table", "simulations/alpha/curve.csv") in proofs.of([rate])


def test_a_measured_claim_links_the_code_of_its_loss(quick: Any, proofs: Proofs) -> None:
    entries = {one.row["id"]: one for one in claims.entries(quick.results)}
    found = [link.text for link in proofs.code(entries["alpha.cut"])]
    assert found == ["nt_xent", "cut_initialisation"]
    assert proofs.code(entries["alpha.cut"])[0].href == "../../src/hypersphere/objectives/nt_xent.py"
    assert proofs.code(entries["alpha.rate"]) == []


def test_claims_of_one_artifact_name_each_proof_once(quick: Any, proofs: Proofs) -> None:
    listed = proofs.of(claims.entries(quick.results))
    assert len(listed) == len(set(listed))


def picture(path: Path, text: str) -> str:
    """The data of a figure of 1600 by 400 pixels in two colours whose svg is this text."""
    path.write_text(text)
    Image.new("RGB", (1600, 400), "navy").save(path.with_suffix(".png"))
    return scorecard.picture(path)


def test_the_smaller_of_drawing_and_picture_is_in_the_page(tmp_path: Path) -> None:
    drawn = picture(tmp_path / "small.svg", "<svg/>")
    assert drawn == f"data:image/svg+xml;base64,{base64.b64encode(b'<svg/>').decode()}"
    kind, _, data = picture(tmp_path / "large.svg", f"<svg>{'x' * 100_000}</svg>").partition(",")
    assert kind == "data:image/webp;base64"
    with Image.open(io.BytesIO(base64.b64decode(data))) as shown:
        assert shown.size == (scorecard.WIDTH, scorecard.WIDTH // 4)
        assert shown.convert("RGB").getpixel((5, 5)) == pytest.approx((0, 0, 128), abs=10)


def test_a_figure_without_a_picture_is_its_drawing(tmp_path: Path) -> None:
    (tmp_path / "one.svg").write_text("<svg/>")
    assert scorecard.picture(tmp_path / "one.svg").startswith("data:image/svg+xml")


def test_files_of_the_repository_are_links_to_its_code_host_where_one_is_named(tmp_path: Path) -> None:
    """Results stay beside the page: they are not in the repository."""
    assert hosted(tmp_path) == ""
    (tmp_path / "CITATION.cff").write_text("title: ours\n")
    assert hosted(tmp_path) == ""
    (tmp_path / "CITATION.cff").write_text("repository-code: https://code.example/us/ours.git\n")
    config = SimpleNamespace(
        root=tmp_path, results=tmp_path / "results" / "quick", evidence=tmp_path / "evidence/quick"
    )
    plan: Any = SimpleNamespace(config=config, records={"run": (SimpleNamespace(key="1"),)})
    found = Proofs(plan, [], frozenset(), config.results)
    files = "https://code.example/us/ours/blob/HEAD"
    assert found.test("tests/unit/a.py::test_b", "alpha").href == f"{files}/tests/unit/a.py"
    assert found.run("run") == [Link("run 1", f"{files}/evidence/quick/runs.csv")]
    plan.records = None
    assert found.run("simclr-s0-14c7") == [Link("s0-14c7", "runs/simclr-s0-14c7/")]


@pytest.mark.parametrize("given", ["ours", "javascript:alert(1)", "[1]"])
def test_a_code_host_that_is_no_address_is_named_with_its_file(tmp_path: Path, refused: Any, given: str) -> None:
    (tmp_path / "CITATION.cff").write_text(f"repository-code: {given}\n")
    with refused():
        hosted(tmp_path)


def test_an_exact_artifact_is_linked_to_the_code_of_its_study() -> None:
    """For every exact artifact of the released documents, whose names are not those of documents."""
    plan = planning.make(ROOT, {})
    proofs = Proofs(plan, [], frozenset(), plan.config.results)
    for paper in plan.config.papers.values():
        for name, declared in paper.studied.items():
            code = proofs.artifact(paper, name)[-1]
            assert code.text == "study"
            assert code.href.endswith(f"simulations/{declared.study}/compute.py")


def test_the_code_and_the_test_of_every_exact_study_and_statement_exist() -> None:
    config = project.load(ROOT, {})
    papers = [(paper, "") for paper in config.papers if (ROOT / f"src/hypersphere/theory/{paper}.py").is_file()]
    studies = [(next(iter(config.papers)), study) for study in registry.names("simulations")]
    links = [link.href for one in (*papers, *studies) for link in exact_code(str(ROOT), config, *one)]
    assert len(links) >= 2 * (len(papers) + len(studies))
    assert not [link for link in links if not Path(link).is_file()]
