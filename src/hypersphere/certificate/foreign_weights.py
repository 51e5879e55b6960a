"""Weights from other people's files: read without running code, and fitted to a network by the names of tensors.

Training code saves more than an encoder: optimisers, heads, a second network, and prefixes of its own before each name.
The encoder's names decide which tensors of a file are its weights; nothing is guessed from the name of a library.
"""

import re
import warnings
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load
from torch import Tensor, nn

from hypersphere import files
from hypersphere.errors import HypersphereError
from hypersphere.wording import count_of, in_one_line

WRAPPERS = (
    "state_dict",
    "model_state_dict",
    "teacher",
    "model",
    "student",
    "encoder",
    "backbone",
    "network",
    "net",
)
"""Keys below which training code keeps weights, the first of several first. Of DINO's two networks the teacher is the
one that its authors measure."""
SHOWN = 3
"""How many of the names that differ a sentence shows."""
LONGEST = 120
"""Characters of a library's complaint that a sentence repeats."""
FORBIDDEN = re.compile(r"Unsupported (?:global: GLOBAL|class) (\S+)")
"""How torch says which object of a pickle it would have to run code for."""
NEEDS_CODE = "Weights only load failed"
"""How torch begins where it does not say which."""
COUNTER = "num_batches_tracked"
"""A buffer of batch norm that old files lack, and that is not used in evaluation mode."""


class Weights(NamedTuple):
    """The tensors of a file by name, and the keys below which they lay, such as ``teacher``; empty: the file's top."""

    tensors: dict[str, Tensor]
    inside: str


class Fit(NamedTuple):
    """How a file's names became the network's names."""

    prefix: str
    """What stood before each name."""
    others: tuple[str, ...]
    """Other prefixes that fit as well: of a momentum encoder, for example."""
    left_over: tuple[str, ...]
    """The parts of the file that the network does not have: heads, queues, a second network."""
    numbered: bool
    """Whether the file counts the network's parts (``4.0.conv1.weight`` for ``layer1.0.conv1.weight``), as weights
    from an ``nn.Sequential`` of its children do."""


def read(path: Path) -> Weights:
    """The weights in a file, on the CPU.

    Raises:
        HypersphereError: the file is missing, is not a file of weights, or needs code to be read.
    """
    content = _content(path)
    try:
        value = load(content) if content[8:9] == b"{" else _unpickled(path)
    # the readers may raise anything for bytes that are not as they should be
    except Exception as error:
        raise HypersphereError(f"{path}: {_complaint(error)}") from None
    inside: list[str] = []
    while isinstance(value, Mapping) and not _holds_tensors(value):
        key = next((one for one in WRAPPERS if isinstance(value.get(one), Mapping)), None)
        if key is None:
            raise HypersphereError(f"{path}: holds no weights, only {_listed(value) or 'nothing'}")
        inside.append(key)
        value = value[key]
    if not isinstance(value, Mapping):
        raise HypersphereError(
            f"{path}: holds a value of type {type(value).__name__}, and not weights by name"
        )
    tensors = {str(name): one for name, one in value.items() if isinstance(one, Tensor)}
    _check_finite(tensors, path)
    return Weights(tensors, ".".join(inside))


def _content(path: Path) -> bytes:
    """The bytes of a file of safetensors; of any other file the first ones."""
    files.check_regular(path)
    try:
        with path.open("rb") as opened:
            head = opened.read(9)
            return head + opened.read() if head[8:9] == b"{" else head
    except FileNotFoundError:
        raise HypersphereError(f"{path}: the file is missing") from None
    except OSError as error:
        raise HypersphereError(f"{path}: cannot be read ({error.strerror})") from None


def _unpickled(path: Path) -> Any:
    """What torch reads of a file without running code. ``Namespace``, which holds options, runs none."""
    torch.serialization.add_safe_globals([Namespace])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.load(path, map_location="cpu", weights_only=True)


def _complaint(error: Exception) -> str:
    """Why a file cannot be read, for people."""
    forbidden = FORBIDDEN.search(str(error))
    if forbidden:
        name = forbidden[1].strip("'\"`")
        advice = "save its state_dict alone, if you trust it"
        return f"holds {name}, which cannot be read without running code; {advice}"
    if NEEDS_CODE in str(error):
        return "is not a file of weights that can be read without running code"
    first = re.split(r"\n|(?<=\w)\. ", str(error).strip())[0][:LONGEST]
    return f"is not a file of weights ({in_one_line(first) or type(error).__name__})"


def _holds_tensors(value: Mapping[Any, Any]) -> bool:
    return any(isinstance(one, Tensor) for one in value.values())


