"""checkpoint gives the same numbers, and really lets go of what the function computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import jax
import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._base.config import settings
from funcgrad.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential, detach_variable


def blocks(width: int = 8, count: int = 4) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        *[nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(0.2), nn.Linear(4 * width, width))
          for _ in range(count)]
    )  # fmt: skip


def outcome(through: Callable[[nn.Module, torch.Tensor], torch.Tensor]) -> list[np.ndarray[Any, Any]]:
    """Return the loss, gradients and the random number that comes next."""
    model, x = blocks(), torch.randn(5, 8, requires_grad=True)
    h = x
    for block in model:
        h = through(block, h)
    loss = (h**2).sum()
    loss.backward()
    assert x.grad is not None
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    return [t.detach().numpy() for t in (loss, x.grad, torch.rand(1), *gradients)]


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_numbers_are_those_without_it_dropout_and_all(use_reentrant: bool) -> None:
    plain = outcome(lambda block, h: block(h))
    again = outcome(lambda block, h: checkpoint(block, h, use_reentrant=use_reentrant))
    assert len(plain) == 3 + 16
    for found, expected in zip(again, plain, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_it_is_applied_as_a_function_too() -> None:
    x, runs = torch.tensor([1.0, 2.0], requires_grad=True), []

    def cubed(x: torch.Tensor) -> torch.Tensor:
        runs.append(len(runs))
        return x**3

    y = torch.utils.checkpoint.CheckpointFunction.apply(cubed, True, x)
    y.sum().backward()
    assert (x.grad.tolist(), len(runs)) == ([3.0, 12.0], 2)


def test_the_function_runs_again_in_backward_only() -> None:
    calls = []

    def counted(x: torch.Tensor) -> torch.Tensor:
        calls.append(torch.is_grad_enabled())
        return x.sin().cos()

    x = torch.ones(2, requires_grad=True)
    result = checkpoint(counted, x, use_reentrant=False).sum()
    assert calls == [True]
    result.backward()
    assert calls == [True, True]
    with torch.no_grad():
        checkpoint(counted, x, use_reentrant=False)
    assert calls == [True, True, False]


@contextmanager
def temporaries(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Yield a list that gets the bytes of temporaries of every program that is run inside."""
    found: list[int] = []
    jit = jax.jit

    def measuring(function: Any, **options: Any) -> Any:
        compiled = jit(function, **options)

        def run(*args: Any) -> Any:
            found.append(compiled.lower(*args).compile().memory_analysis().temp_size_in_bytes)
            return compiled(*args)

        return run

    with monkeypatch.context() as patch:
        patch.setattr("funcgrad._program.plan.jax.jit", measuring)
        patch.setattr(settings, "host", False)
        yield found


@pytest.mark.skipif(settings.eager, reason="programs are measured, of which there are none")
def test_memory_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    for through in (lambda block, h: block(h), lambda block, h: checkpoint(block, h, use_reentrant=False)):
        model, x = blocks(width=16, count=8).eval(), torch.randn(1024, 16)
        x.numpy()
        with temporaries(monkeypatch) as found:
            h = x
            for block in model:
                h = through(block, h)
            (h**2).mean().backward()
            weight = model[0][0].weight
            assert weight.grad is not None
            weight.grad.numpy()
        used.append(max(found))
    assert used[1] < used[0] / 2


def test_second_derivatives_go_through() -> None:
    x, w = (torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True) for _ in range(2))

    def curve(x: torch.Tensor) -> torch.Tensor:
        return (x.sin() * w).exp().sum()

    found = []
    for result in (curve(x), checkpoint(curve, x, use_reentrant=False)):
        (gradient,) = torch.autograd.grad(result, x, create_graph=True)
        found.append(torch.autograd.grad(gradient.sum(), (x, w)))
    for plain, again in zip(*found, strict=True):
        np.testing.assert_allclose(again.numpy(), plain.numpy())


