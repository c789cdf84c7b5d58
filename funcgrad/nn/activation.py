"""Activation layers: each calls its function, with the options that it was made with."""

from __future__ import annotations

from typing import Any

from funcgrad._base.warning import warn
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F
from funcgrad.nn import init
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import empty_parameter


class _InPlace(Module):
    """A layer whose only option is whether to change its input in place."""

    __constants__ = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Return "inplace=True", or nothing."""
        return "inplace=True" if self.inplace else ""

    def _and_inplace(self, options: str) -> str:
        return f"{options}, inplace=True" if self.inplace else options


class Threshold(_InPlace):
    """input where it is above `threshold`, else `value`."""

    __constants__ = ("threshold", "value", "inplace")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold, self.value = threshold, value

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """Return the options."""
        return self._and_inplace(f"threshold={self.threshold}, value={self.value}")


class ReLU(_InPlace):
    """max(input, 0)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.relu_(input) if self.inplace else F.relu(input)


class RReLU(_InPlace):
    """input where it is positive, else slope * input; in training the slopes are drawn from U(lower, upper)."""

    __constants__ = ("lower", "upper", "inplace")

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower, self.upper = lower, upper

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Return the options."""
        return self._and_inplace(f"lower={self.lower}, upper={self.upper}")


class Hardtanh(_InPlace):
    """min(max(input, min_val), max_val)."""

    __constants__ = ("min_val", "max_val", "inplace")

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        for old, given in (("min", min_value), ("max", max_value)):
            if given is not None:
                warn(f"keyword argument `{old}_value` is deprecated and renamed to `{old}_val`", FutureWarning)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """Return the options."""
        return self._and_inplace(f"min_val={self.min_val}, max_val={self.max_val}")


class ReLU6(Hardtanh):
    """min(max(input, 0), 6)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Return "inplace=True", or nothing."""
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """1 / (1 + exp(-input))."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return fg.sigmoid(input)


class Tanh(Module):
    """tanh(input)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return fg.tanh(input)


class Hardsigmoid(_InPlace):
    """min(max(input + 3, 0), 6) / 6."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        """Return nothing, as torch does."""
        return ""


class Hardswish(_InPlace):
    """input * min(max(input + 3, 0), 6) / 6."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        """Return nothing, as torch does."""
        return ""


class SiLU(_InPlace):
    """input * sigmoid(input)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.silu(input, self.inplace)


class Mish(_InPlace):
    """input * tanh(softplus(input))."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.mish(input, self.inplace)


class SELU(_InPlace):
    """scale * elu(input), with the constants that keep mean 0 and variance 1."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.selu(input, self.inplace)


class ELU(_InPlace):
    """input where it is positive, else alpha * (exp(input) - 1)."""

    __constants__ = ("alpha", "inplace")

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """Return the options."""
        return self._and_inplace(f"alpha={self.alpha}")


class CELU(ELU):
    """input where it is positive, else alpha * (exp(input / alpha) - 1)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.celu(input, self.alpha, self.inplace)


class LeakyReLU(_InPlace):
    """input where it is positive, else negative_slope * input."""

    __constants__ = ("inplace", "negative_slope")

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """Return the options."""
        return self._and_inplace(f"negative_slope={self.negative_slope}")


class GLU(Module):
    """first half * sigmoid(second half) along `dim`."""

    __constants__ = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*, 2N, *), result (*, N, *)."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        """Return the dimension."""
        return f"dim={self.dim}"


class GELU(Module):
    """input * P(X <= input) for a normal X, or its approximation by tanh."""

    __constants__ = ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Return the approximation."""
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """input, and 0 where |input| <= lambd."""

    __constants__ = ("lambd",)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """Return the bound."""
        return f"{self.lambd}"


class Softshrink(Hardshrink):
    """input moved towards 0 by lambd, and 0 within it."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.softshrink(input, self.lambd)


class LogSigmoid(Module):
    """log(sigmoid(input))."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.logsigmoid(input)


class Softplus(Module):
    """log(1 + exp(beta * input)) / beta, and input itself where beta * input is above the threshold."""

    __constants__ = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Return the options."""
        return f"beta={self.beta}, threshold={self.threshold}"


class Softsign(Module):
    """input / (1 + |input|)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.softsign(input)


class Tanhshrink(Module):
    """input - tanh(input)."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.tanhshrink(input)


class PReLU(Module):
    """input where it is positive, else a learned slope * input: one slope, or one for each channel."""

    __constants__ = ("num_parameters",)

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = empty_parameter(num_parameters, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all slopes to `init`."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (N, C, *), result the same."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Return the number of slopes."""
        return f"num_parameters={self.num_parameters}"


class Softmin(Module):
    """softmax(-input) along `dim`."""

    __constants__ = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.softmin(input, self.dim)

    def extra_repr(self) -> str:
        """Return the dimension."""
        return f"dim={self.dim}"


class Softmax(Softmin):
    """exp(input) / sum(exp(input)) along `dim`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.softmax(input, self.dim)


class LogSoftmax(Softmin):
    """log(softmax(input)) along `dim`."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (*), result the same."""
        return F.log_softmax(input, self.dim)


class Softmax2d(Module):
    """softmax over the channels at each place of an image."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer. Shape: input (N, C, H, W) or (C, H, W), result the same."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)
