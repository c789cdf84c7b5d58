"""The layers that the tests make, in torch and here: how each is made, and what it is called with."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Host = np.ndarray[Any, Any]


class Case(NamedTuple):
    """One layer. `make` takes the namespace nn (torch's or ours); `inputs` are made from a fixed seed."""

    name: str
    make: Callable[[Any], Any]
    inputs: tuple[Any, ...]


def floats(*shape: int) -> Callable[[np.random.RandomState], Host]:
    """Make normal float32 numbers."""
    return lambda random: random.standard_normal(shape).astype(np.float32)


def positive(*shape: int) -> Callable[[np.random.RandomState], Host]:
    """Make float32 numbers between 0.05 and 0.95."""
    return lambda random: (0.05 + 0.9 * random.random_sample(shape)).astype(np.float32)


def signs(*shape: int) -> Callable[[np.random.RandomState], Host]:
    """Make float32 numbers that are 1 or -1."""
    return lambda random: (2 * random.randint(0, 2, shape) - 1).astype(np.float32)


def integers(high: int, *shape: int) -> Callable[[np.random.RandomState], Host]:
    """Make int64 numbers below `high`."""
    return lambda random: random.randint(0, high, shape).astype(np.int64)


def given(value: Any) -> Callable[[np.random.RandomState], Any]:
    """Make this very array (or None)."""
    return lambda random: value if value is None else np.array(value)


def inputs_of(case: Case) -> list[Any]:
    """Return the case's inputs as numpy arrays."""
    random = np.random.RandomState(zlib.crc32(case.name.encode()) % 2**31)
    return [make(random) for make in case.inputs]


_X = floats(3, 4)
_IMAGE, _LINE, _VOLUME = floats(2, 4, 6, 6), floats(2, 4, 8), floats(2, 4, 3, 4, 4)
_AWAY = given(np.linspace(-2.3, 2.4, 12, dtype=np.float32).reshape(3, 4))  # no element at a kink

ACTIVATIONS = tuple(
    Case(name, make, (_AWAY,))
    for name, make in {
        "ReLU": lambda nn: nn.ReLU(), "ReLU6": lambda nn: nn.ReLU6(), "RReLU": lambda nn: nn.RReLU().eval(),
        "Sigmoid": lambda nn: nn.Sigmoid(), "Tanh": lambda nn: nn.Tanh(), "SiLU": lambda nn: nn.SiLU(),
        "Mish": lambda nn: nn.Mish(), "GELU": lambda nn: nn.GELU(), "GELU tanh": lambda nn: nn.GELU("tanh"),
        "ELU": lambda nn: nn.ELU(1.5), "CELU": lambda nn: nn.CELU(0.5), "SELU": lambda nn: nn.SELU(),
        "GLU": lambda nn: nn.GLU(), "Hardtanh": lambda nn: nn.Hardtanh(-0.7, 0.6),
        "Hardswish": lambda nn: nn.Hardswish(),
        "Hardsigmoid": lambda nn: nn.Hardsigmoid(), "Hardshrink": lambda nn: nn.Hardshrink(),
        "Softshrink": lambda nn: nn.Softshrink(), "LeakyReLU": lambda nn: nn.LeakyReLU(0.2),
        "LogSigmoid": lambda nn: nn.LogSigmoid(), "Softplus": lambda nn: nn.Softplus(2, 3),
        "PReLU": lambda nn: nn.PReLU(4),
        "Softsign": lambda nn: nn.Softsign(), "Tanhshrink": lambda nn: nn.Tanhshrink(),
        "Softmin": lambda nn: nn.Softmin(1),
        "Softmax": lambda nn: nn.Softmax(-1), "LogSoftmax": lambda nn: nn.LogSoftmax(0),
        "Threshold": lambda nn: nn.Threshold(0.1, 20),
        "ReLU in place": lambda nn: nn.Sequential(nn.Linear(4, 3), nn.ReLU(True)),
    }.items()
)  # fmt: skip

LOSSES = (
    Case("L1Loss", lambda nn: nn.L1Loss(), (_X, _X)),
    Case("MSELoss", lambda nn: nn.MSELoss(reduction="sum"), (_X, _X)),
    Case("NLLLoss", lambda nn: nn.NLLLoss(ignore_index=1), (_X, integers(4, 3))),
    Case("CrossEntropyLoss", lambda nn: nn.CrossEntropyLoss(), (_X, integers(4, 3))),
    Case("CrossEntropyLoss smooth", lambda nn: nn.CrossEntropyLoss(label_smoothing=0.1), (_X, integers(4, 3))),
    Case("CrossEntropyLoss images", lambda nn: nn.CrossEntropyLoss(reduction="none"), (_IMAGE, integers(4, 2, 6, 6))),
    Case("PoissonNLLLoss", lambda nn: nn.PoissonNLLLoss(full=True), (_X, positive(3, 4))),
    Case("GaussianNLLLoss", lambda nn: nn.GaussianNLLLoss(), (_X, _X, positive(3, 4))),
    Case("KLDivLoss", lambda nn: nn.KLDivLoss(reduction="batchmean"), (_X, positive(3, 4))),
    Case("BCELoss", lambda nn: nn.BCELoss(), (positive(3, 4), positive(3, 4))),
    Case("BCEWithLogitsLoss", lambda nn: nn.BCEWithLogitsLoss(), (_X, positive(3, 4))),
    Case("HingeEmbeddingLoss", lambda nn: nn.HingeEmbeddingLoss(0.5), (_X, signs(3, 4))),
    Case("MultiLabelMarginLoss", lambda nn: nn.MultiLabelMarginLoss(),
         (_X, given([[3, 0, -1, 1], [1, -1, 0, 2], [0, 1, 2, -1]]))),
    Case("SmoothL1Loss", lambda nn: nn.SmoothL1Loss(beta=0.7), (_X, _X)),
    Case("HuberLoss", lambda nn: nn.HuberLoss(delta=0.7), (_X, _X)),
    Case("SoftMarginLoss", lambda nn: nn.SoftMarginLoss(), (_X, signs(3, 4))),
    Case("MultiLabelSoftMarginLoss", lambda nn: nn.MultiLabelSoftMarginLoss(), (_X, positive(3, 4))),
    Case("CosineEmbeddingLoss", lambda nn: nn.CosineEmbeddingLoss(0.1), (_X, _X, signs(3))),
    Case("MarginRankingLoss", lambda nn: nn.MarginRankingLoss(0.3), (floats(5), floats(5), signs(5))),
    Case("MultiMarginLoss", lambda nn: nn.MultiMarginLoss(p=2), (_X, integers(4, 3))),
    Case("TripletMarginLoss", lambda nn: nn.TripletMarginLoss(swap=True), (_X, _X, _X)),
    Case("CTCLoss", lambda nn: nn.CTCLoss(), (floats(6, 2, 5), given([[1, 2], [3, 3]]), given([6, 5]), given([2, 1]))),
    Case("AdaptiveLogSoftmaxWithLoss", lambda nn: nn.AdaptiveLogSoftmaxWithLoss(16, 7, [2, 4]),
         (floats(3, 16), integers(7, 3))),
    Case("TripletMarginWithDistanceLoss", lambda nn: nn.TripletMarginWithDistanceLoss(), (_X, _X, _X)),
)  # fmt: skip

LAYERS = (
    Case("Identity", lambda nn: nn.Identity(7, unused=True), (_X,)),
    Case("Linear", lambda nn: nn.Linear(4, 3), (_X,)),
    Case("Linear no bias", lambda nn: nn.Linear(4, 3, bias=False), (floats(2, 3, 4),)),
    Case("Bilinear", lambda nn: nn.Bilinear(4, 3, 2), (_X, floats(3, 3))),
    Case("MLP", lambda nn: nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2)), (_X,)),
    Case("Flatten", lambda nn: nn.Flatten(), (_LINE,)),
    Case("Unflatten", lambda nn: nn.Unflatten(1, (2, 2)), (_LINE,)),
    Case("Conv1d", lambda nn: nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2), (_LINE,)),
    Case("Conv2d", lambda nn: nn.Conv2d(4, 3, (3, 2), padding=(1, 0), dilation=2), (_IMAGE,)),
    Case("Conv2d same", lambda nn: nn.Conv2d(4, 3, 4, padding="same", bias=False), (_IMAGE,)),
    Case("Conv2d reflect", lambda nn: nn.Conv2d(4, 3, 3, padding=2, padding_mode="reflect"), (_IMAGE,)),
    Case("Conv2d circular", lambda nn: nn.Conv2d(4, 3, 3, padding=1, padding_mode="circular"), (_IMAGE,)),
    Case("Conv3d", lambda nn: nn.Conv3d(4, 2, 2), (_VOLUME,)),
    Case("ConvTranspose1d", lambda nn: nn.ConvTranspose1d(4, 3, 3, stride=2, output_padding=1), (_LINE,)),
    Case("ConvTranspose2d", lambda nn: nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, groups=2), (_IMAGE,)),
    Case("ConvTranspose3d", lambda nn: nn.ConvTranspose3d(4, 2, 2, dilation=2), (_VOLUME,)),
    Case("BatchNorm1d", lambda nn: nn.BatchNorm1d(4), (_X,)),
    Case("BatchNorm2d", lambda nn: nn.BatchNorm2d(4, momentum=0.3), (_IMAGE,)),
    Case("BatchNorm2d cumulative", lambda nn: nn.BatchNorm2d(4, momentum=None), (_IMAGE,)),
    Case("BatchNorm2d eval", lambda nn: nn.BatchNorm2d(4).eval(), (_IMAGE,)),
    Case("BatchNorm3d", lambda nn: nn.BatchNorm3d(4, affine=False, track_running_stats=False), (_VOLUME,)),
    Case("InstanceNorm1d", lambda nn: nn.InstanceNorm1d(4, affine=True), (_LINE,)),
    Case("InstanceNorm2d", lambda nn: nn.InstanceNorm2d(4, track_running_stats=True), (_IMAGE,)),
    Case("LayerNorm", lambda nn: nn.LayerNorm(4), (_X,)),
    Case("LayerNorm two", lambda nn: nn.LayerNorm((4, 8), bias=False), (_LINE,)),
    Case("GroupNorm", lambda nn: nn.GroupNorm(2, 4), (_IMAGE,)),
    Case("RMSNorm", lambda nn: nn.RMSNorm(4), (_X,)),
    Case("LocalResponseNorm", lambda nn: nn.LocalResponseNorm(3), (_IMAGE,)),
    Case("MaxPool1d", lambda nn: nn.MaxPool1d(2), (_LINE,)),
    Case("MaxPool2d", lambda nn: nn.MaxPool2d(3, stride=2, padding=1), (_IMAGE,)),
    Case("MaxPool3d", lambda nn: nn.MaxPool3d(2), (_VOLUME,)),
    Case("AvgPool1d", lambda nn: nn.AvgPool1d(3, 2), (_LINE,)),
    Case("AvgPool2d", lambda nn: nn.AvgPool2d(3, 2, 1, count_include_pad=False), (_IMAGE,)),
    Case("AvgPool3d", lambda nn: nn.AvgPool3d(2), (_VOLUME,)),
    Case("LPPool2d", lambda nn: nn.LPPool2d(2, 2), (_IMAGE,)),
    Case("AdaptiveAvgPool2d", lambda nn: nn.AdaptiveAvgPool2d((2, None)), (_IMAGE,)),
    Case("AdaptiveMaxPool2d", lambda nn: nn.AdaptiveMaxPool2d(4), (_IMAGE,)),
    Case("FractionalMaxPool2d", lambda nn: nn.FractionalMaxPool2d(2, output_ratio=0.7), (_IMAGE,)),
    Case("ZeroPad2d", lambda nn: nn.ZeroPad2d((1, 2, 0, 1)), (_IMAGE,)),
    Case("ConstantPad1d", lambda nn: nn.ConstantPad1d(2, 3.5), (_LINE,)),
    Case("ReflectionPad2d", lambda nn: nn.ReflectionPad2d(2), (_IMAGE,)),
    Case("ReplicationPad3d", lambda nn: nn.ReplicationPad3d(1), (_VOLUME,)),
    Case("CircularPad2d", lambda nn: nn.CircularPad2d(1), (_IMAGE,)),
    Case("PixelShuffle", lambda nn: nn.PixelShuffle(2), (_IMAGE,)),
    Case("PixelUnshuffle", lambda nn: nn.PixelUnshuffle(3), (_IMAGE,)),
    Case("ChannelShuffle", lambda nn: nn.ChannelShuffle(2), (_IMAGE,)),
    Case("Upsample", lambda nn: nn.Upsample(scale_factor=2), (_IMAGE,)),
    Case("Upsample bilinear", lambda nn: nn.Upsample(size=(9, 4), mode="bilinear"), (_IMAGE,)),
    Case("UpsamplingBilinear2d", lambda nn: nn.UpsamplingBilinear2d(scale_factor=1.5), (_IMAGE,)),
    Case("Fold", lambda nn: nn.Fold((4, 5), 2), (floats(2, 12, 12),)),
    Case("Unfold", lambda nn: nn.Unfold(2, stride=2), (_IMAGE,)),
    Case("Softmax2d", lambda nn: nn.Softmax2d(), (_IMAGE,)),
    Case("CosineSimilarity", lambda nn: nn.CosineSimilarity(), (_X, _X)),
    Case("PairwiseDistance", lambda nn: nn.PairwiseDistance(), (_X, _X)),
    Case("Embedding", lambda nn: nn.Embedding(6, 3, padding_idx=-1), (integers(6, 2, 5),)),
    Case("EmbeddingBag", lambda nn: nn.EmbeddingBag(6, 3, mode="sum"), (integers(6, 7), given([0, 2, 2]))),
    Case("Dropout eval", lambda nn: nn.Dropout(0.3).eval(), (_X,)),
    Case("Dropout", lambda nn: nn.Dropout(0.3), (_X,)),
    Case("Dropout2d", lambda nn: nn.Dropout2d(0.4), (_IMAGE,)),
    Case("AlphaDropout", lambda nn: nn.AlphaDropout(0.4), (_X,)),
    Case("CNN", lambda nn: nn.Sequential(
        nn.Conv2d(4, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(12, 2)), (_IMAGE,)),
)  # fmt: skip

