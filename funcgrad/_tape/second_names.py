"""What torch calls the node of a gradient that has a graph of its own: the last function of its formula.

Of x ** 2 that is MulBackward0, since torch's formula multiplies last. What is not listed keeps the name of its own
formula: ConvolutionBackwardBackward0. Recorded from torch 2.13.0.
"""

from __future__ import annotations

_BY_LAST_FUNCTION = {  # the node whose gradient it is, without Backward0 where it ends so
    "Mul": (
        "Exp Expm1 Rsqrt Sin Cos Tan Asin Acos Sinh Cosh Asinh Acosh Abs Pow PowBackward2 Reciprocal Erf Erfc Erfinv "
        "Lgamma Digamma I0 Prod ProdBackward1 Var Std LinalgVectorNorm NormBackward1 Amax Amin Logsumexp Nansum Mul "
        "Dot Silu Mish Atan2 Addcmul"
    ),
    "Div": "Log Log2 Log10 Log1P Sqrt Atan Atanh Hypot Logaddexp Cumprod",
    "MulBackward1": "Exp2 Deg2Rad Rad2Deg Lerp",
    "DivBackward1": "Mean MeanBackward1 BinaryCrossEntropyWithLogits",
    "Neg": "Neg RsubBackward1 LinalgInvEx",
    "Expand": "Sum SumBackward1",
    "View": "View UnsafeView ReshapeAlias Trace Expand NativeGroupNorm",
    "Where": "Where Logit Sinc ClampBackward1",
    "MaskedFillBackward1": "MaxBackward1 MinBackward1 Median",
    "MaskedFill": "MaskedFill Maximum Minimum",
    "Scatter": "Max Min MedianBackward1 Sort Topk",
    "ThresholdBackward": "Relu",
    "SoftmaxBackwardData": "Softmax",
    "LogSoftmaxBackwardData": "LogSoftmax",
    "EluBackward": "Celu",
    "EmbeddingDenseBackward": "Embedding",
    "IndexPutImpl": "Index",
    "ScatterAdd": "Gather",
    "Gather": "ScatterAdd",
    "IndexAdd": "IndexSelect",
    "Slice": "Cat LinalgMatrixExp",
    "Select": "Stack",
    "Cat": "Split",
    "Stack": "Unbind",
    "SqueezeBackward1": "Unsqueeze",
    "SumBackward1": "Repeat",
    "Sub": "Logcumsumexp",
    "LinalgSolveEx": "LinalgDet LinalgSlogdet LinalgSolveEx",
    "Flip": "Flip Cumsum",
    **{name: name for name in ("T", "Roll", "Tril", "Triu", "Permute", "Transpose", "ToCopy", "ConstantPadNd")},
    **{name: name for name in ("Mm", "Bmm", "LinalgCross")},
}
_BY_PLACE = {  # where it depends on the input: the inputs' names, in order; by the row or by the node
    "linear": ("Mm", "T", "View"),
    "cross_entropy": ("LogSoftmaxBackwardData",),
    "Div": ("Div", "Mul"),
    "PowBackward1": ("Where", "Mul"),
    "Xlogy": ("MaskedFill", "Div"),
    "Sub": ("SubBackward", "Neg"),
    "Mv": ("Mul", "Mv"),
    "Addmm": ("Mm",),
    "Baddbmm": ("Bmm",),
}


def second_name(row: str, node: str, place: int) -> str:
    """Return the name of a gradient's node: of the input `place` of a row's call, which left `node` behind."""
    by_place = _BY_PLACE.get(row) or _BY_PLACE.get(node.removesuffix("Backward0"))
    last = by_place[min(place, len(by_place) - 1)] if by_place else _LAST_FUNCTION.get(node.removesuffix("Backward0"))
    if last is None:
        return f"{node.removesuffix('0')}Backward0"
    return last if last[-1].isdigit() else f"{last}Backward0"


_LAST_FUNCTION = {node: last for last, nodes in _BY_LAST_FUNCTION.items() for node in nodes.split()}
