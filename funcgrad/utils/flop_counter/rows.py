"""Which of torch's kernels each row of the table is: those that multiply matrices, convolve and attend."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from funcgrad.utils.flop_counter.kernels import Convolution, Fused, Given, Kernel, Product, Shape, products


class Row(NamedTuple):
    """A call of a row. inputs: by name (of a list of tensors, the list); statics: by name; results: their shapes.

    differentiated: the inputs' places that require a gradient. device, dtype: of the first tensor. lengths: the numbers
    in an input of that name.
    """

    inputs: dict[str, Any]
    statics: dict[str, Any]
    results: tuple[Shape, ...]
    differentiated: frozenset[int]
    device: str
    dtype: str
    lengths: tuple[int, ...] | None = None

    def requires_grad(self, given: Given | None) -> bool:
        """Tell whether a tensor requires a gradient."""
        return given is not None and bool(given.places & self.differentiated)


_RULES: dict[str, Callable[[Row], Sequence[Kernel]]] = {}


def rule(*names: str) -> Callable[[Callable[[Row], Sequence[Kernel]]], Callable[[Row], Sequence[Kernel]]]:
    """Enter what torch runs for the rows of these names."""

    def enter(function: Callable[[Row], Sequence[Kernel]]) -> Callable[[Row], Sequence[Kernel]]:
        _RULES.update(dict.fromkeys(names, function))
        return function

    return enter


def kernels_of(name: str, row: Row) -> Sequence[Kernel] | None:
    """Return the kernels of a call; None for a row without a rule."""
    found = _RULES.get(name)
    return None if found is None else found(row)


def _rows(given: Given) -> Given:
    """Return all rows of a tensor as one matrix."""
    return given.viewed(prod(given.shape[:-1]), given.shape[-1])


def _product(row: Row, left: Given, right: Given, output: int | None = 0) -> list[Kernel]:
    """Return what torch runs for `left @ right`: vectors are no matrices, batches times a matrix are one matrix."""
    ranks = (len(left.shape), len(right.shape))
    if ranks in ((1, 1), (2, 1)) or (ranks[0] > 2 and ranks[1] == 1):
        return []
    if ranks[1] == 2:
        return [Product(_rows(left), right, output=output)]
    if ranks[0] <= 2 and row.requires_grad(left):
        vector_or_matrix = left.mT if ranks[0] == 2 else None
        return [] if vector_or_matrix is None else [Product(_rows(right.mT), vector_or_matrix, output=output)]
    return products(left.viewed(1, *left.shape) if ranks[0] == 1 else left, right, output=output)


@rule("matmul", "mm", "bmm", "mv", "dot")
def _matmul(row: Row) -> list[Kernel]:
    return _product(row, *row.inputs.values())


@rule("addmm", "baddbmm")
def _addmm(row: Row) -> list[Kernel]:
    bias, left, right = row.inputs.values()
    return products(left, right, bias)


@rule("addbmm")
def _addbmm(row: Row) -> list[Kernel]:
    _, left, right = row.inputs.values()
    return [Product(left, right, counted=False)]


@rule("linear")
def _linear(row: Row) -> list[Kernel]:
    input, weight, bias = row.inputs["input"], row.inputs["weight"], row.inputs.get("bias")
    if len(weight.shape) < 2:
        return _product(row, input, weight)
    return [Product(_rows(input), weight.mT, bias)]


@rule("inner")
def _inner(row: Row) -> list[Kernel]:
    left, right = row.inputs.values()
    if max(len(left.shape), len(right.shape)) < 2 or not (left.shape and right.shape):
        return []
    return [Product(_rows(left), _rows(right).mT)]


@rule("tensordot")
def _tensordot(row: Row) -> list[Kernel]:
    left, right = row.inputs.values()
    dims = row.statics.get("dims", 2)
    last = range(len(left.shape) - dims, len(left.shape)) if isinstance(dims, int) else dims[0]
    summed = prod(left.shape[dim] for dim in last)
    rows, columns = (prod(given.shape) // max(summed, 1) for given in (left, right))
    return [Product(left.viewed(rows, summed), right.viewed(summed, columns))]


# Several factors


@rule("chain_matmul", "multi_dot")
def _chain(row: Row) -> list[Kernel]:
    (factors,) = (list(given) for given in row.inputs.values())
    if len(factors) < 2:
        return []
    if len(factors[0].shape) == 1:
        factors[0] = factors[0].viewed(1, *factors[0].shape)
    if len(factors[-1].shape) == 1:
        factors[-1] = factors[-1].viewed(*factors[-1].shape, 1)
    found = _cheapest(tuple(factors))[1]
    return [*found[:-1], found[-1]._replace(output=0)]


@functools.cache
def _cheapest(factors: tuple[Given, ...]) -> tuple[int, tuple[Product, ...], Given]:
    """Return the cost of a chain of products in its cheapest order, the products, and what they give."""
    if len(factors) == 1:
        return 0, (), factors[0]
    ways = []
    for cut in range(1, len(factors)):
        (cost, before, left), (other_cost, after, right) = _cheapest(factors[:cut]), _cheapest(factors[cut:])
        one = Product(left, right, output=None)
        total = cost + other_cost + prod(left.shape) * right.shape[1]
        ways.append((total, (*before, *after, one), Given(one.result, left.places | right.places)))
    return min(ways, key=lambda way: way[0])


@rule("matrix_power")
def _matrix_power(row: Row) -> list[Kernel]:
    (matrix,) = row.inputs.values()
    power = abs(row.statics["n"])
    count = 2 if power == 3 else power.bit_length() - 1 + power.bit_count() - 1 if power > 1 else 0
    steps = [products(matrix, matrix, output=None) for _ in range(count)]
    return list(itertools.chain.from_iterable(steps))


@rule("einsum")
def _einsum(row: Row) -> list[Kernel]:
    (operands,) = row.inputs.values()
    terms, result = _spelled_out(row.statics["equation"], operands)
    waiting = list(zip(terms, operands, strict=True))
    found: list[Kernel] = []
    for places in _order(terms, result, operands):
        pair = [waiting[place] for place in places]
        waiting = [x for place, x in enumerate(waiting) if place not in places]
        kept = set(result).union(*(term for term, _ in waiting))
        while len(pair) > 1:
            first, second = pair.pop(0), pair.pop(0)
            later = kept.union(*(term for term, _ in pair))
            one, product = _contracted(first, second, later)
            found += product
            pair.insert(0, one)
        waiting.append(pair[0])
    return [*found[:-1], found[-1]._replace(output=0)] if found else []


def _contracted(
    first: tuple[str, Given], second: tuple[str, Given], later: set[str]
) -> tuple[tuple[str, Given], list[Kernel]]:
    """Return what two operands give, and their product, if one is summed over: a batch of matrices."""
    sizes: dict[str, int] = {}
    for term, given in (first, second):
        for letter, size in zip(term, given.shape, strict=True):
            sizes[letter] = max(size, sizes.get(letter, 1))
    shared = set(first[0]) & set(second[0])
    letters = [letter for letter in sizes if letter in later]
    one = Given(tuple(sizes[letter] for letter in letters), first[1].places | second[1].places)
    summed = prod(sizes[letter] for letter in shared - later)
    if not shared - later:
        return ("".join(letters), one), []
    batch = prod(sizes[letter] for letter in shared & later)
    rows, columns = (prod(sizes[x] for x in (set(term) & later) - shared) for term, _ in (first, second))
    product = Product(first[1].viewed(batch, rows, summed), second[1].viewed(batch, summed, columns), output=None)
    return ("".join(letters), one), [product]


def _spelled_out(equation: str, operands: Sequence[Given]) -> tuple[list[str], str]:
    """Return the letters of each operand and of the result, with other characters for an ellipsis' dimensions."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    extra = [len(x.shape) - len(term.replace("...", "")) for term, x in zip(terms, operands, strict=True)]
    longest = "".join(chr(0x3B1 + i) for i in range(max(0, *extra)))
    spelled = [term.replace("...", longest[len(longest) - n :]) for term, n in zip(terms, extra, strict=True)]
    if not arrow:
        once = sorted(letter for letter in set(left) - set(".,") if left.count(letter) == 1)
        return spelled, longest + "".join(once)
    return spelled, right.replace("...", longest)


