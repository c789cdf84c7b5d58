"""What the twins share: a script's names as they are before it trains, dropout's masks, and the usual step."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import GeneratorType, SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import optax

import funcgrad as torch
from funcgrad.func.compare import drawn
from funcgrad.nn import functional as F

SCRIPTS = Path(__file__).parents[1] / "scripts"
Weights = dict[str, jax.Array]


def before_training(name: str, skipping: int = 0) -> SimpleNamespace:
    """Run a script up to its first line that trains, and return its names: its data and fresh models, as it has them.

    A script's main() counts as part of the script. skipping: how many lines that train are left out on the way.
    """
    torch.install()  # the script says `import torch`
    path = SCRIPTS / f"{name}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    training, names = _training(tree), {"__name__": "__main__", "__file__": str(path)}
    arguments, sys.argv = sys.argv, [str(path)]
    with contextlib.redirect_stdout(io.StringIO()):
        for statement in _statements(tree):
            if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and _speaks_of(statement, training):
                if not skipping:
                    break
                skipping -= 1
                continue
            exec(compile(ast.Module([statement], []), str(path), "exec"), names)
    sys.argv = arguments
    return SimpleNamespace(**names)


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield a script's statements, those of main() and of `if __name__ == "__main__"` where these stand."""
    main = {part.name: part.body for part in tree.body if isinstance(part, ast.FunctionDef)}.get("main", [])
    for statement in tree.body:
        is_guard = isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'"
        for inner in statement.body if is_guard and isinstance(statement, ast.If) else [statement]:
            is_main = isinstance(inner, ast.Expr) and ast.unparse(inner) == "main()"
            yield from main if is_main else [inner]


def _training(tree: ast.Module) -> set[str]:
    """Return the names of the functions that call backward(), themselves or through others; and that name."""
    found, functions = {"backward"}, [part for part in ast.walk(tree) if isinstance(part, ast.FunctionDef)]
    for _ in functions:
        found |= {part.name for part in functions if any(_speaks_of(line, found) for line in part.body)}
    return found


def _speaks_of(tree: ast.AST, names: set[str]) -> bool:
    return any(getattr(part, "attr", getattr(part, "id", None)) in names for part in ast.walk(tree))


def weights_of(module: torch.nn.Module) -> Weights:
    """Return copies of a module's trainable parameters by name."""
    return {name: p.detach().clone().jax() for name, p in module.named_parameters() if p.requires_grad}


def statistics_of(module: torch.nn.Module) -> Weights:
    """Return copies of the running statistics of a module's batch norms by name."""
    return {name: buffer.clone().jax() for name, buffer in module.named_buffers() if "running" in name}


def linear(weights: Weights, name: str, x: jax.Array) -> jax.Array:
    """Apply the linear layer of a name."""
    return F.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))


def embedding(weights: Weights, name: str, places: jax.Array) -> jax.Array:
    """Look up the rows of an embedding. places: of any integer dtype; PyTorch's int64 is none of JAX's own."""
    return weights[f"{name}.weight"][places.astype(jnp.int32)]


def layer_norm(weights: Weights, name: str, x: jax.Array) -> jax.Array:
    """Normalise the last dimension."""
    return F.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights.get(f"{name}.bias"))


def batch_norm(weights: Weights, statistics: Weights, name: str, x: jax.Array) -> jax.Array:
    """Normalise by the batch's own mean and variance, and let `statistics` follow them. Shape: x (N, C, *)."""
    mean, variance = (reduce(x, axis=(0, *range(2, x.ndim))) for reduce in (jnp.mean, jnp.var))
    count = x.size / mean.size
    for what, seen in (("mean", mean), ("var", variance * count / (count - 1))):
        key = f"{name}.running_{what}"
        statistics[key] = 0.9 * statistics[key] + 0.1 * seen
    one = (-1, *[1] * (x.ndim - 2))
    scale = weights[f"{name}.weight"] / jnp.sqrt(variance + 1e-5)
    return (x - mean.reshape(one)) * scale.reshape(one) + weights[f"{name}.bias"].reshape(one)


def mask(*shape: int, p: float) -> jax.Array:
    """Draw what dropout multiplies by, from the generator that the script draws from."""
    return F.dropout(torch.ones(*shape), p).jax()


def clipped(gradients: Any, most: float) -> Any:
    """Scale all gradients so that their joint norm is at most `most`."""
    scale = jnp.minimum(1.0, most / (optax.tree.norm(gradients) + 1e-6))
    return jax.tree.map(lambda gradient: gradient * scale, gradients)


def beginning(weights: Any, optimizer: optax.GradientTransformation) -> dict[str, Any]:
    """Return the state that training starts from."""
    return {"model": weights, "optimizer": optimizer.init(weights)}


def descent(
    loss_of: Callable[..., jax.Array], optimizer: optax.GradientTransformation, most: float = float("inf")
) -> Callable[..., Any]:
    """Return the step (state, *batch) -> (state, loss, gradients) of a pure loss_of(weights, *batch).

    The state that it is given is donated to the next one. most: what the gradients' norm is clipped to.
    """

    @partial(jax.jit, donate_argnums=0)
    def step(state: Any, *batch: Any) -> tuple[Any, jax.Array, Any]:
        loss, gradients = jax.value_and_grad(loss_of)(state["model"], *batch)
        gradients = clipped(gradients, most) if most < float("inf") else gradients
        updates, inner = optimizer.update(gradients, state["optimizer"], state["model"])
        return {"model": optax.apply_updates(state["model"], updates), "optimizer": inner}, loss, gradients

    return step


def descent_with_statistics(
    loss_of: Callable[..., tuple[jax.Array, Weights]], optimizer: optax.GradientTransformation
) -> Callable[..., Any]:
    """Return the step of a pure loss_of(weights, statistics, *batch) -> (loss, new statistics), as `descent` does."""

    @partial(jax.jit, donate_argnums=0)
    def step(state: Any, *batch: Any) -> tuple[Any, jax.Array, Any]:
        slope = jax.value_and_grad(loss_of, has_aux=True)
        (loss, statistics), gradients = slope(state["model"], state["statistics"], *batch)
        updates, inner = optimizer.update(gradients, state["optimizer"], state["model"])
        weights = optax.apply_updates(state["model"], updates)
        return {"model": weights, "optimizer": inner, "statistics": statistics}, loss, gradients

    return step


def train(setup: Callable[[], Any], every: int = 10) -> None:
    """Train what setup() returns, or yields one after another, and print a loss now and then."""
    found, last = setup(), None
    phases = found if isinstance(found, GeneratorType) else (phase for phase in [found])
    with contextlib.suppress(StopIteration):
        while True:
            step, state, batches = phases.send(last)
            last = _trained(step, state, batches, every)


def _trained(step: Callable[..., Any], state: Any, batches: Any, every: int) -> Any:
    turn, losses, sent = 0, [], None
    with contextlib.suppress(StopIteration):
        while True:
            batch = drawn(batches, sent)
            arrays = [x.jax() if isinstance(x, torch.Tensor) else x for x in batch]
            state, loss, _ = step(state, *arrays)
            turn, sent = turn + 1, state
            losses.append(loss)
            if turn % every == 0:
                print(f"step {turn}: loss {float(jnp.stack(losses).mean()):.6f}")
                losses = []
    return state
