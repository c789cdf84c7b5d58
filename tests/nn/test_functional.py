"""nn.functional: what is composed of several rows, and what every name there promises."""

from __future__ import annotations

import math

import jax
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._ops.pooling import max_pool2d
from funcgrad.nn import functional as F


def test_batch_norm_moves_the_running_statistics() -> None:
    x, mean, var = torch.randn(6, 2, 3), torch.zeros(2), torch.ones(2)
    held = mean
    result = F.batch_norm(x, mean, var, training=True, momentum=0.25)
    assert torch.allclose(result.mean((0, 2)), torch.zeros(2), atol=1e-6)
    assert torch.allclose(mean, 0.25 * x.mean((0, 2)), atol=1e-6) and held is mean
    assert torch.allclose(var, 0.75 + 0.25 * x.transpose(0, 1).flatten(1).var(1), atol=1e-6)
    again = F.batch_norm(x, mean, var, momentum=0.25)
    assert torch.allclose(again, (x - mean[:, None]) / (var[:, None] + 1e-5).sqrt(), atol=1e-5)
    with pytest.raises(RuntimeError, match="running_mean must be defined in evaluation mode"):
        F.batch_norm(x, None, None)


def test_running_statistics_keep_no_history() -> None:
    layer = nn.BatchNorm1d(2)
    for _ in range(3):
        layer(torch.randn(4, 2, requires_grad=True)).sum().backward()
    assert layer.running_mean.grad_fn is None and not layer.running_mean.requires_grad
    assert layer.num_batches_tracked.item() == 3


def test_embedding_limits_the_norm_of_what_it_looks_up() -> None:
    weight = nn.Parameter(torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]]))
    found = F.embedding(torch.tensor([0, 1]), weight, max_norm=1.0)
    assert torch.allclose(found, torch.tensor([[0.6, 0.8], [0.3, 0.4]]), atol=1e-6)
    assert torch.allclose(weight, torch.tensor([[0.6, 0.8], [0.3, 0.4], [6.0, 8.0]]), atol=1e-6)
    found.sum().backward()
    assert weight.grad.tolist() == [[1, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8, torch.bool])
def test_embedding_looks_up_whole_numbers(dtype: torch.dtype) -> None:
    table = torch.tensor([[0, 1], [1, 0], [1, 1]]).to(dtype)
    found = nn.Embedding.from_pretrained(table)(torch.tensor([2, 0]))
    assert found.dtype is dtype and found.tolist() == table[[2, 0]].tolist()
    assert F.embedding(torch.tensor([[1]]), table, padding_idx=1).tolist() == [[table[1].tolist()]]


def test_normalize_takes_several_dims() -> None:
    x = torch.arange(1.0, 13.0).reshape(2, 2, 3)
    assert torch.allclose(F.normalize(x, dim=(1, 2)), x / (x * x).sum((1, 2), keepdim=True).sqrt())
    assert torch.allclose(F.normalize(x, dim=[0]), F.normalize(x, dim=0))
    with pytest.raises(RuntimeError, match=r"^dim 0 appears multiple times in the list of dims$"):
        F.normalize(x, dim=(0, 0))


def test_attention_is_softmax_of_scaled_products() -> None:
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 6)
    expected = (q @ k.transpose(-2, -1) / math.sqrt(4)).softmax(-1) @ v
    assert torch.allclose(F.scaled_dot_product_attention(q, k, v), expected, atol=1e-6)
    causal = F.scaled_dot_product_attention(q, k[:, :3], v[:, :3], is_causal=True)
    assert torch.allclose(causal[:, 0], v[:, 0], atol=1e-6)
    dropped = F.scaled_dot_product_attention(q, k, v, dropout_p=0.9)
    assert not torch.allclose(dropped, expected)


def test_triplets_take_any_distance() -> None:
    anchor, near, far = torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.5]])
    loss = F.triplet_margin_with_distance_loss(
        anchor, near, far, distance_function=lambda a, b: (a - b).abs().sum(-1), reduction="none"
    )
    assert loss.tolist() == [0.5]
    with pytest.raises(ValueError, match="margin must be greater than 0"):
        F.triplet_margin_with_distance_loss(anchor, near, far, margin=0.0)


def test_functions_change_their_input_where_asked() -> None:
    x = torch.tensor([-1.0, 2.0])
    assert F.relu(x, inplace=True) is x and x.tolist() == [0.0, 2.0]
    assert F.leaky_relu_(x) is x and F.dropout(x, 0.0) is x


def test_pooling_gives_places_under_all_its_names() -> None:
    x = torch.randn(1, 2, 4, 4)
    values, places = F.max_pool2d_with_indices(x, 2)
    assert torch.equal(x.flatten(2).gather(2, places.flatten(2)), values.flatten(2))
    assert torch.equal(F.adaptive_max_pool2d_with_indices(x, 2)[1], places)
    values, places = F.fractional_max_pool2d_with_indices(x, 2, output_size=3)
    assert torch.equal(x.flatten(2).gather(2, places.flatten(2)), values.flatten(2))


