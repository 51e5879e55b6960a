"""The command ``hypersphere``, which Snakemake's rules call and a person may call.

commands.yaml lists the commands with their options. A command is a function of a plan, or of the configuration, and of
its options. It imports what it needs when it runs, so that ``hypersphere plan`` spends no seconds importing torch.
"""

import argparse
import importlib
import math
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any

from hypersphere import DISTRIBUTION, files, foreign
from hypersphere.audit import command as audit
from hypersphere.config import coordinates, plan_file, registry, settings
from hypersphere.config import plan as planning
from hypersphere.config.artifacts import Studied
from hypersphere.config.claims import why_not_made
from hypersphere.config.plan import BatchOfRuns, Plan
from hypersphere.config.project import HOW_MANY, PAPERS, Config, Scale, Settings, load, scale_names
from hypersphere.config.root import project_root
from hypersphere.config.run import Run, read
from hypersphere.config.validation import DocumentName, Strict, check_name, not_one_of, validate
from hypersphere.errors import DamagedError, HypersphereError
from hypersphere.file_names import MANIFEST
from hypersphere.judging import command as judging
from hypersphere.provenance import stop
from hypersphere.wording import count_of

DESCRIPTION = "Rebuild and judge the claims of four papers and a lecture."
EACH = "one of the commands below; each has a --help of its own"
DECLARED = files.read_yaml(Path(__file__).with_name("commands.yaml"))
GROUPS: dict[str, list[str]] = {wanted: list(commands) for wanted, commands in DECLARED.items()}
"""The names of all commands, by what a person wants."""
COMMANDS: dict[str, dict[str, Any]] = {}
"""What commands.yaml says of each command on a project."""
for declared in DECLARED.values():
    COMMANDS |= {name: about for name, about in declared.items() if about}

CHECKOUT = Path(__file__).parents[3]
SET = (
    "change a setting of config/config.yaml, or a number of the scale, for this call, "
    "for example --set scale=laptop --set seeds=[0,1]"
)
NOTHING = "nothing"
"""What a command is of that needs no project."""
AS_PLANNED = "take the plan that Snakemake wrote for its jobs, if it is of these settings and files"
EXAMPLE = CHECKOUT / "examples" / "mine"
"""A paper that ``new-paper`` writes under another name."""

SCHEMAS = "../../config/schemas"
"""Where the files of that paper say that the JSON schemas are, seen from its folder."""
WRITTEN = (".yaml", ".csv", ".py")
"""The endings of the files that it writes."""


class Named(Strict):
    """A paper of one's own."""

    name: DocumentName


def plan(
    plan: Plan,
    names: list[str],
    verbose: bool,
    folder: bool,
    yaml: bool,
    hours: float | None,
    rate: float | None,
) -> None:
    from hypersphere.command import preview

    if rate is not None and hours is None:
        raise HypersphereError("plan: --rate: needs --hours")
    if hours is not None:
        from hypersphere.command import hours as budget

        show(budget.lines(plan, hours, rate))
    elif folder:
        print(plan.config.results.relative_to(plan.config.root))
    elif yaml:
        runs = named_runs(plan, names)
        if len(runs) != 1:
            raise HypersphereError(f"plan: --yaml: prints one run at a time (given: {len(runs)})")
        print(runs[0].as_yaml(), end="")
    elif names:
        show(explanation_of(plan, run) for run in named_runs(plan, names))
    else:
        show(preview.lines(plan, verbose))


def explanation_of(plan: Plan, run: Run) -> str:
    """A run's state, who set each field of it and of the probes that measure it, and where its manifest is."""
    from hypersphere.command.templates import fill
    from hypersphere.provenance import state

    folder = plan.run_folder(run.name)
    return fill(
        "run.txt",
        name=run.name,
        state=state.look(folder, 0).state,
        tables=[plan.explain(run.name), plan.explain_probes(run.name)],
        manifest=(folder / MANIFEST).relative_to(plan.config.root),
    )


def show(lines: Iterable[object]) -> None:
    """Print lines, each as soon as it is there."""
    for line in lines:
        print(line)


def cost(plan: Plan, verbose: bool, memory: float | None) -> None:
    from hypersphere.command import cost

    show(cost.lines(cost.Cost(plan), verbose, memory))


def rehearse(plan: Plan, memory: float | None) -> None:
    from hypersphere.command import rehearse

    show(rehearse.lines(plan, memory))


def first_look(plan: Plan, minutes: float) -> None:
    from hypersphere.command import first_look

    show(first_look.lines(plan, minutes))


