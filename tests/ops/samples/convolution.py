"""Samples of convolutions: one to three dimensions, strides, paddings, dilations, groups, transposed ones, refusals."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample

_SIZES, _KERNELS = (7, 6, 5), (3, 2, 3)


def _plain(count: int) -> list[Sample]:
    size, kernel, ones = _SIZES[:count], _KERNELS[:count], (1,) * count
    image, weight = given(2, 4, *size), given(6, 4, *kernel)
    return [
        sample(image, weight, given(6)),
        sample(given(4, *size), weight, given(6)),
        sample(image, weight, stride=2, padding=1),
        sample(image, weight, None, 2, tuple(range(count)), tuple(range(1, count + 1))),
        sample(image, weight, given(6), padding="same", dilation=2),
        sample(image, weight, given(6), padding="valid"),
        sample(image, weight, given(6), padding=3).but(atol=1e-4),
        sample(image, given(6, 4, *ones), given(6)),
        sample(image, given(6, 4, *ones), stride=2),
        sample(image, given(6, 2, *kernel), given(6), groups=2),
        sample(image, given(8, 1, *kernel), given(8), padding=1, stride=2, groups=4),
        sample(given(2, 4, *size, dtype="float64"), given(6, 4, *kernel, dtype="float64")),
        sample(given(2, 3, *size), weight).but(fails=True),
        sample(given(*size), weight).but(fails=True),
        sample(image, given(6, 4, *(9,) * count)).but(fails=True),
        sample(image, weight, given(5)).but(fails=True),
        sample(image, weight, stride=0).but(fails=True),
        sample(image, weight, padding=-1).but(fails=True),
        sample(image, weight, padding="full").but(fails=True),
        sample(image, weight, padding="same", stride=2).but(fails=True),
        sample(image, weight, groups=3).but(fails=True),
        sample(given(2, 4, *size, dtype="float64"), weight).but(fails=True),
    ]


def _transposed(count: int) -> list[Sample]:
    size, kernel = _SIZES[:count], _KERNELS[:count]
    image, weight = given(2, 4, *size), given(4, 3, *kernel)
    return [
        sample(image, weight, given(3)),
        sample(given(4, *size), weight, given(3)),
        sample(image, weight, stride=2, padding=1, output_padding=1),
        sample(image, given(4, 2, *kernel), given(4), 2, groups=2),
        sample(image, given(4, 1, *kernel), given(4), 3, groups=4),
        sample(image, weight, stride=2, dilation=3, output_padding=2),
        sample(image, weight, given(3), 3, 2),
        sample(given(2, 3, *size), weight).but(fails=True),
        sample(image, weight, given(4)).but(fails=True),
        sample(image, weight, output_padding=1).but(fails=True),
    ]


SAMPLES: dict[str, list[Sample]] = {
    "conv1d": _plain(1),
    "conv2d": [
        *_plain(2),
        sample(given(48, 16, 20, 20), given(24, 16, 3, 3)).but(rtol=1e-3, atol=1e-3),
        sample(given(48, 16, 20, 20), given(24, 16, 3, 3), stride=2).but(rtol=1e-3, atol=1e-3),
    ],
    "conv3d": _plain(3),
    "conv_transpose1d": _transposed(1),
    "conv_transpose2d": _transposed(2),
    "conv_transpose3d": _transposed(3),
    "nn.functional.unfold": [
        sample(given(2, 3, 5, 6), 2),
        sample(given(3, 5, 6), (2, 3)).but(graph=False),
        sample(given(2, 3, 5, 6), (3, 2), dilation=2, padding=1, stride=(1, 2)),
        sample(given(2, 3, 5, 6), 9).but(fails=True),
    ],
    "nn.functional.fold": [
        sample(given(2, 12, 20), (5, 6), 2),
        sample(given(12, 20), (5, 6), 2).but(graph=False),
        sample(given(2, 18, 6), (5, 6), (3, 2), dilation=2, padding=1, stride=(1, 3)),
        sample(given(2, 12, 20), (4, 6), 2).but(fails=True),
        sample(given(2, 11, 20), (5, 6), 2).but(fails=True),
    ],
}
