"""`make release`: a version of the software as files to upload, in dist/<version>, and its tag.

There are a wheel, an sdist, the archive of one scale's results, the citation, the notes of the changelog, and the
checksums of all. The wheel and the archive have equal bytes each time; the times within an sdist differ.
"""

import re
import shutil
from pathlib import Path

from hypersphere import files
from hypersphere.command import restore
from hypersphere.config import citation
from hypersphere.config.plan import Plan
from hypersphere.errors import HypersphereError
from hypersphere.provenance import archive

FOLDER = "dist"
PROJECT = "pyproject.toml"
CHANGELOG = "CHANGELOG.md"
NOTES = "NOTES.md"
"""The section of the changelog, which is the message of the tag, too."""
SUMS = "SHA256SUMS"


def release(plan: Plan) -> None:
    """Build dist/<version> from the commit and the plan's results, and tag the commit.

    Raises:
        HypersphereError: the files that name the version or its date disagree, the tag is of another commit, or the
            archive is refused. There is no tag then, and dist/ is as it was.
    """
    root = plan.config.root
    version = released_version(root)
    notes = released_notes(root, version)
    tag = f"v{version}"
    tagged = archive.git(root, "tag", "--list", tag)
    here = archive.git(root, "tag", "--points-at", "HEAD")
    if tagged and tag not in here.split():
        raise HypersphereError(
            f"{root / PROJECT}: version: {version} is the tag {tag} of another commit; raise the version"
        )
    packed = archive.pack(plan)
    beside = packed.with_name(f"{packed.name}.sha256")
    folder = root / FOLDER / version
    with files.replacing(folder, folder=True) as made:
        build(root, made)
        packed.replace(made / packed.name)
        beside.unlink()
        shutil.copyfile(root / citation.FILE, made / citation.FILE)
        files.write_text(made / NOTES, notes)
        files.write_text(made / SUMS, checksums(made))
    if not tagged:
        message = f"--file={folder / NOTES}"
        # headings begin with #, which git would take for comments
        archive.git(root, "tag", "--annotate", "--cleanup=verbatim", message, tag)
    print(
        f"{FOLDER}/{version}: built, tag {tag}; next: git push origin {tag}, and upload the files"
    )


def released_version(root: Path) -> str:
    """The version of pyproject.toml, which CITATION.cff must have, too."""
    described = files.read_toml(root / PROJECT)
    project = files.mapping(described.get("project"))
    version = str(project.get("version"))
    cited = citation.required(root).version
    if cited != version:
        raise HypersphereError(
            f"{root / citation.FILE}: version: is {cited}, and {version} in {PROJECT}"
        )
    return version


def released_notes(root: Path, version: str) -> str:
    """The section of the changelog on a version, whose heading has the date of CITATION.cff."""
    file = root / CHANGELOG
    text = files.read_text(file)
    heading = rf"^## {re.escape(version)} \(([^)\n]*)\)\n"
    section = re.compile(rf"{heading}(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    found = section.search(text)
    if found is None:
        raise HypersphereError(f"{file}: has no section '## {version} (DATE)'")
    written, notes = found.groups()
    date = citation.required(root).date_released
    if written != str(date):
        raise HypersphereError(
            f"{file}: {version}: has the date '{written}', and {citation.FILE} has {date}"
        )
    return f"{version} ({date})\n\n{notes.strip()}\n"


def build(root: Path, into: Path) -> None:
    """Build the sdist of the commit, and the wheel from it, whose files have the commit's time."""
    time = archive.git(root, "log", "-1", "--format=%ct").strip()
    with files.temporary_folder("the sources of a commit") as folder:
        source = folder / "source"
        archive.git(root, "clone", "--quiet", "--shared", str(root), str(source))
        options = ["--quiet", "--offline", "--no-config", "--no-build-isolation"]
        options += ["--no-create-gitignore", f"--out-dir={into.resolve()}"]
        restore.call(source, "uv", "build", *options, SOURCE_DATE_EPOCH=time)


def checksums(folder: Path) -> str:
    """A line of `sha256sum` for each file of a folder."""
    lines = ""
    for path in sorted(folder.iterdir()):
        digest = files.sha256(path)
        lines += f"{digest}  {path.name}\n"
    return lines
