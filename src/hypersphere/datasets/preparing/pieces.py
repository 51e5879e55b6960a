"""Write images, or tokens, to a .npy file a few at a time, so that memory holds a piece and never a split.

The bytes are those of ``numpy.save``. They are written from first to last, not through a memory map: on a full disk a
write is an error that becomes a sentence, and a memory map kills the process.
"""

from pathlib import Path

import numpy as np
from jaxtyping import Int64, UInt8

from hypersphere.datasets.types import Pieces
from hypersphere.errors import HypersphereError

PIECE = 2**25
"""Bytes of images that are read at once."""


def write(path: Path, images: UInt8[np.ndarray, "N H W 3"] | Pieces, kept: Int64[np.ndarray, "K"]) -> None:
    """Write the images of these numbers, which ascend, as an array [K, H, W, 3]; tokens as [K, S, L], int32.

    Raises:
        HypersphereError: the images that were read have another shape or type than announced.
    """
    shape = images.shape[1:]
    step = max(1, PIECE // max(1, int(np.prod(shape)) * images.dtype.itemsize))
    with path.open("wb") as handle:
        descr = np.lib.format.dtype_to_descr(images.dtype)
        header = {"descr": descr, "fortran_order": False, "shape": (len(kept), *shape)}
        np.lib.format.write_array_header_1_0(handle, header)
        for start in range(0, len(kept), step):
            numbers = kept[start : start + step]
            piece = images[numbers]
            if piece.shape != (len(numbers), *shape) or piece.dtype != images.dtype:
                announced = (len(numbers), *shape)
                raise HypersphereError(
                    f"{path.parent.name}: the images from number {numbers[0]} on are {piece.dtype} {piece.shape}, not "
                    f"{images.dtype} {announced}, as the source announced"
                )
            handle.write(np.ascontiguousarray(piece).data)
