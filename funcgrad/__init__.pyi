"""Written by `python -m funcgrad.explain.stubs`; do not edit."""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Sequence
from funcgrad import (
    __config__ as __config__,
    __future__ as __future__,
    accelerator as accelerator,
    amp as amp,
    ao as ao,
    autograd as autograd,
    backends as backends,
    compiler as compiler,
    cpu as cpu,
    cuda as cuda,
    distributed as distributed,
    distributions as distributions,
    explain as explain,
    export as export,
    fft as fft,
    func as func,
    functional as functional,
    futures as futures,
    fx as fx,
    hub as hub,
    jit as jit,
    library as library,
    linalg as linalg,
    masked as masked,
    mps as mps,
    mtia as mtia,
    multiprocessing as multiprocessing,
    nested as nested,
    nn as nn,
    onnx as onnx,
    ops as ops,
    optim as optim,
    overrides as overrides,
    profiler as profiler,
    quantization as quantization,
    quasirandom as quasirandom,
    random as random,
    return_types as return_types,
    serialization as serialization,
    signal as signal,
    sparse as sparse,
    special as special,
    storage as storage,
    testing as testing,
    types as types,
    utils as utils,
    version as version,
    vision as vision,
    xpu as xpu,
)
from funcgrad._base.devices import device as device
from funcgrad._base.dtypes import dtype as dtype, get_default_dtype as get_default_dtype
from funcgrad._base.info import finfo as finfo, iinfo as iinfo
from funcgrad._base.layouts import (
    channels_last as channels_last,
    channels_last_3d as channels_last_3d,
    contiguous_format as contiguous_format,
    jagged as jagged,
    layout as layout,
    memory_format as memory_format,
    preserve_format as preserve_format,
    sparse_bsc as sparse_bsc,
    sparse_bsr as sparse_bsr,
    sparse_coo as sparse_coo,
    sparse_csc as sparse_csc,
    sparse_csr as sparse_csr,
    strided as strided,
)
from funcgrad._base.quantized_dtypes import (
    per_channel_affine as per_channel_affine,
    per_channel_affine_float_qparams as per_channel_affine_float_qparams,
    per_channel_symmetric as per_channel_symmetric,
    per_tensor_affine as per_tensor_affine,
    per_tensor_symmetric as per_tensor_symmetric,
    qint32 as qint32,
    qint8 as qint8,
    qscheme as qscheme,
    quint8 as quint8,
)
from funcgrad._base.size import Size as Size
from funcgrad._base.unheld_dtypes import unheld_dtype
from funcgrad._tensor.functions import (
    Tensor as Tensor,
    arange as arange,
    as_tensor as as_tensor,
    asarray as asarray,
    can_cast as can_cast,
    empty_permuted as empty_permuted,
    empty_strided as empty_strided,
    enable_grad as enable_grad,
    eye as eye,
    from_dlpack as from_dlpack,
    from_file as from_file,
    from_numpy as from_numpy,
    frombuffer as frombuffer,
    full as full,
    full_like as full_like,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled,
    is_storage as is_storage,
    is_tensor as is_tensor,
    linspace as linspace,
    logspace as logspace,
    no_grad as no_grad,
    promote_types as promote_types,
    range as range,
    result_type as result_type,
    scalar_tensor as scalar_tensor,
    set_grad_enabled as set_grad_enabled,
    tensor as tensor,
    tril_indices as tril_indices,
    triu_indices as triu_indices,
    typename as typename,
)
from funcgrad._tensor.global_settings import (
    are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode as get_deterministic_debug_mode,
    get_float32_matmul_precision as get_float32_matmul_precision,
    get_num_interop_threads as get_num_interop_threads,
    get_num_threads as get_num_threads,
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
    is_warn_always_enabled as is_warn_always_enabled,
    set_default_dtype as set_default_dtype,
    set_default_tensor_type as set_default_tensor_type,
    set_deterministic_debug_mode as set_deterministic_debug_mode,
    set_float32_matmul_precision as set_float32_matmul_precision,
    set_flush_denormal as set_flush_denormal,
    set_num_interop_threads as set_num_interop_threads,
    set_num_threads as set_num_threads,
    set_warn_always as set_warn_always,
    use_deterministic_algorithms as use_deterministic_algorithms,
)
from funcgrad._tensor.interop import from_jax as from_jax
from funcgrad._tensor.overriding import (
    DisableTorchFunction as DisableTorchFunction,
    DisableTorchFunctionSubclass as DisableTorchFunctionSubclass,
)
from funcgrad._tensor.placement import (
    get_default_device as get_default_device,
    set_default_device as set_default_device,
)
from funcgrad._tensor.printing import set_printoptions as set_printoptions
from funcgrad._tensor.sparse.tensor import SparseTensor
from funcgrad._tensor.tensor import (
    _AminmaxResult,
    _CummaxResult,
    _CumminResult,
    _FrexpResult,
    _GeqrfResult,
    _KthvalueResult,
    _LuUnpackResult,
    _MaxDimResult,
    _MedianDimResult,
    _MinDimResult,
    _ModeResult,
    _NanmedianDimResult,
    _OldQrResult,
    _OldSlogdetResult,
    _OldSvdResult,
    _SortResult,
    _TopkResult,
    _TriangularSolveResult,
)
from funcgrad.amp import GradScaler as GradScaler, autocast as autocast
from funcgrad.ao.quantized_tensor import (
    dequantize as dequantize,
    quantize_per_tensor as quantize_per_tensor,
    quantize_per_tensor_dynamic as quantize_per_tensor_dynamic,
)
from funcgrad.autograd.anomaly import (
    is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
    is_anomaly_enabled as is_anomaly_enabled,
    set_anomaly_enabled as set_anomaly_enabled,
)
from funcgrad.compiler import _disable_dynamo as _disable_dynamo, _dynamo as _dynamo, _inductor as _inductor
from funcgrad.compiling import compile as compile
from funcgrad.cuda import (
    AcceleratorError as AcceleratorError,
    Event as Event,
    OutOfMemoryError as OutOfMemoryError,
    Stream as Stream,
)
from funcgrad.func import vmap as vmap
from funcgrad.futures import Future as Future
from funcgrad.jit import ScriptFunction as ScriptFunction, ScriptModule as ScriptModule, fork as fork, wait as wait
from funcgrad.linalg.low_rank import lobpcg as lobpcg, pca_lowrank as pca_lowrank, svd_lowrank as svd_lowrank
from funcgrad.nn.files import load as load
from funcgrad.nn.plain import (
    _batch_norm_with_update as _batch_norm_with_update,
    _native_batch_norm_legit as _native_batch_norm_legit,
    adaptive_max_pool1d as adaptive_max_pool1d,
    affine_grid_generator as affine_grid_generator,
    batch_norm as batch_norm,
    batch_norm_update_stats as batch_norm_update_stats,
    conv_tbc as conv_tbc,
    convolution as convolution,
    embedding as embedding,
    embedding_bag as embedding_bag,
    embedding_renorm_ as embedding_renorm_,
    grid_sampler as grid_sampler,
    grid_sampler_2d as grid_sampler_2d,
    grid_sampler_3d as grid_sampler_3d,
    group_norm as group_norm,
    gru as gru,
    instance_norm as instance_norm,
    layer_norm as layer_norm,
    lstm as lstm,
    lstm_cell as lstm_cell,
    max_pool1d_with_indices as max_pool1d_with_indices,
    native_batch_norm as native_batch_norm,
    native_dropout as native_dropout,
    native_layer_norm as native_layer_norm,
    rnn_relu as rnn_relu,
    rnn_tanh as rnn_tanh,
)
from funcgrad.random.functions import (
    bernoulli as bernoulli,
    binomial as binomial,
    multinomial as multinomial,
    normal as normal,
    poisson as poisson,
    rand as rand,
    randint as randint,
    randint_like as randint_like,
    randn as randn,
    randperm as randperm,
)
from funcgrad.random.generator import (
    Generator as Generator,
    default_generator as default_generator,
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
)
from funcgrad.random.plain_dropout import (
    feature_dropout as feature_dropout,
    feature_dropout_ as feature_dropout_,
    rrelu as rrelu,
    rrelu_ as rrelu_,
)
from funcgrad.serialization import save as save
from funcgrad.serialization.records import PyTorchFileReader as PyTorchFileReader
from funcgrad.standing_in import install as install
from funcgrad.standing_in.notebooks import (
    load_ipython_extension as load_ipython_extension,
    unload_ipython_extension as unload_ipython_extension,
)
from funcgrad.types import DeviceObjType as DeviceObjType
from funcgrad.utils.dlpack import to_dlpack as to_dlpack
from typing import Any, Literal, overload

