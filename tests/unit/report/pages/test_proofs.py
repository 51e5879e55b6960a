"""Links from claims to their proof, and figures inside the page."""

import base64
import dataclasses
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from hypersphere.config.errata import Erratum
from hypersphere.report import entries, errata, html
from hypersphere.report.proofs import Link, OfScale, Proofs

from ....golden.released import configured
from ..conftest import ROOT


def test_a_claim_that_was_not_run_links_no_results_and_a_measured_one_the_code_of_its_loss(
    quick: Any,
) -> None:
    proofs = OfScale(quick.plan.config, frozenset(), quick.folder, quick.plan)
    assert proofs.test("alpha.gone", "alpha").href == "../../papers/alpha/errata.yaml"
    listed = {one.row["id"]: one for one in entries.of_scale(quick.results)}
    rate = listed["alpha.rate"]
    studied = dataclasses.replace(rate, row=rate.row | {"verdict": "not run"})
    for claim in (studied, listed["alpha.sweep"]):
        assert not [link for link in proofs.of([claim]) if not link.href.startswith("../../")]
    assert Link("study's table", "simulations/alpha/curve.csv") in proofs.of([rate])
    found = proofs.code(listed["alpha.cut"])
    assert [link.text for link in found] == ["nt_xent", "cut_initialisation"]
    assert found[0].href == "../../src/hypersphere/objectives/nt_xent.py"
    assert proofs.code(rate) == []


@pytest.mark.parametrize("hosted", [False, True])
def test_files_of_the_repository_are_links_to_its_code_host_where_one_is_named(
    tmp_path: Path, hosted: bool
) -> None:
    """Results stay beside the page: they are not in the repository. A run is a folder, or its records.

    The test of an erratum is a file, a claim of the page, or what the erratum's file says of one that is not there.
    """
    address = "repository-code: https://code.example/us/ours.git\n" if hosted else ""
    (tmp_path / "CITATION.cff").write_text(f"title: ours\nversion: 1.2.3\n{address}")
    results, evidence = tmp_path / "results" / "quick", tmp_path / "evidence" / "quick"
    errata = {"errata.yaml": {"alpha": tmp_path / "papers" / "alpha" / "errata.yaml"}}
    config: Any = SimpleNamespace(
        root=tmp_path, results=results, evidence=evidence, files_named=errata.get
    )
    plan: Any = SimpleNamespace(records={"run": (SimpleNamespace(key="1"),)})
    found = OfScale(config, frozenset({"alpha.one"}), results, plan)
    files = "https://code.example/us/ours/blob/HEAD" if hosted else "../.."
    assert found.test("alpha.one", "alpha") == Link("alpha.one", "#alpha.one")
    assert found.test("tests/unit/a.py::test_b", "alpha") == Link(
        "test_b", f"{files}/tests/unit/a.py"
    )
    assert found.test("alpha.gone", "alpha").href == f"{files}/papers/alpha/errata.yaml"
    claim: Any = SimpleNamespace(steps=(), row={"runs": "run another simclr-cut-s0-14c7"})
    assert found.runs(claim) == [Link("run 1", f"{files}/evidence/quick/runs.csv")]
    plan.records = None
    assert found.runs(claim)[-1] == Link("s0-14c7", "runs/simclr-cut-s0-14c7/")


@pytest.mark.parametrize("given", ["ours", "javascript:alert(1)", "[1]"])
def test_a_code_host_that_is_no_address_is_named_with_its_file(
    tmp_path: Path, refused: Any, given: str
) -> None:
    (tmp_path / "CITATION.cff").write_text(f"version: 1.2.3\nrepository-code: {given}\n")
    config: Any = SimpleNamespace(root=tmp_path)
    with refused("CITATION.cff", "repository-code"):
        _ = Proofs(config, frozenset(), tmp_path).root


def test_the_code_and_the_test_of_every_exact_study_and_statement_exist() -> None:
    """Of the released documents; an exact artifact, whose name is not that of a document, is linked to its study."""
    config = configured("quick")
    proofs = Proofs(config, frozenset(), config.results)
    proofs.root = str(ROOT)
    for paper in config.papers.values():
        for name, declared in paper.studied.items():
            code = proofs.artifact(paper.paper, name)[-1]
            assert (code.text, declared.study in code.href) == ("study", True)
    papers = [(paper, "") for paper in config.papers if config.theorems_file(paper).is_file()]
    studies = [(paper, study) for paper in config.papers for study in config.studies(paper)]
    links = [link.href for one in (*papers, *studies) for link in proofs.exact_code(*one)]
    assert len(links) >= 2 * (len(papers) + len(studies))
    assert not [link for link in links if not Path(link).is_file()]


def test_a_picture_in_the_page_is_no_wider_than_it_is_shown(tmp_path: Path) -> None:
    png = tmp_path / "one.png"
    Image.new("RGB", (1600, 400), "navy").save(png)
    kind, _, data = html.webp(png, html.ARTIFACT).partition(",")
    assert kind == "data:image/webp;base64"
    with Image.open(io.BytesIO(base64.b64decode(data))) as shown:
        assert shown.size == (html.ARTIFACT.width, html.ARTIFACT.width // 4)
        assert shown.convert("RGB").getpixel((5, 5)) == pytest.approx((0, 0, 128), abs=10)


def test_what_is_run_in_words() -> None:
    """By hand, for each quantity; nothing for a reading of the text."""
    said = {"id": "M1", "document": "margins", "kind": "breaks", "tests": []}
    said |= dict.fromkeys(("place", "printed", "chosen", "decided"), "x")
    runs = [
        {
            "when": {"variant": ["curv", "pos"]},
            "set": {"logits.curve": "equation_10", "logits.s": 1.0},
        },
        {"when": {"artifact": "readings"}, "set": {"batch.accumulate": "sum"}, "by": "some"},
        {"set": {"method.two_tau": True}, "by": "none"},
    ]
    assert errata.what_is_run(Erratum.model_validate(said | {"runs": runs})) == (
        "every run of a published table or figure with variant curv or pos has logits.curve=equation_10, logits.s=1; "
        "a run with artifact readings has batch.accumulate=sum; no run has method.two_tau=true"
    )
    assert errata.what_is_run(Erratum.model_validate(said | {"of": "text"})) == ""
