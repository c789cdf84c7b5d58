"""Why funcgrad leaves a name of torch out: the reasons by namespace and pattern, the first that fits counts."""

from __future__ import annotations

import re

_TORCHSCRIPT = "a part of TorchScript's compiler, which XLA takes the place of"
_QUANTIZED = "quantized kernels other than dynamic ones: XLA has none; int8 arithmetic is written with plain dtypes"
_VENDOR = "one vendor's kernel by its own name; the plain function is the same call"
_INTERNAL = "torch's own machinery that happens to be without an underscore; no script of a user calls it"
_DISPATCH = "torch's dispatcher, which does not exist here"
_SPARSE = "sparse layouts and functions of them that are not there"
_DISTRIBUTED = "options and errors of torch's own process groups; here a store connects processes"

REASONS: tuple[tuple[str, str, str], ...] = (
    (r".*",
     r"Tensor|[A-Z]|common_(args|notes|types)|factory_(common_args|kwargs)|multi_dim_common|\w+_notes|inf|m",
     _INTERNAL),
    (r"torch(\.nn)?", r".*quant.*|q_.*|quint.*|qint.*|qscheme|int_repr|fbgemm_.*|per_(channel|tensor)_.*|QU?Int.*|"
     r"choose_qparams.*|fused_moving_avg.*|ao|qat|intrinsic", _QUANTIZED),
    (r"torch\.Tensor", r"q_.*|qscheme|int_repr", _QUANTIZED),
    (r"torch", r"(cudnn|miopen|mkldnn)_.*|batch_norm_(stats|elemt|gather.*|backward.*)|native_norm", _VENDOR),
    (r"torch(\.Tensor)?", r"chalf|complex32", "complex numbers of two half-precision floats, which XLA does not have"),
    (r"torch",
     r"u?int[1-7]|bit|bits\w+|float4_e2m1fn_x2", "a reserved name: no op of torch's computes with this dtype"),
    (r"torch", r"sparse_(bsr|bsc|compressed)_tensor|resize_as_sparse_", _SPARSE),
    (r"torch\.Tensor", r"(resize_as_)?sparse_.*|resize_as_sparse_|to_padded_tensor|index", _SPARSE),
    (r"torch\.sparse", r".*semi_structured.*|SparseSemi.*|spsolve|as_sparse_gradcheck", _SPARSE),
    (r"torch", r"\w*Type|Script\w*|\w*(IR|Lite|Jit|JIT)\w*|parse_\w+|import_ir.*|merge_type.*|unify_type.*|Graph\w*|"
     r"Block|Node|Value|Use|Code|CallStack|Capsule|Argument\w*|CompilationUnit|CompleteArgumentSpec|Concrete\w+|"
     r"ErrorReport|ExecutionPlan|FileCheck|FunctionSchema|Gradient|StaticModule|TracingState|AliasDb|IODescriptor|"
     r"ModuleDict|ParameterDict|BufferDict|OperatorInfo|Type|Future|\w*Logger\w*|classes|cpp|AggregationType|AVG|SUM|"
     r"DeepCopyMemoTable|\w*StorageContext|PyTorchFile\w+|Benchmark\w+|ThroughputBenchmark|FatalError", _TORCHSCRIPT),
    (r"torch",
     r"DispatchKey\w*|ExcludeDispatchKeyGuard|Tag|library|export|package|overrides",
     _DISPATCH),
    (r"torch", r"sym_(constrain|fresh)\w+|PRIVATE_OPS|classproperty|prepare_multi\w+|profiler_allow\w+|StorageBase|"
     r"torch_version|legacy_contiguous_format|thread_safe_generator|windows|monitor|mtia|"
     r"USE_\w+|Storage|\w+_ipu_\w+|\w+_ipu", _INTERNAL),
    (r"torch\.nn\.utils(\..*)?",
     r"bind|copy_method_params|PackedSequence_|parametrize|Opaque\w*|get_swap\w+|is_opaque\w+|"
     r"is_traceable\w+|NamedMemberAccessor|memory_format|convert_conv\w+", _INTERNAL),
    (r"torch\.nn\.functional", r"scaled_grouped_mm",
     "products of ragged groups, for one kind of GPU"),
    (r"torch\.nn\.functional", r"GRID_SAMPLE\w+|assert_int_or_pair|grad", _INTERNAL),
    (r"torch\.optim.*", r"Optimizer|Module|swap_in\w+", _INTERNAL),
    (r"torch\.utils",
     r".*(privateuse1|backend|cpp_backtrace|weak|throughput|Throughput|set_module|swap).*", _INTERNAL),
    (r"torch\.utils\.data", r".*", "types and tables of data pipes, which torch itself has set aside"),
    (r"torch\.utils\.checkpoint", r".*", _INTERNAL),
    (r"torch\.utils\.hooks", r"BackwardHook|unserializable_hook|warn_if_has_hooks", _INTERNAL),
    (r"torch\.autograd",
     r"Profiler\w+|Kineto\w*|kineto\w+|profiler_\w+|DeviceType|is_multithreading\w*|is_view_replay\w+|"
     r"enforce_\w+|is_tensor_like|NestedIOFunction|SavedTensor|anomaly_mode", _INTERNAL),
    (r"torch\.signal\.windows|torch\.random", r"windows|thread_safe_generator", _INTERNAL),
    (r"torch\.distributions\.transforms", r".*", _INTERNAL),
    (r"torch\.func", r"debug_unwrap", _INTERNAL),
    (r"torch\.testing", r"FileCheck|assert_allclose", _INTERNAL),
    (r"torch\.autograd\.functional", r"fwAD", _INTERNAL),
    (r"torch\.(cuda|xpu|mps|cpu|accelerator).*",
     r".*", "a handle on one vendor's driver, allocator or streams, which XLA keeps to itself"),
    (r"torch\.backends.*", r".*", "a switch of a library that XLA does not use"),
    (r"torch\.jit", r".*", _TORCHSCRIPT),
    (r"torch\.compiler", r".*", "a handle on torch's own compiler"),
    (r"torch\.(profiler|hub|multiprocessing|serialization|onnx|version)", r".*", _INTERNAL),
    (r"torch\.distributed", r".*", _DISTRIBUTED),
    (r"torch\.overrides", r".*", _INTERNAL),
    (r"torch\.types|torch\.storage", r".*", _INTERNAL),
    (r"torch\.return_types", r"SequenceKey|pytree_\w+|register_\w+|return_types", _INTERNAL),
    (r"torch\.nested", r".*", _INTERNAL),
    (r"torch\.library", r".*", _DISPATCH),
    (r"torch\.fx", r".*", _INTERNAL),
    (r"torch\.export", r".*", "how torch takes exported programs apart, with sizes left open and decomposed further"),
    (r"torch\.package",
     r".*", "torch's file formats of programs; `funcgrad.func.export` gives a pure function instead"),
)  # fmt: skip

_ROUNDING = "rounding of differences in single precision; holds in double"
WHY_SHORT = {
    **dict.fromkeys(
        ("special.bessel_j0", "special.bessel_y1"), "torch's own series are good to 7 digits; ours agree with scipy's"
    ),
    **dict.fromkeys(("cdist", "linalg.householder_product"), _ROUNDING),
    "nn.functional.rrelu": "torch draws a slope for each negative number; a tracer does not tell how many there are",
}


def reason_for(path: str, name: str) -> str:
    """Return the reason why a name is left out, or "" where there is none."""
    for namespace, pattern, reason in REASONS:
        if re.fullmatch(namespace, path) and re.fullmatch(pattern, name):
            return reason
    return ""
