"""Module keeps its members, hooks, state and looks as torch's Module does."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import weakref
from collections import OrderedDict
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.serialization.names import torch_name


class Net(nn.Module):
    """A module with every kind of member."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 2, bias=False)
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)
        self.note = "plain"

    def forward(self, x: Any, twice: bool = False) -> Any:
        y = self.second(self.first(x).relu()) * self.scale - self.mean
        return 2 * y if twice else y


def test_members_are_found_by_dotted_names() -> None:
    net = Net()
    names = ["scale", "first.weight", "first.bias", "second.weight"]
    assert [name for name, _ in net.named_parameters()] == names
    assert [name for name, _ in net.named_buffers()] == ["mean", "scratch"]
    assert [name for name, _ in net.named_modules()] == ["", "first", "second"]
    assert [name for name, _ in net.named_children()] == ["first", "second"]
    assert list(net.state_dict()) == ["scale", "mean", "first.weight", "first.bias", "second.weight"]
    assert net.get_parameter("first.weight") is net.first.weight
    assert net.get_submodule("second") is net.second
    assert net.get_buffer("mean") is net.mean
    assert "first" in dir(net) and "scale" in dir(net)


def test_iterators_over_members_print_as_those_of_a_module() -> None:
    assert repr(nn.Linear(1, 1).parameters()).startswith("<generator object Module.parameters at 0x")
    assert repr(nn.Linear(1, 1).named_modules()).startswith("<generator object Module.named_modules at 0x")


def test_a_shared_parameter_is_yielded_once() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    assert [name for name, _ in net.named_parameters()] == ["0.weight", "0.bias", "1.bias"]
    assert len(list(net.named_parameters(remove_duplicate=False))) == 4
    assert list(net.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_assignment_moves_a_name_between_kinds_of_members() -> None:
    net = Net()
    net.note = nn.Linear(1, 1)
    assert "note" in net._modules and "note" not in net.__dict__
    net.note = nn.Parameter(torch.zeros(1))
    assert "note" in net._parameters and "note" not in net._modules
    net.note = None
    assert net.note is None and "note" in net._parameters
    del net.note
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'note'"):
        _ = net.note
    net.mean = torch.ones(2)
    assert "mean" in net._buffers
    net.kept = nn.Buffer(torch.ones(3), persistent=False)
    assert "kept" in net._buffers and "kept" not in net.state_dict()


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda net: setattr(net, "scale", torch.ones(2)), TypeError,
         r"cannot assign 'torch.FloatTensor' as parameter 'scale' \(torch.nn.Parameter or None expected\)"),
        (lambda net: setattr(net, "first", 3), TypeError,
         r"cannot assign 'int' as child module 'first' \(torch.nn.Module or None expected\)"),
        (lambda net: setattr(net, "mean", 3), TypeError, r"cannot assign 'int' as buffer 'mean'"),
        (lambda net: net.register_buffer("a.b", None), KeyError, "buffer name can"),
        (lambda net: net.register_parameter("", None), KeyError, "be empty string"),
        (lambda net: net.register_parameter("mean", None), KeyError, "attribute 'mean' already exists"),
        (lambda net: net.register_parameter("w", net.scale * 2), TypeError, "cannot assign .* object to parameter 'w'"),
        (lambda net: net.add_module("m", 3), TypeError, "int is not a Module subclass"),
        (lambda net: net.get_submodule("third"), AttributeError, "Net has no attribute `third`"),
        (lambda net: net.get_parameter("first"), AttributeError, "`first` is not an nn.Parameter"),
        (lambda net: net.train("yes"), ValueError, "training mode is expected to be boolean"),
        (lambda net: net.to(torch.int64), TypeError, "nn.Module.to only accepts floating point or complex dtypes"),
        (lambda net: nn.Module()(1), NotImplementedError,
         r'Module \[Module\] is missing the required "forward" function'),
        (lambda net: nn.Module(3), TypeError, "takes 1 positional argument but 2 were given"),
    ],
)  # fmt: skip
def test_misuse_is_told_in_torchs_words(act: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        act(Net())


def test_members_before_init_are_refused() -> None:
    class Early(nn.Module):
        def __init__(self) -> None:
            self.weight = nn.Parameter(torch.zeros(1))

    class EarlyChild(nn.Module):
        def __init__(self) -> None:
            self.child = nn.ReLU()

    with pytest.raises(AttributeError, match=r"cannot assign parameters before Module.__init__\(\) call"):
        Early()
    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\) call"):
        EarlyChild()


