"""Collating keeps the structure of samples and adds a dimension to every leaf, with torch's dtypes."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import funcgrad as torch
from funcgrad.utils.data import default_collate, default_convert
from funcgrad.utils.data.collate import collate, default_collate_fn_map

Point = collections.namedtuple("Point", ["x", "y"])


@pytest.mark.parametrize(
    ("batch", "dtype"),
    [
        ([1, 2], "int64"),
        ([1.0, 2.0], "float64"),
        ([1, 2.5], "float32"),
        ([True, False], "bool"),
        ([np.float32(1), np.float32(2)], "float32"),
        ([np.int32(1), np.int32(2)], "int32"),
        ([np.bool_(True), np.bool_(False)], "bool"),
        ([np.zeros(3, np.float64), np.ones(3, np.float64)], "float64"),
        ([np.zeros((), np.uint8), np.ones((), np.uint8)], "uint8"),
        ([np.zeros(2, np.int32), np.ones(2, np.float32)], "float32"),
        ([torch.zeros(2), torch.ones(2)], "float32"),
    ],
)
def test_leaves_are_stacked_with_torchs_dtype(batch, dtype) -> None:
    joined = default_collate(batch)
    assert joined.dtype is getattr(torch, dtype)
    assert joined.tolist() == [x.tolist() if hasattr(x, "tolist") else x for x in batch]


def test_structure_is_kept_and_tuples_become_lists() -> None:
    sample = {"image": np.ones((2, 3), np.float32), "label": 1, "at": Point(1, 2.0), "of": [1, 2], "name": "a"}
    batch = default_collate([sample, sample])
    assert batch["image"].shape == (2, 2, 3)
    assert batch["label"].tolist() == [1, 1]
    assert isinstance(batch["at"], Point)
    assert batch["at"].y.dtype is torch.float64
    assert [x.tolist() for x in batch["of"]] == [[1, 1], [2, 2]]
    assert batch["name"] == ["a", "a"]
    assert isinstance(default_collate([(1, 2), (3, 4)]), list)


def test_containers_of_their_own_type_stay_so() -> None:
    mapping = default_collate([collections.OrderedDict(a=1), collections.OrderedDict(a=2)])
    assert type(mapping) is collections.OrderedDict
    sequence = default_collate([collections.UserList([1, 2]), collections.UserList([3, 4])])
    assert type(sequence) is collections.UserList
    assert default_collate([range(2), range(2)])[1].tolist() == [1, 1]


def test_samples_of_other_sizes_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"equal size, but got \[2\] at entry 0 and \[3\] at entry 1"):
        default_collate([np.zeros(2), np.zeros(3)])
    with pytest.raises(RuntimeError, match="each element in list of batch should be of equal size"):
        default_collate([[1, 2], [1]])


@pytest.mark.parametrize("sample", [object(), np.array(["a"]), np.array([None]), None])
def test_what_is_no_number_is_refused(sample) -> None:
    with pytest.raises(TypeError, match="batch must contain tensors, numpy arrays, numbers, dicts or lists; found"):
        default_collate([sample])


def test_a_type_of_ones_own_can_be_given_a_rule() -> None:
    class Word(str):
        pass

    rules = {Word: lambda batch, *, collate_fn_map: "-".join(batch)} | default_collate_fn_map
    assert collate([(Word("a"), 1), (Word("b"), 2)], collate_fn_map=rules)[0] == "a-b"


def test_convert_changes_only_numpy_arrays() -> None:
    converted = default_convert({"a": np.array([1, 2]), "b": Point(np.float32(3), "x"), "c": (4, np.array(["s"]))})
    assert torch.equal(converted["a"], torch.tensor([1, 2]))
    assert converted["b"].x.dtype is torch.float32
    assert converted["b"].y == "x"
    assert converted["c"][0] == 4
    assert isinstance(converted["c"][1], np.ndarray)
    assert default_convert(0) == 0


def test_a_batch_does_not_share_memory_with_its_samples() -> None:
    samples = [np.zeros(2, np.float32)]
    batch = default_collate(samples)
    samples[0][:] = 1
    assert batch.tolist() == [[0, 0]]


def test_samples_taken_from_one_tensor_are_taken_at_once_and_say_what_it_says_now() -> None:
    table, other = torch.arange(12.0).reshape(4, 3), torch.ones(4, 3)
    assert default_collate([table[2], table[-1], table[2]]).tolist() == [table[i].tolist() for i in (2, 3, 2)]
    assert default_collate([table[0], other[0]]).tolist() == [[0, 1, 2], [1, 1, 1]]
    assert default_collate([table[0], table[:3, 1]]).tolist() == [[0, 1, 2], [1, 4, 7]]
    samples = [table[0], table[1]]
    table[1, 1] = 9  # a sample is a view
    batch = default_collate(samples)
    assert batch.tolist() == [[0, 1, 2], [3, 9, 5]]
    table.zero_()
    assert batch.tolist() == [[0, 1, 2], [3, 9, 5]]
    wanted = torch.ones(2, requires_grad=True)
    assert default_collate([wanted[0], wanted[1]]).grad_fn is not None


def test_a_batch_of_a_subclass_is_one() -> None:
    class Picture(torch.Tensor):
        pass

    pictures = [torch.ones(2).as_subclass(Picture) for _ in range(3)]
    assert type(default_collate(pictures)) is Picture
    assert default_collate(pictures).shape == (3, 2)