def new_paper(config: Config, name: str, parent: Path | None) -> None:
    from hypersphere.config import json_schema

    validate(Named, {"name": name}, "new-paper")
    for what, words in reserved_names(config).items():
        if same := namesake(name, words):
            where = f", declared in {config.paper_file(same)}" if same in config.papers else ""
            raise HypersphereError(
                f"new-paper: name: {same} stands for {what} already{where}; choose another name"
            )
    parent = parent or config.root / PAPERS
    if same := namesake(name, [path.name for path in parent.glob("*")]):
        raise HypersphereError(f"new-paper: {parent / same}: exists")
    folder = parent / name
    schemas = os.path.relpath(config.root / json_schema.FOLDER, folder)
    with files.replacing(folder, folder=True) as made:
        for file in sorted(EXAMPLE.rglob("*.*")):
            if file.suffix in WRITTEN:
                text = files.read_text(file).replace(EXAMPLE.name, name)
                text = text.replace(SCHEMAS, schemas)
                files.write_text(made / file.relative_to(EXAMPLE), text)
    setting = f" 'SET=papers=[{folder.resolve()}]'" if parent else ""
    print(f"wrote {folder}; next: make reproduce ONLY={name}{setting}")


def namesake(name: str, words: Iterable[str]) -> str | None:
    """The word that differs from a name at most in its case."""
    return next((word for word in words if word.casefold() == name.casefold()), None)


def reserved_names(config: Config) -> dict[str, Collection[str]]:
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


def prepare(plan: Plan, names: list[str]) -> None:
    from hypersphere.command import preparation

    datasets = plan.config.datasets
    for name in names:
        if name in plan.prepared_together:
            preparation.together(plan, name)
        elif name in datasets:
            preparation.one(plan, datasets[name])
            planning.check_sizes(plan, [name])
        else:
            raise HypersphereError(f"prepare: {not_one_of(name, sorted(datasets))}")


def pretrain(plan: Plan, names: list[str], file: Path | None, save_every: float) -> None:
    from hypersphere.datasets import store
    from hypersphere.training import pretrain

    if file is None:
        batches, runs = find(plan, names)
    elif names:
        raise HypersphereError(
            "pretrain: --from: takes the run of a file; leave out the names of others"
        )
    else:
        batches, runs = [], [read(file)]
        store.prepare(runs[0].dataset, plan.config.data, plan.config.data_root)
    for batch in batches:
        pretrain.pretrain_batch(plan, batch, save_every)
    if runs:
        pretrain.pretrain(plan, runs, save_every)


def evaluate(plan: Plan, names: list[str]) -> None:
    from hypersphere.probes import evaluate

    batches, runs = find(plan, names)
    for batch in batches:
        evaluate.evaluate_batch(plan, batch)
    if runs:
        evaluate.evaluate_runs(plan, runs)


def theory(config: Config) -> None:
    from hypersphere.exact import theorems
    from hypersphere.statistics import exact_claims

    theorems.build(config)
    exact_claims.build_theorems(config)


def simulate(config: Config, papers: list[str]) -> None:
    from hypersphere.exact import studies
    from hypersphere.statistics import exact_claims

    for paper in papers:
        check_studied("simulate", config, paper)
    for paper in papers or filter(config.exact_artifacts, config.papers):
        studies.build(config, paper)
        exact_claims.build_studies(config, paper)
        number = count_of(len(config.studies(paper)), "exact study", "exact studies")
        folder = config.exact_studies(paper)
        print(f"{paper}: the tables of {number} are in {folder}")


def studies(plan: Plan, paper: str) -> None:
    from hypersphere.report import writer
    from hypersphere.report.results import Results

    check_studied("studies", plan.config, paper)
    results = Results(plan)
    artifacts = plan.config.exact_artifacts(paper)
    for artifact in artifacts:
        writer.build(results, paper, artifact)
    print(f"{paper}: {count_of(len(artifacts), 'artifact')} of exact studies drawn")


def artifact(plan: Plan, names: list[str]) -> None:
    from hypersphere.report import writer
    from hypersphere.report.results import Results
    from hypersphere.statistics import judge, measure

    chosen = [check_made(plan, name) for name in names]
    for paper, name in chosen:
        judge.build_artifact(plan, paper, name, measure.build(plan, paper, name))
        writer.build(Results(plan), paper, name)


