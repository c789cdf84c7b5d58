"""What `record.py` runs with torch and the tests with funcgrad: the same gradients, schedules and losses for both."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

STEPS = 8
SHAPES: dict[str, list[tuple[int, ...]]] = {"Muon": [(3, 4), (5, 2)], "SparseAdam": [(3, 4), (5,)]}


def problem(optimizer: str, dtype: str = "float32") -> tuple[list[np.ndarray], list[list[np.ndarray | None]]]:
    """Return parameters and a list of gradients per step; the second parameter has none in the fourth and fifth."""
    random = np.random.RandomState(7)
    shapes = SHAPES.get(optimizer, [(3, 4), (4,), ()])

    def array(shape: tuple[int, ...]) -> np.ndarray:
        real, imaginary = random.standard_normal((2, *shape))
        return np.asarray(real + 1j * imaginary if dtype == "complex64" else real, dtype)

    params = [array(shape) for shape in shapes]
    gradients: list[list[Any]] = [[array(shape) for shape in shapes] for _ in range(STEPS)]
    if optimizer == "SparseAdam":
        for step, (of_matrix, of_vector) in enumerate(gradients):
            of_matrix[step % 3] = of_vector[step % 5] = 0
    gradients[3][1] = gradients[4][1] = None
    return params, gradients


def half(epoch: int) -> float:
    """Return 1, 1/2, 1/3, ..."""
    return 1 / (epoch + 1)


def slower(epoch: int) -> float:
    """Return a factor that comes closer to 1."""
    return 1 - 1 / (epoch + 2)


def square_root(x: float) -> float:
    """Return a height that falls slowly."""
    return 1 / math.sqrt(1 + x)


Build = Callable[[Any, Any], Any]
SCHEDULES: dict[str, Build] = {
    "lambda": lambda s, o: s.LambdaLR(o, [half, slower]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, slower),
    "step": lambda s, o: s.StepLR(o, 3, gamma=0.5),
    "milestones": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9]),
    "constant": lambda s, o: s.ConstantLR(o, 0.25, total_iters=4),
    "linear": lambda s, o: s.LinearLR(o, 0.2, 0.9, total_iters=6),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "polynomial": lambda s, o: s.PolynomialLR(o, total_iters=9, power=2.0),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 7, eta_min=0.01),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.001),
    "restarts, equal": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4),
    "triangular": lambda s, o: s.CyclicLR(o, 0.01, [0.1, 0.2], step_size_up=4, step_size_down=3),
    "triangular2": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3, mode="triangular2"),
    "exp_range": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3, mode="exp_range", gamma=0.95),
    "own height": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3, scale_fn=square_root, cycle_momentum=False),
    "one cycle": lambda s, o: s.OneCycleLR(o, [0.3, 0.6], total_steps=21),
    "one cycle, three phases": lambda s, o: s.OneCycleLR(
        o, 0.3, epochs=3, steps_per_epoch=7, anneal_strategy="linear", three_phase=True
    ),
    "sequential": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=4), s.CosineAnnealingLR(o, 10), s.ExponentialLR(o, 0.5)], [4, 15]
    ),
    "chained": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, total_iters=3), s.ExponentialLR(o, 0.9)]),
}
SWA_SCHEDULES: dict[str, Build] = {
    "cos": lambda s, o: s.SWALR(o, [0.05, 0.02], anneal_epochs=8),
    "linear": lambda s, o: s.SWALR(o, 0.05, anneal_epochs=5, anneal_strategy="linear"),
    "at once": lambda s, o: s.SWALR(o, 0.05, anneal_epochs=0),
}
EPOCHS = 20


def schedule(build: Build, schedulers: Any, optimizer: Any) -> list[list[float]]:
    """Return the learning rates and momenta of all groups over epochs."""
    scheduler = build(schedulers, optimizer)
    rows = [_numbers(optimizer)]
    for _ in range(EPOCHS):
        optimizer.step()
        scheduler.step()
        assert scheduler.get_last_lr() == [group["lr"] for group in optimizer.param_groups]
        rows.append(_numbers(optimizer))
    return rows


PLATEAUS: dict[str, dict[str, Any]] = {
    "default": {"patience": 1},
    "max, abs": {"mode": "max", "threshold_mode": "abs", "threshold": 0.05, "factor": 0.5, "patience": 0},
    "cooldown": {"patience": 1, "cooldown": 2, "min_lr": [0.01, 0.001]},
}
METRICS = [1.0, 0.9, 0.95, 0.93, 0.96, 0.5, 0.6, 0.7, 0.8, 0.9, 0.91, 0.92, 0.93, 0.94, 0.2, 0.3, 0.4, 0.5]


def plateau(schedulers: Any, optimizer: Any, options: dict[str, Any]) -> list[list[float]]:
    """Return the learning rates over epochs whose metric first falls and then stays."""
    scheduler = schedulers.ReduceLROnPlateau(optimizer, **options)
    rows = []
    for metric in METRICS:
        optimizer.step()
        scheduler.step(metric)
        rows.append(_numbers(optimizer))
    return rows


def _numbers(optimizer: Any) -> list[float]:
    return [group[name] for name in ("lr", "momentum") for group in optimizer.param_groups]


SEARCHES: dict[str, dict[str, Any]] = {
    "default": {},
    "small steps": {"lr": 0.01},
    "strong_wolfe": {"line_search_fn": "strong_wolfe"},
    "strong_wolfe, short history": {"line_search_fn": "strong_wolfe", "history_size": 3, "max_iter": 30},
    "tolerance_grad": {"tolerance_grad": 1e-3},
}


def fit(make: Callable[[np.ndarray], Any], as_param: Callable[[np.ndarray], Any], optimizer: Any, options: Any) -> Any:
    """Fit a small curved problem with L-BFGS in float64. Result: the loss at each step, and evaluations so far."""
    random = np.random.RandomState(3)
    points, targets = make(random.standard_normal((20, 3))), make(random.standard_normal(20))
    weight, bias = as_param(random.standard_normal(3)), as_param(np.array(0.3))
    search = optimizer([weight, bias], **options)

    def closure() -> Any:
        search.zero_grad()
        valley = (1 - weight[0]) ** 2 + 100 * (weight[1] - weight[0] ** 2) ** 2
        loss = (((points @ weight).tanh() - targets + bias) ** 2).mean() + 0.01 * valley
        loss.backward()
        return loss

    losses = [search.step(closure).item() for _ in range(4)]
    return losses, search.state[weight]["func_evals"]
