"""Overriding: from the first class that wants it, public functions ask their arguments for `__torch_function__`.

Nothing is asked before: `arm` exchanges the code of the public functions once such a class or a mode is there, so a
program without one pays nothing, and every name that is bound to a function already asks from then on.
Protocol: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-python-api
"""

from __future__ import annotations

import dis
import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Mapping
from types import CodeType, FunctionType
from typing import Any, Self

from funcgrad._base.errors import shown_as
from funcgrad._tensor.handing import handed
from funcgrad._tensor.registry import FUNCTIONS, METHODS, again
from funcgrad._tensor.tensor import Tensor

_NEVER = {  # what torch does not let anybody override
    "is_tensor", "is_storage", "typename", "as_subclass", "is_grad_enabled", "is_inference_mode_enabled", "make",
    "__iter__", "__hash__", "__getattr__", "__init_subclass__",
}  # fmt: skip
_OF_MODES = {"tensor", "as_tensor", "asarray", "from_numpy"}  # a mode sees them; classes of arguments are not asked
_METHOD_OF = {  # operators that torch names by the method that they are
    "__add__": "add", "__radd__": "add", "__iadd__": "add_",
    "__sub__": "sub", "__isub__": "sub_",
    "__mul__": "mul", "__rmul__": "mul", "__imul__": "mul_",
    "__truediv__": "div", "__itruediv__": "div_", "__ifloordiv__": "floor_divide_",
    "__mod__": "remainder", "__imod__": "remainder_",
    "__matmul__": "matmul", "__imatmul__": "matmul",
    "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor",
    "__neg__": "neg", "__pos__": "positive", "__abs__": "abs",
    "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge",
}  # fmt: skip
_BETWEEN_TWO = frozenset(  # operators of two operands: where one declines, Python tries the other
    f"__{form}{name}__"
    for form, names in {
        "": "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift eq ne lt le gt ge",
        "r": "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift",
        "i": "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift",
    }.items()
    for name in names.split()
)


class _State(threading.local):
    """What this thread asks: classes of arguments, modes, both or neither."""

    def __init__(self) -> None:
        self.asks_classes = True
        self.asks_modes = True
        self.modes: list[Any] = []
        self.calling: Any = None  # what a default `__torch_function__` calls now
        self.skips = False  # the next question is not asked


state = _State()
_waiting: list[tuple[FunctionType, Any]] = []  # functions that will ask once armed, and what to call them then
_asking: set[FunctionType] = set()
_unasked: set[type] = {Tensor, int, float, bool, complex, str, type(None)}  # types known to override nothing
_LOOKED_INTO = (list, tuple)
_armed = False


# Who is asked


