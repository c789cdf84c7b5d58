"""What functions of tensors are given wrongly is refused in torch's words, forms included: those of torch 2.13.0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad._base import warning
from tests.refusing import Refusal, assert_refused

X = torch.arange(12.0).reshape(3, 4)
Y = torch.arange(12).reshape(3, 4)


REFUSED: list[Refusal] = [
    (
        lambda: X.sum("a"),
        TypeError,
        "sum() received an invalid combination of arguments - got (str), but expected one of:\n * (*, "
        "torch.dtype dtype = None)\n * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = "
        "None)\n",
    ),
    (
        lambda: torch.sum(),
        TypeError,
        "sum() received an invalid combination of arguments - got (), but expected one of:\n * (Tensor "
        "input, *, torch.dtype dtype = None)\n * (Tensor input, tuple of ints dim, bool keepdim = False, "
        "*, torch.dtype dtype = None, Tensor out = None)\n",
    ),
    (
        lambda: X.mean("a"),
        TypeError,
        "mean() received an invalid combination of arguments - got (str), but expected one of:\n * (*, "
        "torch.dtype dtype = None)\n * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = "
        "None)\n",
    ),
    (
        lambda: X.masked_fill(Y > 2, "a"),
        TypeError,
        "masked_fill() received an invalid combination of arguments - got (Tensor, str), but expected "
        "one of:\n * (Tensor mask, Tensor value)\n      didn't match because some of the arguments have "
        "invalid types: (Tensor, !str!)\n * (Tensor mask, Number value)\n      didn't match because some "
        "of the arguments have invalid types: (Tensor, !str!)\n",
    ),
    (
        lambda: X.masked_fill(Y > 2, None),
        TypeError,
        "masked_fill() received an invalid combination of arguments - got (Tensor, NoneType), but "
        "expected one of:\n * (Tensor mask, Tensor value)\n      didn't match because some of the "
        "arguments have invalid types: (Tensor, !NoneType!)\n * (Tensor mask, Number value)\n      didn't "
        "match because some of the arguments have invalid types: (Tensor, !NoneType!)\n",
    ),
    (
        lambda: torch.where(Y > 2, X),
        TypeError,
        "where() received an invalid combination of arguments - got (Tensor, Tensor), but expected one "
        "of:\n * (Tensor condition)\n * (Tensor condition, Tensor input, Tensor other, *, Tensor out = "
        "None)\n * (Tensor condition, Number self, Tensor other)\n * (Tensor condition, Tensor input, "
        "Number other)\n * (Tensor condition, Number self, Number other)\n",
    ),
    (
        lambda: torch.where(True, X, X),
        TypeError,
        "where() received an invalid combination of arguments - got (bool, Tensor, Tensor), but "
        "expected one of:\n * (Tensor condition)\n * (Tensor condition, Tensor input, Tensor other, *, "
        "Tensor out = None)\n * (Tensor condition, Number self, Tensor other)\n      didn't match because "
        "some of the arguments have invalid types: (!bool!, !Tensor!, Tensor)\n * (Tensor condition, "
        "Tensor input, Number other)\n      didn't match because some of the arguments have invalid "
        "types: (!bool!, Tensor, !Tensor!)\n * (Tensor condition, Number self, Number other)\n      "
        "didn't match because some of the arguments have invalid types: (!bool!, !Tensor!, !Tensor!)\n",
    ),
    (
        lambda: torch.where(Y > 2, "a", 1),
        TypeError,
        "where() received an invalid combination of arguments - got (Tensor, str, int), but expected "
        "one of:\n * (Tensor condition)\n * (Tensor condition, Tensor input, Tensor other, *, Tensor out "
        "= None)\n * (Tensor condition, Number self, Tensor other)\n      didn't match because some of "
        "the arguments have invalid types: (Tensor, !str!, !int!)\n * (Tensor condition, Tensor input, "
        "Number other)\n      didn't match because some of the arguments have invalid types: (Tensor, "
        "!str!, !int!)\n * (Tensor condition, Number self, Number other)\n      didn't match because some "
        "of the arguments have invalid types: (Tensor, !str!, !int!)\n",
    ),
    (
        lambda: X.argsort("a"),
        TypeError,
        "argsort() received an invalid combination of arguments - got (str), but expected one of:\n * "
        "(*, bool stable, int dim = -1, bool descending = False)\n * (int dim = -1, bool descending = "
        "False)\n",
    ),
    (
        lambda: torch.clamp(X, "a"),
        TypeError,
        "clamp() received an invalid combination of arguments - got (Tensor, str), but expected one "
        "of:\n * (Tensor input, Tensor min = None, Tensor max = None, *, Tensor out = None)\n * (Tensor "
        "input, Number min = None, Number max = None, *, Tensor out = None)\n",
    ),
    (
        lambda: torch.lerp(X, X, "a"),
        TypeError,
        "lerp() received an invalid combination of arguments - got (Tensor, Tensor, str), but expected "
        "one of:\n * (Tensor input, Tensor end, Tensor weight, *, Tensor out = None)\n * (Tensor input, "
        "Tensor end, Number weight, *, Tensor out = None)\n",
    ),
    (
        lambda: X.pow("a"),
        TypeError,
        "pow() received an invalid combination of arguments - got (str), but expected one of:\n * "
        "(Tensor exponent)\n      didn't match because some of the arguments have invalid types: "
        "(!str!)\n * (Number exponent)\n      didn't match because some of the arguments have invalid "
        "types: (!str!)\n",
    ),
    (
        lambda: X.squeeze("a"),
        TypeError,
        "squeeze() received an invalid combination of arguments - got (str), but expected one of:\n * "
        "()\n      didn't match because some of the arguments have invalid types: (!str!)\n * (int dim)\n  "
        "    didn't match because some of the arguments have invalid types: (!str!)\n * (tuple of ints "
        "dim)\n      didn't match because some of the arguments have invalid types: (!str!)\n",
    ),
    (
        lambda: X.eq("a"),
        TypeError,
        "eq() received an invalid combination of arguments - got (str), but expected one of:\n * (Tensor "
        "other)\n      didn't match because some of the arguments have invalid types: (!str!)\n * (Number "
        "other)\n      didn't match because some of the arguments have invalid types: (!str!)\n",
    ),
    (lambda: torch.relu(), TypeError, 'relu() missing 1 required positional arguments: "input"'),
    (lambda: X.transpose(0), TypeError, 'transpose() missing 1 required positional arguments: "dim1"'),
    (lambda: torch.cat(), TypeError, 'cat() missing 1 required positional arguments: "tensors"'),
    (lambda: torch.mv(X), TypeError, 'mv() missing 1 required positional arguments: "vec"'),
    (lambda: X.index_add(0), TypeError, 'index_add() missing 2 required positional argument: "index", "source"'),
    (lambda: X.unsqueeze(), TypeError, 'unsqueeze() missing 1 required positional arguments: "dim"'),
    (lambda: X.softmax(), TypeError, 'softmax() missing 1 required positional arguments: "dim"'),
    (lambda: torch.log_softmax(X), TypeError, 'log_softmax() missing 1 required positional arguments: "dim"'),
    (
        lambda: torch.linalg.matrix_power(torch.eye(2), 1.5),
        TypeError,
        "linalg_matrix_power(): argument 'n' (position 2) must be int, not float",
    ),
    (
        lambda: X.split([2, -1, 2]),
        RuntimeError,
        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=[2, -1, 2]",
    ),
    (
        lambda: X.index_copy(0, torch.tensor([0]), torch.ones(2, 4)),
        IndexError,
        "index_copy_(): Number of indices (1) should be equal to source.size(dim) (2)",
    ),
    (
        lambda: X.index_add(0, torch.tensor([0]), torch.ones(2, 4)),
        RuntimeError,
        "index_add_(): Number of indices (1) should be equal to source.size(dim): (2), for dim: 0",
    ),
    (
        lambda: torch.tensor(1.0).index_add(0, torch.tensor([0]), torch.tensor([2.0])),
        RuntimeError,
        "source tensor shape must match self tensor shape, excluding the specified dimension. "
        "Got self.shape = [] source.shape = [1]",
    ),
    (
        lambda: torch.tensor([1.0]).index_add(0, torch.tensor([0]), torch.tensor(2.0)),
        RuntimeError,
        "source tensor shape must match self tensor shape, excluding the specified dimension. "
        "Got self.shape = [1] source.shape = []",
    ),
    (
        lambda: X.masked_select(torch.ones(5).bool()),
        RuntimeError,
        "The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 1",
    ),
    (lambda: X.size("a"), TypeError, "size(): argument 'dim' (position 1) must be int, not str"),
    (lambda: X.shape + 3, TypeError, "can only concatenate tuple (not int) to torch.Size"),
    (
        lambda: X.eq([1]),
        TypeError,
        "eq() received an invalid combination of arguments - got (list), but expected one of:\n * "
        "(Tensor other)\n      didn't match because some of the arguments have invalid types: (!list of "
        "[int]!)\n * (Number other)\n      didn't match because some of the arguments have invalid types: "
        "(!list of [int]!)\n",
    ),
    (
        lambda: X.fill_("a"),
        TypeError,
        "fill_() received an invalid combination of arguments - got (str), but expected one of:\n * "
        "(Tensor value)\n      didn't match because some of the arguments have invalid types: (!str!)\n * "
        "(Number value)\n      didn't match because some of the arguments have invalid types: (!str!)\n",
    ),
    (lambda: torch.full(2, 3), TypeError, "full(): argument 'size' (position 1) must be tuple of ints, not int"),
    (lambda: torch.arange("a"), TypeError, "arange(): argument 'end' (position 1) must be Number, not str"),
    (lambda: torch.device(-1), RuntimeError, "Device index must not be negative"),
    (lambda: torch.finfo(3), TypeError, "finfo(): argument 'type' (position 1) must be torch.dtype, not int"),
    (lambda: torch.iinfo("a"), TypeError, "iinfo(): argument 'type' (position 1) must be torch.dtype, not str"),
    (
        lambda: torch.from_numpy(np.ones(3, ">f4")),
        ValueError,
        "given numpy array has byte order different from the native byte order. Conversion between byte "
        "orders is currently not supported.",
    ),
    (
        lambda: torch.frombuffer(bytearray(b"abc"), dtype=torch.int32),
        ValueError,
        "buffer length (3 bytes) after offset (0 bytes) must be a multiple of element size (4)",
    ),
    (lambda: torch.randint(3.5, (2,)), TypeError, "randint(): argument 'high' (position 1) must be int, not float"),
    (lambda: torch.Generator().manual_seed(1.5), RuntimeError, "manual_seed expected a long, but got float"),
    (lambda: (torch.ones(2, requires_grad=True) * 2).backward(3.0), TypeError, "'float' object is not iterable"),
    (
        lambda: torch.stft(torch.ones(100), 16, return_complex=True, window=torch.ones(8)),
        RuntimeError,
        "stft(torch.FloatTensor[116], n_fft=16, hop_length=4, win_length=16, "
        "window=torch.FloatTensor{[8]}, normalized=0, onesided=None, return_complex=1, "
        "align_to_window=None) : expected a 1D window tensor of size equal to win_length=16, but got "
        "window with size [8]",
    ),
    (
        lambda: torch.stft(torch.ones(2, 2, 100), 16, return_complex=True),
        RuntimeError,
        "stft(torch.FloatTensor[2, 2, 116], n_fft=16, hop_length=4, win_length=16, window=None, "
        "normalized=0, onesided=None, return_complex=1, align_to_window=None) : expected a 1D or 2D "
        "tensor",
    ),
    (
        lambda: torch.stft(torch.ones(100).long(), 16, return_complex=True),
        RuntimeError,
        "stft(torch.LongTensor[116], n_fft=16, hop_length=4, win_length=16, window=None, normalized=0, "
        "onesided=None, return_complex=1, align_to_window=None) : expected a tensor of floating point "
        "or complex values",
    ),
    (
        lambda: torch.stft(torch.ones(100), 16, 0, return_complex=True),
        RuntimeError,
        "stft(torch.FloatTensor[116], n_fft=16, hop_length=0, win_length=16, window=None, normalized=0, "
        "onesided=None, return_complex=1, align_to_window=None) : expected hop_length > 0, but got "
        "hop_length=0",
    ),
    (
        lambda: torch.stft(torch.ones(100), 16, 4, 20, return_complex=True),
        RuntimeError,
        "stft(torch.FloatTensor[116], n_fft=16, hop_length=4, win_length=20, window=None, normalized=0, "
        "onesided=None, return_complex=1, align_to_window=None) : expected 0 < win_length <= n_fft, but "
        "got win_length=20",
    ),
    (
        lambda: torch.stft(
            torch.ones(10).double(),
            16,
            center=False,
            window=torch.ones(16).double(),
            return_complex=True,
            align_to_window=True,
        ),
        RuntimeError,
        "stft(torch.DoubleTensor[10], n_fft=16, hop_length=4, win_length=16, "
        "window=torch.DoubleTensor{[16]}, normalized=0, onesided=None, return_complex=1, "
        "align_to_window=1) : expected 0 < n_fft < 10, but got n_fft=16",
    ),
    (
        lambda: torch.stft(torch.ones(8), 32, return_complex=True),
        RuntimeError,
        "Argument #4: Padding size should be less than the corresponding input dimension, but got: "
        "padding (16, 16) at dimension 2 of input [1, 1, 8]",
    ),
    (
        lambda: torch.istft(torch.ones(8, 5, dtype=torch.cfloat), 16, window=torch.ones(16)),
        RuntimeError,
        "istft(CPUComplexFloatType[8, 5], n_fft=16, hop_length=4, win_length=16, "
        "window=torch.FloatTensor{[16]}, center=1, normalized=0, onesided=None, length=None, "
        "return_complex=0) : expected the frequency dimension (3rd to the last) of the input tensor to "
        "match n_fft / 2 + 1 when onesided=True, but got 8",
    ),
    (
        lambda: torch.istft(
            torch.ones(9, 5, dtype=torch.cfloat), 16, window=torch.ones(8), length=50, center=False, onesided=True
        ),
        RuntimeError,
        "istft(CPUComplexFloatType[9, 5], n_fft=16, hop_length=4, win_length=16, "
        "window=torch.FloatTensor{[8]}, center=0, normalized=0, onesided=1, length=50, "
        "return_complex=0) : Invalid window shape. window has to be 1D and length of `win_length`",
    ),
    (
        lambda: torch.istft(torch.ones(9, 0, dtype=torch.cfloat), 16),
        RuntimeError,
        "istft(CPUComplexFloatType[9, 0], n_fft=16, hop_length=4, win_length=16, window=None, center=1, "
        "normalized=0, onesided=None, length=None, return_complex=0) : input tensor cannot be empty.",
    ),
    (
        lambda: torch.tensor([1]).clamp_(min=1.5),
        RuntimeError,
        "result type Float can't be cast to the desired output type long int",
    ),
    (
        lambda: torch.tensor([1]).clamp_(torch.tensor([1.5])),
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
    (
        lambda: torch.ones(3).cumsum_(0, dtype=torch.double),
        RuntimeError,
        "Bad in-place call: input tensor dtype float and output tensor dtype double should match",
    ),
    (
        lambda: torch.tensor([True]).cumprod_(0),
        NotImplementedError,
        "\"cumprod_out_cpu\" not implemented for 'Bool'",
    ),
    (
        lambda: torch.istft(torch.ones(8), 16),
        RuntimeError,
        "istft requires a complex-valued input tensor matching the output from stft with return_complex=True.",
    ),
    (
        lambda: torch.istft(torch.ones(9, dtype=torch.cfloat), 16),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got -3)",
    ),
    (
        lambda: torch.istft(torch.ones(9, 5, dtype=torch.cfloat), 16, win_length=20),
        RuntimeError,
        "istft(CPUComplexFloatType[9, 5], n_fft=16, hop_length=4, win_length=20, window=None, center=1, "
        "normalized=0, onesided=None, length=None, return_complex=0) : expected 0 < win_length <= n_fft",
    ),
    (
        lambda: torch.stft(torch.ones(4), 16, pad_mode="circular", return_complex=True),
        RuntimeError,
        "Padding value causes wrapping around more than once.",
    ),
    (
        lambda: torch.stft(torch.ones(0), 16, pad_mode="replicate", return_complex=True),
        RuntimeError,
        "Expected 2D or 3D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
        "but got: [1, 1, 0]",
    ),
    (
        lambda: torch.hann_window(-1),
        RuntimeError,
        "hann_window requires non-negative window_length, got window_length=-1",
    ),
    (
        lambda: torch.kaiser_window(4.5),
        TypeError,
        "kaiser_window(): argument 'window_length' (position 1) must be int, not float",
    ),
]


@pytest.mark.filterwarnings("ignore:A window was not provided")
@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_functions_refuse_in_torchs_words(case: int) -> None:
    assert_refused(*REFUSED[case])


def test_shapes_are_looked_at_before_numbers() -> None:
    with pytest.raises(RuntimeError, match="Index tensor must have the same number of dimensions as input tensor"):
        X.gather(0, torch.tensor([9]))
    with pytest.raises(RuntimeError, match="index 9 is out of bounds for dimension 0 with size 3"):
        X.gather(0, torch.tensor([[9]]))


def test_a_backward_takes_a_list_with_one_gradient() -> None:
    x = torch.ones(2, requires_grad=True)
    (x * 2).backward([torch.ones(2)])  # type: ignore[arg-type]  # as torch does
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2]


def test_a_quotient_by_an_operator_is_left_to_the_other_side() -> None:
    with pytest.raises(TypeError, match="unsupported operand type"):
        X / "a"  # type: ignore[operator]  # what is refused


def test_a_sparse_matrix_names_the_size_that_does_not_fit() -> None:
    matrix = torch.eye(6).to_sparse()
    with pytest.raises(RuntimeError, match=r"^addmm: Argument #3 \(dense\): Expected dim 0 size 6, got 5$"):
        matrix @ torch.ones(5, 2)
    with pytest.raises(RuntimeError, match=r"^mv: expected self.size\(-1\) == vec.size\(-1\)$"):
        matrix @ torch.ones(5)


def test_a_leaf_takes_no_other_elements_while_history_is_kept() -> None:
    leaf = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        leaf.set_(torch.ones(2))
    with torch.no_grad():
        leaf.set_(torch.ones(2))
    assert leaf.shape == (2,)


def test_numbers_made_of_tensors_with_a_history_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warning, "_told", set())
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        torch.tensor([torch.ones((), requires_grad=True) * 2])


def test_a_list_is_no_tensor_without_a_copy() -> None:
    with pytest.raises(ValueError, match="can't alias arbitrary sequence into a tensor"):
        torch.asarray([1, 2], copy=False)
    x = torch.ones(2)
    assert torch.asarray(x, copy=False) is x


def test_truth_has_no_limits() -> None:
    with pytest.raises(TypeError, match=r"torch\.bool is not supported by torch\.iinfo"):
        torch.iinfo(torch.bool)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: torch.max(x, 0, 1, 2), "max"),
        (lambda x: x.median(0, 1, 2), "median"),
        (lambda x: torch.split(x), "split"),
        (lambda x: torch.hsplit(x), "hsplit"),
        (lambda x: x.float(1, 2, 3), "float"),
        (lambda x: x.type_as(), "type_as"),
    ],
)
def test_an_error_of_pythons_own_names_the_function_that_was_called(call: Callable[[Any], Any], name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\) (missing|takes)"):
        call(torch.ones(2, 3))
