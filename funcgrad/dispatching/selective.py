"""Selective checkpoints: a policy says of each function of aten whether its results are kept for the second run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad._tape.variable import Variable
from funcgrad._tensor.packets import Overload, Packet, packet
from funcgrad._tensor.tensor import Tensor
from funcgrad.dispatching.modes import TorchDispatchMode
from funcgrad.utils._pytree import tree_flatten, tree_map_only, tree_unflatten
from funcgrad.utils.checkpoint import CheckpointPolicy, SelectiveCheckpointContext

Policy = Callable[..., Any]
Kept = dict[Any, dict[int, Any]]  # by function, by which of its calls
_KEPT_POLICIES = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
_IGNORED = {packet("detach").default}
_AGAIN, _TAKEN = object(), object()
_OTHERWISE = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that "
    "changed between forward and backward."
)


def contexts(policy: Any) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """Return the modes of the two runs. policy: a function, or a list of the overloads whose results are kept."""
    if isinstance(policy, list):
        for op in policy:
            _check_is_overload(op)
        policy = _of_list(policy)
    elif not callable(policy):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    kept: Kept = {}
    return _Keeping(policy, kept), _Taking(kept)


def _check_is_overload(op: Any) -> None:
    if isinstance(op, Overload):
        return
    advice = (
        "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have `torch.ops.aten.mm`, "
        "change it to `torch.ops.aten.mm.default`."
    )
    is_packet = isinstance(op, Packet) or hasattr(op, "overloads")
    raise ValueError(
        f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {advice if is_packet else ''}"
    )


def _of_list(kept: list[Any]) -> Policy:
    def policy(ctx: SelectiveCheckpointContext, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        return CheckpointPolicy.MUST_SAVE if op in kept else CheckpointPolicy.PREFER_RECOMPUTE

    return policy


class _Counting(TorchDispatchMode):
    """Contract: `answer(func, number, args, kwargs)`, where number counts the calls of this function."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[Any, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _IGNORED:
            return func(*args, **(kwargs or {}))
        number = self.counts.get(func, 0)
        self.counts[func] = number + 1
        return self.answer(func, number, args, kwargs or {})

    def answer(self, func: Any, number: int, args: Any, kwargs: Any) -> Any:
        """Return what a call gives."""
        raise NotImplementedError


class _Keeping(_Counting):
    """The mode of the first run, which asks the policy."""

    def __init__(self, policy: Policy, kept: Kept) -> None:
        super().__init__()
        self.policy, self.kept = policy, kept

    def answer(self, func: Any, number: int, args: Any, kwargs: Any) -> Any:
        """Compute, and keep what the policy says."""
        result = func(*args, **kwargs)
        ctx = SelectiveCheckpointContext(is_recompute=False, op_output=result)
        chosen = self.policy(ctx, func, *args, **kwargs)
        is_kept = chosen if isinstance(chosen, bool) else chosen in _KEPT_POLICIES
        values = tree_map_only(Tensor, lambda x: x._current().detached(), result) if is_kept else _AGAIN
        self.kept.setdefault(func, {})[number] = values
        return result


class _Taking(_Counting):
    """The mode of the second run: what was kept stands in the place of what is computed."""

    def __init__(self, kept: Kept) -> None:
        super().__init__()
        self.kept = kept

    def __enter__(self) -> Any:
        self.counts.clear()
        return super().__enter__()

    def answer(self, func: Any, number: int, args: Any, kwargs: Any) -> Any:
        """Return the kept result, with the history of the call. RuntimeError: the runs are not alike."""
        if func not in self.kept:
            raise RuntimeError(f"{func} encountered during backward but not found in storage. {_OTHERWISE}")
        found = self.kept[func].get(number)
        if found is None:
            raise RuntimeError(
                f"{func} invocation index {number} encountered during backward but not found in storage. {_OTHERWISE}"
            )
        if found is _TAKEN:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                "selective activation checkpoint."
            )
        result = func(*args, **kwargs)  # its node is needed; what it computes XLA leaves out where nobody reads it
        if found is _AGAIN:
            return result
        self.kept[func][number] = _TAKEN
        return _in_place_of(result, found)


def _in_place_of(result: Any, kept: Any) -> Any:
    leaves, spec = tree_flatten(result)
    values, _ = tree_flatten(kept)
    pairs = zip(leaves, values, strict=True)
    return tree_unflatten([_with_value(x, value) if isinstance(x, Tensor) else x for x, value in pairs], spec)


def _with_value(result: Tensor, kept: Variable) -> Tensor:
    variable = result._current()
    return Tensor._of(Variable(kept.value, variable.node, variable.index))
