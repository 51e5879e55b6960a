"""Show the datasets in docs/: the page docs/datasets.md, made of data/datasets.csv, and grids of images.

``python -m hypersphere.datasets.showing docs/datasets.md`` writes the page. A dataset with a picture in
``docs/images/datasets`` is shown there; followed by the picture's file and a prepared dataset's folder in
``data/processed``, the command draws one: a column for each class, or images of any class.
"""

import io
import sys
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int64
from PIL import Image
from torchvision.utils import make_grid

from hypersphere import files, prng
from hypersphere.datasets import store
from hypersphere.datasets.reading import published
from hypersphere.datasets.reading.image_files import resize_all
from hypersphere.datasets.reading.published import Published
from hypersphere.datasets.store import Prepared
from hypersphere.datasets.types import CLASS, TRAIN

IMAGES = "images/datasets"
HEAD = """# Datasets

Generated from `data/datasets.csv` by `python -m hypersphere.datasets.showing docs/datasets.md`. Code reads
addresses and checksums from that table and from nowhere else. `data/README.md` says how data are stored and fetched,
and `config/datasets.yaml` which part of a dataset is used, at which size. None of these files is in this repository.

A file is fetched from its address and, if that fails, from its archive, a second place with the same bytes. A
dataset without a picture could not be had where this page was made; nothing is drawn in its place.
"""
SMALLEST, LARGEST = 32, 96
"""Sides of an image in a grid, pixels: smaller images are enlarged by a whole factor, larger ones shrunk."""
GAP = 2  # pixels of white between images
COLOURS = 128


def page(table: dict[str, Published], pictures: set[str]) -> str:
    """The page in Markdown; ``pictures`` names the datasets that have one, and no other is shown."""
    rows, sections = ["| name | dataset | size | licence |", "| --- | --- | --: | --- |"], []
    for one in table.values():
        sizes = [file.bytes for file in one.files.values()]
        known = [size for size in sizes if size is not None]
        size = _size(sum(known)) if sizes and len(known) == len(sizes) else ""
        anchor = "".join(
            c for c in one.title.lower().replace(" ", "-") if c.isalnum() or c == "-"
        )  # as GitHub names it
        rows.append(f"| `{one.name}` | [{one.title}](#{anchor}) | {size} | {one.licence} |")
        content = one.content[:1].upper() + one.content[1:]
        sections += [f"## {one.title}", "", f"{content}. Version: {one.version}. <{one.homepage}>", ""]
        if one.name in pictures:
            sections += [f"![Images of {one.title}]({IMAGES}/{one.name}.png)", ""]
        sections += [f"Licence: {one.licence}.", "", f"Cite: {one.citation}.", ""]
        if not one.files:
            sections += ["Not downloaded: put the folder into `data/raw` or `data_root`.", ""]
            continue
        sections += ["| file | bytes | md5 | address |", "| --- | --: | --- | --- |"]
        for file in one.files.values():
            places = [f"<{address}>" for address in (file.address, file.archive_address) if address]
            size = "" if file.bytes is None else f"{file.bytes:,}"
            sections.append(f"| `{file.name}` | {size} | `{file.md5}` | {'; archive '.join(places)} |")
        sections.append("")
    return "\n".join([HEAD, *rows, "", *sections])


def _size(count: int) -> str:
    """For example ``2.6 GB``."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if count >= 10**power:
            return f"{count / 10**power:.3g} {unit}"
    return f"{count} bytes"


def pictures(folder: Path) -> set[str]:
    """Names of the datasets that have a picture beside the page in ``folder``."""
    return {path.stem for path in (folder / IMAGES).glob("*.png")}


def grid(prepared: Prepared, split: str = TRAIN, rows: int = 5, columns: int = 10) -> bytes:
    """A PNG of a split's images, with a palette of ``COLOURS`` colours.

    Classes have a column each, if there are columns enough; otherwise the images are of any class.
    """
    images = prepared.split(split).images
    places = choose(prepared, split, rows, columns)
    factor = max(1, SMALLEST // images.shape[1])
    shown = images[places.reshape(-1)].repeat(factor, axis=1).repeat(factor, axis=2)
    shown = resize_all(shown, min(shown.shape[1], LARGEST))
    channels_first = torch.from_numpy(shown.transpose(0, 3, 1, 2).copy())
    page = make_grid(channels_first, nrow=places.shape[1], padding=GAP, pad_value=255)[:, GAP:-GAP, GAP:-GAP]
    buffer = io.BytesIO()
    Image.fromarray(page.permute(1, 2, 0).numpy()).quantize(COLOURS).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def choose(prepared: Prepared, split: str, rows: int, columns: int) -> Int64[np.ndarray, "r c"]:
    """Places of images in the split: drawn by a fixed key, so that a picture can be drawn again."""
    part = prepared.split(split)
    order = prng.permutation(len(part.images), 0, "grid", split).astype(np.int64)
    if CLASS in part.labels and prepared.classes() <= columns:
        labels = part.labels[CLASS][order]
        by_class = [order[labels == label] for label in range(prepared.classes())]
        if fewest := min(rows, *map(len, by_class)):
            return np.stack([members[:fewest] for members in by_class], axis=1)
    width = min(columns, len(order))
    return order[: min(rows, len(order) // width) * width].reshape(-1, width)


if __name__ == "__main__":
    target, *prepared = map(Path, sys.argv[1:])
    if prepared:
        with files.replacing(target) as temporary:
            temporary.write_bytes(grid(store.open(prepared[0])))
    else:
        files.write_text(target, page(published.table(), pictures(target.parent)))
