"""What no turn of a scan waits for is computed for all turns at once; the results are those of the scan."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from funcgrad._program import fission
from funcgrad._program.fission import scanned

TURNS = 7


def _products(function: Any, *arguments: Any) -> tuple[int, int]:
    """Return how many products of matrices there are inside loops and outside of them."""
    inside = outside = 0
    waiting = [(jax.make_jaxpr(function)(*arguments).jaxpr, False)]
    while waiting:
        jaxpr, is_loop = waiting.pop()
        for eqn in jaxpr.eqns:
            found = eqn.primitive.name == "dot_general"
            inside, outside = inside + (found and is_loop), outside + (found and not is_loop)
            for inner in jax.tree.leaves(list(eqn.params.values()), is_leaf=lambda x: hasattr(x, "jaxpr")):
                if hasattr(inner, "jaxpr"):
                    waiting.append((inner.jaxpr, is_loop or eqn.primitive.name == "scan"))
    return inside, outside


def _backward(weights: Any, x: Any, states: Any, slope: Any) -> Any:
    """The backward pass of a recurrent layer h = tanh(x[t] @ a + h @ b): gradients of a, b and of a bias."""
    a, b = weights

    def turn(carry: list[Any], now: list[Any]) -> tuple[list[Any], list[Any]]:
        slope, to_a, to_b, to_bias = carry
        x, before = now
        inner = slope * (1 - jnp.tanh(x @ a + before @ b) ** 2)
        return [inner @ b.T, to_a + (inner.T @ x).T, to_b + before.T @ inner, to_bias + inner.sum(0)], [inner.mean()]

    begin = [slope, jnp.zeros_like(a), jnp.ones_like(b), jnp.zeros(b.shape[0])]
    return turn, begin, [x, states]


def _given() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    shapes = ((5, 6), (6, 6), (TURNS, 3, 5), (TURNS, 3, 6), (3, 6))
    a, b, x, states, slope = [jnp.asarray(rng.standard_normal(shape), jnp.float32) for shape in shapes]
    return (a, b), x, states, slope


def _run(scan: Any) -> Any:
    def computed(*given: Any) -> Any:
        turn, begin, stacks = _backward(*given)
        return scan(turn, begin, stacks, TURNS)

    return computed


def test_sums_over_turns_are_one_product_after_the_loop_and_free_products_one_before_it() -> None:
    given = _given()
    assert _products(_run(lax.scan), *given) == (5, 0)
    assert _products(_run(scanned), *given) == (1, 4)  # only the state's own gradient has to wait
    for mine, other in zip(
        jax.tree.leaves(_run(scanned)(*given)), jax.tree.leaves(_run(lax.scan)(*given)), strict=True
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-5)


def test_a_sum_that_a_turn_reads_is_not_put_off() -> None:
    def turn(carry: list[Any], now: list[Any]) -> tuple[list[Any], list[Any]]:
        total = carry[0] + now[0] @ now[0].T
        return [total], [total.sum()]

    x = jnp.arange(24.0).reshape(4, 2, 3)
    (total,), each = scanned(turn, [jnp.zeros((2, 2))], [x], 4)
    (expected,), sums = lax.scan(turn, [jnp.zeros((2, 2))], [x], 4)
    np.testing.assert_allclose(total, expected)
    np.testing.assert_allclose(each[0], sums[0])
    assert _products(lambda x: scanned(turn, [jnp.zeros((2, 2))], [x], 4), x) == (0, 1)


def test_what_would_take_much_room_for_all_turns_stays_in_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fission, "MOST", 1000)
    assert _products(_run(scanned), *_given()) == (5, 0)


def test_loops_in_a_turn_stay_there() -> None:
    def turn(carry: list[Any], now: list[Any]) -> tuple[list[Any], list[Any]]:
        powers = lax.fori_loop(0, 2, lambda _, x: x @ x, now[0])
        return [carry[0] + (powers.T @ now[0]).T], []

    x = jnp.arange(36.0).reshape(4, 3, 3) / 36
    (total,), _ = scanned(turn, [jnp.zeros((3, 3))], [x], 4)
    (expected,), _ = lax.scan(turn, [jnp.zeros((3, 3))], [x], 4)
    np.testing.assert_allclose(total, expected, rtol=1e-5)
    assert _products(lambda x: scanned(turn, [jnp.zeros((3, 3))], [x], 4), x) == (1, 1)


def test_a_loop_that_only_waits_stays_as_it_is() -> None:
    def turn(carry: list[Any], now: list[Any]) -> tuple[list[Any], list[Any]]:
        return [jnp.tanh(carry[0] @ weight) + now[0]], [carry[0]]

    weight, x = jnp.eye(3) / 2, jnp.ones((4, 3, 3))
    assert _products(lambda x: scanned(turn, [x[0]], [x], 4), x) == (1, 0)
