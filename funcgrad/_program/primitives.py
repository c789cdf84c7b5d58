"""What JAX's primitives are by kind, for those who run a jaxpr in another way (`host`, `lengths`, `transposes`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
from jax.extend import core

ELEMENTWISE = frozenset((
    "abs", "acos", "acosh", "add", "add_any", "and", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e",
    "bessel_i1e", "cbrt", "ceil", "clamp", "clz", "complex", "conj", "convert_element_type", "copy", "cos", "cosh",
    "digamma", "div", "eq", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "ge", "gt", "igamma",
    "igamma_grad_a", "igammac", "imag", "integer_pow", "is_finite", "le", "le_to", "lgamma", "log", "log1p", "log2",
    "logistic", "lt", "lt_to", "max", "min", "mul", "ne", "neg", "nextafter", "not", "one_minus_square", "or",
    "polygamma", "polynomial", "population_count", "pow", "real", "reduce_precision", "regularized_incomplete_beta",
    "rem", "round", "rsqrt", "select_n", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin",
    "sinh", "sqrt", "square", "stop_gradient", "sub", "tan", "tanh", "xor", "zeta",
))  # fmt: skip
REDUCTIONS = ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or", "reduce_xor")
LATE = "call_hi_primitive"  # since jax 0.11: it stands for a function that is traced only when it is lowered
CALLS = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr",
         LATE)  # fmt: skip
REMADE = ("checkpoint", "remat2")  # calls whose values are computed again in backward


def called(equation: Any) -> tuple[Any, Sequence[Any]]:
    """Return the jaxpr that an equation calls, and its constants."""
    if equation.primitive.name == LATE:
        with jax.enable_x64(True):
            traced = jax.make_jaxpr(lambda *given: equation.primitive.to_lojax(*given, **equation.params))(
                *[jax.ShapeDtypeStruct(x.aval.shape, x.aval.dtype) for x in equation.invars]
            )
        return traced.jaxpr, traced.consts
    inner = next(equation.params[name] for name in ("jaxpr", "call_jaxpr", "fun_jaxpr") if name in equation.params)
    return (inner.jaxpr, inner.consts) if isinstance(inner, core.ClosedJaxpr) else (inner, ())


def parts_of_scan(equation: Any) -> tuple[int, int]:
    """Return how many constants a scan reads, and how many arrays it carries from turn to turn."""
    parameters = equation.params
    if "num_carry" in parameters:
        return parameters["num_consts"], parameters["num_carry"]
    constants, carried, _ = parameters["ft_in"].unpack()  # since jax 0.11
    return len(constants), len(carried)


def products_in(jaxpr: Any) -> int:
    """Return how many products of two numbers the matrices and convolutions of a jaxpr take."""
    return _added_up(jaxpr, _products)


def elements_in(jaxpr: Any) -> int:
    """Return how many elements the equations of a jaxpr give, if each is written out."""
    return _added_up(jaxpr, lambda equation: sum(math.prod(x.aval.shape) for x in equation.outvars))


def equations_in(jaxpr: Any) -> int:
    """Return how many equations a jaxpr has, those inside of calls, branches and turns included, but once."""
    return _added_up(jaxpr, lambda _: 1, each_turn=False)


def loops_in(jaxpr: Any) -> int:
    """Return how many loops a jaxpr has, those inside of calls, branches and turns included, but once."""
    total = 0
    for equation in jaxpr.eqns:
        name, parameters = equation.primitive.name, equation.params
        total += name in ("scan", "while")
        if name == "scan":
            total += loops_in(parameters["jaxpr"].jaxpr)
        elif name == "cond":
            total += sum(loops_in(branch.jaxpr) for branch in parameters["branches"])
        elif name in CALLS + REMADE:
            total += loops_in(called(equation)[0])
    return total


def _added_up(jaxpr: Any, number: Callable[[Any], int], *, each_turn: bool = True) -> int:
    """Add up a number of each equation, those inside of calls, branches and turns included."""
    total = 0
    for equation in jaxpr.eqns:
        name, parameters = equation.primitive.name, equation.params
        if name == "scan":
            turns = parameters["length"] if each_turn else 1
            total += turns * _added_up(parameters["jaxpr"].jaxpr, number, each_turn=each_turn)
        elif name == "cond":
            total += max(_added_up(branch.jaxpr, number, each_turn=each_turn) for branch in parameters["branches"])
        elif name in CALLS + REMADE:
            total += _added_up(called(equation)[0], number, each_turn=each_turn)
        else:
            total += number(equation)
    return total


def _products(equation: Any) -> int:
    name, parameters = equation.primitive.name, equation.params
    size = math.prod(equation.outvars[0].aval.shape) if equation.outvars else 0
    if name == "dot_general":
        (summed, _), _ = parameters["dimension_numbers"]
        return size * math.prod(equation.invars[0].aval.shape[i] for i in summed)
    if name == "conv_general_dilated":
        kernel = equation.invars[1].aval.shape
        return size * math.prod(kernel) // kernel[parameters["dimension_numbers"].rhs_spec[0]]
    return 0


Rule = TypeVar("Rule")


def entered_in(rules: dict[str, Rule]) -> Callable[..., Callable[[Rule], Rule]]:
    """Return the decorator that enters a function as the rule of the primitives that it is given by name."""

    def rule(*names: str) -> Callable[[Rule], Rule]:
        def enter(function: Rule) -> Rule:
            for name in names:
                assert name not in rules, name
                rules[name] = function
            return function

        return enter

    return rule