def test_masks_of_another_shape_are_refused() -> None:
    attention = nn.MultiheadAttention(4, 2)
    x = torch.randn(3, 2, 4)
    with pytest.raises(RuntimeError, match=r"The shape of the 2D attn_mask is .* but should be \(3, 3\)"):
        attention(x, x, x, attn_mask=torch.zeros(2, 2))
    with pytest.raises(AssertionError, match="embed_dim must be divisible by num_heads"):
        nn.MultiheadAttention(5, 2)
    with pytest.raises(RuntimeError, match="Need attn_mask if specifying the is_causal hint"):
        attention(x, x, x, is_causal=True)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'torch.nn.functional' has no attribute 'soft_sign'"):
        _ = F.soft_sign


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_targets_that_are_only_compared_get_no_gradient(reduction: str) -> None:
    x, y = torch.ones(3, 2, requires_grad=True), torch.randn(3, 2, requires_grad=True)
    target = torch.tensor([1.0, -1.0, 1.0], requires_grad=True)
    losses = (
        F.hinge_embedding_loss(x[:, 0], target, reduction=reduction),
        F.cosine_embedding_loss(x, y, target, reduction=reduction),
    )
    for loss in losses:
        given = torch.autograd.grad(loss.sum(), [x, target], allow_unused=True)
        assert given[0] is not None and given[1] is None
    assert not F.hinge_embedding_loss(torch.ones(3), target).requires_grad
    assert F.cosine_embedding_loss(x, y, target.double()).dtype is torch.float32


def test_losses_refuse_gradients_of_what_torchs_kernels_have_none_for() -> None:
    scores, weight = torch.rand(3, 4, requires_grad=True), torch.rand(4, requires_grad=True)
    classes, shares = torch.tensor([0, 1, 2]), torch.rand(3, 4)
    cases = {
        "soft_margin_loss target": lambda: F.soft_margin_loss(scores, shares.requires_grad_()),
        "multi_margin_loss weight": lambda: F.multi_margin_loss(scores, classes, weight=weight),
        "binary_cross_entropy weight": lambda: F.binary_cross_entropy(scores, shares, weight),
        "binary_cross_entropy_with_logits pos_weight": lambda: F.binary_cross_entropy_with_logits(
            scores, shares, pos_weight=weight
        ),
        "nll_loss_forward weight": lambda: F.cross_entropy(scores, classes, weight, label_smoothing=0.1),
        "nll_loss2d_forward weight": lambda: F.nll_loss(
            scores[..., None, None], classes[:, None, None], nn.Parameter(weight)
        ),
    }
    for case, loss in cases.items():
        function, argument = case.split()
        with pytest.raises(RuntimeError) as caught:
            loss()
        assert str(caught.value) == (
            f"The function '{function}' is not differentiable with respect to argument '{argument}'. This input cannot "
            "have requires_grad True."
        )
        with torch.no_grad():
            loss()
    F.cross_entropy(scores, shares, weight).backward()
    assert weight.grad is not None


def test_some_losses_have_the_dtype_of_their_input() -> None:
    x, target = torch.rand(3), torch.ones(3, dtype=torch.float64)
    for loss in (F.hinge_embedding_loss, F.soft_margin_loss, F.huber_loss):
        assert loss(x, target).dtype is torch.float32 and loss(x.double(), target.float()).dtype is torch.float64
    with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
        F.l1_loss(x, target > 0)


@pytest.mark.parametrize(
    ("sizes", "kernel", "padding", "dilation"),
    [
        ((9,), (3,), (1,), (1,)),
        ((7, 8), (3, 2), (1, 0), (1, 2)),
        ((6, 7), (2, 3), (1, 1), (2, 1)),
        ((4, 5, 4), (3, 2, 2), (1, 0, 1), (1, 1, 2)),
    ],
)
def test_the_gradient_of_maxima_at_each_place_goes_where_they_were_found(
    sizes: tuple[int, ...], kernel: tuple[int, ...], padding: tuple[int, ...], dilation: tuple[int, ...]
) -> None:
    torch.manual_seed(0)
    x = torch.randint(-2, 3, (2, 3, *sizes)).float().requires_grad_()  # many are equal
    pool = getattr(F, f"max_pool{len(sizes)}d")
    best, places = pool(x, kernel, 1, padding, dilation, return_indices=True)
    weight = torch.randn(best.shape)
    (found,) = torch.autograd.grad((pool(x, kernel, 1, padding, dilation) * weight).sum(), x, create_graph=True)
    expected = torch.zeros(2, 3, math.prod(sizes)).scatter_add(2, places.flatten(2), weight.flatten(2))
    assert torch.allclose(found, expected.view_as(x), atol=1e-6)
    assert torch.allclose(
        torch.func.jvp(lambda x: pool(x, kernel, 1, padding, dilation), (x.detach(),), (weight.new_ones(x.shape),))[1],
        torch.ones(best.shape),
    )


def test_the_gradient_of_maxima_at_each_place_pads_no_image_for_each_tap() -> None:
    """Ten in a row took nine times as long, and five times to compile."""
    gradient = jax.make_jaxpr(jax.grad(lambda x: max_pool2d(x, (3,), (1,), (1,)).sum()))(jax.numpy.ones((2, 3, 8, 8)))
    assert str(gradient).count(" pad[") == 3  # the image, its windows' gradients, and which tap of them was the largest
