"""rearrange: reorders, splits and joins the dimensions of a tensor, as a pattern of their names says."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import chain

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor

_PART = re.compile(r"\(([^()]*)\)|(\.\.\.|[A-Za-z_]\w*|1)")
_DOTS, _JOINED_DOTS = "...", "(...)"
Groups = list[list[str]]


def rearrange(tensor: Tensor | Sequence[Tensor], pattern: str, **axes_lengths: int) -> Tensor:
    """Return the tensor with the dimensions of the pattern's left side in the order and grouping of its right side.

    A group in parentheses is one dimension of the tensor, "1" or "()" one of size 1, "..." any number. Of each group on
    the left all sizes but one are given. A sequence of tensors is stacked first. ValueError: the pattern does not fit.
    Source: Rogozhnikov 2022, "Einops", https://openreview.net/forum?id=oapKSVM2bcj.

    >>> rearrange(zeros(2, 6, 3), "b (h w) c -> b c h w", h=2).shape
    torch.Size([2, 3, 2, 3])
    """
    whole = tensor if isinstance(tensor, Tensor) else fg.stack(list(tensor))
    left, right = _sides(pattern)
    left, right = _without_dots(left, right, whole.ndim, pattern)
    sizes = dict(axes_lengths)
    for group, size in zip(left, whole.shape, strict=True):
        _find_sizes(group, size, sizes, pattern)
    names, wanted = list(chain.from_iterable(left)), list(chain.from_iterable(right))
    if sorted(names) != sorted(wanted) or len(set(names)) < len(names) or not set(axes_lengths) <= set(names):
        raise ValueError(f"rearrange: both sides of {pattern!r} must have the same names, each once")
    apart = whole.reshape([sizes[name] for name in names])
    ordered = apart.permute([names.index(name) for name in wanted])
    return ordered.reshape([math.prod(sizes[name] for name in group) for group in right])


def _sides(pattern: str) -> tuple[Groups, Groups]:
    sides = pattern.split("->")
    if len(sides) != 2 or any(_PART.sub("", side).strip() for side in sides):
        raise ValueError(f"rearrange: {pattern!r} is not of the form 'a (b c) ... -> b a ... c'")
    left, right = ([_names(*found) for found in _PART.findall(side)] for side in sides)
    return left, right


def _names(inside: str, alone: str) -> list[str]:
    if alone:
        return [] if alone == "1" else [alone]
    return [_JOINED_DOTS if name == _DOTS else name for name in inside.split() if name != "1"]


def _without_dots(left: Groups, right: Groups, rank: int, pattern: str) -> tuple[Groups, Groups]:
    """Return both sides with a name for each dimension that "..." stands for."""
    count = rank - len(left) + ([_DOTS] in left)
    if count < 0 or (count and [_DOTS] not in left):
        raise ValueError(f"rearrange: {pattern!r} has {len(left)} dimensions, the tensor {rank}")
    extra = [f"{_DOTS}{i}" for i in range(count)]
    return _spread(left, extra), _spread(right, extra)


def _spread(groups: Groups, extra: list[str]) -> Groups:
    found: Groups = []
    for group in groups:
        if group == [_DOTS]:
            found += [[name] for name in extra]
        else:
            found.append(list(chain.from_iterable(extra if name == _JOINED_DOTS else [name] for name in group)))
    return found


def _find_sizes(group: list[str], size: int, sizes: dict[str, int], pattern: str) -> None:
    """Note the size of each name of a group that is one dimension of this size."""
    unknown = [name for name in group if name not in sizes]
    known = math.prod(sizes[name] for name in group if name in sizes)
    if len(unknown) > 1 or (known != size and not unknown) or (known and size % known):
        raise ValueError(f"rearrange: {pattern!r} cannot split a dimension of size {size} into ({' '.join(group)})")
    for name in unknown:
        sizes[name] = size // known
