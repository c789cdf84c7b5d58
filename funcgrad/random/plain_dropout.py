"""torch.dropout and its kin: the functions of `random.dropout` under the signatures of the plain namespace."""

from __future__ import annotations

from typing import Any

from funcgrad._tensor.overriding import all_ask
from funcgrad._tensor.tensor import Tensor
from funcgrad.random import dropout as functional


def _plain(name: str) -> Any:
    function, in_place = getattr(functional, name.removesuffix("_")), name.endswith("_")

    def plain(input: Tensor, p: float, train: bool) -> Tensor:
        return function(input, p, train, in_place)

    plain.__name__ = plain.__qualname__ = name
    plain.__doc__ = f"{function.__doc__} In place." if in_place else function.__doc__
    return plain


dropout, dropout_ = _plain("dropout"), _plain("dropout_")
alpha_dropout, alpha_dropout_ = _plain("alpha_dropout"), _plain("alpha_dropout_")
feature_alpha_dropout, feature_alpha_dropout_ = _plain("feature_alpha_dropout"), _plain("feature_alpha_dropout_")


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout of whole channels. Shape: input (N, C, *), result the same."""
    return functional.feature_dropout(input, p, train)


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout of whole channels, in place. Shape: input (N, C, *)."""
    return input.copy_(functional.feature_dropout(input, p, train))


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, generator: Any = None
) -> Tensor:
    """Return input where positive, else slope * input; slopes from U(lower, upper), or their mean when not training."""
    return functional.rrelu(input, lower, upper, training, generator=generator)


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, generator: Any = None
) -> Tensor:
    """Do what `rrelu` does, in place."""
    return functional.rrelu(input, lower, upper, training, inplace=True, generator=generator)


all_ask(
    globals(),
    ("alpha_dropout", "alpha_dropout_", "dropout", "dropout_", "feature_alpha_dropout", "feature_alpha_dropout_",
     "feature_dropout", "feature_dropout_", "rrelu", "rrelu_"),
)  # fmt: skip