def test_loading_copies_into_the_same_parameters() -> None:
    net, other = Net(), Net()
    weight = net.first.weight
    assert repr(net.load_state_dict(other.state_dict())) == "<All keys matched successfully>"
    assert net.first.weight is weight
    for ours, theirs in zip(net.state_dict().values(), other.state_dict().values(), strict=True):
        assert torch.equal(ours, theirs)
    with torch.no_grad():
        other.first.weight.zero_()
    assert net.first.weight.abs().sum() > 0


def test_assign_takes_the_tensors_themselves() -> None:
    net, state = Net(), Net().state_dict()
    net.load_state_dict(state, assign=True)
    assert isinstance(net.first.weight, nn.Parameter) and net.first.weight.requires_grad
    assert net.mean is state["mean"]


def test_loading_tells_all_that_is_wrong_at_once() -> None:
    net = Net()
    state = net.state_dict()
    del state["scale"]
    state["third.weight"] = torch.zeros(1)
    state["first.bias"] = torch.zeros(9)
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    assert str(caught.value) == (
        "Error(s) in loading state_dict for Net:\n\t"
        'Missing key(s) in state_dict: "scale". \n\t'
        'Unexpected key(s) in state_dict: "third.weight". \n\t'
        "size mismatch for first.bias: copying a param with shape torch.Size([9]) from checkpoint, "
        "the shape in current model is torch.Size([4])."
    )
    del state["first.bias"]
    found = net.load_state_dict(state, strict=False)
    assert found.missing_keys == ["scale", "first.bias"] and found.unexpected_keys == ["third.weight"]
    assert repr(found).startswith("_IncompatibleKeys(missing_keys=['scale', 'first.bias'], unexpected_keys=")
    assert type(found).__name__ == "_IncompatibleKeys"


def test_extra_state_travels() -> None:
    class Counting(nn.Module):
        count = 0

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    module = nn.Sequential(Counting())
    module[0].count = 5
    state = module.state_dict()
    assert state["0._extra_state"] == {"count": 5}
    fresh = nn.Sequential(Counting())
    fresh.load_state_dict(state)
    assert fresh[0].count == 5


def test_state_hooks_see_and_change_the_state() -> None:
    net, seen = Net(), []
    net.register_state_dict_pre_hook(lambda module, prefix, keep_vars: seen.append(("pre", prefix)))
    net.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.__delitem__("scale"))
    state = net.state_dict()
    assert "scale" not in state and seen == [("pre", "")]

    def restore(module: Any, state: Any, prefix: str, *rest: Any) -> None:
        seen.append(type(module).__name__)
        state["scale"] = torch.full((2,), 7.0)

    net.register_load_state_dict_pre_hook(restore)
    net.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    net.load_state_dict(state)
    assert seen[-1] == "Net" and net.scale.tolist() == [7.0, 7.0]


def test_forward_hooks_change_arguments_and_results() -> None:
    layer = nn.Identity()
    before = layer.register_forward_pre_hook(lambda module, args: args[0] + 1)
    after = layer.register_forward_hook(lambda module, args, result: result * 10)
    assert layer(1) == 20
    before.remove()
    assert layer(1) == 10
    after.remove()
    assert layer(1) == 1


def test_hooks_may_take_keyword_arguments_and_come_first() -> None:
    class Sum(nn.Module):
        def forward(self, x: int, y: int = 0) -> int:
            return x + y

    layer, order = Sum(), []
    layer.register_forward_pre_hook(lambda module, args, kwargs: (args, {"y": kwargs["y"] + 1}), with_kwargs=True)
    layer.register_forward_hook(lambda *given: order.append("second"))
    layer.register_forward_hook(lambda *given: order.append("first"), prepend=True)
    layer.register_forward_hook(lambda module, args, kwargs, result: result + kwargs["y"], with_kwargs=True)
    assert layer(1, y=1) == 5
    assert order == ["first", "second"]


