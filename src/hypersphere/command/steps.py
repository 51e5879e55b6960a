"""What the commands do: each imports what it needs when it runs."""

import argparse
from pathlib import Path

from hypersphere.command.names import check_paper, find_artifacts, find_batch, find_dataset, find_runs
from hypersphere.config import checks
from hypersphere.config.cells import PIXELS
from hypersphere.config.plan import Plan
from hypersphere.config.validation import not_one_of
from hypersphere.errors import HypersphereError
from hypersphere.wording import counted


def prepare(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.datasets import store

    root = plan.config.settings.data_root
    for name in arguments.dataset:
        dataset = find_dataset(plan, name)
        folder = store.prepare(dataset, plan.config.root / "data", Path(root) if root else None)
        checks.check_sizes(plan, [dataset.name])
        print(folder)


def pretrain(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.training import pretrain

    if not arguments.batch and not arguments.run:
        raise HypersphereError("pretrain: name runs, or a batch with --batch; `hypersphere plan --verbose` lists them")
    runs = find_runs(plan, arguments.run)
    if arguments.batch:
        pretrain.pretrain_batch(plan, find_batch(plan, arguments.batch), arguments.save_every)
    if runs:
        pretrain.pretrain(plan, runs, arguments.save_every)


def snapshots(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.training import snapshots

    names = [run.name for run in find_runs(plan, arguments.run)]
    for line in snapshots.table(plan, names or list(plan.runs)):
        print(line)


def evaluate(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.probes import evaluate

    pixels, name = arguments.pixels, arguments.batch
    if name and name.startswith(f"{PIXELS}-"):  # as the log of a job that probes raw pixels calls it
        pixels, name = name, None
    if not pixels and not name and not arguments.run:
        raise HypersphereError("evaluate: name runs, a batch with --batch, or a dataset with --pixels")
    dataset = pixels and pixels.removeprefix(f"{PIXELS}-")
    if dataset and dataset not in plan.asked_of_pixels:
        raise HypersphereError(f"evaluate: --pixels: {not_one_of(dataset, plan.asked_of_pixels)}")
    if name:
        evaluate.evaluate_batch(plan, find_batch(plan, name))
    if arguments.run:
        evaluate.evaluate_runs(plan, find_runs(plan, arguments.run))
    if dataset:
        evaluate.evaluate_pixels(plan, dataset)


def theory(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.theory import build

    build.build(plan)


def simulate(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.simulations import build

    for paper in arguments.paper:
        check_paper(plan, paper, "simulate")
    for paper in arguments.paper or [name for name in plan.config.papers if plan.config.studied(name)]:
        build.build(plan, paper)


def studies(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.report import writer
    from hypersphere.report.results import Results
    from hypersphere.statistics import claims

    check_paper(plan, arguments.paper, "studies")
    claims.build_studies(plan, arguments.paper)
    results = Results(plan)
    for artifact in plan.config.studied(arguments.paper):
        writer.build(results, arguments.paper, artifact)


def artifact(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.report import writer
    from hypersphere.report.results import Results
    from hypersphere.statistics import claims, measure

    for paper, artifact in find_artifacts(plan, arguments.artifact):
        measure.build(plan, paper, artifact)
        claims.build_artifact(plan, paper, artifact)
        writer.build(Results(plan), paper, artifact)


def claims(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.report import claims as shown
    from hypersphere.report.results import Results
    from hypersphere.statistics import claims

    claims.build(plan)
    for line in shown.in_words(shown.entries(Results(plan))):
        print(line)


def scorecard(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.report import scorecard

    scorecard.build(plan)


def paper(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.report import paper

    paper.build(plan)


def plan(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import bound, preview

    if arguments.claims:
        for line in bound.lines(plan, arguments.verbose):
            print(line)
        return
    preview.show(plan, arguments.overrides, arguments.verbose)


def cost(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import rates

    chosen = rates.of(plan, arguments)  # before torch is imported
    if arguments.csv is not None and (not arguments.csv or Path(arguments.csv).is_dir()):
        raise HypersphereError(f"cost: --csv: must be a file, not a folder (given: '{arguments.csv}')")
    from hypersphere.command import cost

    costs = cost.of(plan, chosen)
    for line in cost.lines(costs, arguments.verbose):
        print(line)
    if arguments.csv is not None:
        cost.write(costs, Path(arguments.csv))


def verify(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import verify

    verify.verify(plan, arguments.rerun, arguments.overrides, mend=arguments.mend)


def pack(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.provenance import evidence

    for run in find_runs(plan, arguments.run):
        print(f"{run.name}: its record is in {evidence.pack(plan, run)}")


def evidence(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.provenance import evidence

    taken = evidence.take_in(plan, Path(arguments.folder))
    for record in taken:
        print(f"{record.name} {record.key}")
    print(f"{counted(len(taken), 'record')} added to {plan.config.evidence}")


def select(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.config import plan as planning
    from hypersphere.config.study import selection_file, write_selection
    from hypersphere.statistics import selection

    studies = {f"{paper}/{name}": one for paper, of in plan.config.papers.items() for name, one in of.studies.items()}
    if arguments.study not in studies:
        raise HypersphereError(f"select: {not_one_of(arguments.study, studies)}")
    paper, _, name = arguments.study.partition("/")
    settings = {"scale": studies[arguments.study].scale, "evidence_only": True}
    curve = selection.select(planning.make(plan.config.root, settings), paper, name)
    path = selection_file(plan.config.root, paper, name)
    write_selection(path, curve)
    for one in curve:
        print(f"{'*' if one.chosen else ' '} {one.arm}  {one.value}  {one.mean:.2f} (n = {one.n})")
    print(path)


def archive(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.provenance import archive

    print(archive.pack(plan, arguments.to and Path(arguments.to), arguments.weights))


def check_archive(arguments: argparse.Namespace) -> None:
    from hypersphere.provenance import archive

    print(archive.check(Path(arguments.file)))


def grim(arguments: argparse.Namespace) -> None:
    from hypersphere.command import grim

    for line in grim.lines(arguments.mean, arguments.std, arguments.n_test):
        print(line)


def trace(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import trace

    for line in trace.lines(plan, arguments.name):
        print(line)


def campaign(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import campaign

    if arguments.minutes <= 0 or (arguments.jobs is not None and arguments.jobs < 1):
        raise HypersphereError("campaign: --minutes and --jobs must be positive")
    part = campaign.part(arguments.part)
    campaign.run(plan, arguments.overrides, arguments.minutes, arguments.jobs, part)
