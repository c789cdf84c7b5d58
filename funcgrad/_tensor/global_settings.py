"""The process-wide switches of torch that change what ops mean or how XLA computes them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import jax

from funcgrad._base import dtypes
from funcgrad._base.cpp_names import TYPE_NAMES
from funcgrad._base.warning import warn
from funcgrad._ops.backends import Convolutions
from funcgrad._program.forgetting import forget_compiled
from funcgrad._program.process import computes_on_cpu
from funcgrad._program.record import fresh_program
from funcgrad._program.renting import Exactness
from funcgrad._program.run import flush
from funcgrad._tensor.arguments import as_bool
from funcgrad._tensor.placement import available, set_default_device


def threads_asked_for(environment: Mapping[str, str], cores: int) -> int:
    """Return what OMP_NUM_THREADS or MKL_NUM_THREADS says, where it is a number, and not more than there are cores."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        said = environment.get(name, "").strip()
        if said.isdecimal() and int(said) > 0:
            return min(int(said), cores)
    return cores


class _Switches:
    """What was asked for, to be answered again."""

    precision = "highest"
    deterministic = only_warns = False
    fills = True
    interop_threads = os.cpu_count() or 1
    threads = threads_asked_for(os.environ, interop_threads)


def set_default_dtype(d: dtypes.dtype) -> None:
    """Set the dtype that Python floats and float factories get; only a floating one is taken."""
    flush()  # what is recorded keeps the meaning that it was recorded with
    dtypes.set_default_dtype(d)
    fresh_program()  # the same instructions mean something else from here


def set_default_tensor_type(t: Any) -> None:
    """Set default dtype and device by an old type name ("torch.cuda.FloatTensor") or class."""
    warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
    if not isinstance(t, str) and not hasattr(t, "is_cuda"):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    word = t if isinstance(t, str) else f"torch.{'cuda.' if t.is_cuda else ''}{t.__name__}"
    is_cuda = ".cuda." in word
    if is_cuda and not available("cuda"):
        raise TypeError(f"type {word} not available. Torch not compiled with CUDA enabled.")
    dtype_named = {name: dtype for dtype, name in TYPE_NAMES.items()}
    set_default_dtype(dtype_named[word.rpartition(".")[2].removesuffix("Tensor")])
    set_default_device("cuda" if is_cuda else None)


def set_float32_matmul_precision(precision: str) -> None:
    """Let float32 products be computed in lower precision: "highest", "high" (TF32) or "medium" (bfloat16)."""
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision not in ("highest", "high", "medium"):
        warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the currentsetFloat32MatmulPrecision call has "
            "no effect."
        )
        return
    if precision == _Switches.precision:
        return
    flush()
    _Switches.precision = precision
    word = {"high": "tensorfloat32", "medium": "bfloat16"}.get(precision)
    in_full = word is None and not computes_on_cpu()  # a CPU never rounds
    jax.config.update("jax_default_matmul_precision", "highest" if in_full else word)
    forget_compiled()


def get_float32_matmul_precision() -> str:
    """Return the precision of float32 products."""
    return _Switches.precision


def allow_rounded_convolutions(allowed: bool) -> None:
    """Let accelerators round the float32 numbers that are convolved to TF32, or not."""
    if allowed != Convolutions.may_round:
        flush()
        Convolutions.may_round = allowed
        forget_compiled()


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Let no program be numpy's at first, whose last digits are others than XLA's, if the mode is True.

    XLA's CPU programs are deterministic; on a GPU set XLA_FLAGS=--xla_gpu_deterministic_ops=true.
    Empty tensors are filled with NaN then, or the largest integer, unless `utils.deterministic` says otherwise.
    """
    for position, (name, given) in enumerate((("mode", mode), ("warn_only", warn_only))):
        place = "" if position else " (position 1)"
        as_bool(given, f"_set_deterministic_algorithms(): argument '{name}'{place}")
    _Switches.deterministic, _Switches.only_warns = mode, mode and warn_only
    (Exactness.wanted_for.add if mode else Exactness.wanted_for.discard)("deterministic algorithms")


def fill_uninitialized_memory(fills: bool | None = None) -> bool:
    """Say whether empty tensors are filled while deterministic algorithms are asked for; return what holds."""
    if fills is not None:
        if not isinstance(fills, bool):
            raise RuntimeError(f"expected a bool, but got {type(fills).__name__}")
        _Switches.fills = fills
    return _Switches.fills


def is_emptiness_filled() -> bool:
    """Tell whether empty tensors are filled with NaN now."""
    return _Switches.deterministic and _Switches.fills


def are_deterministic_algorithms_enabled() -> bool:
    """Return what was asked for."""
    return _Switches.deterministic


def set_num_threads(number: int) -> None:
    """Accepted: XLA's thread pool is made when the process starts."""
    _Switches.threads = _positive(number, "set_num_threads")


def set_num_interop_threads(number: int) -> None:
    """Accepted: XLA's thread pool is made when the process starts."""
    _Switches.interop_threads = _positive(number, "set_num_interop_threads")


def _positive(number: int, name: str) -> int:
    if not isinstance(number, int):
        raise RuntimeError(f"{name} expects an int, but got {type(number).__name__}")
    if number < 1:
        raise RuntimeError(f"{name} expects a positive integer")
    return number


def get_num_threads() -> int:
    """Return the number of threads."""
    return _Switches.threads


def get_num_interop_threads() -> int:
    """Return the number that `set_num_interop_threads` was given, by default that of cores."""
    return _Switches.interop_threads


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return what was asked for."""
    return _Switches.only_warns


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Accepted in torch's three levels: 0 or "default", 1 or "warn", 2 or "error"."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode not in (0, 1, 2, "default", "warn", "error"):
        known = "`default`, `warn`, `error`," if isinstance(debug_mode, str) else "0, 1, or 2,"
        expected = f"expected one of {known}" if isinstance(debug_mode, str) else f"expected {known}"
        raise RuntimeError(f"invalid value of debug_mode, {expected} but got {debug_mode}")
    use_deterministic_algorithms(debug_mode in (1, 2, "warn", "error"), warn_only=debug_mode in (1, "warn"))


def get_deterministic_debug_mode() -> int:
    """Return 2 where deterministic algorithms were asked for, 1 where only a warning was, else 0."""
    return 2 - _Switches.only_warns if _Switches.deterministic else 0


def set_flush_denormal(mode: bool) -> bool:
    """Return False: XLA decides what becomes of the smallest numbers."""
    return False


def set_warn_always(b: bool, /) -> None:
    """Accepted: warnings are Python's own, whose filters decide."""


def is_warn_always_enabled() -> bool:
    """Return False: Python's filters decide how often a warning is shown."""
    return False
