"""Keyed draws: pure functions of their key, uniform, and pinned word by word."""

import hashlib
import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats

from hypersphere import prng

pytestmark = pytest.mark.pythons


def philox(key: int, count: int) -> list[int]:
    """Philox4x64-10 as its paper has it (Salmon et al. 2011, Sec. 3.3), in Python integers; numpy counts from 1."""
    word = 2**64
    words: list[int] = []
    block = 0
    while len(words) < count:
        block += 1
        c, k = [block, 0, 0, 0], [key % word, key >> 64]
        for i in range(10):
            if i:
                k = [(k[0] + 0x9E3779B97F4A7C15) % word, (k[1] + 0xBB67AE8584CAA73B) % word]
            high_0, low_0 = divmod(0xD2E7470EE14C6C93 * c[0], word)
            high_1, low_1 = divmod(0xCA5A826395121157 * c[2], word)
            c = [high_1 ^ c[1] ^ k[0], low_1, high_0 ^ c[3] ^ k[1], low_0]
        words += c
    return words[:count]


@pytest.mark.parametrize(
    ("parts", "text"), [((0, "crop", 3), "0/crop/3"), ((7, "order"), "7/order"), ((1,), "1")]
)
def test_words_are_philox_of_the_hashed_key(parts: tuple[int, ...], text: str) -> None:
    """Two independent paths: numpy's generator built here from hashlib, and the algorithm written out above."""
    key = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")
    ours = prng.raw(11, *parts).tolist()
    assert ours == np.random.Philox(key=key).random_raw(11).tolist()
    assert ours == philox(key, 11)


def test_first_words_never_change() -> None:
    """Golden: published results were drawn from these."""
    golden = [
        "0x2940d5f2e4e28dd6",
        "0x4920b2fd04406542",
        "0xfaf335bbfd394ddb",
        "0x8c5f10301a647d65",
    ]
    assert [hex(word) for word in prng.raw(4, 0, "crop", 0).tolist()] == golden


def test_a_fresh_process_draws_the_same_bytes() -> None:
    code = (
        "import hashlib; from hypersphere import prng; prng.uniform((9,), 5, 'other');"
        "print(hashlib.sha256(prng.uniform((50, 3), 4, 'crop', 2).tobytes()).hexdigest())"
    )
    fresh = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = prng.uniform((50, 3), 4, "crop", 2).tobytes()
    assert fresh.stdout.strip() == hashlib.sha256(ours).hexdigest()


@pytest.mark.parametrize(
    "other", [(1, "crop", 2), (0, "flip", 2), (0, "crop", 3), (0, "crop"), (0, "crop", 2, 0)]
)
def test_another_key_draws_other_numbers(other: tuple[int, ...]) -> None:
    a, b = prng.uniform((2000,), 0, "crop", 2), prng.uniform((2000,), *other)
    assert not np.intersect1d(a, b).size
    assert abs(np.corrcoef(a, b)[0, 1]) < 4 / math.sqrt(2000)


@pytest.mark.parametrize("purpose", [("a/b",), ("a", "/"), ("", "a/")])
def test_a_slash_in_a_purpose_is_refused(purpose: tuple[str, ...]) -> None:
    """It parts purposes: ("a/b",) and ("a", "b") would be one key."""
    for draw in (lambda: prng.uniform((3,), 0, *purpose), lambda: prng.torch_seed(0, *purpose)):
        with pytest.raises(ValueError, match="must hold no slash"):
            draw()


@pytest.mark.parametrize("purpose", ["crop", "order", "flip"])
def test_uniform_is_uniform(purpose: str) -> None:
    """Kolmogorov-Smirnov of scipy; a fixed key, so this cannot fail by chance."""
    u = prng.uniform((20000,), 0, purpose)
    assert u.min() >= 0
    assert u.max() < 1
    assert scipy.stats.kstest(u, "uniform").pvalue > 0.01
    assert abs(u.mean() - 0.5) < 4 / math.sqrt(12 * 20000)
    assert scipy.stats.kstest(u**1.05, "uniform").pvalue < 0.01  # control: the test can fail


def test_uniform_takes_the_upper_53_bits() -> None:
    words = prng.raw(6, 3, "a").tolist()
    expected = [[(word >> 11) / 2**53 for word in words[i : i + 2]] for i in (0, 2, 4)]
    assert prng.uniform((3, 2), 3, "a").tolist() == expected


def test_a_longer_array_begins_with_the_shorter_one() -> None:
    assert np.array_equal(
        prng.uniform((100, 2, 4), 0, "crop")[:7], prng.uniform((7, 2, 4), 0, "crop")
    )


@pytest.mark.parametrize("n", [0, 1, 2, 500])
def test_permutation_is_one(n: int) -> None:
    assert sorted(prng.permutation(n, 0, "order").tolist()) == list(range(n))


def test_permutations_are_equally_likely() -> None:
    """Chi-squared over the 24 orders of four things."""
    orders = [tuple(prng.permutation(4, seed, "order").tolist()) for seed in range(2400)]
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 24
    assert scipy.stats.chisquare(counts).pvalue > 0.01


def test_torch_seed_fits_a_generator_and_depends_on_the_key() -> None:
    key = int.from_bytes(hashlib.sha256(b"0/initial/conv1.weight").digest()[:16], "little")
    assert prng.torch_seed(0, "initial", "conv1.weight") == key % 2**63
