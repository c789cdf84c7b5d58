"""The GPT of examples/scripts/nano_gpt.py as a pure function: the masks of dropout are arguments.

python examples/twins/nano_gpt.py
python -m funcgrad compare examples/scripts/nano_gpt.py examples/twins/nano_gpt.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import optax
from start import Weights, before_training, beginning, descent, embedding, layer_norm, linear, mask, train, weights_of

from funcgrad.nn import functional as F

LAYERS, HEADS, DROPPED = 3, 4, 0.1


def attention(weights: Weights, name: str, x: jax.Array, kept: jax.Array) -> jax.Array:
    """Let each place attend to itself and those before. Shape: x and result (N, T, C), kept (N, HEADS, T, T)."""
    count, length, width = x.shape
    qkv = linear(weights, f"{name}.c_attn", x).reshape(count, length, 3, HEADS, width // HEADS)
    q, k, v = jnp.moveaxis(qkv, 2, 0)
    scores = jnp.einsum("nqhd,nkhd->nhqk", q, k) / jnp.sqrt(width / HEADS)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
    seen = jnp.einsum("nhqk,nkhd->nqhd", jax.nn.softmax(scores) * kept, v)
    return linear(weights, f"{name}.c_proj", seen.reshape(x.shape))


def loss_of(weights: Weights, words: jax.Array, targets: jax.Array, kept: Any) -> jax.Array:
    first, *of_layers = kept
    x = (embedding(weights, "transformer.wte", words) + weights["transformer.wpe.weight"]) * first
    for layer, (on_scores, on_attention, on_mlp) in enumerate(of_layers):
        name = f"transformer.h.{layer}"
        x = x + attention(weights, f"{name}.attn", layer_norm(weights, f"{name}.ln_1", x), on_scores) * on_attention
        hidden = F.gelu(linear(weights, f"{name}.mlp.c_fc", layer_norm(weights, f"{name}.ln_2", x)))
        x = x + linear(weights, f"{name}.mlp.c_proj", hidden) * on_mlp
    logits = layer_norm(weights, "transformer.ln_f", x) @ weights["transformer.wte.weight"].T
    return F.cross_entropy(logits.reshape(targets.size, -1), targets.reshape(-1))


def batches(script: Any) -> Iterator[tuple[Any, ...]]:
    """Yield text, what follows, and masks, drawn in the order in which the script draws them."""
    words, targets = script.X, script.Y
    (count, length), width = words.shape, script.model.config.n_embd
    for step in range(script.max_iters + 1):
        if step % script.eval_interval == 0:
            for _ in range(script.eval_iters):
                script.get_batch("train")
            for _ in range(script.eval_iters):
                script.get_batch("val")
        shapes = [(count, HEADS, length, length), (count, length, width), (count, length, width)]
        first = mask(count, length, width, p=DROPPED)
        yield words, targets, (first, *[tuple(mask(*s, p=DROPPED) for s in shapes) for _ in range(LAYERS)])
        words, targets = script.get_batch("train")


def setup() -> tuple[Any, Any, Iterator[tuple[Any, ...]]]:
    """Return the step, the state that it starts from, and the batches."""
    script = before_training("nano_gpt")
    weights = weights_of(script.model)
    rates = jnp.array([script.get_lr(step) for step in range(script.max_iters + 1)])
    decayed = {name: weight.ndim >= 2 for name, weight in weights.items()}
    adam = optax.adamw(lambda count: rates[count], b1=0.9, b2=0.99, weight_decay=0.1, mask=decayed)
    return descent(loss_of, adam, most=1.0), beginning(weights, adam), batches(script)


if __name__ == "__main__":
    train(setup)
