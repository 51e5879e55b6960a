"""What studies of printed numbers share: sizes of test sets, baselines, order of tables, and printed decimals."""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from hypersphere.config import coordinates
from hypersphere.config.claims import Claim
from hypersphere.grim import Printed

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
SWEPT = ("logits.s",)
"""Settings that differ between the rows of a table and stand for a variant (margins, Tables 9 and 10)."""
BASELINES = ("baseline", "default", "nt_xent", "wang_liu", "dp_lambda_0_1", "plain_tau_10", "batch_512", "logits.s=1")
"""The variant that the others of a table are compared with. In most tables it is the plain method. Exceptions: another
paper's row (double-metric Table 7, tau = 0.3), the paper's own lambda (LMCL Table 3), the better row without
normalisation (lecture Table 5), the smallest batch (lecture Table A.3), no emphasis (margins Tables 9 and 10).
"""


def setting_and_variant(claim: Claim) -> tuple[str, str | None, str]:
    """Setting, metric and variant of a claim. A swept setting counts as the variant."""
    swept = {key: value for key, value in claim.coordinates.items() if key in SWEPT}
    setting = {key: value for key, value in claim.coordinates.items() if key not in swept}
    return coordinates.setting(setting), claim.metric, coordinates.text(swept) or claim.variant


def in_order(tables: Iterable[str]) -> list[str]:
    """Sorted by number, the main text first: ``Table 2``, ``Table 10``, ``Table A.3``."""

    def rank(table: str) -> tuple[str, int, str]:
        before, number, after = re.findall(r"(\D*)(\d+)(.*)", table)[0]
        return before, int(number), after

    return sorted(set(tables), key=rank)


def units(numbers: Iterable[tuple[str, Decimal]]) -> dict[str, Decimal]:
    """One unit of the last decimal that each table prints, from pairs of a table and one of its numbers."""
    finest: dict[str, Decimal] = {}
    for table, number in numbers:
        exponent = number.as_tuple().exponent
        unit = Decimal(1).scaleb(min(0, exponent) if isinstance(exponent, int) else 0)
        finest[table] = min(finest.get(table, unit), unit)
    return finest


def with_zeros(printed: Printed, unit: Decimal) -> Printed:
    """The same numbers with the decimals of ``unit``: 61.83 was printed as 61.830 in a table of three decimals."""
    std = None if printed.std is None else printed.std.quantize(unit)
    return Printed(printed.mean.quantize(unit), std)