def check_made(plan: Plan, given: str) -> tuple[str, str]:
    """The paper and the name of an artifact, which is made from runs at this scale."""
    paper, _, name = given.partition("/")
    check_name(paper, plan.config.papers, "artifact")
    declared = plan.config.papers[paper].artifacts
    check_name(given, [f"{paper}/{one}" for one in declared], "artifact")
    if isinstance(declared[name], Studied):
        raise HypersphereError(
            f"artifact: {given} is an exact study; `hypersphere studies {paper}` makes it"
        )
    if reason := why_not_made(plan, paper, name):
        scale = plan.config.scale_name
        raise HypersphereError(f"artifact: {given} is not made at scale {scale}: {reason}")
    return paper, name


def claims(plan: Plan) -> None:
    from hypersphere.provenance import tables
    from hypersphere.report import counts
    from hypersphere.report.results import Results
    from hypersphere.statistics import judge

    judge.build(plan)
    show(counts.of_claims(tables.rows(Results(plan).claims)))


def pack(plan: Plan, names: list[str]) -> None:
    from hypersphere.provenance import evidence, markers

    for run in named_runs(plan, names):
        print(f"{run.name}: its record is in {evidence.pack(plan, run)}")
    batches, _ = find(plan, names)
    for batch in batches:
        trained = [plan.run_folder(run.name) / MANIFEST for run in batch.runs]
        measured = markers.evaluations(plan, batch.runs)
        markers.write(markers.recorded_marker(plan, batch.id), [*trained, *measured])


def evidence(plan: Plan, action: str, folder: Path) -> None:
    from hypersphere.provenance import evidence

    records = evidence.take_in(plan, folder)
    for record in records:
        print(f"{record.name} {record.key}")
    print(f"{count_of(len(records), 'record')} added to {plan.config.evidence}")


def select(config: Config, study: str) -> None:
    from hypersphere.config.study import write_selection
    from hypersphere.statistics import selection

    scales = {}
    for paper, document in config.papers.items():
        for name, declared in document.studies.items():
            scales[f"{paper}/{name}"] = declared.scale
    check_name(study, scales, "select")
    paper, _, name = study.partition("/")
    records = {"scale": scales[study], "evidence_only": True}
    curve = selection.select(planning.make(config.root, records), paper, name)
    path = config.selection_file(paper, name)
    write_selection(path, curve)
    for one in curve:
        mark = "*" if one.chosen else " "
        print(f"{mark} {one.arm}  {one.value}  {one.mean:.2f} (n = {one.n})")
    print(path)


def archive(plan: Plan, weights: bool) -> None:
    from hypersphere.provenance import archive

    print(archive.pack(plan, weights))


def campaign(plan: Plan, minutes: float, jobs: int | None, part: str) -> None:
    from hypersphere.command import campaign

    if jobs is not None and jobs < 1:
        raise HypersphereError(f"campaign: --jobs: must be at least 1 (given: {jobs})")
    campaign.run(plan, minutes, jobs, campaign.part(part))


def report(config: Config, records: str | None) -> None:
    from hypersphere.statistics import judged_records

    if records is None:
        from hypersphere.report import report

        report.build(config)
    else:
        check_name(records, judged_records.recorded_scales(config.root), "report: --records")
        judged_records.of_scale(config, records)


def find(plan: Plan, names: Sequence[str]) -> tuple[list[BatchOfRuns], list[Run]]:
    """The batches and the runs of those names, each once, of which there must be one."""
    if not names:
        raise HypersphereError("name runs or batches; `hypersphere plan --verbose` lists them")
    batches = [batch for batch in plan.batches if batch.id in names]
    identifiers = {batch.id for batch in batches}
    runs = [plan.run(name) for name in names if name not in identifiers]
    return batches, list({run.name: run for run in runs}.values())


def named_runs(plan: Plan, names: Sequence[str]) -> list[Run]:
    """The runs of those names, and of batches of those names."""
    batches, runs = find(plan, names)
    return [*chain.from_iterable(batch.runs for batch in batches), *runs]


def check_studied(place: str, config: Config, paper: str) -> None:
    """Refuse a paper that is not declared, or has no exact study at this scale."""
    check_name(paper, config.papers, place)
    if not config.exact_artifacts(paper):
        raise HypersphereError(f"{place}: {paper} has no exact study at scale {config.scale_name}")


def some_path(text: str) -> Path:
    """The path of an argument; an empty one would stand for the current folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("names no file and no folder")
    return Path(text).expanduser()


def amount(place: str, text: str, or_zero: bool = False) -> float:
    """An option's finite number above 0, or from 0. No time is later than nan, so that nan would never end."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value) and (value > 0 or (value == 0 and or_zero)):
        return value
    least = "of at least 0" if or_zero else "above 0"
    raise HypersphereError(f"{place}: must be a number {least} (given: '{text}')")


