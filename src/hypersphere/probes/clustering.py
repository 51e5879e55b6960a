"""K-means of frozen features, and how well its clusters are the classes."""

from hypersphere.datasets.types import TEST
from hypersphere.probes.clusters import kmeans, matched_accuracy
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import directions
from hypersphere.probes.result import ProbeResult

MEASURES = ("kmeans_accuracy", "nmi")
PIXELS = True


def clustering(frozen: Frozen) -> ProbeResult:
    """Cluster normalised test features into as many clusters as there are classes, by the best of ten starts.

    No label is used.

    Returns:
        ``kmeans_accuracy``, at the best assignment of clusters to classes; and ``nmi``, from 0 to 1, mutual information
        over the mean of both entropies. One class alone, in one cluster, has an NMI of 1, as in scikit-learn.
    """
    # here, because its import takes a second
    from sklearn.metrics import normalized_mutual_info_score

    points, truth = directions(frozen.features(TEST)), frozen.labels(TEST).cpu().numpy()
    clusters, _ = kmeans(points, frozen.classes(), 10, "clustering")
    nmi = float(normalized_mutual_info_score(truth, clusters))
    return ProbeResult(
        {"kmeans_accuracy": matched_accuracy(clusters, truth), "nmi": nmi}, n=len(truth)
    )
