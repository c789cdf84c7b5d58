"""nn.utils: clipping, vectors of parameters, packed sequences, parametrizations, pruning, functional calls."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.func import functional_call
from funcgrad.nn.utils import parametrizations, parametrize, prune
from funcgrad.nn.utils._named_member_accessor import NamedMemberAccessor, set_tensor, swap_submodule, swap_tensor
from funcgrad.nn.utils.convert_parameters import _check_param_device
from funcgrad.nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
)
from funcgrad.nn.utils.stateless import _reparametrize_module


def _with_gradients(*gradients: list[float]) -> list[nn.Parameter]:
    parameters = [nn.Parameter(torch.zeros(len(gradient))) for gradient in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = torch.tensor(gradient)
    return parameters


def test_clipping_scales_all_gradients_by_the_joint_norm() -> None:
    parameters = [*_with_gradients([3.0, 0.0], [4.0]), nn.Parameter(torch.zeros(1))]
    held = parameters[0].grad
    norm = nn.utils.clip_grad_norm_(parameters, max_norm=1.0)
    assert norm.item() == 5.0 and parameters[0].grad is held
    assert torch.allclose(held, torch.tensor([0.6, 0.0])) and parameters[1].grad.item() == pytest.approx(0.8)
    assert nn.utils.clip_grad_norm_(parameters, max_norm=10.0).item() == pytest.approx(1.0)
    assert parameters[1].grad.item() == pytest.approx(0.8)


@pytest.mark.parametrize(("norm_type", "expected"), [(1.0, 7.0), (float("inf"), 4.0), (3, 91 ** (1 / 3)), (0.0, 2.0)])
def test_clipping_knows_all_norms(norm_type: float, expected: float) -> None:
    norm = nn.utils.get_total_norm([torch.tensor([3.0, 0.0]), torch.tensor(4.0)], norm_type)
    assert norm.item() == pytest.approx(expected)


def test_clipping_can_refuse_what_is_not_finite() -> None:
    parameters = _with_gradients([float("nan")])
    with pytest.raises(RuntimeError, match=r"The total norm of order 2.0 for gradients .* is non-finite"):
        nn.utils.clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        assert nn.utils.clip_grad_norm(iter(()), 1.0).item() == 0.0


def test_clipping_warns_of_a_generator_that_gives_nothing_any_more() -> None:
    parameters = nn.Linear(2, 2).parameters()
    torch.optim.SGD(parameters, lr=0.1)
    with pytest.warns(UserWarning, match="`parameters` is an empty generator, no gradient clipping will occur"):
        assert nn.utils.clip_grad_norm_(parameters, 1.0).item() == 0.0


def test_clipping_by_value() -> None:
    (parameter,) = _with_gradients([3.0, -0.5, -2.0])
    nn.utils.clip_grad_value_(parameter, 1.0)
    assert parameter.grad.tolist() == [1.0, -0.5, -1.0]


def test_parameters_as_one_vector_and_back() -> None:
    layer = nn.Linear(2, 3)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == (9,) and vector.requires_grad
    nn.utils.vector_to_parameters(torch.arange(9.0), layer.parameters())
    assert layer.weight.tolist() == [[0, 1], [2, 3], [4, 5]] and layer.bias.tolist() == [6, 7, 8]
    assert layer.weight.is_leaf and layer.weight.requires_grad


def test_the_parameters_of_one_vector_are_on_one_device() -> None:
    assert _check_param_device(torch.ones(1), None) == _check_param_device(torch.ones(1), -1) == -1
    with pytest.raises(TypeError, match="Found two parameters on different devices"):
        _check_param_device(torch.ones(1), 0)


@pytest.mark.parametrize("batch_first", [True, False])
def test_packing_and_padding_are_inverse(batch_first: bool) -> None:
    sequences = [torch.arange(6.0).view(3, 2), torch.ones(5, 2), torch.zeros(1, 2)]
    padded = pad_sequence(sequences, batch_first, padding_value=-1.0)
    packed = pack_padded_sequence(padded, torch.tensor([3, 5, 1]), batch_first, enforce_sorted=False)
    assert isinstance(packed, PackedSequence) and packed.batch_sizes.tolist() == [3, 2, 2, 1, 1]
    assert packed.sorted_indices.tolist() == [1, 0, 2] and packed.data.shape == (9, 2)
    again, lengths = pad_packed_sequence(packed, batch_first, padding_value=-1.0)
    assert torch.equal(again, padded) and lengths.tolist() == [3, 5, 1]
    unpacked = unpack_sequence(pack_sequence(sequences, enforce_sorted=False))
    assert all(torch.equal(a, b) for a, b in zip(unpacked, sequences, strict=True))
    with pytest.raises(RuntimeError, match="sorted in decreasing order"):
        pack_padded_sequence(padded, [3, 5, 1], batch_first)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_a_packed_batch_gives_what_each_sequence_gives_alone(kind: str) -> None:
    net = getattr(nn, kind)(2, 3, num_layers=2, bidirectional=True)
    sequences = [torch.randn(length, 2) for length in (2, 4, 1)]
    output, last = net(pack_sequence(sequences, enforce_sorted=False))
    last = last[0] if kind == "LSTM" else last
    for place, (sequence, found) in enumerate(zip(sequences, unpack_sequence(output), strict=True)):
        alone, end = net(sequence)
        assert torch.allclose(found, alone, atol=1e-6)
        assert torch.allclose(last[:, place], end[0] if kind == "LSTM" else end, atol=1e-6)


def test_functional_call_leaves_the_module_alone() -> None:
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.BatchNorm1d(2))
    ones = {"0.weight": torch.ones(2, 2, requires_grad=True)}
    before = net[0].weight
    functional_call(net, ones, (torch.randn(4, 2),)).pow(3).sum().backward()
    assert net[0].weight is before and before.grad is None and ones["0.weight"].grad is not None
    with pytest.raises(RuntimeError, match="Missing key"):
        functional_call(net, ones, (torch.randn(4, 2),), strict=True)


class Scaled(nn.Module):
    """A weight, a tensor that is no buffer, and a factor that nobody sets."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.scale, self.kind = nn.Parameter(torch.ones(2)), torch.tensor(2.0), "scaled"

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """weight scale factor input."""
        return input * self.weight * self.scale * getattr(self, "factor", 1.0)


