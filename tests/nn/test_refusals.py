"""What layers and losses are given wrongly is refused in torch's words: the texts are those of torch 2.13.0."""

from __future__ import annotations

import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad.nn import functional as F
from funcgrad.nn.utils import rnn
from tests.refusing import Refusal, assert_refused

PICTURES = torch.linspace(-1, 1, 2 * 3 * 8 * 8).reshape(2, 3, 8, 8)
STEPS = torch.linspace(-1, 1, 5 * 2 * 8).reshape(5, 2, 8)
SCORES = torch.linspace(-1, 1, 12).reshape(4, 3)
CLASSES = torch.tensor([0, 1, 2, 1])
TABLE = nn.Embedding(10, 4)


REFUSED: list[Refusal] = [
    (
        lambda: nn.MultiheadAttention(8, 2, kdim=3, vdim=5)(STEPS, STEPS, STEPS[..., :5]),
        AssertionError,
        "expecting key weights shape of (8, 8), but got torch.Size([8, 3])",
    ),
    (
        lambda: nn.MultiheadAttention(8, 2, kdim=3, vdim=5)(STEPS, STEPS[..., :3], STEPS),
        AssertionError,
        "expecting value weights shape of (8, 8), but got torch.Size([8, 5])",
    ),
    (lambda: nn.Conv2d(3, 4, 3, dilation=0)(PICTURES), RuntimeError, "non-positive dilation is not supported"),
    (
        lambda: nn.Conv2d(3, 4, 3)(PICTURES.bool()),
        RuntimeError,
        "Input type (bool) and bias type (float) should be the same",
    ),
    (
        lambda: nn.Conv3d(3, 4, 2)(torch.ones(2, 3, 4, 4, 4).bool()),
        RuntimeError,
        "Input type (bool) and bias type (float) should be the same",
    ),
    (
        lambda: F.conv2d(PICTURES, torch.ones(4, 3, 3)),
        RuntimeError,
        "expected stride to be a single integer value or a list of 1 values to match the convolution "
        "dimensions, but got stride=[1, 1]",
    ),
    (
        lambda: F.conv2d(PICTURES, torch.ones(4, 3, 3, 3, 3)),
        RuntimeError,
        "expected stride to be a single integer value or a list of 3 values to match the convolution "
        "dimensions, but got stride=[1, 1]",
    ),
    (
        lambda: nn.ConvTranspose2d(3, 4, 3)(PICTURES.double()),
        RuntimeError,
        "expected scalar type Double but found Float",
    ),
    (
        lambda: nn.ConvTranspose2d(3, 3, 3, stride=2)(PICTURES, output_size=(1, 2, 3, 40, 40)),
        ValueError,
        "ConvTranspose2D: for 4D input, output_size must have 2 or 4 elements (got 5)",
    ),
    (lambda: nn.LayerNorm(8)(PICTURES.long()), RuntimeError, "mixed dtype (CPU): all inputs must share same datatype."),
    (
        lambda: nn.LayerNorm(())(PICTURES),
        RuntimeError,
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
        "but got normalized_shape = []",
    ),
    (
        lambda: nn.FractionalMaxPool2d(3, output_size=9)(PICTURES),
        RuntimeError,
        "fractional_max_pool2d(): pool height 3 too large relative to input height 8",
    ),
    (
        lambda: nn.FractionalMaxPool3d((2, 4, 2), output_size=(7, 6, 2))(torch.ones(2, 3, 8, 8, 8)),
        RuntimeError,
        "fractional_max_pool3d_out(): pool time 2 too large relative to input time 8",
    ),
    (
        lambda: nn.Unflatten("c", (2, 2))(PICTURES),
        TypeError,
        "unflatten(): argument 'dim' (position 1) must be int, not str",
    ),
    (
        lambda: F.affine_grid(torch.zeros(2, 2, 2), [2, 3, 4, 4], align_corners=False),
        ValueError,
        "Expected a batch of 2D affine matrices of shape Nx2x3 for size [2, 3, 4, 4]. Got torch.Size([2, 2, 2]).",
    ),
    (lambda: F.softmax(PICTURES.long(), 1), NotImplementedError, "\"softmax_kernel_impl\" not implemented for 'Long'"),
    (
        lambda: F.log_softmax(PICTURES.long(), -2),
        NotImplementedError,
        "\"log_softmax_kernel_impl\" not implemented for 'Long'",
    ),
    (
        lambda: F.softmax(PICTURES.long(), -1),
        NotImplementedError,
        "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'",
    ),
    (
        lambda: F.linear(torch.ones(2, 3, 4), torch.ones(5, 4), torch.ones(4)),
        RuntimeError,
        "The expanded size of the tensor (5) must match the existing size (4) at non-singleton "
        "dimension 1.  Target sizes: [6, 5].  Tensor sizes: [4]",
    ),
    (
        lambda: nn.Embedding(10, 4, _weight=torch.ones(9, 4)),
        AssertionError,
        "Shape of weight does not match num_embeddings and embedding_dim",
    ),
    (
        lambda: nn.EmbeddingBag(10, 4)(torch.tensor([[1.0, 2]])),
        RuntimeError,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
        "Int; but got torch.FloatTensor instead (while checking arguments for embedding_bag)",
    ),
    (
        lambda: rnn.pack_padded_sequence(STEPS, torch.tensor([[5, 4]])),
        RuntimeError,
        "'lengths' argument should be a 1D CPU int64 tensor, but got 2D cpu Long tensor",
    ),
    (
        lambda: rnn.pack_padded_sequence(STEPS.tolist(), [5, 1]),
        TypeError,
        "_pack_padded_sequence(): argument 'input' (position 1) must be Tensor, not list",
    ),
    (lambda: rnn.pad_sequence([1, 2]), TypeError, "expected Tensor as element 0 in argument 0, but got int"),
    (lambda: rnn.PackedSequence(STEPS), AssertionError, "Expected data to be a list or tuple of length 2"),
    (
        lambda: nn.LSTM(8, 6)(rnn.pack_padded_sequence(torch.ones(5, 2, 7), [5, 3])),
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied (8x7 and 8x24)",
    ),
    (
        lambda: nn.MultiheadAttention(8, 2)(STEPS, STEPS, STEPS, key_padding_mask=torch.ones(2, 5).long()),
        AssertionError,
        "only bool and floating types of key_padding_mask are supported",
    ),
    (
        lambda: nn.MultiheadAttention(8, 2)(STEPS, STEPS, STEPS, attn_mask=torch.ones(5, 5).long()),
        AssertionError,
        "only bool and floating types of attn_mask are supported",
    ),
    (
        lambda: nn.MultiheadAttention(8, 2)(STEPS, STEPS[:, :1], STEPS[:, :1]),
        RuntimeError,
        "shape '[5, 4, 4]' is invalid for input of size 40",
    ),
    (
        lambda: nn.MultiheadAttention(8, 2)(STEPS[:, 0], STEPS[:, 0], STEPS[:, 0], attn_mask=torch.zeros(5, 5, 5, 5)),
        AssertionError,
        "For unbatched (2-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found 4-D tensor instead",
    ),
    (
        lambda: nn.MultiheadAttention(8, 2)(STEPS, STEPS, STEPS, attn_mask=torch.zeros(5)),
        AssertionError,
        "For batched (3-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found 1-D tensor instead",
    ),
    (
        lambda: nn.MultiheadAttention(8, 2)(STEPS[:, 0], STEPS[:, 0], STEPS[:, 0], attn_mask=torch.zeros(3, 5, 5)),
        AssertionError,
        "Expected `attn_mask` shape to be (2, 5, 5) but got torch.Size([3, 5, 5])",
    ),
    (
        lambda: F.scaled_dot_product_attention(torch.ones(4).long(), torch.ones(4).long(), torch.ones(4).long()),
        RuntimeError,
        "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: 1 "
        "key.dim: 1 and value.dim: 1 instead.",
    ),
    (
        lambda: F.scaled_dot_product_attention(
            torch.ones(5, 4).long(), torch.ones(5, 4).long(), torch.ones(5, 4).long()
        ),
        RuntimeError,
        "expected m1 and m2 to have the same dtype, but got: float != long int",
    ),
    (
        lambda: F.scaled_dot_product_attention(
            torch.ones(2, 4, 5, 4), torch.ones(2, 3, 5, 4), torch.ones(2, 3, 5, 4), enable_gqa=True
        ),
        RuntimeError,
        "Number of heads in key and value must divide the number of heads in ",
    ),
    (
        lambda: F.cross_entropy(SCORES.argmax(1), CLASSES),
        RuntimeError,
        "Expected floating point type for target with class probabilities, got Long",
    ),
    (
        lambda: F.cross_entropy(SCORES.reshape(2, 2, 3), CLASSES),
        ValueError,
        "Expected input batch_size (2) to match target batch_size (4).",
    ),
    (
        lambda: F.cross_entropy(SCORES.reshape(2, 2, 3), CLASSES.reshape(2, 2)),
        RuntimeError,
        "Expected target size [2, 3], got [2, 2]",
    ),
    (
        lambda: F.cross_entropy(SCORES, CLASSES, label_smoothing=2.0),
        RuntimeError,
        "label_smoothing must be between 0.0 and 1.0. Got: 2",
    ),
    (
        lambda: F.cross_entropy(torch.ones(2, 3, 4).long(), torch.ones(2, 4).long()),
        NotImplementedError,
        "\"log_softmax_kernel_impl\" not implemented for 'Long'",
    ),
    (
        lambda: F.nll_loss(SCORES, (CLASSES + 5)[:3]),
        ValueError,
        "Expected input batch_size (4) to match target batch_size (3).",
    ),
    (lambda: F.nll_loss(torch.tensor(1.0), torch.tensor(1)), ValueError, "Expected 1 or more dimensions (got 0)"),
    (
        lambda: F.binary_cross_entropy(SCORES.sigmoid(), torch.ones(4, 3), weight=torch.ones(4)),
        RuntimeError,
        "Attempting to broadcast a dimension of length 4 at -1! Mismatching argument at index 1 had "
        "torch.Size([4]); but expected shape should be broadcastable to [4, 3]",
    ),
    (
        lambda: F.binary_cross_entropy(SCORES * 5, torch.ones(4)),
        ValueError,
        "Using a target size (torch.Size([4])) that is different to the input size (torch.Size([4, 3])) "
        "is deprecated. Please ensure they have the same size.",
    ),
    (
        lambda: F.mse_loss(SCORES, SCORES, weight=torch.ones(2)),
        ValueError,
        "Weights and input must have the same size.",
    ),
    (
        lambda: F.smooth_l1_loss(SCORES, SCORES, beta=-1.0),
        RuntimeError,
        "smooth_l1_loss does not support negative values for beta.",
    ),
    (
        lambda: F.huber_loss(SCORES, SCORES, delta=0),
        RuntimeError,
        "huber_loss does not support non-positive values for delta.",
    ),
    (
        lambda: F.ctc_loss(torch.ones(5, 2, 4).log_softmax(2), torch.ones(6).long(), (5, 5), (3, 3), blank=7),
        RuntimeError,
        "blank must be in label range",
    ),
    (
        lambda: F.ctc_loss(
            torch.ones(5, 2, 4).log_softmax(2), torch.ones(2, 3).long(), torch.tensor([5.0, 5]), torch.tensor([3, 3])
        ),
        RuntimeError,
        "input_lengths must be integral",
    ),
    (lambda: F.multi_margin_loss(SCORES, CLASSES, p=3), ValueError, "only p == 1 and p == 2 supported"),
    (lambda: F.gaussian_nll_loss(SCORES, SCORES, torch.ones(4, 2)), ValueError, "var is of incorrect size"),
    (lambda: F.gaussian_nll_loss(SCORES, SCORES, -1.0), ValueError, "var has negative entry/entries"),
    (
        lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 10, [5])(torch.ones(2, 8), torch.tensor([1, 10])),
        RuntimeError,
        "Target values should be in [0, 9], but values in range [1, 10] were found. ",
    ),
    (lambda: nn.Parameter([1.0, 2.0]), AttributeError, "'list' object has no attribute 'detach'"),
    (lambda: nn.Module()(3, x=2), TypeError, "_forward_unimplemented() got an unexpected keyword argument 'x'"),
    (
        lambda: nn.ParameterDict({1: torch.ones(2)}),
        TypeError,
        "Index given to ParameterDict cannot be used as a key as it is not a string (type is 'int'). "
        "Open an issue on github if you need non-string keys.",
    ),
    (
        lambda: torch.ones(2, 3).gather(0, torch.full((3, 3, 3), 9)),
        RuntimeError,
        "Index tensor must have the same number of dimensions as input tensor",
    ),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_layers_refuse_in_torchs_words(case: int) -> None:
    assert_refused(*REFUSED[case])


