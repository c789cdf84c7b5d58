"""Measure Python loops inside one step: funcgrad, the same text under torch, and JAX by hand, unrolled and with scan.

    python -m tests.benchmarks.loops                      # everything, some minutes
    python -m tests.benchmarks.loops --workloads gru-100

Each workload runs under each engine in a process of its own, without any cache of compiled programs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from tests.benchmarks.apart import chosen, measured_apart

STEPS = 12


def gru(torch: Any, turns: int) -> Callable[[], float]:
    """A GRU cell in a Python loop over time: hidden 64, batch 16, Adam."""
    nn = torch.nn
    cell, head = nn.GRUCell(32, 64), nn.Linear(64, 10)
    optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-3)
    x, y = torch.randn(16, turns, 32), torch.randint(0, 10, (16,))

    def step() -> float:
        optimizer.zero_grad()
        h = torch.zeros(16, 64)
        for t in range(turns):
            h = cell(x[:, t], h)
        loss = nn.functional.cross_entropy(head(h), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def blocks(torch: Any, count: int) -> Callable[[], float]:
    """A stack of transformer blocks: width 64, 4 heads, context 32, batch 4, SGD."""
    nn = torch.nn
    model = nn.Sequential(
        *[nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True) for _ in range(count)]
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(4, 32, 64)

    def step() -> float:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def euler(torch: Any, turns: int) -> Callable[[], float]:
    """A pendulum with drag, integrated by Euler's method, and the gradient of its end by its beginning."""
    start = torch.tensor([1.0, 0.0], requires_grad=True)

    def step() -> float:
        angle, speed = start[0], start[1]
        for _ in range(turns):
            angle, speed = angle + 0.001 * speed, speed - 0.001 * (torch.sin(angle) + 0.1 * speed)
        (slope,) = torch.autograd.grad(angle, start)
        return slope.sum().item()

    return step


def kutta(torch: Any, turns: int) -> Callable[[], float]:
    """Runge and Kutta's method along a field that is a net, and the gradients of the net's parameters."""
    nn = torch.nn
    field = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    start = torch.ones(1, 2)

    def step() -> float:
        field.zero_grad()
        x, path = start, []
        for _ in range(turns):
            a = field(x)
            b = field(x + 0.025 * a)
            c = field(x + 0.025 * b)
            x = x + 0.05 / 6 * (a + 2 * b + 2 * c + field(x + 0.05 * c))
            path.append(x)
        (torch.stack(path) ** 2).mean().backward()
        return field[0].weight.grad.sum().item()

    return step


def inner(torch: Any, turns: int) -> Callable[[], float]:
    """MAML's inner loop: so many gradient steps on a small net, and the gradient of the loss after them."""
    w1, w2 = (torch.randn(8, 16) * 0.3).requires_grad_(), (torch.randn(16, 1) * 0.3).requires_grad_()
    x, y = torch.randn(32, 8), torch.randn(32, 1)

    def step() -> float:
        a, b = w1, w2
        for _ in range(turns):
            loss = ((torch.tanh(x @ a) @ b - y) ** 2).mean()
            ga, gb = torch.autograd.grad(loss, (a, b), create_graph=True)
            a, b = a - 0.05 * ga, b - 0.05 * gb
        w1.grad = w2.grad = None
        loss = ((torch.tanh(x @ a) @ b - y) ** 2).mean()
        loss.backward()
        return loss.item() + w1.grad.sum().item()

    return step


