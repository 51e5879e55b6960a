"""People's labels of CIFAR's images: CIFAR-10H, CIFAR-10N and CIFAR-100N, with every byte checked before use.

CIFAR-10H: J. C. Peterson, R. M. Battleday, T. L. Griffiths, O. Russakovsky, Human uncertainty makes classification more
robust, ICCV 2019; CC BY-NC-SA 4.0: cite the paper, no commercial use, share alike. CIFAR-10N and CIFAR-100N: J. Wei,
Z. Zhu, H. Cheng, T. Liu, G. Niu, Y. Liu, Learning with noisy labels revisited: a study using real-world human
annotations, ICLR 2022; CC BY-NC 4.0: cite the paper, no commercial use.

Files are in ``human/`` of a data folder: one .npy file per array, or the files as published. CIFAR-N is published as
pickles in zip archives. Their sha256 is checked first, and they may use only the four names that build an array.
"""

import codecs
import io
import pickle
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int64

from hypersphere.datasets.reading import published
from hypersphere.datasets.types import CLASS, TEST, TRAIN, Arrays
from hypersphere.errors import HypersphereError


class HumanLabels(NamedTuple):
    """Row i is image i of the set's official order. Classes are 0 … 9, fine ones 0 … 99, coarse ones 0 … 19.

    ``clean`` labels are the official ones. CIFAR-10N has the labels of three people per image (``random``), their
    majority's label (``aggre``), and one of their wrong labels if there is any (``worse``). CIFAR-100N has the label of
    one person.
    """

    cifar10h_counts: Int64[np.ndarray, "10000 10"]
    """Number of people who chose each class, for each test image of CIFAR-10."""
    cifar10n_clean_label: Int64[np.ndarray, "50000"]
    cifar10n_aggre_label: Int64[np.ndarray, "50000"]
    cifar10n_worse_label: Int64[np.ndarray, "50000"]
    cifar10n_random_label1: Int64[np.ndarray, "50000"]
    cifar10n_random_label2: Int64[np.ndarray, "50000"]
    cifar10n_random_label3: Int64[np.ndarray, "50000"]
    cifar100n_clean_label: Int64[np.ndarray, "50000"]
    cifar100n_noisy_label: Int64[np.ndarray, "50000"]
    cifar100n_clean_coarse_label: Int64[np.ndarray, "50000"]
    cifar100n_noisy_coarse_label: Int64[np.ndarray, "50000"]


PUBLISHED = {"cifar10h-counts.npy": "cifar10h", "CIFAR-10_human.pt": "cifar_n", "CIFAR-100_human.pt": "cifar_n"}
"""The published files, and the rows of data/datasets.csv that have their addresses."""
PICKLED = {"CIFAR-10_human.pt": "cifar10n-", "CIFAR-100_human.pt": "cifar100n-"}
"""Those that hold several arrays: an array's name here is this and its name in the file."""

CIFAR10H = "cifar10h"
ENTROPY = f"{CIFAR10H}-entropy"
AGREES = 0.9
"""People's most frequent choice is the official label of 99.21 % of CIFAR-10's test images; of others', of a tenth."""
# Number of classes -> our labels -> the field of HumanLabels with the same labels, by which the order is checked.
CLEAN = {
    10: {CLASS: "cifar10n_clean_label"},
    100: {CLASS: "cifar100n_clean_label", "coarse": "cifar100n_clean_coarse_label"},
}
# Number of classes -> name of the added labels -> field of HumanLabels, and the labels whose classes they have.
ADDED = {
    10: {
        "cifar10n-aggregate": ("cifar10n_aggre_label", CLASS),
        "cifar10n-worst": ("cifar10n_worse_label", CLASS),
        **{f"cifar10n-random-{i}": (f"cifar10n_random_label{i}", CLASS) for i in (1, 2, 3)},
    },
    100: {
        "cifar100n": ("cifar100n_noisy_label", CLASS),
        "cifar100n-coarse": ("cifar100n_noisy_coarse_label", "coarse"),
    },
}

# The functions and classes that build a pickled array, under the names that numpy had when the files were made.
ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): codecs.encode,
}


def human(root: Path, download: bool = True) -> HumanLabels:
    """The labels of all three sets, from ``human/`` of the data folder."""
    arrays: dict[str, np.ndarray] = {}
    for file in PUBLISHED:
        for name, content in _contents(root / "human", file, download).items():
            arrays[name.removesuffix(".npy").replace("-", "_")] = np.load(io.BytesIO(content), allow_pickle=False)
    return HumanLabels(**arrays)


