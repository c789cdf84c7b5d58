"""What torch.optim.Optimizer promises: groups, state, checkpoints, hooks, printing, and what people ask of it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.optim import tensor_groups
from funcgrad.optim.optimizer import (
    Optimizer,
    _use_grad_for_differentiable,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
    required,
)
from tests.optim.running import parameter, recorded

TEXTS = recorded("texts")


def stepped(optimizer: Any, *params: torch.Tensor, times: int = 1) -> None:
    """Backward of the sum of squares, then a step."""
    for _ in range(times):
        optimizer.zero_grad()
        sum((param * param).sum() for param in params).backward()
        optimizer.step()


def test_sgd_subtracts_lr_times_grad() -> None:
    w = parameter(3.0)
    optimizer = torch.optim.SGD([w], lr=0.1)
    (w * 2).backward()
    assert w.item() == 3.0
    optimizer.step()
    assert w.item() == np.float32(2.8)


def test_zero_grad_clears_only_its_own_parameters() -> None:
    mine, other = parameter([1.0]), parameter([1.0])
    optimizer = torch.optim.SGD([mine], lr=0.1)
    (mine * other).backward()
    optimizer.zero_grad()
    assert mine.grad is None
    assert other.grad.item() == 1.0


def test_without_zero_grad_gradients_add_up() -> None:
    w = parameter(2.0)
    optimizer = torch.optim.SGD([w], lr=0.0)
    for turn in range(3):
        (w * w).backward()
        optimizer.step()
        assert w.grad.item() == 4.0 * (turn + 1)


def test_a_step_without_backward_changes_nothing_and_makes_no_state() -> None:
    w = parameter([1.0, 2.0])
    optimizer = torch.optim.Adam([w])
    optimizer.step()
    assert w.tolist() == [1.0, 2.0]
    assert len(optimizer.state) == 0


def test_the_optimizer_holds_the_very_same_parameters() -> None:
    params = [parameter([1.0]), parameter([2.0])]
    held = torch.optim.Adam(iter(params)).param_groups[0]["params"]
    assert all(a is b for a, b in zip(held, params, strict=True))


def test_the_count_of_steps_stands_first_in_the_state() -> None:
    w = parameter([1.0])
    for kind, rest in (
        (torch.optim.NAdam, ["mu_product", "exp_avg", "exp_avg_sq"]),
        (torch.optim.ASGD, ["eta", "mu", "ax"]),
    ):
        optimizer = kind([w])
        stepped(optimizer, w)
        assert list(optimizer.state[w]) == ["step", *rest]


def test_zero_grad_keeps_the_state() -> None:
    w = parameter([1.0])
    optimizer = torch.optim.Adam([w])
    stepped(optimizer, w)
    before = dict(optimizer.state[w])
    optimizer.zero_grad()
    assert set(before) == {"step", "exp_avg", "exp_avg_sq"}
    assert all(optimizer.state[w][name] is kept for name, kept in before.items())


def test_an_idle_head_is_skipped_and_counts_its_own_steps() -> None:
    trunk, first, second = (parameter([1.0, -1.0]) for _ in range(3))
    optimizer = torch.optim.Adam([trunk, first, second], lr=0.1)
    stepped(optimizer, trunk, first, times=2)
    assert second not in optimizer.state or not optimizer.state[second]
    still = second.tolist(), first.tolist()
    assert still[0] == [1.0, -1.0]
    stepped(optimizer, trunk, second)
    assert first.tolist() == still[1]
    assert [optimizer.state[p]["step"].item() for p in (trunk, first, second)] == [3.0, 2.0, 1.0]
    alone = parameter([1.0, -1.0])
    stepped(torch.optim.Adam([alone], lr=0.1), alone)
    np.testing.assert_allclose(second.detach().numpy(), alone.detach().numpy(), rtol=1e-6)


def test_an_idle_head_moves_on_when_its_gradients_are_zeros() -> None:
    trunk, head = parameter([1.0]), parameter([1.0])
    optimizer = torch.optim.Adam([trunk, head], lr=0.1)
    stepped(optimizer, trunk, head)
    before = head.item()
    gradient = head.grad
    optimizer.zero_grad(set_to_none=False)
    assert head.grad is gradient
    assert gradient.tolist() == [0.0]
    (trunk * trunk).sum().backward()
    optimizer.step()
    assert head.item() != before
    assert optimizer.state[head]["step"].item() == 2.0


def test_zeros_are_zeros_even_where_a_gradient_was_nan() -> None:
    w = parameter([1.0])
    w.grad = torch.tensor([float("nan")])
    torch.optim.SGD([w], lr=0.1).zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0.0]


def test_two_optimizers_have_two_momenta() -> None:
    w = parameter([1.0])
    one, two = (torch.optim.SGD([w], lr=lr, momentum=0.9) for lr in (0.1, 0.2))
    stepped(one, w)
    stepped(two, w)
    assert one.state[w]["momentum_buffer"] is not two.state[w]["momentum_buffer"]
    assert one.state[w]["momentum_buffer"].tolist() != two.state[w]["momentum_buffer"].tolist()


def test_groups_have_their_own_rates() -> None:
    slow, fast = parameter([1.0]), parameter([1.0])
    optimizer = torch.optim.SGD([{"params": [slow]}, {"params": fast, "lr": 0.5}], lr=0.1)
    stepped(optimizer, slow, fast)
    np.testing.assert_allclose([slow.item(), fast.item()], [0.8, 0.0], atol=1e-7)


def test_add_param_group_later() -> None:
    first, second = parameter([1.0]), parameter([1.0])
    optimizer = torch.optim.Adam([first], lr=0.1)
    stepped(optimizer, first)
    optimizer.add_param_group({"params": second, "lr": 0.5})
    stepped(optimizer, first, second)
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.5]
    np.testing.assert_allclose(second.item(), 0.5, atol=1e-6)


def test_a_parameter_listed_twice_is_stepped_twice() -> None:
    w = parameter([1.0])
    with pytest.warns(UserWarning, match="optimizer contains a parameter group with duplicate parameters"):
        optimizer = torch.optim.SGD([w, w], lr=0.25)
    w.grad = torch.tensor([1.0])
    optimizer.step()
    assert w.tolist() == [0.5]


def test_what_stands_for_a_required_option_has_its_class() -> None:
    assert (repr(required), type(required).__name__) == ("<required parameter>", "_RequiredParameter")


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda w: torch.optim.SGD([], lr=0.1), ValueError, "optimizer got an empty parameter list"),
        (
            lambda w: torch.optim.SGD(w, lr=0.1),
            TypeError,
            "params argument given to the optimizer should be an iterable",
        ),
        (lambda w: torch.optim.SGD([[w]], lr=0.1), TypeError, "but one of the params is list"),
        (lambda w: torch.optim.SGD([w * 2], lr=0.1), ValueError, "can't optimize a non-leaf Tensor"),
        (
            lambda w: torch.optim.SGD([{"params": {w}}], lr=0.1),
            TypeError,
            "need to be organized in ordered collections",
        ),
        (
            lambda w: torch.optim.SGD([{"params": w}, {"params": w}]),
            ValueError,
            "appear in more than one parameter group",
        ),
        (lambda w: torch.optim.SGD([w], lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda w: torch.optim.SGD([w], lr=torch.tensor([1.0, 2.0])), ValueError, "Tensor lr must be 1-element"),
        (lambda w: torch.optim.SGD([w], momentum=-0.5), ValueError, "Invalid momentum value: -0.5"),
        (
            lambda w: torch.optim.SGD([w], nesterov=True),
            ValueError,
            "Nesterov momentum requires a momentum and zero damp",
        ),
        (lambda w: torch.optim.Adam([w], betas=(0.9, 1.0)), ValueError, "Invalid beta parameter at index 1: 1.0"),
        (
            lambda w: torch.optim.AdamW([w], betas=(0, 0.9)),
            ValueError,
            "betas must be either both floats or both Tensors",
        ),
        (lambda w: torch.optim.Adam([w], eps=-1e-8), ValueError, "Invalid epsilon value: -1e-08"),
        (lambda w: torch.optim.Adam([w], fused=True, foreach=True), RuntimeError, "cannot be `True` together"),
        (lambda w: torch.optim.RMSprop([w], alpha=-1), ValueError, "Invalid alpha value: -1"),
        (lambda w: torch.optim.Adadelta([w], rho=2), ValueError, "Invalid rho value: 2"),
        (lambda w: torch.optim.Rprop([w], etas=(1, 2)), ValueError, "Invalid eta values: 1, 2"),
        (lambda w: torch.optim.Muon([w]), ValueError, "Muon only supports 2D parameters"),
        (
            lambda w: torch.optim.LBFGS([{"params": w}, {"params": parameter(0.0)}]),
            ValueError,
            "doesn't support per-param",
        ),
        (
            lambda w: Optimizer([w], {"lr": required}),
            ValueError,
            "didn't specify a value of required optimization param",
        ),
        (lambda w: torch.optim.SGD([("w", w), parameter(0.0)]), ValueError, "Some param names are missing"),
    ],
)
def test_mistakes_are_named(build: Callable[[Any], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        build(parameter([1.0]))


def test_named_parameters_keep_their_names() -> None:
    a, b = parameter([1.0]), parameter([2.0])
    optimizer = torch.optim.Adam([("a", a), ("b", b)])
    assert optimizer.param_groups[0]["params"] == [a, b]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["a", "b"]
    with pytest.raises(ValueError, match="cannot add param group without names"):
        optimizer.add_param_group({"params": [parameter([0.0])]})


@pytest.mark.parametrize("name", list(TEXTS))
def test_printing_and_checkpoint_keys_are_those_of_torch(name: str) -> None:
    groups = [{"params": parameter(np.zeros((2, 2), "float32"))} for _ in range(1 if name == "LBFGS" else 2)]
    optimizer = getattr(torch.optim, name)(groups)
    assert repr(optimizer) == TEXTS[name]["repr"]
    assert set(optimizer.state_dict()["param_groups"][0]) == set(TEXTS[name]["keys"])


def test_a_checkpoint_has_numbers_in_place_of_parameters() -> None:
    a, b = parameter([1.0]), parameter([1.0, 2.0])
    optimizer = torch.optim.Adam([{"params": [a]}, {"params": [b]}])
    stepped(optimizer, a, b)
    saved = optimizer.state_dict()
    assert [group["params"] for group in saved["param_groups"]] == [[0], [1]]
    assert set(saved["state"]) == {0, 1}
    assert saved["state"][1]["exp_avg"] is optimizer.state[b]["exp_avg"]


@pytest.mark.parametrize("name", ["SGD", "Adam", "NAdam", "Adafactor", "Rprop"])
def test_a_checkpoint_goes_on_where_it_was(name: str) -> None:
    options = {"lr": 0.01, "momentum": 0.9} if name == "SGD" else {"lr": 0.01}
    a, b = parameter([[1.0, 2.0]]), parameter([3.0])
    optimizer = getattr(torch.optim, name)([a, b], **options)
    stepped(optimizer, a, b, times=2)
    a2, b2 = parameter(a.detach().numpy()), parameter(b.detach().numpy())
    again = getattr(torch.optim, name)([a2, b2], lr=0.5)
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert again.param_groups[0]["lr"] == 0.01
    stepped(optimizer, a, b, times=2)
    stepped(again, a2, b2, times=2)
    assert (a2.tolist(), b2.tolist()) == (a.tolist(), b.tolist())


def test_a_checkpoint_that_does_not_fit_is_refused() -> None:
    saved = torch.optim.SGD([parameter([1.0])], lr=0.1).state_dict()
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        torch.optim.SGD([parameter([1.0]), parameter([1.0])], lr=0.1).load_state_dict(saved)
    two = torch.optim.SGD([{"params": parameter([1.0])}, {"params": parameter([1.0])}], lr=0.1)
    with pytest.raises(ValueError, match="loaded state dict has a different number of parameter groups"):
        two.load_state_dict(saved)


def test_old_checkpoints_without_an_option_get_the_default() -> None:
    w = parameter([1.0])
    saved = torch.optim.Adam([w]).state_dict()
    del saved["param_groups"][0]["maximize"]
    saved["state"] = {0: {"step": 3, "exp_avg": torch.zeros(1), "exp_avg_sq": torch.ones(1)}}
    optimizer = torch.optim.Adam([w])
    optimizer.load_state_dict(saved)
    stepped(optimizer, w)
    assert optimizer.state[w]["step"].item() == 4.0


def test_copies_go_their_own_way() -> None:
    w = parameter([1.0])
    optimizer = torch.optim.Adam([w], lr=0.1)
    stepped(optimizer, w)
    copied = copy.deepcopy(optimizer)
    (w2,) = copied.param_groups[0]["params"]
    assert w2 is not w
    stepped(optimizer, w)
    assert copied.state[w2]["step"].item() == 1.0
    stepped(copied, w2)
    assert w2.tolist() == w.tolist()


def test_optimizers_can_be_pickled() -> None:
    w = parameter([1.0])
    optimizer = torch.optim.Adam([w], lr=0.1)
    stepped(optimizer, w)
    again = pickle.loads(pickle.dumps(optimizer))
    (w2,) = again.param_groups[0]["params"]
    stepped(optimizer, w)
    stepped(again, w2)
    assert w2.tolist() == w.tolist()


def test_step_returns_what_the_closure_computes_with_gradients_on() -> None:
    w = parameter([2.0])
    optimizer = torch.optim.SGD([w], lr=0.25)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 4.0
    assert w.tolist() == [1.0]


def test_hooks_run_around_a_step_in_order() -> None:
    seen: list[Any] = []
    w = parameter([1.0])
    optimizer = torch.optim.SGD([w], lr=0.1)
    handles = [
        register_optimizer_step_pre_hook(lambda *call: seen.append("every, before")),
        register_optimizer_step_post_hook(lambda *call: seen.append("every, after")),
        optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append((o is optimizer, args, kwargs))),
        optimizer.register_step_post_hook(lambda *call: seen.append("after")),
    ]
    optimizer.step()
    assert seen == ["every, before", (True, (optimizer,), {}), "after", "every, after"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 4


def test_a_hook_before_a_step_can_change_its_arguments() -> None:
    w = parameter([1.0])
    optimizer = torch.optim.SGD([w], lr=0.1)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: (args, {"closure": lambda: "changed"}))
    assert optimizer.step() == "changed"
    optimizer.register_step_pre_hook(lambda *call: "neither")
    with pytest.raises(
        RuntimeError, match="must return None or a tuple of \\(new_args, new_kwargs\\), but got neither"
    ):
        optimizer.step()


def test_hooks_of_checkpoints_see_and_change_them() -> None:
    optimizer = torch.optim.SGD([parameter([1.0])], lr=0.1)
    seen = []
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("before"))
    optimizer.register_state_dict_post_hook(lambda o, saved: {**saved, "more": 1})
    optimizer.register_state_dict_post_hook(lambda o, saved: seen.append("more" in saved), prepend=True)
    optimizer.register_load_state_dict_pre_hook(lambda o, saved: seen.append("loading"))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    saved = optimizer.state_dict()
    optimizer.load_state_dict(saved)
    assert saved["more"] == 1
    assert seen == ["before", False, "loading", "loaded"]


class SignDescent(Optimizer):
    """The optimizer that a user writes: sign of the gradient, with a count in the state."""

    def __init__(self, params: Any, lr: float = 0.1) -> None:
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["mean"] = torch.zeros_like(p)
                state["step"] += 1
                state["mean"].mul_(0.5).add_(p.grad, alpha=0.5)
                p.add_(torch.sign(state["mean"]), alpha=-group["lr"])


def test_optimizers_of_ones_own_work_as_in_torch() -> None:
    w = parameter([1.0, -1.0])
    optimizer = SignDescent([w], lr=0.5)
    calls = []
    optimizer.register_step_post_hook(lambda *call: calls.append(1))
    stepped(optimizer, w)
    assert w.tolist() == [0.5, -0.5]
    again = SignDescent([w])
    again.load_state_dict(optimizer.state_dict())
    assert again.state[w]["step"] == 1
    assert set(again.param_groups[0]) == {"params", "lr"}  # and no option of the optimizers that are there
    assert again.state[w]["mean"].tolist() == [1.0, -1.0]
    assert calls == [1]
    assert "lr: 0.5" in repr(optimizer)


def test_a_wrapper_that_calls_no_init_steps_what_it_wraps() -> None:
    class Slow(torch.optim.Optimizer):
        def __init__(self, optimizer: torch.optim.Optimizer) -> None:
            self.optimizer, self.param_groups = optimizer, optimizer.param_groups

        def step(self, closure: Any = None) -> Any:
            self.optimizer.step(closure)
            for p in self.param_groups[0]["params"]:
                p.data.mul_(0.5)

    w = parameter([2.0])
    stepped(Slow(torch.optim.SGD([w], lr=0.0)), w)
    assert w.tolist() == [1.0]


def test_a_subclass_that_calls_super_has_its_hooks_run_once() -> None:
    class Counting(torch.optim.Adam):
        steps = 0

        def step(self, closure: Any = None) -> Any:
            self.steps += 1
            return super().step(closure)

    w = parameter([1.0])
    optimizer = Counting([w])
    calls = []
    optimizer.register_step_pre_hook(lambda *call: calls.append(1))
    stepped(optimizer, w, times=2)
    assert (optimizer.steps, len(calls)) == (2, 2)


def test_an_optimizer_without_step_says_so() -> None:
    with pytest.raises(NotImplementedError, match="Optimizer does not say how it steps"):
        Optimizer([parameter([1.0])], {}).step()


def test_in_place_changes_of_one_count_do_not_reach_another() -> None:
    a, b = parameter([1.0]), parameter([1.0])
    optimizer = torch.optim.Adam([a, b])
    stepped(optimizer, a, b)
    optimizer.state[a]["step"] += 5
    assert optimizer.state[b]["step"].item() == 1.0
    stepped(optimizer, a, b)
    assert [optimizer.state[p]["step"].item() for p in (a, b)] == [7.0, 2.0]


def test_a_replaced_state_is_used() -> None:
    w = parameter([1.0])
    optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.5)
    stepped(optimizer, w)
    optimizer.state[w]["momentum_buffer"] = torch.zeros(1)
    w.grad = torch.zeros(1)
    before = w.item()
    optimizer.step()
    assert w.item() == before


def test_options_that_only_choose_an_implementation_are_accepted() -> None:
    plain = parameter([1.0])
    stepped(torch.optim.Adam([plain]), plain)
    for options in ({"foreach": True}, {"fused": True}, {"capturable": True}):
        w = parameter([1.0])
        stepped(torch.optim.Adam([w], **options), w)
        assert torch.equal(w, plain) and w.item() != 1.0


def test_a_step_of_ones_own_keeps_history_where_its_default_says_so() -> None:
    class Plain(Optimizer):
        def __init__(self, params: list[torch.Tensor], differentiable: bool) -> None:
            super().__init__(params, {"lr": 0.5, "differentiable": differentiable})

        @_use_grad_for_differentiable
        def step(self, closure: Any = None) -> None:
            self.seen = torch.is_grad_enabled()

    for differentiable in (False, True):
        plain = Plain([torch.ones(2, requires_grad=True)], differentiable)
        plain.step()
        assert (plain.seen, torch.is_grad_enabled()) == (differentiable, True)


def test_tensors_are_grouped_by_device_and_dtype() -> None:
    singles, double = [torch.zeros(2), torch.ones(3)], torch.zeros(1, dtype=torch.float64)
    given = [[singles[0], double, singles[1]], [None, "b", "c"], []]
    groups = tensor_groups._group_tensors_by_device_and_dtype(given, with_indices=True)
    lists, places = groups[torch.device("cpu"), torch.float32]
    assert [x is y for x, y in zip(lists[0], singles, strict=True)] == [True, True]
    assert (lists[1:], places) == ([[None, "c"], []], [0, 2])
    assert groups[torch.device("cpu"), torch.float64][1] == [1]
    assert tensor_groups._group_tensors_by_device_and_dtype([[double]])[double.device, double.dtype][1] == []
    with pytest.raises(RuntimeError, match="the 1-th Tensor is not"):
        tensor_groups._group_tensors_by_device_and_dtype([[double, None]])
    assert tensor_groups._has_foreach_support([*singles, None], torch.device("cpu"))
    assert not tensor_groups._has_foreach_support(["a"], torch.device("cpu"))
    assert Optimizer._group_tensors_by_device_and_dtype([[double]], True)[double.device, double.dtype][1] == [0]


def test_what_torch_would_choose_by_itself_can_be_asked() -> None:
    floats, counts = [torch.zeros(2), None], [torch.zeros(2, dtype=torch.int64)]
    assert tensor_groups._default_to_fused_or_foreach(floats, differentiable=True, use_fused=True) == (False, False)
    assert tensor_groups._default_to_fused_or_foreach(floats, differentiable=False, use_fused=True) == (True, False)
    assert tensor_groups._default_to_fused_or_foreach(counts, differentiable=False, use_fused=True) == (False, False)
    assert "cuda" in tensor_groups._get_capturable_supported_devices()


def test_a_parameter_that_comes_again_has_its_first_number() -> None:
    optimizer = torch.optim.SGD([parameter([1.0]), parameter([2.0])], lr=0.1)
    optimizer.param_groups.extend(optimizer.param_groups)
    assert [group["params"] for group in optimizer.state_dict()["param_groups"]] == [[0, 1], [0, 1]]


def test_a_wrapper_that_calls_no_init_may_ask_for_hooks() -> None:
    class Wrapper(Optimizer):
        def __init__(self, inner: Optimizer) -> None:
            self.inner = inner
            self._patch_step_function()

        def step(self, closure: Any = None) -> Any:
            return self.inner.step(closure)

    w = parameter([1.0])
    w.grad = torch.ones(1)
    Wrapper(torch.optim.SGD([w], lr=0.5)).step()
    assert w.tolist() == [0.5]


def test_a_loaded_state_is_the_one_of_the_dictionary_where_it_fits() -> None:
    weight, bias = parameter([1.0, 1.0]), parameter([1.0])
    optimizer = torch.optim.Adam([weight, bias], lr=0.1)
    weight.grad, bias.grad = torch.ones(2), torch.ones(1)
    optimizer.step()
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    optimizer.step()
    assert state["state"][0]["step"] == 2 and state["state"][0]["exp_avg"] is optimizer.state[weight]["exp_avg"]
    half = torch.nn.Parameter(torch.ones(2, dtype=torch.float16))
    other = torch.optim.Adam([half, torch.nn.Parameter(torch.ones(1))], lr=0.1)
    other.load_state_dict(state)
    assert (
        other.state[half]["exp_avg"].dtype == torch.float16 and other.state[half]["step"] is state["state"][0]["step"]
    )


def test_adamw_that_takes_over_what_adam_saved_keeps_its_kind_of_decay() -> None:
    weight = torch.ones(2, requires_grad=True)
    adam = torch.optim.Adam([weight], weight_decay=0.5)
    adamw = torch.optim.AdamW([weight], weight_decay=0.5)
    adamw.load_state_dict(adam.state_dict())
    assert adamw.param_groups[0]["decoupled_weight_decay"] is True


def test_a_step_leaves_no_history_with_what_parameters_are_views_of() -> None:
    layer = torch.nn.Linear(2, 2)
    vector = torch.nn.utils.parameters_to_vector(layer.parameters()).detach()
    torch.nn.utils.vector_to_parameters(vector, layer.parameters())
    layer(torch.ones(1, 2)).sum().backward()
    torch.optim.SGD(layer.parameters(), lr=0.1).step()
    assert vector.grad_fn is None and not vector.requires_grad
    layer.bias.requires_grad_(False)
    vector.mul_(2)
    assert layer.bias.is_leaf and not layer.bias.requires_grad
    np.testing.assert_array_equal(layer.bias.numpy(), vector[4:].numpy())


def test_rprop_moves_nothing_where_a_gradient_is_nan() -> None:
    p = parameter([1.0, 2.0])
    optimizer = torch.optim.Rprop([p], lr=0.5)
    p.grad = torch.tensor([float("nan"), 1.0])
    optimizer.step()
    assert p.tolist() == [1.0, 1.5]
    assert optimizer.state[p]["step_size"].tolist() == [0.5, 0.5]


def test_a_loaded_state_but_the_count_has_the_dtype_of_its_parameter() -> None:
    p = torch.nn.Parameter(torch.ones(2, dtype=torch.float64))
    optimizer = torch.optim.ASGD([p], lr=0.1)
    (p**2).sum().backward()
    optimizer.step()
    assert optimizer.state[p]["eta"].dtype is torch.float32
    optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    optimizer.step()
    assert {name: value.dtype for name, value in optimizer.state[p].items()} == {
        "step": torch.float32, "eta": torch.float64, "mu": torch.float64, "ax": torch.float64,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "Adafactor"])
def test_parameters_without_numbers_are_stepped_and_counted(name: str) -> None:
    layer = torch.nn.Linear(4, 2, device="meta")
    optimizer = getattr(torch.optim, name)(layer.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        layer(torch.ones(3, 4, device="meta")).sum().backward()
        optimizer.step()
    state = optimizer.state[layer.weight]
    assert layer.weight.is_meta
    assert all(kept.is_meta for kept in state.values() if kept.ndim)
    assert state.get("step", torch.tensor(2.0)).item() == 2.0
