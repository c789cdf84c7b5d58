"""grad, vjp, jvp and linearize: derivatives of functions, as functions.

A function of Tensors is run at a level of its own and recorded, so that its derivative is part of the program around
it. Called with JAX arrays only, each is the transformation of JAX itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import jax

from funcgrad._ops.table import TABLE
from funcgrad._tape.apply import apply
from funcgrad._tape.engine import Pass
from funcgrad._tape.levels import Level, TangentLevel, without_history
from funcgrad._tape.modes import enable_grad, is_grad_enabled
from funcgrad._tape.variable import Variable
from funcgrad._tensor.pytree import leaves_of, map_leaves, with_leaves
from funcgrad._tensor.tensor import Tensor
from funcgrad.func.plain import is_plain, plain
from funcgrad.utils._pytree import tree_flatten, tree_structure, treespec_pprint

Function: TypeAlias = Callable[..., Any]
ArgNums: TypeAlias = int | tuple[int, ...]


def grad(func: Function, argnums: ArgNums = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the gradient of `func`, whose result is a scalar, by its arguments `argnums`.

    has_aux: `func` returns (scalar, anything), and the new function (gradient, anything).

    >>> grad(lambda x: x.sin().sum())(tensor([0.0]))
    tensor([1.])
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        gradients, value = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return gradient


def grad_and_value(func: Function, argnums: ArgNums = 0, has_aux: bool = False) -> Function:
    """Return a function that computes (gradient, value); with `has_aux`, (gradient, (value, anything))."""

    @functools.wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_arguments(args, argnums)
        if is_plain((args, kwargs)):
            value, gradients = jax.value_and_grad(plain(func), argnums, has_aux)(*args, **kwargs)
            return gradients, value
        ran = _Run(replaced(func, args, kwargs, argnums), chosen)
        output, aux = _pair(ran.output, "grad_and_value(f)(*args)") if has_aux else (ran.output, None)
        _require_scalar(output)
        gradients = ran.pulled(output, [None])
        value = ran.lowered(output)
        found = with_leaves(chosen, gradients)
        return found if isinstance(argnums, tuple) else found[0], (value, ran.lowered(aux)) if has_aux else value

    return both


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """Return (func(*primals), pull): pull(cotangents), given like the result, returns a tuple of gradients.

    has_aux: `func` returns (result, anything); so does this, after pull.
    """
    if primals and is_plain(primals):
        return jax.vjp(plain(func), *primals, has_aux=has_aux)
    return _pulled(func, primals, has_aux)


def _pulled(func: Function, primals: tuple[Any, ...], has_aux: bool, *, may_be_empty: bool = False) -> Any:
    ran = _Run(func, primals)
    output, aux = _pair(ran.output, "vjp(f, *primals)") if has_aux else (ran.output, None)
    if not may_be_empty:
        _refuse_nothing(output, "vjp(f, *primals)")
    for leaf in leaves_of(output):
        _require_tensor(leaf, "vjp")
        if not leaf.dtype.is_differentiable:
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{leaf.dtype}"
            )

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, structure = tree_flatten(cotangents)
        if structure != (wanted := tree_structure(output)):
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {treespec_pprint(structure)}, primal output: {treespec_pprint(wanted)}"
            )
        return with_leaves(primals, ran.pulled(output, given))

    return (ran.lowered(output), pull, ran.lowered(aux)) if has_aux else (ran.lowered(output), pull)


_JVP = "jvp(f, primals, tangents)"
_SAME_STRUCTURE = (
    "Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 tensors, "
    "tangents also must be."
)


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """Return (func(*primals), its derivative in the direction of the tangents), each like the result of `func`.

    strict: RuntimeError where a result does not depend on the primals. has_aux: as in `vjp`.
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    if not isinstance(tangents, tuple):
        raise RuntimeError(f"{_JVP}: {_SAME_STRUCTURE}")
    if not primals:
        raise RuntimeError(f"{_JVP}: Expected primals to contain at least one Tensor.")
    if is_plain(primals):
        return jax.jvp(plain(func), primals, tangents, has_aux=has_aux)
    given, directions = leaves_of(primals), leaves_of(tangents)
    structures = tree_structure(primals), tree_structure(tangents)
    if structures[0] != structures[1]:
        raise RuntimeError(
            f"{_JVP}: {_SAME_STRUCTURE} Got primals with structure {structures[0]} and tangents with structure "
            f"{structures[1]}"
        )
    level = TangentLevel()
    lifted = [_along(level, *pair) for pair in zip(given, directions, strict=True)]
    with level.running():
        result = func(*with_leaves(primals, lifted))
    output, aux = _pair(result, _JVP) if has_aux else (result, None)
    _refuse_nothing(output, _JVP)
    moved = map_leaves(lambda leaf: _tangent(level, leaf, strict), output)
    found = _lowered(level, output, is_grad_enabled()), moved
    return (*found, _lowered(level, aux, is_grad_enabled())) if has_aux else found


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """Return (func(*primals), push): push(*tangents) is the derivative at the primals in that direction.

    `func` is run once: the derivative is the transpose of its pull-back, which is linear.
    """
    if is_plain(primals):
        return jax.linearize(plain(func), *primals)
    _refuse_whole_primals(primals)

    def moving(*given: Any) -> Any:
        output = func(*given)
        return tuple(leaf for leaf in leaves_of(output) if _is_moving(leaf)), output

    moved, pull, output = _pulled(moving, primals, has_aux=True, may_be_empty=True)
    transposed = vjp(pull, tuple(Tensor._of(_zeros(leaf)) for leaf in moved))[1] if moved else None

    def push(*tangents: Any) -> Any:
        pairs = zip(leaves_of(primals), leaves_of(tangents), strict=False)  # of others the pull-back tells
        for place, (primal, tangent) in enumerate(pairs):
            for what in ("shape", "dtype"):
                given, known = getattr(tangent, what), getattr(primal, what)
                if given != known:
                    raise RuntimeError(
                        f"tangent:{place} with {what} {given} in flattened pytree doesn't match the {what} {known} of "
                        "the corresponding primal."
                    )
        columns = iter(transposed(tangents)[0] if transposed is not None else ())
        return map_leaves(lambda leaf: next(columns) if _is_moving(leaf) else _standing(leaf), output)

    return output, push


