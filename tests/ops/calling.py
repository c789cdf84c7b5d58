"""How a sample is made into a call: of torch (to record), of funcgrad's public function, or of the bare row."""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tests.ops import samples as families
from tests.ops.samples import Given, Kind, Sample

RECORDED = Path(__file__).parent / "recorded"


def family_names() -> list[str]:
    """Return the names of the sample files."""
    return sorted(module.name for module in pkgutil.iter_modules(families.__path__))


def samples_of(family: str) -> dict[str, list[Sample]]:
    """Return a family's samples by public name."""
    return importlib.import_module(f"tests.ops.samples.{family}").SAMPLES


def fingerprint(name: str, sample: Sample) -> int:
    """Return a number that changes when the call does, so that stale records are noticed."""
    return zlib.crc32(repr((name, sample.args, sorted(sample.kwargs.items()))).encode())


def built(
    name: str, sample: Sample, make: Callable[[np.ndarray, Given], Any], dtype: Callable[[str], Any]
) -> tuple[Any, Any]:
    """Return (args, kwargs) with `make` applied to each tensor's numbers and `dtype` to each dtype's name."""

    def build(part: Any, path: str) -> Any:
        if isinstance(part, Given):
            return make(part.array(f"{name}:{path}"), part)
        if isinstance(part, Kind):
            return dtype(part.name)
        if isinstance(part, (list, tuple)):
            return type(part)(build(inner, f"{path}.{i}") for i, inner in enumerate(part))
        return part

    args = [build(part, str(i)) for i, part in enumerate(sample.args)]
    return args, {key: build(part, key) for key, part in sample.kwargs.items()}


def cotangent(name: str, position: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Return the fixed random cotangent of a result."""
    draw = np.random.RandomState(zlib.crc32(f"{name}:cotangent:{position}".encode()))
    numbers = draw.normal(size=shape)
    if dtype.startswith("complex"):
        numbers = numbers + 1j * draw.normal(size=shape)
    return np.asarray(numbers).astype(numpy_dtype(dtype))


def numpy_dtype(name: str) -> np.dtype:
    """Return numpy's dtype for torch's name of it."""
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def flat(result: Any) -> list[Any]:
    """Return a call's results as a flat list."""
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in flat(part)]
    return [result]


def function_of(module: Any, name: str, tensor: Any) -> Callable[..., Any]:
    """Return the function of a public name in torch's module or funcgrad's; a leading dot means a method."""
    if name.startswith("."):
        method = name[1:]
        return lambda first, *args, **kwargs: getattr(first, method)(*args, **kwargs)
    found = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def tree(node: Any, depth: int = 6) -> str:
    """Draw a graph as text: `AddBackward0(leaf,MulBackward0(leaf))`; edges that lead nowhere are left out."""
    if node is None:
        return ""
    name = node.name()
    if name.endswith("AccumulateGrad"):
        return "leaf"
    edges = [tree(edge, depth - 1) for edge, _ in node.next_functions] if depth else []
    return f"{name}({','.join(filter(None, edges))})"


def every_sample() -> Iterator[tuple[str, str, int, Sample]]:
    """Walk through (family, public name, number, sample)."""
    for family in family_names():
        for name, listed in samples_of(family).items():
            for number, sample in enumerate(listed):
                yield family, name, number, sample
