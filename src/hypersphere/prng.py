"""Random numbers without hidden state: every draw is a pure function of a key.

A key is (seed, purpose, …): ``uniform((n, 4), 0, "crop", epoch)`` gives the same array in every process, whatever
was drawn before. The draws come from Philox's raw counter stream, which numpy promises not to change between releases.
numpy gives no such promise for its distributions, so they are not used here.
"""

import hashlib
import math

import numpy as np
from jaxtyping import Float, Int, UInt64


def _key(seed: int, parts: tuple[str | int, ...]) -> int:
    words = [str(part) for part in (seed, *parts)]
    if any("/" in word for word in words):  # ("a/b",) and ("a", "b") would be one key
        raise ValueError(f"prng: a part of a purpose must hold no slash (given: {parts})")
    text = "/".join(words)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")


def raw(count: int, seed: int, *purpose: str | int) -> UInt64[np.ndarray, "count"]:
    """``count`` independent 64-bit words for the key (seed, purpose…)."""
    return np.random.Philox(key=_key(seed, purpose)).random_raw(count)


def uniform(shape: tuple[int, ...], seed: int, *purpose: str | int) -> Float[np.ndarray, "..."]:
    """Independent draws from [0, 1), 53 bits each, of the given shape."""
    words = raw(math.prod(shape), seed, *purpose)
    return ((words >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(shape)


def permutation(n: int, seed: int, *purpose: str | int) -> Int[np.ndarray, "n"]:
    """A uniformly random order of 0 … n-1; position breaks ties among the 64-bit words."""
    return np.argsort(raw(n, seed, *purpose), kind="stable")


def torch_seed(seed: int, *purpose: str | int) -> int:
    """A 63-bit seed for the ``torch.Generator`` of this key."""
    return _key(seed, purpose) & (2**63 - 1)
