"""Every metric's name, in one place: what it is called, how it is printed, which way is better."""

from typing import NamedTuple


class Metric(NamedTuple):
    """How to show one measured quantity."""

    label: str
    unit: str
    decimals: int
    what: str


METRICS: dict[str, Metric] = {
    "knn_top1": Metric("kNN accuracy", "%", 1, "weighted k-nearest-neighbour vote on backbone features"),
    "linear_top1": Metric(
        "linear probe",
        "%",
        1,
        "logistic regression on frozen features, full-batch L-BFGS, no seed and no schedule",
    ),
    "linear_sgd_top1": Metric(
        "linear probe (SGD)", "%", 1, "logistic regression on frozen features, plain SGD at a constant rate"
    ),
    "transfer_top1": Metric("transfer", "%", 1, "the L-BFGS linear probe, trained and tested on another dataset"),
    "norm": Metric("embedding norm", "", 2, "mean Euclidean norm of the embeddings that the loss is applied to"),
}