def test_an_always_called_hook_runs_after_an_error() -> None:
    class Failing(nn.Module):
        def forward(self) -> None:
            raise ValueError("no")

    layer, calls = Failing(), []
    layer.register_forward_hook(lambda *given: calls.append(len(given)), always_call=True)
    layer.register_forward_hook(lambda *given: calls.append("never"))
    with pytest.raises(ValueError, match="no"):
        layer()
    assert calls == [3]


def test_global_hooks_see_every_module() -> None:
    seen: list[str] = []
    register = nn.modules.module.register_module_forward_hook
    with register(lambda module, args, result: seen.append(type(module).__name__)):
        nn.Sequential(nn.ReLU(), nn.Tanh())(torch.zeros(1))
    nn.ReLU()(torch.zeros(1))
    assert seen == ["ReLU", "Tanh", "Sequential"]


def test_full_backward_hooks_see_gradients_of_inputs_and_results() -> None:
    layer, seen = nn.Linear(3, 2), []
    layer.register_full_backward_hook(lambda module, inputs, outputs: seen.append((inputs[0].shape, outputs[0].shape)))
    x = torch.randn(4, 3, requires_grad=True)
    layer(x).sum().backward()
    assert seen == [((4, 3), (4, 2))]
    assert torch.equal(x.grad, layer.weight.sum(0).detach().expand(4, 3))


def test_modules_with_backward_hooks_pass_on_the_storage_that_they_are_given() -> None:
    places: list[int] = []
    layers = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.Linear(3, 3))
    for layer in layers:
        layer.register_forward_hook(
            lambda module, given, result: places.extend((given[0].data_ptr(), result.data_ptr()))
        )
        layer.register_full_backward_hook(lambda *given: None)
    result = layers(torch.ones(2, 3))
    assert places[1] == places[2] and places[3] == places[4] and places[5] == result.data_ptr()


def test_what_is_written_in_place_to_a_hooked_result_has_its_gradient() -> None:
    layer, seen = nn.Linear(2, 2, bias=False), []
    layer.register_full_backward_hook(lambda module, inputs, outputs: seen.append(outputs[0].tolist()))
    x = torch.ones(1, 2, requires_grad=True)
    layer(x).mul_(3).sum().backward()
    assert seen == [[[3.0, 3.0]]] and x.grad is not None
    assert x.grad[0].tolist() == pytest.approx((3 * layer.weight.sum(0)).tolist())


def test_full_backward_hooks_may_replace_gradients() -> None:
    layer = nn.Linear(3, 2)
    layer.register_full_backward_pre_hook(lambda module, outputs: (outputs[0] * 2,))
    layer.register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] * 5,))
    x = torch.randn(4, 3, requires_grad=True)
    layer(x).sum().backward()
    assert torch.allclose(x.grad, 10 * layer.weight.sum(0).detach().expand(4, 3))
    assert torch.equal(layer.bias.grad, torch.full((2,), 8.0))


def test_a_backward_hook_runs_where_no_input_needs_a_gradient() -> None:
    layer, seen = nn.Linear(3, 2), []
    layer.register_full_backward_hook(lambda module, inputs, outputs: seen.append(inputs))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        layer(torch.zeros(1, 3)).sum().backward()
    assert seen == [(None,)]