def test_checkpoints_nest_and_graphs_can_be_kept() -> None:
    x = torch.ones(3, requires_grad=True)

    def inner(u: torch.Tensor) -> torch.Tensor:
        return u.sin() * u

    def outer(t: torch.Tensor) -> torch.Tensor:
        return checkpoint(inner, t * 2, use_reentrant=False).exp().sum()

    result = checkpoint(outer, x, use_reentrant=False)
    result.backward(retain_graph=True)
    assert x.grad is not None
    first = x.grad.clone()
    result.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * first.numpy())
    with pytest.raises(RuntimeError, match="second time"):
        result.backward()


def test_arguments_of_all_kinds_keep_their_values() -> None:
    x, scale = torch.ones(2, requires_grad=True), torch.full((2,), 3.0)

    def scaled(pair: dict[str, torch.Tensor], power: int, *, shift: float) -> tuple[torch.Tensor, str]:
        return pair["x"] ** power * pair["scale"] + shift, "told"

    result, word = checkpoint(scaled, {"x": x, "scale": scale}, 2, shift=1.0, use_reentrant=False)
    scale.fill_(100.0)
    result.sum().backward()
    assert word == "told" and x.grad is not None and x.grad.tolist() == [6.0, 6.0]


def test_functions_of_ones_own_save_nothing_either() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            (x,) = ctx.saved_tensors
            return 2 * x * gradient

    x = torch.tensor([3.0], requires_grad=True)
    checkpoint(Square.apply, x, use_reentrant=False).backward()
    assert x.grad is not None and x.grad.item() == 6


def test_autocast_is_on_again() -> None:
    layer, seen = nn.Linear(2, 2), []

    def forward(x: torch.Tensor) -> torch.Tensor:
        seen.append(layer(x).dtype)
        return layer(x).sum()

    with torch.autocast("cpu"):
        result = checkpoint(forward, torch.ones(1, 2, requires_grad=True), use_reentrant=False)
    result.backward()
    assert seen == [torch.bfloat16, torch.bfloat16]


def checkpointed(block: Callable[..., Any]) -> Callable[[torch.Tensor], Any]:
    return lambda x: checkpoint(block, x, use_reentrant=False)


def checkpointed_within(block: Callable[..., Any]) -> Callable[[torch.Tensor], Any]:
    return checkpointed(lambda x: checkpointed(block)(x) + block(x))


@pytest.mark.parametrize("is_called_before", [False, True])
@pytest.mark.parametrize(
    ("again", "once"), [(checkpointed, lambda f: f), (checkpointed_within, lambda f: lambda x: f(x) + f(x))]
)
def test_checkpointed_calls_share_the_casts_of_autocast(again: Any, once: Any, is_called_before: bool) -> None:
    torch.manual_seed(0)
    layer, x = nn.Linear(6, 6), torch.randn(3, 6, requires_grad=True)

    def gradients(through: Any) -> tuple[torch.Tensor, ...]:
        with torch.autocast("cpu"):
            y = layer(x) + layer(2 * x) if is_called_before else x
            y = through(layer)(y) + through(lambda x: layer(x.relu()) + layer(x))(x)
        return torch.autograd.grad(y.float().pow(2).sum(), [x, layer.weight, layer.bias])

    for found, expected in zip(gradients(again), gradients(once), strict=True):
        torch.testing.assert_close(found, expected, rtol=0.02, atol=0.01 * expected.abs().max().item())


def test_contexts_surround_the_two_runs() -> None:
    entered: list[str] = []

    @contextmanager
    def named(name: str) -> Iterator[None]:
        entered.append(name)
        yield

    x = torch.ones(1, requires_grad=True)
    checkpoint(torch.sin, x, use_reentrant=False, context_fn=lambda: (named("first"), named("again"))).backward()
    assert entered == ["first", "again"]


@pytest.mark.parametrize("segments", [1, 2, 3])
def test_sequential_parts(segments: int) -> None:
    model, x = blocks().eval(), torch.randn(2, 8, requires_grad=True)
    model(x).sum().backward()
    assert x.grad is not None
    expected, x.grad = x.grad, None
    checkpoint_sequential(model, segments, x, use_reentrant=False).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), expected.numpy(), rtol=1e-5)


