"""Whole sequences of recurrent networks: a row equals its own single steps, in values and in gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import funcgrad._ops  # fills the table
from funcgrad._ops.table import TABLE

assert funcgrad._ops

_T, _N, _I, _H = 5, 3, 2, 4
_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def _numbers(seed: int, *shape: int) -> jax.Array:
    return jnp.asarray(np.random.RandomState(seed).normal(size=shape))


def _weights(kind: str, seed: int = 0) -> list[jax.Array]:
    rows = _GATES[kind] * _H
    return [_numbers(seed + i, *shape) for i, shape in enumerate([(rows, _I), (rows, _H), (rows,), (rows,)])]


def _states(kind: str, count: int = 1) -> list[jax.Array]:
    return [_numbers(20 + i, count, _N, _H) for i in range(2 if kind == "lstm" else 1)]


def _sequence(kind: str, **options: Any) -> Callable[..., tuple[jax.Array, ...]]:
    lengths, bidirectional = options.get("lengths"), options.get("bidirectional", False)

    def run(input: jax.Array, *rest: jax.Array) -> tuple[jax.Array, ...]:
        return TABLE[kind].call([input, *rest, None, lengths], (True, 1, bidirectional))

    return run


def _by_steps(
    kind: str, lengths: np.ndarray | None = None, reverse: bool = False
) -> Callable[..., tuple[jax.Array, ...]]:
    """Return the same as a Python loop over `<kind>_cell`."""
    cell, count = TABLE[f"{kind}_cell"], 2 if kind == "lstm" else 1

    def run(input: jax.Array, *rest: jax.Array) -> tuple[jax.Array, ...]:
        states, weights = [s[0] for s in rest[:count]], rest[count:]
        results = []
        for t in reversed(range(len(input))) if reverse else range(len(input)):
            new = cell.call([input[t], *states, *weights], ())
            inside = jnp.asarray(True if lengths is None else (t < lengths)[:, None])
            states = [jnp.where(inside, n, s) for n, s in zip(new, states, strict=True)]
            results.append(jnp.where(inside, new[0], 0))
        return (jnp.stack(results[::-1] if reverse else results), *(s[None] for s in states))

    return run


def _with_gradients(run: Callable[..., tuple[jax.Array, ...]], arguments: list[jax.Array]) -> Any:
    def both(arguments: list[jax.Array]) -> Any:
        results, pull = jax.vjp(lambda *given: run(*given), *arguments)
        return results, pull(tuple(_numbers(50 + i, *r.shape) for i, r in enumerate(results)))

    return jax.jit(both)(arguments)


def _assert_same(one: Any, other: Any) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, 1e-9, 1e-9), one, other)


@pytest.mark.parametrize("kind", _GATES)
@pytest.mark.parametrize("lengths", [None, np.array([5, 2, 3])])
def test_sequence_equals_its_steps(kind: str, lengths: np.ndarray | None) -> None:
    with jax.enable_x64(True):
        arguments = [_numbers(9, _T, _N, _I), *_states(kind), *_weights(kind)]
        _assert_same(
            _with_gradients(_sequence(kind, lengths=lengths), arguments),
            _with_gradients(_by_steps(kind, lengths), arguments),
        )


@pytest.mark.parametrize("kind", _GATES)
def test_second_direction_runs_backwards(kind: str) -> None:
    with jax.enable_x64(True):
        input, forward, backward = _numbers(9, _T, _N, _I), _weights(kind), _weights(kind, 30)
        states = _states(kind, 2)
        both = jax.jit(_sequence(kind, bidirectional=True))(input, *states, *forward, *backward)
        ahead = jax.jit(_by_steps(kind))(input, *(s[:1] for s in states), *forward)
        back = jax.jit(_by_steps(kind, reverse=True))(input, *(s[1:] for s in states), *backward)
        _assert_same(both[0], jnp.concatenate([ahead[0], back[0]], -1))
        _assert_same(both[1:], tuple(jnp.concatenate(pair) for pair in zip(ahead[1:], back[1:], strict=True)))


@pytest.mark.parametrize("kind", _GATES)
def test_gradient_of_a_gradient_equals_that_of_the_steps(kind: str) -> None:
    with jax.enable_x64(True):
        arguments = [_numbers(9, 3, _N, _I), *_states(kind), *_weights(kind)]

        def slope(run: Callable[..., tuple[jax.Array, ...]]) -> Any:
            def first(input: jax.Array, *rest: jax.Array) -> jax.Array:
                gradient = jax.grad(lambda x: jnp.square(run(x, *rest)[0]).sum())(input)
                return jnp.square(gradient).sum()

            return jax.jit(jax.grad(first, tuple(range(len(arguments)))))(*arguments)

        _assert_same(slope(_sequence(kind)), slope(_by_steps(kind)))


def test_dropout_masks_multiply_between_layers() -> None:
    with jax.enable_x64(True):
        first, second = _weights("gru"), [_numbers(60, 12, _H), *_weights("gru", 40)[1:]]
        input, states, mask = _numbers(9, _T, _N, _I), _states("gru", 2), _numbers(70, 1, _T, _N, _H)
        row = TABLE["gru"]
        whole, _ = row.call([input, *states, *first, *second, mask, None], (True, 2, False))
        lower, _ = row.call([input, states[0][:1], *first, None, None], (True, 1, False))
        upper, _ = row.call([lower * mask[0], states[0][1:], *second, None, None], (True, 1, False))
        _assert_same(whole, upper)