def disabled(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Stand as `__torch_function__` of a class that overrides nothing, as Parameter does."""
    with Without("asks_classes"):
        return func(*args, **(kwargs or {}))


def default(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Call the function itself and return its tensors in this class: what subclasses of Tensor inherit."""
    if func is state.calling and not state.asks_classes:  # it asks again all the same: a function of the real torch
        return NotImplemented
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with Without("asks_classes"):
        outer, state.calling = state.calling, func
        try:
            result = func(*args, **(kwargs or {}))
        finally:
            state.calling = outer
    return result if func in unwrapped() else _in_class(result, cls)


def _in_class(result: Any, cls: Any) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        if isinstance(result, cls):
            return result
        return result._of_class(cls) if result._current().node is None else result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        parts = [_in_class(part, cls) for part in result]
        kind: Any = type(result)
        return kind(*parts) if hasattr(result, "_fields") else kind(parts)
    return result


@functools.cache
def unwrapped() -> set[Any]:
    """Return what answers with plain tensors: the properties that show a tensor's place in the graph."""
    return {Tensor._base.__get__, Tensor.grad.__get__, Tensor._grad.__get__}  # type: ignore[attr-defined]  # properties


class Without:
    """Within it this thread asks no classes (`asks_classes`), or no modes (`asks_modes`)."""

    def __init__(self, *switches: str) -> None:
        self.switches = switches

    def __enter__(self) -> Self:
        self.before = [getattr(state, switch) for switch in self.switches]
        for switch in self.switches:
            setattr(state, switch, False)
        return self

    def __exit__(self, *error: object) -> None:
        for switch, value in zip(self.switches, self.before, strict=True):
            setattr(state, switch, value)


class DisableTorchFunctionSubclass(Without):
    """Within it classes of arguments are not asked; modes are."""

    def __init__(self) -> None:
        super().__init__("asks_classes")


class DisableTorchFunction(Without):
    """Within it nobody is asked."""

    def __init__(self) -> None:
        super().__init__("asks_classes", "asks_modes")


def overrides(kind: type) -> bool:
    """Tell whether a type has a `__torch_function__` that is to be asked."""
    if kind in _unasked:
        return False
    given = getattr(kind, "__torch_function__", None)
    if given is not None and given is not disabled:
        return True
    if kind not in _LOOKED_INTO:
        _unasked.add(kind)
    return False


def overriding_arguments(arguments: Iterable[Any]) -> list[Any]:
    """Return the arguments to ask, one of each type: subclasses before what they derive from, else left before right.

    Lists and tuples among the arguments are looked into.
    """
    found: list[Any] = []
    if not state.asks_classes:
        return found
    for given in arguments:
        for x in given if type(given) in _LOOKED_INTO else (given,):
            if overrides(type(x)) and all(type(x) is not type(other) for other in found):
                before = (i for i, other in enumerate(found) if isinstance(x, type(other)))
                found.insert(next(before, len(found)), x)
    return found


# Asking


def ask(function: Any, asked: list[Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Return the first answer of the innermost mode and of the arguments in order. TypeError where nobody answers."""
    types = tuple(type(x) for x in asked)
    given = (args, kwargs) if kwargs else (args,)
    if state.modes and state.asks_modes:
        with without_innermost() as mode:
            result = mode.__torch_function__(function, types, *given)
        if result is not NotImplemented:
            return result
    for x in asked:
        result = x.__torch_function__(function, types, *given)
        if result is not NotImplemented:
            return result
    raise UnansweredError(
        f"Multiple dispatch failed for 'torch.{_place_of(function)}'; "
        "all __torch_function__ handlers returned NotImplemented:\n\n"
        + "".join(f"  - mode object {mode}\n" for mode in state.modes[-1:] if state.asks_modes)
        + "".join(f"  - tensor subclass {kind}\n" for kind in types)
        + "\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )


def _place_of(function: Any) -> str:
    """Return where torch has a function: `Tensor.neg`, or `neg` in its own namespace."""
    name = getattr(function, "__name__", str(function))
    return f"Tensor.{name}" if getattr(Tensor, name, None) is function else name


@shown_as(TypeError)
class UnansweredError(TypeError):
    """All that were asked returned NotImplemented."""


class Layer:
    """Stands for a mode that sees aten's functions, beneath all modes that see public ones.

    Contract: `told(overload, args, kwargs)` returns what the mode answers for a call. It is not active inside.
    """

    def told(self, overload: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the mode's answer."""
        raise NotImplementedError

    def enter(self) -> None:
        """Become the innermost of the layers."""
        arm()
        state.modes.insert(sum(isinstance(mode, Layer) for mode in state.modes), self)

    def leave(self) -> None:
        """Be none any more."""
        state.modes.remove(self)


class without_innermost:  # noqa: N801 - a context manager, read as a verb
    """Within it the innermost mode is not active: what it calls is seen by the next one out."""

    def __enter__(self) -> Any:
        self.mode = state.modes.pop()
        return self.mode

    def __exit__(self, *error: object) -> None:
        state.modes.append(self.mode)


def redispatch(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Call a function that asks nobody itself; those that it calls ask."""
    state.skips = True
    try:
        return func(*args, **(kwargs or {}))
    finally:
        state.skips = False


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Tell whether one of the arguments, or a mode, is to be asked before a function computes."""
    if is_skipped():
        return False
    return bool((state.modes and state.asks_modes) or overriding_arguments(relevant_args))


def is_skipped() -> bool:
    """Tell, once after `redispatch`, that nobody is to be asked."""
    skips, state.skips = state.skips, False
    return skips


def _asks(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
    """Return whom to ask before this call, or None where nobody is."""
    if state.skips and is_skipped():
        return None
    if state.modes and state.asks_modes:
        return overriding_arguments((*args, *kwargs.values()))
    for x in args:
        if type(x) not in _unasked:
            break
    else:
        if not kwargs:
            return None
    return overriding_arguments((*args, *kwargs.values())) or None


def _arm_one(function: FunctionType, public: Any) -> None:
    """Let a function ask before it does what it did; it stays the same object."""
    if function in _asking:
        return
    itself = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    itself.__kwdefaults__, itself.__qualname__ = function.__kwdefaults__, function.__qualname__
    itself.__annotations__ = function.__annotations__

    is_operator = function.__name__ in _BETWEEN_TWO
    asks_arguments = function.__name__ not in _OF_MODES
    spreads = function.__name__ == "einsum"

    def answer(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        asked = _asks(args, kwargs)
        if asked is None:
            return itself(*args, **kwargs)
        if (state.modes and state.asks_modes) or asks_arguments:
            try:
                args, kwargs = (_spread(args), kwargs) if spreads else handed(function, args, kwargs)
                return ask(public, asked, args, kwargs)
            except TypeError:  # also one that is raised by who answers, or that the function itself raises
                if is_operator:
                    return NotImplemented  # the other operand is tried; if it declines too, Python says which two met
                raise
        with Without("asks_classes"):
            return itself(*args, **kwargs)

    _asking.add(function)
    function.__dict__.setdefault("__wrapped__", itself)  # where `inspect` finds the signature
    function.__code__ = _code_over(function.__code__.co_freevars)
    function.__defaults__, function.__kwdefaults__ = None, {"_answer": answer}


def _spread(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return einsum's arguments as torch tells them to those who are asked: a list of operands one by one."""
    return (args[0], *args[1]) if len(args) == 2 and type(args[1]) in _LOOKED_INTO else args


def _first_ask(*args: Any, _answer: Any, **kwargs: Any) -> Any:
    return _answer(args, kwargs)


def _code_over(cells: tuple[str, ...]) -> CodeType:
    """Return the code that asks first, for a function with these free variables.

    It takes them as compiled code does: CPython crashes when a debugger reads the `f_locals` of a frame that has not.
    """
    code = _first_ask.__code__
    if not cells:
        return code
    take = bytes([dis.opmap["COPY_FREE_VARS"], len(cells)])
    nowhere = b"\xf8"  # in a table of lines, https://github.com/python/cpython/blob/3.11/Objects/locations.md
    return code.replace(co_freevars=cells, co_code=take + code.co_code, co_linetable=nowhere + code.co_linetable)


def asks(function: Any, public: Any = None) -> Any:
    """Let a public function ask once that is wanted, and return it; `public` is what the asked are told it is."""
    if isinstance(function, FunctionType) and function.__name__ not in _NEVER:
        if _armed:
            _arm_one(function, public or function)
        else:
            _waiting.append((function, public or function))
    return function


def all_ask(functions: Mapping[str, Any], names: Iterable[str]) -> None:
    """Let the functions of a module ask: those of `names` among its globals."""
    for name in names:
        asks(functions[name])


def arm() -> None:
    """Let all public functions ask from now on, those that are made later too."""
    global _armed
    if _armed:
        return
    _armed = True
    for name, found in {**vars(Tensor), **METHODS}.items():
        _method_asks(name, found)
    for function in [*FUNCTIONS.values(), *(function for function, _ in _waiting)]:
        asks(function)
    _waiting.clear()


def are_overriding_late(given: Mapping[str, Any]) -> bool:
    """Tell whether a function failed on the first object of a class that overrides functions and is no Tensor."""
    return not _armed and bool(overriding_arguments(given.values()))


def _armed_late(given: tuple[Any, ...]) -> bool:
    """Arm where a function failed on these arguments because of such an object, and tell whether it did."""
    is_late = not _armed and bool(overriding_arguments(given))
    if is_late:
        arm()
    return is_late


def asked_late(function: Any, given: Mapping[str, Any]) -> Any:
    """Arm, and call a function again with its arguments, given by name."""
    arm()
    args, kwargs, all_so_far = [], {}, True
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += given[name]
        elif parameter.kind is parameter.VAR_KEYWORD:
            kwargs.update(given[name])
        elif given[name] is parameter.default:
            all_so_far = False
        elif all_so_far and parameter.kind is not parameter.KEYWORD_ONLY:
            args.append(given[name])
        else:
            kwargs[name] = given[name]
    return function(*args, **kwargs)


def _method_asks(name: str, found: Any) -> None:
    if isinstance(found, property):
        asks_as_property(found)
    elif name not in _NEVER and (name.startswith("__") or not name.startswith("_")):
        if isinstance(found, FunctionType) and found.__name__ not in METHODS and found.__name__ not in vars(Tensor):
            found.__dict__["_written_as"] = found.__name__
            found.__name__ = name  # whoever is asked reads it
        asks(found, getattr(Tensor, _METHOD_OF.get(name, name)))


def is_asking(public: Any) -> bool:
    """Tell whether a function, or the `__get__` of a property, asks."""
    return function_of(public) in _asking


def function_of(public: Any) -> Any:
    """Return the function that a public function is, or that a property's `__get__` calls."""
    owner = getattr(public, "__self__", None)
    return owner.fget if isinstance(owner, property) else public


def name_of(public: Any) -> str:
    """Return the name of a function, or of the property that it reads or sets."""
    found = function_of(public)
    return found.__name__


class Handlers(dict[str, Callable[..., Any]]):
    """What answers for a class's functions, by their names: handler(func, *args, **kwargs)."""

    def of(self, *names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Enter a handler for the functions of these names."""

        def enter(handler: Callable[..., Any]) -> Callable[..., Any]:
            self.update(dict.fromkeys(names, handler))
            return handler

        return enter


def asks_as_property(found: property) -> property:
    """Let a property of Tensor ask: reading it is its `__get__`, setting it its `__set__`."""
    asks(found.fget, found.__get__)
    asks(found.fset, found.__set__)
    return found


def arm_for(cls: Any) -> None:
    """Arm if a new subclass of Tensor overrides functions, be it only to keep its own class.

    Not yet for a class of our own, of which most programs never make a tensor.
    """
    if cls.__torch_function__ is not disabled and not cls.__dict__.get("_arms_when_made"):
        arm()


def install() -> None:
    """Give Tensor the default `__torch_function__`, which its subclasses inherit."""
    methods: Any = Tensor
    methods.__torch_function__ = classmethod(default)
    again.append(_armed_late)
