"""What is refused for how it lies in memory, for its dtype or for its sizes, in the words of torch 2.13.0."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import funcgrad as torch
from tests.refusing import Refusal, assert_refused

X = torch.arange(12.0).reshape(3, 4)
Y = torch.arange(12).reshape(3, 4)

REFUSED: list[Refusal] = [
    (lambda: (X + 1j).abs_(), RuntimeError, "In-place abs is not supported for complex tensors."),
    (lambda: (X + 1j).absolute_(), RuntimeError, "In-place abs is not supported for complex tensors."),
    (
        lambda: torch.ones(2, 3).t().view(torch.float16),
        RuntimeError,
        "self.stride(-1) must be 1 to view Float as Half (different element sizes), but got 3",
    ),
    (
        lambda: torch.ones(4, 4)[:, ::2].view(torch.float64),
        RuntimeError,
        "self.stride(-1) must be 1 to view Float as Double (different element sizes), but got 2",
    ),
    (
        lambda: torch.ones(3, 4)[:, 1:3].view(torch.float64),
        RuntimeError,
        "self.storage_offset() must be divisible by 2 to view Float as Double (different element sizes), but got 1",
    ),
    (
        lambda: torch.ones(3, 5)[:, :4].view(torch.float64),
        RuntimeError,
        "self.stride(0) must be divisible by 2 to view Float as Double (different element sizes), but got 5",
    ),
    (
        lambda: torch.ones(3, 4, dtype=torch.complex64).t().view(torch.float32),
        RuntimeError,
        "self.stride(-1) must be 1 to view ComplexFloat as Float (different element sizes), but got 4",
    ),
    (
        lambda: torch.view_as_complex(torch.ones(2, 4).mT),
        RuntimeError,
        "Tensor must have a last dimension with stride 1",
    ),
    (
        lambda: torch.view_as_complex(torch.ones(3, 1).expand(3, 2)),
        RuntimeError,
        "Tensor must have a last dimension with stride 1",
    ),
    (
        lambda: torch.view_as_complex(torch.ones(3, 5)[:, :2]),
        RuntimeError,
        "Tensor must have a stride divisible by 2 for all but last dimension",
    ),
    (
        lambda: torch.view_as_complex(torch.ones(3, 4)[:, 1:3]),
        RuntimeError,
        "Tensor must have a storage_offset divisible by 2",
    ),
    (
        lambda: torch.frombuffer(b"", dtype=torch.float32),
        ValueError,
        "both buffer length (0) and count (-1) must not be 0",
    ),
    (
        lambda: torch.frombuffer(bytearray(4), dtype=torch.float32, offset=4),
        ValueError,
        "offset (4 bytes) must be non-negative and no greater than buffer length (4 bytes) minus 1",
    ),
    (
        lambda: torch.frombuffer(bytearray(4), dtype=torch.float32, count=0),
        ValueError,
        "both buffer length (4) and count (0) must not be 0",
    ),
    (
        lambda: torch.frombuffer(bytearray(4), dtype=torch.float32, count=2),
        ValueError,
        "requested buffer length (2 * 4 bytes) after offset (0 bytes) must not be greater than actual "
        "buffer length (4 bytes)",
    ),
    (
        lambda: torch.frombuffer(3, dtype=torch.float32),
        ValueError,
        "object does not implement Python buffer protocol.",
    ),
    (
        lambda: torch.fft.fft(X, n=-1),
        RuntimeError,
        "Invalid number of data points (-1) specified",
    ),
    (
        lambda: torch.fft.irfft(X, n=-1),
        RuntimeError,
        "Invalid number of data points (-1) specified",
    ),
    (
        lambda: torch.quantile(X, torch.tensor([0.5], dtype=torch.float64)),
        RuntimeError,
        "quantile() q tensor must be same dtype as the input tensor",
    ),
    (
        lambda: torch.nanquantile(X.double(), torch.tensor(0.5)),
        RuntimeError,
        "quantile() q tensor must be same dtype as the input tensor",
    ),
    (
        lambda: torch.lerp(Y, Y, 0.5),
        NotImplementedError,
        "\"lerp_kernel_scalar\" not implemented for 'Long'",
    ),
    (
        lambda: torch.lerp(Y, Y, torch.tensor(1)),
        NotImplementedError,
        "\"lerp_kernel_tensor\" not implemented for 'Long'",
    ),
    (
        lambda: Y.clone().lerp_(Y, 0.5),
        NotImplementedError,
        "\"lerp_kernel_scalar\" not implemented for 'Long'",
    ),
    (
        lambda: torch.kaiser_window(5, dtype=torch.int64),
        RuntimeError,
        "kaiser_window expects floating point dtypes, got: TensorOptions(dtype=long int, device=cpu, "
        "layout=Strided (default), requires_grad=false (default), pinned_memory=false, "
        "memory_format=(nullopt))",
    ),
    (
        lambda: torch.hamming_window(5, dtype=torch.int32),
        RuntimeError,
        "hamming_window expects floating point dtypes, got: TensorOptions(dtype=int, device=cpu, "
        "layout=Strided (default), requires_grad=false (default), pinned_memory=false, "
        "memory_format=(nullopt))",
    ),
    (
        lambda: torch.hann_window(5, dtype=torch.bool),
        RuntimeError,
        "hann_window expects floating point dtypes, got: TensorOptions(dtype=bool, device=cpu, "
        "layout=Strided (default), requires_grad=false (default), pinned_memory=false, "
        "memory_format=(nullopt))",
    ),
    (
        lambda: torch.histogram(X, bins=-1),
        RuntimeError,
        "torch.histogram(): bins must be > 0, but got -1 for dimension 0",
    ),
    (
        lambda: torch.histogram(X, bins=3, range=(1.0, 0.0)),
        RuntimeError,
        "torch.histogramdd: min should not exceed max, but got min 1 max 0 for dimension 0",
    ),
    (
        lambda: torch.histogram(X, bins=3, range=(1.0,)),
        RuntimeError,
        "torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, but got 1",
    ),
    (
        lambda: torch.histogram(X, bins=torch.tensor([])),
        RuntimeError,
        "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins "
        "tensor for dimension 0",
    ),
    (
        lambda: torch.histogram(X, torch.tensor([1.0, 2.0], dtype=torch.float64)),
        RuntimeError,
        "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with "
        "dtype float and bins for dimension 0 with dtype double",
    ),
    (
        lambda: torch.histogramdd(X, bins=[2, 0, 2, 2]),
        RuntimeError,
        "torch.histogram(): bins must be > 0, but got 0 for dimension 1",
    ),
    (
        lambda: torch.histogramdd(X[:, :1], bins=[torch.ones(2, 2)]),
        RuntimeError,
        "torch.histogramdd: bins tensor should have one dimension, but got 2 dimensions in the bins "
        "tensor for dimension 0",
    ),
    (
        lambda: torch.cov(Y > 2),
        RuntimeError,
        "cov(): bool dtype is not supported for input",
    ),
    (
        lambda: torch.cov(X, fweights=torch.ones(4)),
        RuntimeError,
        "cov(): expected fweights to have integral dtype but got fweights with Float dtype",
    ),
    (
        lambda: torch.cov(X, aweights=torch.ones(4, dtype=torch.int64)),
        RuntimeError,
        "cov(): expected aweights to have floating point dtype but got aweights with Long dtype",
    ),
    (
        lambda: torch.norm(X[0], p="nuc"),
        RuntimeError,
        "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.",
    ),
    (
        lambda: torch.norm(X, p="nuc", dim=0),
        RuntimeError,
        "linalg.matrix_norm: dim must be a 2-tuple. Got 0",
    ),
    (
        lambda: torch.norm(X.view(1, 3, 4), p="nuc"),
        RuntimeError,
        "linalg.matrix_norm: dim must be a 2-tuple. Got 0 1 2",
    ),
    (
        lambda: torch.norm(X, p="x"),
        RuntimeError,
        "linalg.matrix_norm: Order x not supported.",
    ),
    (
        lambda: torch.nuclear_norm(X[0]),
        RuntimeError,
        "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.",
    ),
    (
        lambda: torch.linalg.norm(X[0], ord="nuc"),
        RuntimeError,
        "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.",
    ),
    (
        lambda: torch.topk(X + 0j, 1),
        RuntimeError,
        " topk does not support complex dtypes on CPU",
    ),
    (
        lambda: torch.sort(X + 0j),
        RuntimeError,
        " Sort does not support complex dtypes on CPU",
    ),
    (
        lambda: torch.vmap(lambda x: x, in_dims=(0, 0))(X),
        ValueError,
        "vmap(<lambda>, in_dims=(0, 0), ...)(<inputs>): in_dims is not compatible with the structure of "
        "`inputs`. in_dims has structure TreeSpec(tuple, None, [*,\n  *]) but inputs has structure "
        "TreeSpec(tuple, None, [*]).",
    ),
    (
        lambda: torch.vmap(lambda x: x, in_dims=(0.5,))(X),
        ValueError,
        "vmap(<lambda>, in_dims=(0.5,), ...)(<inputs>): Got in_dim=0.5 for an input but in_dim must be "
        "either an integer dimension or None.",
    ),
    (
        lambda: torch.vmap(lambda x: x, in_dims=(None,))(X),
        ValueError,
        "vmap: Expected at least one Tensor to vmap over",
    ),
    (
        lambda: torch.vmap(lambda x: x, out_dims="a")(X),
        ValueError,
        "vmap(<lambda>, ..., out_dims=a): `out_dims` must be an int, None or a python collection of ints "
        "representing where in the outputs the vmapped dimension should appear.",
    ),
    (
        lambda: torch.vmap(lambda x: x, out_dims=0.5)(X),
        ValueError,
        "vmap(<lambda>, ..., out_dims=0.5): `out_dims` must be an int, None or a python collection of "
        "ints representing where in the outputs the vmapped dimension should appear.",
    ),
    (
        lambda: torch.vmap(lambda x: (x, x), out_dims=(0,))(X),
        ValueError,
        "vmap(<lambda>, ..., out_dims=(0,))(<inputs>): out_dims is not compatible with the structure of "
        "`outputs`. out_dims has structure TreeSpec(tuple, None, [*]) but outputs has structure "
        "TreeSpec(tuple, None, [*,\n  *]).",
    ),
    (
        lambda: torch.vmap(lambda x: x, out_dims=(0, 0))(X),
        ValueError,
        "vmap(<lambda>, ..., out_dims=(0, 0))(<inputs>): out_dims is not compatible with the structure "
        "of `outputs`. out_dims has structure TreeSpec(tuple, None, [*,\n  *]) but outputs has structure "
        "*.",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_it_is_refused_in_torchs_words(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    assert_refused(call, error, message)


def test_a_plain_pickle_is_no_checkpoint() -> None:
    plain = pickle.dumps({"a": 1}, 4)
    with pytest.raises(pickle.UnpicklingError, match=r"^Weights only load failed\.(.|\n)*Unsupported operand 149\n"):
        torch.load(io.BytesIO(plain))
    with pytest.raises(RuntimeError, match="Invalid magic number; corrupt file"):
        torch.load(io.BytesIO(plain), weights_only=False)


def test_bits_are_read_as_other_numbers_where_they_lie_in_a_row() -> None:
    x = torch.ones(3, 4)
    assert x[:, 2:].view(torch.float64).shape == (3, 1) and x[1:, :2].view(torch.int16).shape == (2, 4)
    assert x.t().view(torch.int32).shape == (4, 3)


@pytest.mark.parametrize(
    "write",
    [
        lambda rows, columns: rows.add_(1),
        lambda rows, columns: rows.t().mul_(2),
        lambda rows, columns: rows.__setitem__(slice(None), 1),
        lambda rows, columns: rows.__setitem__((slice(None), 0), 1),
        lambda rows, columns: columns[1:].add_(1),
        lambda rows, columns: columns[1:].__setitem__(..., torch.ones(2)),
        lambda rows, columns: torch.mm(torch.ones(2, 2), torch.ones(2, 3), out=rows),
        lambda rows, columns: torch.add(torch.ones(2, 3), 1, out=rows),
    ],
)
def test_what_shows_an_element_more_than_once_is_not_written_to(write: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        write(torch.zeros(1, 3).expand(2, 3), torch.zeros(3, 1).expand(3, 2))


def test_what_makes_all_copies_alike_is_written() -> None:
    row = torch.zeros(1, 3)
    rows = row.expand(2, 3)
    rows.fill_(2)
    rows[0] = torch.tensor([1.0, 2, 3])
    rows[:1, 1:].mul_(2)
    assert row.tolist() == [[1, 4, 6]]
    rows.index_fill_(0, torch.tensor([0]), 5)
    assert row.tolist() == [[5, 5, 5]]
    rows.zero_()
    assert row.tolist() == [[0, 0, 0]]


def test_a_symmetric_window_ends_in_nothing() -> None:
    assert torch.hann_window(3, periodic=False).tolist() == [0, 1, 0]


def test_pairs_are_complex_numbers_where_a_view_can_show_them() -> None:
    assert torch.view_as_complex(torch.ones(2, 3, 4, 2).transpose(1, 2)).stride() == (12, 1, 4)
    assert torch.view_as_complex(torch.ones(1, 3, 5)[:, :1, :2]).stride() == (7, 2)
    assert torch.view_as_complex(torch.ones(2)[None].expand(3, 2)).stride() == (0,)
    assert torch.vmap(torch.view_as_complex)(torch.ones(3, 2)).shape == (3,)