def _listed(names: Iterable[Any], most: int = SHOWN) -> str:
    """The first names, and how many more there are."""
    texts = [str(name) for name in names]
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


def _check_finite(tensors: Mapping[str, Tensor], path: Path) -> None:
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise HypersphereError(f"{path}: {name}: holds values that are NaN or infinite")


def fit(network: nn.Module, tensors: Mapping[str, Tensor], path: Path, prefix: str = "") -> Fit:
    """Load the tensors that are a network's into it, in place.

    Args:
        path: the file, for errors.
        prefix: what stands before the network's names, where several networks of the file fit; empty: the prefix by
            which most names are found, and of several the first in the file.

    Raises:
        HypersphereError: a tensor of the network is not in the file or has another shape, or the file has more tensors
            of a part that the network has, too.
    """
    own = {name: name for name in network.state_dict()}
    by_number = _numbered(network)
    found, counted_names = _prefixes(tensors, own), _prefixes(tensors, by_number)
    numbered = max(counted_names.values(), default=0) > max(found.values(), default=0)
    if numbered:
        found, own = counted_names, by_number
    prefixes = _best(found)
    if prefix:
        if prefix not in found:
            raise HypersphereError(f"{path}: --prefix: no weights of the network follow '{prefix}'")
        prefixes = [prefix, *(one for one in prefixes if one != prefix)]
    if not prefixes:
        raise HypersphereError(
            f"{path}: does not fit: it has {_listed(tensors)}; the network has {_listed(own.values())}"
        )
    chosen = prefixes[0]
    differences = _differences(network, tensors, own, chosen)
    if differences:
        shown = "; ".join(differences[:SHOWN])
        more = len(differences) - SHOWN
        rest = f"; and {count_of(more, 'difference')} more" if more > 0 else ""
        raise HypersphereError(f"{path}: does not fit: {shown}{rest}")
    state = network.state_dict()
    taken = {name: chosen + alias for name, alias in own.items() if chosen + alias in tensors}
    network.load_state_dict(state | {name: tensors[place] for name, place in taken.items()})
    left_over = _left_over(tensors, set(taken.values()), chosen)
    return Fit(chosen, tuple(prefixes[1:]), left_over, numbered)


def _numbered(network: nn.Module) -> dict[str, str]:
    """The network's names, each with its name in an ``nn.Sequential`` of the network's children."""
    numbers = {name: str(number) for number, (name, _) in enumerate(network.named_children())}
    names = {}
    for name in network.state_dict():
        part, dot, rest = name.partition(".")
        names[name] = f"{numbers.get(part, part)}{dot}{rest}"
    return names


def _prefixes(tensors: Iterable[str], own: Mapping[str, str]) -> Counter[str]:
    """What stands before the network's names in a file, and before how many of them."""
    wanted = set(own.values())
    prefixes: Counter[str] = Counter()
    for name in tensors:
        parts = name.split(".")
        for start in range(len(parts)):
            if ".".join(parts[start:]) in wanted:
                prefixes["".join(f"{part}." for part in parts[:start])] += 1
    return prefixes


def _best(prefixes: Counter[str]) -> list[str]:
    """The prefixes of most names, in the order of the file."""
    most = max(prefixes.values(), default=0)
    return [prefix for prefix, count in prefixes.items() if count == most]


def _differences(
    network: nn.Module, tensors: Mapping[str, Tensor], own: Mapping[str, str], prefix: str
) -> list[str]:
    """What keeps the file's tensors from being the network's: shapes, what is missing, what is too many."""
    found = []
    for name, tensor in network.state_dict().items():
        place = prefix + own[name]
        given = tensors.get(place)
        if given is None:
            if not name.endswith(COUNTER):
                found.append(f"{place} is missing")
        elif given.shape != tensor.shape:
            found.append(f"{place} is {list(given.shape)}, not {list(tensor.shape)}")
    parts = {alias.partition(".")[0] for alias in own.values()}
    known = set(own.values())
    for place in tensors:
        name = place.removeprefix(prefix)
        of_a_part = place.startswith(prefix) and name.partition(".")[0] in parts
        if of_a_part and name not in known:
            found.append(f"the network has no {name}")
    return found


def _left_over(tensors: Iterable[str], taken: set[str], prefix: str) -> tuple[str, ...]:
    """The parts of the file that were not taken, by the beginnings of their names."""
    depth = prefix.count(".")
    parts: dict[str, None] = {}
    for name in tensors:
        if name not in taken:
            length = depth + 1 if name.startswith(prefix) else max(depth, 1)
            parts[".".join(name.split(".")[:length])] = None
    return tuple(parts)