RECURRENT = (
    Case("RNN", lambda nn: nn.RNN(4, 3), (floats(5, 2, 4),)),
    Case("RNN relu", lambda nn: nn.RNN(4, 3, nonlinearity="relu", bias=False), (floats(5, 2, 4), floats(1, 2, 3))),
    Case("LSTM", lambda nn: nn.LSTM(4, 3, 2, batch_first=True), (floats(2, 5, 4),)),
    Case("LSTM bidirectional", lambda nn: nn.LSTM(4, 3, 2, bidirectional=True), (floats(5, 2, 4),)),
    Case("LSTM projected", lambda nn: nn.LSTM(4, 3, proj_size=2), (floats(5, 4),)),
    Case("LSTM dropout", lambda nn: nn.LSTM(4, 3, 2, dropout=0.4), (floats(5, 2, 4),)),
    Case("GRU", lambda nn: nn.GRU(4, 3, 2, bidirectional=True), (floats(5, 2, 4),)),
    Case("RNNCell", lambda nn: nn.RNNCell(4, 3), (floats(2, 4), floats(2, 3))),
    Case("LSTMCell", lambda nn: nn.LSTMCell(4, 3), (floats(2, 4),)),
    Case("GRUCell", lambda nn: nn.GRUCell(4, 3, bias=False), (floats(2, 4), floats(2, 3))),
)

