"""A certificate's record, and the record as Markdown and as a page with a picture; the words are in templates/."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypersphere import templating
from hypersphere.certificate.certificate import ENCODER, GEOMETRY, PIXELS, UNTRAINED, Certificate
from hypersphere.config.measures import MEASURES
from hypersphere.wording import count_of

FOLDER = Path(__file__).with_name("templates")
SUBJECTS = (ENCODER, UNTRAINED, PIXELS)
LABELS = {"linear": MEASURES["linear_top1"].label, "knn": MEASURES["knn_top1"].label}
WIDTH, LEFT, LINE = 420.0, 190.0, 24.0
"""Of the picture, pixels: from 0 to 100 percent, before that for names, and the height of a row."""

Record = Mapping[str, Any]


def record(certificate: Certificate, about: Record, classes: int) -> dict[str, Any]:
    """All that a certificate says, as plain data.

    Args:
        about: the checkpoint, the network, the images and the protocols.
        classes: how many there are, which decides what guessing reaches.
    """
    claims = []
    for one in certificate.claims:
        text = f"{one.claim.value:f}"
        claims.append({"measure": one.claim.measure, "claimed": text, "verdict": one.verdict})
    accuracies: dict[str, dict[str, Any]] = {}
    for subject, found in certificate.accuracies.items():
        accuracies[subject] = {name: one._asdict() for name, one in found.items()}
    return {
        **about,
        "accuracies": accuracies,
        "chance": MEASURES["linear_top1"].chance(classes),
        "not_above": {name: certificate.not_above(name) for name in LABELS},  # type: ignore[arg-type]
        "geometry": {subject: dict(found) for subject, found in certificate.geometry.items()},
        "claims": claims,
    }


def interval(accuracy: Record, places: int = 1) -> str:
    """``88.4 [87.8, 89.0]``."""
    value, low, high = (f"{accuracy[key]:.{places}f}" for key in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"


def said(record: Record) -> list[str]:
    """Each claim with what is found, a sentence each, or what is found; then whether it is more than controls reach."""
    found = record["accuracies"][ENCODER]
    sentences = []
    for claim in record["claims"]:
        name, text = claim["measure"], claim["claimed"]
        places = max(1, len(text.partition(".")[2]))
        both = f"{text} claimed, {interval(found[name], places)} found"
        sentences.append(f"{_capital(name)}: {both}. The claim lies {claim['verdict']}.")
    if not sentences:
        sentences = [f"{_capital(name)}: {interval(one)} percent." for name, one in found.items()]
    for name, controls in record["not_above"].items():
        level = [_named(control) for control in controls]
        above = [_named(control) for control in (UNTRAINED, PIXELS) if control not in controls]
        if above:
            sentences.append(f"The {LABELS[name]} is above {' and '.join(above)}.")
        if level:
            sentences.append(f"The {LABELS[name]} is not shown to be above {' or '.join(level)}.")
    return sentences


def _capital(name: str) -> str:
    """A measure at the beginning of a sentence."""
    label = LABELS[name]
    return label if label.startswith("k") else label.capitalize()


def _named(control: str) -> str:
    """A control in a sentence."""
    return "the untrained network" if control == UNTRAINED else control


def repeated(record: Record) -> str:
    """How many test images are training images, too."""
    if record["images"]["repeated"] is None:
        return "An earlier version prepared the images, and did not count repeated ones."
    test = record["images"]["repeated"]["splits"]["test"]
    images, shared = test["images"], test["in_train"]
    where = "among the training images too, byte for byte."
    if not shared:
        return f"None of the {images:,} test images is {where}"
    return f"{shared:,} of the {images:,} test images {'is' if shared == 1 else 'are'} {where}"


def geometry_rows(record: Record) -> list[tuple[str, list[str]]]:
    """For each measure of the features, its name and its values in the order of its subjects."""
    rows = []
    for name in GEOMETRY:
        measure = MEASURES[name]
        values = [f"{one[name]:.{measure.decimals}f}" for one in record["geometry"].values()]
        rows.append((measure.label, values))
    return rows


def bars(record: Record) -> list[dict[str, Any]]:
    """The rows of the picture: a name, the ends of an interval, its centre and the claims, in pixels."""
    rows: list[dict[str, Any]] = []
    for name, label in LABELS.items():
        claimed = [one for one in record["claims"] if one["measure"] == name]
        for subject in SUBJECTS:
            found = record["accuracies"][subject][name]
            place = {key: LEFT + WIDTH * found[key] / 100 for key in ("value", "low", "high")}
            own = subject == ENCODER
            claims = [LEFT + WIDTH * float(one["claimed"]) / 100 for one in claimed if own]
            y = LINE * (len(rows) + 1)
            rows.append({"name": f"{label}, {subject}", "y": y, "claims": claims, **place})
    return rows


def markdown(record: Record) -> str:
    """The record as Markdown, which a console shows, too."""
    return _fill("certificate.md", record)


def html(record: Record) -> str:
    """The record as one self-contained page."""
    return _fill("certificate.html", record)


def _fill(name: str, record: Record) -> str:
    environment = templating.environment(FOLDER)
    environment.filters["interval"] = interval
    values = {
        "record": record,
        "said": said(record),
        "repeated": repeated(record),
        "subjects": SUBJECTS,
        "labels": LABELS,
        "geometry": geometry_rows(record),
        "settings": settings(record),
        "rows": bars(record),
        "left": LEFT,
        "width": WIDTH,
        "style": (FOLDER / "certificate.css").read_text(encoding="utf-8"),
    }
    return environment.get_template(name).render(values).rstrip() + "\n"


def _names(weights: Record) -> str:
    """How the network's names stand in the file."""
    place = f" inside {weights['inside']}" if weights["inside"] else ""
    prefix = f"after '{weights['prefix']}'" if weights["prefix"] else "as they are"
    counted_parts = ", parts by number" if weights["numbered"] else ""
    others = f"; so are those after {', '.join(weights['others'])}" if weights["others"] else ""
    return f"{prefix}{place}{counted_parts}{others}"


def settings(record: Record) -> list[tuple[str, str]]:
    """How the numbers were measured: what a reader needs to measure them again."""
    weights, network, shown = record["checkpoint"], record["network"], record["input"]
    by = shown["normalisation"]
    knn, fit = record["protocols"]["knn"], record["protocols"]["linear"]
    given = ", ".join(f"{key}={value}" for key, value in network["arguments"].items())
    stem = f", stem {network['stem']}" if network["stem"] else ""
    rows = [
        ("checkpoint", f"{weights['file']}, sha256 {weights['sha256']}"),
        ("names in it", _names(weights)),
        ("left over in it", ", ".join(weights["left_over"]) or "nothing"),
        ("network", f"{network['name']}{f' ({given})' if given else ''}{stem}"),
        ("features", f"{network['features']} numbers an image"),
        ("images", f"{record['images']['dataset']}, digest {record['images']['digest'][:16]}"),
        ("image size", f"{shown['side']} x {shown['side']} pixels"),
        (
            "normalisation",
            f"mean {by['mean']}, std {by['std']}" if by else "none: pixels from 0 to 1",
        ),
        (
            LABELS["linear"],
            f"softmax regression on standardised features, to the optimum by L-BFGS, penalty {fit['penalty']}",
        ),
        (LABELS["knn"], f"{knn['k']} neighbours, weights exp(cosine / {knn['temperature']})"),
        ("computed on", f"{record['device']}, {count_of(record['threads'], 'thread')}"),
        (
            "code",
            f"hypersphere {record['environment']['packages']['hypersphere']}, {record['code']}",
        ),
    ]
    return rows
