"""functional_call: a module as a function of its parameters and buffers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from funcgrad._base.warning import warn
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn.module import Module

_ABSENT: Any = object()


def functional_call(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor] | tuple[Mapping[str, Tensor], ...],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module` as `func.functional_call` does, of which it is the older name."""
    warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
    )
    return called_with(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def called_with(
    module: Module,
    parameters_and_buffers: Mapping[str, Tensor] | tuple[Mapping[str, Tensor], ...],
    args: Any,
    kwargs: dict[str, Any] | None,
    *,
    tie_weights: bool,
    strict: bool,
) -> Any:
    """Call `module` with these tensors, by dotted name, in the places of its own; its own stay as they are.

    With `tie_weights` a tensor given for one name of a shared parameter is taken for its other names too. `strict`
    raises RuntimeError for names that are missing or unknown; else an unknown name is an attribute during the call.
    """
    given = _joined(parameters_and_buffers)
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, given, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


@contextmanager
def _reparametrize_module(
    module: Module, parameters_and_buffers: dict[str, Tensor], tie_weights: bool = False, strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:  # fmt: skip
    """Let `module` have these tensors in the places of its own inside the block, by dotted name."""
    with _replaced(module, _for_all_names(module, parameters_and_buffers, tie_weights, strict)):
        yield


def _joined(parts: Any) -> dict[str, Tensor]:
    if isinstance(parts, Mapping):
        return dict(parts)
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, Mapping) for part in parts):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(parts)}"
        )
    counts = Counter(name for part in parts for name in part)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise ValueError(f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: tensor for part in parts for name, tensor in part.items()}


def _for_all_names(module: Module, given: dict[str, Tensor], tie_weights: bool, strict: bool) -> dict[str, Tensor]:
    names_of: dict[int, list[str]] = {}
    own: dict[str, Tensor] = {}
    for name, tensor in (
        *module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)
    ):  # fmt: skip
        own[name] = tensor
        names_of.setdefault(id(tensor), []).append(name)
    complete = dict(given)
    for name in given if tie_weights else ():
        for other in names_of[id(own[name])] if name in own else ():
            if complete.setdefault(other, given[name]) is not given[name]:
                raise ValueError(
                    f"functional_call got multiple values for keys {[name, other]}, which are tied. "
                    "Consider using tie_weights=False"
                )
    missing, unknown = sorted(own.keys() - complete.keys()), sorted(given.keys() - own.keys())
    if strict and (missing or unknown):
        named = (("Unexpected", unknown), ("Missing", missing))
        parts = [f"{kind} key(s): {', '.join(map(repr, keys))}." for kind, keys in named if keys]
        told = "\n\t".join([f"Error(s) in reparametrizing for {type(module).__name__}:", *parts])
        raise RuntimeError(told)
    return complete


@contextmanager
def _replaced(module: Module, tensors: dict[str, Tensor]) -> Iterator[None]:
    """Put the tensors in their places for the duration of the block."""
    places = [(*_place(module, path, tensor), tensor) for path, tensor in tensors.items()]
    before = [members.get(name, _ABSENT) for members, name, _ in places]
    try:
        for members, name, tensor in places:
            members[name] = tensor
        yield
    finally:
        for (members, name, _), tensor in zip(places, before, strict=True):
            if tensor is _ABSENT:
                members.pop(name, None)
            else:
                members[name] = tensor


def _place(module: Module, path: str, tensor: Tensor | None) -> tuple[dict[str, Any], str]:
    """Return the dictionary that holds what `path` names, and its key there; a new name is an attribute."""
    if not isinstance(tensor, Tensor | None):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    parent, _, name = path.rpartition(".")
    owner = module.get_submodule(parent)
    for members in (owner._parameters, owner._buffers):
        if name in members:
            return members, name
    present = getattr(owner, name, None)
    if not isinstance(present, Tensor | None):
        raise TypeError(f"attribute `{name}`: {present} is not an instance of torch.Tensor")
    return vars(owner), name