def test_a_module_has_other_parameters_inside_a_block() -> None:
    net, zeros = nn.Linear(2, 1), {"weight": torch.zeros(1, 2)}
    own = net.weight
    with _reparametrize_module(net, zeros, tie_weights=True):
        assert torch.equal(net(torch.ones(1, 2)), net.bias[None])
    assert net.weight is own
    with pytest.raises(RuntimeError, match="Missing key"), _reparametrize_module(net, zeros, strict=True):
        pass


def test_functional_call_replaces_plain_tensors_and_adds_new_names_for_the_call() -> None:
    net = Scaled()
    assert functional_call(net, {"scale": torch.tensor(5.0)}, torch.ones(2)).tolist() == [5.0, 5.0]
    assert functional_call(net, {"factor": torch.tensor(5.0)}, torch.ones(2)).tolist() == [10.0, 10.0]
    assert net.scale.item() == 2.0 and not hasattr(net, "factor")


def test_functional_call_takes_only_tensors_for_tensors() -> None:
    net = Scaled()
    with pytest.raises(TypeError, match=r"attribute `kind`: scaled is not an instance of torch\.Tensor"):
        functional_call(net, {"kind": torch.ones(1)}, torch.ones(2))
    with pytest.raises(TypeError, match=r"3 is not an instance of torch\.Tensor"):
        functional_call(net, {"weight": 3}, torch.ones(2))  # type: ignore[dict-item]
    with pytest.raises(AttributeError, match="has no attribute `other`"):
        functional_call(net, {"other.weight": torch.ones(1)}, torch.ones(2))


def test_functional_call_ties_shared_weights() -> None:
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    net[1].weight = net[0].weight
    doubled = functional_call(net, {"0.weight": 2 * torch.eye(2)}, (torch.ones(1, 2),))
    assert doubled.tolist() == [[4.0, 4.0]]


