"""Measure single ops, forward and backward: funcgrad, and the same text under torch.

    python -m tests.benchmarks.rows                       # everything, a minute
    python -m tests.benchmarks.rows --workloads lstm gru

Each op runs under each engine in a process of its own, without any cache of compiled programs. CPU time is what all
cores did together; it tells more than the clock where the machine does other things too.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

from tests.benchmarks.apart import chosen, measured_apart

SECONDS, WARM = 2.0, 3
Parts = tuple[Callable[..., Any], list[Any]]  # an op, and the tensors it is a function of


def attention(torch: Any, *shape: int) -> Parts:
    """Causal attention. Shape: queries, keys and values (batch, heads, length, width)."""
    attend = torch.nn.functional.scaled_dot_product_attention
    return lambda *inputs: attend(*inputs, is_causal=True), [torch.randn(*shape) for _ in range(3)]


def pooled(torch: Any, kernel: int, stride: int, *shape: int) -> Parts:
    """ReLU and the largest of each window. Shape: input (N, C, H, W)."""
    functional = torch.nn.functional
    return lambda x: functional.max_pool2d(functional.relu(x), kernel, stride), [torch.randn(*shape)]


def pooled_again(torch: Any, times: int, *shape: int) -> Parts:
    """Half of each element and half of the largest one around it, again and again. Shape: input (N, C, H, W)."""

    def spread(x: Any) -> Any:
        for _ in range(times):
            x = 0.5 * (x + torch.nn.functional.max_pool2d(x, 3, 1, 1))
        return x

    return spread, [torch.randn(*shape)]


def recurrent(torch: Any, kind: str) -> Parts:
    """A layer 32 -> 64 over 50 steps of 16 sequences."""
    layer = getattr(torch.nn, kind)(32, 64)
    return lambda x, *_: layer(x)[0], [torch.randn(50, 16, 32), *layer.parameters()]


def normalized(torch: Any, *shape: int) -> Parts:
    """Normalization over the batch, while training. Shape: input (N, C, H, W)."""
    norm = torch.nn.functional.batch_norm
    inputs = [torch.randn(*shape), torch.ones(shape[1]), torch.zeros(shape[1])]
    return lambda x, scale, shift: norm(x, None, None, scale, shift, training=True), inputs


def embedded(torch: Any, count: int, *shape: int) -> Parts:
    """So many rows of a table. Shape: table (rows, width)."""
    places = torch.randint(0, shape[0], (count,))
    return lambda table: torch.nn.functional.embedding(places, table), [torch.randn(*shape)]


def entropy(torch: Any, *shape: int) -> Parts:
    """Cross entropy. Shape: logits (N, classes)."""
    targets = torch.randint(0, shape[1], shape[:1])
    return lambda logits: torch.nn.functional.cross_entropy(logits, targets), [torch.randn(*shape)]


def shares(torch: Any, *shape: int) -> Parts:
    """Softmax along the last dimension. Shape: input any."""
    return lambda x: torch.softmax(x, -1), [torch.randn(*shape)]


def ordered(torch: Any, *shape: int) -> Parts:
    """Values sorted along the last dimension. Shape: input any."""
    return lambda x: x.sort(-1)[0], [torch.randn(*shape)]


WORKLOADS: dict[str, tuple[Callable[..., Parts], tuple[Any, ...]]] = {
    "attention": (attention, (16, 6, 256, 64)), "attention-small": (attention, (8, 4, 64, 32)),
    "pool": (pooled, (2, 2, 64, 64, 24, 24)), "pool-overlapping": (pooled, (3, 2, 8, 64, 56, 56)),
    "pool-at-each-place": (pooled, (3, 1, 8, 64, 56, 56)), "pool-in-a-row": (pooled_again, (10, 6, 8, 16, 16)),
    "lstm": (recurrent, ("LSTM",)), "gru": (recurrent, ("GRU",)), "rnn": (recurrent, ("RNN",)),
    "batch-norm": (normalized, (64, 32, 26, 26)), "embedding": (embedded, (2048, 65, 128)),
    "cross-entropy": (entropy, (512, 50257)), "softmax": (shares, (64, 8, 64, 64)), "sort": (ordered, (256, 1000)),
}  # fmt: skip


def measure(engine: str, workload: str) -> dict[str, float]:
    """Run one op under one engine in this process: milliseconds by the clock and of CPU time, the least of all runs."""
    torch = importlib.import_module(engine)
    torch.manual_seed(0)
    build, sizes = WORKLOADS[workload]
    function, inputs = build(torch, *sizes)
    inputs = [x.requires_grad_() for x in inputs]
    upstream = torch.randn(function(*inputs).shape)

    def run() -> tuple[float, float]:
        clock, cpu = time.perf_counter(), time.process_time()
        function(*inputs).backward(upstream)
        sum(x.grad.flatten()[0].item() for x in inputs)
        for x in inputs:
            x.grad = None
        return (time.perf_counter() - clock) * 1e3, (time.process_time() - cpu) * 1e3

    for _ in range(WARM):
        run()
    runs, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        runs.append(run())
    return {"ms": min(clock for clock, _ in runs), "cpu": min(cpu for _, cpu in runs)}


def main() -> None:
    """Print one row per op, ratios first."""
    workloads = chosen(__doc__, WORKLOADS, measure)
    columns = ("vs torch", "of CPU time", "ms", "torch ms", "CPU ms", "torch CPU ms")
    print(f"{'':17}" + "".join(f"{column:>14}" for column in columns))
    for workload in workloads:
        ours, torchs = (measured_apart("tests.benchmarks.rows", name, workload) for name in ("funcgrad", "torch"))
        row = [ours[what] / torchs[what] for what in ("ms", "cpu")]
        row += [each[what] for what in ("ms", "cpu") for each in (ours, torchs)]
        print(f"{workload:17}" + "".join(f"{x:>14.2f}" for x in row), flush=True)


if __name__ == "__main__":
    main()