def accumulation(torch: Any, turns: int) -> Callable[[], float]:
    """Gradients gathered over micro-batches before one step."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x, y = torch.randn(turns, 16, 64), torch.randint(0, 10, (turns, 16))

    def step() -> float:
        optimizer.zero_grad()
        total = 0.0
        for i in range(turns):
            loss = nn.functional.cross_entropy(model(x[i]), y[i]) / turns
            loss.backward()
            total = total + loss.detach()
        optimizer.step()
        return total.item()

    return step


WORKLOADS: dict[str, tuple[Callable[..., Callable[[], float]], int]] = {
    "gru-10": (gru, 10), "gru-100": (gru, 100), "gru-1000": (gru, 1000), "blocks-4": (blocks, 4),
    "blocks-48": (blocks, 48), "euler-2000": (euler, 2000), "inner-50": (inner, 50), "gathered-32": (accumulation, 32),
    "blocks-20": (blocks, 20), "kutta-1000": (kutta, 1000),
}  # fmt: skip


def scanned(turns: int, *, unroll: bool) -> Callable[[], float]:
    """Return the GRU's step as an expert writes it in JAX."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax

    rng = np.random.default_rng(0)
    params = {
        name: jnp.asarray(rng.uniform(-0.125, 0.125, shape), jnp.float32)
        for name, shape in {
            "wi": (32, 192), "wh": (64, 192), "bi": (192,), "bh": (192,), "wo": (64, 10), "bo": (10,)
        }.items()
    }  # fmt: skip
    transform = optax.adam(1e-3)
    state = transform.init(params)
    x = jnp.asarray(rng.standard_normal((turns, 16, 32)), jnp.float32)
    y = jnp.asarray(rng.integers(0, 10, 16))

    def cell(p: Any, h: Any, now: Any) -> tuple[Any, None]:
        a, b = now @ p["wi"] + p["bi"], h @ p["wh"] + p["bh"]
        (ir, iz, i_n), (hr, hz, hn) = jnp.split(a, 3, -1), jnp.split(b, 3, -1)
        r, z = jax.nn.sigmoid(ir + hr), jax.nn.sigmoid(iz + hz)
        return (1 - z) * jnp.tanh(i_n + r * hn) + z * h, None

    def loss_of(p: Any, x: Any, y: Any) -> Any:
        h = jnp.zeros((16, 64))
        if unroll:
            for t in range(turns):
                h, _ = cell(p, h, x[t])
        else:
            h, _ = jax.lax.scan(lambda h, now: cell(p, h, now), h, x)
        return optax.softmax_cross_entropy_with_integer_labels(h @ p["wo"] + p["bo"], y).mean()

    @jax.jit
    def update(p: Any, s: Any, x: Any, y: Any) -> Any:
        loss, slope = jax.value_and_grad(loss_of)(p, x, y)
        updates, s = transform.update(slope, s, p)
        return optax.apply_updates(p, updates), s, loss

    def step() -> float:
        nonlocal params, state
        params, state, loss = update(params, state, x, y)
        return float(loss)

    return step


def measure(engine: str, workload: str) -> dict[str, float]:
    """Run one workload under one engine in this process."""
    build, turns = WORKLOADS[workload]
    compiles: Callable[[], int] = lambda: 0  # noqa: E731 - nobody counts those of others
    if engine == "torch":
        import torch

        torch.manual_seed(0)
        step = build(torch, turns)
    elif engine == "funcgrad":
        import funcgrad
        from funcgrad._program.counters import counters

        funcgrad.manual_seed(0)
        step, compiles = build(funcgrad, turns), lambda: counters.compiles
    else:
        step = scanned(turns, unroll=engine == "unrolled")
    compiled, times, values = compiles(), [], []
    for _ in range(STEPS):
        start = time.perf_counter()
        values.append(step())
        times.append(time.perf_counter() - start)
    return {
        "first": times[0],
        "steady": median(times[2:]) * 1e3,
        "compiles": compiles() - compiled,
        "value": values[-1],
    }


def main() -> None:
    """Print one row per workload, ratios first."""
    workloads = chosen(__doc__, WORKLOADS, measure)
    print(f"{'':12}{'vs torch':>10}{'vs scan':>10}{'ms':>10}{'torch ms':>10}{'scan ms':>10}"
          f"{'first s':>10}{'scan s':>10}{'unrolled s':>11}{'compiles':>10}{'difference':>12}")  # fmt: skip
    for workload in workloads:
        names = ["funcgrad", "torch"]
        if workload.startswith("gru"):
            names += ["scan"] if workload == "gru-1000" else ["scan", "unrolled"]
        found = {name: measured_apart("tests.benchmarks.loops", name, workload) for name in names}
        ours, theirs, scan, unrolled = (found.get(name, {}) for name in ("funcgrad", "torch", "scan", "unrolled"))
        nan = float("nan")
        row = (
            ours.get("steady", nan) / theirs.get("steady", nan), ours.get("steady", nan) / scan.get("steady", nan),
            ours.get("steady", nan), theirs.get("steady", nan), scan.get("steady", nan),
        )  # fmt: skip
        print(f"{workload:12}" + "".join(f"{x:>10.2f}" for x in row) + f"{ours.get('first', nan):>10.2f}"
              f"{scan.get('first', nan):>10.2f}{unrolled.get('first', nan):>11.2f}{ours.get('compiles', nan):>10.0f}"
              f"{abs(ours.get('value', nan) - theirs.get('value', nan)):>12.1e}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
