"""L-BFGS without a line search as a pure function, with PyTorch's first step, stopping rules and order of evaluations.

Source: Nocedal and Wright, Numerical Optimization (2006), algorithm 7.4. Where the numbers need not be PyTorch's,
optax.lbfgs is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

LEAST_SLOPE, LEAST_CHANGE, LEAST_CURVATURE = 1e-7, 1e-9, 1e-10
Evaluate = Callable[[jax.Array], tuple[jax.Array, jax.Array, jax.Array]]  # x -> (x as it was taken, loss, gradient)


def memory_of(x: jax.Array, size: int = 100) -> dict[str, jax.Array]:
    """Return the memory of a search that has not begun. x: all parameters as one vector."""
    pairs = jnp.zeros((size, x.size), x.dtype)
    return {
        "moves": pairs, "changes": pairs, "inverses": jnp.zeros(size, x.dtype), "scale": jnp.ones((), x.dtype),
        "last_move": jnp.zeros_like(x), "last_gradient": jnp.zeros_like(x), "turn": jnp.array(0),
    }  # fmt: skip


def minimised(evaluate: Evaluate, x: jax.Array, memory: Any, rate: float, turns: int) -> tuple[Any, ...]:
    """Go on for some turns. Result: x, the memory, and loss and gradient where it was evaluated last."""
    most = turns * 5 // 4

    def goes_on(carried: tuple[Any, ...]) -> jax.Array:
        return carried[0]

    def turn(carried: tuple[Any, ...]) -> tuple[Any, ...]:
        _, number, count, x, memory, loss, gradient = carried
        memory = _with_curvature(memory, gradient)
        is_first = memory["turn"] == 0
        direction = jnp.where(is_first, -gradient, _direction(memory, gradient))
        move = direction * rate * jnp.where(is_first, jnp.minimum(1.0, 1.0 / jnp.abs(gradient).sum()), 1.0)
        goes_down = gradient @ direction <= -LEAST_CHANGE
        is_last = number == turns
        seen = jax.lax.cond(
            goes_down & ~is_last, evaluate, lambda x: (x, loss, gradient), jnp.where(goes_down, x + move, x)
        )
        moved = (jnp.abs(move).max() > LEAST_CHANGE) & (jnp.abs(seen[1] - loss) >= LEAST_CHANGE)
        on = goes_down & ~is_last & moved & (count + 1 < most) & (jnp.abs(seen[2]).max() > LEAST_SLOPE)
        memory = {**memory, "last_move": move, "last_gradient": gradient, "turn": memory["turn"] + 1}
        return on, number + 1, count + 1, seen[0], memory, seen[1], seen[2]

    x, loss, gradient = evaluate(x)
    start = jnp.abs(gradient).max() > LEAST_SLOPE, jnp.array(1), jnp.array(1), x, memory, loss, gradient
    _, _, _, x, memory, loss, gradient = jax.lax.while_loop(goes_on, turn, start)
    return x, memory, loss, gradient


def _with_curvature(memory: Any, gradient: jax.Array) -> Any:
    """Note what the last move has shown of the curvature, if it has shown any."""
    move, change = memory["last_move"], gradient - memory["last_gradient"]
    curvature = change @ move
    new = {"moves": move, "changes": change, "inverses": 1 / curvature}
    noted = {name: jnp.roll(memory[name], -1, axis=0).at[-1].set(value) for name, value in new.items()}
    noted["scale"] = curvature / (change @ change)
    is_told = (memory["turn"] > 0) & (curvature > LEAST_CURVATURE)
    return {**memory, **{name: jnp.where(is_told, value, memory[name]) for name, value in noted.items()}}


def _direction(memory: Any, gradient: jax.Array) -> jax.Array:
    pairs = memory["moves"], memory["changes"], memory["inverses"]

    def back(direction: jax.Array, pair: Any) -> tuple[jax.Array, jax.Array]:
        move, change, inverse = pair
        weight = inverse * (move @ direction)
        return direction - weight * change, weight

    def forth(direction: jax.Array, pair: Any) -> tuple[jax.Array, None]:
        (move, change, inverse), weight = pair
        return direction + (weight - inverse * (change @ direction)) * move, None

    direction, weights = jax.lax.scan(back, -gradient, pairs, reverse=True)
    return jax.lax.scan(forth, direction * memory["scale"], (pairs, weights))[0]
