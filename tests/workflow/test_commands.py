"""Every command that the pages name or a command suggests works on a healthy clone.

The commands are read from the pages and from what the commands print, so that a new suggestion is tested by itself.
They run in copies of the small project, where ``ONLY`` is one of its artifacts; on the real papers they are planned.
"""

import re
import shlex
from itertools import takewhile

import pytest

from hypersphere.command import cli
from hypersphere.config import project
from hypersphere.config.settings import parse, split

from ..golden.released import released
from .conftest import REPOSITORY, Checkout

OUTSIDE = ("README.md", "CONTRIBUTING.md", "plugins/control/README.md")
PAGES = [REPOSITORY / name for name in OUTSIDE] + sorted((REPOSITORY / "docs").glob("*.md"))
PROGRAMS = ("make", "hypersphere", "snakemake")
CANNOT = (
    # have tests of their own
    *(
        "make archive",
        "hypersphere archive",
        "make release",
        "make store",
        "make restore",
        "hypersphere release",
        "hypersphere store",
        "hypersphere retrain",
        "hypersphere differs",
        "make site",
    ),
    *("make verify RERUN", "hypersphere verify", "hypersphere audit"),
    *("hypersphere judge", "hypersphere probe"),
    *(
        "hypersphere campaign",
        "hypersphere rehearse",
        "hypersphere first-look",
        "hypersphere new-paper",
        "ONLY=mine",
        "hypersphere select",
    ),
    *(
        "hypersphere evidence import",
        "hypersphere pretrain --from",
        "snakemake --unlock",
        "snakemake --touch",
    ),
    "snakemake --cores all --sdm conda",
    *("snakemake --workflow-profile", "snakemake --cores all --config epochs=3"),
    # are tests, write pages of the repository, or download
    *(
        "make test",
        "make pages",
        "make lint",
        "make setup",
        "make mutants",
        "make lock",
        "SCALE=smoke",
        "scale=smoke",
    ),
    # need a GPU, or are of the real papers
    *(
        "SCALE=workstation",
        "scale=workstation",
        "device=cuda",
        "SCALE=paper",
        "snakemake --config scale=paper",
        "simclr-cosinelogits0.25-digits-s0",
    ),
    # stand there without the names that they need
    *("hypersphere pack", "hypersphere prepare", "hypersphere artifact", "hypersphere studies"),
)
"""Commands that do not run here, by their beginning or a word of theirs."""
TABLE = "embedding_norms/table5"
SUGGESTED = re.compile(r"`((?:make|hypersphere|snakemake) [^`\n]+)`")


def documented() -> list[str]:
    """Every command of a code block, and every one in a line of text; placeholders as they are printed."""
    found: list[str] = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        blocks = re.findall(r"^```\w*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
        lines = [line.partition("  #")[0] for block in blocks for line in block.splitlines()]
        inline = re.findall(
            r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
        )
        found += [part.strip() for line in (*lines, *inline) for part in line.split("&&")]
    commands = {
        command for command in found if command.split(" ")[0] in PROGRAMS and " " in command
    }
    return sorted(command for command in commands if "…" not in command)


COMMANDS = documented()


def runs_here(command: str) -> bool:
    return not any(command.startswith(words) or words in command.split() for words in CANNOT)


def settings(command: str) -> dict[str, object]:
    """The settings that a command gives."""
    words = shlex.split(command.replace("<", "").replace(">", ""))
    if words[0] == "make":
        given = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        named = [f"{name.lower()}={given[name]}" for name in ("SCALE", "ONLY") if name in given]
        return parse([*named, *split(given.get("SET", ""))])
    if words[0] == "hypersphere":
        return parse([word for at, word in enumerate(words) if words[at - 1] == "--set"])
    after = words[words.index("--config") + 1 :] if "--config" in words else []
    return parse(list(takewhile(lambda word: not word.startswith("--"), after)))


@pytest.mark.parametrize("command", [one for one in COMMANDS if "data_root" not in one])
def test_the_real_papers_have_what_a_page_names(command: str) -> None:
    """The target or subcommand with its options, the settings, and each artifact, which is made at that scale."""
    words = shlex.split(command.replace("<", "").replace(">", ""))
    if words[0] == "make":
        targets = re.findall(
            r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), flags=re.MULTILINE
        )
        assert {word for word in words[1:] if "=" not in word} <= set(targets)
    elif words[0] == "hypersphere" and not words[1].startswith("--"):
        allowed = cli.parser()[1][words[1]]._option_string_actions
        assert {word for word in words if word.startswith("--")} <= allowed.keys()
    given = settings(command)
    only = given.pop("only", [])
    if given.keys() - {"scale"}:
        project.load(REPOSITORY, given)  # which refuses a setting that is none
    plan = released(str(given.get("scale", "quick")))
    for name in only.split() if isinstance(only, str) else only:
        paper, _, artifact = name.partition("/")
        assert (
            not artifact
            or (paper, artifact) in plan.made_artifacts
            or artifact in plan.config.papers[paper].studied
        ), command


def adapted(command: str, place: Checkout) -> str:
    """A command of a page with an artifact, a run and a number of the small project."""
    run = next(
        path.name
        for path in sorted((place.results / "runs").iterdir())
        if path.name.startswith("simsiam-cut9")
    )
    command = re.sub(r"""ONLY=("[^"]*"|'[^']*'|\S+)""", f"ONLY={TABLE}", command)
    command = re.sub(r"only=\[[^]]*\]", f'only=["{TABLE}"]', command).replace(
        "scale=paper", "scale=quick"
    )
    # .ci/run makes all, from the real records
    if command.startswith("make evidence") and "ONLY=" not in command:
        command += f" ONLY={TABLE}"
    return re.sub(r"<run>|\bRUN\b(?!=)", run, command)


def shape(command: str) -> frozenset[str]:
    """Its words, and which settings it gives: with other values the same command works."""
    words = [word.strip("'").partition("=") for word in shlex.split(command)]
    return frozenset(f"{name}{equals}" for name, equals, _ in words)


def test_every_command_of_a_page_and_all_that_it_suggests_works(laptop: Checkout) -> None:
    """Of those of one shape, one runs."""
    text = "done\n`make verify ONLY=a/b` or `hypersphere plan --verbose` lists"  # the control
    assert SUGGESTED.findall(text) == ["make verify ONLY=a/b", "hypersphere plan --verbose"]
    waiting = [adapted(command, laptop) for command in COMMANDS if runs_here(command)]
    done: dict[frozenset[str], str] = {}
    while waiting:
        command = waiting.pop(0)
        if shape(command) in done or not runs_here(command):
            continue
        said = laptop.run("bash", "-c", command)
        done[shape(command)] = command
        waiting += SUGGESTED.findall(said.stdout + said.stderr)
    assert any(command.startswith("make verify") for command in done.values()), done.values()
