"""The corruptions' names and their parameters at severities 1 … 5, for small (32 px) and medium (64 px) images.

Values: the tables in the code that Hendrycks and Dietterich published with the benchmark, for CIFAR and for
Tiny-ImageNet. Lengths are in pixels, but the elastic transform's in shares of the side.
"""

from collections.abc import Callable
from typing import Any, Literal

from hypersphere.datasets.corrupting import blur, digital, noise, weather

Size = Literal["small", "medium"]
Settings = tuple[dict[str, Any], ...]

FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        noise.gaussian_noise,
        noise.shot_noise,
        noise.impulse_noise,
        blur.defocus_blur,
        blur.glass_blur,
        blur.motion_blur,
        blur.zoom_blur,
        weather.snow,
        weather.frost,
        weather.fog,
        weather.brightness,
        digital.contrast,
        digital.elastic_transform,
        digital.pixelate,
        digital.jpeg_compression,
        noise.speckle_noise,
        blur.gaussian_blur,
        weather.spatter,
        digital.saturate,
    )
}
"""By name; the benchmark's fifteen first, then its four for choosing hyperparameters."""
BENCHMARK = tuple(FUNCTIONS)[:15]
EXTRA = tuple(FUNCTIONS)[15:]
SEVERITIES = (1, 2, 3, 4, 5)


def _each(fields: str, *rows: Any) -> Settings:
    """One dictionary per severity from rows of values in the fields' order."""
    names = fields.split()
    return tuple(dict(zip(names, row if isinstance(row, tuple) else (row,), strict=True)) for row in rows)


SNOW = "mean scale zoom threshold radius sigma image"
SPATTER = "mean scale sigma threshold strength mud"

PARAMETERS: dict[Size, dict[str, Settings]] = {
    "small": {
        "gaussian_noise": _each("scale", 0.04, 0.06, 0.08, 0.09, 0.10),
        "shot_noise": _each("photons", 500, 250, 100, 75, 50),
        "impulse_noise": _each("share", 0.01, 0.02, 0.03, 0.05, 0.07),
        "defocus_blur": _each("radius alias", (0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1)),
        "glass_blur": _each("sigma reach rounds", (0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2)),
        "motion_blur": _each("radius sigma", (6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5)),
        "zoom_blur": _each("stop", 1.06, 1.11, 1.16, 1.21, 1.26),
        "snow": _each(
            SNOW,
            (0.1, 0.2, 1, 0.6, 8, 3, 0.95),
            (0.1, 0.2, 1, 0.5, 10, 4, 0.9),
            (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9),
            (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85),
            (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8),
        ),
        "frost": _each("image ice", (1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45)),
        "fog": _each("density decay", (0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75)),
        "brightness": _each("more", 0.05, 0.1, 0.15, 0.2, 0.3),
        "contrast": _each("factor", 0.75, 0.5, 0.4, 0.3, 0.15),
        "elastic_transform": _each(
            "reach sigma jitter",
            (0, 0, 0.08),
            (0.05, 0.2, 0.07),
            (0.08, 0.06, 0.06),
            (0.1, 0.04, 0.05),
            (0.1, 0.03, 0.03),
        ),
        "pixelate": _each("share", 0.95, 0.9, 0.85, 0.75, 0.65),
        "jpeg_compression": _each("quality", 80, 65, 58, 50, 40),
        "speckle_noise": _each("scale", 0.06, 0.1, 0.12, 0.16, 0.2),
        "gaussian_blur": _each("sigma", 0.4, 0.6, 0.7, 0.8, 1),
        "spatter": _each(
            SPATTER,
            (0.62, 0.1, 0.7, 0.7, 0.5, False),
            (0.65, 0.1, 0.8, 0.7, 0.5, False),
            (0.65, 0.3, 1, 0.69, 0.5, False),
            (0.65, 0.1, 0.7, 0.69, 0.6, True),
            (0.65, 0.1, 0.5, 0.68, 0.6, True),
        ),
        "saturate": _each("factor more", (0.3, 0), (0.1, 0), (1.5, 0), (2, 0.1), (2.5, 0.2)),
    },
    "medium": {
        "gaussian_noise": _each("scale", 0.04, 0.08, 0.12, 0.15, 0.18),
        "shot_noise": _each("photons", 250, 100, 50, 30, 15),
        "impulse_noise": _each("share", 0.01, 0.02, 0.05, 0.08, 0.14),
        "defocus_blur": _each("radius alias", (0.5, 0.6), (1, 0.1), (1.5, 0.1), (2.5, 0.01), (3, 0.1)),
        "glass_blur": _each("sigma reach rounds", (0.1, 1, 1), (0.5, 1, 1), (0.6, 1, 2), (0.7, 2, 1), (0.9, 2, 2)),
        "motion_blur": _each("radius sigma", (10, 1), (10, 1.5), (10, 2), (10, 2.5), (12, 3)),
        "zoom_blur": _each("stop", 1.06, 1.11, 1.16, 1.21, 1.26),
        "snow": _each(
            SNOW,
            (0.1, 0.2, 1, 0.6, 8, 3, 0.8),
            (0.1, 0.2, 1, 0.5, 10, 4, 0.8),
            (0.15, 0.3, 1.75, 0.55, 10, 4, 0.7),
            (0.25, 0.3, 2.25, 0.6, 12, 6, 0.65),
            (0.3, 0.3, 1.25, 0.65, 14, 12, 0.6),
        ),
        "frost": _each("image ice", (1, 0.3), (0.9, 0.4), (0.8, 0.45), (0.75, 0.5), (0.7, 0.55)),
        "fog": _each("density decay", (0.4, 3), (0.7, 3), (1, 2.5), (1.5, 2), (2, 1.75)),
        "brightness": _each("more", 0.1, 0.2, 0.3, 0.4, 0.5),
        "contrast": _each("factor", 0.4, 0.3, 0.2, 0.1, 0.05),
        "elastic_transform": _each(
            "reach sigma jitter",
            (0, 0, 0.08),
            (0.05, 0.3, 0.06),
            (0.1, 0.08, 0.06),
            (0.1, 0.03, 0.03),
            (0.16, 0.03, 0.02),
        ),
        "pixelate": _each("share", 0.9, 0.8, 0.7, 0.6, 0.5),
        "jpeg_compression": _each("quality", 65, 58, 50, 40, 25),
        "speckle_noise": _each("scale", 0.15, 0.2, 0.25, 0.3, 0.35),
        "gaussian_blur": _each("sigma", 0.5, 0.75, 1, 1.25, 1.5),
        "spatter": _each(
            SPATTER,
            (0.62, 0.1, 0.7, 0.7, 0.6, False),
            (0.65, 0.1, 0.8, 0.7, 0.6, False),
            (0.65, 0.3, 1, 0.69, 0.6, False),
            (0.65, 0.1, 0.7, 0.68, 0.6, True),
            (0.65, 0.1, 0.5, 0.67, 0.6, True),
        ),
        "saturate": _each("factor more", (0.3, 0), (0.1, 0), (2, 0), (5, 0.1), (30, 0.2)),
    },
}
"""By size of image, then name; one set of arguments for each severity."""