def test_another_run_that_does_something_else_is_an_error() -> None:
    turns = iter((True, False))

    def fickle(x: torch.Tensor) -> torch.Tensor:
        return x.sin().cos() if next(turns) else x.sin()

    result = checkpoint(fickle, torch.ones(1, requires_grad=True), use_reentrant=False)
    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        result.backward()


def test_what_to_pass_is_said() -> None:
    x = torch.ones(1)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(torch.sin, x.clone().requires_grad_())
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        assert not checkpoint(torch.sin, x, use_reentrant=True).requires_grad
    with pytest.raises(ValueError, match="Unexpected keyword arguments: y"):
        checkpoint(torch.sin, x, use_reentrant=True, y=1)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: y"):
        checkpoint_sequential([torch.sin], 1, x, use_reentrant=True, y=1)


def test_torchs_switches_change_no_numbers() -> None:
    kit = torch.utils.checkpoint
    layer, x = nn.Linear(2, 2), torch.ones(1, 2, requires_grad=True)
    (wanted,) = torch.autograd.grad(layer(x).sum(), x)
    with kit.set_checkpoint_early_stop(False), kit.set_checkpoint_debug_enabled(True):
        result = checkpoint(layer, x, use_reentrant=False)
    assert torch.equal(torch.autograd.grad(result.sum(), x)[0], wanted)


def test_options_that_torch_refuses_are_refused() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match=r"^determinism_check should be one of \['default', 'none'\], but got all$"):
        checkpoint(torch.sin, x, use_reentrant=False, determinism_check="all")
    given: Any = [x]
    with pytest.raises(RuntimeError, match="Got Unsupported input type: list"):
        detach_variable(given)


