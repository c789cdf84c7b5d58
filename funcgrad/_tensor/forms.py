"""Functions that take their arguments in several ways, and how torch shows all of these where arguments fit none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from funcgrad._base.naming import c_class_name
from funcgrad._ops.table import Op
from funcgrad._tensor.arguments import MISSING

_DTYPE = "*, torch.dtype dtype = None"
_OUT = "*, Tensor out = None"
_DRAWN = "*, torch.Generator generator = None, Tensor out = None"
_DIM, _DIMS = "int dim, bool keepdim = False", "tuple of ints dim, bool keepdim = False"
_SPREAD = ("tuple of ints dim, bool unbiased = True, bool keepdim = False", "tuple of ints dim = None, "
           "*, Number correction = None, bool keepdim = False", "bool unbiased = True")  # fmt: skip
_SORTED = ("*, bool stable, int dim = -1, bool descending = False", "int dim = -1, bool descending = False")
_EXTREME = ("", "Tensor other", _DIM)
_TRUTH = ("", "tuple of ints dim = None, bool keepdim = False", _DIM)
_QUANTILE = 'int dim = None, bool keepdim = False, *, str interpolation = "linear"'
_OTHER = ("Tensor other", "Number other")
_METHODS = {  # without the tensor whose method it is
    "sum": (_DTYPE, f"{_DIMS}, {_DTYPE}"),
    "mean": (_DTYPE, f"{_DIMS}, {_DTYPE}"),
    "prod": (_DTYPE, f"{_DIM}, {_DTYPE}"),
    **dict.fromkeys(("max", "min"), _EXTREME),
    **dict.fromkeys(("all", "any"), _TRUTH),
    **dict.fromkeys(("std", "var"), _SPREAD),
    **dict.fromkeys(("sort", "argsort"), _SORTED),
    "median": ("", _DIM),
    "squeeze": ("", "int dim", "tuple of ints dim"),
    **dict.fromkeys(
        ("clamp", "clip"), ("Tensor min = None, Tensor max = None", "Number min = None, Number max = None")
    ),
    **dict.fromkeys(("quantile", "nanquantile"), tuple(f"{q}, {_QUANTILE}" for q in ("Tensor q", "float q"))),
    "count_nonzero": ("int dim = None", "tuple of ints dim"),
    **dict.fromkeys(
        (
            "fmod",
            "copysign",
            "xlogy",
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "remainder",
            "floor_divide",
            "bitwise_left_shift",
            "bitwise_right_shift",
        ),
        _OTHER,
    ),
    "float_power": ("Tensor exponent", "Number exponent"),
    "scatter": (
        "int dim, Tensor index, Tensor src",
        "int dim, Tensor index, Tensor src, *, str reduce",
        "int dim, Tensor index, Number value",
        "int dim, Tensor index, Number value, *, str reduce",
    ),
    "tensor_split": (
        "tuple of ints indices, int dim = 0",
        "Tensor tensor_indices_or_sections, int dim = 0",
        "int sections, int dim = 0",
    ),
    **{name: (f"Tensor {bound}", f"Number {bound}") for name, bound in (("clamp_min", "min"), ("clamp_max", "max"))},
    "lerp": ("Tensor end, Tensor weight", "Tensor end, Number weight"),
    "where": ("Tensor condition, Tensor other", "Tensor condition, Number other"),
    "fill": ("Tensor value", "Number value"),
    "masked_fill": ("Tensor mask, Tensor value", "Tensor mask, Number value"),
    "index_fill": ("int dim, Tensor index, Tensor value", "int dim, Tensor index, Number value"),
    "pow": ("Tensor exponent", "Number exponent"),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), _OTHER),
}
_FUNCTIONS = {  # where they are not those of the method with the tensor in front, and with `out`
    "sum": (f"Tensor input, {_DTYPE}", f"Tensor input, {_DIMS}, {_DTYPE}, Tensor out = None"),
    "mean": (f"Tensor input, {_DTYPE}, Tensor out = None", f"Tensor input, {_DIMS}, {_DTYPE}, Tensor out = None"),
    "prod": (f"Tensor input, {_DTYPE}", f"Tensor input, {_DIM}, {_DTYPE}, Tensor out = None"),
    **dict.fromkeys(("max", "min"), (f"Tensor input, {_OUT}", f"Tensor input, Tensor other, {_OUT}",
                                     f"Tensor input, {_DIM}, *, tuple of Tensors out = None")),
    **dict.fromkeys(("std", "var"), (f"Tensor input, {_SPREAD[0]}, {_OUT}", f"Tensor input, {_SPREAD[1]}, "
                                     "Tensor out = None", f"Tensor input, {_SPREAD[2]}")),
    "sort": (f"Tensor input, {_SORTED[0]}, tuple of Tensors out = None",
             f"Tensor input, {_SORTED[1]}, *, tuple of Tensors out = None"),
    "argsort": (f"Tensor input, {_SORTED[0]}, Tensor out = None", f"Tensor input, {_SORTED[1]}"),
    "median": ("Tensor input", f"Tensor input, {_DIM}, *, tuple of Tensors out = None"),
    "squeeze": ("Tensor input", "Tensor input, int dim", "Tensor input, tuple of ints dim"),
    "where": ("Tensor condition", f"Tensor condition, Tensor input, Tensor other, {_OUT}",
              "Tensor condition, Number self, Tensor other", "Tensor condition, Tensor input, Number other",
              "Tensor condition, Number self, Number other"),
    **{name: tuple(f"Tensor input, {form}" for form in _METHODS[name])
       for name in ("masked_fill", "index_fill", "count_nonzero", "tensor_split")},
    **{name: tuple(f"Tensor input, {form}, Tensor out = None" for form in _METHODS[name])
       for name in ("quantile", "nanquantile")},
    **dict.fromkeys(("trapezoid", "cumulative_trapezoid"), ("Tensor y, Tensor x, *, int dim = -1",
                                                           "Tensor y, *, Number dx = 1, int dim = -1")),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "remainder", "bitwise_left_shift",
                     "bitwise_right_shift"), (f"Tensor input, Tensor other, {_OUT}", "Number self, Tensor other",
                                              f"Tensor input, Number other, {_OUT}")),
    **dict.fromkeys(("xlogy", "special_zeta", "special_xlog1py"), (
        f"Tensor input, Tensor other, {_OUT}", f"Number self, Tensor other, {_OUT}",
        f"Tensor input, Number other, {_OUT}")),
    "floor_divide": (f"Tensor input, Tensor other, {_OUT}", "Tensor input, Number other"),
    "scatter": tuple(f"Tensor input, {form}{', ' if '*' in form else ', *, '}Tensor out = None"
                     for form in _METHODS["scatter"]),
    "normal": (
        f"Tensor mean, Tensor std, {_DRAWN}", f"Tensor mean, float std = 1, {_DRAWN}",
        f"float mean, Tensor std, {_DRAWN}",
        f"float mean, float std, tuple of ints size, {_DRAWN}, torch.dtype dtype = None, torch.layout layout = None, "
        "torch.device device = None, bool pin_memory = False, bool requires_grad = False"),
    "float_power": (f"Tensor input, Tensor exponent, {_OUT}", f"Number self, Tensor exponent, {_OUT}",
                    f"Tensor input, Number exponent, {_OUT}"),
    "pow": (f"Tensor input, Tensor exponent, {_OUT}", f"Number self, Tensor exponent, {_OUT}",
            f"Tensor input, Number exponent, {_OUT}"),
}  # fmt: skip


def refuse_unfit(op: Op, place: str, given: Sequence[Any], by_name: Sequence[str] = ()) -> None:
    """Raise TypeError for arguments that are missing, or that fit none of several forms.

    given: what the function was called with, in the order of the row, defaults and MISSING included. by_name: the
    keywords among it.
    """
    name, is_method = public_name(place), place.startswith(".")
    arguments = list(_shown(op, given, by_name))[is_method:]
    forms = _forms(name, is_method)
    if forms and sum(_has_room(form, len(arguments)) for form in forms) != 1:  # else torch speaks of that form alone
        raise refused_forms(name, arguments, is_method) from None
    missing = [f'"{p.name}"' for p, x in zip(op.parameters, given, strict=False) if x is MISSING]
    if missing:
        plural = "s" if len(missing) == 1 else ""  # the wrong way round, as torch has it
        raise TypeError(
            f"{name}() missing {len(missing)} required positional argument{plural}: {', '.join(missing)}"
        ) from None


def refused_forms(name: str, arguments: Sequence[tuple[str, Any]], is_method: bool = False) -> TypeError:
    """Return the error that shows all forms of a function. arguments: each with its name, "" for those by position."""
    return TypeError(_no_form(name, _forms(name, is_method), arguments))


def public_name(place: str) -> str:
    """Return what torch's errors call the function of a public place: `linalg_inv`, `relu`."""
    return place.replace(".", "_") if place.startswith(("linalg.", "fft.", "special.")) else place.rpartition(".")[2]


