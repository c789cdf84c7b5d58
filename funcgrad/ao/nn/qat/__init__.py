"""torch.ao.nn.qat: layers that round their weights as they compute, to be trained with rounded numbers."""

from __future__ import annotations

from typing import Any, ClassVar

from funcgrad import nn
from funcgrad._base.quantized_dtypes import per_channel_affine_float_qparams
from funcgrad._tensor.tensor import Tensor
from funcgrad.ao.nn.intrinsic import _FusedModule
from funcgrad.nn import functional as F
from funcgrad.nn.parameter import Parameter
from funcgrad.nn.utils.parametrize import (
    is_parametrized,
    transfer_parametrizations_and_params,
    type_before_parametrizations,
)

__all__ = ["Conv1d", "Conv2d", "Conv3d", "Embedding", "EmbeddingBag", "Linear"]
CONV_OPTIONS = ("stride", "padding", "dilation", "groups", "padding_mode")


def require_qconfig(qconfig: Any) -> Any:
    """Return the pair of makers that such a layer needs. AssertionError where there is none."""
    if not qconfig:
        raise AssertionError("qconfig must be provided for QAT module")
    return qconfig


def qconfig_of(module: Any, name: str, wanted: type, found: str = "") -> Any:
    """Return the makers of the layer that `name`.from_float is given. AssertionError for another class, or for none."""
    if type_before_parametrizations(module) is not wanted:
        raise AssertionError(f"qat.{name}.from_float only works for {wanted.__name__}{found}")
    if not hasattr(module, "qconfig"):
        raise AssertionError("Input float module must have qconfig defined")
    if not module.qconfig:
        raise AssertionError("Input float module must have a valid qconfig")
    return module.qconfig


def _got(module: nn.Module) -> str:
    return f", got {type_before_parametrizations(module).__name__}"


class Linear(nn.Linear):
    """A linear layer that rounds its weight with what `qconfig.weight` makes. Shape: as nn.Linear."""

    _FLOAT_MODULE: ClassVar[type[nn.Module]] = nn.Linear

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, qconfig: Any = None, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features, bias, device=device, dtype=dtype)
        self.qconfig = require_qconfig(qconfig)
        self.weight_fake_quant = qconfig.weight(factory_kwargs={"device": device, "dtype": dtype})

    def forward(self, input: Tensor) -> Tensor:
        """Return input @ rounded weight.T + bias."""
        return F.linear(input, self.weight_fake_quant(self.weight), self.bias)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return such a layer with the parameters of a layer that has a `qconfig`."""
        qconfig_of(mod, cls.__name__, cls._FLOAT_MODULE, _got(mod))
        layer = mod[0] if isinstance(mod, _FusedModule) else mod
        made = cls(layer.in_features, layer.out_features, bias=layer.bias is not None, qconfig=layer.qconfig)
        for name in ("weight", "bias"):
            if is_parametrized(layer, name):
                transfer_parametrizations_and_params(layer, made, name)
            else:
                setattr(made, name, getattr(layer, name))
        return made

    def to_float(self) -> nn.Module:
        """Return a linear layer with these parameters."""
        linear = nn.Linear(self.in_features, self.out_features, self.bias is not None)
        take_parameters(linear, self)
        linear.train(self.training)
        return linear


def take_parameters(layer: Any, source: Any) -> None:
    """Let a layer have the numbers of another one's weight and bias as parameters of its own."""
    layer.weight = Parameter(source.weight.detach())
    if source.bias is not None:
        layer.bias = Parameter(source.bias.detach())