def test_float_targets_of_ctc_loss_are_taken_for_labels() -> None:
    scores = torch.ones(5, 2, 4).log_softmax(2)
    loss = F.ctc_loss(scores, torch.ones(2, 3), torch.tensor([5, 5]), torch.tensor([3, 3]))
    assert loss.item() == pytest.approx(2.3105, abs=1e-4)


def test_spectral_norm_takes_a_vector_for_one_column() -> None:
    layer = nn.utils.spectral_norm(nn.Linear(2, 2), "bias")
    layer(torch.ones(2))
    assert layer.bias.norm().item() == pytest.approx(1, abs=1e-5)


def test_complex_modules_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="Complex modules are a new feature under active development"):
        nn.Linear(2, 2).to(torch.complex64)


class _Twice(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * 2).sum()


class _Pair(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x * 2, x.exp()


class _Listed(nn.Module):
    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        return [x * 2]


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (_Twice(), "when the forward contains multiple autograd Nodes"),
        (_Pair(), "when outputs are generated by different autograd Nodes"),
        (_Listed(), "on a Module that does not return a single Tensor or a tuple of Tensors"),
    ],
)
def test_hooks_at_the_last_operation_are_warned_of_where_gradients_are_missed(module: nn.Module, words: str) -> None:
    module.register_backward_hook(lambda *_: None)
    with pytest.warns(FutureWarning, match=words):
        module(torch.ones(2, requires_grad=True))


def test_a_full_backward_hook_may_not_change_the_size() -> None:
    layer = nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda _module, inputs, _outputs: (inputs[0][:1],))
    with pytest.raises(RuntimeError, match=r"^hook 'hook' has changed the size of value$"):
        layer(torch.ones(3, 2, requires_grad=True)).sum().backward()


def test_a_module_without_its_base_names_what_torch_misses_first() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            self.size = 3

    with pytest.raises(AttributeError, match=r"^'Net' object has no attribute '_backward_hooks'$"):
        Net()(3)