def _forms(name: str, is_method: bool) -> tuple[str, ...]:
    bare = name.rstrip("_")
    of_method = _METHODS.get(bare, ())
    if is_method:
        return of_method
    return _FUNCTIONS.get(bare) or tuple(f"Tensor input, {form + ', ' if form else ''}{_OUT}" for form in of_method)


def _has_room(form: str, count: int) -> bool:
    """Tell whether a form takes so many arguments."""
    parameters = [part for part in form.split(", ") if part not in ("", "*")]
    return sum(" = " not in part for part in parameters) <= count <= len(parameters)


def _shown(op: Op, given: Sequence[Any], by_name: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the arguments that the user gave, as far as that can be told: those with names last, the last one first."""
    named = []
    for parameter, x in zip(op.parameters, given, strict=False):
        if parameter.name in by_name or parameter.keyword_only:
            if x is not MISSING and (parameter.name in by_name or x is not parameter.default):
                named.append((parameter.name, x))
        elif x is not MISSING and (parameter.is_required or x is not parameter.default):
            yield "", x
    yield from reversed(named)


def _no_form(name: str, forms: Sequence[str], arguments: Sequence[tuple[str, Any]]) -> str:
    got = ", ".join(f"{word}={c_class_name(x)}" if word else c_class_name(x) for word, x in arguments)
    got += ", " if arguments and all(word for word, _ in arguments) else ""
    lines = [f"{name}() received an invalid combination of arguments - got ({got}), but expected one of:"]
    for form in forms:
        lines.append(f" * ({form})")
        wanted = form.split(", ")
        if len(wanted) == len(arguments) and not any(word for word, _ in arguments):
            shown = [
                _described(x) if _is_of(kind, x) else f"!{_described(x)}!"
                for kind, (_, x) in zip(wanted, arguments, strict=True)
            ]
            lines.append(f"      didn't match because some of the arguments have invalid types: ({', '.join(shown)})")
    return "\n".join((*lines, ""))


def _described(given: Any) -> str:
    if not isinstance(given, (tuple, list)):
        return c_class_name(given)
    inside = ", ".join(map(c_class_name, given))
    return f"list of [{inside}]" if isinstance(given, list) else f"tuple of ({inside}{',' * (len(given) == 1)})"


def _is_of(wanted: str, given: Any) -> bool:
    kind = wanted.partition(" = ")[0].rpartition(" ")[0]
    if kind == "tuple of ints":
        return isinstance(given, (tuple, list)) and all(type(x) is int for x in given)
    return kind == c_class_name(given)  # by name: torch marks an int where it says Number
