"""Names of one storage see what is written through any; `share_memory_` marks a storage, and a step leaves the mark."""

from __future__ import annotations

import copy

import pytest

import funcgrad as torch
from funcgrad import explain, nn


def test_all_names_of_a_storage_are_shared() -> None:
    base = torch.ones(4)
    assert not base.is_shared()
    assert base[1:].share_memory_().is_shared()
    assert (base.is_shared(), base.detach().is_shared(), base.data.is_shared()) == (True, True, True)
    assert (base.clone().is_shared(), (base + 1).is_shared()) == (False, False)


def test_a_modules_parameters_stay_shared_over_a_step() -> None:
    layers = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).share_memory()
    optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
    layers(torch.randn(4, 2)).sum().backward()
    optimizer.step()
    assert all(x.is_shared() for x in (*layers.parameters(), *layers.buffers()))


def test_what_has_no_shape_cannot_be_shared() -> None:
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter or buffer"):
        nn.LazyLinear(2).share_memory()


def test_a_view_made_without_history_requires_what_its_base_requires() -> None:
    weight = torch.ones(2, 3, requires_grad=True)
    with torch.no_grad():
        row, detached, copy = weight[0], weight.detach()[0], weight[[0]]
        assert repr(row) == "tensor([1., 1., 1.], requires_grad=True)"
        assert row.t().requires_grad and weight.view(-1).requires_grad and weight.split(1)[0].requires_grad
        assert not (row * 2).requires_grad
    assert row.requires_grad and row.is_leaf and row.grad_fn is None
    assert not detached.requires_grad and not copy.requires_grad
    base = torch.ones(2)
    part = base[:1]
    assert not part.requires_grad
    base.requires_grad_()
    assert part.requires_grad and not part.detach().requires_grad


def test_a_name_that_took_another_shape_in_place_still_shares_its_storage() -> None:
    table = torch.tensor([[0.0, 1, 2], [3, 4, 5]])
    row, flat, other = table[0], table.view(6), table.detach()
    table.t_()
    column = table[:, 0]
    table.unsqueeze_(0).squeeze_().mul_(2)
    flat.unsqueeze_(0).add_(1)
    row.add_(10)
    other.transpose_(0, 1)[0, 0] = -1
    assert table.tolist() == [[-1, 7], [13, 9], [15, 11]]
    assert row.tolist() == column.tolist() == [-1, 13, 15]
    assert (flat._base is not None, table._base) == (True, None)
    assert table.data_ptr() == flat.data_ptr() == other.data_ptr()


def test_what_is_turned_under_no_grad_stays_a_leaf() -> None:
    weight = torch.ones(2, 3, requires_grad=True)
    with torch.no_grad():
        weight.t_()
    (weight * weight).sum().backward()
    assert weight.is_leaf and weight.grad is not None and weight.grad.shape == (3, 2)


def test_what_is_made_larger_again_within_its_storage_has_what_lies_there() -> None:
    y = torch.arange(6.0)
    y.resize_(0).resize_(4)
    assert y.tolist() == [0, 1, 2, 3]
    whole = torch.arange(6.0)
    whole.view(2, 3)[0].resize_(0).resize_(5).add_(10)
    assert whole.tolist() == [10, 11, 12, 13, 14, 5]
    turned = torch.arange(6.0).view(2, 3).t()
    assert turned.resize_(2, 2).tolist() == [[0, 1], [2, 3]]


def test_what_is_made_smaller_keeps_its_storage() -> None:
    whole = torch.arange(6.0)
    pairs, sums = whole.view(2, 3), whole.view(1, 6)
    pairs.resize_(3)
    pairs.add_(10)
    assert whole.tolist() == [10, 11, 12, 3, 4, 5]
    with pytest.warns(UserWarning, match="was resized since it had shape"):
        torch.sum(torch.ones(3, 2), 1, out=sums)
    assert whole.tolist() == [2, 2, 2, 3, 4, 5] and sums.shape == (3,)


