"""create_selective_checkpoint_contexts asks a policy in the first run, and the second takes what was kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import pytest

import funcgrad as torch
from funcgrad.utils.checkpoint import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    checkpoint,
    create_selective_checkpoint_contexts,
)

aten = torch.ops.aten


def through(function: Callable[..., Any], *args: Any, policy: Any, **options: Any) -> Any:
    contexts = partial(create_selective_checkpoint_contexts, policy)
    return checkpoint(function, *args, use_reentrant=False, context_fn=contexts, **options)


def layers(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(x @ w @ w).sum()


def test_a_policy_is_asked_of_each_function_in_the_first_run_alone() -> None:
    asked: list[tuple[bool, str, int, bool]] = []

    def policy(ctx: SelectiveCheckpointContext, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        asked.append((ctx.is_recompute, str(op), len(args), isinstance(ctx.op_output, torch.Tensor)))
        return CheckpointPolicy.MUST_SAVE if op is aten.mm.default else CheckpointPolicy.PREFER_RECOMPUTE

    x, w = torch.rand(2, 3, requires_grad=True), torch.rand(3, 3)
    (wanted,) = torch.autograd.grad(layers(x, w), x)
    result = through(layers, x, w, policy=policy)
    before = list(asked)
    assert torch.allclose(torch.autograd.grad(result, x)[0], wanted)
    assert asked == before
    assert [name for _, name, *_ in asked] == [f"aten.{f}.default" for f in ("mm", "mm", "sigmoid", "sum")]
    assert asked[0] == (False, "aten.mm.default", 2, True)


@pytest.mark.parametrize("policy", [[aten.rand_like.default], lambda ctx, op, *a, **k: op is aten.rand_like.default])
def test_what_was_kept_stands_in_the_place_of_what_is_computed(policy: Any) -> None:
    x = torch.ones(50, requires_grad=True)
    factors: list[torch.Tensor] = []

    def scaled(x: torch.Tensor) -> torch.Tensor:
        factors.append(torch.rand_like(x))
        return x * factors[-1]

    through(scaled, x, policy=policy, preserve_rng_state=False).sum().backward()
    assert len(factors) == 2
    assert x.grad is not None
    assert torch.equal(x.grad, factors[0])
    x.grad.zero_()
    through(scaled, x, policy=[], preserve_rng_state=False).sum().backward()
    assert torch.equal(x.grad, factors[3])
    assert not torch.equal(factors[2], factors[3])


def test_a_region_is_passed_backward_once() -> None:
    x = torch.rand(2, 3, requires_grad=True)
    result = through(layers, x, torch.rand(3, 3), policy=[aten.mm.default])
    result.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        result.backward()


def test_another_run_with_other_functions_is_refused() -> None:
    turns = iter((True, False))

    def fickle(x: torch.Tensor) -> torch.Tensor:
        return x.sin() if next(turns) else x.cos()

    result = through(fickle, torch.ones(1, requires_grad=True), policy=[aten.sin.default])
    with pytest.raises(RuntimeError, match=r"aten.cos.default encountered during backward but not found in storage"):
        result.backward()


def test_a_list_holds_overloads() -> None:
    with pytest.raises(ValueError, match=r"but got: aten\.mm of type .* change it to `torch\.ops\.aten\.mm\.default`"):
        create_selective_checkpoint_contexts([aten.mm])
    with pytest.raises(TypeError, match="either a function or a list of ops"):
        create_selective_checkpoint_contexts(3)


def test_a_context_that_swallows_what_the_function_raises_is_refused() -> None:
    @contextmanager
    def swallowing() -> Iterator[None]:
        with suppress(KeyError):
            yield

    def failing(x: torch.Tensor) -> torch.Tensor:
        raise KeyError

    contexts = (swallowing(), swallowing())
    with pytest.raises(RuntimeError, match="suppressed an exception raised during the checkpointed forward"):
        checkpoint(failing, torch.ones(1), use_reentrant=False, context_fn=lambda: contexts)
    with pytest.raises(ValueError, match="debug=True is incompatible with non-default context_fn"):
        checkpoint(
            failing, torch.ones(1), use_reentrant=False, debug=True, context_fn=lambda: (swallowing(), swallowing())
        )