def _order(terms: Sequence[str], result: str, operands: Sequence[Given]) -> Sequence[Sequence[int]]:
    """Return which operands are multiplied at each step, the results put last: the cheapest order of three or more."""
    if len(terms) < 3:
        return [tuple(range(len(terms)))]
    letters = {letter: chr(ord("a") + i) for i, letter in enumerate(sorted(set("".join(terms))))}
    plain = ",".join("".join(letters[x] for x in term) for term in terms)
    equation = f"{plain}->{''.join(letters[x] for x in result)}"
    arrays = [np.broadcast_to(np.float32(0), given.shape) for given in operands]
    path: list[Any] = np.einsum_path(equation, *arrays, optimize="optimal")[0]
    return path[1:]


# Convolutions and attention


@rule("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def _convolution(row: Row) -> list[Kernel]:
    input, weight, bias = row.inputs["input"], row.inputs["weight"], row.inputs.get("bias")
    (result,) = row.results
    if len(input.shape) < len(weight.shape):
        input, result = input.viewed(1, *input.shape), (1, *result)
    spread = row.statics.get("output_padding")
    names = ("stride", "padding", "dilation")
    zeros = (0,) * (len(weight.shape) - 2)
    geometry = (
        *(row.statics.get(name) for name in names), spread is not None, spread or zeros, row.statics.get("groups", 1),
    )  # fmt: skip
    return [Convolution(input, weight, bias, geometry, result)]


@rule("scaled_dot_product_attention")
def _attention(row: Row) -> list[Kernel]:
    query, key, value = (row.inputs[name] for name in ("query", "key", "value"))
    kernel = _attention_kernel(row, query, key, value)
    if kernel:
        shapes = (query.shape, key.shape, value.shape)
        return [Fused(kernel, shapes, row.results[0], f"{kernel}_backward")]
    if query.shape[:-2] != key.shape[:-2] and row.statics.get("enable_gqa"):
        key, value = (x.viewed(*query.shape[:-2], *x.shape[-2:]) for x in (key, value))
    scores = _product(row, query, key.mT, output=None)
    shares = Given((*query.shape[:-1], key.shape[-2]), query.places | key.places)
    return [*scores, *_product(row, shares, value)]


def _attention_kernel(row: Row, query: Given, key: Given, value: Given) -> str:
    """Return the name of the kernel that torch chooses; "" where it multiplies, masks and multiplies."""
    mask, dropped = row.inputs.get("attn_mask"), row.inputs.get("dropout_mask")
    heads_fit = query.shape[:-2] == key.shape[:-2] or bool(row.statics.get("enable_gqa"))
    is_fused = len(query.shape) == 4 and heads_fit and query.shape[-1] == value.shape[-1]
    if not is_fused or row.requires_grad(mask) or row.device == "meta":
        return ""
    if row.device == "cpu":
        return "" if dropped is not None else "_scaled_dot_product_flash_attention_for_cpu"
    if row.dtype in ("float16", "bfloat16") and mask is None:
        return "_scaled_dot_product_flash_attention"
    return "" if row.dtype == "float64" else "_scaled_dot_product_efficient_attention"


# Recurrent layers


@rule("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def _cell(row: Row) -> list[Kernel]:
    first, second, *_ = row.inputs.values()
    *_, w_ih, w_hh, b_ih, b_hh = row.inputs.values()
    return [Product(_rows(first), w_ih.mT, b_ih, None), Product(_rows(second), w_hh.mT, b_hh, None)]


@rule("lstm", "gru", "rnn_tanh", "rnn_relu")
def _layers(row: Row) -> list[Kernel]:
    """The input's share of the gates in one product for each layer, then a product for each step.

    torch's LSTM in single precision on a CPU is one kernel of another library, which is not counted.
    """
    input, state, weights = row.inputs["input"], row.inputs["hx"], row.inputs["weights"]
    count, directions = row.statics.get("num_layers", 1), 1 + row.statics.get("bidirectional", False)
    each = len(weights) // (count * directions)
    has_biases, is_lstm = row.statics.get("has_biases", True), "cx" in row.inputs
    has_projection = each % 2 == 1
    if is_lstm and row.device == "cpu" and row.dtype == "float32" and row.lengths is None and not has_projection:
        return [Fused("mkldnn_rnn_layer", (), None)]
    steps = _step_sizes(row.lengths, input.shape)
    found: list[Kernel] = []
    before, width = input.places, input.shape[-1]
    for layer in range(count):
        outputs = before
        for direction in range(directions):
            own = weights[(layer * directions + direction) * each :][:each]
            here = before | {p for x in own for p in x.places}
            share = Given((sum(steps), width), before)
            biases = (own[2], own[3]) if has_biases else (None, None)
            found.append(Product(share, own[0].mT, biases[0], None))
            hidden = Given((0, state.shape[-1]), state.places)
            for size in steps:
                found.append(Product(hidden.viewed(size, hidden.shape[1]), own[1].mT, biases[1], None))
                after = here | state.places
                if has_projection:
                    cell = Given((size, own[-1].shape[1]), after)
                    found.append(Product(cell, own[-1].mT, None, None))
                hidden = Given(hidden.shape, after)
            outputs = outputs | hidden.places
        before, width = outputs, directions * state.shape[-1]
    return found


def _step_sizes(lengths: tuple[int, ...] | None, shape: Shape) -> list[int]:
    """Return how many sequences go on at each time. shape: (T, N, I)."""
    if lengths is None:
        return [shape[1]] * shape[0]
    return [sum(length > time for length in lengths) for time in range(max(lengths, default=0))]