class Symmetric(nn.Module):
    """A matrix from its upper triangle."""

    def forward(self, x: Any) -> Any:
        return x.triu() + x.triu(1).transpose(-1, -2)

    def right_inverse(self, x: Any) -> Any:
        return x.triu()


def test_a_parametrized_weight_is_computed() -> None:
    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert torch.equal(layer.weight, layer.weight.T)
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert repr(layer).startswith("ParametrizedLinear(\n  in_features=3")
    assert type(layer).__module__ == parametrize.ParametrizationList.__module__
    layer.weight = torch.eye(3)
    assert torch.equal(layer.weight, torch.eye(3))
    layer(torch.ones(1, 3)).sum().backward()
    assert layer.parametrizations.weight.original.grad is not None
    with parametrize.cached():
        assert layer.weight is layer.weight
    twin = copy.deepcopy(layer)
    assert torch.equal(twin.weight, layer.weight) and parametrize.is_parametrized(twin, "weight")
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and isinstance(layer.weight, nn.Parameter)
    assert torch.equal(layer.weight, torch.eye(3))


def test_a_parametrization_must_keep_the_shape() -> None:
    class Half(nn.Module):
        def forward(self, x: Any) -> Any:
            return x[:1]

    with pytest.raises(ValueError, match=r"may not change the shape of the tensor(?s:.*)\nparametrized shape: "):
        parametrize.register_parametrization(nn.Linear(3, 3), "weight", Half())


def test_weight_norm_keeps_the_weight() -> None:
    layer = nn.Linear(3, 4)
    before = layer.weight.detach().clone()
    parametrizations.weight_norm(layer)
    assert torch.allclose(layer.weight, before, atol=1e-6)
    assert layer.parametrizations.weight.original0.shape == (4, 1)
    assert layer.weight.grad_fn.name() == "WeightNormInterfaceBackward0"
    old = nn.Linear(3, 4)
    with pytest.warns(FutureWarning, match="parametrizations.weight_norm"):
        nn.utils.weight_norm(old)
    assert list(old.state_dict()) == ["bias", "weight_g", "weight_v"]
    layer.load_state_dict(old.state_dict())
    x = torch.randn(2, 3)
    assert torch.allclose(layer(x), old(x))
    nn.utils.remove_weight_norm(old)
    assert list(old.state_dict()) == ["bias", "weight"]


@pytest.mark.parametrize("spectral_norm", [parametrizations.spectral_norm, nn.utils.spectral_norm])
def test_spectral_norm_brings_the_largest_singular_value_to_one(spectral_norm: Any) -> None:
    layer = spectral_norm(nn.Linear(4, 3), n_power_iterations=30)
    layer(torch.ones(1, 4))
    layer.eval()
    layer(torch.ones(1, 4))
    assert torch.linalg.norm(layer.weight, 2).item() == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("mapping", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2)])
def test_orthogonal_weights_stay_orthogonal(mapping: str, shape: tuple[int, int]) -> None:
    layer = parametrizations.orthogonal(nn.Linear(*shape), orthogonal_map=mapping)
    (layer(torch.randn(5, shape[0])) ** 2).sum().backward()
    original = layer.parametrizations.weight.original
    with torch.no_grad():
        original -= 0.1 * original.grad
    weight = layer.weight
    product = weight @ weight.T if shape[0] > shape[1] else weight.T @ weight
    assert torch.allclose(product, torch.eye(min(shape)), atol=1e-5)


def test_pruning_masks_and_can_be_undone() -> None:
    layer = nn.Linear(4, 3)
    prune.l1_unstructured(layer, "weight", amount=0.5)
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    assert (layer.weight == 0).sum().item() == 6 and prune.is_pruned(layer)
    prune.ln_structured(layer, "weight", amount=1, n=2, dim=0)
    assert (layer.weight == 0).all(1).sum().item() >= 1
    prune.remove(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter) and not prune.is_pruned(layer)
    with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
        prune.remove(layer, "weight")