def add(arrays: Arrays, people: HumanLabels) -> Arrays:
    """CIFAR-10 or CIFAR-100 with people's labels beside the official ones, by the names in ``ADDED``.

    CIFAR-10's test split gets the label ``cifar10h``, the class that most people chose (of several, the first), and the
    attributes ``cifar10h-agreement``, the share of people who chose it, and ``cifar10h-entropy``, see ``entropies``.
    """
    splits, class_names = dict(arrays.splits), dict(arrays.class_names)
    fine = len(class_names[CLASS])
    train = splits[TRAIN]
    for label, clean in CLEAN[fine].items():
        if not np.array_equal(train.labels[label], getattr(people, clean)):
            raise HypersphereError(
                f"human: {clean}: differs from the official labels of CIFAR-{fine}'s training images"
            )
    given = {name: getattr(people, field) for name, (field, _) in ADDED[fine].items()}
    splits[TRAIN] = train._replace(labels={**train.labels, **given})
    class_names |= {name: class_names[label] for name, (_, label) in ADDED[fine].items()}
    if fine == 10:
        votes, test = people.cifar10h_counts, splits[TEST]
        chosen = votes.argmax(axis=1).astype(np.int64)
        if len(votes) != len(test.images) or (chosen == test.labels[CLASS]).mean() < AGREES:
            raise HypersphereError("human: cifar10h-counts: people's choices are not those of CIFAR-10's test images")
        splits[TEST] = test._replace(
            labels={**test.labels, CIFAR10H: chosen},
            attributes={
                **test.attributes,
                f"{CIFAR10H}-agreement": votes.max(axis=1) / votes.sum(axis=1),
                ENTROPY: entropies(votes),
            },
        )
        class_names[CIFAR10H] = class_names[CLASS]
    return arrays._replace(splits=splits, class_names=class_names)


def entropies(counts: Int64[np.ndarray, "images classes"]) -> Float[np.ndarray, "images"]:
    """-sum p ln p of each image's label distribution, p = count/people (norms paper, Sec. 5, Fig. 4 right), in nats."""
    share = counts / counts.sum(axis=1, keepdims=True)
    return -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=1)


def _contents(folder: Path, file: str, download: bool) -> dict[str, bytes]:
    """A published file's arrays as .npy files, checked; from the .npy files in the folder if all of them exist."""
    prefix = PICKLED.get(file, file)
    names = [path.removeprefix("human/") for path in published.checksums() if path.startswith(f"human/{prefix}")]
    if all((folder / name).exists() for name in names) and not (download and file in names):
        return {name: _checked(folder / name, download) for name in names}
    path, source = folder / file, published.table()[PUBLISHED[file]].files[file]
    if download:
        published.obtain(source, path)
    elif not path.exists():
        missing = next(name for name in names if not (folder / name).exists())
        absent = f"no {file}" if file in names else f"neither {missing} nor {file}"
        raise HypersphereError(f"{folder}: holds {absent}, which is published at {source.address}")
    content = _checked(path, download)
    if file in names:
        return {file: content}
    contents = {}
    for field, labels in _unpickled(content).items():
        buffer = io.BytesIO()
        np.save(buffer, np.asarray(labels, dtype=np.int64), allow_pickle=False)
        contents[f"{prefix}{field}.npy"] = buffer.getvalue()
    for name, array in contents.items():
        if name not in names or published.damage(array, f"human/{name}"):
            raise HypersphereError(f"{path}: {name} differs from the array in the published file")
    return contents


def _checked(path: Path, download: bool) -> bytes:
    """Content of a file, after its sha256 is checked."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None
    if problem := published.damage(content, f"human/{path.name}"):
        raise HypersphereError(f"{path}: {problem}; {published.remedy(path, download)}")
    return content


class _Arrays(pickle.Unpickler):
    """Builds arrays and plain values, and refuses everything else in a pickle."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of an array")
        return ALLOWED[module, name]


def _unpickled(content: bytes) -> dict[str, Any]:
    """The dictionary that torch.save put in a zip archive. Without tensors all of it is in one pickle."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        member = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        labels: dict[str, Any] = _Arrays(io.BytesIO(archive.read(member))).load()
    return labels
