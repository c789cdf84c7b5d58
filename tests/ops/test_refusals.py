"""What torch refuses is refused, in torch's words. The words are recorded from torch 2.13.0."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.nn import functional as F

attend = F.scaled_dot_product_attention


def ones(*shape: int) -> Any:
    return torch.ones(*shape)


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: attend(*[ones(2, 3, 4)] * 3, attn_mask=ones(3, 3), is_causal=True), RuntimeError,
     "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"),
    (lambda: attend(*[ones(2, 3, 4)] * 3, dropout_p=1.5), RuntimeError,
     "dropout probability has to be between 0 and 1, but got 1.5"),
    (lambda: attend(ones(2, 3, 4), ones(2, 3, 5), ones(2, 3, 4)), RuntimeError,
     "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 5]."),
    (lambda: attend(*[ones(2, 3, 4).long()] * 3), RuntimeError, "expected scalar type Float but found Long"),
    (lambda: torch.addbmm(ones(3, 4), ones(2, 3, 5), ones(2, 4, 4)), RuntimeError,
     "Incompatible matrix sizes for bmm (3x5 and 4x4)"),
    (lambda: torch.addbmm(ones(3, 4), ones(2, 3, 5), ones(3, 5, 4)), RuntimeError,
     "batch1 and batch2 must have same number of batches, got 2 and 3"),
    (lambda: F.max_pool1d(ones(1, 1, 2), 3), RuntimeError, "max_pool1d() Invalid computed output size: 0"),
    (lambda: F.max_pool1d(ones(1, 1, 4), 3, padding=2), RuntimeError,
     "max_pool1d() padding should be at most half of kernel size, but got padding=2 and kernel_size=3"),
    (lambda: F.avg_pool1d(ones(4), 3), RuntimeError,
     "Expected 2 to 3 dimensions, but got 1-dimensional tensor for argument #1 'self' (while checking arguments for "
     "avg_pool1d)"),
    (lambda: F.adaptive_avg_pool2d(ones(4, 4), 2), RuntimeError,
     "adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got [4, 4]"),
    (lambda: F.conv2d(ones(1, 4, 5, 5), ones(4, 2, 3, 3), groups=3), RuntimeError,
     "Given groups=3, expected weight to be divisible by 3 at dimension 0, but got weight of size [[4, 2, 3, 3]] "
     "instead"),
    (lambda: F.cross_entropy(ones(3), torch.tensor([0, 1])), ValueError,
     "For 1D input, 1D target must have size 1, but got target size: 2"),
    (lambda: ones(3, 3).index_copy(0, torch.tensor([0]), ones(1, 4)), RuntimeError,
     "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: 3 at dimension 0 "
     "and source slice shape: 4 at dimension 0."),
    (lambda: torch.bincount(ones(2)), NotImplementedError, "\"bincount_cpu\" not implemented for 'Float'"),
    (lambda: nn.MultiheadAttention(4, 2)(*[ones(2, 1, 4)] * 3, key_padding_mask=ones(2, 2)), AssertionError,
     "Expected key_padded_mask.shape[0] to be 1, but got 2"),
    (lambda: nn.MultiheadAttention(4, 2)(*[ones(2, 4)] * 3, key_padding_mask=ones(3)), AssertionError,
     "Expected key_padded_mask.shape[1] to be 2, but got 3"),
    (lambda: torch.meshgrid(torch.arange(2), ones(2, 2), indexing="ij"), RuntimeError,
     "meshgrid expects all tensors to have the same dtype"),
    (lambda: F.cross_entropy(ones(2, 3), ones(2, 1).long()), RuntimeError,
     "0D or 1D target tensor expected, multi-target not supported"),
    (lambda: F.cross_entropy(ones(2, 3, 4), ones(2, 5).long()), RuntimeError,
     "Expected target size [2, 4], got [2, 5]"),
    (lambda: F.cross_entropy(ones(2, 3, 4, 4), ones(2, 1, 4, 4).long()), RuntimeError,
     "only batches of spatial targets supported (3D tensors) but got targets of dimension: 4"),
    (lambda: F.cross_entropy(ones(2, 3, 4, 4), ones(2, 4, 5).long()), RuntimeError,
     "size mismatch (got input: [2, 3, 4, 4] , target: [2, 4, 5]"),
    (lambda: F.binary_cross_entropy(ones(2), ones(2).long()), RuntimeError, "Found dtype Long but expected Float"),
    (lambda: F.margin_ranking_loss(ones(2), ones(2), ones(2, 2)), RuntimeError,
     "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: torch.Size([2]), "
     "input2: torch.Size([2]), target: torch.Size([2, 2]) "),
    (lambda: F.bilinear(ones(2, 5, 2), ones(2, 4, 3), ones(4, 2, 3)), RuntimeError,
     "bilinear(): input batch dimensions do not match at dim 1: got 5 and 4"),
    (lambda: nn.ConvTranspose2d(1, 1, 3, output_padding=2)(ones(1, 1, 4, 4)), RuntimeError,
     "output padding must be smaller than either stride or dilation, but got output_padding_height: 2 "
     "output_padding_width: 2 stride_height: 1 stride_width: 1 dilation_height: 1 dilation_width: 1"),
    (lambda: nn.Conv2d(1, 1, (3, 3, 3))(ones(1, 1, 4, 4)), RuntimeError,
     "expected stride to be a single integer value or a list of 3 values to match the convolution dimensions, but got "
     "stride=[1, 1]"),
    (lambda: nn.Conv1d(1, 1, (3, 3))(ones(1, 1, 4)), RuntimeError,
     "Expected 4-dimensional input for 4-dimensional weight [1, 1, 3, 3], but got 3-dimensional input of size "
     "[1, 1, 4] instead"),
    (lambda: F.grid_sample(ones(1, 1, 4, 4), ones(1, 4, 4), align_corners=False), RuntimeError,
     "grid_sampler(): expected grid to have size 2 in last dimension, but got grid with sizes [1, 4, 4]"),
    (lambda: nn.Embedding(3, 2)(ones(1).bool()), RuntimeError,
     "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
     "CPUBoolType instead (while checking arguments for embedding)"),
    (lambda: nn.Embedding(3, 2, padding_idx=3), AssertionError, "Padding_idx must be within num_embeddings"),
    (lambda: nn.LSTM(4, 5, 3)(ones(3, 2, 4), ones(3, 2, 5)), RuntimeError,
     "For batched 3-D input, hx and cx should also be 3-D but got (2-D, 2-D) tensors"),
    (lambda: nn.GRU(4, 5)(ones(3, 2, 4), ones(1, 2, 5).double()), RuntimeError,
     "mat1 and mat2 must have the same dtype, but got Double and Float"),
    (lambda: nn.LSTM(4, 5)(ones(3, 2, 4), (ones(1, 2, 5),) * 3), RuntimeError, "lstm expects two hidden states"),
    (lambda: nn.LSTMCell(4, 5)(ones(2, 4), ones(2, 5)), TypeError,
     "lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor"),
    (lambda: nn.LSTMCell(4, 5)(ones(2, 4), (ones(2, 5),)), RuntimeError, "lstm_cell expects two hidden states"),
    (lambda: F.conv1d(ones(1, 3, 8), ones(2, 3, 0)), RuntimeError,
     "kernel size should be greater than zero, but got kernel_height: 1 kernel_width: 0"),
    (lambda: F.conv2d(ones(1, 3, 8, 8), ones(2, 3, 0, 0)), RuntimeError,
     "kernel size should be greater than zero, but got kernel_height: 0 kernel_width: 0"),
    (lambda: F.conv3d(ones(1, 1, 3, 8, 8), ones(2, 1, 0, 1, 1)), RuntimeError,
     "kernel size should be greater than zero, but got: 0 x 1 x 1 (TxHxW)"),
    (lambda: nn.Conv2d(3, 2, 3)((ones(1, 3, 8, 8), None)), TypeError,
     "conv2d() received an invalid combination of arguments - got (tuple, Parameter, Parameter, tuple, tuple, tuple, "
     "int), but expected one of:\n * (Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, tuple "
     "of ints padding = 0, tuple of ints dilation = 1, int groups = 1)\n      didn't match because some of the "
     "arguments have invalid types: (!tuple of (Tensor, NoneType)!, !Parameter!, !Parameter!, !tuple of (int, int)!, "
     "!tuple of (int, int)!, !tuple of (int, int)!, !int!)\n * (Tensor input, Tensor weight, Tensor bias = None, tuple "
     "of ints stride = 1, str padding = \"valid\", tuple of ints dilation = 1, int groups = 1)\n      didn't match "
     "because some of the arguments have invalid types: (!tuple of (Tensor, NoneType)!, !Parameter!, !Parameter!, "
     "!tuple of (int, int)!, !tuple of (int, int)!, !tuple of (int, int)!, !int!)\n"),
    (lambda: F.conv2d(ones(1, 3, 8, 8), ones(2, 3, 3, 3), padding=1.5), TypeError,
     "conv2d() received an invalid combination of arguments - got (Tensor, Tensor, padding=float), but expected one "
     "of:\n * (Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, tuple of ints padding = 0, "
     "tuple of ints dilation = 1, int groups = 1)\n * (Tensor input, Tensor weight, Tensor bias = None, tuple of ints "
     "stride = 1, str padding = \"valid\", tuple of ints dilation = 1, int groups = 1)\n"),
    (lambda: F.conv2d(ones(1, 3, 8, 8), ones(2, 3, 3, 3), padding=(1, 1.5)), TypeError,
     "conv2d(): argument 'padding' failed to unpack the object at pos 2 with error \"type must be tuple of ints,but "
     "got float\""),
    (lambda: nn.MSELoss()(ones(2), None), AttributeError, "'NoneType' object has no attribute 'size'"),
    (lambda: nn.Softmax(1)((ones(2, 2),)), AttributeError, "'tuple' object has no attribute 'softmax'"),
    (lambda: torch.softmax((ones(2, 2),), 1), TypeError,
     "softmax(): argument 'input' (position 1) must be Tensor, not tuple"),
    (lambda: F.interpolate({"out": ones(1, 1, 2, 2)}, size=4), AttributeError,
     "'dict' object has no attribute 'dim'"),
    (lambda: F.grid_sample([ones(1)], ones(1, 2, 2, 2), align_corners=False), TypeError,
     "grid_sampler(): argument 'input' (position 1) must be Tensor, not list"),
    (lambda: F.avg_pool1d(ones(1, 3, 8), (2, 2)), RuntimeError,
     "avg_pool1d() argument 'kernel_size' should contain one int (got 2)"),
    (lambda: F.max_pool1d(ones(1, 3, 8), 2, (2, 2)), RuntimeError,
     "max_pool1d() stride must be None, an int, list of ints, or tuple of ints of size 1 but got size 2"),
    (lambda: F.avg_pool2d(ones(1, 3, 8, 8), 2, (2, 2, 2)), RuntimeError,
     "avg_pool2d: stride must either be omitted, a single int, or a tuple of two ints"),
    (lambda: F.max_pool2d(ones(1, 3, 8, 8), 2, 2, 0, (2, 2, 2)), RuntimeError,
     "max_pool2d: dilation must be either a single int, or a tuple of two ints"),
    (lambda: F.avg_pool3d(ones(1, 3, 8, 8, 8), (2, 2)), RuntimeError,
     "avg_pool3d: kernel_size must be a single int, or a tuple of three ints"),
    (lambda: F.max_pool3d(ones(1, 3, 8, 8, 8), (2, 2)), RuntimeError,
     "max_pool3d: kernel_size must either be a single int, or a tuple of three ints"),
    (lambda: F.avg_pool2d(ones(1, 3, 8, 8), -1), RuntimeError,
     "kernel size should be greater than zero, but got kH: -1 kW: -1"),
    (lambda: F.max_pool3d(ones(1, 3, 8, 8, 8), 2, -1), RuntimeError,
     "stride should be greater than zero, but got dT: -1 dH: -1 dW: -1"),
    (lambda: F.max_unpool2d(ones(1, 1, 2, 2), ones(1, 1, 2, 2), 2), RuntimeError,
     "elements in indices should be type int64 but got: Float"),
    (lambda: F.affine_grid(ones(2, 3, 3), [2, 3, 8, 8], False), ValueError,
     "Expected a batch of 2D affine matrices of shape Nx2x3 for size [2, 3, 8, 8]. Got torch.Size([2, 3, 3])."),
    (lambda: F.embedding(torch.tensor([1]), ones(3)), RuntimeError, "'weight' must be 2-D"),
    (lambda: F.embedding_bag(torch.tensor([1]), ones(3), torch.tensor([0])), ValueError,
     "weight has to be a 2D Tensor, but got Tensor of dimension 1"),
    (lambda: F.embedding_bag(torch.tensor([1]), ones(3, 2), torch.tensor([]).long(), include_last_offset=True),
     RuntimeError, "include_last_offset: number of offset should be at least 1"),
    (lambda: ones(4, 3).index_reduce(0, torch.tensor([0, 1]), ones(3, 3), "amax"), RuntimeError,
     "index_reduce_(): Number of indices (2) should be equal to source.size(dim): (3), for dim: 0"),
    (lambda: ones(4, 3).index_reduce(0, torch.tensor([0, 1]), ones(2, 2), "amax"), RuntimeError,
     "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = [4, 3] "
     "source.shape = [2, 2]"),
    (lambda: ones(4, 3).diff(prepend=ones(3)), RuntimeError,
     "diff expects prepend or append to be the same dimension as input"),
    (lambda: ones(4, 3).diff(dim=0, append=ones(1, 2)), RuntimeError,
     "diff expects the shape of tensor to prepend or append to match that of input except along the differencing "
     "dimension; input.size(1) = 3, but got tensor.size(1) = 2"),
    (lambda: torch.corrcoef(ones(1, 2, 3)), RuntimeError,
     "corrcoef(): expected input to have two or fewer dimensions but got an input with 3 dimensions"),
    (lambda: F.nll_loss(ones(2, 3, 4, 4), torch.zeros(2, 4, 4).long(), ones(2)), RuntimeError,
     "weight tensor should be defined either for all or no classes"),
    (lambda: F.cross_entropy(ones(2, 3), ones(2, 3), ones(2)), RuntimeError,
     "cross_entropy: weight tensor should be defined either for all 3 classes or no classes but got weight tensor of "
     "shape: [2]"),
    (lambda: F.affine_grid(ones(1, 2, 3), [2, 3, 8, 8], False), RuntimeError,
     "Expected size for first two dimensions of batch2 tensor to be: [2, 3] but got: [1, 3]."),
    (lambda: F.grid_sample(ones(1, 1, 2, 2, 2), ones(1, 2, 2, 2, 3), "bicubic", align_corners=False), RuntimeError,
     "grid_sampler(): bicubic interpolation only supports 4D input"),
    (lambda: F.affine_grid(ones(2, 2, 3).int(), [2, 3, 8, 8], False), ValueError,
     "Expected theta to have floating point type, but got torch.int32"),
    (lambda: F.rms_norm(ones(1, 8), [3, 4]), RuntimeError,
     "Given normalized_shape=[3, 4], expected input with shape [*3, 4], but got input of size[1, 8]"),
    (lambda: F.binary_cross_entropy_with_logits(ones(2), ones(2).bool()), RuntimeError,
     "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
     "instead."),
    (lambda: F.l1_loss(ones(2), ones(2).bool()), RuntimeError,
     "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
     "`~` or `logical_not()` operator instead."),
    (lambda: nn.Sequential(nn.ReLU(), len), TypeError, "len is not a Module subclass"),
    (lambda: nn.Sequential(ones), TypeError, f"{__name__}.ones is not a Module subclass"),
    (lambda: ones(1).sum().__setitem__(0, 1), IndexError,
     "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
     "tensor to a number"),
    (lambda: ones(1).to("float32"), RuntimeError, "Invalid device string: 'float32'"),
    (lambda: torch.device("cpu:00"), RuntimeError, "Invalid device string: 'cpu:00'"),
    (lambda: torch.mvlgamma(ones(1), 0), RuntimeError, "p has to be greater than or equal to 1"),
    (lambda: torch.linalg.householder_product(ones(3, 2), ones(3)), RuntimeError,
     "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]"),
    (lambda: torch.linalg.householder_product(ones(3, 2), ones(2).double()), RuntimeError,
     "torch.linalg.householder_product: tau dtype Double does not match input dtype Float"),
    (lambda: torch.histogram(ones(3), 2, weight=ones(3).double()), RuntimeError,
     "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but "
     "got input(float), and weight(double)"),
    (lambda: torch.triu_indices(3, 2.0), TypeError,
     "triu_indices(): argument 'col' (position 2) must be int, not float"),
    (lambda: ones(3, 3).index_copy(0, torch.tensor([0]), ones(3, 2)), RuntimeError,
     "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: 3 at dimension 0 "
     "and source slice shape: 2 at dimension 0."),
    (lambda: ones(3, 3).index_copy(0, torch.tensor([0, 1]), ones(3)), IndexError,
     "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
     "dimensionality (1), destination dimensionality (2)"),
    (lambda: ones(3).index_copy(0, torch.tensor([0, 1]), torch.tensor(1.0)), IndexError,
     "index_copy_(): When source is scalar, index should have one element (got 2)"),
    (lambda: ones(3, 3).index_copy(0, torch.tensor([0]), torch.tensor(1.0)), RuntimeError,
     "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: 3 at dimension 0 "
     "and source slice shape:  at dimension 0."),
    (lambda: ones(3, 3).index_copy(0, torch.tensor([[0]]), ones(1, 3)), IndexError,
     "index_copy_(): Index should have dimension 1 or 0 (got 2)"),
    (lambda: ones(3, 3).index_copy(0, torch.tensor([0]), ones(1, 3).double()), RuntimeError,
     "index_copy_(): self and source expected to have the same dtype, but got (self) Float and (source) Double"),
    (lambda: ones(3, 3).index_add(0, torch.tensor([[0]]), ones(3, 3)), IndexError,
     "index_add_(): Index is supposed to be a vector, but got dim: 2 with type: Long and size: [1, 1]"),
    (lambda: ones(3, 3).index_add(1, torch.tensor([0]), ones(3)), RuntimeError,
     "index_add_(): Indexing dim 1 is out of bounds of the source tensor with dim 1"),
    (lambda: ones(3, 3).index_reduce(0, torch.tensor([0]), ones(3, 2), "mean"), RuntimeError,
     "index_reduce_(): Number of indices (1) should be equal to source.size(dim): (3), for dim: 0"),
    (lambda: ones(3, 3).index_reduce(0, torch.tensor([0]), ones(1, 2), "amax"), RuntimeError,
     "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = [3, 3] "
     "source.shape = [1, 2]"),
    (lambda: ones(3, 3).index_fill(0, torch.tensor([[0]]), 1.0), RuntimeError, "Index has to be a vector/scalar"),
    (lambda: torch.einsum("ab,bc->ad", ones(4, 3), ones(4, 3)), RuntimeError,
     "einsum(): output subscript d does not appear in the equation for any input operand"),
    (lambda: torch.einsum("ab->a.", ones(4, 3)), RuntimeError,
     "einsum(): found '.' for output that is not part of any ellipsis (...)"),
    (lambda: torch.einsum("ab->a...b...", ones(4, 3)), RuntimeError,
     "einsum(): found '.' for output but an ellipsis (...) was already found"),
    (lambda: torch.einsum("...a...->a", ones(4, 3)), RuntimeError,
     "einsum(): found '.' for operand 0 for which an ellipsis was already found"),
    (lambda: torch.einsum(".ab", ones(4, 3)), RuntimeError,
     "einsum(): found '.' for operand 0 that is not part of any ellipsis"),
    (lambda: torch.einsum("ab, b?->a", ones(4, 3), ones(3, 3)), RuntimeError,
     "einsum(): invalid subscript given at index 5 in the equation string, subscripts must be in [a-zA-Z]"),
    (lambda: torch.einsum("ab,bc->ac1", ones(4, 3), ones(3, 3)), RuntimeError,
     "einsum(): invalid subscript given at index 9 in the equation string, subscripts must be in [a-zA-Z]"),
    (lambda: torch.einsum("abc...->a", ones(4, 3)), RuntimeError,
     "einsum(): the number of subscripts in the equation (3) is more than the number of dimensions (2) for operand 0"),
    (lambda: torch.einsum(ones(4, 3), [0, -1], [0]), ValueError,
     "einsum(): subscript in subscript list is not within the valid range [0, 52)"),
    (lambda: torch.fake_quantize_per_tensor_affine(ones(2), 0.1, 0, 8, -8), RuntimeError,
     "`quant_min` should be less than or         equal to `quant_max`."),
    (lambda: torch.fake_quantize_per_tensor_affine(ones(2).int(), 0.1, 0, -8, 8), NotImplementedError,
     "\"fake_quantize_tensor_cachemask_kernel_type_handling\" not implemented for 'Int'"),
    (lambda: torch.fake_quantize_per_channel_affine(ones(2, 3), ones(2), ones(2).int(), 1, -8, 8), RuntimeError,
     "dimensions of scale and zero-point are not consistent with input tensor"),
    (lambda: torch.fake_quantize_per_channel_affine(ones(2, 3), ones(3), ones(3).long(), 1, -8, 8), RuntimeError,
     "Zero-point must be Int32, Float or Half, found Long"),
    (lambda: torch.fake_quantize_per_channel_affine(ones(2, 3), ones(3, 1), ones(3).int(), 1, -8, 8), RuntimeError,
     "scale should be a 1-D tensor"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), REFUSED, ids=[words[:40] for _, _, words in REFUSED])
def test_it_is_refused_in_torchs_words(call: Callable[[], Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=f"^{re.escape(words)}$"):
        call()


def test_attention_that_drops_everything_gives_zero() -> None:
    assert attend(*[ones(1, 2, 2)] * 3, dropout_p=1.0).abs().sum().item() == 0.0
