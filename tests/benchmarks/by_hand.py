"""The same steps as an expert in JAX would write them: one `jax.jit`, optax, donated weights and state."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from tests.benchmarks.workloads import (
    BATCHES,
    DEEP_LAYERS,
    DEEP_WIDTH,
    HEADS,
    HIDDEN,
    LAYERS,
    NOISE,
    SIZES,
    WIDTH,
    Step,
    numbers,
)  # fmt: skip

Weights = Any
Array = jax.Array


def step_of(workload: str) -> Step:
    """Return the function that does one step and returns its loss."""
    if workload in LOOPS:
        return LOOPS[workload]()
    initial, forward, optimizer = BUILDERS["mlp" if workload == "printed" else workload]()
    classes = SIZES[workload].classes
    batches = [tuple(map(jnp.asarray, batch)) for batch in numbers(workload)]
    weights, turn = initial, 0
    state = optimizer.init(weights)

    def loss_of(weights: Weights, inputs: Array, targets: Array) -> Array:
        logits = forward(weights, inputs).reshape(-1, classes)
        return optax.softmax_cross_entropy_with_integer_labels(logits, targets.reshape(-1)).mean()

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def update(weights: Weights, state: Any, inputs: Array, targets: Array) -> tuple[Weights, Any, Array]:
        loss, gradients = jax.value_and_grad(loss_of)(weights, inputs, targets)
        updates, state = optimizer.update(gradients, state, weights)
        return optax.apply_updates(weights, updates), state, loss

    def step() -> float:
        nonlocal weights, state, turn
        weights, state, loss = update(weights, state, *batches[turn % BATCHES])
        turn += 1
        return float(loss)

    return step


class _Keys:
    """Gives a new key at each call."""

    def __init__(self) -> None:
        self.key = jax.random.key(0)

    def __call__(self) -> Array:
        self.key, key = jax.random.split(self.key)
        return key


def _dense(keys: _Keys, fan_in: int, fan_out: int) -> dict[str, Array]:
    bound = 1 / math.sqrt(fan_in)
    kernel = jax.random.uniform(keys(), (fan_in, fan_out), minval=-bound, maxval=bound)
    return {"kernel": kernel, "bias": jax.random.uniform(keys(), (fan_out,), minval=-bound, maxval=bound)}


def _apply(layer: dict[str, Array], x: Array) -> Array:
    return x @ layer["kernel"] + layer["bias"]


def _perceptron(*widths: int) -> tuple[Weights, Callable[[Weights, Array], Array]]:
    keys = _Keys()
    layers = [_dense(keys, a, b) for a, b in itertools.pairwise(widths)]

    def forward(layers: Weights, x: Array) -> Array:
        for layer in layers[:-1]:
            x = jax.nn.relu(_apply(layer, x))
        return _apply(layers[-1], x)

    return layers, forward


def tiny() -> tuple[Weights, Callable[..., Array], Any]:
    return *_perceptron(8, 16, 16, 2), optax.adam(1e-3)


def mlp() -> tuple[Weights, Callable[..., Array], Any]:
    return *_perceptron(784, 256, 256, 10), optax.adam(1e-3)


def conv() -> tuple[Weights, Callable[..., Array], Any]:
    keys = _Keys()

    def kernel(channels_in: int, channels_out: int) -> dict[str, Array]:
        bound = 1 / math.sqrt(9 * channels_in)
        shape = (3, 3, channels_in, channels_out)
        drawn = jax.random.uniform(keys(), shape, minval=-bound, maxval=bound)
        return {"kernel": drawn, "bias": jnp.zeros(channels_out)}

    weights = {"conv1": kernel(1, 32), "conv2": kernel(32, 64), "head": _dense(keys, 64 * 7 * 7, 10)}

    def convolve(layer: dict[str, Array], x: Array) -> Array:
        layout = ("NHWC", "HWIO", "NHWC")
        return (
            jax.lax.conv_general_dilated(x, layer["kernel"], (1, 1), "SAME", dimension_numbers=layout) + layer["bias"]
        )

    def pool(x: Array) -> Array:
        n, h, w, c = x.shape
        return x.reshape(n, h // 2, 2, w // 2, 2, c).max(axis=(2, 4))

    def forward(weights: Weights, images: Array) -> Array:
        x = images.transpose(0, 2, 3, 1)
        x = pool(jax.nn.relu(convolve(weights["conv1"], x)))
        x = pool(jax.nn.relu(convolve(weights["conv2"], x)))
        return _apply(weights["head"], x.reshape(len(x), -1))

    return weights, forward, optax.adam(1e-3)


def gpt(workload: str = "gpt", width: int = WIDTH, layers: int = LAYERS) -> tuple[Weights, Callable[..., Array], Any]:
    keys, sizes = _Keys(), SIZES[workload]

    def norm_weights() -> dict[str, Array]:
        return {"scale": jnp.ones(width), "bias": jnp.zeros(width)}

    def block_weights() -> dict[str, Any]:
        return {
            "norm1": norm_weights(), "qkv": _dense(keys, width, 3 * width), "output": _dense(keys, width, width),
            "norm2": norm_weights(), "up": _dense(keys, width, 4 * width), "down": _dense(keys, 4 * width, width),
        }  # fmt: skip

    weights = {
        "tokens": jax.random.normal(keys(), (sizes.classes, width)),
        "positions": jax.random.normal(keys(), (sizes.inputs[0], width)),
        "blocks": [block_weights() for _ in range(layers)],
        "norm": norm_weights(),
        "head": _dense(keys, width, sizes.classes),
    }

    def normalize(layer: dict[str, Array], x: Array) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * layer["scale"] + layer["bias"]

    def attend(block: dict[str, Any], x: Array) -> Array:
        batch, time, _ = x.shape
        heads = (batch, time, HEADS, width // HEADS)
        q, k, v = (part.reshape(heads) for part in jnp.split(_apply(block["qkv"], x), 3, axis=-1))
        mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        return _apply(block["output"], mixed.reshape(batch, time, width))

    def forward(weights: Weights, tokens: Array) -> Array:
        x = weights["tokens"][tokens] + weights["positions"]
        for block in weights["blocks"]:
            x = x + attend(block, normalize(block["norm1"], x))
            hidden = jax.nn.gelu(_apply(block["up"], normalize(block["norm2"], x)), approximate=False)
            x = x + _apply(block["down"], hidden)
        return _apply(weights["head"], normalize(weights["norm"], x))

    return weights, forward, optax.adamw(1e-3, weight_decay=1e-2)


def deep() -> tuple[Weights, Callable[..., Array], Any]:
    return gpt("deep", DEEP_WIDTH, DEEP_LAYERS)


def resnet() -> tuple[Weights, Callable[..., Array], Any]:
    """Channels last, and batch statistics in training mode; the running ones are kept beside the weights."""
    keys = _Keys()

    def layer(channels_in: int, channels_out: int, size: int) -> dict[str, Array]:
        bound = 1 / math.sqrt(size * size * channels_in)
        kernel = jax.random.uniform(keys(), (size, size, channels_in, channels_out), minval=-bound, maxval=bound)
        return {"kernel": kernel, "scale": jnp.ones(channels_out), "bias": jnp.zeros(channels_out)}

    def block(channels_in: int, channels_out: int) -> dict[str, Any]:
        found = {"first": layer(channels_in, channels_out, 3), "second": layer(channels_out, channels_out, 3)}
        return found if channels_in == channels_out else {**found, "short": layer(channels_in, channels_out, 1)}

    weights = {
        "stem": layer(3, 16, 3), "blocks": [block(16, 16), block(16, 32), block(32, 64)], "head": _dense(keys, 64, 10)
    }  # fmt: skip

    def convolved(layer: dict[str, Array], x: Array, stride: int = 1) -> Array:
        pad = layer["kernel"].shape[0] // 2
        y = jax.lax.conv_general_dilated(
            x, layer["kernel"], (stride, stride), [(pad, pad)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        mean, variance = y.mean((0, 1, 2)), y.var((0, 1, 2))
        return (y - mean) * jax.lax.rsqrt(variance + 1e-5) * layer["scale"] + layer["bias"]

    def forward(weights: Weights, images: Array) -> Array:
        x = jax.nn.relu(convolved(weights["stem"], images.transpose(0, 2, 3, 1)))
        for block in weights["blocks"]:
            stride = 2 if "short" in block else 1
            inner = jax.nn.relu(convolved(block["first"], x, stride))
            short = convolved(block["short"], x, stride) if "short" in block else x
            x = jax.nn.relu(convolved(block["second"], inner) + short)
        return _apply(weights["head"], x.mean((1, 2)))

    return weights, forward, optax.sgd(0.1, momentum=0.9)


def lstm() -> tuple[Weights, Callable[..., Array], Any]:
    keys, sizes = _Keys(), SIZES["lstm"]
    weights = {
        "input": _dense(keys, sizes.inputs[1], 4 * HIDDEN),
        "hidden": _dense(keys, HIDDEN, 4 * HIDDEN)["kernel"],
        "head": _dense(keys, HIDDEN, sizes.classes),
    }

    def forward(weights: Weights, x: Array) -> Array:
        projected = _apply(weights["input"], x).transpose(1, 0, 2)  # all time steps in one product

        def turn(carry: tuple[Array, Array], gates: Array) -> tuple[tuple[Array, Array], None]:
            hidden, cell = carry
            entry, forget, candidate, output = jnp.split(gates + hidden @ weights["hidden"], 4, axis=-1)
            cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(entry) * jnp.tanh(candidate)
            return (jax.nn.sigmoid(output) * jnp.tanh(cell), cell), None

        start = jnp.zeros((x.shape[0], HIDDEN))
        (hidden, _), _ = jax.lax.scan(turn, (start, start), projected)
        return _apply(weights["head"], hidden)

    return weights, forward, optax.adam(1e-3)


def gan() -> Step:
    """Both updates in one jitted step."""
    (maker, make), (judge, look_at) = _perceptron(NOISE, 128, 64), _perceptron(64, 128, 1)
    transform = optax.adam(2e-4, b1=0.5)
    states = transform.init(maker), transform.init(judge)
    real = jnp.asarray(numbers("gan")[0][0])

    def missed(judge: Weights, x: Array, wanted: float) -> Array:
        return optax.sigmoid_binary_cross_entropy(look_at(judge, x), jnp.full((len(x), 1), wanted)).mean()

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
    def update(maker: Weights, judge: Weights, states: Any, real: Array) -> Any:
        noise = real[:, :NOISE] * 0.5

        def judged(judge: Weights) -> Array:
            return missed(judge, real, 1.0) + missed(judge, jax.lax.stop_gradient(make(maker, noise)), 0.0)

        loss, slope = jax.value_and_grad(judged)(judge)
        moves, judge_state = transform.update(slope, states[1], judge)
        judge = optax.apply_updates(judge, moves)
        fooled, slope = jax.value_and_grad(lambda maker: missed(judge, make(maker, noise), 1.0))(maker)
        moves, maker_state = transform.update(slope, states[0], maker)
        return optax.apply_updates(maker, moves), judge, (maker_state, judge_state), loss, fooled

    def step() -> float:
        nonlocal maker, judge, states
        maker, judge, states, loss, fooled = update(maker, judge, states, real)
        return float(loss) + float(fooled)

    return step


def look(workload: str = "look") -> Step:
    weights, forward, _ = mlp() if workload == "look" else conv()
    inputs = jnp.asarray(numbers(workload)[0][0])
    answer = jax.jit(lambda weights, inputs: forward(weights, inputs).max())
    return lambda: float(answer(weights, inputs))


def look_conv() -> Step:
    return look("look-conv")


BUILDERS: dict[str, Callable[[], tuple[Weights, Callable[..., Array], Any]]] = {
    "tiny": tiny, "mlp": mlp, "conv": conv, "resnet": resnet, "gpt": gpt, "deep": deep, "lstm": lstm,
}  # fmt: skip
LOOPS: dict[str, Callable[[], Step]] = {"gan": gan, "look": look, "look-conv": look_conv}