def _refuse_whole_primals(primals: tuple[Any, ...]) -> None:
    for primal in leaves_of(primals):
        if isinstance(primal, Tensor) and not primal.dtype.is_differentiable:
            raise ValueError(f"Expected primal to be floating point or complex, but got: {primal.dtype}")


def _is_moving(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and leaf.dtype.is_differentiable


def _standing(leaf: Any) -> Any:
    """Return the derivative of what does not follow the primals: zeros for whole numbers, else the thing itself."""
    return Tensor._of(_zeros(leaf)) if isinstance(leaf, Tensor) else leaf


def chosen_arguments(args: tuple[Any, ...], argnums: ArgNums) -> tuple[Any, ...]:
    """Return the arguments that `argnums` names; RuntimeError where there is none of that number."""
    chosen = argnums if isinstance(argnums, tuple) else (argnums,)
    if not chosen:
        raise RuntimeError("argnums must be non-empty")
    for number in chosen:
        if type(number) is not int:
            wanted = "argnum must be int" if isinstance(argnums, tuple) else "argnums must be int or Tuple[int, ...]"
            raise RuntimeError(f"{wanted}, got: {type(number)}")
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"Got argnum={number}, but only {len(args)} positional inputs")
    if len({number % len(args) for number in chosen}) < len(chosen):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return tuple(args[number] for number in chosen)


def replaced(func: Function, args: tuple[Any, ...], kwargs: dict[str, Any], argnums: ArgNums) -> Function:
    """Return `func` as a function of the arguments that `argnums` names only."""
    places = [number % len(args) for number in (argnums if isinstance(argnums, tuple) else (argnums,))]

    def of_chosen(*chosen: Any) -> Any:
        full = list(args)
        for place, argument in zip(places, chosen, strict=True):
            full[place] = argument
        return func(*full, **kwargs)

    return of_chosen


