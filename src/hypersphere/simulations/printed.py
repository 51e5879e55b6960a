"""A paper's claims as the cells of an audit: sizes of test sets, baselines, order of tables, and printed decimals."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal

from hypersphere.audit.table import Cell
from hypersphere.config import coordinates
from hypersphere.config.claims import Claim

TEST_SIZES: Mapping[str, int] = {
    # Official test sets. Long-tailed and biased versions keep the test images of their original.
    "cifar10": 10_000,
    "cifar100": 10_000,
    "cifar10_lt": 10_000,
    "cifar100_lt": 10_000,
    **{f"corrupted_cifar10_{ratio}": 10_000 for ratio in ("0_5", "1", "2", "5")},
    **{f"colored_mnist_{ratio}": 10_000 for ratio in ("0_5", "1", "2", "5")},
    "stl10": 8_000,
    # Validation sets, the only ones with public labels: 50 images a class.
    "imagenet": 50_000,
    "imagenet100": 5_000,
    "tiny_imagenet": 10_000,
    "flowers102_lt": 1_020,  # 10 a class, because the norms paper trains on the official test set (Sec. 6)
    # All sentences, because cross-validation tests each once (sizes as in Kim 2014, Table 1).
    "text_mr": 10_662,
    "text_cr": 3_775,
    "text_subj": 10_000,
    "text_mpqa": 10_606,
}
"""Number of test examples of a dataset.

Left out: TREC and MSRP, which have test sets of their own beside the LMCL paper's ten folds, and MultiDigits, whose
size is not printed.
"""
TESTED = ("linear_top1", "linear_top5", "knn_top1", "knn_top5", "mlp_top1", "transfer_top1", "text_accuracy")
"""Metrics that are shares of test examples."""
CONTRASTIVE = "contrastive_top1"
"""An accuracy over an unknown number of pairs."""
SWEPT = ("logits.s",)
"""Settings that differ between the rows of a table and stand for a variant (margins, Tables 9 and 10)."""
BASELINES = ("baseline", "default", "nt_xent", "wang_liu", "dp_lambda_0_1", "plain_tau_10", "batch_512", "logits.s=1")
"""The variant that the others of a table are compared with. In most tables it is the plain method. Exceptions: another
paper's row (double-metric Table 7, tau = 0.3), the paper's own lambda (LMCL Table 3), the better row without
normalisation (lecture Table 5), the smallest batch (lecture Table A.3), no emphasis (margins Tables 9 and 10).
"""


FAILED = "N40"
"""The reading of a failed run. Its difference from the baseline is no effect."""


def cells(claims: Iterable[Claim]) -> list[tuple[Cell, Claim]]:
    """A paper's accuracies, and other numbers printed with a standard deviation, as the cells of an audit.

    A number in CSV has lost its last zeros: 61.83 was printed as 61.830 in a table of three decimals. A swept setting
    counts as the variant. A cell without a baseline in its place is compared with nothing.
    """
    found: list[tuple[Cell, Claim]] = []
    names: dict[str, str] = {}
    for claim in claims:
        tested = claim.metric in TESTED
        if claim.kind == "value" and (tested or claim.metric == CONTRASTIVE or claim.reported_std):
            swept = {key: value for key, value in claim.coordinates.items() if key in SWEPT}
            setting = {key: value for key, value in claim.coordinates.items() if key not in swept}
            cell = Cell(
                where=names.setdefault(claim.artifact, claim.source),
                row=coordinates.text(swept) or claim.variant,
                column="\t".join((claim.method, claim.dataset, coordinates.setting(setting))),
                metric=str(claim.metric),
                mean=Decimal(f"{claim.reported:.10g}"),
                std=None if claim.reported_std is None else Decimal(f"{claim.reported_std:.10g}"),
                n_test=TEST_SIZES.get(str(claim.coordinates.get("target", claim.dataset))) if tested else None,
            )
            found.append((cell, claim))
    places: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    units: dict[str, Decimal] = {}
    for cell, _ in found:
        places[cell.where, cell.column, cell.metric].add(cell.row)
        exponent = min(0, int(cell.mean.as_tuple().exponent))
        units[cell.where] = min(units.get(cell.where, Decimal(1)), Decimal(1).scaleb(exponent))

    def completed(cell: Cell) -> Cell:
        variants, one = places[cell.where, cell.column, cell.metric], units[cell.where]
        baseline = next((name for name in BASELINES if name in variants and cell.row not in BASELINES), cell.row)
        std = None if cell.std is None else cell.std.quantize(one)
        return cell._replace(mean=cell.mean.quantize(one), std=std, baseline=baseline)

    return [(completed(cell), claim) for cell, claim in found]


def in_order(tables: Iterable[str]) -> list[str]:
    """Sorted by number, the main text first: ``Table 2``, ``Table 10``, ``Table A.3``."""

    def rank(table: str) -> tuple[str, int, str]:
        before, number, after = re.findall(r"(\D*)(\d+)(.*)", table)[0]
        return before, int(number), after

    return sorted(set(tables), key=rank)
