"""The command ``hypersphere``, which Snakemake's rules call and a person may call.

A command is a function with its options. It imports what it needs when it runs, so that ``hypersphere plan`` spends no
seconds importing torch.
"""

import argparse
import importlib
import math
import sys
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from hypersphere import files, foreign
from hypersphere.audit import command as audit
from hypersphere.config import coordinates, plan_file, registry, settings
from hypersphere.config import plan as planning
from hypersphere.config.artifacts import Studied
from hypersphere.config.claims import why_not_made
from hypersphere.config.plan import MANIFEST, BatchOfRuns, Plan
from hypersphere.config.project import HOW_MANY, PAPERS, Config, Scale, Settings, load, scale_names
from hypersphere.config.run import Run, read
from hypersphere.config.validation import DocumentName, Strict, check_name, not_one_of, validate
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.provenance import stop
from hypersphere.wording import counted

DESCRIPTION = "Rebuild and judge the claims of four papers and a lecture."
EACH = "one of the commands below; each has a --help of its own"
GROUPS = {
    "look": ("plan", "cost", "report", "scorecard"),
    "run": (
        "prepare",
        "pretrain",
        "evaluate",
        "theory",
        "simulate",
        "artifact",
        "studies",
        "campaign",
        "rehearse",
    ),
    "judge": ("claims", "verify", "retrain", "audit", "grim"),
    "extend": ("new-paper", "select", "runs"),
    "publish": ("pack", "evidence", "archive", "release", "restore"),
}
"""All commands, by what a person wants."""

CHECKOUT = Path(__file__).parents[3]
SET = (
    "change a setting of config/config.yaml, or a number of the scale, for this call, "
    "for example --set scale=laptop --set seeds=[0,1]"
)
AS_PLANNED = "take the plan that Snakemake wrote for its jobs, if it is of these settings and files"
EXAMPLE = CHECKOUT / "examples" / "mine"
"""A paper that ``new-paper`` writes under another name."""

WRITTEN = (".yaml", ".csv", ".py")
"""The endings of the files that it writes."""

Option = tuple[tuple[str, ...], dict[str, Any]]


class Command(NamedTuple):
    """One command on a project: what it does, and its options."""

    run: Callable[..., None]
    help: str
    options: tuple[Option, ...] = ()
    of_config: bool = False
    """Whether it takes the configuration alone, and no plan is made for it."""


class Named(Strict):
    """A paper of one's own."""

    name: DocumentName


COMMANDS: dict[str, Command] = {}


def some_path(text: str) -> Path:
    """The path of an argument; an empty one would stand for the current folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("names no file and no folder")
    return Path(text).expanduser()


def option(*flags: str, **keywords: Any) -> Option:
    return flags, keywords


def command(
    help: str, *options: Option, of_config: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function of (plan, arguments), or (config, arguments), under the function's name."""

    def add(run: Callable[..., None]) -> Callable[..., None]:
        COMMANDS[run.__name__.replace("_", "-")] = Command(run, help, options, of_config)
        return run

    return add


RUNS = option(
    "run",
    nargs="*",
    metavar="RUN",
    help="names of runs, whose digest may be left out, or of batches",
)
VERBOSE = option(
    "--verbose", action="store_true", help="list every artifact, run and job, with reasons"
)


