"""torch._foreach_add_ and its kin: one method on every tensor of a list, recorded one by one into one program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_METHODS = {"maximum": "clamp_min", "minimum": "clamp_max"}  # with a number, and in place
_LAST = {
    "addcmul": (2, "value"),
    "addcdiv": (2, "value"),
    "norm": (0, "p"),
}  # what stands after so many, by its keyword
_OPERANDS = ("tensors1", "tensor1", "tensor2", "other", "exponent", "src", "scalar", "scalars", "weight", "weights")


def find(name: str) -> Any:
    """Return the function for a name such as `_foreach_mul_`, or None."""
    if not name.startswith("_foreach_"):
        return None
    word = name.removeprefix("_foreach_")
    bare, in_place = word.rstrip("_"), word.endswith("_")

    def each(self: Sequence[Any], *others: Any, **options: Any) -> tuple[Any, ...] | None:
        """Call the method on every tensor; lists among the other arguments are gone through with it."""
        others += tuple(options.pop(name) for name in _OPERANDS if name in options)
        if "ord" in options:
            options["p"] = options.pop("ord")
        if bare == "pow" and isinstance(self, (int, float, complex)):  # the base is a number
            return tuple(self**exponent for exponent in others[0])
        count, keyword = _LAST.get(bare, (len(others), ""))
        if len(others) > count:
            others, options = others[:count], {keyword: others[count], **options}
        if "value" in options and hasattr(options["value"], "tolist"):
            options["value"] = options["value"].tolist()  # a tensor with a number for each
        results = [_one(x, i, bare, in_place, others, options) for i, x in enumerate(self)]
        return None if in_place else tuple(results)

    each.__name__ = each.__qualname__ = name
    return each


def _one(tensor: Any, i: int, bare: str, in_place: bool, others: Any, options: dict[str, Any]) -> Any:
    given = [x[i] if isinstance(x, (list, tuple)) else x for x in others]
    options = {key: x[i] if isinstance(x, (list, tuple)) else x for key, x in options.items()}
    if bare in _METHODS and (in_place or not hasattr(given[0], "shape")):
        bare = _METHODS[bare]
    return getattr(tensor, bare + "_" * in_place)(*given, **options)