BFloat16Tensor: Any
BoolTensor: Any
ByteTensor: Any
CharTensor: Any
DoubleTensor: Any
FloatTensor: Any
HalfTensor: Any
IntTensor: Any
LongTensor: Any
ShortTensor: Any
__version__: str
def alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
bfloat16: dtype
bits16: unheld_dtype
bits1x8: unheld_dtype
bits2x4: unheld_dtype
bits4x2: unheld_dtype
bits8: unheld_dtype
bool: dtype
cdouble: dtype
cfloat: dtype
chalf: unheld_dtype
complex128: dtype
complex32: unheld_dtype
complex64: dtype
double: dtype
def dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
e: _float
def empty(
    *size: Any,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
    memory_format: Any = None,
    **named: Any,
) -> Tensor: ...
def empty_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
    memory_format: Any = None,
) -> Tensor: ...
def feature_alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
float: dtype
float16: dtype
float32: dtype
float4_e2m1fn_x2: unheld_dtype
float64: dtype
float8_e4m3fn: dtype
float8_e4m3fnuz: dtype
float8_e5m2: dtype
float8_e5m2fnuz: dtype
float8_e8m0fnu: dtype
half: dtype
inf: _float
int: dtype
int1: unheld_dtype
int16: dtype
int2: unheld_dtype
int3: unheld_dtype
int32: dtype
int4: unheld_dtype
int5: unheld_dtype
int6: unheld_dtype
int64: dtype
int7: unheld_dtype
int8: dtype
long: dtype
nan: _float
newaxis: None
def ones(
    *size: Any,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
    memory_format: Any = None,
    **named: Any,
) -> Tensor: ...
def ones_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
    memory_format: Any = None,
) -> Tensor: ...
pi: _float
quint2x4: unheld_dtype
quint4x2: unheld_dtype
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: Any = None,
) -> Tensor: ...
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: Any = None,
) -> Tensor: ...
short: dtype
uint1: unheld_dtype
uint16: dtype
uint2: unheld_dtype
uint3: unheld_dtype
uint32: dtype
uint4: unheld_dtype
uint5: unheld_dtype
uint6: unheld_dtype
uint64: dtype
uint7: unheld_dtype
uint8: dtype
def zeros(
    *size: Any,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
    memory_format: Any = None,
    **named: Any,
) -> Tensor: ...
def zeros_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
    memory_format: Any = None,
) -> Tensor: ...
BFloat16Storage: Any
BoolStorage: Any
ByteStorage: Any
CharStorage: Any
ComplexDoubleStorage: Any
ComplexFloatStorage: Any
DoubleStorage: Any
FloatStorage: Any
HalfStorage: Any
IntStorage: Any
LongStorage: Any
ShortStorage: Any
StorageBase: Any
SymBool: Any
SymFloat: Any
SymInt: Any
TypedStorage: Any
USE_GLOBAL_DEPS: _bool
USE_RTLD_GLOBAL_WITH_LIBTORCH: _bool
UntypedStorage: Any
def _assert(condition: Any, message: str) -> None: ...
def _assert_async(input: Tensor, assert_msg: str | None = None) -> None: ...
def _check(cond: _bool, message: Callable[[], str] | None = None) -> None: ...
def _check_index(cond: _bool, message: Callable[[], str] | None = None) -> None: ...
def _check_is_size(i: _int, message: Callable[[], str] | None = None, *, max: _int | None = None) -> None: ...
def _check_not_implemented(cond: _bool, message: Callable[[], str] | None = None) -> None: ...
def _check_tensor_all(cond: Tensor, message: Callable[[], str] | None = None) -> None: ...
def _check_tensor_all_with(
    error_type: type[Exception],
    cond: Tensor,
    message: Callable[[], str] | None = None,
) -> None: ...
def _check_type(cond: _bool, message: Callable[[], str] | None = None) -> None: ...
def _check_value(cond: _bool, message: Callable[[], str] | None = None) -> None: ...
def _check_with(error_type: type[Exception], cond: _bool, message: Callable[[], str] | None) -> None: ...
def _chunk_cat(tensors: Any, dim: _int, num_chunks: _int, *, out: Any = None) -> Tensor: ...
def _convert_indices_from_coo_to_csr(input: Tensor, size: _int, *, out_int32: _bool = False) -> Tensor: ...
def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor,
    col_indices: Tensor,
    *,
    out_int32: _bool = False,
    transpose: _bool = False,
) -> Tensor: ...
def _grouped_mm(
    input: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: dtype | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def _index_put_impl_(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: _bool = False) -> Tensor: ...
def _int_mm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor: ...
def _log_softmax_backward_data(
    grad_output: Tensor,
    output: Tensor,
    dim: _int,
    input_dtype: dtype,
    *,
    out: Any = None,
) -> Tensor: ...
def _safe_softmax(
    input: Tensor,
    dim: _int = ...,
    dtype: dtype | None = None,
    *,
    axis: _int | None = None,
    out: Any = None,
) -> Tensor: ...
def _scaled_mm(
    input: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: dtype | None = None,
    use_fast_accum: _bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def _scaled_mm_v2(
    input: Tensor,
    mat2: Tensor,
    scale_a: Sequence[Tensor],
    recipe_a: Sequence[_int],
    swizzle_a: Sequence[_int],
    scale_b: Sequence[Tensor],
    recipe_b: Sequence[_int],
    swizzle_b: Sequence[_int],
    bias: Tensor | None = None,
    out_dtype: Any = None,
    contraction_dim: Sequence[_int] = ...,
    use_fast_accum: _bool = False,
) -> Any: ...
def _segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: _int | None = 0,
    unsafe: _bool = False,
    initial: _complex | None = None,
    out: Any = None,
) -> Tensor: ...
def _shape_as_tensor(input: Tensor) -> Tensor: ...
def _softmax_backward_data(
    grad_output: Tensor,
    output: Tensor,
    dim: _int,
    input_dtype: dtype,
    *,
    out: Any = None,
) -> Tensor: ...
def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Any, fill: Any) -> Tensor: ...
def _unsafe_masked_index_put_accumulate(input: Tensor, mask: Tensor, indices: Any, values: Tensor) -> Tensor: ...
def _upsample_bilinear2d_aa(
    input: Tensor,
    output_size: _int | Sequence[_int] | None,
    align_corners: _bool,
    scale_factors: tuple[_float, ...] | None = None,
    *,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    out: Any = None,
) -> Tensor: ...
def _weight_norm(v: Tensor, g: Tensor, dim: _int = 0, *, axis: _int | None = None, out: Any = None) -> Tensor: ...
def abs(input: Tensor, *, out: Any = None) -> Tensor: ...
def abs_(input: Tensor) -> Tensor: ...
def absolute(input: Tensor, *, out: Any = None) -> Tensor: ...
def absolute_(input: Tensor) -> Tensor: ...
def acos(input: Tensor, *, out: Any = None) -> Tensor: ...
def acos_(input: Tensor) -> Tensor: ...
def acosh(input: Tensor, *, out: Any = None) -> Tensor: ...
def acosh_(input: Tensor) -> Tensor: ...
def adaptive_avg_pool1d(input: Tensor, output_size: Sequence[_int | None] | _int, *, out: Any = None) -> Tensor: ...
def add(input: Tensor | _complex, other: Tensor | _complex, alpha: _complex = 1, *, out: Any = None) -> Tensor: ...
def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    beta: _complex = 1,
    alpha: _complex = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: _complex = 1, *, out: Any = None) -> Tensor: ...
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: _complex = 1, *, out: Any = None) -> Tensor: ...
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    beta: _complex = 1,
    alpha: _complex = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    beta: _complex = 1,
    alpha: _complex = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, beta: _complex = 1, alpha: _complex = 1) -> Tensor: ...