@command(
    "what is done, what would run, and why",
    RUNS,
    VERBOSE,
    option("--folder", action="store_true", help="print the results folder alone"),
    option(
        "--yaml", action="store_true", help="print one run whole, as `pretrain --from` takes it"
    ),
)
def plan(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import preview

    if arguments.folder:
        print(plan.config.results.relative_to(plan.config.root))
    elif arguments.run or arguments.yaml:
        batches, runs = find(plan, arguments.run)
        runs = [*(run for batch in batches for run in batch.runs), *runs]
        if not arguments.yaml:
            for run in runs:
                explain(plan, run)
        elif len(runs) == 1:
            print(runs[0].as_yaml(), end="")
        else:
            raise HypersphereError(f"plan: --yaml: prints one run at a time (given: {len(runs)})")
    else:
        for line in preview.lines(plan, arguments.verbose):
            print(line)


def explain(plan: Plan, run: Run) -> None:
    """Print a run's state, who set each field of it and of the probes that measure it, and where its manifest is."""
    from hypersphere.provenance import state

    print(f"{state.look(plan.run_folder(run.name), 0).state:<10} {run.name}")
    for rows in (plan.explained(run.name), plan.probes_explained(run.name)):
        fields, values = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
        for name, value, layer in rows:
            print(f"  {name:<{fields}}  {value:<{min(values, 24)}}  {layer}")
    print(
        f"{'manifest':<10} {(plan.run_folder(run.name) / MANIFEST).relative_to(plan.config.root)}"
    )


MEMORY = option(
    "--memory",
    metavar="GB",
    help="name the runs that need more than a card of so many times 10^9 bytes",
)


@command("how many device-hours the runs would take", VERBOSE, MEMORY)
def cost(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import cost

    gigabytes = None if arguments.memory is None else amount("cost: --memory", arguments.memory)
    for line in cost.lines(cost.Cost(plan), arguments.verbose, gigabytes):
        print(line, flush=True)


@command("take one step of every distinct run, to see that it works", MEMORY)
def rehearse(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import rehearse

    gigabytes = None if arguments.memory is None else amount("rehearse: --memory", arguments.memory)
    for line in rehearse.lines(plan, gigabytes):
        print(line, flush=True)


@command(
    "write a folder for a paper of your own, which runs as it is",
    option("name", help="short name, used for its folder"),
    option(
        "--in",
        dest="parent",
        metavar="DIR",
        type=some_path,
        help="where its folder goes (default: papers)",
    ),
    of_config=True,
)
def new_paper(config: Config, arguments: argparse.Namespace) -> None:
    name, inside = arguments.name, arguments.parent is None
    validate(Named, {"name": name}, "new-paper")
    for what, words in reserved(config).items():
        if same := next((word for word in words if word.casefold() == name.casefold()), None):
            where = f", declared in {config.paper_file(same)}" if same in config.papers else ""
            raise HypersphereError(
                f"new-paper: name: {same} stands for {what} already{where}; choose another name"
            )
    parent = config.root / PAPERS if inside else arguments.parent
    folder = parent / name
    for other in parent.glob("*"):
        if other.name.casefold() == name.casefold():
            raise HypersphereError(f"new-paper: {other}: exists")
    with files.replacing(folder, folder=True) as made:
        for file in sorted(EXAMPLE.rglob("*.*")):
            if file.suffix in WRITTEN:
                text = file.read_text(encoding="utf-8")
                files.write_text(made / file.relative_to(EXAMPLE), text.replace(EXAMPLE.name, name))
    setting = "" if inside else f" 'SET=papers=[{folder.resolve()}]'"
    print(f"wrote {folder}; next: make reproduce ONLY={name}{setting}")


def reserved(config: Config) -> dict[str, Collection[str]]:
    """Names that a new paper cannot have, by what they stand for; case makes no difference.

    A person who reads such a word in a command, a setting or a table would take it for the other thing.
    """
    return {
        "a paper": config.papers,
        "several papers, or for none,": HOW_MANY,
        "a command": parser()[1],
        "a scale": scale_names(config.root),
        "a setting": {*Settings.model_fields, *Scale.model_fields},
        "a kind of table or figure": registry.components("kinds"),
        "a coordinate": (*coordinates.IDENTITY, *coordinates.READINGS),
        "a dataset": config.datasets,
    }


@command(
    "prepare datasets, in data/processed",
    option(
        "dataset",
        nargs="+",
        metavar="DATASET",
        help="names of datasets, or of jobs that prepare several",
    ),
)
def prepare(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import preparation

    jobs = plan.prepared_together
    datasets = {
        name: one for one in plan.config.datasets.values() for name in (one.name, one.folder)
    }
    for name in arguments.dataset:
        if name in jobs:
            preparation.together(plan, name)
        elif name in datasets:
            preparation.one(plan, datasets[name])
            planning.check_sizes(plan, [datasets[name].name])
        else:
            raise HypersphereError(f"prepare: {not_one_of(name, sorted(plan.config.datasets))}")


@command(
    "train the runs that are not finished",
    RUNS,
    option(
        "--from",
        dest="file",
        metavar="FILE",
        type=some_path,
        help="train the run of this file, as `plan --yaml` prints it",
    ),
    option(
        "--save-every",
        default="60",
        metavar="SECONDS",
        help="seconds between two saved states (default: 60)",
    ),
)
def pretrain(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.datasets import store
    from hypersphere.training import pretrain

    save_every = amount("pretrain: --save-every", arguments.save_every, or_zero=True)
    if arguments.file is None:
        batches, runs = find(plan, arguments.run)
    elif arguments.run:
        raise HypersphereError(
            "pretrain: --from: takes the run of a file; leave out the names of others"
        )
    else:
        batches, runs = [], [read(arguments.file)]
        store.prepare(runs[0].dataset, plan.config.data, plan.config.data_root)
    for batch in batches:
        pretrain.pretrain_batch(plan, batch, save_every)
    if runs:
        pretrain.pretrain(plan, runs, save_every)


@command("probe runs, and raw pixels beside them", RUNS)
def evaluate(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.probes import evaluate

    batches, runs = find(plan, arguments.run)
    for batch in batches:
        evaluate.evaluate_batch(plan, batch)
    if runs:
        evaluate.evaluate_runs(plan, runs)


@command("test every theorem and identity, and judge their claims", of_config=True)
def theory(config: Config, arguments: argparse.Namespace) -> None:
    from hypersphere.exact import theorems
    from hypersphere.statistics import exact_claims

    theorems.build(config)
    exact_claims.build_theorems(config)


@command(
    "compute the exact studies of papers, and judge their claims",
    option("paper", nargs="*", metavar="PAPER", help="of these papers (default: of all)"),
    of_config=True,
)
def simulate(config: Config, arguments: argparse.Namespace) -> None:
    from hypersphere.exact import studies
    from hypersphere.statistics import exact_claims

    for paper in arguments.paper:
        check_studied("simulate", config, paper)
    for paper in arguments.paper or [
        name for name in config.papers if config.exact_artifacts(name)
    ]:
        studies.build(config, paper)
        exact_claims.build_studies(config, paper)
        done = counted(len(config.studies(paper)), "exact study", "exact studies")
        print(f"{paper}: the tables of {done} are in {config.exact_studies(paper)}", flush=True)


@command("draw the results of a paper's exact studies", option("paper", metavar="PAPER"))
def studies(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.report import writer
    from hypersphere.report.results import Results

    check_studied("studies", plan.config, arguments.paper)
    results = Results(plan)
    artifacts = plan.config.exact_artifacts(arguments.paper)
    for artifact in artifacts:
        writer.build(results, arguments.paper, artifact)
    print(f"{arguments.paper}: {counted(len(artifacts), 'artifact')} of exact studies drawn")


@command(
    "write tables or figures, and the tidy tables that they show",
    option("artifact", nargs="+", metavar="PAPER/ARTIFACT"),
)
def artifact(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.report import writer
    from hypersphere.report.results import Results
    from hypersphere.statistics import judge, measure

    chosen = [
        (paper, name) for paper, _, name in (word.partition("/") for word in arguments.artifact)
    ]
    for paper, name in chosen:
        check_name(paper, plan.config.papers, "artifact")
        declared = plan.config.papers[paper].artifacts
        check_name(f"{paper}/{name}", [f"{paper}/{one}" for one in declared], "artifact")
        if isinstance(declared[name], Studied):
            raise HypersphereError(
                f"artifact: {paper}/{name} is an exact study; `hypersphere studies {paper}` makes it"
            )
        if reason := why_not_made(plan, paper, name):
            raise HypersphereError(
                f"artifact: {paper}/{name} is not made at scale {plan.config.scale_name}: {reason}"
            )
    for paper, name in chosen:
        made = measure.build(plan, paper, name)
        judge.build_artifact(plan, paper, name, made)
        writer.build(Results(plan), paper, name)


@command("compare our numbers with every published claim")
def claims(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.provenance import tables
    from hypersphere.report import counts
    from hypersphere.report.results import Results
    from hypersphere.statistics import judge

    judge.build(plan)
    for count in counts.of_claims(tables.rows(Results(plan).claims)):
        print(count)


@command(
    "compare results with their manifests, and rebuild what follows",
    option("--rerun", action="append", default=[], metavar="RUN", help="train this run again"),
    option(
        "--mend",
        action="store_true",
        help="forget what is damaged, so that `make reproduce` makes it again",
    ),
)
def verify(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import verify

    verify.verify(plan, arguments.rerun, mend=arguments.mend)


@command(
    "train a recorded run again, and compare its bytes and its numbers",
    option(
        "record",
        metavar="RECORD",
        help="the name of a run of evidence/, or its beginning if no other begins so",
    ),
    option(
        "--in",
        dest="folder",
        metavar="DIR",
        type=some_path,
        help="keep what is made there, in a folder of the run's name, from which a stopped training goes on",
    ),
    of_config=True,
)
def retrain(config: Config, arguments: argparse.Namespace) -> None:
    from hypersphere.command import retrain

    retrain.retrain(config, arguments.record, arguments.folder)


@command("fetch a release's results with DVC, and check them")
def restore(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import restore

    restore.restore(plan)


@command("check the results of a scale, and push them with DVC")
def release(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import release

    release.release(plan)


@command("write a record of each finished run, in evidence/", RUNS)
def pack(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.provenance import evidence, markers

    batches, runs = find(plan, arguments.run)
    for run in (*(run for batch in batches for run in batch.runs), *runs):
        print(f"{run.name}: its record is in {evidence.pack(plan, run)}")
    for batch in batches:
        of_runs = [plan.run_folder(run.name) / MANIFEST for run in batch.runs]
        markers.write(
            markers.recorded(plan, batch.id), [*of_runs, *markers.evaluations(plan, batch.runs)]
        )


@command(
    "add the records of another folder to ours",
    option("action", choices=["import"]),
    option("folder", metavar="FOLDER", type=some_path, help="the tables of records of this scale"),
)
def evidence(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.provenance import evidence

    taken = evidence.take_in(plan, arguments.folder)
    for record in taken:
        print(f"{record.name} {record.key}")
    print(f"{counted(len(taken), 'record')} added to {plan.config.evidence}")


@command(
    "choose the tuned values of a study from its tuning runs",
    option("study", metavar="PAPER/STUDY", help="a study, after its paper"),
    of_config=True,
)
def select(config: Config, arguments: argparse.Namespace) -> None:
    from hypersphere.config.study import write_selection
    from hypersphere.statistics import selection

    studies = {
        f"{paper}/{name}": one
        for paper, of in config.papers.items()
        for name, one in of.studies.items()
    }
    check_name(arguments.study, studies, "select")
    paper, _, name = arguments.study.partition("/")
    settings = {"scale": studies[arguments.study].scale, "evidence_only": True}
    curve = selection.select(planning.make(config.root, settings), paper, name)
    path = config.selection_file(paper, name)
    write_selection(path, curve)
    for one in curve:
        print(f"{'*' if one.chosen else ' '} {one.arm}  {one.value}  {one.mean:.2f} (n = {one.n})")
    print(path)


@command(
    "pack sources, records and results into one zip",
    option("--weights", action="store_true", help="add the runs, with their weights"),
)
def archive(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.provenance import archive

    print(archive.pack(plan, arguments.weights))


@command(
    "run pending trainings for M minutes, most informative first",
    option("--minutes", required=True, metavar="M", help="minutes after which it stops"),
    option("--jobs", type=int, metavar="N", help="runs at a time (default: all cores, or GPUs)"),
    option("--part", default="1/1", metavar="K/N", help="the K-th of N parts that share no run"),
)
def campaign(plan: Plan, arguments: argparse.Namespace) -> None:
    from hypersphere.command import campaign

    minutes = amount("campaign: --minutes", arguments.minutes)
    if arguments.jobs is not None and arguments.jobs < 1:
        raise HypersphereError(f"campaign: --jobs: must be at least 1 (given: {arguments.jobs})")
    campaign.run(plan, minutes, arguments.jobs, campaign.part(arguments.part))


@command(
    "write what is known of every claim, in results/report",
    option("--records", metavar="SCALE", help="only judge claims by the records of this scale"),
    of_config=True,
)
def report(config: Config, arguments: argparse.Namespace) -> None:
    from hypersphere.statistics import judged_records

    if arguments.records is None:
        from hypersphere.report import report

        report.build(config)
    else:
        check_name(
            arguments.records, judged_records.recorded_scales(config.root), "report: --records"
        )
        judged_records.of_scale(config, arguments.records)


def _build(module: str) -> Callable[[Plan | Config, argparse.Namespace], None]:
    """The command that calls the ``build`` of a module with the plan, or the configuration."""
    return lambda about, arguments: importlib.import_module(f"hypersphere.{module}").build(about)


COMMANDS |= {
    "scorecard": Command(
        _build("report.scorecard"), "write the page of a scale: each claim with its runs"
    ),
    "runs": Command(_build("command.runs"), "list the runs of each paper, in the paper's folder"),
}


def find(plan: Plan, names: Sequence[str]) -> tuple[list[BatchOfRuns], list[Run]]:
    """The batches and the runs of those names, each once, of which there must be one."""
    if not names:
        raise HypersphereError("name runs or batches; `hypersphere plan --verbose` lists them")
    batches = {batch.id: batch for batch in plan.batches if batch.id in names}
    runs = {run.name: run for run in (plan.run(name) for name in names if name not in batches)}
    return list(batches.values()), list(runs.values())


def check_studied(place: str, config: Config, paper: str) -> None:
    """Refuse a paper that is not declared, or has no exact study at this scale."""
    check_name(paper, config.papers, place)
    if not config.exact_artifacts(paper):
        raise HypersphereError(f"{place}: {paper} has no exact study at scale {config.scale_name}")


def amount(place: str, text: str, or_zero: bool = False) -> float:
    """An option's finite number above 0, or from 0. No time is later than nan, so that nan would never end."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or (value == 0 and not or_zero):
        least = "of at least 0" if or_zero else "above 0"
        raise HypersphereError(f"{place}: must be a number {least} (given: '{text}')")
    return value


def parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """The parser, and the parsers of the commands by name."""
    try:
        version = metadata.version("hypersphere")
    except metadata.PackageNotFoundError:  # it is run without being installed
        file = CHECKOUT / "pyproject.toml"
        version = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["version"]
    as_written = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(
        prog="hypersphere", description=DESCRIPTION, formatter_class=as_written
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {version}")
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND", required=True, help=EACH)
    said = audit.COMMANDS | {name: one.help for name, one in COMMANDS.items()}
    for wanted, names in GROUPS.items():
        top.add_argument_group(wanted, "\n".join(f"{name:<10} {said[name]}" for name in names))
    scales = scale_names(CHECKOUT)
    set_help = f"{SET}; scales: {', '.join(scales)}" if scales else SET
    for name, one in COMMANDS.items():
        subparser = subparsers.add_parser(name, description=one.help)
        subparser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            dest="settings",
            help=set_help,
        )
        subparser.add_argument("--as-planned", action="store_true", help=AS_PLANNED)
        for flags, keywords in one.options:
            subparser.add_argument(*flags, **keywords)
    audit.add(subparsers)
    return top, subparsers.choices


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, or print the help if none is given.

    The exit status is 0; 2 after a sentence on standard error; 128 + n if signal n stopped the command. ``__main__``
    makes 70 of an exception.
    """
    top, commands = parser()
    words = sys.argv[1:] if arguments is None else arguments
    if not words:
        top.print_help()
        return 0
    if not words[0].startswith("-") and words[0] not in commands:
        print(f"hypersphere: command: {not_one_of(words[0], commands)}", file=sys.stderr)
        return 2
    if words[0] in audit.COMMANDS:
        return audit.main(words)
    parsed = top.parse_args(words)
    stop.exit_in_order()
    try:
        try:
            current = Path.cwd()
            above = (
                folder
                for folder in (current, *current.parents)
                if (folder / "config" / "config.yaml").is_file()
            )
            if (root := next(above, None)) is None:
                raise HypersphereError(
                    f"{current}: neither this folder nor one above it holds config/config.yaml"
                )
            check_own_code(root)
            config, asked = load(root, settings.parse(parsed.settings)), COMMANDS[parsed.command]
            plan_of = plan_file.load if parsed.as_planned else planning.of
            asked.run(config if asked.of_config else plan_of(config), parsed)
        except DamagedError as damage:
            damage.disprove()
            raise
    except HypersphereError as error:
        print(f"hypersphere: {error}", file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"hypersphere: {files.reason(error)}", file=sys.stderr)
        return 2
    except SystemExit:  # at a SIGTERM
        print("hypersphere: stopped by SIGTERM", file=sys.stderr)
        raise
    return 0


def check_own_code(root: Path) -> None:
    """Refuse a checkout whose code is not what runs: after a copy, its programs are still those of the original."""
    own = root / "src" / "hypersphere"
    if own.is_dir() and not own.samefile(foreign.PACKAGE):
        raise HypersphereError(
            f"{root}: its code is not what runs, {foreign.PACKAGE} is; type `make setup` in it"
        )