def test_a_parameter_made_from_a_part_shares_it() -> None:
    flat = torch.arange(6.0)
    first, second = nn.Parameter(flat[:3]), nn.Parameter(torch.ones(3))
    second.data = flat[3:]
    optimizer = torch.optim.SGD([first, second], lr=1.0)
    (first.sum() + second.sum()).backward()
    optimizer.step()
    assert flat.tolist() == [-1, 0, 1, 2, 3, 4]
    flat.zero_()
    assert first.tolist() == second.tolist() == [0, 0, 0]


def test_set_lets_both_names_see_what_either_writes() -> None:
    one, other = torch.zeros(6).reshape(2, 3), torch.ones(1)
    other.set_(one)
    one.fill_(3)
    other.mul_(2)
    assert one.sum() == other.sum() == 36


def test_a_conjugate_is_a_view() -> None:
    signal = torch.tensor([1 + 2j, 3 - 1j])
    conjugate, resolved, copy = signal.conj(), signal.conj().resolve_conj(), torch.conj_physical(signal)
    conjugate[0] = 5j
    resolved.zero_()
    copy.zero_()
    assert signal.tolist() == [-5j, 3 - 1j]
    assert conjugate._base is signal and conjugate.data_ptr() == signal.data_ptr()
    weight = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    product = weight * 2
    product.conj().mul_(1j)
    product.real.sum().backward()
    assert weight.grad is not None and weight.grad.tolist() == [2j, 2j]


def test_imaginary_parts_begin_one_number_later_in_storage() -> None:
    signal = torch.tensor([1 + 2j, 3 - 1j, 5j])
    parts = signal.imag
    assert parts[1:].storage_offset() == 3
    assert parts.data_ptr() - signal.data_ptr() == 4
    assert parts.as_strided((3,), (2,)).tolist() == [2, -1, 5]
    signal.view(torch.float32).as_strided((2,), (1,), 4).fill_(7)
    assert signal.tolist() == [1 + 2j, 3 - 1j, 7 + 7j]


def test_a_view_in_another_dtype_requires_no_gradient() -> None:
    assert not torch.ones(2, requires_grad=True).view(torch.float16).requires_grad


def test_what_a_view_of_a_leaf_recorded_stays_when_the_leaf_is_frozen() -> None:
    weight = torch.ones(2, 3, requires_grad=True)
    turned = weight.t()
    weight.requires_grad_(False)
    assert turned.requires_grad and turned.grad_fn is not None


def test_sums_and_products_are_computed_in_the_dtype_of_out() -> None:
    numbers = torch.tensor([[1.5, 2.5], [3.0, 4.0]])
    assert torch.sum(numbers, 1, out=torch.zeros(2, dtype=torch.uint8)).tolist() == [3, 7]
    assert torch.cumprod(numbers, 1, out=torch.zeros(2, 2, dtype=torch.int64)).tolist() == [[1, 2], [3, 12]]
    assert torch.linspace(0, 5, 4, out=torch.zeros(4, dtype=torch.int64)).tolist() == [0, 1, 3, 5]


def test_a_view_that_was_written_to_under_no_grad_stays_part_of_the_graph() -> None:
    weight = torch.arange(6.0).requires_grad_()
    part, table = weight[1:3], weight.view(2, 3)
    with torch.no_grad():
        part[0] = 5
        assert table.sum() == 19
    (part * part).sum().backward()
    table.sum().backward()
    assert weight.grad is not None and weight.grad.tolist() == [1, 11, 5, 1, 1, 1]


def test_bits_of_a_leaf_can_be_written() -> None:
    weight = torch.ones(3, requires_grad=True)
    weight.view(torch.int32).zero_()
    assert weight.tolist() == [0, 0, 0] and weight.is_leaf
    table = weight.view(3, 1)
    table.view(torch.uint8).fill_(0)
    assert weight.is_leaf and table.requires_grad


def test_what_is_detached_in_place_keeps_its_gradient() -> None:
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    x.detach_()
    assert x.grad is not None and x.grad.tolist() == [2, 2]