def reader(kind: str, place: str) -> Callable[[str], Any]:
    """How an option's text is read; ``place`` names the option in a complaint."""
    readers: dict[str, Callable[[str], Any]] = {
        "path": some_path,
        "whole": int,
        "above 0": partial(amount, place),
        "at least 0": partial(amount, place, or_zero=True),
    }
    return readers[kind]


def version() -> str:
    """The package's version, from the checkout if it is run without being installed."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        project = files.read_toml(CHECKOUT / "pyproject.toml")["project"]
        return str(project["version"])


def parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """The parser, and the parsers of the commands by name."""
    as_written = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(
        prog="hypersphere", description=DESCRIPTION, formatter_class=as_written
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {version()}")
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND", required=True, help=EACH)
    helps = audit.COMMANDS | judging.COMMANDS
    helps |= {name: about["help"] for name, about in COMMANDS.items()}
    for wanted, names in GROUPS.items():
        lines = [f"{name:<10} {helps[name]}" for name in names]
        top.add_argument_group(wanted, "\n".join(lines))
    scales = ", ".join(scale_names(CHECKOUT))
    of_settings: dict[str, Any] = {
        "action": "append",
        "default": [],
        "metavar": "KEY=VALUE",
        "dest": "settings",
    }
    of_settings["help"] = f"{SET}; scales: {scales}" if scales else SET
    for name, about in COMMANDS.items():
        subparser = subparsers.add_parser(name, description=about["help"])
        if about.get("of") != NOTHING:
            subparser.add_argument("--set", **of_settings)
            subparser.add_argument("--as-planned", action="store_true", help=AS_PLANNED)
        for flag, keywords in about.get("options", {}).items():
            given = dict(keywords)
            if "type" in given:
                given["type"] = reader(given["type"], f"{name}: {flag}")
            subparser.add_argument(flag, **given)
    audit.add(subparsers)
    judging.add(subparsers)
    return top, subparsers.choices


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, or print the help if none is given.

    The exit status is 0, or what a command that needs no project gives; 2 after a sentence on standard error; 128 + n
    if signal n stopped the command. ``__main__`` makes 70 of an exception.
    """
    top, commands = parser()
    words = sys.argv[1:] if arguments is None else arguments
    if not words:
        top.print_help()
        return 0
    try:
        if not words[0].startswith("-") and words[0] not in commands:
            raise HypersphereError(f"command: {not_one_of(words[0], commands)}")
        if words[0] in audit.COMMANDS:
            return audit.main(words)
        if words[0] in judging.COMMANDS:
            return judging.main(words)
        return run(**vars(top.parse_args(words)))
    except HypersphereError as error:
        print(f"hypersphere: {error}", file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"hypersphere: {files.reason(error)}", file=sys.stderr)
        return 2


def run(command: str, **options: Any) -> int:
    """Run a command with the options that were typed, and return its exit status."""
    stop.exit_in_order()
    try:
        if COMMANDS[command].get("of") == NOTHING:
            return int(function_of(command)(**options))
        on_project(command, **options)
        return 0
    except DamagedError as damage:
        damage.disprove()
        raise
    except SystemExit:  # at a SIGTERM
        print("hypersphere: stopped by SIGTERM", file=sys.stderr)
        raise


def function_of(command: str) -> Callable[..., Any]:
    """The function that does a command, imported when it is needed."""
    own = f"command.cli.{command.replace('-', '_')}"
    module, _, name = COMMANDS[command].get("calls", own).rpartition(".")
    function: Callable[..., Any] = getattr(importlib.import_module(f"hypersphere.{module}"), name)
    return function


def on_project(command: str, as_planned: bool, **options: Any) -> None:
    """Run a command on the project around the current folder, with the settings that were typed."""
    root = project_root(Path.cwd())
    check_own_code(root)
    config = load(root, settings.parse(options.pop("settings")))
    plan_of = plan_file.load if as_planned else planning.of
    subject = config if COMMANDS[command].get("of") == "config" else plan_of(config)
    function_of(command)(subject, **options)


def check_own_code(root: Path) -> None:
    """Refuse a checkout whose code is not what runs: after a copy, its programs are still those of the original."""
    own = root / "src" / "hypersphere"
    if own.is_dir() and not own.samefile(foreign.PACKAGE):
        raise HypersphereError(
            f"{root}: its code is not what runs, {foreign.PACKAGE} is; type `make setup` in it"
        )