def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    beta: _complex = 1,
    alpha: _complex = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def adjoint(input: Tensor, *, out: Any = None) -> Tensor: ...
def alias_copy(input: Tensor, *, out: Any = None) -> Tensor: ...
def all(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
) -> _bool: ...
def amax(
    input: Tensor,
    dim: _int | Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def amin(
    input: Tensor,
    dim: _int | Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def aminmax(input: Tensor, *, dim: _int | None = None, keepdim: _bool = False, out: Any = None) -> _AminmaxResult: ...
def angle(input: Tensor, *, out: Any = None) -> Tensor: ...
def any(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def arccos(input: Tensor, *, out: Any = None) -> Tensor: ...
def arccos_(input: Tensor) -> Tensor: ...
def arccosh(input: Tensor, *, out: Any = None) -> Tensor: ...
def arccosh_(input: Tensor) -> Tensor: ...
def arcsin(input: Tensor, *, out: Any = None) -> Tensor: ...
def arcsin_(input: Tensor) -> Tensor: ...
def arcsinh(input: Tensor, *, out: Any = None) -> Tensor: ...
def arcsinh_(input: Tensor) -> Tensor: ...
def arctan(input: Tensor, *, out: Any = None) -> Tensor: ...
def arctan2(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def arctan_(input: Tensor) -> Tensor: ...
def arctanh(input: Tensor, *, out: Any = None) -> Tensor: ...
def arctanh_(input: Tensor) -> Tensor: ...
def argmax(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    axis: _int | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def argmin(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    axis: _int | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def argsort(
    input: Tensor,
    dim: _int = -1,
    descending: _bool = False,
    *,
    stable: _bool = False,
    axis: _int | None = None,
    out: Any = None,
) -> Tensor: ...
def argwhere(input: Tensor) -> Tensor: ...
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: _int | None = None) -> Any: ...
def as_strided_(input: Tensor, size: Any, stride: Any, storage_offset: _int | None = None) -> Any: ...
def as_strided_copy(
    input: Tensor,
    size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    storage_offset: _int | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    storage_offset: _int | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def asin(input: Tensor, *, out: Any = None) -> Tensor: ...
def asin_(input: Tensor) -> Tensor: ...
def asinh(input: Tensor, *, out: Any = None) -> Tensor: ...
def asinh_(input: Tensor) -> Tensor: ...
def atan(input: Tensor, *, out: Any = None) -> Tensor: ...
def atan2(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def atan_(input: Tensor) -> Tensor: ...
def atanh(input: Tensor, *, out: Any = None) -> Tensor: ...
def atanh_(input: Tensor) -> Tensor: ...
@overload
def atleast_1d(tensor: Tensor, /) -> Tensor: ...
@overload
def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> Any: ...
@overload
def atleast_2d(tensor: Tensor, /) -> Tensor: ...
@overload
def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> Any: ...
@overload
def atleast_3d(tensor: Tensor, /) -> Tensor: ...
@overload
def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> Any: ...
def autocast_decrement_nesting() -> _int: ...
def autocast_increment_nesting() -> _int: ...
def avg_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    *,
    out: Any = None,
) -> Tensor: ...
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    beta: _complex = 1,
    alpha: _complex = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def bartlett_window(window_length: _int, periodic: _bool = True, **options: Any) -> Tensor: ...
def bilinear(
    input1: Tensor,
    input2: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    pos_weight: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor: ...
def bitwise_and(input: Tensor | _complex, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def bitwise_left_shift(input: Tensor | _complex, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def bitwise_not(input: Tensor, *, out: Any = None) -> Tensor: ...
def bitwise_or(input: Tensor | _complex, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def bitwise_right_shift(input: Tensor | _complex, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def bitwise_xor(input: Tensor | _complex, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def blackman_window(window_length: _int, periodic: _bool = True, **options: Any) -> Tensor: ...
def block_diag(*tensors: Any) -> Tensor: ...
def bmm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor: ...
def broadcast_shapes(*shapes: Any) -> Size: ...
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]: ...
@overload
def broadcast_to(input: Tensor, *size: _int | Sequence[_int], out: Any = None) -> Tensor: ...
@overload
def broadcast_to(input: Tensor, *, size: _int | Sequence[_int], out: Any = None) -> Tensor: ...
def bucketize(
    input: Tensor | _complex,
    boundaries: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    out: Any = None,
) -> Tensor: ...
def cartesian_prod(*tensors: Any) -> Tensor: ...
def cat(tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None, out: Any = None) -> Tensor: ...
def ccol_indices_copy(input: Any) -> Tensor: ...
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: _float = 2.0,
    compute_mode: str = 'use_mm_for_euclid_dist_if_necessary',
    *,
    out: Any = None,
) -> Tensor: ...
def ceil(input: Tensor, *, out: Any = None) -> Tensor: ...
def ceil_(input: Tensor) -> Tensor: ...
def celu(input: Tensor, alpha: _float = 1.0, *, out: Any = None) -> Tensor: ...
def celu_(input: Tensor, alpha: _float = 1.0) -> Tensor: ...
def chain_matmul(*matrices: Any) -> Tensor: ...
def channel_shuffle(input: Tensor, groups: _int, *, out: Any = None) -> Tensor: ...
def cholesky(input: Tensor, upper: _bool = False, *, out: Any = None) -> Tensor: ...
def cholesky_inverse(L: Tensor, upper: _bool = False, *, out: Any = None) -> Tensor: ...
def cholesky_solve(B: Tensor, L: Tensor, upper: _bool = False, *, out: Any = None) -> Tensor: ...
def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
def clamp(
    input: Tensor,
    min: Tensor | _complex | None = None,
    max: Tensor | _complex | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def clamp_(input: Tensor, min: Tensor | _complex | None = None, max: Tensor | _complex | None = None) -> Tensor: ...
def clamp_max(input: Tensor, max: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def clamp_max_(input: Tensor, max: Tensor | _complex) -> Tensor: ...
def clamp_min(input: Tensor, min: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def clamp_min_(input: Tensor, min: Tensor | _complex) -> Tensor: ...
def clear_autocast_cache() -> None: ...
def clip(
    input: Tensor,
    min: Tensor | _complex | None = None,
    max: Tensor | _complex | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def clip_(input: Tensor, min: Tensor | _complex | None = None, max: Tensor | _complex | None = None) -> Tensor: ...
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor: ...
def col_indices_copy(input: Any) -> Tensor: ...
def column_stack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor: ...
def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False, *, out: Any = None) -> Tensor: ...
def compiled_with_cxx11_abi() -> _bool: ...
def complex(real: Tensor, imag: Tensor, *, out: Any = None) -> Tensor: ...
def concat(tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None, out: Any = None) -> Tensor: ...
def concatenate(tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None, out: Any = None) -> Tensor: ...
def cond(
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: Sequence[Any] = ...,
) -> Any: ...
def conj(input: Tensor, *, out: Any = None) -> Tensor: ...
def conj_physical(input: Tensor, *, out: Any = None) -> Tensor: ...
def conj_physical_(input: Tensor) -> Tensor: ...
def constant_pad_nd(input: Tensor, pad: _int | Sequence[_int], value: _complex = 0, *, out: Any = None) -> Tensor: ...
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: str | _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    groups: _int = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: str | _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    groups: _int = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: str | _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    groups: _int = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    output_padding: _int | Sequence[_int] = ...,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = ...,
    *,
    out: Any = None,
) -> Tensor: ...
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    output_padding: _int | Sequence[_int] = ...,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = ...,
    *,
    out: Any = None,
) -> Tensor: ...
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    output_padding: _int | Sequence[_int] = ...,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = ...,
    *,
    out: Any = None,
) -> Tensor: ...
def copysign(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def corrcoef(input: Tensor, *, out: Any = None) -> Tensor: ...
def cos(input: Tensor, *, out: Any = None) -> Tensor: ...
def cos_(input: Tensor) -> Tensor: ...
def cosh(input: Tensor, *, out: Any = None) -> Tensor: ...
def cosh_(input: Tensor) -> Tensor: ...
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: _float = 0.0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def cosine_similarity(
    x1: Tensor,
    x2: Tensor,
    dim: _int = 1,
    eps: _float = 1e-08,
    *,
    axis: _int | None = None,
    out: Any = None,
) -> Tensor: ...
def count_nonzero(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    axis: _int | Sequence[_int] | None = None,
    out: Any = None,
) -> Tensor: ...
def cov(
    input: Tensor,
    *,
    correction: _int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor: ...
def cross(
    input: Tensor,
    other: Tensor,
    dim: _int | None = None,
    *,
    axis: _int | None = None,
    out: Any = None,
) -> Tensor: ...
def crow_indices_copy(input: Any) -> Tensor: ...
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: _int = 0,
    reduction: str = 'mean',
    zero_infinity: _bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def cudnn_is_acceptable(*_: Any) -> _bool: ...
def cummax(input: Tensor, dim: _int = ..., *, axis: _int | None = None, out: Any = None) -> _CummaxResult: ...
def cummin(input: Tensor, dim: _int = ..., *, axis: _int | None = None, out: Any = None) -> _CumminResult: ...
def cumprod(
    input: Tensor,
    dim: _int = ...,
    *,
    dtype: dtype | None = None,
    axis: _int | None = None,
    out: Any = None,
) -> Tensor: ...
def cumsum(
    input: Tensor,
    dim: _int = ...,
    *,
    dtype: dtype | None = None,
    axis: _int | None = None,
    out: Any = None,
) -> Tensor: ...
def cumulative_trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: _complex = 1,
    dim: _int = -1,
    out: Any = None,
) -> Tensor: ...
def deg2rad(input: Tensor, *, out: Any = None) -> Tensor: ...
def deg2rad_(input: Tensor) -> Tensor: ...
def det(A: Tensor, *, out: Any = None) -> Tensor: ...
def detach(input: Tensor) -> Tensor: ...
def detach_(self) -> Tensor: ...
def detach_copy(input: Tensor, *, out: Any = None) -> Tensor: ...
def diag(input: Tensor, diagonal: _int = 0, *, out: Any = None) -> Tensor: ...
def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1, *, out: Any = None) -> Tensor: ...
def diagflat(input: Tensor, offset: _int = 0, *, out: Any = None) -> Tensor: ...
def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Any = None) -> Tensor: ...
def diagonal_copy(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Any = None) -> Tensor: ...
def diagonal_scatter(
    input: Tensor,
    src: Tensor,
    offset: _int = 0,
    dim1: _int = 0,
    dim2: _int = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def diff(
    input: Tensor,
    n: _int = 1,
    dim: _int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    axis: _int | None = None,
    out: Any = None,
) -> Tensor: ...
def digamma(input: Tensor, *, out: Any = None) -> Tensor: ...
def dist(input: Tensor, other: Tensor, p: _float = 2, *, out: Any = None) -> Tensor: ...
def div(
    input: Tensor | _complex,
    other: Tensor | _complex,
    *,
    rounding_mode: str | None = None,
    out: Any = None,
) -> Tensor: ...
def divide(
    input: Tensor | _complex,
    other: Tensor | _complex,
    *,
    rounding_mode: str | None = None,
    out: Any = None,
) -> Tensor: ...
def dot(input: Tensor, tensor: Tensor, *, out: Any = None) -> Tensor: ...
def dsmm(input: Tensor, mat2: Tensor) -> Tensor: ...
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]: ...
def dstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor: ...
def eig(*args: Any, **kwargs: Any) -> Any: ...
def einsum(equation: Any, *operands: Any) -> Tensor: ...
def eq(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def equal(input: Tensor, other: Tensor) -> _bool: ...
def erf(input: Tensor, *, out: Any = None) -> Tensor: ...
def erf_(input: Tensor) -> Tensor: ...
def erfc(input: Tensor, *, out: Any = None) -> Tensor: ...
def erfc_(input: Tensor) -> Tensor: ...
def erfinv(input: Tensor, *, out: Any = None) -> Tensor: ...
def exp(input: Tensor, *, out: Any = None) -> Tensor: ...
def exp2(input: Tensor, *, out: Any = None) -> Tensor: ...
def exp2_(input: Tensor) -> Tensor: ...
def exp_(input: Tensor) -> Tensor: ...
@overload
def expand_copy(input: Tensor, *size: _int | Sequence[_int], out: Any = None) -> Tensor: ...
@overload
def expand_copy(input: Tensor, *, size: _int | Sequence[_int], out: Any = None) -> Tensor: ...
def expm1(input: Tensor, *, out: Any = None) -> Tensor: ...
def expm1_(input: Tensor) -> Tensor: ...
def fake_quantize_per_channel_affine(
    input: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: _int | None,
    quant_min: _int,
    quant_max: _int,
    *,
    out: Any = None,
) -> Tensor: ...
def fake_quantize_per_tensor_affine(
    input: Tensor,
    scale: Tensor | _complex,
    zero_point: Tensor | _complex,
    quant_min: _int,
    quant_max: _int,
    *,
    out: Any = None,
) -> Tensor: ...
def fill(input: Tensor, value: _complex, *, out: Any = None) -> Tensor: ...
def fill_(input: Tensor, value: Any) -> Tensor: ...
def fix(input: Tensor, *, out: Any = None) -> Tensor: ...
def fix_(input: Tensor) -> Tensor: ...
def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor: ...
@overload
def flip(input: Tensor, *dims: _int | Sequence[_int], out: Any = None) -> Tensor: ...
@overload
def flip(input: Tensor, *, dims: _int | Sequence[_int], out: Any = None) -> Tensor: ...
def fliplr(input: Tensor, *, out: Any = None) -> Tensor: ...
def flipud(input: Tensor, *, out: Any = None) -> Tensor: ...
def float_power(input: Tensor | _complex, exponent: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def floor(input: Tensor, *, out: Any = None) -> Tensor: ...
def floor_(input: Tensor) -> Tensor: ...
def floor_divide(input: Tensor | _complex, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def fmax(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def fmin(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def fmod(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def frac(input: Tensor, *, out: Any = None) -> Tensor: ...
def frac_(input: Tensor) -> Tensor: ...
def frexp(input: Tensor, *, out: Any = None) -> _FrexpResult: ...
def frobenius_norm(
    input: Tensor,
    dim: _int | Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def gather(input: Tensor, dim: _int, index: Tensor, *, sparse_grad: _bool = False, out: Any = None) -> Tensor: ...
def gcd(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def gcd_(input: Tensor, other: Tensor) -> Tensor: ...
def ge(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def geqrf(input: Tensor, *, out: Any = None) -> _GeqrfResult: ...
def ger(input: Tensor, vec2: Tensor, *, out: Any = None) -> Tensor: ...
def get_autocast_cpu_dtype() -> dtype: ...
def get_autocast_dtype(device_type: str) -> dtype: ...
def get_autocast_gpu_dtype() -> dtype: ...
def get_autocast_xla_dtype() -> dtype: ...
def get_device(input: Tensor) -> _int: ...
def get_device_module(device: Any = None) -> Any: ...
def get_file_path(*path_components: str) -> str: ...
def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: _int = 1) -> tuple[Tensor, ...]: ...
def greater(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def greater_equal(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def gt(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def hamming_window(
    window_length: _int,
    periodic: _bool = True,
    alpha: _float = 0.54,
    beta: _float = 0.46,
    **options: Any,
) -> Tensor: ...
def hann_window(window_length: _int, periodic: _bool = True, **options: Any) -> Tensor: ...
def hardshrink(input: Tensor, lambd: _float = 0.5, *, out: Any = None) -> Tensor: ...
has_lapack: _bool
has_mkl: _bool
has_openmp: _bool
has_spectral: _bool
def hash_tensor(
    input: Tensor,
    dim: _int | Sequence[_int] = ...,
    *,
    keepdim: _bool = False,
    mode: _int = 0,
    axis: _int | Sequence[_int] | None = None,
    out: Any = None,
) -> Tensor: ...
def heaviside(input: Tensor, values: Tensor, *, out: Any = None) -> Tensor: ...
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: _float = 1.0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def histc(input: Tensor, bins: _int = 100, min: _float = 0, max: _float = 0, *, out: Any = None) -> Tensor: ...
def histogram(
    input: Tensor,
    bins: Any = 100,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: _bool = False,
    out: Any = None,
) -> Any: ...
def histogramdd(
    input: Tensor,
    bins: Any,
    range: Any = None,
    weight: Tensor | None = None,
    density: _bool = False,
) -> Any: ...
def hsmm(mat1: Tensor, mat2: Tensor) -> Tensor: ...
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]: ...
def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor: ...
def hstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor: ...
def hypot(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def i0(input: Tensor, *, out: Any = None) -> Tensor: ...
def i0_(input: Tensor) -> Tensor: ...
def igamma(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def igammac(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def imag(input: Tensor, *, out: Any = None) -> Tensor: ...
def index_add(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: _complex = 1,
    out: Any = None,
) -> Tensor: ...
def index_copy(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, out: Any = None) -> Tensor: ...
def index_fill(input: Tensor, dim: _int, index: Tensor, value: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def index_put(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: _bool = False) -> Tensor: ...
def index_put_(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: _bool = False) -> Tensor: ...
def index_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: _bool = True,
    out: Any = None,
) -> Tensor: ...
def index_select(input: Tensor, dim: _int, index: Tensor, *, out: Any = None) -> Tensor: ...
def indices_copy(input: Any) -> Tensor: ...
def init_num_threads() -> None: ...
def inner(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def inverse(A: Tensor, *, out: Any = None) -> Tensor: ...
def is_autocast_cache_enabled() -> _bool: ...
def is_autocast_cpu_enabled() -> _bool: ...
def is_autocast_enabled(device_type: str = 'cuda') -> _bool: ...
def is_autocast_xla_enabled() -> _bool: ...
def is_complex(input: Tensor) -> _bool: ...
def is_conj(input: Tensor) -> _bool: ...
def is_distributed(input: Tensor) -> _bool: ...
def is_floating_point(input: Tensor) -> _bool: ...
def is_inference(input: Tensor) -> _bool: ...
def is_neg(input: Tensor) -> _bool: ...
def is_nonzero(input: Tensor) -> _bool: ...
def is_same_size(input: Tensor, other: Tensor) -> _bool: ...
def is_signed(input: Tensor) -> _bool: ...
def is_vulkan_available(*_: Any) -> _bool: ...
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def isfinite(input: Tensor, *, out: Any = None) -> Tensor: ...
def isin(
    elements: Tensor | _complex,
    test_elements: Tensor | _complex,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Any = None,
) -> Tensor: ...
def isinf(input: Tensor, *, out: Any = None) -> Tensor: ...
def isnan(input: Tensor, *, out: Any = None) -> Tensor: ...
def isneginf(input: Tensor, *, out: Any = None) -> Tensor: ...
def isposinf(input: Tensor, *, out: Any = None) -> Tensor: ...
def isreal(input: Tensor, *, out: Any = None) -> Tensor: ...
def istft(
    input: Tensor,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Tensor | None = None,
    center: _bool = True,
    normalized: _bool = False,
    onesided: _bool | None = None,
    length: _int | None = None,
    return_complex: _bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def kaiser_window(window_length: _int, periodic: _bool = True, beta: _float = 12.0, **options: Any) -> Tensor: ...
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    log_target: _bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def kron(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def kthvalue(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    keepdim: _bool = False,
    *,
    axis: _int | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> _KthvalueResult: ...
def lcm(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def lcm_(input: Tensor, other: Tensor) -> Tensor: ...
def ldexp(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def ldexp_(input: Tensor, other: Tensor) -> Tensor: ...
def le(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def lerp(input: Tensor, end: Tensor, weight: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def less(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def less_equal(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def lgamma(input: Tensor, *, out: Any = None) -> Tensor: ...
def log(input: Tensor, *, out: Any = None) -> Tensor: ...
def log10(input: Tensor, *, out: Any = None) -> Tensor: ...
def log10_(input: Tensor) -> Tensor: ...
def log1p(input: Tensor, *, out: Any = None) -> Tensor: ...
def log1p_(input: Tensor) -> Tensor: ...
def log2(input: Tensor, *, out: Any = None) -> Tensor: ...
def log2_(input: Tensor) -> Tensor: ...
def log_(input: Tensor) -> Tensor: ...
def log_softmax(
    input: Tensor,
    dim: _int | None = None,
    dtype: dtype | None = None,
    *,
    axis: _int | None = None,
    out: Any = None,
) -> Tensor: ...
def logaddexp(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def logaddexp2(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def logcumsumexp(input: Tensor, dim: _int = ..., *, axis: _int | None = None, out: Any = None) -> Tensor: ...
def logdet(input: Tensor, *, out: Any = None) -> Tensor: ...
def logical_and(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def logical_not(input: Tensor, *, out: Any = None) -> Tensor: ...
def logical_or(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def logical_xor(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def logit(input: Tensor, eps: _float | None = None, *, out: Any = None) -> Tensor: ...
def logit_(input: Tensor, eps: _float | None = None) -> Tensor: ...
def logsumexp(
    input: Tensor,
    dim: _int | Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def lstsq(*args: Any, **kwargs: Any) -> Any: ...
def lt(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def lu(A: Tensor, pivot: _bool = True, get_infos: _bool = False, out: Any = None) -> Any: ...
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = None) -> Tensor: ...
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: _bool = True,
    unpack_pivots: _bool = True,
    *,
    out: Any = None,
) -> _LuUnpackResult: ...
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: _float = 0.0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor, *, out: Any = None) -> Tensor: ...
def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Tensor: ...
def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def matrix_exp(A: Tensor, *, out: Any = None) -> Tensor: ...
def matrix_power(input: Tensor, n: _int, *, out: Any = None) -> Tensor: ...
def matrix_rank(*args: Any, **kwargs: Any) -> Any: ...
@overload
def max(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Any = None) -> _MaxDimResult: ...
@overload
def max(input: Tensor, *, axis: _int, keepdims: _bool = False, out: Any = None) -> _MaxDimResult: ...
def max_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def maximum(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: dtype | None = None,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
@overload
def median(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def median(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Any = None) -> _MedianDimResult: ...
@overload
def median(input: Tensor, *, axis: _int, keepdims: _bool = False, out: Any = None) -> _MedianDimResult: ...
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]: ...
@overload
def min(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Any = None) -> _MinDimResult: ...
@overload
def min(input: Tensor, *, axis: _int, keepdims: _bool = False, out: Any = None) -> _MinDimResult: ...
def minimum(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def mm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor: ...
def mode(
    input: Tensor,
    dim: _int = -1,
    keepdim: _bool = False,
    *,
    axis: _int | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> _ModeResult: ...
def moveaxis(
    input: Tensor,
    source: _int | Sequence[_int],
    destination: _int | Sequence[_int],
    *,
    out: Any = None,
) -> Tensor: ...
def movedim(
    input: Tensor,
    source: _int | Sequence[_int],
    destination: _int | Sequence[_int],
    *,
    out: Any = None,
) -> Tensor: ...
def msort(input: Tensor, *, out: Any = None) -> Tensor: ...
def mul(input: Tensor | _complex, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def multiply(input: Tensor | _complex, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def mv(input: Tensor, vec: Tensor, *, out: Any = None) -> Tensor: ...
def mvlgamma(input: Tensor, p: _int, *, out: Any = None) -> Tensor: ...
def nan_to_num(
    input: Tensor,
    nan: _complex | None = None,
    posinf: _complex | None = None,
    neginf: _complex | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def nan_to_num_(
    input: Tensor,
    nan: _complex | None = None,
    posinf: _complex | None = None,
    neginf: _complex | None = None,
) -> Tensor: ...
def nanmean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: dtype | None = None,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
@overload
def nanmedian(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def nanmedian(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Any = None) -> _NanmedianDimResult: ...
@overload
def nanmedian(input: Tensor, *, axis: _int, keepdims: _bool = False, out: Any = None) -> _NanmedianDimResult: ...
def nanquantile(
    input: Tensor,
    q: Tensor | _complex,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: str = 'linear',
    axis: _int | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def nansum(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: dtype | None = None,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def narrow(input: Tensor, dim: _int, start: Any, length: _int) -> Tensor: ...
def narrow_copy(input: Tensor, dim: _int, start: _int, length: _int, *, out: Any = None) -> Tensor: ...
def native_channel_shuffle(input: Tensor, groups: _int, *, out: Any = None) -> Tensor: ...
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: _int,
    C: _int,
    HxW: _int,
    group: _int,
    eps: _float,
    *,
    out: Any = None,
) -> tuple[Tensor, ...]: ...
def ne(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def neg(input: Tensor, *, out: Any = None) -> Tensor: ...
def neg_(input: Tensor) -> Tensor: ...
def negative(input: Tensor, *, out: Any = None) -> Tensor: ...
def negative_(input: Tensor) -> Tensor: ...
def nextafter(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[False] = False, out: Tensor | None = None) -> Tensor: ...
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
def nonzero_static(input: Tensor, *, size: _int, fill_value: _int = -1, out: Any = None) -> Tensor: ...
def norm(
    input: Tensor,
    p: str | _float | None = 'fro',
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    dtype: dtype | None = None,
    *,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def norm_except_dim(
    v: Tensor,
    pow: _float = 2,
    dim: _int = 0,
    *,
    axis: _int | None = None,
    out: Any = None,
) -> Tensor: ...
def not_equal(input: Tensor, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def nuclear_norm(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def numel(input: Tensor) -> _int: ...
def orgqr(input: Tensor, tau: Tensor, *, out: Any = None) -> Tensor: ...
def ormqr(
    input: Tensor,
    tau: Tensor,
    other: Tensor,
    left: _bool = True,
    transpose: _bool = False,
    *,
    out: Any = None,
) -> Tensor: ...
def outer(input: Tensor, vec2: Tensor, *, out: Any = None) -> Tensor: ...
def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: _float = 2.0,
    eps: _float = 1e-06,
    keepdim: _bool = False,
    *,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def pdist(input: Tensor, p: _float = 2, *, out: Any = None) -> Tensor: ...
@overload
def permute(input: Tensor, *dims: _int | Sequence[_int], out: Any = None) -> Tensor: ...
@overload
def permute(input: Tensor, *, dims: _int | Sequence[_int], out: Any = None) -> Tensor: ...
@overload
def permute_copy(input: Tensor, *dims: _int | Sequence[_int], out: Any = None) -> Tensor: ...
@overload
def permute_copy(input: Tensor, *, dims: _int | Sequence[_int], out: Any = None) -> Tensor: ...
def pinverse(input: Tensor, rcond: _float = 1e-15, *, out: Any = None) -> Tensor: ...
def pixel_shuffle(input: Tensor, upscale_factor: _int, *, out: Any = None) -> Tensor: ...
def pixel_unshuffle(input: Tensor, downscale_factor: _int, *, out: Any = None) -> Tensor: ...
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: _bool = True,
    full: _bool = False,
    size_average: _bool | None = None,
    eps: _float = 1e-08,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def polar(abs: Tensor, angle: Tensor, *, out: Any = None) -> Tensor: ...
def polygamma(n: _int, input: Tensor, *, out: Any = None) -> Tensor: ...
def positive(input: Tensor, *, out: Any = None) -> Tensor: ...
def pow(input: Tensor | _complex, exponent: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def prelu(input: Tensor, weight: Tensor, *, out: Any = None) -> Tensor: ...
def prod(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    dtype: dtype | None = None,
    axis: _int | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False, *, out: Any = None) -> Tensor: ...
def qr(input: Tensor, some: _bool = True, *, out: Any = None) -> _OldQrResult: ...
def quantile(
    input: Tensor,
    q: Tensor | _complex,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: str = 'linear',
    axis: _int | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def rad2deg(input: Tensor, *, out: Any = None) -> Tensor: ...
def rad2deg_(input: Tensor) -> Tensor: ...
def ravel(input: Tensor) -> Tensor: ...
def real(input: Tensor, *, out: Any = None) -> Tensor: ...
def reciprocal(input: Tensor, *, out: Any = None) -> Tensor: ...
def reciprocal_(input: Tensor) -> Tensor: ...
def relu(input: Tensor, *, out: Any = None) -> Tensor: ...
def relu_(input: Tensor) -> Tensor: ...
def remainder(input: Tensor | _complex, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def renorm(input: Tensor, p: _float, dim: _int, maxnorm: _complex, *, out: Any = None) -> Tensor: ...
def repeat_interleave(
    input: Tensor,
    repeats: Any = None,
    dim: _int | None = None,
    *,
    output_size: Any = None,
) -> Tensor: ...
def reshape(input: Tensor, *shape: Any, **named: Any) -> Tensor: ...
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor: ...
def resolve_conj(input: Tensor, *, out: Any = None) -> Tensor: ...
def resolve_neg(input: Tensor, *, out: Any = None) -> Tensor: ...
def rms_norm(
    input: Tensor,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | None = None,
    eps: _float | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def roll(input: Tensor, shifts: Any, dims: Any = ...) -> Tensor: ...
def rot90(input: Tensor, k: _int = 1, dims: _int | Sequence[_int] = ..., *, out: Any = None) -> Tensor: ...
def round(input: Tensor, *, decimals: _int = 0, out: Any = None) -> Tensor: ...
def round_(input: Tensor, *, decimals: _int = 0) -> Tensor: ...
def row_indices_copy(input: Any) -> Tensor: ...
def row_stack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor: ...
def rsqrt(input: Tensor, *, out: Any = None) -> Tensor: ...
def rsqrt_(input: Tensor) -> Tensor: ...
def rsub(input: Tensor, other: Tensor | _complex, alpha: _complex = 1, *, out: Any = None) -> Tensor: ...
def saddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Tensor: ...
def scatter(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor | _complex | None = None,
    *,
    value: _complex | None = None,
    reduce: str | None = None,
    out: Any = None,
) -> Tensor: ...
def scatter_add(input: Tensor, dim: _int, index: Tensor, src: Tensor, *, out: Any = None) -> Tensor: ...
def scatter_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: _bool = True,
    out: Any = None,
) -> Tensor: ...
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | _complex,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Any = None,
) -> Tensor: ...
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: _int | None = 0,
    unsafe: _bool = False,
    initial: _complex | None = None,
    out: Any = None,
) -> Tensor: ...
def select(input: Tensor, dim: _int, index: _int) -> Tensor: ...
def select_copy(input: Tensor, dim: _int, index: _int, *, out: Any = None) -> Tensor: ...
def select_scatter(input: Tensor, src: Tensor, dim: _int, index: _int, *, out: Any = None) -> Tensor: ...
def selu(input: Tensor, *, out: Any = None) -> Tensor: ...
def selu_(input: Tensor) -> Tensor: ...
def set_autocast_cache_enabled(enabled: _bool) -> None: ...
def set_autocast_cpu_dtype(dtype: dtype) -> None: ...
def set_autocast_cpu_enabled(enabled: _bool) -> None: ...
def set_autocast_dtype(device_type: str, dtype: dtype) -> None: ...
def set_autocast_enabled(device_type: Any, enabled: _bool | None = None) -> None: ...
def set_autocast_gpu_dtype(dtype: dtype) -> None: ...
def set_autocast_xla_dtype(dtype: dtype) -> None: ...
def set_autocast_xla_enabled(enabled: _bool) -> None: ...
def sgn(input: Tensor, *, out: Any = None) -> Tensor: ...
def sigmoid(input: Tensor, *, out: Any = None) -> Tensor: ...
def sigmoid_(input: Tensor) -> Tensor: ...
def sign(input: Tensor, *, out: Any = None) -> Tensor: ...
def signbit(input: Tensor, *, out: Any = None) -> Tensor: ...
def sin(input: Tensor, *, out: Any = None) -> Tensor: ...
def sin_(input: Tensor) -> Tensor: ...
def sinc(input: Tensor, *, out: Any = None) -> Tensor: ...
def sinc_(input: Tensor) -> Tensor: ...
def sinh(input: Tensor, *, out: Any = None) -> Tensor: ...
def sinh_(input: Tensor) -> Tensor: ...
def slice_copy(
    input: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
    *,
    out: Any = None,
) -> Tensor: ...
def slice_inverse(
    input: Tensor,
    src: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
) -> Tensor: ...
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
    *,
    axis: _int | None = None,
    out: Any = None,
) -> Tensor: ...
def slogdet(input: Tensor, *, out: Any = None) -> _OldSlogdetResult: ...
def smm(input: Tensor, mat2: Tensor) -> Tensor: ...
def softmax(
    input: Tensor,
    dim: _int | None = None,
    dtype: dtype | None = None,
    *,
    axis: _int | None = None,
    out: Any = None,
) -> Tensor: ...
def solve(*args: Any, **kwargs: Any) -> Any: ...
def sort(
    input: Tensor,
    dim: _int = -1,
    descending: _bool = False,
    *,
    stable: _bool | None = None,
    axis: _int | None = None,
    out: Any = None,
) -> _SortResult: ...
def sparse_bsc_tensor(
    compressed_indices: Any = None,
    plain_indices: Any = None,
    values: Any = None,
    size: Any = None,
    **options: Any,
) -> SparseTensor: ...
def sparse_bsr_tensor(
    compressed_indices: Any = None,
    plain_indices: Any = None,
    values: Any = None,
    size: Any = None,
    **options: Any,
) -> SparseTensor: ...
def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
    check_invariants: Any = None,
) -> SparseTensor: ...
def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: _bool = False,
    check_invariants: Any = None,
    is_coalesced: _bool | None = None,
) -> SparseTensor: ...
def sparse_csc_tensor(
    compressed_indices: Any = None,
    plain_indices: Any = None,
    values: Any = None,
    size: Any = None,
    **options: Any,
) -> SparseTensor: ...
def sparse_csr_tensor(
    compressed_indices: Any = None,
    plain_indices: Any = None,
    values: Any = None,
    size: Any = None,
    **options: Any,
) -> SparseTensor: ...
def split(
    tensor: Tensor,
    split_size_or_sections: Any = None,
    dim: _int = 0,
    *,
    split_size: Any = None,
) -> tuple[Tensor, ...]: ...
def split_copy(input: Tensor, split_size: Any, dim: _int = 0, *, out: Any = None) -> Any: ...
def split_with_sizes(input: Tensor, split_sizes: Any, dim: _int = 0) -> tuple[Tensor, ...]: ...
def split_with_sizes_copy(input: Tensor, split_sizes: Any, dim: _int = 0, *, out: Any = None) -> Any: ...
def spmm(input: Tensor, mat2: Tensor) -> Tensor: ...
def sqrt(input: Tensor, *, out: Any = None) -> Tensor: ...
def sqrt_(input: Tensor) -> Tensor: ...
def square(input: Tensor, *, out: Any = None) -> Tensor: ...
def square_(input: Tensor) -> Tensor: ...
def squeeze(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    axis: _int | Sequence[_int] | None = None,
    out: Any = None,
) -> Tensor: ...
def squeeze_copy(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    axis: _int | Sequence[_int] | None = None,
    out: Any = None,
) -> Tensor: ...
def sspaddmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Any = 1,
    alpha: Any = 1,
    out: Any = None,
) -> Tensor: ...
def stack(tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None, out: Any = None) -> Tensor: ...
def std(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: _float | None = None,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def std_mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: _float | None = None,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> tuple[Tensor, ...]: ...
def stft(
    input: Tensor,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Tensor | None = None,
    center: _bool = True,
    pad_mode: str = 'reflect',
    normalized: _bool = False,
    onesided: _bool | None = None,
    return_complex: _bool | None = None,
    align_to_window: _bool | None = None,
    *,
    out: Any = None,
) -> Tensor: ...
def sub(input: Tensor | _complex, other: Tensor | _complex, alpha: _complex = 1, *, out: Any = None) -> Tensor: ...
def subtract(input: Tensor | _complex, other: Tensor | _complex, alpha: _complex = 1, *, out: Any = None) -> Tensor: ...
def sum(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: dtype | None = None,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def svd(input: Tensor, some: _bool = True, compute_uv: _bool = True, *, out: Any = None) -> _OldSvdResult: ...
def swapaxes(input: Tensor, axis0: _int, axis1: _int, *, out: Any = None) -> Tensor: ...
def swapdims(input: Tensor, dim0: _int, dim1: _int, *, out: Any = None) -> Tensor: ...
def sym_float(a: Any) -> _float: ...
def sym_int(a: Any) -> _int: ...
def sym_ite(b: Any, t: Any, f: Any) -> Any: ...
def sym_max(a: Any, b: Any) -> Any: ...
def sym_min(a: Any, b: Any) -> Any: ...
def sym_not(a: Any) -> _bool: ...
def sym_sqrt(a: Any) -> _float: ...
def sym_sum(args: Any) -> Any: ...
def symeig(*args: Any, **kwargs: Any) -> Any: ...
def t(input: Tensor, *, out: Any = None) -> Tensor: ...
def t_copy(input: Tensor, *, out: Any = None) -> Tensor: ...
def take(input: Tensor, index: Tensor, *, out: Any = None) -> Tensor: ...
def take_along_dim(
    input: Tensor,
    indices: Tensor,
    dim: _int | None = None,
    *,
    axis: _int | None = None,
    out: Any = None,
) -> Tensor: ...
def tan(input: Tensor, *, out: Any = None) -> Tensor: ...
def tan_(input: Tensor) -> Tensor: ...
def tanh(input: Tensor, *, out: Any = None) -> Tensor: ...
def tanh_(input: Tensor) -> Tensor: ...
def tensor_split(
    input: Tensor,
    indices_or_sections: Any = None,
    dim: _int = 0,
    *,
    indices: Any = None,
    sections: Any = None,
    tensor_indices_or_sections: Tensor | None = None,
) -> tuple[Tensor, ...]: ...
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, *, out: Any = None) -> Tensor: ...
def threshold(input: Tensor, threshold: _float, value: _float, *, out: Any = None) -> Tensor: ...
def threshold_(input: Tensor, threshold: _float, value: _float) -> Tensor: ...
@overload
def tile(input: Tensor, *dims: _int | Sequence[_int], out: Any = None) -> Tensor: ...
@overload
def tile(input: Tensor, *, dims: _int | Sequence[_int], out: Any = None) -> Tensor: ...
def topk(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    largest: _bool = True,
    sorted: _bool = True,
    *,
    axis: _int | None = None,
    out: Any = None,
) -> _TopkResult: ...
def trace(input: Tensor, *, out: Any = None) -> Tensor: ...
def transpose(input: Tensor, dim0: _int, dim1: _int, *, out: Any = None) -> Tensor: ...
def transpose_copy(input: Tensor, dim0: _int, dim1: _int, *, out: Any = None) -> Tensor: ...
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _complex = 1, dim: _int = -1, out: Any = None) -> Tensor: ...
def trapz(y: Tensor, x: Tensor | None = None, *, dx: _complex = 1, dim: _int = -1, out: Any = None) -> Tensor: ...
def triangular_solve(
    b: Tensor,
    A: Tensor,
    upper: _bool = True,
    transpose: _bool = False,
    unitriangular: _bool = False,
    *,
    out: Any = None,
) -> _TriangularSolveResult: ...
def tril(input: Tensor, diagonal: _int = 0, *, out: Any = None) -> Tensor: ...
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: _float = 1.0,
    p: _float = 2.0,
    eps: _float = 1e-06,
    swap: _bool = False,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    *,
    out: Any = None,
) -> Tensor: ...
def triu(input: Tensor, diagonal: _int = 0, *, out: Any = None) -> Tensor: ...
def true_divide(
    input: Tensor | _complex,
    other: Tensor | _complex,
    *,
    rounding_mode: str | None = None,
    out: Any = None,
) -> Tensor: ...
def trunc(input: Tensor, *, out: Any = None) -> Tensor: ...
def trunc_(input: Tensor) -> Tensor: ...
def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]: ...
def unbind_copy(input: Tensor, dim: _int = 0, *, out: Any = None) -> Any: ...
@overload
def unflatten(input: Tensor, dim: _int, *sizes: _int | Sequence[_int], out: Any = None) -> Tensor: ...
@overload
def unflatten(input: Tensor, dim: _int, *, sizes: _int | Sequence[_int], out: Any = None) -> Tensor: ...
def unfold_copy(input: Tensor, dimension: _int, size: _int, step: _int, *, out: Any = None) -> Tensor: ...
@overload
def unique(
    input: Tensor,
    sorted: _bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: _int | None = None,
) -> Tensor: ...
@overload
def unique(
    input: Tensor,
    sorted: _bool = True,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Any: ...
@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: _int | None = None,
) -> Tensor: ...
@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Any: ...
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]: ...
def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
def unsafe_split(tensor: Tensor, split_size: Any, dim: _int = 0) -> tuple[Tensor, ...]: ...
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: _int = 0) -> tuple[Tensor, ...]: ...
def unsqueeze(input: Tensor, dim: _int = ..., *, axis: _int | None = None, out: Any = None) -> Tensor: ...
def unsqueeze_copy(input: Tensor, dim: _int = ..., *, axis: _int | None = None, out: Any = None) -> Tensor: ...
def values_copy(input: Any) -> Tensor: ...
def vander(x: Tensor, N: _int | None = None, increasing: _bool = False, *, out: Any = None) -> Tensor: ...
def var(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: _float | None = None,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> Tensor: ...
def var_mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: _float | None = None,
    axis: _int | Sequence[_int] | None = None,
    keepdims: _bool | None = None,
    out: Any = None,
) -> tuple[Tensor, ...]: ...
def vdot(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
def view_as_complex(input: Tensor, *, out: Any = None) -> Tensor: ...
def view_as_complex_copy(input: Tensor, *, out: Any = None) -> Tensor: ...
def view_as_real(input: Tensor, *, out: Any = None) -> Tensor: ...
def view_as_real_copy(input: Tensor, *, out: Any = None) -> Tensor: ...
@overload
def view_copy(input: Tensor, *size: _int | Sequence[_int], out: Any = None) -> Tensor: ...
@overload
def view_copy(input: Tensor, *, size: _int | Sequence[_int], out: Any = None) -> Tensor: ...
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]: ...
def vstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor: ...
@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@overload
def where(
    condition: Tensor,
    input: Tensor | _complex,
    other: Tensor | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]) -> Any: ...
def xlogy(input: Tensor | _complex, other: Tensor | _complex, *, out: Any = None) -> Tensor: ...
def xlogy_(input: Tensor | _complex, other: Tensor | _complex) -> Tensor: ...
def zero_(input: Tensor) -> Tensor: ...