def fickle(*functions: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    turns = iter(functions)
    return lambda x: next(turns)(x)


def ones() -> torch.Tensor:
    return torch.ones(2, requires_grad=True)


@pytest.mark.parametrize(("stops", "ends"), [(True, 1), (False, 2)])
def test_the_second_run_ends_where_all_is_there(stops: bool, ends: int) -> None:
    ended: list[str] = []

    def told(x: torch.Tensor) -> torch.Tensor:
        y = (x * 2).sin() + 1
        ended.append("end")
        return y

    checkpoint(told, ones(), use_reentrant=False, early_stop=stops).sum().backward()
    with torch.utils.checkpoint.set_checkpoint_early_stop(stops):
        result = checkpoint(told, ones(), use_reentrant=False, early_stop=not stops)
    result.sum().backward()
    assert len(ended) == 2 * ends


def test_a_block_runs_again_once_for_each_backward_pass() -> None:
    runs: list[int] = []

    def two(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        runs.append(0)
        return x.exp(), x.sin()

    a, b = checkpoint(two, ones(), use_reentrant=False)
    a.sum().backward(retain_graph=True)
    b.sum().backward()
    assert len(runs) == 3
    a, b = checkpoint(two, ones(), use_reentrant=False)
    with torch.utils.checkpoint.GraphExecGroup():
        a.sum().backward(retain_graph=True)
        b.sum().backward()
        assert len(runs) == 5
        with pytest.raises(RuntimeError, match=r"^GraphExecGroup contexts cannot be nested"):
            torch.utils.checkpoint.GraphExecGroup().__enter__()


def test_what_is_taken_twice_is_told_of() -> None:
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x.exp())
            return x.exp()

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            (_,), (y,) = ctx.saved_tensors, ctx.saved_tensors
            return gradient * y

    with pytest.raises(CheckpointError, match=r"unpacked once\. If you are calling ctx\.saved_tensors in backward"):
        checkpoint(Exp.apply, ones(), use_reentrant=False).sum().backward()


def test_what_a_function_saves_of_its_results_has_their_history() -> None:
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            (y,) = ctx.saved_tensors
            return gradient * y

    x = torch.zeros(2, requires_grad=True)
    (once,) = torch.autograd.grad(checkpoint(Exp.apply, x, use_reentrant=False).sum(), x, create_graph=True)
    (twice,) = torch.autograd.grad(once.sum(), x)
    assert twice.tolist() == [1.0, 1.0]


def test_the_numbers_of_saved_tensors_are_told() -> None:
    function = fickle(lambda x: x.sin().cos(), torch.sin)
    with pytest.raises(CheckpointError) as told:
        checkpoint(function, ones(), use_reentrant=False).sum().backward()
    assert str(told.value).startswith(
        "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
        "recomputation.\nNumber of tensors saved during forward: 2\n"
        "Number of tensors saved during recomputation: 1.\n\nTip: To see a more detailed error message, either pass "
        "`debug=True` to\n"
    )
    assert CheckpointError.__module__ == "torch.utils.checkpoint"
    function = fickle(torch.sin, lambda x: x.sin().cos())
    with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation than during the"):
        checkpoint(function, ones(), use_reentrant=False, early_stop=False).sum().backward()


def test_shapes_and_dtypes_are_compared_unless_that_is_switched_off() -> None:
    def first_or_all() -> Any:
        return fickle(lambda x: (x * 2).sin(), lambda x: x[:1].double().sin())

    with pytest.raises(CheckpointError) as told:
        checkpoint(first_or_all(), ones(), use_reentrant=False).sum().backward()
    assert (
        "have different metadata than during the forward pass.\ntensor at position 0:\n"
        "saved metadata: {'shape': torch.Size([2]), 'dtype': torch.float32, 'device': device(type='cpu')}\n"
        "recomputed metadata: {'shape': torch.Size([1]), 'dtype': torch.float64, 'device': device(type='cpu')}\n.\n"
    ) in str(told.value)
    x = ones()
    checkpoint(
        fickle(torch.sin, lambda x: x[:1].sin()), x, use_reentrant=False, determinism_check="none"
    ).sum().backward()
    assert x.grad is not None and x.grad.shape == (2,)


def test_debug_lists_what_was_called_and_where() -> None:
    function = fickle(lambda x: x.sin().cos(), torch.sin)
    with pytest.raises(CheckpointError) as told:
        checkpoint(function, ones(), use_reentrant=False, debug=True).sum().backward()
    text = str(told.value)
    assert text.startswith(" An error happened while unpacking tensors; dumping logs of latest computation\n")
    assert "$2: f32[2] = torch._ops.aten.cos.default($1)   (2 of 2 in original)\n\n" in text
    assert f"{__file__}:" in text
    called = text.partition("Operations executed during recomputation:\n\n")[2].partition("\n\n")[0]
    assert called == "$1: f32[2] = torch._ops.aten.sin.default($0)"
    with pytest.raises(ValueError, match=r"^debug=True is incompatible with non-default context_fn$"):
        checkpoint(
            torch.sin, ones(), use_reentrant=False, debug=True, context_fn=lambda: (nullcontext(), nullcontext())
        )


def test_a_reentrant_one_is_one_node_for_all_leaves() -> None:
    layer, x = nn.Linear(2, 2), ones()
    y = checkpoint(layer, x, use_reentrant=True)
    assert y.grad_fn is not None and y.grad_fn.name() == "CheckpointFunctionBackward"
    refused = r"^When use_reentrant=True, torch\.utils\.checkpoint is incompatible with \.grad\(\)"
    with pytest.raises(RuntimeError, match=refused):
        torch.autograd.grad(y.sum(), x, retain_graph=True)
    with pytest.raises(RuntimeError, match=refused):
        y.sum().backward(inputs=[x], retain_graph=True)
    y.sum().backward()
    assert x.grad is not None and torch.equal(x.grad, layer.weight.detach().sum(0))
    assert layer.weight.grad is not None and layer.weight.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(RuntimeError, match=r"^none of output has requires_grad=True, this checkpoint"):
        checkpoint(lambda x: x.detach() * 2, ones(), use_reentrant=True).sum().backward()
