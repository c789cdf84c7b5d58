"""What a user gets wrong is refused in torch's words: the texts are those of torch 2.13.0."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.nn import functional as F


def _wide(*size: int) -> torch.Tensor:
    return torch.ones(*size, dtype=torch.float64)


def _weight() -> torch.Tensor:
    return torch.ones(3, requires_grad=True)


REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (
        lambda: nn.Conv2d(1, 4, 3)(_wide(1, 1, 4, 4)),
        RuntimeError,
        "Input type (double) and bias type (float) should be the same",
    ),
    (
        lambda: nn.Conv1d(1, 4, 3)(torch.ones(1, 1, 4, dtype=torch.long)),
        RuntimeError,
        "Input type (long int) and bias type (float) should be the same",
    ),
    (
        lambda: nn.Conv2d(1, 4, 3, bias=False)(_wide(1, 1, 4, 4)),
        RuntimeError,
        "expected scalar type Double but found Float",
    ),
    (
        lambda: torch.ones(2, 3).copy_(torch.ones(2, 4)),
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    ),
    (
        lambda: torch.ones(3).copy_(torch.ones(2, 3)),
        RuntimeError,
        "output with shape [3] doesn't match the broadcast shape [2, 3]",
    ),
    (
        lambda: torch.zeros(4, 3).__setitem__(0, torch.ones(4)),
        RuntimeError,
        "The expanded size of the tensor (3) must match the existing size (4) at non-singleton dimension 0.  "
        "Target sizes: [3].  Tensor sizes: [4]",
    ),
    (
        lambda: torch.ones(2, 3, dtype=torch.int64).expand(3),
        RuntimeError,
        "expand(torch.LongTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the "
        "number of dimensions in the tensor (2)",
    ),
    (
        lambda: torch.broadcast_to(torch.ones(2, 3, dtype=torch.bool), (1,)),
        RuntimeError,
        "expand(CPUBoolType{[2, 3]}, size=[1]): the number of sizes provided (1) must be greater or equal to the "
        "number of dimensions in the tensor (2)",
    ),
    (
        lambda: torch.zeros(2).__setitem__(0, _wide(2, 2)),
        RuntimeError,
        "expand(torch.DoubleTensor{[2, 2]}, size=[]): the number of sizes provided (0) must be greater or equal to the "
        "number of dimensions in the tensor (2)",
    ),
    (lambda: torch.ones(3)[::-1], ValueError, "step must be greater than zero"),
    (
        lambda: torch.ones(3).normal_(generator=1),
        TypeError,
        "argument 'generator' must be torch.Generator, not int",
    ),
    (
        lambda: nn.functional.poisson_nll_loss(torch.ones(2, 3), torch.ones(4, 3)),
        RuntimeError,
        "The size of tensor a (4) must match the size of tensor b (2) at non-singleton dimension 0",
    ),
    (
        lambda: torch.ones(2, 3).masked_fill(torch.ones(4, 3).bool(), 0),
        RuntimeError,
        "The size of tensor a (4) must match the size of tensor b (2) at non-singleton dimension 0",
    ),
    (
        lambda: nn.functional.prelu(torch.ones(2, 3, 4), torch.ones(2)),
        RuntimeError,
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = 2 and channel size = 3.",
    ),
    (lambda: torch.ones(3).quantile(2.0), RuntimeError, "quantile() q must be in the range [0, 1] but got 2"),
    (lambda: torch.ones(3).quantile(1.5), RuntimeError, "quantile() q must be in the range [0, 1] but got 1.5"),
    (
        lambda: torch.ones(3).repeat_interleave(torch.tensor([1, 2])),
        RuntimeError,
        "repeats must have the same size as input along dim, but got repeats.size(0) = 2 and input.size(0) = 3",
    ),
    (
        lambda: torch.ones(2).repeat_interleave(torch.ones(2)),
        NotImplementedError,
        "\"repeat_interleave_cpu\" not implemented for 'Float'",
    ),
    (
        lambda: setattr(torch.ones(3), "data", np.ones(3)),
        TypeError,
        "Variable data has to be a tensor, but got numpy.ndarray",
    ),
    (
        lambda: setattr(_weight(), "data", torch.ones(3, dtype=torch.long)),
        RuntimeError,
        "data set to a tensor that requires gradients must be floating point or complex dtype",
    ),
    (
        lambda: (_weight() * 2).backward(torch.ones(3, dtype=torch.complex64)),
        RuntimeError,
        "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
        "grad_output[0] has a dtype of torch.complex64 and output[0] has a dtype of torch.float32.",
    ),
    (
        lambda: nn.GRUCell(3, 4)(torch.ones(2, 3), torch.ones(3, 4)),
        RuntimeError,
        "Input batch size 2 doesn't match hidden0 batch size 3",
    ),
    (
        lambda: nn.LSTMCell(3, 4)(torch.ones(2, 3), (torch.ones(2, 4), torch.ones(2, 5))),
        RuntimeError,
        "hidden1 has inconsistent hidden_size: got 5, expected 4",
    ),
    (
        lambda: torch.broadcast_shapes((1, 2), (2,), (3, 2, 5)),
        RuntimeError,
        "Attempting to broadcast a dimension of length 5 at -1! Mismatching argument at index 2 had (3, 2, 5); but "
        "expected shape should be broadcastable to [1, 1, 2]",
    ),
    (lambda: torch.broadcast_shapes((-1,)), ValueError, "Attempting to broadcast a dimension with negative length!"),
    (
        lambda: torch.ones(4, 6).expand(3, 3),
        RuntimeError,
        "The expanded size of the tensor (3) must match the existing size (6) at non-singleton dimension 1.  "
        "Target sizes: [3, 3].  Tensor sizes: [4, 6]",
    ),
    (
        lambda: torch.ones(3) in torch.ones(4),
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0",
    ),
    (
        lambda: (_weight() * 2).backward(torch.ones(5), inputs=[]),
        RuntimeError,
        "`inputs` argument to `backward()` cannot be empty.",
    ),
    (lambda: nn.GELU("sigmoid")(torch.ones(2)), RuntimeError, "approximate argument must be either none or tanh."),
    (
        lambda: torch.from_numpy(np.float32(3)),  # pyright: ignore[reportArgumentType] - it must be refused
        TypeError,
        "expected np.ndarray (got numpy.float32)",
    ),
    (lambda: torch.tensor(["a", 1]), ValueError, "too many dimensions 'str'"),
    (lambda: torch.tensor([["a"], []]), ValueError, "too many dimensions 'str'"),
    (lambda: torch.tensor([[], ["a"]]), TypeError, "new(): invalid data type 'str'"),
    (lambda: torch.tensor([[], None]), RuntimeError, "Could not infer dtype of NoneType"),
    (lambda: torch.tensor([1, []]), TypeError, "must be real number, not list"),
    (lambda: torch.float32(), TypeError, "'torch.dtype' object is not callable"),  # type: ignore[operator]
    (lambda: torch.device("cpu") + 1, TypeError, "unsupported operand type(s) for +: 'torch.device' and 'int'"),  # type: ignore[operator]
    (lambda: torch.ones(2).shape.rank, AttributeError, "'torch.Size' object has no attribute 'rank'"),  # type: ignore[attr-defined]
    (lambda: torch.tensor([1, "a"]), TypeError, "new(): invalid data type 'str'"),
    (lambda: torch.tensor([1, "a"], dtype=torch.float32), TypeError, "must be real number, not str"),
    (
        lambda: torch.tensor([1, None], dtype=torch.int64),
        TypeError,
        "'NoneType' object cannot be interpreted as an integer",
    ),
    (
        lambda: torch.vmap(lambda row: row.item())(torch.ones(2, 3)),
        RuntimeError,
        "vmap: It looks like you're calling .item() on a Tensor.",
    ),
    (lambda: bool(torch.ones((), device="meta")), RuntimeError, "Tensor.item() cannot be called on meta tensors"),
    (
        lambda: torch.ones(2, device="meta").numpy(),
        TypeError,
        "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
    ),
]


@pytest.mark.parametrize(("wrong", "kind", "text"), REFUSED, ids=[text[:40] for _, _, text in REFUSED])
def test_a_mistake_is_told_in_torchs_words(wrong: Callable[[], object], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        wrong()


@pytest.mark.parametrize("rows", [[[], [1]], [[], 2], [(), [[1]]], [np.ones(0), np.ones(2)]])
def test_rows_after_an_empty_one_are_not_looked_at(rows: list[Any]) -> None:
    assert torch.tensor(rows, dtype=torch.float32).shape == (2, 0)


ANYTHING: Any = torch  # whose functions take anything, as far as types can tell
SETTINGS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (
        lambda: ANYTHING.set_default_tensor_type("torch.cuda.FloatTensor"),
        TypeError,
        "type torch.cuda.FloatTensor not available. Torch not compiled with CUDA enabled.",
    ),
    (
        lambda: ANYTHING.set_default_tensor_type(torch.float32),
        TypeError,
        "invalid type object: only floating-point types are supported as the default type",
    ),
    (
        lambda: ANYTHING.set_default_dtype("float"),
        TypeError,
        "invalid dtype object: only floating-point types are supported as the default type",
    ),
    (
        lambda: torch.set_deterministic_debug_mode("no"),
        RuntimeError,
        "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got no",
    ),
    (
        lambda: ANYTHING.use_deterministic_algorithms(1),
        TypeError,
        "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not int",
    ),
    (lambda: torch.device("cuda:"), RuntimeError, "Invalid device string: 'cuda:'"),
    (
        lambda: torch.tensor([np.array([1, 2]), np.array([3])]),
        ValueError,
        "expected sequence of length 2 at dim 1 (got 1)",
    ),
    (
        lambda: torch.add(_weight(), 1, out=torch.zeros(3)),
        RuntimeError,
        "add(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
        "requires grad.",
    ),
    (lambda: torch.device(""), RuntimeError, "Device string must not be empty"),
    (
        lambda: ANYTHING.device("cpu", "a"),
        TypeError,
        "device(): argument 'index' (position 2) must be int, not str",
    ),
]


@pytest.mark.parametrize(("wrong", "kind", "text"), SETTINGS)
@pytest.mark.filterwarnings("ignore:.*is deprecated as of PyTorch 2.1")
def test_settings_that_are_refused_stay_as_they_were(
    wrong: Callable[[], object], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=f"^{re.escape(text)}$"):
        wrong()
    made = torch.ones(1)
    assert (made.dtype, made.device) == (torch.float32, torch.device("cpu"))
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_precision_that_torch_does_not_know_is_warned_of_and_left_out() -> None:
    with pytest.warns(UserWarning, match="foo is not one of 'highest', 'high', or 'medium'"):
        torch.set_float32_matmul_precision("foo")
    assert torch.get_float32_matmul_precision() == "highest"


MATRIX: Any = torch.ones(2, 2)
ARRAY: Any = np.ones((2, 2))
NUMBERS: Any = [0, 1]
ONE: Any = 1
NONE: Any = None
OF_WRONG_KINDS: list[tuple[Callable[[], object], str]] = [
    (lambda: MATRIX.sum(0, 1), "sum(): argument 'keepdim' (position 2) must be bool, not int"),
    (lambda: MATRIX.mean(0, 1), "mean(): argument 'keepdim' (position 2) must be bool, not int"),
    (lambda: torch.sum(MATRIX, 0, ONE), "sum(): argument 'keepdim' (position 3) must be bool, not int"),
    (lambda: MATRIX.max(0, None), "max(): argument 'keepdim' (position 2) must be bool, not NoneType"),
    (lambda: MATRIX.topk(1, 0, np.True_), "topk(): argument 'largest' (position 3) must be bool, not numpy.bool"),
    (lambda: MATRIX.mm(3), "mm(): argument 'mat2' (position 1) must be Tensor, not int"),
    (lambda: MATRIX.add("a"), "add(): argument 'other' (position 1) must be Tensor, not str"),
    (lambda: torch.mul(MATRIX, NUMBERS), "mul(): argument 'other' (position 2) must be Tensor, not list"),
    (lambda: torch.relu(ARRAY), "relu(): argument 'input' (position 1) must be Tensor, not numpy.ndarray"),
    (lambda: torch.stack([ARRAY]), "expected Tensor as element 0 in argument 0, but got numpy.ndarray"),
    (lambda: torch.cat([MATRIX, ARRAY]), "expected Tensor as element 1 in argument 0, but got numpy.ndarray"),
    (lambda: MATRIX.mm(ARRAY), "mm(): argument 'mat2' (position 1) must be Tensor, not numpy.ndarray"),
    (
        lambda: F.cross_entropy(MATRIX, NUMBERS),
        "cross_entropy_loss(): argument 'target' (position 2) must be Tensor, not list",
    ),
    (lambda: F.embedding(NUMBERS, MATRIX), "embedding(): argument 'indices' (position 2) must be Tensor, not list"),
    (lambda: torch.zeros(2, requires_grad=ONE), "zeros(): argument 'requires_grad' must be bool, not int"),
    (lambda: torch.tensor(1.0, requires_grad=NONE), "tensor(): argument 'requires_grad' must be bool, not NoneType"),
    (lambda: torch.tensor(1.0, requires_grad=ONE), "tensor(): argument 'requires_grad' must be bool, not int"),
    (lambda: torch.ones(2, dtype=ARRAY.dtype.type), "ones(): argument 'dtype' must be torch.dtype, not type"),
    (
        lambda: torch.ones(2).requires_grad_(ONE),
        "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not int",
    ),
    (
        lambda: torch.set_grad_enabled(ONE),
        "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not int",
    ),
    (lambda: torch.unique(MATRIX, ONE), "_unique2(): argument 'sorted' must be bool, not int"),
    (lambda: torch.unique(MATRIX, ONE, dim=0), "unique_dim(): argument 'sorted' must be bool, not int"),
    (lambda: MATRIX.flip(), 'flip() missing 1 required positional arguments: "dims"'),
    (lambda: MATRIX.permute(), 'permute() missing 1 required positional arguments: "dims"'),
    (lambda: MATRIX.reshape(), 'reshape() missing 1 required positional arguments: "shape"'),
    (lambda: MATRIX.expand(), 'expand() missing 1 required positional arguments: "size"'),
    (lambda: MATRIX.repeat(), 'repeat() missing 1 required positional arguments: "repeats"'),
    (
        lambda: MATRIX.view(),
        "view() received an invalid combination of arguments - got (), but expected one of:\n * (torch.dtype dtype)\n"
        " * (tuple of ints size)\n",
    ),
]


@pytest.mark.parametrize(("wrong", "told"), OF_WRONG_KINDS)
def test_an_argument_of_a_wrong_kind_is_named_and_counted_as_torch_does(wrong: Callable[[], object], told: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(told)}$"):
        wrong()


def test_operators_take_arrays_as_functions_do_not() -> None:
    x, array = torch.ones(2), np.array([1.0, 2.0])
    assert (x + array).tolist() == [2, 3]
    assert (x * array).dtype is torch.float64
    assert (x @ array).item() == 3


def test_rows_without_a_place_have_no_different_ones() -> None:
    with pytest.raises(RuntimeError, match="There are 0 sized dimensions, and they aren't selected"):
        torch.unique(torch.zeros(0, 3), dim=1)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        torch.unique(torch.tensor(3.0), dim=0)
    assert torch.unique(torch.zeros(0, 3), dim=0).shape == (0, 3)


def test_none_says_that_no_gradient_is_wanted() -> None:
    makers = (torch.zeros, torch.ones, torch.empty, torch.arange, torch.eye, torch.randn, torch.rand)
    made = [*(make(2, requires_grad=NONE) for make in makers), torch.full((2,), 1.0, requires_grad=NONE)]
    assert not any(tensor.requires_grad for tensor in [*made, torch.linspace(0, 1, 3, requires_grad=NONE)])


def test_numbers_of_numpy_are_sizes() -> None:
    two: Any = np.array(2)
    assert torch.zeros(two, np.int32(3)).shape == torch.zeros(2, 3).shape
    assert torch.zeros(two).shape == (2,) and torch.ones(4).view(two, 2).shape == (2, 2)


def test_no_nan_is_the_same_as_another() -> None:
    x = torch.tensor([1.0, float("nan"), 2.0, float("nan"), 1.0])
    found, places, counts = torch.unique(x, return_inverse=True, return_counts=True)
    assert str(found) == "tensor([1., 2., nan, nan])"
    assert places.tolist() == [0, 2, 1, 3, 0] and counts.tolist() == [2, 1, 1, 1]


@pytest.mark.parametrize("dim", [0, -1, 1])
def test_a_number_has_no_dimension_whose_size_could_be_asked(dim: int) -> None:
    for ask in (torch.tensor(5).size, torch.tensor(5).stride):
        with pytest.raises(IndexError, match=f"^Dimension specified as {dim} but tensor has no dimensions$"):
            ask(dim)
