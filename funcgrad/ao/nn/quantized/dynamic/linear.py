"""Linear with 8-bit weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from funcgrad._base.quantized_dtypes import qint8
from funcgrad._tensor import functions as torch
from funcgrad._tensor.tensor import Tensor
from funcgrad.ao.nn.quantized.dynamic.module import Dynamic
from funcgrad.ao.nn.quantized.dynamic.products import Packed, linear, packed


class Linear(Dynamic):
    """input @ weight.T + bias, the weight in 8 bits. Made of `nn.Linear` by `quantize_dynamic`, or by `from_float`."""

    _packed: Packed

    def __init__(self, in_features: int, out_features: int, bias_: bool = True, dtype: Any = qint8) -> None:
        super().__init__()
        if dtype is not qint8:
            raise ValueError(f"dynamic quantisation of Linear: expected dtype torch.qint8, got {dtype}")
        self.in_features, self.out_features = in_features, out_features
        self.scale, self.zero_point = 1.0, 0
        self.set_weight_bias(torch.zeros(out_features, in_features), torch.zeros(out_features) if bias_ else None)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """Return the layer with the weights of a `nn.Linear`, rounded."""
        made = cls(mod.in_features, mod.out_features, mod.bias is not None)
        made.set_weight_bias(mod.weight, mod.bias)
        return made

    def set_weight_bias(self, w: Tensor, b: Tensor | None) -> None:
        """Set the weight, rounded if it is not, and the bias."""
        given = packed(w, b) if not w.is_quantized else Packed(w, b)  # type: ignore[arg-type]  # it is quantised
        object.__setattr__(self, "_packed", given)

    @property
    def _packed_params(self) -> tuple[Tensor, Tensor | None]:
        return tuple(self._packed)  # type: ignore[return-value]  # of two

    def weight(self) -> Tensor:
        """Return the quantised weight."""
        return self._packed.weight

    def bias(self) -> Tensor | None:
        """Return the bias."""
        return self._packed.bias

    def forward(self, x: Tensor) -> Tensor:
        """Return the product. Shape: x (*, in_features), result (*, out_features)."""
        return linear(x, self._packed)

    def extra_repr(self) -> str:
        """Return the sizes and how the weight is quantised."""
        weight = self._packed.weight
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, dtype={weight.dtype}, "
            f"qscheme={weight.qscheme()}"
        )

    def _kept(self) -> dict[str, Any]:
        return {
            "scale": torch.tensor(self.scale), "zero_point": torch.tensor(self.zero_point),
            "_packed_params.dtype": self._packed.weight.dtype, "_packed_params._packed_params": tuple(self._packed),
        }  # fmt: skip

    def _keep(self, found: Mapping[str, Any]) -> None:
        self.set_weight_bias(*found["_packed_params._packed_params"])