def test_a_number_can_be_turned_and_flattened() -> None:
    number = torch.tensor(3.0)
    assert number.movedim(0, -1).stride() == () and number.movedim(0, 0).item() == 3
    assert number.flatten(-1, -1).tolist() == [3]
    with pytest.raises(RuntimeError, match="split expects at least a 1-dimensional tensor"):
        number.split(1)


def test_what_a_view_is_detached_to_is_no_view_and_shares_its_storage() -> None:
    x = torch.zeros(4)
    part = x[1:].detach()
    assert part._base is None and not part._is_view()
    part[0] = 9
    assert x.tolist() == [0, 9, 0, 0]
    inner = part[1:]
    assert inner._base is part and inner._is_view()
    inner[0] = 7
    assert x.tolist() == [0, 9, 7, 0] and part.tolist() == [9, 7, 0]


def test_data_counts_what_is_written_through_it_and_its_tensor_does_not() -> None:
    x = torch.ones(3)
    x.add_(1)
    data = x.data
    data.add_(1)
    data[0].add_(1)
    assert (x._version, data._version, x.data._version) == (1, 2, 0)
    x.detach().add_(1)
    assert (x._version, data._version) == (2, 2) and x.tolist() == [5.0, 4.0, 4.0]


def test_a_tensor_that_is_given_other_data_counts_on() -> None:
    x, other = torch.ones(2), torch.zeros(2).add_(1)
    x.add_(1)
    x.add_(1)
    x.data = other
    assert (x._version, other._version) == (2, 1)
    x[0].add_(1)
    assert x._version == x[0]._version == 3


def test_a_copy_has_an_address_of_its_own_and_a_write_keeps_it() -> None:
    model = nn.Linear(2, 2)
    copies = [model, copy.deepcopy(model), copy.deepcopy(model)]
    asked = [each.weight.data_ptr() for each in copies]
    assert len(set(asked)) == 3 and model.weight.data.data_ptr() == asked[0]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    copies[1].load_state_dict(model.state_dict())
    assert [each.weight.data_ptr() for each in copies] == asked
    assert copies[2].weight[1].data_ptr() - asked[2] == 8


def test_a_view_of_thousands_of_views_is_one_of_the_whole() -> None:
    whole = torch.arange(5000.0)
    rest = whole
    for _ in range(1200):
        rest = rest[1:]
    rest[0] = -1
    whole[1201] = -2
    assert rest[:3].tolist() == [-1.0, -2.0, 1202.0] and whole[1200].item() == -1
    assert (rest.stride(), rest.storage_offset(), rest._base is whole) == ((1,), 1200, True)
    turned = torch.arange(6.0).reshape(2, 3).clone()
    start = turned
    for _ in range(60):
        turned = turned.t().t()[:, :]
    turned[0] *= 2
    assert start.tolist() == [[0.0, 2.0, 4.0], [3.0, 4.0, 5.0]]
    detached = whole
    for _ in range(1100):
        detached = detached[1:].detach()
    detached[0] = 7
    assert whole[1100].item() == 7
    expanded = torch.ones(3, 1)
    for _ in range(1100):
        expanded = expanded.expand(3, 4)
    assert expanded.stride() == (1, 0) and expanded.sum().item() == 12


def test_views_of_views_stay_few_instructions() -> None:
    torch.ones(2, requires_grad=True)  # what is called from here is recorded
    x, depths = torch.rand(3, 4), []
    expected = x.clone()
    for _ in range(40):
        x = x.t().t()
        x[0] = x[0] * 0.5
        depths.append(len(explain.pending().splitlines()))
        x.sum().item()
    expected[0] *= 0.5**40
    assert torch.equal(x, expected)
    assert max(depths) <= max(depths[:16]), depths


def test_how_a_view_of_many_may_be_written_to_is_what_the_first_says() -> None:
    base = torch.arange(100.0, requires_grad=True) * 1
    with torch.no_grad():
        view = base
        for _ in range(40):
            view = view[1:]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        view += torch.ones(60, requires_grad=True)
    kept = base
    for _ in range(40):
        kept = kept[1:]
    kept.mul_(3)
    base.sum().backward()
    assert base.grad_fn is not None and "CopySlices" in str(base.grad_fn.name())
