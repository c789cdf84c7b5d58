"""funcgrad: write the loop like PyTorch, run it as one XLA program.

>>> import funcgrad as torch
>>> w = torch.tensor(3.0, requires_grad=True)
>>> y = w * 2 + 1
>>> y
tensor(7., grad_fn=<AddBackward0>)
>>> y.backward()
>>> w.grad
tensor(2.)
"""

from __future__ import annotations

import math as _math
from typing import Any as _Any

from funcgrad import random
from funcgrad._base import dtypes as _dtypes
from funcgrad._base import unheld_dtypes as _unheld_dtypes
from funcgrad._base.collector import relieve as _relieve_collector
from funcgrad._base.config import settings as _settings
from funcgrad._base.devices import device
from funcgrad._base.dtypes import dtype, get_default_dtype
from funcgrad._base.info import finfo, iinfo
from funcgrad._base.layouts import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    jagged,
    layout,
    memory_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from funcgrad._base.quantized_dtypes import (
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_channel_symmetric,
    per_tensor_affine,
    per_tensor_symmetric,
    qint8,
    qint32,
    qscheme,
    quint8,
)
from funcgrad._base.rooms import imported as _imported
from funcgrad._base.size import Size
from funcgrad._tensor import functions as _functions
from funcgrad._tensor import legacy as _legacy
from funcgrad._tensor.functions import *  # noqa: F403 - the public functions, listed in __all__ there
from funcgrad._tensor.global_settings import (
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    get_num_interop_threads,
    get_num_threads,
    is_deterministic_algorithms_warn_only_enabled,
    is_warn_always_enabled,
    set_default_dtype,
    set_default_tensor_type,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_num_interop_threads,
    set_num_threads,
    set_warn_always,
    use_deterministic_algorithms,
)
from funcgrad._tensor.interop import from_jax
from funcgrad._tensor.placement import get_default_device, set_default_device
from funcgrad._tensor.printing import set_printoptions
from funcgrad.random.functions import _sample_dirichlet as _sample_dirichlet
from funcgrad.random.functions import _standard_gamma as _standard_gamma
from funcgrad.random.functions import (
    bernoulli,
    binomial,
    multinomial,
    normal,
    poisson,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
)
from funcgrad.random.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from funcgrad.random.plain_dropout import (
    alpha_dropout,
    alpha_dropout_,
    dropout,
    dropout_,
    feature_alpha_dropout,
    feature_alpha_dropout_,
    feature_dropout,
    feature_dropout_,
    rrelu,
    rrelu_,
)

__all__ = [
    "Generator", "Size", "alpha_dropout", "alpha_dropout_", "are_deterministic_algorithms_enabled", "bernoulli",
    "binomial", "channels_last", "channels_last_3d", "contiguous_format", "default_generator", "device", "dropout",
    "dropout_", "dtype", "feature_alpha_dropout", "feature_alpha_dropout_", "feature_dropout", "feature_dropout_",
    "finfo", "from_jax", "get_default_device", "get_default_dtype", "get_deterministic_debug_mode",
    "get_float32_matmul_precision", "get_num_interop_threads", "get_num_threads", "get_rng_state", "iinfo",
    "initial_seed", "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled", "jagged", "layout",
    "manual_seed", "memory_format", "multinomial", "normal", "per_channel_affine",
    "per_channel_affine_float_qparams", "per_channel_symmetric", "per_tensor_affine",
    "per_tensor_symmetric", "poisson", "preserve_format", "qint8", "qint32", "qscheme", "quint8", "rand", "rand_like",
    "randint", "randint_like", "randn", "randn_like", "random", "randperm", "rrelu", "rrelu_", "seed",
    "set_default_device", "set_default_dtype", "set_default_tensor_type", "set_deterministic_debug_mode",
    "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads", "set_num_threads",
    "set_printoptions", "set_rng_state", "set_warn_always", "sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc",
    "sparse_csr", "strided",
    "use_deterministic_algorithms",
]  # fmt: skip
__all__ += _functions.__all__
__version__ = "0.1.0"

for _dtype in _dtypes.ALL:
    globals()[_dtype.name] = _dtype
globals().update(_dtypes.ALIASES)
globals().update(_unheld_dtypes.BY_NAME)
globals().update(_legacy.TYPES)

inf, nan, pi, e, newaxis = _math.inf, _math.nan, _math.pi, _math.e, None

# Loaded when first asked for: nn and optim (with optax) would double the time of `import funcgrad`.
_ROOMS = (
    "__config__", "__future__", "accelerator", "amp", "ao", "autograd", "backends", "compiler", "cpu", "cuda",
    "distributed", "distributions", "explain", "export", "fft", "func", "functional", "futures", "fx", "hub", "jit",
    "library", "linalg", "masked", "mps", "mtia", "multiprocessing", "nested", "nn", "onnx", "ops", "optim",
    "overrides", "profiler", "quantization", "quasirandom", "random", "return_types", "serialization", "signal",
    "sparse", "special", "storage", "testing", "types", "utils", "version", "vision", "xpu",
)  # fmt: skip
_NAMES_IN = {  # names of other rooms, for the same reason
    "_tensor.overriding": ("DisableTorchFunction", "DisableTorchFunctionSubclass"),
    "amp": ("GradScaler", "autocast"),
    "ao.quantized_tensor": ("dequantize", "quantize_per_tensor", "quantize_per_tensor_dynamic"),
    "autograd.anomaly": ("is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled"),
    "compiler": ("_disable_dynamo", "_dynamo", "_inductor"),
    "compiling": ("compile",),
    "cuda": ("AcceleratorError", "Event", "OutOfMemoryError", "Stream"),
    "func": ("vmap",),
    "futures": ("Future",),
    "jit": ("ScriptFunction", "ScriptModule", "fork", "wait"),
    "linalg.low_rank": ("lobpcg", "pca_lowrank", "svd_lowrank"),
    "nn.files": ("load",),
    "nn.plain": (
        "_batch_norm_with_update", "_native_batch_norm_legit", "adaptive_max_pool1d", "affine_grid_generator",
        "batch_norm", "batch_norm_update_stats", "conv_tbc", "convolution", "embedding", "embedding_bag",
        "embedding_renorm_", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "group_norm", "gru",
        "instance_norm", "layer_norm", "lstm", "lstm_cell", "max_pool1d_with_indices", "native_batch_norm",
        "native_dropout", "native_layer_norm", "rnn_relu", "rnn_tanh",
    ),
    "serialization": ("save",),
    "serialization.records": ("PyTorchFileReader",),
    "standing_in": ("install",),
    "standing_in.notebooks": ("load_ipython_extension", "unload_ipython_extension"),
    "types": ("DeviceObjType",),
    "utils.dlpack": ("to_dlpack",),
}  # fmt: skip
_ELSEWHERE = {name: room for room, names in _NAMES_IN.items() for name in names}
_of_table = _functions.lookup("")


def __getattr__(name: str) -> _Any:
    if name in _ROOMS:
        return _imported(f"funcgrad.{name}")
    if name in _ELSEWHERE:
        return getattr(_imported(f"funcgrad.{_ELSEWHERE[name]}"), name)
    globals()[name] = found = _of_table(name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, *_ELSEWHERE, *_functions.names_under("")})


globals().update(  # `from torch import *` gives every name but the rooms
    __all__=[name for name in __dir__() if not name.startswith("_") and name not in ("annotations", *_ROOMS)]
)


if _settings.freeze:
    _relieve_collector()
