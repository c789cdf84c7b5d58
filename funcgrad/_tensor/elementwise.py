"""Names of the functions that treat each element alone, for classes of tensors to which others are applied apart."""

from __future__ import annotations

from funcgrad._ops.alone import ALONE

_MORE = (  # written by hand, so in no row of the table; or with another name there
    "alpha_dropout", "bernoulli", "bfloat16", "bitwise_not", "bool", "byte", "char", "clip", "clone", "contiguous",
    "cpu", "cuda", "data", "detach", "div", "divide", "double", "dropout", "dropout1d", "empty_like", "feature_dropout",
    "fill", "float", "full_like", "half", "int", "invert", "logical_not", "long", "masked_fill", "multiply",
    "native_dropout", "normal", "ones_like", "positive", "pow", "rand_like", "randint_like", "randn_like", "short",
    "softsign", "subtract",
    "to", "true_divide", "type", "type_as", "uniform", "where", "zero", "zeros_like",
)  # fmt: skip


def _names() -> set[str]:
    rows = [op for op in ALONE if op.name != "where_method"]
    named = {place.rpartition(".")[2].strip("_") for op in rows for place in op.names}
    return {*named, *(op.name for op in rows), *_MORE} - {""}


ELEMENTWISE = {spelling for name in _names() for spelling in (name, f"__{name}__", f"__r{name}__")}
IN_PLACE = {spelling for name in _names() for spelling in (f"{name}_", f"__i{name}__")} | {"copy_", "random_"}
