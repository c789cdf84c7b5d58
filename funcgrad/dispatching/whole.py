"""WholeCallsMode: calls reach `__torch_dispatch__` before torch composes them of others, as `export` writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._base import dtypes
from funcgrad._base.devices import device
from funcgrad._tensor import overriding
from funcgrad._tensor.packets import Overload
from funcgrad._tensor.tensor import Tensor
from funcgrad.dispatching.composed import RULES
from funcgrad.dispatching.modes import Calls, Layer, TorchDispatchMode
from funcgrad.dispatching.schemas import schemas_of

_AS_COMPOSED = (
    "__rsub__", "__rtruediv__", "__rpow__", "__getitem__", "__setitem__", "item", "__bool__", "__int__", "__float__",
    "__index__", "__complex__", "is_nonzero", "new_tensor", "data", "constant_", "unfold", "fold",
)  # fmt: skip
_WHOLE: dict[str, Callable[..., Any]] = {name: RULES[name] for name in _AS_COMPOSED}


class WholeCallsMode(TorchDispatchMode):
    """A mode that is told of `aten.linear`, where others are told of `aten.t` and `aten.addmm`."""

    @staticmethod
    def _layer_of(mode: TorchDispatchMode) -> Layer:
        return _Layer(mode)


class _Calls(Calls):
    composed_last = False

    def name(self) -> str:
        """Return the function's own name where aten has it: `clip`, which others are told is `clamp`."""
        own = overriding.name_of(self._func)
        return own if own in _WHOLE or schemas_of(own) else super().name()

    def rule_of(self, name: str) -> Any:
        """Return the rule for a public function, or None."""
        return _WHOLE.get(name)

    def _run(self, overload: Overload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._layer.told(overload, args, kwargs)


class _Layer(Layer):
    calls = _Calls


def _rule(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(found: Callable[..., Any]) -> Callable[..., Any]:
        _WHOLE.update(dict.fromkeys(names, found))
        return found

    return enter


def _listed(value: Any, count: int) -> list[int]:
    return [value] * count if isinstance(value, int) else list(value)


@_rule("__matmul__")
def _matmul(aten: Any, self: Tensor, other: Tensor) -> Any:
    return aten.matmul(self, other)


@_rule("T")
def _t(aten: Any, self: Tensor) -> Any:
    return aten.numpy_T(self)


@_rule("contiguous")
def _contiguous(aten: Any, self: Tensor, memory_format: Any = None) -> Any:
    if memory_format is not None:
        return NotImplemented
    return self if self.is_contiguous() else aten.contiguous(self)


@_rule("tensor")
def _tensor(aten: Any, *args: Any, **kwargs: Any) -> Any:
    return aten.detach_(aten.lift_fresh(aten.silently(*args, **kwargs)))


@_rule("to")
def _to(aten: Any, self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Name the overload that the arguments mean: of a tensor that is so already the mode is told too."""
    first = args[0] if args else None
    if isinstance(first, Tensor):
        return aten.exactly("to", "other", self, *args)
    dtype = first if isinstance(first, dtypes.dtype) else kwargs.pop("dtype", None)
    copies = [kwargs.pop("non_blocking", False), kwargs.pop("copy", False)]
    others = args[1:]
    if isinstance(first, (str, device)) or "device" in kwargs:
        where = device(kwargs.pop("device", first))
        if kwargs or len(others) > 1 or any(copies):
            return NotImplemented
        wanted = {"dtype": others[0] if others else dtype or self.dtype, "layout": self.layout, "device": where}
        return aten.exactly("to", "dtype_layout", self, **wanted)
    if dtype is None or kwargs:
        return NotImplemented
    copies = [*others, *copies[len(others) :]]
    while copies and not copies[-1]:
        copies.pop()
    return aten.exactly("to", "dtype", self, dtype, *copies)


@_rule("cpu")
def _cpu(aten: Any, self: Tensor) -> Any:
    return aten.exactly("to", "dtype_layout", self, dtype=self.dtype, layout=self.layout, device=device("cpu"))


@_rule("type")
def _type(aten: Any, self: Tensor, dtype: Any = None, *others: Any) -> Any:
    return aten.exactly("to", "dtype", self, dtype) if isinstance(dtype, dtypes.dtype) else NotImplemented


def _in_dtype(wanted: Any) -> Callable[..., Any]:
    def convert(aten: Any, self: Tensor) -> Any:
        return aten.exactly("to", "dtype", self, wanted)

    return convert


for _name, _wanted in {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16,
    "long": dtypes.int64, "int": dtypes.int32, "bool": dtypes.bool_,
}.items():  # fmt: skip
    _WHOLE[_name] = _in_dtype(_wanted)


def _spread(name: str) -> None:
    @_rule(name)
    def spread(aten: Any, self: Tensor, *args: Any, **named: Any) -> Any:
        return NotImplemented if args or named else aten.exactly(name, "correction", self)


_spread("std")
_spread("var")


@_rule("split")
def _split(aten: Any, self: Tensor, split_size: Any, dim: int = 0, **named: Any) -> Any:
    whole = named.pop("split_size_or_sections", split_size)
    return aten.split(self, whole, dim) if isinstance(whole, int) else aten.split_with_sizes(self, list(whole), dim)


@_rule("norm")
def _norm(aten: Any, self: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    if isinstance(p, str) and p != "fro":
        return NotImplemented
    dims = dim if dim is None else _listed(dim, 1)
    return aten.linalg_vector_norm(self, 2 if p in ("fro", None) else p, dims, keepdim, dtype=dtype)


@_rule("normalize")
def _normalize(
    aten: Any, input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Any:  # fmt: skip
    if out is not None:
        return NotImplemented
    size = aten.clamp_min(aten.exactly("linalg_vector_norm", "default", input, p, [dim], True), eps)
    return aten.div(input, aten.expand_as(size, input))


@_rule("einsum")
def _einsum(aten: Any, equation: Any, *operands: Any) -> Any:
    return aten.einsum(equation, list(operands)) if isinstance(equation, str) else NotImplemented


@_rule("cdist")
def _cdist(aten: Any, x1: Tensor, x2: Tensor, p: float = 2.0, **mode: Any) -> Any:
    return NotImplemented if mode else aten.cdist(x1, x2, float(p))


@_rule("logsigmoid")
def _logsigmoid(aten: Any, input: Tensor) -> Any:
    return aten.log_sigmoid(input)


@_rule("softmin")
def _softmin(aten: Any, input: Tensor, dim: Any = None, *others: Any, dtype: Any = None, **_: Any) -> Any:
    return NotImplemented if dim is None or others else aten.softmax(aten.neg(input), dim, dtype)


@_rule("grid_sample")
def _grid_sample(
    aten: Any, input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:  # fmt: skip
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    return aten.grid_sampler(input, grid, modes.index(mode), paddings.index(padding_mode), bool(align_corners))


@_rule("interpolate")
def _interpolate(
    aten: Any, input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: Any = None, recompute_scale_factor: Any = None, antialias: bool = False,
) -> Any:  # fmt: skip
    count = input.ndim - 2
    name = f"upsample_{mode}{count}d"
    if antialias or recompute_scale_factor or "vec" not in schemas_of(name):
        return NotImplemented
    sizes = None if size is None else _listed(size, count)
    is_one = isinstance(scale_factor, (int, float))
    scales = None if size is not None else [float(x) for x in ([scale_factor] * count if is_one else scale_factor)]
    corners = [] if mode == "nearest" else [bool(align_corners)]
    return aten.exactly(name, "vec", input, sizes, *corners, scales)


@_rule("nll_loss")
def _nll_loss(
    aten: Any, input: Tensor, target: Tensor, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    if size_average is not None or reduce is not None:
        return NotImplemented
    return aten.nll_loss_nd(input, target, weight, reduction, ignore_index)


@_rule("kl_div")
def _kl_div(
    aten: Any, input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    log_target: bool = False,
) -> Any:  # fmt: skip
    if size_average is not None or reduce is not None:
        return NotImplemented
    by_batch = reduction == "batchmean"
    found = aten.kl_div(input, target, "sum" if by_batch else reduction, log_target=log_target)
    return aten.div(found, input.shape[0]) if by_batch and input.ndim else found


def _loss(name: str, own: str | None = None) -> None:
    @_rule(name)
    def loss(
        aten: Any, input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: Any = "mean",
        *others: Any, weight: Any = None, **named: Any,
    ) -> Any:  # fmt: skip
        if not (size_average is None and reduce is None and weight is None) or others:
            return NotImplemented
        both = aten.broadcast_tensors([input, target])
        return getattr(aten, name)(*both, reduction, *([named.get(own, 1.0)] if own else []))


_loss("mse_loss")
_loss("l1_loss")
_loss("smooth_l1_loss", "beta")


@_rule("huber_loss")
def _huber_loss(
    aten: Any, input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:  # fmt: skip
    if weight is not None:
        return NotImplemented
    return aten.huber_loss(*aten.broadcast_tensors([input, target]), reduction, delta)


@_rule("dropout", "feature_dropout", "alpha_dropout")
def _dropout(aten: Any, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    return (aten.dropout_ if inplace else aten.dropout)(input, p, training)


@_rule("softmax")
def _softmax(aten: Any, input: Tensor, dim: Any = None, *given: Any, dtype: Any = None, **_: Any) -> Any:
    return NotImplemented if dim is None or given else aten.softmax(input, dim, dtype)


@_rule("log_softmax")
def _log_softmax(aten: Any, input: Tensor, dim: Any = None, *given: Any, dtype: Any = None, **_: Any) -> Any:
    return NotImplemented if dim is None or given else aten.log_softmax(input, dim, dtype)


@_rule("layer_norm")
def _layer_norm(
    aten: Any, input: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:  # fmt: skip
    return aten.exactly("layer_norm", "default", input, _listed(normalized_shape, 1), weight, bias, eps, False)


@_rule("group_norm")
def _group_norm(
    aten: Any, input: Tensor, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:  # fmt: skip
    return aten.exactly("group_norm", "default", input, num_groups, weight, bias, eps, False)


@_rule("batch_norm")
def _batch_norm(
    aten: Any, input: Tensor, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    return aten.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


@_rule("instance_norm")
def _instance_norm(
    aten: Any, input: Tensor, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    return aten.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False)


@_rule("embedding")
def _embedding(
    aten: Any, input: Tensor, weight: Tensor, padding_idx: Any = None, max_norm: Any = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    if max_norm is not None:
        return NotImplemented
    place = -1 if padding_idx is None else padding_idx % weight.shape[0]
    return aten.embedding(weight, input, place, scale_grad_by_freq, sparse)


@_rule("cross_entropy")
def _cross_entropy(
    aten: Any, input: Tensor, target: Tensor, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    if size_average is not None or reduce is not None:
        return NotImplemented
    return aten.cross_entropy_loss(input, target, weight, reduction, ignore_index, label_smoothing)


def _pooling(name: str, count: int) -> Callable[..., Any]:
    def pool(
        aten: Any, input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, *others: Any, **named: Any
    ) -> Any:  # fmt: skip
        if named.pop("return_indices", False):
            return NotImplemented
        sizes = [[] if size is None else _listed(size, count) for size in (kernel_size, stride, padding)]
        if "dilation" in named:
            named["dilation"] = _listed(named["dilation"], count)
        return getattr(aten, name)(input, *sizes, *others, **named)

    return pool


def _adaptive(name: str, count: int) -> Callable[..., Any]:
    def pool(aten: Any, input: Tensor, output_size: Any) -> Any:
        sizes = _listed(output_size, count)
        sizes = [given if size is None else size for size, given in zip(sizes, input.shape[-count:], strict=True)]
        return getattr(aten, name)(input, sizes)

    return pool


for _count in (1, 2, 3):
    _WHOLE[f"adaptive_avg_pool{_count}d"] = _adaptive(f"adaptive_avg_pool{_count}d", _count)
    for _kind in ("max", "avg"):
        _WHOLE[f"{_kind}_pool{_count}d"] = _pooling(f"{_kind}_pool{_count}d", _count)


@_rule("pad")
def _pad(aten: Any, input: Tensor, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    return aten.pad(input, list(pad), mode, value)


@_rule("multi_head_attention_forward")
def _attention(
    aten: Any, query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any,
    in_proj_bias: Any, bias_k: Any, bias_v: Any, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
    out_proj_bias: Any, training: bool = True, key_padding_mask: Any = None, need_weights: bool = True,
    attn_mask: Any = None, use_separate_proj_weight: bool = False, *others: Any, **named: Any,
) -> Any:  # fmt: skip
    """Attend to oneself without masks and weights, as torch's Python writes it; else what is written here is seen."""
    is_plain = query is key is value and query.ndim == 3 and not (need_weights or add_zero_attn or others)
    given = (bias_k, bias_v, key_padding_mask, attn_mask, named.get("static_k"), named.get("static_v"))
    if not is_plain or use_separate_proj_weight or any(x is not None for x in given):
        return NotImplemented
    length, batch, width = query.shape
    size = width // num_heads
    both = aten.linear(query, in_proj_weight, in_proj_bias)
    parts = aten.transpose(aten.unsqueeze(aten.unflatten(both, -1, [3, width]), 0), 0, -2)
    parts = aten.contiguous(aten.squeeze(parts, -2))
    each = [aten.select(parts, 0, place) for place in range(3)]
    each = [aten.transpose(aten.view(x, [length, batch * num_heads, size]), 0, 1) for x in each]
    q, k, v = (aten.view(x, [batch, num_heads, length, size]) for x in each)
    found = aten.scaled_dot_product_attention(q, k, v, None, dropout_p if training else 0.0)
    found = aten.reshape(aten.permute(found, [2, 0, 1, 3]), [batch * length, width])
    return aten.view(aten.linear(found, out_proj_weight, out_proj_bias), [length, batch, width]), None
