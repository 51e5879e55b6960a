"""ro-crate-metadata.json: what an archive holds and how it was made, as an RO-Crate 1.1.

Repositories and workflow registries read it. It follows from the archive's names, its citation and its commit alone, so
that equal contents give equal bytes.
"""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from hypersphere.config.citation import Citation

FILE = "ro-crate-metadata.json"
Entity = dict[str, Any]
CONTEXT = "https://w3id.org/ro/crate/1.1/context"
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
SOFTWARE = "#hypersphere"
FILES = {
    "README.md": ("What is found, and the commands", "text/markdown"),
    "CITATION.cff": ("How to cite the archive", "text/yaml"),
    "LICENSE": ("The licence", "text/plain"),
    "SHA256SUMS": ("The checksum of each file", "text/plain"),
    "requirements.lock": ("The libraries, each with its version and checksum", "text/plain"),
    "{}/claims.csv": ("A row for each claim of the papers", "text/csv"),
    "{}/scorecard.html": ("Each claim with its runs, as a page", "text/html"),
}
"""Files that are described, each with its name and its kind; ``{}`` stands for the folder of the results."""
FOLDERS = {
    "config/": "Scales, datasets and rules",
    "data/": "The checksums of the public datasets; the images are not here",
    "evidence/": "Records of finished runs",
    "papers/": "Each paper: published numbers, runs, tables and errata",
    "src/": "The program",
    "{}/": "The results of the scale, each file with its checksum in a manifest",
}
"""Folders that are described, each with its name."""


def metadata(
    names: Collection[str], cited: Citation, results: str, commit: str, committed: datetime
) -> Entity:
    """The metadata of an archive with files of these names, which was packed from a commit.

    ``results`` is the folder of the results, seen from the archive's own folder, as the names are.
    """
    parts = [*_files(names, results), *_folders(names, results)]
    authors = []
    for number, author in enumerate(cited.authors, 1):
        kind = "Organization" if author.name else "Person"
        authors.append({"@id": f"#author-{number}", "@type": kind, "name": str(author)})
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"hypersphere {cited.version}, {results}",
        "description": "Sources, records and results of a check of papers on contrastive learning",
        "datePublished": committed.isoformat(),
        "version": cited.version,
        "identifier": commit,
        "author": _references(authors),
        "hasPart": _references(parts),
        "mentions": {"@id": "#build"},
    }
    if "LICENSE" in names:
        root["license"] = {"@id": "LICENSE"}
    about = {
        "@id": FILE,
        "@type": "CreativeWork",
        "conformsTo": {"@id": SPECIFICATION},
        "about": {"@id": "./"},
    }
    software = {
        "@id": SOFTWARE,
        "@type": "SoftwareSourceCode",
        "name": "hypersphere",
        "version": cited.version,
    }
    if cited.repository:
        software["codeRepository"] = cited.repository
    made_of = [part for part in parts if part["@id"] in ("config/", "data/", "papers/")]
    build = {
        "@id": "#build",
        "@type": "CreateAction",
        "name": f"The build of {results}",
        "instrument": {"@id": SOFTWARE},
        "object": _references(made_of),
        "result": {"@id": f"{results}/"},
    }
    return {"@context": CONTEXT, "@graph": [about, root, *parts, *authors, software, build]}


def _files(names: Collection[str], results: str) -> Iterator[Entity]:
    """The files that are described, of those that are there."""
    for pattern, (name, kind) in FILES.items():
        path = pattern.format(results)
        if path in names:
            yield {"@id": path, "@type": "File", "name": name, "encodingFormat": kind}


def _folders(names: Collection[str], results: str) -> Iterator[Entity]:
    """The folders that are described, of those in which there is a file."""
    for pattern, name in FOLDERS.items():
        path = pattern.format(results)
        if any(one.startswith(path) for one in names):
            yield {"@id": path, "@type": "Dataset", "name": name}


def _references(entities: Collection[Entity]) -> list[Entity]:
    return [{"@id": one["@id"]} for one in entities]
