"""``hypersphere new-paper NAME``: a folder for a document of your own, small enough to read and complete enough to run.

Its table trains two encoders a seed. Its claims are made up, to show every kind: replace them by what is printed.
"""

from pathlib import Path

from hypersphere import files
from hypersphere.config.project import PAPER, PAPERS, Config
from hypersphere.config.validation import Identifier, Strict, validate
from hypersphere.errors import HypersphereError


class Named(Strict):
    """The arguments of the command."""

    name: Identifier


TEXTS = {
    PAPER: """\
# A document, and how its table is made. Every field: the page Configuration of the site (`make site`).
paper: {name}
title: A document of your own

# What all its runs share, as the document states it; a scale replaces encoders and shrinks what it must.
run:
  encoder: {{name: resnet, depth: 18, stem: cifar}}
  views: {{crop_scale: [0.2, 1.0], brightness: 0.4, contrast: 0.4, saturation: 0.4, hue: 0.1, grayscale: 0.2}}
  optimiser: {{name: sgd, learning_rate: 0.18, weight_decay: 5.0e-4, momentum: 0.9}}
  schedule: {{epochs: 200, warmup: 0.05}}
  batch: {{size: 256, micro: 256}}

methods:
  simclr:
    method: {{name: simclr, hidden: 512, dim: 128}}
    objective: {{name: nt_xent, temperature: 0.5}}

variants:
  baseline: {{}}
  sharp: {{objective: {{temperature: 0.2}}}} # what differs from the method

evaluations:
  knn: {{probe: {{name: knn, k: 200, temperature: 0.1}}}}

artifacts:
  table1:
    draw: table
    printed: Table 1
    title: Nearest neighbours, at two temperatures
    rows: {{method.variant: [simclr.baseline, simclr.sharp]}}
    columns: {{dataset: [cifar10]}}
    measure: knn_top1
    baseline: {{variant: baseline}}
  sentences:
    draw: study_table
    title: What its sentences say of its own numbers
    study: sentences

labels: {{simclr: SimCLR, baseline: τ = 0.5, sharp: τ = 0.2}}
datasets: {{cifar10: CIFAR-10}}
""",
    "claims.csv": """\
id,kind,origin,artifact,method,variant,baseline,dataset,setting,metric,reported,reported_std,reported_n,direction,reading,sentence,source
{name}.t1.baseline,value,printed,table1,simclr,baseline,,cifar10,,knn_top1,80.0,,,,as printed,,Table 1
{name}.t1.sharp,value,printed,table1,simclr,sharp,,cifar10,,knn_top1,82.5,,,,as printed,,Table 1
{name}.t1.gain,comparison,printed,table1,simclr,sharp,baseline,cifar10,,knn_top1,,,,larger,as printed,\
A lower temperature helps.,Table 1; Sec. 1
{name}.sentences.gain,comparison,printed,sentences,,,,,,share,,,,,as printed,A lower temperature helps.,Table 1; Sec. 1
""",
    "sentences.yaml": """\
# What sentences of the document say of its own tables, by the id of the claim: which cells, and how they relate.
{name}.sentences.gain:
  checks:
    - {{cells: {{artifact: table1, variant: sharp}}, minus: {{variant: baseline}}, is: above}}
""",
    "errata.yaml": """\
# What the document gets wrong, contradicts itself in, or leaves open.
[]
""",
    "findings.yaml": """\
# What a reader would ask, with a sentence for each outcome. Numbers are filled in from the evidence.
{name}_temperature:
  question: Does a lower temperature help?
  about: [{{id: {name}.t1.gain}}]
  says:
    holds: "A lower temperature helps: {{printed_range}} is printed, and {{ours}}."
    fails: "A lower temperature does not help: {{printed_range}} is printed, and {{ours}}."
    opposite: "A lower temperature harms: {{printed_range}} is printed, and {{ours}}."
    cannot tell: "Whether a lower temperature helps cannot be told: {{printed_range}} is printed, and {{ours}}."
""",
}
"""The files of the folder; braces are doubled."""


def write(config: Config, name: str, parent: Path | None) -> Path:
    """Write the folder of a new document, below ``parent`` or in the project's config/papers; returns it.

    Raises:
        HypersphereError: a document or a folder of that name exists, or the name cannot be a file's.
    """
    validate(Named, {"name": name}, Path("new-paper"))
    folder = (parent or config.root / PAPERS) / name
    if name in config.papers:
        raise HypersphereError(f"new-paper: name: {name} is declared in {config.paper_file(name)}")
    if folder.exists():
        raise HypersphereError(f"new-paper: {folder}: exists")
    with files.writing(folder):
        folder.mkdir(parents=True)
    for file, text in sorted(TEXTS.items(), key=lambda item: item[0] == PAPER):  # what makes it a document comes last
        files.write_text(folder / file, text.format(name=name))
    return folder
