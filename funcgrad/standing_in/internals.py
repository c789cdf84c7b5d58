"""torch._C: switches of torch's own machinery that scripts and libraries set; there is nothing to switch."""

from __future__ import annotations

from typing import Any

from funcgrad._base.errors import LinAlgError
from funcgrad._tape import levels
from funcgrad._tensor import overriding
from funcgrad._tensor.overriding import DisableTorchFunction as DisableTorchFunction
from funcgrad._tensor.overriding import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from funcgrad._tensor.overriding import disabled
from funcgrad._tensor.tensor import Tensor


def _accepted(*_: Any, **__: Any) -> None:
    """Do nothing."""


def _never(*_: Any) -> bool:
    """Say no."""
    return False


def _are_functorch_transforms_active() -> bool:
    """Tell whether a function that is transformed (grad, vmap, jvp) runs."""
    return bool(levels.thread.running)


def _is_torch_function_mode_enabled() -> bool:
    """Tell whether a mode (`torch.overrides.TorchFunctionMode`) is asked first."""
    return bool(overriding.state.modes)


def _is_alias_of(tensor: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors show the same storage."""
    return tensor.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


_log_api_usage_once = _jit_set_profiling_executor = _jit_set_profiling_mode = _accepted
_jit_override_can_fuse_on_cpu = _jit_override_can_fuse_on_gpu = _jit_set_texpr_fuser_enabled = _accepted
_jit_set_nvfuser_enabled = _jit_set_nvfuser_guard_mode = _set_graph_executor_optimize = _accepted
_LinAlgError = LinAlgError
_TensorMeta = type(Tensor)
_disabled_torch_function_impl = disabled
_jit_can_fuse_on_cpu = _jit_can_fuse_on_gpu = _get_tracing_state = _is_tracing = _never
_mps_is_available = _mps_is_in_bad_fork = _mps_is_on_macos_or_newer = _never
