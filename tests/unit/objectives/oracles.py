"""Each loss and each map to logits once more, straight from its paper: loops over lists of Python floats.

An oracle takes what the loss takes, under the same names, with tensors as lists, and shares no tensor expression with
it. Its defaults are the paper's. A new loss needs one of its name, a new map to logits one in ``LOGITS``, and one in
``WEIGHTS`` where the map changes gradients.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

from hypersphere.config import registry

from .shared import (
    Vector,
    balanced,
    chord,
    cosine,
    cross_entropies,
    dot,
    mean,
    normed,
    softmax,
    square,
)

Rows = list[list[float]]
Oracle = Callable[..., float]


def _both(z_a: Rows, z_b: Rows) -> Rows:
    """Unit vectors of both views, one below the other."""
    return [normed(row) for row in (*z_a, *z_b)]


def _scaled(t: float) -> Callable[[Vector, Vector], float]:
    return lambda a, b: dot(a, b) / t


def alignment(z_a: Rows, z_b: Rows, power: float = 2, weight: float = 1) -> float:
    """Wang & Isola: the mean power of the distance between views."""
    return weight * mean(
        [chord(normed(a), normed(b)) ** power for a, b in zip(z_a, z_b, strict=True)]
    )


def uniformity(z_a: Rows, z_b: Rows, t: float = 2, weight: float = 1) -> float:
    """Wang & Isola: log(mean over i < j of exp(-t |u_i - u_j|²)), of each view, averaged."""
    logs = []
    for view in (z_a, z_b):
        u = [normed(row) for row in view]
        logs.append(
            math.log(mean([math.exp(-t * square(x, y)) for x, y in itertools.combinations(u, 2)]))
        )
    return weight * mean(logs)


def alignment_uniformity(
    z_a: Rows,
    z_b: Rows,
    power: float = 2,
    t: float = 2,
    align_weight: float = 1,
    uniform_weight: float = 1,
) -> float:
    return align_weight * alignment(z_a, z_b, power) + uniform_weight * uniformity(z_a, z_b, t)


def matched_uniformity(
    z_a: Rows, z_b: Rows, weight: float, t: float = 2, reduction: str = "mean"
) -> float:
    """Ours: uniformity's value; only the gradient's length is another."""
    return uniformity(z_a, z_b, t)


def cross_entropy(scores: Rows, labels: list[int]) -> float:
    return mean([-math.log(softmax(row)[y]) for row, y in zip(scores, labels, strict=True)])


def debiased(z_a: Rows, z_b: Rows, temperature: float, tau_plus: float) -> float:
    """Chuang et al.: g = max((mean of neg - tau_plus pos)/(1 - tau_plus), e^(-1/t))."""
    return hard_negative(z_a, z_b, temperature, tau_plus, 0)


def hard_negative(
    z_a: Rows, z_b: Rows, temperature: float, tau_plus: float, concentration: float
) -> float:
    """Robinson et al.: -log(pos / (pos + N g)), g's mean of neg weighted by neg^beta / sum of neg^beta."""
    z, n, t, losses = [*z_a, *z_b], len(z_a), temperature, []
    for i in range(2 * n):
        j = (i + n) % (2 * n)
        positive = math.exp(cosine(z[i], z[j]) / t)
        cosines = [cosine(z[i], z[k]) for k in range(2 * n) if k not in (i, j)]
        importance = [math.exp(concentration * c / t) for c in cosines]
        tilted = sum(w * math.exp(c / t) for w, c in zip(importance, cosines, strict=True)) / sum(
            importance
        )
        g = max((tilted - tau_plus * positive) / (1 - tau_plus), math.exp(-1 / t))
        losses.append(-math.log(positive / (positive + len(cosines) * g)))
    return mean(losses)


def decoupled(z_a: Rows, z_b: Rows, temperature: float) -> float:
    """Yeh et al.: NT-Xent without the positive in the denominator."""
    return mean(
        cross_entropies(_both(z_a, z_b), _scaled(temperature), lambda i, j, k: k not in (i, j))
    )


def decoupled_one_direction(
    z_a: Rows, z_b: Rows, temperature: float, with_positive: bool = False
) -> float:
    """The norms paper's authors' loss (erratum N24): anchors of one view, candidates of the other."""
    losses = []
    for i, anchor in enumerate(z_a):
        sims = [math.exp(cosine(anchor, other) / temperature) for other in z_b]
        losses.append(
            -math.log(sims[i] / sum(sims[k] for k in range(len(z_b)) if with_positive or k != i))
        )
    return mean(losses)


