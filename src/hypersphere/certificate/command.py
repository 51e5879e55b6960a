"""``hypersphere probe``: a checkpoint of anybody's in, a certificate out. It needs no project."""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from hypersphere import files
from hypersphere.certificate import certificate, constructors, foreign_weights, images, page
from hypersphere.certificate import encoder as encoders
from hypersphere.certificate.claims import parse
from hypersphere.config import settings
from hypersphere.config.recipe import Normalisation
from hypersphere.config.validation import check_name, validate
from hypersphere.datasets.store import Prepared
from hypersphere.datasets.types import TEST, TRAIN
from hypersphere.errors import HypersphereError, NotFiniteError
from hypersphere.provenance import digests
from hypersphere.provenance.sources import code_digest
from hypersphere.training import device as devices
from hypersphere.training.determinism import make_deterministic

RECORD, PAGE, MARKDOWN = "certificate.json", "certificate.html", "certificate.md"
"""The files of a certificate."""
SCHEMA = 1
"""The version of the record's layout."""
CHANNELS = 3


@dataclass(frozen=True)
class Asked:
    """What was typed, as commands.yaml lists it."""

    checkpoint: Path
    model: str
    arguments: list[str]
    stem: constructors.Stem | None
    prefix: str
    dataset: str
    data: Path
    data_root: Path | None
    size: int | None
    normalisation: str
    neighbours: int
    claims: list[str]
    device: str
    threads: int
    out: Path | None


class Subject(NamedTuple):
    """An encoder with its foreign weights, and how it came by them."""

    network: nn.Module
    encoder: nn.Module
    """The network, which takes images in [0, 1] and gives vectors."""
    untrained: nn.Module
    """The same with its initial weights."""
    about: dict[str, Any]


def probe(**typed: Any) -> int:
    """Measure a checkpoint, print what is found, and write the certificate if ``out`` is given.

    All that needs no images is checked before any are read.

    Returns:
        The exit status: 1 if a claim lies above its interval, else 0.
    """
    asked = Asked(**typed)
    claims = tuple(parse(text) for text in asked.claims)
    for option in ("size", "neighbours", "threads"):
        number = getattr(asked, option)
        if number is not None and number < 1:
            raise HypersphereError(f"--{option}: must be at least 1 (given: {number})")
    shown = images.find(asked.dataset, asked.size, asked.data_root)
    side = asked.size or shown.side
    make_deterministic(asked.threads)
    subject = subject_of(asked, side)
    prepared = images.prepare(shown, asked.data)
    check_neighbours(asked.neighbours, prepared)
    before = encoders.digest(subject.network)
    with devices.acquire(asked.device) as device:
        try:
            found = certificate.measure(
                subject.encoder,
                subject.untrained,
                prepared,
                device,
                asked.neighbours,
                claims,
                Progress(),
            )
        except NotFiniteError as error:
            raise HypersphereError(f"{asked.checkpoint}: {error}") from None
        about = subject.about | {
            "images": of_images(prepared, asked.dataset),
            "device": devices.describe(device),
        }
    if encoders.digest(subject.network) != before:
        place = f"{constructors.OPTION}: {asked.model}"
        raise HypersphereError(f"{place}: changes its own tensors when it is used")
    record = page.record(found, about, len(prepared.class_names()))
    if asked.out is not None:
        write(asked.out, record)
    print(page.markdown(record), end="")
    return int(found.overclaimed)


def subject_of(asked: Asked, side: int) -> Subject:
    """The encoder of a checkpoint, for images of ``side`` pixels."""
    weights = foreign_weights.read(asked.checkpoint)
    arguments = settings.parse(asked.arguments)
    normalisation = normalisation_of(asked.normalisation)
    network, initial = (
        constructors.build(asked.model, arguments, asked.stem) for _ in ("trained", "untrained")
    )
    fit = foreign_weights.fit(network, weights.tensors, asked.checkpoint, asked.prefix)
    encoder = encoders.encoder(network, normalisation, asked.size)
    about = {
        "schema": SCHEMA,
        "checkpoint": {
            "file": asked.checkpoint.name,
            "sha256": files.sha256(asked.checkpoint),
            "inside": weights.inside,
            **fit._asdict(),
        },
        "network": {
            "name": asked.model,
            "arguments": arguments,
            "stem": asked.stem,
            "features": encoders.width(encoder, asked.model, side),
        },
        "input": {
            "side": side,
            "normalisation": normalisation and normalisation.model_dump(mode="json"),
        },
        "protocols": certificate.protocols(asked.neighbours),
        "threads": asked.threads,
        "code": code_digest("hypersphere.certificate.command"),
        "environment": digests.environment(),
    }
    return Subject(network, encoder, encoders.encoder(initial, normalisation, asked.size), about)


def normalisation_of(text: str) -> Normalisation | None:
    """The normalisation of a name, or of six numbers: mean and deviation of red, green and blue, by commas."""
    option = "--normalisation"
    if "," not in text:
        check_name(text, encoders.NORMALISATIONS, option)
        return encoders.NORMALISATIONS[text]
    numbers = settings.parse([f"{option}=[{text}]"])[option]
    if len(numbers) != 2 * CHANNELS:
        raise HypersphereError(f"{option}: must be a name or six numbers (given: '{text}')")
    values = {"mean": numbers[:CHANNELS], "std": numbers[CHANNELS:]}
    return validate(Normalisation, values, option)


def check_neighbours(neighbours: int, prepared: Prepared) -> None:
    """Refuse to ask more neighbours than there are training images, before anything is measured."""
    images_of_bank = prepared.manifest["splits"][TRAIN]["images"]
    if neighbours > images_of_bank:
        raise HypersphereError(
            f"--neighbours: must be at most {images_of_bank}, the training images (given: {neighbours})"
        )


def of_images(prepared: Prepared, name: str) -> dict[str, Any]:
    """What a record says of the images."""
    splits = prepared.manifest["splits"]
    return {
        "dataset": Path(name).name,
        "digest": prepared.digest,
        "train": splits[TRAIN]["images"],
        "test": splits[TEST]["images"],
        "classes": len(prepared.class_names()),
        "side": prepared.manifest["image_shape"][0],
        "source": prepared.manifest["source"],
        "licence": prepared.manifest["licence"],
        "repeated": prepared.repeated,
    }


def write(folder: Path, record: Mapping[str, Any]) -> None:
    """Write the record, with a digest of itself, and both pages of it."""
    files.write_text(folder / MARKDOWN, page.markdown(record))
    files.write_text(folder / PAGE, page.html(record))
    files.write_sealed(folder / RECORD, dict(record))


class Progress:
    """Says on standard error what was measured, with the seconds since the last time."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        print(f"{text} ({now - self._since:.0f} s)", file=sys.stderr, flush=True)
        self._since = now
