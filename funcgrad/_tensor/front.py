"""Makes the public functions, methods and operators of all rows: Python functions with the rows' own signatures.

Each is written as source and compiled at first use, as dataclasses does it: then Python itself sorts the arguments.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.errors import NotATensor, ShapeError
from funcgrad._ops.conditions import BY_INSTRUCTION
from funcgrad._ops.table import TABLE, Op, Parameter
from funcgrad._program.faults import withdraw
from funcgrad._tensor import arguments, refused_gradients, refused_numbers, warned
from funcgrad._tensor.arguments import MISSING
from funcgrad._tensor.by_rows import BY_ROWS, call_by_rows, call_in_place_by_rows
from funcgrad._tensor.call import OF_ONE_DTYPE, call, call_in_place, tensor_of_array, write_out
from funcgrad._tensor.forms import public_name
from funcgrad._tensor.near import OF_WHOLE_NUMBERS, ON_HOST, call_near, call_near_if_whole
from funcgrad._tensor.near_writes import IN_PLACE, call_in_place_near
from funcgrad._tensor.overriding import are_overriding_late, asked_late
from funcgrad._tensor.refused_matrices import REFUSED, SCOPE
from funcgrad._tensor.retold import SEVERAL_FORMS, refuse_forms, retell
from funcgrad._tensor.strides import refuse_unaligned, refuse_unpaired, refuse_unviewable
from funcgrad._tensor.tensor import Tensor

_CONVERTERS = {"int": "as_int", "Dims": "as_dims", "float": "as_float", "DType": "as_dtype"}
_TOLD_MISSING = ("int", "Dims")  # kinds of which a TypeError tells at once that none was given
_FIRST = {  # what functions do before they call their row: what its `demands` cannot say, and warnings
    "index_add": "require(are_places if getattr(input, 'ndim', 0) > 1 else are_rows, index, input, dim)",
    **dict.fromkeys(("add", "sub", "rsub"), "if alpha is not _default_alpha: check_factor(alpha, input, other)"),
    **dict.fromkeys(("floor_divide", "remainder", "fmod"), "check_divisor(input, other)"),
    "pow": "check_exponent(input, exponent)",
    "div": "if rounding_mode is not None: check_divisor(input, other)",
    "view": "if size and type(size[0]) is DType or 'dtype' in named: refuse_marked(input); "
    "refuse_unaligned(input, *size, *named.values()); return call(VIEW_DTYPE, (input,), (*size, *named.values()))",
    "abs_": "refuse_complex(input, 'In-place abs')",
    "corrcoef": "warn_of_few_observations(input)",
    "histc": "check_range(input, min, max)",
    "masked_scatter": "check_scattered(input, mask, source)",
    "segment_reduce": "if lengths is not None and not unsafe: check_runs(data, lengths, axis)",
    **dict.fromkeys(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"), "warn_of_sizes(input, target)"),
    "kl_div": "warn_of_mean(reduction)",
    **dict.fromkeys(("hinge_embedding_loss", "cosine_embedding_loss"), "target = without_history(target)"),
    "soft_margin_loss": "check_constant(target, 'target', 'soft_margin_loss')",
    "multi_margin_loss": "check_constant(weight, 'weight', 'multi_margin_loss')",
    "binary_cross_entropy": "check_constant(weight, 'weight', 'binary_cross_entropy')",
    "binary_cross_entropy_with_logits": "check_constant(weight, 'weight', 'binary_cross_entropy_with_logits'); "
    "check_constant(pos_weight, 'pos_weight', 'binary_cross_entropy_with_logits')",
    **dict.fromkeys(("cross_entropy", "nll_loss"), "check_class_weights(input, target, weight)"),
    **dict.fromkeys(("grid_sample", "affine_grid"), "warn_of_corners(align_corners)"),
    **{name: f"warn_of_freedom('{name}', input, dim, unbiased, correction)"
       for name in ("std", "var", "std_mean", "var_mean")},
    **dict.fromkeys(("quantile", "nanquantile"), "check_part(q, input)"),
    **{name: f"if type(padding) is not str: padding = as_dims(padding, \"{name}(): argument 'padding' (position 5)\")"
       for name in ("conv1d", "conv2d", "conv3d")},
    "gaussian_nll_loss": "check_variance(var, eps)",
    "pinv": "if not hermitian: require(have_singular_values, A)",
    "pinverse": "require(have_singular_values, input)",
    "matrix_rank": "if not hermitian: require(have_singular_values, A)",
    "index_fill": "check_real(value, input); check_fits(value, input)",
    "lerp": "check_weight(weight, input)",
    "take_along_dim": "if dim is None: require(are_places, indices, input.reshape(-1), 0)",
    "scatter": "check_fits(src if value is None else value, input); check_one_source(src, input, index); "
    "warn_of_old_scatter(src, reduce)",
    "masked_fill": "require_value(value); check_fits(value, input)",
    **dict.fromkeys(("clamp", "clip"), "min, max = fitting_bounds(min, max, input)"),
    "clamp_min": "check_bound(min, input)",
    "clamp_max": "check_bound(max, input)",
    "cross": "warn_of_first_three(dim)",
    "T": "warn_of_reversal(input)",
    "index_reduce": "warn_of_beta()",
    "frobenius_norm": "warn_of_old_norm('frobenius_norm', 'vector_norm(A, 2.')",
    "nuclear_norm": "dim, keepdim = (None, dim) if type(dim) is bool else (dim, keepdim); "  # a form without `dim`
    "warn_of_old_norm('nuclear_norm', \"matrix_norm(A, 'nuc'\")",
    "searchsorted": "warn_of_scattered(sorted_sequence, input)",
    "bucketize": "warn_of_scattered(boundaries, input)",
    **{name: f"warn_of_old_name('{name}')" for name in ("old_qr", "cholesky", "triangular_solve", "old_lu_solve")},
    "stft": "warn_of_spectra(window, return_complex)",
    "istft": "warn_of_inversion(window); told = dict(center=center, normalized=normalized, onesided=onesided, "
    "length=length, return_complex=return_complex); "
    "check_overlap(input, n_fft, hop_length, win_length, window, told, length)",
    **dict.fromkeys(("real", "conj", "conj_physical"), "if is_real(input): return input"),
    "positive": "if isinstance(input, Tensor) and input.dtype.name != 'bool': return input",
    "resolve_conj": "if isinstance(input, Tensor) and not (is_conjugate(input) or is_negative(input)): return input",
    "view_as_real": "refuse_marked(input, 'view_as_real')",
}  # fmt: skip
_LAST = {  # what they do once the row has been called
    **REFUSED,
    "eigh": "result = with_free_phases(result, 'linalg_eigh')",
    "qr": "result = with_derivable_qr(A, mode, result)",
    "old_qr": "result = with_derivable_qr(input, 'reduced' if some else 'complete', result)",
    "view": "if input._alias or input._variable.value.aval.order: refuse_unviewable(input, result.shape)",
    "view_as_complex": "if input._alias or input._variable.value.aval.order: refuse_unpaired(input)",
}
_COMPARISONS = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
_CASTING = {  # functions that promote nothing and yet write into an `out` of another dtype
    *("all", "any", "cumprod", "cumsum", "logical_and", "logical_not", "logical_or", "logical_xor", "mean", "nanmean"),
    *("nansum", "polygamma", "square", "std", "sum", "prod", "var", "cholesky", "cholesky_inverse", "cholesky_solve"),
    *("geqrf", "cond", "eig", "eigvals", "householder_product", "lstsq", "matrix_power", "matrix_rank", "pinv"),
    *("tensorinv", "tensorsolve"),
}
_IN_DTYPE_OF_OUT = {"sum", "prod", "cumsum", "cumprod"}
_MATCH = "Expected the dtype for input and out to match, but got {made} for input's dtype and {given} for out's dtype."
_OBJECT = "Expected object of scalar type {made} but got scalar type {given} for argument 'out'"
_FOUND = "Found dtype {given} but expected {made}"
_REFUSED_OUT = {  # an `out` of another dtype
    **dict.fromkeys(("amax", "amin"), _MATCH), **dict.fromkeys(("clamp", "clip"), _FOUND),
    **dict.fromkeys(("complex", "polar"), _OBJECT),
}  # fmt: skip
_TRUTHS = {  # what torch's own Python looks at, so that it may be any object
    *("size_average", "reduce", "return_indices", "recompute_scale_factor", "antialias"),
    *(("gaussian_nll_loss", "full"), ("stft", "center")),
}
_LISTED = {("layer_norm", "normalized_shape"), ("rms_norm", "normalized_shape")}  # of which one alone is no int
_DIMS_OR_TRUTH = {("dim", name) for name in ("std", "var", "std_mean", "var_mean")}  # a bool stands for `unbiased`
_OLD_ORDER = {"add", "sub", "addcmul", "addcdiv", "addmm", "addmv", "addr", "baddbmm", "addbmm"}  # number first, once


class Form:
    """One public place of a row: `funcgrad.add`, `Tensor.add_`, `nn.functional.relu`, `Tensor.__radd__`."""

    def __init__(self, op: Op, place: str) -> None:
        self.op, self.place = op, place
        self.is_method = place.startswith(".")
        self.name = place.rpartition(".")[2]
        self.is_dunder = self.name.startswith("__")
        bare = self.name.strip("_")
        self.in_place = (self.name.endswith("_") and not self.is_dunder) or (self.is_dunder and _is_in_place(bare))
        self.reflected = self.is_dunder and _is_reflected(bare)
        self.takes_out = not self.is_method and not self.in_place
        self.casts_out = _REFUSED_OUT.get(self.name, op.promote is not None or self.name in _CASTING)
        is_elementwise = len(op.inputs) == 1 and not any(p.kind == "Dims" or p.name == "dim" for p in op.parameters)
        self.takes_inplace = place.startswith("nn.") and not self.in_place and is_elementwise
        self.has_old_order = op.name in _OLD_ORDER and not self.is_dunder
        self.renamed = {} if self.is_dunder or place.startswith("nn.") else self._numpy_names()

    def source(self) -> str:
        """Return the source of the function `made`, in which the row's Op is called `op`."""
        head, spread = self._head()
        inputs, statics = self._inputs(), self._statics(spread)
        in_place = "call_in_place_near" if self.op in IN_PLACE else "call_in_place"
        near = "call_near" if self.op in ON_HOST else "call_near_if_whole" if self.op in OF_WHOLE_NUMBERS else "call"
        function = in_place if self.in_place else near
        if self.op in BY_ROWS:
            function = f"{function}_by_rows"
        lines = [f"def made({head}):"]
        if "axis" in self.renamed:
            lines.append(f"    if axis is not None or dim is MISSING: dim = named({self._label('dim')}, dim, axis)")
        if "keepdims" in self.renamed:
            lines.append("    if keepdims is not None: keepdim = keepdims")
        if self.in_place and self.op.name in OF_ONE_DTYPE:
            lines.append("    if dtype is None and isinstance(input, Tensor): dtype = input.dtype")
        if self.takes_out and self.op.name in _IN_DTYPE_OF_OUT:
            lines.append("    if dtype is None and out is not None and isinstance(out, Tensor): dtype = out.dtype")
        lines += self._checks()
        if self.takes_inplace:
            lines.append(f"    if inplace: return call_in_place(op, {inputs}, {statics})")
        refused = _LAST.get(self.op.name)
        if self.takes_out or refused:
            lines.append(f"    result = {function}(op, {inputs}, {statics})")
            lines += [f"    {refused}"] * bool(refused)
            told = f"{self.casts_out!r}, {public_name(self.place)!r}"
            written = f" if out is None else write_out(out, result, {told})" * self.takes_out
            lines.append(f"    return result{written}")
        elif self.is_dunder:
            lines += self._operator(f"{function}(op, {inputs}, {statics})")
        else:
            lines.append(f"    return {function}(op, {inputs}, {statics})")
        return "\n".join(lines if self.is_dunder else self._asking_late(lines))

    def _asking_late(self, lines: list[str]) -> list[str]:
        """Ask objects of foreign classes that override functions, once the function has failed on one."""
        body = [f"    {line}" for line in lines[1:]]
        late = "        if are_overriding_late(locals()): return asked_late(made, locals())"
        given = ", ".join([p.name for p in self.op.parameters])
        told = f"        retell(error, op, {self.place!r}, ({given},))"
        if self.op.name in SEVERAL_FORMS:
            told = f"        refuse_forms(op, ({given}))"
        refused = ["    except (RuntimeError, IndexError, ValueError):", "        withdraw(later)", "        raise"]
        return [
            lines[0],
            *["    later = ()"] * bool(self.op.demands),
            "    try:",
            *body,
            "    except (TypeError, AttributeError) as error:",
            *["        withdraw(later)"] * bool(self.op.demands),
            late,
            told,
            "        raise",
            *refused * bool(self.op.demands),
        ]

    def _checks(self) -> list[str]:
        """Return what looks at arguments before the call: at `other, input` where those are swapped."""
        lines = []
        if self.op.demands:  # of numbers, which torch looks at once shapes and dtypes fit
            calls = [f"require({condition}, {', '.join(arguments)})" for condition, arguments in self.op.demands]
            wanted = [f"        {call}" if self.is_dunder else f"        later += ({call},)" for call in calls]
            given = f"{self._inputs()}, {self._statics(self._spread())}"
            told = f"raise refused_sooner(error, op, {given}) from None"
            lines = ["    try:", *wanted, f"    except (RuntimeError, IndexError, ValueError) as error: {told}"]
        if any(p.name == "size_average" for p in self.op.parameters):
            lines.append("    warn_of_old_reduction(size_average, reduce)")
        if self.op.name in ("softmax", "log_softmax") and not self.place.startswith("nn."):
            lines.append(f"    if dim is None: raise refused_dim({self.name!r})")
        check = _FIRST.get(f"{self.op.name}_" if self.in_place else self.op.name, _FIRST.get(self.op.name))
        if check is not None and not (self.is_dunder and check.startswith("if ")):  # operators have no options
            if self.reflected:
                left, right = (p.name for p in self.op.parameters[:2])
                check = check.replace(f"{left}, {right}", f"{right}, {left}")
            lines.append(f"    {check}")
        return lines

    def _operator(self, result: str) -> list[str]:
        """Leave what is no tensor or number to the other operand: `x == None` is False, `[0] * x` repeats the list.

        So numpy sees to `x + array`, in its own dtype, and to `array + x`, which it refuses.
        """
        given = self._parameters()
        lines = [f"    if {given[1].name} is None: return NotImplemented"] if len(given) == 2 else []
        if self.in_place:  # of an array the operator that is not in place makes a new tensor
            lines.append(f"    if type({given[1].name}) is ndarray: return NotImplemented")
        if self.reflected:
            own = given[0].name
            lines.append(f"    if not isinstance({own}, Tensor): raise no_tensor('{self.name}', {own})")
        refused = "TypeError" if self.name in _COMPARISONS else "NotATensor"
        otherwise = _OF_ARRAYS.get(self.name, "NotImplemented")
        return [*lines, f"    try: return {result}", f"    except {refused}: return {otherwise}"]

    def _head(self) -> tuple[str, Parameter | None]:
        spread = self._spread()
        words, marked = [], False
        is_of_c = not (self.is_dunder or self.place.startswith("nn.") or self.op.name in SEVERAL_FORMS)
        tells_missing = is_of_c and all(p.is_input or p.kind in _TOLD_MISSING for p in self._required())
        for p in self._parameters():
            if p is spread:
                words.append(f"*{p.name}")
                marked = True
                continue
            if p.keyword_only and not marked and not self.has_old_order:
                words.append("*")
                marked = True
            needed = p.is_required and not tells_missing and not (p.name == "dim" and "axis" in self.renamed)
            words.append(p.name if needed else f"{p.name}=_default_{p.name}")
        if self.takes_inplace:
            words.insert(words.index("*") if "*" in words else len(words), "inplace=False")
        extra = [f"{name}=None" for name in self.renamed] + ["out=None"] * self.takes_out
        named = ["**named"] if spread is not None else []
        return ", ".join([*words, *["*"] * (bool(extra) and not marked), *extra, *named]), spread

    def _required(self) -> list[Parameter]:
        return [p for p in self._parameters() if p.is_required]

    def _numpy_names(self) -> dict[str, str]:
        """Return numpy's names of parameters, which torch takes too: axis for dim, keepdims for keepdim."""
        positional = [p for p in self.op.parameters if not p.keyword_only]
        names = [p.name for p in positional]
        found = {}
        if "dim" in names and not any(p.is_required for p in positional[names.index("dim") + 1 :]):
            found["axis"] = "dim"
        if "keepdim" in names:
            found["keepdims"] = "keepdim"
        return found

    def _label(self, name: str) -> str:
        """Return, as source, what errors call one parameter."""
        position = [p.name for p in self.op.parameters].index(name)
        place = "" if self.op.parameters[position].keyword_only else f" (position {position + (not self.is_method)})"
        return repr(f"{public_name(self.place)}(): argument '{name}'{place}")

    def _parameters(self) -> list[Parameter]:
        parameters = list(self.op.parameters)
        if self.is_dunder:
            parameters = [p for p in parameters if p.is_required]
        return parameters

    def _spread(self) -> Parameter | None:
        """Return the parameter that may be given as varargs: sizes, last by position, of a method or function."""
        positional = [p for p in self.op.parameters if not p.keyword_only]
        last = positional[-1] if positional else None
        if last is None or last.kind != "Dims" or last.optional or not last.is_required or self.is_dunder:
            return None
        return last if sum(p.kind == "Dims" for p in positional) == 1 else None

    def _inputs(self) -> str:
        given = [p for p in self.op.inputs if p in self._parameters()]
        words = [f"*tensors_of({p.name}, {self._label(p.name)})" if p.kind == "Arrays" else p.name for p in given]
        if self.reflected:
            words[:2] = words[1::-1]
        full = f"({', '.join(words)},)" if words else "()"
        trailing = [p for p in given if p.kind == "Scalar" and not p.is_required]
        if trailing and given[-len(trailing) :] == trailing:
            short = words[: -len(trailing)]
            same = " and ".join(f"{p.name} is _default_{p.name}" for p in trailing)
            if self.has_old_order:
                labels = ", ".join(self._label(p.name) for p in trailing)
                full = f"in_order({self.name!r}, {self.is_method}, ({labels},), {', '.join(words)})"
            elif all(p.keyword_only for p in trailing):
                numbers = [f"as_number({p.name}, {self._label(p.name)})" for p in trailing]
                full = f"({', '.join([*short, *numbers])},)"
            return f"(({', '.join(short)},) if {same} else {full})"
        return full

    def _statics(self, spread: Parameter | None) -> str:
        words = []
        for p in self.op.statics:
            if p not in self._parameters():
                continue
            if p is spread:
                given = f"by_name({p.name}, named, '{p.name}') if named else {p.name}"
                words.append(f"as_spread_dims({given}, {self._label(p.name)})")
            elif p.kind == "bool":
                given = f"as_bool({p.name}, {self._label(p.name)})"
                is_free = p.name in _TRUTHS or (self.op.name, p.name) in _TRUTHS
                words.append(p.name if is_free else f"({p.name} if {p.name} is _default_{p.name} else {given})")
            elif p.kind == "int":
                convert = "as_int" if p.optional else "as_some_int"
                words.append(f"({p.name} if type({p.name}) is int else {convert}({p.name}, {self._label(p.name)}))")
            elif (self.op.name, p.name) in _LISTED:
                words.append(f"as_listed_dims({p.name}, {self._label(p.name)})")
            elif p.kind == "Dims" and p.is_required:
                words.append(f"as_some_dims({p.name}, {self._label(p.name)})")
            elif (p.name, self.op.name) in _DIMS_OR_TRUTH:
                words.append(f"({p.name} if type({p.name}) is bool else as_dims({p.name}, {self._label(p.name)}))")
            elif p.kind in _CONVERTERS:
                words.append(f"{_CONVERTERS[p.kind]}({p.name}, {self._label(p.name)})")
            else:
                words.append(f"as_frozen({p.name})")
        return f"({', '.join(words)},)" if words else "()"


