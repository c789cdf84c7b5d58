"""torch._foreach functions, as optimizers of a script's own call them: each on all tensors of a list."""

from __future__ import annotations

import funcgrad as torch


def pair() -> list[torch.Tensor]:
    return [torch.tensor([1.0, -2.0]), torch.tensor([3.0])]


def lists(tensors: object) -> list[list[float]]:
    return [x.tolist() for x in tensors]


def test_scalars_are_one_number_a_list_or_a_tensor_of_them() -> None:
    for scalars in ([2.0, 3.0], torch.tensor([2.0, 3.0])):
        assert lists(torch._foreach_addcmul(pair(), pair(), pair(), scalars)) == [[3.0, 6.0], [30.0]]
    assert lists(torch._foreach_addcmul(pair(), pair(), pair(), scalars=[2.0, 3.0])) == [[3.0, 6.0], [30.0]]
    assert lists(torch._foreach_addcdiv(pair(), pair(), pair(), value=2.0)) == [[3.0, 0.0], [5.0]]
    changed = pair()
    torch._foreach_addcdiv_(changed, pair(), pair(), 2.0)
    assert lists(changed) == [[3.0, 0.0], [5.0]]


def test_operands_are_given_by_torchs_names() -> None:
    changed = pair()
    torch._foreach_mul_(changed, scalar=2.0)
    torch._foreach_add_(changed, other=pair(), alpha=3.0)
    assert lists(changed) == [[5.0, -10.0], [15.0]]
    assert lists(torch._foreach_lerp(pair(), tensors1=changed, weight=0.5)) == [[3.0, -6.0], [9.0]]
    assert lists(torch._foreach_addcmul(pair(), tensor1=pair(), tensor2=pair(), scalars=[1.0, 2.0])) == [
        [2.0, 2.0],
        [21.0],
    ]
    assert lists(torch._foreach_maximum(pair(), scalars=[0.0, 4.0])) == [[1.0, 0.0], [4.0]]


def test_the_larger_of_two_is_kept_in_place() -> None:
    kept = pair()
    torch._foreach_maximum_(kept, [torch.tensor([0.0, 5.0]), torch.tensor([1.0])])
    assert lists(kept) == [[1.0, 5.0], [3.0]]
    torch._foreach_minimum_(kept, 2.0)
    assert lists(kept) == [[1.0, 2.0], [2.0]]
    assert lists(torch._foreach_maximum(pair(), pair()[::-1])) == [[3.0, 3.0], [3.0, 3.0]]


def test_norms_are_taken_of_any_order() -> None:
    assert lists(torch._foreach_norm(pair(), 1)) == [3.0, 3.0]
    found = torch._foreach_norm(pair(), ord=float("inf"), dtype=torch.float64)
    assert lists(found) == [2.0, 3.0]
    assert found[0].dtype is torch.float64


def test_a_number_is_raised_to_each_tensor() -> None:
    assert lists(torch._foreach_pow(2.0, pair())) == [[2.0, 0.25], [8.0]]
    assert lists(torch._foreach_pow(pair(), 2)) == [[1.0, 4.0], [9.0]]


def test_zero_to_a_complex_power_is_zero() -> None:
    assert (torch.tensor(0j) ** torch.tensor(0.5 + 1j)).item() == 0
