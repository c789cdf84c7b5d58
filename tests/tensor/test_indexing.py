"""Reading and writing by any index does what torch does: numbers, gradients, aliases and errors."""

from __future__ import annotations

import json

import numpy as np
import pytest

import funcgrad
import funcgrad as torch
from funcgrad._base.config import settings
from tests.tensor.index_expressions import expressions
from tests.tensor.running import RECORDED, agree, shown

TRUTH = json.loads((RECORDED / "indexing.json").read_text())


def check(source: str, expected: dict[str, object]) -> None:
    found = shown(source, funcgrad)
    if "error" in expected:
        assert expected["error"] in found.get("error", ()), f"{source}\ntorch: {expected}\nfuncgrad: {found}"
    else:
        assert agree(expected, found), f"{source}\ntorch: {expected}\nfuncgrad: {found}"


@pytest.mark.parametrize("source", TRUTH)
def test_index_does_what_torch_recorded(source: str) -> None:
    check(source, TRUTH[source])


@pytest.mark.parametrize("source", list(TRUTH)[::8])
def test_index_does_the_same_op_by_op(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "eager", True)
    check(source, TRUTH[source])


def test_the_recorded_expressions_are_those_that_are_drawn_today() -> None:
    assert set(TRUTH) == set(expressions(seed=0, count=200))


@pytest.mark.parity
@pytest.mark.parametrize("seed", range(1, 7))
def test_index_does_what_torch_does_now(seed: int) -> None:
    torch = pytest.importorskip("torch")
    for source in expressions(seed, count=25):
        truth = shown(source, torch)
        check(source, {"error": truth["error"][0]} if "error" in truth else truth)


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_a_short_list_of_lists_is_read_as_a_tuple() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    for index in ([[0, 1], [1, 2]], [(0, 1), (1, 2)], [np.array([0, 1]), np.array([1, 2])]):
        assert x[index].tolist() == [1.0, 6.0]
    assert x[[range(2), range(2)]].tolist() == [0.0, 5.0]
    assert x[[[True, False, True]]].tolist() == x[::2].tolist()
    assert x[[[0, 1]] * 40].shape == (40, 2, 4)
    x[[[0, 1], [1, 2]]] = -1.0
    assert (x == -1).sum() == 2


@pytest.mark.parametrize("part", [slice("a"), slice(None, None, 1.5), slice(0.5, None)])
def test_a_slice_has_whole_numbers(part: slice) -> None:
    words = "slice indices must be integers or None or have an __index__ method"
    with pytest.raises(TypeError, match=words):
        torch.arange(3)[part]
    with pytest.raises(TypeError, match=words):
        torch.arange(3)[part] = 1


def test_a_number_has_no_slice() -> None:
    with pytest.raises(IndexError, match=r"slice\(\) cannot be applied to a 0-dim tensor"):
        torch.tensor(3.0)[:]


def test_a_mask_is_not_true_more_often_than_there_are_numbers_to_scatter() -> None:
    mask = torch.tensor([True, False, True])
    words = "Number of elements of source < number of ones in mask"
    with pytest.raises(RuntimeError, match=words):
        torch.zeros(3).masked_scatter(mask, torch.ones(1))
    with pytest.raises(RuntimeError, match=words):
        torch.zeros(2, 3).masked_scatter_(mask, torch.ones(3))
    with pytest.raises(RuntimeError, match=words):
        torch.zeros(3).masked_scatter(torch.ones(3).exp() > 2, torch.ones(2)).tolist()
    assert torch.zeros(2, 3).masked_scatter(mask, torch.arange(1.0, 5.0)).tolist() == [[1, 0, 2], [3, 0, 4]]


def test_one_number_is_not_written_by_a_mask_of_bytes_but_several_are() -> None:
    x, mask = torch.zeros(3), torch.tensor([1, 0, 1], dtype=torch.uint8)
    with pytest.warns(UserWarning, match="dtype torch.uint8"):
        with pytest.raises(RuntimeError, match="masked_fill_ only supports boolean masks"):
            x[mask] = 1
        x[mask] = torch.ones(2)
    assert x.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("index", "words"),
    [
        ("..., ..., 0", "index 0 is out of bounds for dimension 2 with size 0"),
        ("..., 7", "index 7 is out of bounds for dimension 1 with size 4"),
        ("0, None, 9", "index 9 is out of bounds for dimension 2 with size 3"),
        (":, [5]", "index 5 is out of bounds for dimension 0 with size 3"),
        ("[0], :, [9]", "index 9 is out of bounds for dimension 1 with size 4"),
        (":, torch.tensor(5)", "index 5 is out of bounds for dimension 1 with size 3"),
        ("[0, 1], [0, 1, 9]", "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]"),
    ],
)
def test_what_is_beyond_is_named_by_its_place_among_the_indices(index: str, words: str) -> None:
    x = torch.zeros(2, 3, 4)
    for source in (f"x[{index}]", f"x[{index}] = 1.0"):
        with pytest.raises(IndexError) as caught:
            exec(source, {"x": x, "torch": torch})
        assert str(caught.value) == words, source


def test_of_nothing_nothing_is_beyond() -> None:
    x = torch.zeros(2, 3)
    assert x[:, :0][torch.tensor([5])].shape == (1, 0)
    x[torch.tensor([], dtype=torch.int64), torch.tensor([7])] = 1.0
    assert not x.any()
    with pytest.raises(IndexError, match=r"^index is out of bounds for dimension with size 0"):
        x[:0][torch.tensor([0])]


def test_only_a_single_mask_takes_a_number_of_another_dtype() -> None:
    x, mask = torch.zeros(2, 2), torch.tensor([True, False])
    x[mask] = torch.tensor(3)
    assert x.tolist() == [[3.0, 3.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match="got Float for the destination and Long for the source"):
        x[mask, mask] = torch.tensor(3)


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_a_mask_of_bytes_that_does_not_fit_is_told_so_before_that_it_is_of_bytes() -> None:
    x = torch.zeros(3, 2)
    with pytest.raises(IndexError, match=r"The shape of the mask \[1\] at index 0 does not match"):
        x[torch.tensor([1], dtype=torch.uint8)] = 1.0
    with pytest.raises(RuntimeError, match="only supports boolean masks"):
        x[torch.tensor([1, 0, 1], dtype=torch.uint8)] = 1.0


def test_a_truth_value_of_numpy_without_dimensions_selects_all_or_nothing() -> None:
    x = funcgrad.arange(3)
    assert x[np.array(True)].tolist() == [[0, 1, 2]] and x[np.array(False)].shape == (0, 3)
    x[np.array(True)] = 4
    x[np.array(False)] = 5
    assert x.tolist() == [4, 4, 4]


def test_a_number_of_numpy_is_refused_by_its_full_name() -> None:
    with pytest.raises(IndexError, match=r"valid indices \(got numpy.float32\)"):
        funcgrad.arange(3)[np.float32(1)]
