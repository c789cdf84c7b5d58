"""Points for TensorBoard's projector: tables of numbers and labels, a sheet of pictures, and the list of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from funcgrad.utils.tensorboard.pictures import png


def write_points(folder: Path, points: NDArray[Any]) -> None:
    """Write a row for each point. AssertionError for what is no matrix."""
    if points.ndim != 2:
        raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
    rows = ("\t".join(str(number) for number in row) for row in points.tolist())
    (folder / "tensors.tsv").write_text("".join(f"{row}\n" for row in rows))


def write_labels(folder: Path, labels: Sequence[Any], header: Sequence[str] | None, count: int) -> None:
    """Write a label for each point, or a row of them below a header. AssertionError for other numbers of them."""
    if len(labels) != count:
        raise AssertionError("#labels should equal with #data points")
    if header and len(header) != len(labels[0]):
        raise AssertionError("len of header must be equal to the number of columns in metadata")
    rows = ["\t".join(map(str, row)) for row in [header, *labels]] if header else list(map(str, labels))
    (folder / "metadata.tsv").write_text("\n".join(rows) + "\n")


def write_sheet(folder: Path, pictures: NDArray[Any], count: int) -> None:
    """Write a square of pictures in rows. Shape (N, C, H, W), numbers from 0 to 1. AssertionError for another N."""
    if len(pictures) != count:
        raise AssertionError("#images should equal with #data points")
    side = int(np.ceil(np.sqrt(len(pictures))))
    sheet = np.zeros((side * side, *pictures.shape[1:]), pictures.dtype)
    sheet[: len(pictures)] = pictures
    colours, height, width = pictures.shape[1:]
    joined = sheet.reshape(side, side, colours, height, width).transpose(0, 3, 1, 4, 2)
    pixels = joined.reshape(side * height, side * width, colours)
    (folder / "sprite.png").write_bytes(png(np.clip(pixels * 255, 0, 255).astype(np.uint8)))


def entry_of(tag: str, step: int, place: str, has_labels: bool, pictures: NDArray[Any] | None) -> str:
    """Return what the projector's list of tables says of one."""
    lines = [f'tensor_name: "{tag}:{step:05d}"']
    lines += [f'metadata_path: "{place}/metadata.tsv"'] if has_labels else []
    if pictures is not None:
        sizes = [f"  single_image_dim: {pictures.shape[dim]}" for dim in (3, 2)]
        lines += ["sprite {", f'  image_path: "{place}/sprite.png"', *sizes, "}"]
    lines.append(f'tensor_path: "{place}/tensors.tsv"')
    return "embeddings {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def encoded(tag: str) -> str:
    """Return a tag as the name of a folder."""
    for letter in "%/\\":
        tag = tag.replace(letter, f"%{ord(letter):02x}")
    return tag
