"""Samples of pooling: strides, paddings, dilations, ceil mode, ties, places of the maxima, refusals."""

from __future__ import annotations

from tests.ops.samples import Given, Sample, given, sample, values

_SIZES = (9, 8, 7)
_TIED = [[float((5 * i + 3 * j) % 4) for j in range(8)] for i in range(9)]


def _image(count: int) -> Given:
    return given(2, 3, *_SIZES[:count])


def _maxima(count: int) -> list[Sample]:
    image = _image(count)
    return [
        sample(image, 2),
        sample(given(3, *_SIZES[:count]), 2),
        sample(image, 2, 2, 0, 1, True),
        sample(image, 3, 2, 1),
        sample(image, 2, stride=1, dilation=2),
        sample(image, (3, 2, 2)[:count], (2, 1, 3)[:count], return_indices=True),
        sample(image, 3, 2, 1, 2, True, True),
        sample(image, 3, 1, 2).but(fails=True),
        sample(image, 12).but(fails=True),
        sample(given(*_SIZES[:count][1:]), 2).but(fails=True),
    ]


def _means(count: int) -> list[Sample]:
    image = _image(count)
    made = [
        sample(image, 2),
        sample(given(3, *_SIZES[:count]), 2),
        sample(image, 2, 2, 0, True),
        sample(image, 3, 2, 1),
        sample(image, 3, 1, 1, count_include_pad=False),
        sample(image, 3, 2, 1, True, False),
        sample(image, 3, 2, 1, ceil_mode=True),
        sample(image, 3, 1, 2).but(fails=True),
        sample(image, 12).but(fails=True),
    ]
    if count > 1:
        made.append(sample(image, 3, 2, divisor_override=5))
    return made


def _adaptive(count: int, maximum: bool) -> list[Sample]:
    image = _image(count)
    made = [
        sample(image, 1),
        sample(image, 2),
        sample(given(3, *_SIZES[:count]), (3, 4, 7)[:count]),
        sample(given(2, 3, *(6,) * count), 3),
        sample(given(2, 3, *(3,) * count), 5),
    ]
    if count > 1:
        made.append(sample(image, (None, 4, 2)[:count]))
    if maximum:
        made += [sample(image, 2, return_indices=True), sample(given(2, 3, *(6,) * count), 3, return_indices=True)]
    return made


def _unpool(count: int) -> list[Sample]:
    ones = (1,) * (count - 1)
    indices = Given((2, 1, *ones, 3), "int64", False, numbers=[0, 3, 5, 1, 2, 6])
    pooled = given(2, 1, *ones, 3)
    return [
        sample(pooled, indices, 3),
        sample(pooled, indices, 2, output_size=(*(2,) * (count - 1), 7)),
        sample(pooled, given(2, 1, *ones, 2, dtype="int64", low=0, high=4), 3).but(fails=True),
    ]


SAMPLES: dict[str, list[Sample]] = {
    "nn.functional.max_pool1d": _maxima(1),
    "nn.functional.max_pool2d": [
        *_maxima(2),
        sample(values([[_TIED]]), 2, return_indices=True),
        sample(values([[_TIED]]), 3, 2, 1, return_indices=True),
        sample(values([[[[1.0, float("nan")], [2.0, 3.0]]]]), 2).but(gradient=False),
        sample(given(1, 2, 20, 20), 9),
        sample(given(2, 3, 8, 8, dtype="float64"), 2),
        sample(given(2, 3, 8, 8, dtype="bfloat16"), 2),
    ],
    "nn.functional.max_pool3d": _maxima(3),
    "nn.functional.avg_pool1d": _means(1),
    "nn.functional.avg_pool2d": _means(2),
    "nn.functional.avg_pool3d": _means(3),
    "nn.functional.adaptive_avg_pool1d": _adaptive(1, False),
    "nn.functional.adaptive_avg_pool2d": _adaptive(2, False),
    "nn.functional.adaptive_avg_pool3d": _adaptive(3, False),
    "nn.functional.adaptive_max_pool1d": _adaptive(1, True),
    "nn.functional.adaptive_max_pool2d": _adaptive(2, True),
    "nn.functional.adaptive_max_pool3d": _adaptive(3, True),
    "nn.functional.lp_pool1d": [sample(_image(1), 2.0, 2), sample(given(2, 3, 9, low=0.1), 3.0, 2, 1, True)],
    "nn.functional.lp_pool2d": [sample(_image(2), 2.0, 2), sample(given(2, 3, 9, 8, low=0.1), 3.0, (2, 3), 1)],
    "nn.functional.lp_pool3d": [sample(_image(3), 2.0, 2)],
    "nn.functional.max_unpool1d": _unpool(1),
    "nn.functional.max_unpool2d": _unpool(2),
    "nn.functional.max_unpool3d": _unpool(3),
}
