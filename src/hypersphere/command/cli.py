"""The command ``hypersphere``: what Snakemake's rules call, and a person may.

Each command imports what it needs when it runs, so that ``hypersphere plan`` takes no seconds to import torch.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from hypersphere import files
from hypersphere.declared import plan as planning
from hypersphere.declared.plan import Plan
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.integrity import stop

WHAT = "Rebuild and judge what four papers and a lecture report on the geometry of contrastive learning."
EPILOG = "Settings come from config/config.yaml; --set KEY=VALUE replaces one, or a number of the scale, for this call."


def _prepare(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.datasets import store

    root = plan.config.settings.data_root
    for name in arguments.dataset:
        if name not in plan.config.datasets:
            known = ", ".join(sorted(plan.config.datasets))
            raise HypersphereError(f"prepare: '{name}' is not one of {known}")
        folder = store.prepare(plan.config.datasets[name], plan.config.root / "data", Path(root) if root else None)
        print(folder)


def _pretrain(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.training import pretrain

    if arguments.batch:
        pretrain.pretrain_batch(plan, plan.batch(arguments.batch), arguments.save_every)
    if arguments.run:
        pretrain.pretrain(plan, [plan.run(name) for name in arguments.run], arguments.save_every)


def _snapshots(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.training import snapshots

    if arguments.remove and not arguments.run:
        raise HypersphereError("snapshots: --remove needs the names of runs before it; without it they are listed")
    if arguments.remove:
        for gone in snapshots.remove(plan, arguments.run, arguments.remove):
            print(f"removed {gone.run} epoch {gone.epoch}")
        return
    for line in snapshots.table(plan, arguments.run or list(plan.runs)):
        print(line)


def _evaluate(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.probes import evaluate

    if arguments.batch:
        evaluate.evaluate_batch(plan, plan.batch(arguments.batch))
    if arguments.pixels:
        if arguments.pixels not in plan.asked_of_pixels:
            raise HypersphereError(f"evaluate: '{arguments.pixels}' is not one of {', '.join(plan.asked_of_pixels)}")
        evaluate.evaluate_pixels(plan, arguments.pixels)


def _theory(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.theory import build

    build.build(plan)


def _simulate(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.simulations import build

    for paper in arguments.paper or [name for name in plan.config.papers if plan.config.studied(name)]:
        build.build(plan, paper)


def _studies(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.present import shown
    from hypersphere.present.results import Results
    from hypersphere.statistics import claims

    if arguments.paper not in plan.config.papers:
        raise HypersphereError(f"'{arguments.paper}' is not one of {', '.join(plan.config.papers)}")
    claims.build_studies(plan, arguments.paper)
    results = Results(plan)
    for artifact in plan.config.studied(arguments.paper):
        shown.build(results, arguments.paper, artifact)


def _artifact(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.present import shown
    from hypersphere.present.results import Results
    from hypersphere.statistics import measure

    measure.build(plan, arguments.paper, arguments.artifact)
    shown.build(Results(plan), arguments.paper, arguments.artifact)


def _claims(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.statistics import claims

    claims.build(plan)


def _scorecard(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.present import scorecard

    scorecard.build(plan)


def _paper(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.present import paper

    paper.build(plan)


def _plan(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import preview

    preview.show(plan, arguments.overrides)


def _verify(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import verify

    verify.verify(plan, arguments.rerun, arguments.overrides)


def _pack(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.integrity import evidence

    for name in arguments.run:
        print(evidence.pack(plan, plan.run(name)))


Command = Callable[[Plan, argparse.Namespace], None]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hypersphere", description=WHAT, epilog=EPILOG)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run: Command, what: str, *options: tuple[tuple[str, ...], dict[str, Any]]) -> None:
        command = commands.add_parser(name, help=what, description=what, epilog=EPILOG)
        command.set_defaults(call=run)
        command.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
        for flags, keywords in options:
            command.add_argument(*flags, **keywords)

    batch = (("--batch",), {"metavar": "ID", "help": "a batch of runs, as the plan names it"})
    runs = (("run",), {"nargs": "*", "metavar": "RUN", "help": "names of runs, as the plan lists them"})
    both: list[tuple[tuple[str, ...], dict[str, Any]]] = [(("paper",), {}), (("artifact",), {})]
    seconds = {"type": float, "default": 60.0, "metavar": "SECONDS", "help": "between resume states (default: 60)"}
    add("plan", _plan, "what would run, what is done, and why each thing would run again")
    add("prepare", _prepare, "make datasets ready under data/processed", (("dataset",), {"nargs": "+"}))
    add("pretrain", _pretrain, "train runs that are not finished", batch, runs, (("--save-every",), seconds))
    gone = (("--remove",), {"type": int, "nargs": "+", "default": [], "metavar": "EPOCH", "help": "of the runs named"})
    add("snapshots", _snapshots, "list encoders kept at epochs, with heads, or remove those unasked for", runs, gone)
    pixels = (("--pixels",), {"metavar": "DATASET", "help": "probe raw pixels instead of an encoder"})
    add("evaluate", _evaluate, "probe a batch of runs, or raw pixels", batch, pixels)
    add("theory", _theory, "check every theorem and identity against draws and counterexamples")
    add("simulate", _simulate, "the exact studies of papers, of all if none is named", (("paper",), {"nargs": "*"}))
    add("studies", _studies, "judge and draw what a paper's exact studies handed over", (("paper",), {}))
    add("artifact", _artifact, "the tidy tables of one table or figure, and the table or figure itself", *both)
    add("claims", _claims, "compare what has been measured with every published claim")
    add("scorecard", _scorecard, "one page with every claim and its verdict")
    add("paper", _paper, "the reproduction paper as a PDF")
    anew = (("--rerun",), {"action": "append", "default": [], "metavar": "RUN", "help": "train and probe it anew"})
    add("verify", _verify, "hold results against their manifests, and rebuild what follows from them", anew)
    add("pack", _pack, "one evidence record per finished run", (("run",), {"nargs": "+", "metavar": "RUN"}))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0, or after a sentence on standard error 2 (128 + n if signal n stopped it)."""
    parsed = _parser().parse_args(arguments)
    stop.exit_in_order()
    try:
        parsed.overrides = _overrides(parsed.settings)
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


def _overrides(settings: Sequence[str]) -> dict[str, Any]:
    overrides = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise HypersphereError(f"--set {setting}: must be KEY=VALUE")
        try:
            overrides[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise HypersphereError(f"--set {setting}: {value} is not valid YAML") from None
    return overrides


def _root() -> Path:
    """The project: the nearest folder, from here upwards, that has config/config.yaml."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "config" / "config.yaml").is_file():
            return folder
    raise HypersphereError(f"{here}: neither this folder nor one above it holds config/config.yaml")
