"""Whether norms of embeddings tell images of the encoder's own dataset from others."""

import numpy as np

from hypersphere.arguments import PositiveInt
from hypersphere.config.coordinates import Position
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.probes.corruption import WAY
from hypersphere.probes.frozen import Frozen
from hypersphere.probes.knn import vote
from hypersphere.probes.norm_confidence import PerImage, appearance, auroc, lengths, share
from hypersphere.probes.result import ProbeResult, reading

MEASURES = ("ood_norm_auroc", "ood_vote_auroc", "ood_contrast_auroc")


def norm_ood(frozen: Frozen, *, k: PositiveInt = 200) -> ProbeResult:
    """Norms as a sign of novelty (norms paper, Sec. 5, Fig. 3), with the vote's confidence and contrast beside them.

    Test images of the encoder's own dataset are compared with test images of another one: all of them, or, of a set
    with corrupted images (``fog-3``), only those. The vote is that of ``norm_confidence``, whose bank is the encoder's
    own training set for both.

    Returns:
        ``ood_norm_auroc``, ``ood_vote_auroc`` and ``ood_contrast_auroc``, in percent: how often, of two images, the own
        one has the larger norm, share of the votes, contrast; 50 being chance. Of corrupted images also by
        ``severity=3``, of all corruptions, and by ``corruption=fog``, of all severities.
    """
    home = frozen.home
    others = [split for split in frozen.splits if WAY.fullmatch(split)]
    bank, labels = home.features(TRAIN), home.labels(TRAIN)

    def quantities(place: Frozen, split: str) -> tuple[PerImage, PerImage, PerImage]:
        votes = vote(bank, place.features(split), labels, home.classes(), k).cpu().numpy()
        return lengths(place, split), share(votes), appearance(place.images(split))["contrast"]

    own = quantities(home, TEST)
    of_splits = {split: quantities(frozen, split) for split in others or [TEST]}
    groups: dict[Position, list[str]] = {Position(): list(of_splits)}
    for split in others:
        corruption, _, severity = split.rpartition("-")
        for group in (Position(corruption=corruption), Position(severity=int(severity))):
            groups.setdefault(group, []).append(split)
    values, counts = {}, {}
    for group, splits in groups.items():
        for place, measure in enumerate(MEASURES):
            of_others = [of_splits[split][place] for split in splits]
            of_all = np.concatenate([own[place], *of_others])
            is_own = np.arange(len(of_all)) < len(own[place])
            key = reading(measure, **group)
            values[key] = auroc(is_own, of_all)
            counts[key] = len(of_all)
    return ProbeResult(values, n=counts[MEASURES[0]], counts=counts)
