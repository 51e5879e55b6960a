"""Table of all measured quantities: name, unit, decimals, which direction is better, chance level and margin."""

from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator

from hypersphere.config.validation import not_one_of

LARGEST = 3.5e38
"""No value is larger: all are computed in float32."""
POSITIVE = 0.0, LARGEST


class Measure(NamedTuple):
    """One measured quantity."""

    label: str
    unit: str
    decimals: int
    what: str
    better: Literal["higher", "lower", "neither"] = "neither"
    guesses: int | None = None
    """Classes that a guess may name; chance is this number over the number of classes. None: no chance level."""
    margin: Literal["accuracy", "none"] = "none"
    """The equivalence margin of config/statistics.yaml for printed values; none: they are not judged."""

    bounded: bool = False
    """Whether its values lie between fixed bounds, so that no axis of it is logarithmic."""
    of_task: bool = False
    """Whether it is of a task apart from the training data, so that it keeps its name on every dataset."""
    of_data: bool = False
    """Whether it is of the data alone, so that no untrained encoder is compared with it."""
    of_baseline: bool = False
    """Whether it compares a run with the artifact's baseline, whose errors it divides by."""
    level: float | None = None
    """The result of guessing where it does not depend on the classes: 50 for an area under a ROC curve in percent."""
    of_images: bool = True
    """Whether it is of test images (or sentences) and their classes; returns of control tasks are of neither."""
    limits: tuple[float, float] | None = None
    """Its smallest and largest possible value; None: 0 to 100 of percents, any of others."""

    @property
    def low(self) -> float:
        """No value is below it."""
        return (self.limits or ((0.0, 100.0) if self.unit == "%" else (-LARGEST, LARGEST)))[0]

    @property
    def high(self) -> float:
        """No value is above it."""
        return (self.limits or ((0.0, 100.0) if self.unit == "%" else (-LARGEST, LARGEST)))[1]

    def chance(self, classes: int) -> float | None:
        """The result of guessing, in the measure's unit; None where nothing can be guessed."""
        if self.level is not None:
            return self.level
        return None if self.guesses is None else 100 * min(self.guesses, classes) / classes


def _accuracy(label: str, decimals: int, what: str, guesses: int | None = 1) -> Measure:
    return Measure(label, "%", decimals, what, "higher", guesses, "accuracy")


def _of_task(label: str, what: str, of_data: bool = False) -> Measure:
    return Measure(label, "%", 1, what, "higher", None, "accuracy", of_task=True, of_data=of_data)


def _auroc(label: str, what: str, better: Literal["higher", "neither"] = "higher") -> Measure:
    """An area under a ROC curve, from 0 to 100 %; 50 without any information, below 50 if the order is reversed."""
    return Measure(label, "%", 1, what, better, level=50, bounded=True)