class _Rounding:
    """A convolution that rounds its weight. A subclass says which, and of what kind it is made."""

    _FLOAT_MODULE: ClassVar[type[nn.Module]]
    _FLOAT_CONV_MODULE: ClassVar[Any]
    weight: Any
    bias: Any

    def __init__(self, *args: Any, qconfig: Any = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.qconfig = require_qconfig(qconfig)
        self.weight_fake_quant = qconfig.weight(
            factory_kwargs={name: options.get(name) for name in ("device", "dtype")}
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return the convolution with the rounded weight."""
        return self._conv_forward(input, self.weight_fake_quant(self.weight), self.bias)  # type: ignore[attr-defined]

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return such a layer with the parameters of a convolution that has a `qconfig`."""
        qconfig_of(mod, cls.__name__, cls._FLOAT_MODULE, _got(mod))
        layer = mod[0] if isinstance(mod, _FusedModule) else mod
        options = {name: getattr(layer, name) for name in CONV_OPTIONS}
        sizes = (layer.in_channels, layer.out_channels, layer.kernel_size)
        made: Any = cls(*sizes, **options, bias=layer.bias is not None, qconfig=layer.qconfig)
        made.weight, made.bias = layer.weight, layer.bias
        return made

    def to_float(self) -> nn.Module:
        """Return a convolution with these parameters."""
        own: Any = self
        conv = plain_convolution(own, self._FLOAT_CONV_MODULE)
        take_parameters(conv, own)
        conv.train(own.training)
        return conv


def plain_convolution(layer: Any, kind: Any) -> Any:
    """Return a new convolution of this kind with the sizes and options of another one."""
    options = {name: getattr(layer, name) for name in CONV_OPTIONS}
    return kind(layer.in_channels, layer.out_channels, layer.kernel_size, **options, bias=layer.bias is not None)


class Conv1d(_Rounding, nn.Conv1d):
    """A convolution over one dimension that rounds its weight. Shape: as nn.Conv1d."""

    _FLOAT_MODULE = _FLOAT_CONV_MODULE = nn.Conv1d


class Conv2d(_Rounding, nn.Conv2d):
    """A convolution over two dimensions that rounds its weight. Shape: as nn.Conv2d."""

    _FLOAT_MODULE = _FLOAT_CONV_MODULE = nn.Conv2d


class Conv3d(_Rounding, nn.Conv3d):
    """A convolution over three dimensions that rounds its weight. Shape: as nn.Conv3d."""

    _FLOAT_MODULE = _FLOAT_CONV_MODULE = nn.Conv3d


_TABLE = ("num_embeddings", "embedding_dim")


class _RoundingTable:
    """A table that rounds its rows, each by a scale of its own. A subclass says which."""

    _FLOAT_MODULE: ClassVar[Any]
    _OPTIONS: ClassVar[tuple[str, ...]]

    def __init__(self, *args: Any, qconfig: Any = None, **options: Any) -> None:
        super().__init__(*args, **options)
        _require_rows(require_qconfig(qconfig).weight().qscheme, qconfig)
        self.qconfig = qconfig
        self.weight_fake_quant = qconfig.weight(
            factory_kwargs={name: options.get(name) for name in ("device", "dtype")}
        )

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return such a table with the rows of one that has a `qconfig`."""
        wanted = cls._FLOAT_MODULE
        if type(mod) is not wanted:
            raise AssertionError(f" qat.{cls.__name__}.from_float only works for {wanted.__name__}")
        qconfig = qconfig_of(mod, cls.__name__, wanted)
        options = {name: getattr(mod, name) for name in cls._OPTIONS}
        sizes = [getattr(mod, name) for name in _TABLE]
        return cls(*sizes, **options, _weight=mod.weight, qconfig=qconfig)

    def to_float(self) -> nn.Module:
        """Return a table with these rows."""
        own: Any = self
        options = {name: getattr(own, name) for name in self._OPTIONS}
        table = self._FLOAT_MODULE(*[getattr(own, name) for name in _TABLE], **options)
        table.weight = Parameter(own.weight.detach())
        table.train(own.training)
        return table


def _require_rows(scheme: Any, qconfig: Any) -> None:
    if scheme != per_channel_affine_float_qparams:
        raise AssertionError(
            "Embedding weights requires a qscheme of torch.per_channel_affine_float_qparams Got " + str(scheme)
        )


class Embedding(_RoundingTable, nn.Embedding):
    """A table of vectors that are rounded before they are looked up. Shape: as nn.Embedding."""

    _FLOAT_MODULE = nn.Embedding
    _OPTIONS = ("padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")

    def forward(self, input: Tensor) -> Tensor:
        """Return the rounded vectors at these places."""
        options = (self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse)
        return F.embedding(input, self.weight_fake_quant(self.weight), *options)


class EmbeddingBag(_RoundingTable, nn.EmbeddingBag):
    """Sums or means of vectors that are rounded before. Shape: as nn.EmbeddingBag."""

    _FLOAT_MODULE = nn.EmbeddingBag
    _OPTIONS = (
        "max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse", "include_last_offset", "padding_idx"
    )  # fmt: skip

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """Return a sum or a mean for each bag of places."""
        options = (self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse)
        weight = self.weight_fake_quant(self.weight)
        return F.embedding_bag(
            input, weight, offsets, *options, per_sample_weights, self.include_last_offset, self.padding_idx
        )
