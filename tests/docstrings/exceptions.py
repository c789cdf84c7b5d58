"""Which of torch's docstrings are not run, and which examples may do otherwise, each with its reason."""

from __future__ import annotations

from fnmatch import fnmatchcase

LEFT_OUT_MODULES = (
    r".*(cuda|backends|xpu|mps|mtia|accelerator)"  # another device, or what torch was built with
    r"|torch\._|torch\.testing\._internal"  # not public
    r"|.*(_inductor|_dynamo|onnx|export|package|compiler|monitor|functorch)"  # other ways to run or ship a model
    r"|torch\.hub|torch\.utils\.data\.datapipes|.*backend_registration"  # the network; given up by torch; other devices
    r"|torch\.ao|.*quantiz|torch\.nn\.intrinsic|torch\.distributed\.(rpc|autograd)"  # quantised layers; remote calls
)

LEFT_OUT = {
    "torch.distributed.TCPStore": "waits for another process",
    "torch.distributed.Store.wait": "waits for another process",
    "torch.load": "opens a file that nobody wrote",
}

UNDEFINED = "shows memory, or a seed, that nobody has set"
# By reason: the docstring (a pattern as of file names) and what the example starts with; nothing: each of its examples.
EXCEPTIONS: dict[str, tuple[str, ...]] = {
    UNDEFINED: (
        "torch.empty: torch.empty((2,3), dtype=torch.int64)", "torch.empty_strided: a\n", "torch.Tensor.new_empty*: ",
        "torch.Generator.seed: g_cpu.seed()", "torch.distributed.all_to_all*: output", "*.skip_init: m",
    ),
    "torch was built without CUDA and says so; here streams are accepted, and who says so has other words": (
        "torch.Event*: ", "torch.Stream*: ", "torch.Generator.*: g_cuda", "torch.autograd.profiler.emit_nvtx: ",
        "torch.set_default_device: ", "torch.sparse_coo_tensor: torch.sparse_coo_tensor(i, v, [2, 4],\n",
    ),
    "one process stands for no mesh of several": ("torch.distributed.*esh*: ",),
    "a system so ill-conditioned that rounding decides, on another CPU otherwise": (
        "torch.linalg.solve_triangular: torch.allclose(X @ A, B)",
    ),
    "there are no addresses, and a capsule holds a copy: docs/differences.md": (
        "torch.asarray: array.__array_interface__", "torch.from_dlpack: t",
    ),
    "strides that a JAX array cannot have: docs/differences.md": (
        "torch.Tensor.dim_order: ", "torch.empty_permuted: ", "torch.empty_strided: a.stride()",
    ),
    "quantised tensors: docs/differences.md": ("torch.quantize_per_channel: ", "torch.quantized_*: "),
    "remote calls": ("torch.nn.parallel.distributed.RRef.*: ",),
    "graphs of torch's own kind, and kernels in Triton": (
        "torch.func.functionalize: ", "torch.library.register_fake: ", "torch.library.*triton*: ",
        "torch.library.get_kernel: ",
    ),
    "conjugation and negation are computed, not noted": ("torch.conj: ", "torch.resolve_*: "),
    "a sort of equal elements keeps their order; torch's may not": ("torch.sort: x.sort()",),
    "rounding, which the example shows": (
        "torch.cholesky_inverse: torch.dist", "torch.linalg.lu_solve: torch.allclose(X @ A, B)",
    ),
    "a gradient has its tensor's dtype": ("torch.Tensor.grad_dtype: x.grad_dtype = torch.float16",),
    "XLA has no complex numbers of two half-precision floats": ("torch.set_default_dtype: torch.tensor([1.2, 3j])",),
    "XLA decides about denormal numbers": ("torch.set_flush_denormal: ",),
    "what a call saved is packed in the order of its arguments": ("torch.autograd.graph.saved_tensors_hooks: ",),
    "times, and names of torch's own kernels": ("torch.autograd.profiler.record_function: print(prof",),
    "parameters are called otherwise, or are more": ("torch.overrides.get_testing_overrides: ",),
    "torch has classes that it trusts from the start": ("torch.serialization.safe_globals: assert",),
    "names that funcgrad has not: docs/coverage.md says why": (
        "torch.autograd.graph.region_activation_memory_budget: ",
        "torch.serialization.register_package: ", "torch.serialization.skip_data: ",
        "torch.utils.ThroughputBenchmark: ", "torch.utils.*privateuse1*: ",
    ),
    "the example's own mistake: another kind of exception": ("torch.library.*register_autocast: ",),
}  # fmt: skip


def reason(name: str, source: str) -> str | None:
    """Return why an example of a docstring may do otherwise, or None."""
    return next((EXCEPTIONS_BY_PLACE[place] for place in EXCEPTIONS_BY_PLACE if is_at(place, name, source)), None)


def is_at(place: str, name: str, source: str) -> bool:
    """Tell whether an example of a docstring is at one of the places of EXCEPTIONS."""
    pattern, _, start = place.partition(": ")
    return source.startswith(start) and fnmatchcase(name, pattern)


EXCEPTIONS_BY_PLACE = {place: why for why, places in EXCEPTIONS.items() for place in places}