def test_both_kinds_of_backward_hooks_do_not_mix() -> None:
    layer = nn.Linear(3, 2)
    layer.register_full_backward_hook(lambda *given: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        layer.register_backward_hook(lambda *given: None)


def test_repr_is_torchs() -> None:
    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(OrderedDict(first=nn.Linear(2, 3), second=nn.ReLU()))
            self.heads = nn.ModuleList([nn.Linear(3, 1), nn.Linear(3, 1), nn.Linear(3, 2)])
            self.empty = nn.ModuleDict()

        def extra_repr(self) -> str:
            return "a=1\nb=2"

    assert repr(Outer()) == (
        "Outer(\n  a=1\n  b=2\n"
        "  (body): Sequential(\n    (first): Linear(in_features=2, out_features=3, bias=True)\n"
        "    (second): ReLU()\n  )\n"
        "  (heads): ModuleList(\n    (0-1): 2 x Linear(in_features=3, out_features=1, bias=True)\n"
        "    (2): Linear(in_features=3, out_features=2, bias=True)\n  )\n  (empty): ModuleDict()\n)"
    )
    assert repr(nn.Parameter(torch.zeros(1))) == "Parameter containing:\ntensor([0.], requires_grad=True)"


def test_copies_are_independent_and_keep_ties() -> None:
    net = Net()
    net.second.weight.requires_grad_(False)
    net.tied = net.first.weight
    net.first.weight.register_hook(lambda grad: None)
    twin = copy.deepcopy(net)
    assert twin.first.weight is not net.first.weight and twin.tied is twin.first.weight
    assert not twin.second.weight.requires_grad and isinstance(twin.scale, nn.Parameter)
    with torch.no_grad():
        twin.first.weight.zero_()
    assert net.first.weight.abs().sum() > 0


def test_a_module_can_be_pickled() -> None:
    net = Net()
    twin = pickle.loads(pickle.dumps(net))
    x = torch.randn(2, 3)
    assert torch.equal(net(x), twin(x))
    assert isinstance(twin.first.weight, nn.Parameter) and twin.first.weight.requires_grad


def test_modes_and_flags_reach_all_modules() -> None:
    net = nn.Sequential(nn.Dropout(), Net())
    assert not any(module.training for module in net.eval().modules())
    assert all(module.training for module in net.train().modules())
    net.requires_grad_(False)
    assert not any(parameter.requires_grad for parameter in net.parameters())


def test_conversion_keeps_the_parameters_objects() -> None:
    net = Net()
    net(torch.zeros(1, 3)).sum().backward()
    weight = net.first.weight
    net.double()
    assert net.first.weight is weight and weight.dtype is torch.float64 and weight.grad.dtype is torch.float64
    assert net.mean.dtype is torch.float64
    net.to("cpu", torch.float32)
    assert weight.dtype is torch.float32 and weight.requires_grad and weight.is_leaf
    assert net.share_memory() is net and net.compile() is None


def test_zero_grad_drops_or_fills() -> None:
    net = Net()
    net(torch.zeros(1, 3)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.scale.grad.tolist() == [0.0, 0.0]
    net.zero_grad()
    assert net.scale.grad is None


def test_apply_goes_from_the_leaves_to_the_root() -> None:
    order: list[str] = []
    Net().apply(lambda module: order.append(type(module).__name__))
    assert order == ["Linear", "Linear", "Net"]


def test_a_module_dies_with_its_last_name() -> None:
    gc.disable()
    try:
        net = Net()
        net.register_load_state_dict_pre_hook(lambda *given: None)
        net(torch.zeros(1, 3)).sum().backward()
        place = weakref.ref(net.first.weight)
        del net
        assert place() is None
    finally:
        gc.enable()


def test_parameter_shares_the_storage_of_its_data() -> None:
    data = torch.zeros(2)
    parameter = nn.Parameter(data)
    data.add_(1)
    assert parameter.tolist() == [1.0, 1.0]
    nn.init.constant_(parameter, 3.0)
    assert data.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="can require gradients"):
        nn.Parameter(torch.zeros(2, dtype=torch.int64))
    assert not nn.Parameter(torch.zeros(2, dtype=torch.int64), requires_grad=False).requires_grad


def test_a_hook_that_is_taken_away_leaves_nothing() -> None:
    layer = nn.Linear(1, 1)
    layer.register_forward_pre_hook(lambda module, args, kwargs: None, with_kwargs=True).remove()
    layer.register_forward_hook(lambda module, args, kwargs, result: None, with_kwargs=True, always_call=True).remove()
    assert not layer._forward_pre_hooks_with_kwargs
    assert not layer._forward_hooks_with_kwargs and not layer._forward_hooks_always_called


def test_modules_may_be_walked_as_often_as_they_are_named() -> None:
    layer = nn.ReLU()
    twice = nn.Sequential(layer, layer)
    assert len(list(twice.modules())) == 2 and len(list(twice.modules(remove_duplicate=False))) == 3


def test_functional_call_refuses_what_is_ambiguous() -> None:
    layer, weight = nn.Linear(1, 1), {"weight": torch.ones(1, 1)}
    with pytest.raises(ValueError, match="appeared in multiple dictionaries"):
        torch.func.functional_call(layer, (weight, weight), torch.ones(1, 1))
    with pytest.raises(ValueError, match="to be a dict, or a list/tuple of dicts"):
        torch.func.functional_call(layer, parameter_and_buffer_dicts=3, args=torch.ones(1, 1))  # type: ignore[arg-type]


def test_batch_norms_can_be_freed_of_running_statistics() -> None:
    model = torch.func.replace_all_batch_norm_modules_(nn.Sequential(nn.BatchNorm1d(2)))
    assert list(model.state_dict()) == ["0.weight", "0.bias"] and not model[0].track_running_stats


def test_a_replica_shares_what_is_no_parameter() -> None:
    model = nn.BatchNorm1d(2)
    model.cache = {}
    replica = model._replicate_for_data_parallel()
    assert replica.cache is model.cache and list(replica.parameters()) == []
    assert replica.running_mean is model.running_mean and replica._buffers is not model._buffers
    assert type(replica) is nn.BatchNorm1d and replica._is_replica


def test_causal_masks_of_unequal_lengths() -> None:
    bias = nn.attention.bias
    assert bias.causal_upper_left(2, 3).int().tolist() == [[1, 0, 0], [1, 1, 0]]
    mask = bias.causal_lower_right(2, 3)
    assert repr(mask) == "tensor([[ True,  True, False],\n        [ True,  True,  True]])"
    assert mask.int().tolist() == [[1, 1, 0], [1, 1, 1]]
    assert (type(mask), type(mask & True), str(mask.variant)) == (
        bias.CausalBias, torch.Tensor, "CausalVariant.LOWER_RIGHT",
    )  # fmt: skip
    assert f"{nn.attention.SDPBackend.MATH} {nn.attention.SDPBackend.ERROR!s}" == "SDPBackend.MATH SDPBackend.ERROR"


def test_losses_warn_of_sizes_that_broadcast() -> None:
    for loss in (nn.MSELoss(), nn.L1Loss(), nn.SmoothL1Loss(), nn.HuberLoss()):
        with pytest.warns(UserWarning, match=r"Using a target size \(torch\.Size\(\[3\]\)\) that is different"):
            loss(torch.ones(3, 1), torch.ones(3))


def test_every_layer_has_the_name_under_which_torch_saves_it() -> None:
    layers = [kind for kind in vars(nn).values() if isinstance(kind, type) and issubclass(kind, nn.Module)]
    assert len(layers) > 150
    assert [kind.__name__ for kind in layers if torch_name(kind) is None] == []
    assert nn.modules.activation.MultiheadAttention is nn.MultiheadAttention


class Labelled(torch.Tensor):
    """A tensor of a class of its own."""


def test_a_parameter_of_a_tensor_of_an_own_class_stays_of_that_class() -> None:
    parameter = nn.Parameter(torch.ones(2).as_subclass(Labelled))
    assert type(parameter) is Labelled and isinstance(parameter, nn.Parameter) and parameter.requires_grad
    assert type(parameter * 2) is Labelled and not isinstance(parameter * 2, nn.Parameter)
    assert repr(parameter) == "Parameter(Labelled([1., 1.], requires_grad=True))"
    layer = nn.Linear(2, 2)
    layer.bias = parameter
    assert layer.double().bias.dtype is torch.float64 and type(layer.bias) is Labelled
    assert len(list(layer.parameters())) == 2
    assert nn.Parameter(torch.eye(2).to_sparse()).is_sparse


def test_a_buffer_is_a_tensor_that_is_marked() -> None:
    module = nn.Module()
    module.kept, module.left_out = nn.Buffer(torch.ones(2)), nn.Buffer(torch.ones(2), persistent=False)
    assert type(module.kept) is torch.Tensor and isinstance(module.kept, nn.Buffer)
    assert not isinstance(module.kept * 2, nn.Buffer) and list(module.state_dict()) == ["kept"]


def test_a_lazy_instance_norm_has_weights_and_statistics_by_default() -> None:
    norm = nn.LazyInstanceNorm1d()
    norm(torch.ones(2, 3, 4))
    assert sorted(norm.state_dict()) == ["bias", "num_batches_tracked", "running_mean", "running_var", "weight"]


def test_a_lazy_module_can_be_saved() -> None:
    file = io.BytesIO()
    torch.save(nn.LazyLinear(3), file)
    file.seek(0)
    assert isinstance(torch.load(file, weights_only=False).weight, nn.UninitializedParameter)


@pytest.mark.parametrize("wrong", [{"dtype": "float32"}, {"foo": 1}])
def test_a_module_refuses_to_move_to_what_is_no_destination(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"invalid combination of arguments - got \((dtype=str|foo=int), \)"):
        nn.Linear(1, 1).to(**wrong)


def test_modules_without_numbers_and_parameters_of_own_classes_are_saved_and_pickled() -> None:
    layer = nn.Linear(2, 3, device="meta")
    layer.bias = nn.Parameter(torch.ones(3).as_subclass(Labelled))
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    for back in (torch.load(file, weights_only=False), pickle.loads(pickle.dumps(layer))):
        assert (back.weight.device.type, back.weight.shape, type(back.weight)) == ("meta", (3, 2), nn.Parameter)
        assert type(back.bias) is Labelled and isinstance(back.bias, nn.Parameter)


class _Pair(nn.Module):
    def forward(self, one: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.needs = one.requires_grad, other.requires_grad
        return one * 2, one * other


def test_a_full_backward_hook_tells_results_without_a_gradient_from_inputs_that_need_none() -> None:
    module, seen = _Pair(), []
    module.register_full_backward_hook(lambda module, inputs, outputs: seen.append((inputs, outputs)))
    x = torch.tensor([3.0], requires_grad=True)
    module(torch.tensor([2.0]), x)[1].sum().backward()
    (inputs, outputs) = seen[0]
    assert module.needs == (False, True)
    assert [gradient.tolist() for gradient in inputs] == [[0.0], [2.0]]
    assert outputs[0] is None and outputs[1].tolist() == [1.0]


def test_a_full_backward_hook_answers_with_one_gradient_for_each_input() -> None:
    layer = nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda module, inputs, outputs: inputs[0] * 3)
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 2, but expected 1"):
        layer(torch.ones(2, 2, requires_grad=True)).sum().backward()


@pytest.mark.parametrize("kind", ["xpu", "ipu", "mtia"])
def test_devices_that_are_not_there_are_refused(kind: str) -> None:
    with pytest.raises(RuntimeError, match=f"no {kind.upper()} device"):
        getattr(nn.Linear(1, 1), kind)()


def test_a_frozen_module_has_constants_in_the_place_of_parameters() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).eval()
    scripted = torch.jit.script(net)
    frozen = torch.jit.freeze(scripted)
    x = torch.ones(3, 2)
    assert not list(frozen.parameters()) and not list(frozen.buffers())
    assert frozen(x).numpy().tolist() == net(x).tolist()
    assert len(list(net.parameters())) == 4 and net(x).requires_grad


def test_a_function_of_c_that_a_class_holds_is_no_method_and_one_of_python_is() -> None:
    class Filter(nn.Module):
        convolve, squash, transform, scale = torch.conv1d, nn.functional.gelu, torch.fft.fft, torch.mul
        rectify, contract = nn.functional.relu, torch.einsum

    layer = Filter()
    row = torch.ones(1, 1, 3)
    assert layer.convolve(row, weight=row).item() == 3.0
    assert layer.squash(torch.zeros(1)).item() == 0.0
    assert layer.transform(row).shape == row.shape
    assert layer.scale(row, 2.0).sum().item() == 6.0
    assert layer.convolve is torch.conv1d
    with pytest.raises(TypeError, match=r"relu\(\): argument 'input' \(position 1\) must be Tensor, not Filter"):
        layer.rectify()
    assert layer.contract.__self__ is layer