ATTENTION = (
    Case("MultiheadAttention", lambda nn: nn.MultiheadAttention(4, 2),
         (floats(5, 2, 4), floats(3, 2, 4), floats(3, 2, 4))),
    Case("MultiheadAttention kv", lambda nn: nn.MultiheadAttention(
        4, 2, add_bias_kv=True, add_zero_attn=True, kdim=3, vdim=2, batch_first=True),
        (floats(2, 5, 4), floats(2, 3, 3), floats(2, 3, 2))),
    Case("MultiheadAttention dropout", lambda nn: nn.MultiheadAttention(4, 2, dropout=0.3), (floats(5, 2, 4),) * 3),
    Case("TransformerEncoderLayer", lambda nn: nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0), (floats(5, 2, 4),)),
    Case("TransformerEncoderLayer gelu", lambda nn: nn.TransformerEncoderLayer(
        4, 2, 6, activation="gelu", norm_first=True, batch_first=True), (floats(2, 5, 4),)),
    Case("TransformerEncoder", lambda nn: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(4, 2, 6, batch_first=True), 2, nn.LayerNorm(4)).eval(), (floats(2, 5, 4),)),
    Case("TransformerDecoderLayer", lambda nn: nn.TransformerDecoderLayer(4, 2, 6), (floats(5, 2, 4), floats(3, 2, 4))),
    Case("Transformer", lambda nn: nn.Transformer(4, 2, 1, 1, 6), (floats(5, 2, 4), floats(3, 2, 4))),
)  # fmt: skip

CASES = (*ACTIVATIONS, *LOSSES, *LAYERS, *RECURRENT, *ATTENTION)