def test_a_pruning_of_ones_own_is_given_the_mask_by_its_name() -> None:
    class EveryOther(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, *scores: torch.Tensor, default_mask: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    layer = nn.Linear(4, 2)
    EveryOther.apply(layer, "weight")
    EveryOther.apply(layer, "weight")
    assert layer.weight_mask.tolist() == [[0, 0, 0, 1]] * 2
    prune.global_unstructured([(layer, "bias")], pruning_method=EveryOther)
    assert layer.bias_mask.tolist() == [0, 1]
    assert EveryOther().prune(torch.ones(3)).tolist() == [0, 1, 0]


def test_what_is_no_parameter_any_more_is_not_pruned() -> None:
    layer = nn.Linear(2, 2)
    layer.weight.requires_grad_(False)
    parametrizations.weight_norm(layer)
    parametrize.remove_parametrizations(layer, "weight")  # leaves a tensor where nothing required a gradient
    words = r"^cannot assign 'torch.FloatTensor' object to parameter 'weight_orig' \(torch.nn.Parameter or None"
    with pytest.raises(TypeError, match=words):
        prune.l1_unstructured(layer, "weight", 1)


def test_lazy_layers_become_what_their_input_asks_for() -> None:
    net = nn.Sequential(nn.LazyConv2d(3, 2), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(5))
    assert repr(net[0].weight) == "<UninitializedParameter>" and net[3].has_uninitialized_params()
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        _ = net[3].weight.shape
    weight = net[3].weight
    assert net(torch.randn(2, 4, 3, 3)).shape == (2, 5)
    assert type(net[0]) is nn.Conv2d and net[0].in_channels == 4 and type(net[3]) is nn.Linear
    assert net[3].weight is weight and weight.shape == (5, 12) and type(weight) is nn.Parameter
    fresh = nn.Sequential(nn.LazyConv2d(3, 2), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(5))
    fresh.load_state_dict(net.state_dict())
    x = torch.randn(2, 4, 3, 3)
    assert torch.allclose(fresh.eval()(x), net.eval()(x))


def test_a_layer_whose_initialisation_is_skipped_draws_no_numbers() -> None:
    torch.manual_seed(0)
    layer = nn.utils.skip_init(nn.Linear, 3, out_features=2, dtype=torch.float64)
    assert torch.rand(1).item() == pytest.approx(0.4963, abs=1e-4)
    assert layer.weight.shape == (2, 3) and layer.weight.dtype == torch.float64
    assert layer.weight.device.type == "cpu" and layer.weight.requires_grad
    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        nn.utils.skip_init(nn.ReLU)


def test_old_names_of_initialisers_warn() -> None:
    with pytest.warns(FutureWarning, match="`nn.init.xavier_normal` is now deprecated"):
        nn.init.xavier_normal(torch.empty(2, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.init.xavier_normal_(torch.empty(2, 3))


def test_weight_decay_makes_an_orthogonal_weight_zero_as_in_torch() -> None:
    layer = parametrizations.orthogonal(nn.Linear(4, 2))
    torch.optim.AdamW(layer.parameters(), lr=0.01, weight_decay=0.0).step()  # nothing has a gradient
    assert layer.weight.norm().item() == pytest.approx(2**0.5)
    layer(torch.ones(3, 4)).sum().backward()
    torch.optim.AdamW(layer.parameters(), lr=0.01).step()
    assert layer.weight.tolist() == torch.zeros(2, 4).tolist()


def test_orthogonal_draws_the_rest_of_a_base_as_torch_does() -> None:
    torch.manual_seed(0)
    layer = parametrizations.orthogonal(nn.Linear(4, 2))
    assert layer.weight.allclose(layer.parametrizations.weight[0].base.mT[:2], atol=1e-6)
    assert torch.rand(2).tolist() == pytest.approx([0.9527381062507629, 0.036164820194244385])  # after torch's draws


def test_reflections_without_a_trivialization_can_be_assigned() -> None:
    torch.manual_seed(0)
    layer = parametrizations.orthogonal(nn.Linear(4, 3), use_trivialization=False)
    wanted = torch.linalg.qr(torch.randn(4, 4))[0][:3]
    layer.weight = wanted
    assert layer.weight.allclose(wanted, atol=1e-5)


def test_functional_call_names_the_keys_that_do_not_fit() -> None:
    layer, x = nn.Linear(2, 2), torch.ones(1, 2)
    with pytest.raises(RuntimeError, match=r"Error\(s\) in reparametrizing for Linear:\n\tMissing key\(s\): 'bias'\."):
        torch.func.functional_call(layer, {"weight": torch.zeros(2, 2)}, x, strict=True)


def test_a_pruning_that_is_refused_leaves_the_layer_as_it_was() -> None:
    layer = nn.Linear(4, 3)
    with pytest.raises(ValueError, match="should be smaller than the number of parameters"):
        prune.l1_unstructured(layer, "weight", amount=100)
    with pytest.raises(IndexError, match=r"Invalid index 5 for tensor of size torch\.Size\(\[3, 4\]\)"):
        prune.ln_structured(layer, "weight", amount=1, n=2, dim=5)
    with pytest.raises(ValueError, match="Structured pruning can only be applied to multidimensional tensors"):
        prune.ln_structured(layer, "bias", amount=1, n=2, dim=0)
    assert list(layer.state_dict()) == ["weight", "bias"] and not prune.is_pruned(layer)


def test_members_are_exchanged_by_name_as_what_they_are() -> None:
    layer = nn.Linear(2, 2)
    weight, zeros = layer.weight, torch.zeros(2, 2)
    assert swap_tensor(layer, "weight", zeros) is weight
    assert layer._parameters["weight"] is zeros
    set_tensor(layer, "weight", weight)
    assert layer.weight is weight
    missing = swap_tensor(layer, "extra", zeros, allow_missing=True)
    assert swap_tensor(layer, "extra", missing) is zeros
    assert not hasattr(layer, "extra")
    assert swap_tensor(layer, "bias", missing) is not None
    assert "bias" not in layer._parameters
    model = nn.Sequential(layer)
    assert swap_submodule(model, "0", other := nn.ReLU()) is layer
    assert model[0] is other


@pytest.mark.parametrize(
    ("exchange", "error", "words"),
    [
        (lambda layer: swap_tensor(layer, "none", torch.ones(1)), AttributeError, "Linear has no attribute `none`"),
        (lambda layer: swap_tensor(layer, "training", torch.ones(1)), TypeError, "attribute `training`: True is not"),
        (lambda layer: swap_tensor(layer, "a.b", torch.ones(1)), KeyError, "t contain"),
        (lambda layer: set_tensor(layer, "", torch.ones(1)), KeyError, "t be empty string"),
        (lambda layer: set_tensor(layer, "weight", 3), TypeError, r"3 is not an instance of torch\.Tensor"),
        (lambda layer: swap_submodule(layer, "none", layer), KeyError, "submodule none does not exist"),
    ],
)
def test_what_is_no_member_is_not_exchanged(exchange: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        exchange(nn.Linear(2, 2))


def _accessed() -> tuple[NamedMemberAccessor, nn.Module]:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    return NamedMemberAccessor(model), model


def test_members_are_read_and_replaced_by_their_paths() -> None:
    accessor, model = _accessed()
    weight, zeros = model[0].weight, torch.zeros(2, 2)
    assert accessor.get_submodule("0") is model[0]
    assert accessor.swap_tensors_dict({"0.weight": zeros}) == ({"0.weight": weight}, [])
    assert accessor.get_tensors(["0.weight", "1.running_mean"])[0] is zeros
    accessor.set_tensors_dict({"0.weight": weight})
    accessor.del_tensor("0.bias")
    names = ["0.weight", "1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked"]
    assert [name for name, _ in accessor.named_tensors()] == names
    assert accessor.check_keys([*names[1:], "x"]) == (["0.weight"], ["x"])


def test_members_that_are_missing_are_told_and_nothing_is_replaced() -> None:
    accessor, model = _accessed()
    weight = model[0].weight
    with pytest.raises(RuntimeError, match=r"Missing key\(s\): 'y'."):
        accessor.swap_tensors_dict({"0.weight": torch.zeros(2, 2), "y": torch.ones(1)})
    assert model[0].weight is weight
    assert not hasattr(model, "y")
    with pytest.raises(AttributeError, match=r"Linear has no attribute `0\.foo`"):
        accessor.get_tensor("0.foo")
    with pytest.raises(AssertionError, match="got 1 names and 0 values"):
        accessor.set_tensors(["0.weight"], [])
