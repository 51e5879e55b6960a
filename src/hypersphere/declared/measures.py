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
    "steps": Metric("steps", "", 0, "gradient steps until a simulation has converged"),
    "slope": Metric("slope", "", 2, "of the logarithm of one quantity on that of another"),
    "ratio": Metric("ratio", "", 2, "of two quantities of the same unit"),
    "cosine": Metric("cosine", "", 2, "of the angle between two embeddings"),
    "angle": Metric("angle", "rad", 2, "between two embeddings"),
    "rank_correlation": Metric("rank correlation", "", 2, "Spearman's, of two quantities over the same points"),
    "kmeans_accuracy": Metric(
        "K-means accuracy", "%", 1, "points whose cluster is that of their class, at best naming"
    ),
    "entropy": Metric("entropy", "nat", 1, "of a distribution over candidates"),
    "annotators": Metric("annotators", "", 0, "people who labelled an image"),
    "error_rate": Metric("error rate", "%", 2, "labels that differ from the official ones"),
    "learning_rate": Metric("learning rate", "", 2, "the highest of a schedule"),
    "warmup_epochs": Metric("warm-up", "epochs", 0, "epochs until the learning rate is highest"),
    "share": Metric("share", "%", 1, "places, or pairs, of which a sentence holds"),
    "knn_top5": Metric("kNN accuracy, top-5", "%", 1, "true class among the five with most votes"),
    "linear_top5": Metric("linear probe, top-5", "%", 1, "true class among a linear probe's five likeliest"),
    "mlp_top1": Metric("two-layer probe", "%", 1, "a small network on frozen features"),
    "contrastive_top1": Metric("contrastive accuracy", "%", 1, "anchors whose positive is the nearest candidate"),
    "text_accuracy": Metric("text classification", "%", 1, "cross-validated classifier on frozen sentence embeddings"),
    "norm": Metric("embedding norm", "", 2, "mean Euclidean norm of the embeddings that the loss is applied to"),
}
