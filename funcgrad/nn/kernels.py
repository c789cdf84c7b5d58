"""Which functions of nn.functional are not written in Python in torch, or only call a method."""

from __future__ import annotations

OF_TORCH = {  # what torch.nn.functional only has as a second name
    "adaptive_avg_pool1d", "avg_pool1d", "bilinear", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_similarity", "hardshrink", "pairwise_distance",
    "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu",
}  # fmt: skip
OF_METHODS = {"sigmoid", "tanh"}  # what calls the tensor's method of its name
KERNELS = {  # what is not Python in torch
    "avg_pool2d", "avg_pool3d", "gelu", "linear", "logsigmoid", "one_hot", "scaled_dot_product_attention", "softplus",
    "softshrink",
}  # fmt: skip
