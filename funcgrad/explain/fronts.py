"""The signatures of hand-written functions that return one thing or another, which Python cannot say in one line."""

from __future__ import annotations

_WHOLE = "(input: Tensor, *, out: Tensor | None = None) -> Tensor"
_OF_TWO = "(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor"
_ALONG = "(input: Tensor, dim: int, keepdim: bool = False, *, out: Any = None) -> %s_dim"
_ALONG_AXIS = "(input: Tensor, *, axis: int, keepdims: bool = False, out: Any = None) -> %s_dim"
_AT_LEAST = ("(tensor: Tensor, /) -> Tensor", "(*tensors: Tensor | Sequence[Tensor]) -> Any")
_UNIQUE = "(input: Tensor, {sorted}return_inverse: {flag}, return_counts: {flag}, dim: int | None = None) -> {result}"
_NEVER, _ASKED = "Literal[False] = False", "bool = False"
_SORTED = "sorted: bool = True, "

# By the function's own name. `max_dim` is the named tuple of that row.
OVERLOADS: dict[str, tuple[str, ...]] = {
    **{word: (_WHOLE, _OF_TWO, _ALONG % word, _ALONG_AXIS % word) for word in ("max", "min")},
    **{word: (_WHOLE, _ALONG % word, _ALONG_AXIS % word) for word in ("median", "nanmedian")},
    **{f"atleast_{rank}d": _AT_LEAST for rank in (1, 2, 3)},
    "where": (
        "(condition: Tensor) -> tuple[Tensor, ...]",
        "(condition: Tensor, input: Tensor | complex, other: Tensor | complex, *, out: Tensor | None = None) -> Tensor",
    ),
    "nonzero": (
        "(input: Tensor, *, as_tuple: Literal[False] = False, out: Tensor | None = None) -> Tensor",
        "(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]",
    ),
    "unique": (
        _UNIQUE.format(sorted=_SORTED, flag=_NEVER, result="Tensor"),
        _UNIQUE.format(sorted=_SORTED, flag=_ASKED, result="Any"),
    ),
    "unique_consecutive": (
        _UNIQUE.format(sorted="", flag=_NEVER, result="Tensor"),
        _UNIQUE.format(sorted="", flag=_ASKED, result="Any"),
    ),
    "size": ("(self: Tensor) -> Size", "(self: Tensor, dim: int) -> int"),
    "stride": ("(self: Tensor) -> tuple[int, ...]", "(self: Tensor, dim: int) -> int"),
    "type_of": ("(self: Tensor) -> str", "(self: Tensor, dtype: Any, non_blocking: bool = False) -> Tensor"),
}
