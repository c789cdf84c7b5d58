"""Where a model's numbers would become integers and floats again: marks for quantisation, which pass numbers on."""

from __future__ import annotations

from typing import Any, NamedTuple

from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.module import Module


class _Makers(NamedTuple):
    activation: Any
    weight: Any


class QConfig(_Makers):
    """What makes the observers of activations and of weights: classes, or functions that take no arguments."""

    __slots__ = ()

    def __new__(cls, activation: Any, weight: Any) -> QConfig:
        """Refuse observers themselves."""
        if isinstance(activation, Module) or isinstance(weight, Module):
            raise ValueError(
                "QConfig received observer instance, please pass observer class instead. Use "
                "MyObserver.with_args(x=1) to override arguments to constructor if needed"
            )
        return super().__new__(cls, activation, weight)


class _Stub(Module):
    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """Return what is given."""
        return x


class QuantStub(_Stub):
    """Marks where floats become integers once a model is converted; before that it passes them on."""


class DeQuantStub(_Stub):
    """Marks where integers become floats again once a model is converted; before that it passes them on."""


class QuantWrapper(Module):
    """A module between the two marks."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        qconfig = getattr(module, "qconfig", None)
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X: Tensor) -> Tensor:
        """Apply the module."""
        return self.dequant(self.module(self.quant(X)))