def distance_polarization(
    z_a: Rows,
    z_b: Rows,
    weight: float,
    lower: float = 0.1,
    upper: float = 0.5,
    reduction: str = "mean",
    among: str = "each_view",
) -> float:
    """LMCL, Eq. 10: |min((D - delta+)(D - delta-), 0)| over ordered pairs of different points."""
    sets = {"first_view": [z_a], "each_view": [z_a, z_b], "both_views": [z_a + z_b]}[among]
    pairs = len(sets[0]) * (len(sets[0]) - 1) if reduction == "mean" else 1
    return weight * mean([sum(map(abs, products(points, lower, upper))) for points in sets]) / pairs


def products(points: Rows, lower: float, upper: float) -> list[float]:
    """min((D - delta+)(D - delta-), 0) over ordered pairs of different points, as Eq. 10 writes it, sign kept."""
    distances = [(1 - cosine(x, y)) / 2 for x, y in itertools.permutations(points, 2)]
    return [min((d - lower) * (d - upper), 0) for d in distances]


def double_metric(
    z_a: Rows, z_b: Rows, temperature: float, alpha: float, beta: float, sign: str
) -> float:
    """Double-metric paper, Eq. 2; the sum leaves out the anchor (erratum D2)."""
    u, s = _both(z_a, z_b), {"printed": 1, "contrastive": -1}[sign]
    by_chord = cross_entropies(u, lambda a, b: s * chord(a, b))
    return alpha * mean(cross_entropies(u, _scaled(temperature))) + beta * mean(by_chord)


def generalised_info_nce(
    z_a: Rows, z_b: Rows, negatives: str, to_logits: Callable[[float, int], float], beta: float = 1
) -> float:
    """Margins paper, Eq. 5; which k are in the sum is what ``negatives`` says."""
    n, z, losses = len(z_a), [*z_a, *z_b], []
    for i in range(2 * n if negatives == "both_views" else n):
        j = (i + n) % (2 * n)
        others = {
            "both_views": [k for k in range(2 * n) if k != i],
            "other_view": list(range(n, 2 * n)),
            "none": [j],
        }
        logits = {k: to_logits(cosine(z[i], z[k]), int(k == j)) for k in others[negatives]}
        losses.append(-logits[j] + beta * math.log(math.fsum(map(math.exp, logits.values()))))
    return mean(losses)