_OF_ARRAYS = {  # what some operators make of an array of numpy themselves
    "__eq__": "equal_to_array(op, input, other) if type(other) is ndarray else NotImplemented",
    **dict.fromkeys(
        ("__rtruediv__", "__rdiv__"), "call(RECIPROCAL, (input,)) * other if type(other) is ndarray else NotImplemented"
    ),
}


def _equal_to_array(op: Op, tensor: Any, array: np.ndarray[Any, Any]) -> Any:
    """Compare with an array, which `==` alone takes for a tensor. NotImplemented: it holds no numbers."""
    return call(op, (tensor, tensor_of_array(array))) if array.dtype.kind in "biufc" else NotImplemented


def _refused_sooner(error: Exception, op: Op, inputs: tuple[Any, ...], statics: tuple[Any, ...]) -> Exception:
    """Return what is wrong with shapes or dtypes, which goes before numbers that are wrong too; else `error`."""
    try:
        call(op, inputs, statics)
    except ShapeError:  # JAX's words, for which torch has none
        return error
    except Exception as sooner:
        return sooner
    return error


def _is_in_place(bare: str) -> bool:
    return bare.startswith("i") and bare != "invert" and f"__{bare[1:]}__" in _ARITHMETIC


def _is_reflected(bare: str) -> bool:
    return bare.startswith("r") and f"__{bare[1:]}__" in _ARITHMETIC


