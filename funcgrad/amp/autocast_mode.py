"""autocast: a block, or a decorator, in which each op computes in the precision that the table says for it."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from funcgrad._base.devices import device
from funcgrad._base.dtypes import bfloat16, float16
from funcgrad._base.dtypes import dtype as DType
from funcgrad._base.warning import warn
from funcgrad._tensor import autocasting as state
from funcgrad._tensor.placement import available
from funcgrad._tensor.tensor import Tensor

_LOWER = (bfloat16, float16)
_KINDS = ("cpu", "cuda", "ipu", "xpu", "maia", "xla", "mps", "hpu", "mtia", "privateuseone", "tpu")


def is_autocast_available(device_type: str) -> bool:
    """Tell whether autocast knows this kind of device. RuntimeError for what is no device."""
    return device(device_type).type in _KINDS


class autocast:  # noqa: N801 - torch's own spelling
    """Cast the inputs of ops on one kind of device: products to `dtype`, sensitive ops to float32.

    dtype: bfloat16 or float16; by default bfloat16 on a CPU, float16 on a GPU. The block may be entered again, nested,
    or left for a while by another one with enabled=False. Raises RuntimeError for a device that autocast does not know.
    """

    def __init__(
        self, device_type: str, dtype: DType | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        kind = device(device_type).type
        if not is_autocast_available(kind):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{kind}'")
        self.device = kind
        self.fast_dtype = state.get_autocast_dtype(kind) if dtype is None else dtype
        self._enabled = bool(enabled) and self._is_possible()
        self._cache_enabled = state.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._outer: list[tuple[bool, bool, DType]] = []

    def _is_possible(self) -> bool:
        """Warn and say no where there is no such device, or it has no such dtype."""
        if self.device == "cuda" and not available("cuda"):
            warn("CUDA is not available or torch_xla is imported. Disabling autocast.")
            return False
        if self.fast_dtype not in _LOWER:
            name = self.device.upper() if self.device == "cpu" else self.device
            warn(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently."
            )
            return False
        return True

    def __enter__(self) -> autocast:
        kind = self.device
        before = state.is_autocast_cache_enabled(), state.is_autocast_enabled(kind), state.get_autocast_dtype(kind)
        self._outer.append(before)
        state.set_autocast_enabled(kind, self._enabled)
        state.set_autocast_dtype(kind, self.fast_dtype)
        state.autocast_increment_nesting()
        state.set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *_: object) -> None:
        if state.autocast_decrement_nesting() == 0:
            state.clear_autocast_cache()
        caches, enabled, dtype = self._outer.pop()
        state.set_autocast_cache_enabled(caches)
        state.set_autocast_enabled(self.device, enabled)
        state.set_autocast_dtype(self.device, dtype)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str = "cuda", cast_inputs: DType | None = None
) -> Callable[..., Any]:
    """Decorate an autograd.Function's `forward`: its backward is to run as autocast was here.

    cast_inputs: forward runs without autocast, on floating tensors cast to this dtype where autocast was on.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args: Any, **kwargs: Any) -> Any:
        context, is_on = args[0], state.is_autocast_enabled(device_type)
        context._dtype = state.get_autocast_dtype(device_type)
        context._fwd_used_autocast = is_on and cast_inputs is None
        if cast_inputs is None or not is_on:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str = "cuda") -> Callable[..., Any]:
    """Decorate an autograd.Function's `backward`: it runs under autocast where the forward did."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args: Any, **kwargs: Any) -> Any:
        context = args[0]
        with autocast(device_type, context._dtype, context._fwd_used_autocast):
            return bwd(*args, **kwargs)

    return backward


def _cast(value: Any, device_type: str, dtype: DType) -> Any:
    if isinstance(value, Tensor):
        fits = value.is_floating_point() and value.device.type == device_type and value.dtype.name != "float64"
        return value.to(dtype) if fits else value
    if isinstance(value, dict):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(v, device_type, dtype) for v in value)
    return value


def warn_of_old_name(device: str, name: str, arguments: str | None = None) -> None:
    """Say what stands in the place of torch.<device>.amp.<name>."""
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use "
        f"`torch.amp.{name}({arguments or repr(device) + ', args...'})` instead.",
        FutureWarning,
        stacklevel=3,
    )