def hard_contrastive(z_a: Rows, z_b: Rows, temperature: float, share: float) -> float:
    """Wang & Liu: the positive, and the share of the other 2n-2 embeddings that are most similar, rounded up."""
    u, losses = _both(z_a, z_b), []
    kept = math.ceil(round(share * (len(u) - 2), 9))
    for i in range(len(u)):
        j = (i + len(u) // 2) % len(u)
        hard = sorted((dot(u[i], u[k]) for k in range(len(u)) if k not in (i, j)), reverse=True)[
            :kept
        ]
        positive = dot(u[i], u[j])
        losses.append(
            math.log(math.fsum(math.exp((c - positive) / temperature) for c in (positive, *hard)))
        )
    return mean(losses)


def info_nce(z_a: Rows, z_b: Rows, temperature: float, include_self: bool = True) -> float:
    """The lecture's slide, with the anchor in its own denominator as printed (erratum S4)."""
    return mean(
        cross_entropies(
            _both(z_a, z_b), _scaled(temperature), lambda i, j, k: include_self or k != i
        )
    )


def nt_xent(z_a: Rows, z_b: Rows, temperature: float, normalise: bool = True) -> float:
    """Norms paper, Eq. 1; without normalisation, SimCLR's Table 5, lower rows."""
    return mean(
        cross_entropies(_both(z_a, z_b) if normalise else [*z_a, *z_b], _scaled(temperature))
    )


def momentum_contrast(q: Rows, k: Rows, queue: Rows, temperature: float) -> float:
    """He et al., Eq. 1: one positive against the queue."""
    losses = []
    for a, own in zip(q, k, strict=True):
        terms = [math.exp(cosine(a, b) / temperature) for b in [own, *queue]]
        losses.append(-math.log(terms[0] / sum(terms)))
    return mean(losses)


def multiview_coding(z_a: Rows, z_b: Rows, temperature: float) -> float:
    """Tian et al.: -log(h(a_i, b_i) / sum over j of h(a_i, b_j)), both ways round."""
    ways = [
        decoupled_one_direction(x, y, temperature, with_positive=True)
        for x, y in ((z_a, z_b), (z_b, z_a))
    ]
    return mean(ways)


def n_pair(z_a: Rows, z_b: Rows) -> float:
    """Sohn: the mean of (N+1)-tuple losses whose negatives are the other pairs' positives."""
    return tuplet(z_a, z_b, list(range(len(z_a))), normalise=False)


def tuplet(z_a: Rows, z_b: Rows, labels: list[int], normalise: bool = True) -> float:
    """Sohn's form of LMCL's Eq. 2: log(1 + sum over negatives of exp(f·f- - f·f+))."""
    product, losses = cosine if normalise else dot, []
    for i, f in enumerate(z_a):
        negatives = [product(f, z_b[j]) for j in range(len(z_b)) if labels[j] != labels[i]]
        losses.append(math.log1p(sum(math.exp(x - product(f, z_b[i])) for x in negatives)))
    return mean(losses)


def nce(z_a: Rows, z_b: Rows, temperature: float = 1, negatives: str = "same_view") -> float:
    """LMCL, Eq. 1: -log(e^(x·x+) / (e^(x·x+) + sum of e^(x·x-)))."""
    losses = []
    for i, x in enumerate(z_a):
        own, others = math.exp(cosine(x, z_b[i]) / temperature), 0.0
        for j in range(len(z_a)):
            if j != i and negatives in ("same_view", "both_views"):
                others += math.exp(cosine(x, z_a[j]) / temperature)
            if j != i and negatives in ("other_view", "both_views"):
                others += math.exp(cosine(x, z_b[j]) / temperature)
        losses.append(-math.log(own / (own + others)))
    return mean(losses)


def normaliser(z: Rows, bank: Rows, noise: list[list[int]], t: float) -> float:
    """Wu et al., Eq. 8: images/m · sum over the noise, mean over the anchors."""
    total = sum(math.exp(cosine(z[i], bank[k]) / t) for i in range(len(z)) for k in noise[i])
    return len(bank) / len(noise[0]) * total / len(z)


def nce_memory_bank(
    z: Rows,
    index: list[int],
    bank: Rows,
    noise: list[list[int]],
    temperature: float,
    proximal: float = 0,
    big_z: float | None = None,
) -> float:
    """Wu et al.: P = exp(cos/t)/Z; h = P/(P + m/images); -log h - sum log(1 - h) + proximal ||.||²."""
    images, m, losses = len(bank), len(noise[0]), []
    total = normaliser(z, bank, noise, temperature) if big_z is None else big_z

    def h(i: int, k: int) -> float:
        p = math.exp(cosine(z[i], bank[k]) / temperature) / total
        return p / (p + m / images)

    for i, own in enumerate(index):
        loss = -math.log(h(i, own)) - sum(math.log(1 - h(i, k)) for k in noise[i])
        losses.append(loss + proximal * square(normed(z[i]), normed(bank[own])))
    return mean(losses)


def nonparametric_softmax(
    z: Rows,
    index: list[int],
    bank: Rows,
    temperature: float,
    proximal: float = 0,
    denominator: str = "bank",
) -> float:
    """Wu et al., Eq. 2, and the lecture's slide (erratum S3): what the sum runs over is ``denominator``."""
    losses = []
    for a, own in zip(z, index, strict=True):
        terms = [
            math.exp(cosine(a, v) / temperature) for v in (bank if denominator == "bank" else z)
        ]
        softmaxed = math.exp(cosine(a, bank[own]) / temperature) / sum(terms)
        losses.append(-math.log(softmaxed) + proximal * square(normed(a), normed(bank[own])))
    return mean(losses)


def negative_cosine(p: Rows, z: Rows) -> float:
    """Norms paper, Sec. 3."""
    return -mean([cosine(a, b) for a, b in zip(p, z, strict=True)])


def normalised_squared_error(p: Rows, z: Rows) -> float:
    """BYOL: ||normed prediction - normed target||²."""
    return mean([square(normed(a), normed(b)) for a, b in zip(p, z, strict=True)])


def pair_contrastive(z_a: Rows, z_b: Rows, margin: float) -> float:
    """The slide: ||.||² if i = j, else max(0, margin - ||.||)², mean over the n² pairs (erratum S5)."""
    costs = []
    for i, a in enumerate(z_a):
        for j, b in enumerate(z_b):
            costs.append(square(a, b) if i == j else max(0.0, margin - chord(a, b)) ** 2)
    return mean(costs)


def triplet(z_a: Rows, z_b: Rows, margin: float, hinge: bool = True) -> float:
    """FaceNet: ||a - p||² + margin - ||a - n||², its positive part with a hinge, mean over all triplets."""
    costs = []
    for i, anchor in enumerate(z_a):
        for j, negative in enumerate(z_b):
            if j != i:
                cost = square(anchor, z_b[i]) + margin - square(anchor, negative)
                costs.append(max(0.0, cost) if hinge else cost)
    return mean(costs)


def self_distillation(
    student: Rows,
    teacher: Rows,
    centre: list[float],
    student_temperature: float,
    teacher_temperature: float,
) -> float:
    """DINO's algorithm: -sum_k P_t log P_s."""
    losses = []
    for s, t in zip(student, teacher, strict=True):
        p_t = softmax([(x - c) / teacher_temperature for x, c in zip(t, centre, strict=True)])
        p_s = softmax([x / student_temperature for x in s])
        losses.append(-sum(p * math.log(q) for p, q in zip(p_t, p_s, strict=True)))
    return mean(losses)


def swapped_prediction(
    scores_a: Rows,
    scores_b: Rows,
    temperature: float = 0.1,
    epsilon: float = 0.05,
    iterations: int = 3,
) -> float:
    """Caron et al., Eq. 1-2: each view predicts the other's code; the two terms halved."""
    losses = []
    for predicting, coded in ((scores_a, scores_b), (scores_b, scores_a)):
        for row, code in zip(predicting, balanced(coded, epsilon, iterations), strict=True):
            q = softmax([x / temperature for x in row])
            losses.append(-sum(c * math.log(p) for c, p in zip(code, q, strict=True)))
    return mean(losses)


LOSSES: dict[str, Oracle] = {
    name: one for name, one in globals().items() if name in registry.names("objectives")
}


# Maps to logits of the margins paper: the logit of a cosine, and the weight of its gradient (1 in a plain loss)


def _plain(c: float, p: float, /, temperature: float, **_: Any) -> float:
    """Alg. 1, whose values most maps keep (App. E)."""
    return math.cos(math.acos(c)) / temperature


def margin_logits(
    c: float,
    p: float,
    temperature: float,
    angular: float = 0,
    subtractive: float = 0,
    beyond_pi: str = "printed",
) -> float:
    """Eq. 4; past pi, ArcFace's guard in the monotone reading."""
    angle = math.acos(c) + angular * p
    if beyond_pi == "monotone" and angle > math.pi:
        return (c - angular * p * math.sin(angular * p) - subtractive * p) / temperature
    return (math.cos(angle) - subtractive * p) / temperature


LOGITS: dict[str, Oracle] = {
    **dict.fromkeys(
        ("attenuation_type_i", "attenuation_type_ii", "cosine_logits", "curvature"), _plain
    ),
    **dict.fromkeys(("positive_scaling", "ratio_scaling"), _plain),
    "margin_logits": margin_logits,
}


def _probabilities(row: Vector, t: float) -> list[float]:
    return softmax([c / t for c in row])


def type_i(row: Vector, p: list[int], j: int, temperature: float, alpha: float) -> float:
    """Eq. 12: the sum over k of p_k/(1 - alpha·q_k), one weight for the whole row."""
    return sum(
        y / (1 - alpha * q) for y, q in zip(p, _probabilities(row, temperature), strict=True)
    )


def type_ii(row: Vector, p: list[int], j: int, temperature: float, alpha: float) -> float:
    """Eq. 12: (1 - p) + p/(p - alpha·q)."""
    return 1 / (1 - alpha * _probabilities(row, temperature)[j]) if p[j] else 1


def positive_scaling(row: Vector, p: list[int], j: int, temperature: float, s: float) -> float:
    """Eq. 8 and 9."""
    return (1 - p[j]) + s * p[j]


def bend(x: float, c: float, curve: str) -> float:
    """Eq. 10, or the curve of Algorithm 3 (erratum M1)."""
    return (1 - x**c) ** (1 / c) if curve == "equation_10" else (1 - x) ** (1 / c)


def curvature(
    row: Vector,
    p: list[int],
    j: int,
    temperature: float,
    c: float,
    s: float = 1,
    curve: str = "equation_10",
) -> float:
    """Eq. 11."""
    return s * bend(math.acos(row[j]) / math.pi, c, curve) if p[j] else 1


def ratio_scaling(
    row: Vector, p: list[int], j: int, temperature: float, angular: float, scope: str = "positives"
) -> float:
    """Lemma 4.2's ratio of the sums without and with the margin, on positives or on the row."""
    if not p[j] and scope != "row":
        return 1
    margins = (margin_logits(c, y, temperature, angular) for c, y in zip(row, p, strict=True))
    return math.fsum(math.exp(c / temperature) for c in row) / math.fsum(map(math.exp, margins))


WEIGHTS: dict[str, Oracle] = {
    **{"cosine_logits": lambda row, p, j, temperature: 1, "positive_scaling": positive_scaling},
    **{"attenuation_type_i": type_i, "attenuation_type_ii": type_ii},
    **{"curvature": curvature, "ratio_scaling": ratio_scaling},
}