_ARITHMETIC = {
    *("__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__pow__", "__matmul__", "__div__"),
    *("__and__", "__or__", "__xor__", "__lshift__", "__rshift__"),
}


@functools.cache
def places() -> dict[str, Op]:
    """Return every public place of the table and the row behind it: "add", ".add_", "nn.functional.relu"."""
    return {place: op for op in TABLE.values() for place in op.names}


@functools.cache
def made(place: str) -> Any:
    """Return the function of a public place, made at first use: `import funcgrad` would be slow otherwise."""
    op = places()[place]
    form = Form(op, place)
    scope = {f"_default_{p.name}": MISSING if p.is_required else p.default for p in op.parameters}
    scope.update(_SCOPE, op=op)
    exec(compile(form.source(), f"<funcgrad row {op.name}>", "exec"), scope)
    function: Any = scope["made"]
    function.__name__ = function.__qualname__ = form.name
    function.__doc__ = op.function.__doc__
    function.__module__ = ".".join(["funcgrad", *place.split(".")[:-1]]).rstrip(".")  # pickles find it there
    if MISSING in (function.__defaults__ or ()):
        function.__signature__ = _as_required(inspect.signature(function))
    if place.startswith("."):
        function.__qualname__ = f"Tensor.{form.name}"
    return function


