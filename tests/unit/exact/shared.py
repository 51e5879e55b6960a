"""What tests of exact studies share."""

from pathlib import Path
from types import SimpleNamespace

from hypersphere.exact.study import Context, ExactStudy

from ..printed import PAPERS


def context(paper: str, folder: Path = PAPERS, **config: object) -> Context:
    """For a paper of a folder, whose claims and sentences are looked at, and what else is said of its config."""
    claims, sentences, audit = (
        folder / paper / file for file in ("claims.csv", "sentences.yaml", "audit.yaml")
    )
    files = {
        "claims_file": {paper: claims}.get,
        "sentences_file": {paper: sentences}.get,
        "audit_file": {paper: audit}.get,
    }
    return Context(SimpleNamespace(**files, **config), paper)


def held(study: ExactStudy, prefix: str = "") -> dict[str, tuple[int, int]]:
    """Of each answer that counts places, by its id without ``prefix``: where it holds, and all."""
    counts = [one for one in study.answers if "held" in one.arms]
    found = {
        one.id.removeprefix(prefix): (int(one.arms["held"][0]), int(one.arms["places"][0]))
        for one in counts
    }
    assert len(found) == len(counts)
    return found