MEASURES: dict[str, Measure] = {
    # of a frozen encoder, by a probe
    "knn_top1": _accuracy("kNN accuracy", 1, "weighted k-nearest-neighbour vote"),
    "knn_top5": _accuracy("kNN accuracy, top-5", 1, "true class among the five with most votes", 5),
    "linear_top1": _accuracy("linear probe", 1, "logistic regression on frozen features"),
    "linear_top5": _accuracy("linear probe, top-5", 1, "true class among a linear probe's five likeliest", 5),
    "transfer_top1": _accuracy("transfer", 1, "a probe trained and tested on another dataset"),
    "transfer_top5": _accuracy("transfer, top-5", 1, "true class among five, on another dataset", 5),
    "mlp_top1": _accuracy("two-layer probe", 1, "a small network on frozen features"),
    "contrastive_top1": _accuracy("contrastive accuracy", 1, "anchors whose positive is the nearest candidate", None),
    "text_accuracy": _of_task("text classification", "cross-validated classifier on frozen sentence embeddings"),
    "bag_of_words_accuracy": _of_task("bag of words", "the same classifier on which words occur", of_data=True),
    "majority_accuracy": _of_task("majority class", "the training examples' most frequent", of_data=True),
    "score": Measure(
        "score", "", 0, "return of a control task by the policy's mean action", "higher", bounded=True, of_images=False
    ),
    "random_score": Measure(
        *("score of random actions", "", 0, "return of a control task by uniform actions", "higher"),
        bounded=True,
        of_data=True,
        of_images=False,
    ),
    "mce": Measure(
        "mCE",
        "%",
        1,
        "mean corruption error relative to a baseline's with the same seed",
        "lower",
        of_baseline=True,
        limits=POSITIVE,
    ),
    "relative_mce": Measure(
        *("relative mCE", "%", 1, "mean loss of accuracy by corruption, relative to a baseline's", "lower"),
        of_baseline=True,
        limits=(-LARGEST, LARGEST),
    ),
    "norm": Measure(
        "embedding norm", "", 2, "mean Euclidean norm of the embeddings that the loss is applied to", limits=POSITIVE
    ),
    "weight_norm": Measure(
        *("weight norm", "", 2, "Euclidean norm of all weights of the encoder's layers as one vector"), limits=POSITIVE
    ),
    "effective_rank": Measure(
        *("effective rank", "", 1),
        "exponential of the entropy of the embeddings' singular values (Roy & Vetterli 2007)",
        limits=POSITIVE,
    ),
    "positive_cosine": Measure(
        *("cosine to the positive", "", 3, "mean cosine of the embeddings of two views of an image"),
        bounded=True,
        limits=(-1, 1),
    ),
    "relative_norm": Measure("relative norm", "", 2, "embedding norm over the training images' mean", limits=POSITIVE),
    "bucket_top1": _accuracy("kNN accuracy", 1, "weighted k-nearest-neighbour vote, by the norm of the image"),
    "bucket_share": Measure("share of images", "%", 1, "images whose norm is in one of twenty equal ranges"),
    "human_accuracy": Measure("human accuracy", "%", 1, "images whose label by people is the official one", "higher"),
    "human_entropy": Measure(
        "human entropy",
        "nat",
        2,
        "of the classes that people chose for an image; mean over images",
        "lower",
        limits=POSITIVE,
    ),
    # of right and wrong kNN votes: 100 if each right one has more of the quantity than each wrong one
    "norm_gain": Measure(
        *("gain from the norm", "points", 2),
        "cross-validated AUROC of right votes by covariates, class and log-norm, less that without the norm",
        "higher",
        bounded=True,
        level=0,
    ),
    "norm_gain_over_vote": Measure(
        *("gain from the norm over the vote", "points", 2, "the same with the vote's own confidence as a covariate"),
        "higher",
        bounded=True,
        level=0,
    ),
    "norm_coefficient": Measure(
        *("coefficient of log-norm", "", 3),
        "change of a right vote's log-odds by a standard deviation of log-norm, given covariates and class",
        "higher",
        level=0,
    ),
    "norm_auroc": _auroc("AUROC of the norm", "right kNN votes have larger embedding norms than wrong ones"),
    "vote_auroc": _auroc("AUROC of the vote", "right kNN votes have larger shares of all votes than wrong ones"),
    "contrast_auroc": _auroc("AUROC of contrast", "of right votes, by the std of an image's luminance", "neither"),
    "brightness_auroc": _auroc("AUROC of brightness", "of right votes, by an image's mean luminance", "neither"),
    "edge_auroc": _auroc("AUROC of edges", "of right votes, by an image's mean gradient of luminance", "neither"),
    "covariates_auroc": _auroc("AUROC of covariates", "of right votes, by covariates and class", "neither"),
    # of images of the encoder's own dataset among those of another: 100 if each of its own has more of the quantity
    "ood_norm_auroc": _auroc("own against foreign by the norm", "AUROC: images of the own dataset have larger norms"),
    "ood_vote_auroc": _auroc(
        "own against foreign by the vote", "AUROC: images of the own dataset have larger shares of votes"
    ),
    "ood_contrast_auroc": _auroc(
        "own against foreign by contrast", "AUROC: images of the own dataset have more contrast", "neither"
    ),
    "opposite_halves": Measure(
        "opposite halves", "%", 2, "pairs of embeddings whose angle is above 90 degrees", "lower"
    ),
    "distance": Measure(
        "distance", "", 3, "of two embeddings: half of 1 minus their cosine", bounded=True, limits=(0, 1)
    ),
    "alignment": Measure(
        "alignment", "", 3, "mean squared distance of two views' unit embeddings", "lower", limits=(0, 4)
    ),
    "uniformity": Measure(
        "uniformity",
        "nat",
        2,
        "logarithm of the mean Gaussian potential of pairs of unit embeddings",
        "lower",
        limits=(-LARGEST, 0),
    ),
    "nmi": Measure("NMI", "", 3, "normalised mutual information of clusters and classes", "higher", limits=(0, 1)),
    "spread": Measure("spread", "", 3, "1 minus the length of the mean of all unit embeddings", limits=(0, 1)),
    "class_spread": Measure(
        "spread in a class",
        "",
        3,
        "1 minus the length of the mean of a class's unit embeddings, mean over classes",
        limits=(0, 1),
    ),
    "explained": Measure(
        "explained variance", "%", 1, "of an image's local features: the part between its regions", "higher"
    ),
    "corruption_error": Measure("corruption error", "%", 1, "wrong predictions of corrupted images", "lower"),
    # of training itself
    "loss": Measure("training loss", "", 3, "mean over an epoch's batches", "lower"),
    # of exact studies
    "steps": Measure("steps", "", 0, "gradient steps until a simulation has converged"),
    "slope": Measure("slope", "", 2, "of the logarithm of one quantity on that of another"),
    "ratio": Measure("ratio", "", 2, "of two quantities of the same unit"),
    "cosine": Measure("cosine", "", 2, "of the angle between two embeddings"),
    "angle": Measure("angle", "rad", 2, "between two embeddings"),
    "rank_correlation": Measure("rank correlation", "", 2, "Spearman's, of two quantities over the same points"),
    "kmeans_accuracy": _accuracy(
        "K-means accuracy", 1, "points whose cluster is that of their class, at best naming", None
    ),
    "entropy": Measure("entropy", "nat", 1, "of a distribution over candidates", limits=POSITIVE),
    "annotators": Measure("annotators", "", 0, "people who labelled an image"),
    "error_rate": Measure("error rate", "%", 2, "labels that differ from the official ones", "lower", None, "accuracy"),
    "learning_rate": Measure("learning rate", "", 2, "the highest of a schedule"),
    "warmup_epochs": Measure("warm-up", "epochs", 0, "epochs until the learning rate is highest"),
    "share": Measure("share", "%", 1, "places, or pairs, of which a sentence holds", "neither", None, "accuracy"),
}


def _known(name: str) -> str:
    if name not in MEASURES:
        raise ValueError(not_one_of(name, MEASURES))
    return name


MeasureName = Annotated[str, AfterValidator(_known)]


def transferred(name: str) -> str:
    """The name of a probe's measure on another dataset than the encoder's: ``linear_top1`` -> ``transfer_top1``."""
    return f"transfer_{name.rpartition('_')[2]}"
