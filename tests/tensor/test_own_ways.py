"""Where funcgrad takes what torch refuses, or cannot see what torch sees: each with what happens instead."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import funcgrad as torch
from funcgrad._base.errors import NotATensor


def test_assigning_overlapping_parts_reads_before_it_writes() -> None:
    x = torch.arange(4)
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2]


def test_places_out_of_range_are_refused_at_once_where_the_numbers_are_known_else_when_they_are_read() -> None:
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 3"):
        torch.ones(3)[torch.tensor([0, 4]) + 1]
    chosen = torch.ones(3)[torch.tensor([0, 10]) // 2]
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 3"):
        chosen.tolist()


def test_what_is_no_tensor_is_refused_by_name() -> None:
    with pytest.raises(NotATensor, match=r"relu\(\): argument 'input' \(position 1\) must be Tensor, not float"):
        torch.relu(1.0)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Tensor' and 'NoneType'"):
        torch.ones(2) + None  # type: ignore[operator]  # what is tested


def test_an_expanded_tensor_is_written_where_torch_allows_it() -> None:
    x = torch.tensor([0.0, float("nan"), 0.0])
    x.expand(2, 3)[1, 1:] = torch.tensor([1.0, 0.0])
    x.expand(4, 2, 3)[3, 0, 0].mul_(2).add_(3)
    assert x.tolist() == [3, 1, 0]
    assert torch.zeros(3).expand(2, 3).fill_(1).tolist() == [[1, 1, 1]] * 2
    for write in (lambda view: view.add_(1), lambda view: view.copy_(torch.ones(2, 3)), lambda view: view.uniform_()):
        with pytest.raises(RuntimeError, match="refers to a single memory location"):
            write(torch.zeros(3).expand(2, 3))


def test_named_results_are_called_as_torch_calls_them() -> None:
    found = torch.linalg.eigh(torch.eye(2))
    assert type(found) is torch.return_types.linalg_eigh
    assert repr(found).startswith("torch.return_types.linalg_eigh(")


def test_softmax_takes_the_stack_level_that_old_scripts_pass() -> None:
    functional = torch.nn.functional
    for function in (functional.softmax, functional.softmin, functional.log_softmax):
        assert function(torch.ones(2), 0, 5, torch.float64).dtype is torch.float64


def test_a_mean_is_rounded_as_one_division() -> None:
    right = torch.arange(100).expand(3, 100) < torch.tensor([[7], [29], [99]])
    expected = [float(np.float32(hits) / np.float32(100)) for hits in (7, 29, 99)]
    assert [row.float().mean().item() for row in right] == expected
    assert right.float().mean(1).tolist() == expected


def test_a_version_counts_what_was_written_under_any_name() -> None:
    x = torch.zeros(3)
    part, shared = x[:2], x.detach()
    x.add_(1)
    part.mul_(2)
    shared[0] = 1
    assert (x._version, part._version, shared._version) == (3, 3, 3)
    x.data.add_(1)  # as PyTorch has it, nobody learns of this
    x.view(-1)[1] = 0
    assert (x._version, x.data._version, x.tolist()) == (4, 0, [2.0, 0.0, 2.0])
    torch.autograd.graph.increment_version([x, part])
    assert x._version == 6


def test_initialising_and_each_step_of_an_optimizer_count_as_writing() -> None:
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD([*layer.parameters(), torch.zeros(2).data.requires_grad_()], lr=0.1)
    assert (layer.weight._version, layer.bias._version) == (1, 1)
    for _ in range(2):
        layer(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    with torch.no_grad():
        layer.bias.sub_(0.1)
    layer.weight.data.sub_(0.1)
    assert (layer.weight._version, layer.bias._version) == (3, 4)


def test_asarray_keeps_a_history_unless_told_otherwise() -> None:
    x = torch.ones(2, requires_grad=True) * 2
    assert torch.asarray(x) is x
    assert torch.asarray(x, requires_grad=False).grad_fn is None
    assert torch.asarray(x, copy=True).requires_grad
    plain = torch.ones(2)
    assert torch.asarray(plain, requires_grad=True) is plain and plain.requires_grad


def test_a_gradient_has_the_dtype_of_its_tensor() -> None:
    x = torch.ones(2, requires_grad=True)
    x.grad_dtype = torch.float32
    with pytest.raises(RuntimeError, match="grad_dtype cannot be"):
        x.grad_dtype = torch.float16


def test_the_size_of_a_storage_counts_its_bytes() -> None:
    small, large = torch.zeros(1), torch.zeros(251)
    assert sys.getsizeof(large.untyped_storage()) - sys.getsizeof(small.untyped_storage()) == 1000


def test_storages_say_their_elements() -> None:
    typed = torch.TypedStorage(2, dtype=torch.int32)
    assert repr(typed) == " 0\n 0\n[torch.storage.TypedStorage(dtype=torch.int32, device=cpu) of size 2]"
    assert repr(torch.ones(1, dtype=torch.uint8).untyped_storage()) == (
        " 1\n[torch.storage.UntypedStorage(device=cpu) of size 1]"
    )


def test_set_shows_a_part_of_a_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("funcgrad._base.warning._told", set())
    whole = torch.arange(12.0).reshape(3, 4)
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        typed = whole.storage()
    for source in (whole, typed, whole.untyped_storage()):
        part = torch.empty(0).set_(source, 2, (2, 2), (4, 1))
        assert part.tolist() == [[2, 3], [6, 7]]
        assert (part.storage_offset(), part.stride()) == (2, (4, 1))
    part[1, 1] = -1.0
    assert whole[1, 3].item() == -1.0
    assert torch.empty(0).set_(whole[1], 2, (2, 2), (4, 1)).tolist() == [[6, -1], [10, 11]]
    assert torch.empty(0).set_(typed).shape == (12,)
    assert torch.empty(0).set_(typed, 4, (3,)).tolist() == [4, 5, 6]
    assert torch.ones(2).set_().tolist() == []
    with pytest.raises(RuntimeError, match="out of bounds for storage"):
        torch.empty(0).set_(whole, 10, (4,))
    with pytest.raises(RuntimeError, match="must be contiguous"):
        torch.empty(0).set_(whole.T, 0, (4,))


def test_a_bare_dlpack_capsule_is_read() -> None:
    assert torch.from_dlpack(torch.utils.dlpack.to_dlpack(torch.arange(3))).tolist() == [0, 1, 2]


def test_a_storage_shows_its_bytes_and_reads_a_file_by_parts(tmp_path: Path) -> None:
    stored = torch.tensor([1, 258], dtype=torch.int16).untyped_storage()
    assert (stored[0], stored[2], len(stored[1:3]), stored.untyped() is stored) == (1, 2, 2, True)
    assert torch.asarray(stored[2:], dtype=torch.uint8).view(torch.int16).tolist() == [258]
    file = tmp_path / "numbers"
    file.write_bytes(bytes(range(10)))
    mapped = torch.UntypedStorage.from_file(file, nbytes=8)
    assert (len(mapped), mapped[7], torch.asarray(mapped[2:4]).tolist()) == (8, 7, [2, 3])
    with pytest.raises(RuntimeError, match="shared=False"):
        torch.UntypedStorage.from_file(file, shared=True, nbytes=8)


def test_a_storage_of_bytes_is_one_and_a_typed_one_is_not() -> None:
    x = torch.ones(2)
    assert isinstance(x.untyped_storage(), torch.StorageBase)
    assert not issubclass(torch.TypedStorage, torch.StorageBase)


def test_a_file_that_is_shared_has_what_is_written_to_the_tensor(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    x = torch.from_file(file, shared=True, size=3)
    assert (x.tolist(), file.stat().st_size) == ([0, 0, 0], 12)
    x[1] = 7
    x.add_(1)
    assert np.fromfile(file, np.float32).tolist() == [1, 8, 1]
    np.memmap(file, np.float32, "r+")[0] = 5
    assert x.tolist() == [5, 8, 1]
    assert torch.from_file(file, size=2).tolist() == [5, 8]
    torch.from_file(file, size=2).zero_()
    assert np.fromfile(file, np.float32).tolist() == [5, 8, 1]
    assert torch.from_file(file, shared=True, size=4).tolist() == [5, 8, 1, 0]
    half = torch.from_file(tmp_path / "half", shared=True, size=1, dtype=torch.bfloat16).fill_(1.5)
    assert torch.from_file(tmp_path / "half", size=1, dtype=half.dtype).tolist() == [1.5]
    with pytest.raises(RuntimeError, match="size <16> is smaller than the required mapping size <32>"):
        torch.from_file(file, size=8)
    with pytest.raises(RuntimeError, match="unable to open file"):
        torch.from_file(tmp_path / "none", size=1)