class _Run:
    """One run of a function at a level of its own, and the graph that it left there."""

    __slots__ = ("inputs", "keeps_history", "level", "output")

    def __init__(self, func: Function, args: tuple[Any, ...]) -> None:
        self.level, self.keeps_history = Level(), is_grad_enabled()
        self.inputs = [_leaf(self.level, argument) for argument in leaves_of(args)]
        with self.level.running(), enable_grad():
            self.output = func(*with_leaves(args, self.inputs))

    def pulled(self, output: Any, cotangents: list[Any]) -> list[Tensor]:
        """Return the gradient of each input, zeros where the output does not depend on it.

        They have a history where one is kept now, also inside of another function that is transformed.
        """
        roots, keeps_history = [], is_grad_enabled()
        for place, (leaf, cotangent) in enumerate(zip(leaves_of(output), cotangents, strict=True)):
            variable = leaf._current()
            if variable.node is not None and self.level.is_own(variable):
                roots.append(((variable.node, variable.index), _cotangent(place, variable, cotangent)))
        edges = [(x._current().node, 0) for x in self.inputs]
        below = [self.level.lower(x._current()) for x in self.inputs]
        found = Pass(retain=True, history=keeps_history, targets=edges, below=below).run(roots) if roots else {}
        return [
            Tensor._of(found[edge] if edge in found else _zeros(x)) if keeps_history or edge not in found
            else Tensor._of(without_history(found[edge]))
            for edge, x in zip(edges, self.inputs, strict=True)
        ]  # fmt: skip

    def lowered(self, tree: Any) -> Any:
        """Return results as they are below the level."""
        return _lowered(self.level, tree, self.keeps_history)


def _leaf(level: Level, given: Any) -> Tensor:
    if not isinstance(given, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(given)}")
    variable = given._current()
    if not variable.aval.differentiable:
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    return Tensor._of(level.leaf(variable))


def _cotangent(place: int, variable: Variable, given: Any) -> Variable:
    shown = variable.aval
    if given is None:
        return apply(TABLE["full"], (1.0,), (tuple(shown.shape), shown.dtype))[0]
    if not isinstance(given, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(given).__name__}")
    if given.shape != shown.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{place}] has a shape of {given.shape} and output[{place}] has a shape of "
            f"{shown.shape}."
        )
    return (
        given._current()
        if given.dtype is shown.dtype
        else apply(TABLE["to_dtype"], (given._current(),), (shown.dtype,))[0]
    )


def _zeros(tensor: Tensor) -> Variable:
    return apply(TABLE["zero"], (tensor._current().detached(),))[0]


def _lowered(level: Level, tree: Any, keeps_history: bool) -> Any:
    def lower(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        variable = leaf._current()
        lowered = level.lower(variable)
        if lowered is variable and (keeps_history or variable.node is None):
            return leaf
        return Tensor._of(lowered if keeps_history else without_history(lowered))

    return map_leaves(lower, tree)


def _along(level: TangentLevel, primal: Any, tangent: Any) -> Tensor:
    for name, leaf in (("primals", primal), ("tangents", tangent)):
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{_JVP}: Expected {name} to only contain Tensors, got {type(leaf)}")
        if not leaf.dtype.is_differentiable:
            raise ValueError(f"Expected {name[:-1]} to be floating point or complex, but got: {leaf.dtype}")
    if primal.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(primal.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    return Tensor._of(level.along(primal._current(), tangent._current()))


def _tangent(level: TangentLevel, leaf: Any, strict: bool) -> Tensor:
    _require_tensor(leaf, "jvp")
    variable = leaf._current()
    if level.is_own(variable):
        return Tensor._of(variable.value.tangent)
    if strict:
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
            "with strict=True."
        )
    return Tensor._of(_zeros(leaf))


def _require_tensor(leaf: Any, what: str) -> None:
    if not isinstance(leaf, Tensor):
        arguments = "f, primals, tangents" if what == "jvp" else "f, *primals"
        raise RuntimeError(
            f"{what}({arguments}): expected f(*primals) to return only tensors, got unsupported type {type(leaf)}"
        )


def _refuse_nothing(output: Any, where: str) -> None:
    if (flat := leaves_of(output)) in ([], [None]):
        raise RuntimeError(f"{where}: Expected f to be a function that has non-empty output (got output = {flat})")


def _require_scalar(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}")
    if output.ndim != 0:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
            f"{output.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )
    if output.is_complex():
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {output.dtype}")


def _pair(result: Any, name: str) -> tuple[Any, Any]:
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result
