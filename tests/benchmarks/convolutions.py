"""Measure how convolutions are lowered on the CPU: XLA's own operation, and what `_ops.correlation` makes of it.

    python -m tests.benchmarks.convolutions               # everything, a minute
    python -m tests.benchmarks.convolutions --workloads depthwise groups

All in float32, in plain `jax.jit`: milliseconds by the clock, the least of several runs, of the result, of the gradient
of the input, and of that of the weight.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from funcgrad._ops import correlation

SECONDS = 0.3


class Workload(NamedTuple):
    """input: (N, C, *). weight: (O, C / groups, *), or (C, O / groups, *) where it is transposed.

    sums_taps: compared with a sum over all taps at once instead of XLA's own operation.
    """

    input: tuple[int, ...]
    weight: tuple[int, ...]
    stride: int = 1
    pad: int = 0
    groups: int = 1
    is_transposed: bool = False
    sums_taps: bool = False


WORKLOADS = {
    "no-padding": Workload((64, 32, 26, 26), (64, 32, 3, 3)),
    "many-channels": Workload((64, 32, 14, 14), (64, 32, 3, 3), pad=1),
    "few-channels": Workload((32, 16, 32, 32), (16, 16, 3, 3), pad=1),
    "1x1": Workload((16, 256, 14, 14), (64, 256, 1, 1)),
    "depthwise": Workload((16, 32, 32, 32), (32, 1, 3, 3), pad=1, groups=32),
    "depthwise-7x7": Workload((8, 96, 28, 28), (96, 1, 7, 7), pad=3, groups=96, sums_taps=True),
    "groups": Workload((16, 32, 32, 32), (32, 8, 3, 3), pad=1, groups=4),
    "many-groups": Workload((16, 128, 28, 28), (128, 4, 3, 3), pad=1, groups=32),
    "modulated": Workload((1, 256, 8, 8), (256, 16, 3, 3), pad=1, groups=16),
    "three-dimensions": Workload((4, 16, 16, 16, 16), (16, 16, 3, 3, 3), pad=1),
    "larger-result": Workload((16, 128, 16, 16), (128, 128, 2, 2), pad=1),
    "transposed": Workload((16, 128, 16, 16), (128, 64, 4, 4), stride=2, pad=1, is_transposed=True),
    "transposed-volumes": Workload((2, 16, 16, 32, 32), (16, 16, 3, 3, 3), stride=2, is_transposed=True),
}


def functions(workload: Workload) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return what funcgrad's convolution of an input and a weight is compared with, and that."""
    dims = len(workload.input) - 2
    stride, pads, dilation = (workload.stride,) * dims, ((workload.pad,) * 2,) * dims, (1,) * dims
    if not workload.is_transposed:
        options = stride, pads, dilation, workload.groups
        plain = _summed if workload.sums_taps else correlation._convolved
        return _called(plain, options), _called(correlation.correlate, options)
    sizes = tuple(
        (n - 1) * workload.stride - 2 * workload.pad + k
        for n, k in zip(workload.input[2:], workload.weight[2:], strict=True)
    )
    options = stride, pads, dilation, workload.groups, sizes
    return _called(correlation._spread_out, options), _called(correlation.spread_out, options)


def _summed(x: Any, weight: Any, stride: Any, pads: Any, dilation: Any, groups: int) -> Any:
    padded = jax.numpy.pad(x, ((0, 0), (0, 0), *pads))
    return correlation._sum_over_taps(padded, weight, stride, dilation)


def _called(function: Callable[..., Any], options: tuple[Any, ...]) -> Callable[..., Any]:
    return lambda x, weight: function(x, weight, *options)


def measure(function: Callable[..., Any], workload: Workload) -> tuple[float, ...]:
    """Return milliseconds of the result, of the input's gradient, and of the weight's."""
    rng = np.random.default_rng(0)
    x, weight = (jax.numpy.asarray(rng.normal(size=n).astype(np.float32)) for n in (workload.input, workload.weight))
    upstream = jax.numpy.ones_like(function(x, weight))

    def pulled(place: int, x: Any, weight: Any, upstream: Any) -> Any:
        return jax.vjp(function, x, weight)[1](upstream)[place]

    runs = (function, x, weight), *((partial(pulled, place), x, weight, upstream) for place in (0, 1))
    return tuple(_least(jax.jit(run), *inputs) for run, *inputs in runs)


def _least(function: Callable[..., Any], *inputs: Any) -> float:
    jax.block_until_ready(function(*inputs))
    found, end = [], time.perf_counter() + SECONDS
    while len(found) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        jax.block_until_ready(function(*inputs))
        found.append(time.perf_counter() - start)
    return min(found) * 1e3


def main() -> None:
    """Print one row per convolution."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS), metavar="NAME")
    print(f"{'':18}{'plain: result, input, weight':>30}{'funcgrad: result, input, weight':>36}")
    for name in parser.parse_args().workloads:
        plain, ours = (measure(function, WORKLOADS[name]) for function in functions(WORKLOADS[name]))
        row = [*(f"{ms:>10.2f}" for ms in plain), " " * 6, *(f"{ms:>10.2f}" for ms in ours)]
        print(f"{name:18}{''.join(row)}", flush=True)


if __name__ == "__main__":
    main()
