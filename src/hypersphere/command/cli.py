"""The command ``hypersphere``, which Snakemake's rules call and a person may call.

Each command imports what it needs when it runs, so that ``hypersphere plan`` spends no seconds importing torch.
"""

import argparse
import sys
import tomllib
from collections.abc import Callable, Collection, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from hypersphere import files, strict_yaml
from hypersphere.command import steps
from hypersphere.config import plan as planning
from hypersphere.config.plan import Plan
from hypersphere.config.validation import not_one_of
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.provenance import stop

DESCRIPTION = "Rebuild and judge what four papers and a lecture report on the geometry of contrastive learning."
EPILOG = "Settings come from config/config.yaml; --set KEY=VALUE replaces one, or a number of the scale, for this call."


Command = Callable[[Plan, argparse.Namespace], None]
WithoutPlan = Callable[[argparse.Namespace], None]
"""A command that works outside a project."""


def _parser() -> tuple[argparse.ArgumentParser, Collection[str]]:
    """The parser, and the names of the commands."""
    parser = argparse.ArgumentParser(prog="hypersphere", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def add(name: str, run: Command, description: str, *options: tuple[tuple[str, ...], dict[str, Any]]) -> None:
        command = commands.add_parser(name, help=description, description=description, epilog=EPILOG)
        command.set_defaults(call=run)
        command.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
        for flags, keywords in options:
            command.add_argument(*flags, **keywords)

    def add_without_plan(
        name: str, run: WithoutPlan, description: str, *options: tuple[tuple[str, ...], dict[str, Any]]
    ) -> None:
        command = commands.add_parser(name, help=description, description=description)
        command.set_defaults(call_without_plan=run)
        for flags, keywords in options:
            command.add_argument(*flags, **keywords)

    batch = (("--batch",), {"metavar": "ID", "help": "a batch of runs, as the plan and the console name it"})
    runs = (("run",), {"nargs": "*", "metavar": "RUN", "help": "names of runs; the digest may be left out"})
    seconds = {"type": float, "default": 60.0, "metavar": "SECONDS", "help": "between resume states (default: 60)"}
    verbose = (("--verbose",), {"action": "store_true", "help": "list every artifact, run and job, with reasons"})
    claimed = {"action": "store_true", "help": "which published claims a cell would measure, and why not the others"}
    add("plan", steps.plan, "what is done, what would run, and why", verbose, (("--claims",), claimed))
    add("cost", steps.cost, "what the runs would cost in time, energy, money and disk", verbose, *_rates())
    add("prepare", steps.prepare, "make datasets ready under data/processed", (("dataset",), {"nargs": "+"}))
    add("pretrain", steps.pretrain, "train runs that are not finished", batch, runs, (("--save-every",), seconds))
    add("snapshots", steps.snapshots, "list saved encoders, and which of them the plan needs", runs)
    pixels = (("--pixels",), {"metavar": "DATASET", "help": "probe raw pixels instead of an encoder"})
    add("evaluate", steps.evaluate, "probe runs, a batch of them, or raw pixels", batch, pixels, runs)
    add("theory", steps.theory, "check every theorem and identity against draws and counterexamples")
    add("simulate", steps.simulate, "run the exact studies of papers (default: of all)", (("paper",), {"nargs": "*"}))
    add("studies", steps.studies, "judge and draw the results of a paper's exact studies", (("paper",), {}))
    add(
        "artifact",
        steps.artifact,
        "write tables or figures, and the tidy tables that they show",
        (("artifact",), {"nargs": "+", "metavar": "PAPER/ARTIFACT"}),
    )
    add("claims", steps.claims, "compare the measurements with every published claim, and count the verdicts")
    add("scorecard", steps.scorecard, "write one page with every claim and its verdict")
    add("paper", steps.paper, "write the reproduction paper as a PDF")
    again = (("--rerun",), {"action": "append", "default": [], "metavar": "RUN", "help": "train this run again"})
    forget = {"action": "store_true", "help": "forget what is damaged, so that `make reproduce` makes it again"}
    checked = "compare results with their manifests, and rebuild what follows from them"
    add("verify", steps.verify, checked, again, (("--mend",), forget))
    add("pack", steps.pack, "write one evidence record per finished run", (("run",), {"nargs": "+", "metavar": "RUN"}))
    taken = (("action",), {"choices": ["import"]}), (("folder",), {"metavar": "DIR", "help": "a folder of records"})
    add("evidence", steps.evidence, "take in records of runs that were finished elsewhere", *taken)
    study = (("study",), {"metavar": "DOCUMENT/STUDY", "help": "for example ours/step_size"})
    add("select", steps.select, "choose the tuned values of a study's arms from the records of its tuning runs", study)
    packed = (("--to",), {"metavar": "FILE", "help": "the zip to write (default: hypersphere-<version>-<scale>.zip)"})
    heavy = (("--weights",), {"action": "store_true", "help": "add the runs, with their weights"})
    add("archive", steps.archive, "pack sources, evidence and results into one reproducible zip", packed, heavy)
    add_without_plan(
        "check-archive", steps.check_archive, "check every file of such a zip", (("file",), {"metavar": "FILE"})
    )
    minutes = (("--minutes",), {"type": float, "required": True, "metavar": "M", "help": "after which it stops"})
    jobs = (("--jobs",), {"type": int, "metavar": "N", "help": "runs at a time (default: all cores, or GPUs)"})
    part = (("--part",), {"default": "1/1", "metavar": "K/N", "help": "the K-th of N parts that share no run"})
    add("campaign", steps.campaign, "train, probe and pack pending runs, the most telling first", minutes, jobs, part)
    size = (("--n-test",), {"type": int, "required": True, "metavar": "T", "help": "test images"})
    number = {"metavar": "MEAN", "help": "an accuracy in percent, with all its printed decimals"}
    std = (("std",), {"nargs": "?", "metavar": "STD", "help": "its standard deviation over runs"})
    add_without_plan(
        "grim", steps.grim, "how many runs a printed mean accuracy can be of", (("mean",), number), std, size
    )
    named = (("name",), {"metavar": "NAME", "help": "a run's name, or a claim's id"})
    add("trace", steps.trace, "where a number comes from: runs, weights, data, code, machine, command", named)
    return parser, commands.choices


def _rates() -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """The options of ``cost``."""
    tflops = "10^12 floating-point operations a second that a device sustains in training"
    numbers = {
        "tflops": tflops,
        "bandwidth": "10^12 bytes a second that its memory sustains",
        "watts": "that it draws",
        "price": "of an hour of it, in any currency; without it no money is shown",
    }
    options = [((f"--{name}",), {"type": float, "metavar": "X", "help": help}) for name, help in numbers.items()]
    return [*options, (("--csv",), {"metavar": "FILE", "help": "write every artifact's numbers, in plain units"})]


def _version() -> str:
    """The package's version; from pyproject.toml where the package is run without being installed."""
    try:
        return metadata.version("hypersphere")
    except metadata.PackageNotFoundError:
        file = Path(__file__).parents[3] / "pyproject.toml"
        return str(tomllib.loads(file.read_text(encoding="utf-8"))["project"]["version"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, or print the help if none is given.

    Returns:
        The exit status: 0; 2 after a sentence on standard error; 128 + n if signal n stopped the command.
    """
    parser, commands = _parser()
    words = sys.argv[1:] if arguments is None else arguments
    if not words:
        parser.print_help()
        return 0
    if not words[0].startswith("-") and words[0] not in commands:
        print(f"hypersphere: command: {not_one_of(words[0], commands)}", file=sys.stderr)
        return 2
    parsed = parser.parse_args(words)
    stop.exit_in_order()
    try:
        if "call_without_plan" in parsed:
            parsed.call_without_plan(parsed)
            return 0
        parsed.overrides = parse_settings(parsed.settings)
        parsed.call(planning.make(_root(), parsed.overrides), parsed)
    except HypersphereError as error:
        if isinstance(error, DamagedError):
            error.disprove()
        print(f"hypersphere: {error}", file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"hypersphere: {files.reason(error)}", file=sys.stderr)
        return 2
    return 0


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """The values of ``--set KEY=VALUE``, by key.

    Raises:
        HypersphereError: a setting has no value, or its value is not YAML.
    """
    overrides = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise HypersphereError(f"--set {setting}: must be KEY=VALUE, for example --set epochs=3")
        try:
            overrides[key] = strict_yaml.parse(value)
        except strict_yaml.InvalidYamlError as error:
            raise HypersphereError(f"--set {setting}: not valid YAML ({error})") from None
    return overrides


def _root() -> Path:
    """The project: the nearest folder, from the current one upwards, that holds config/config.yaml."""
    current = Path.cwd()
    for folder in (current, *current.parents):
        if (folder / "config" / "config.yaml").is_file():
            return folder
    raise HypersphereError(f"{current}: neither this folder nor one above it holds config/config.yaml")