def _as_required(signature: inspect.Signature) -> inspect.Signature:
    """Return a signature in which what must be given has no default: `dim` keeps it where `axis` may take its place."""
    other_names = {"dim"} if "axis" in signature.parameters else set()
    parameters = [
        p.replace(default=p.empty) if p.default is MISSING and p.name not in other_names else p
        for p in signature.parameters.values()
    ]
    return signature.replace(parameters=parameters)


def _checks_and_converters() -> dict[str, Any]:
    """Return, by name, what the functions' sources call on arguments."""
    modules = arguments, refused_gradients, refused_numbers, warned
    own = ((name, found, module) for module in modules for name, found in vars(module).items())
    return {name: found for name, found, module in own if getattr(found, "__module__", "") == module.__name__}


_SCOPE: dict[str, Any] = {"MISSING": MISSING, "NotATensor": NotATensor, "Tensor": Tensor, **SCOPE}
_SCOPE.update(
    ndarray=np.ndarray, equal_to_array=_equal_to_array, refused_sooner=_refused_sooner, RECIPROCAL=TABLE["reciprocal"]
)
_SCOPE.update(
    _checks_and_converters(), refuse_unviewable=refuse_unviewable, DType=dtypes.dtype, VIEW_DTYPE=TABLE["view_dtype"]
)
_SCOPE.update((condition.instruction.name, condition) for condition in BY_INSTRUCTION.values())
_SCOPE.update(
    (f.__name__, f)
    for f in (
        call,
        call_in_place,
        call_in_place_near,
        call_near,
        call_near_if_whole,
        call_by_rows,
        call_in_place_by_rows,
        withdraw,
        refuse_forms,
        retell,
        write_out,
        asked_late,
        are_overriding_late,
        refuse_unaligned,
        refuse_unpaired,
    )
)
