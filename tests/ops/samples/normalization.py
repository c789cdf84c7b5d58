"""Samples of normalization: with and without scale, running statistics, every number of dimensions, refusals."""

from __future__ import annotations

from tests.ops.samples import Given, Sample, given, sample

_MEAN, _VAR = given(3, grad=False), given(3, low=0.5, high=2, grad=False)


def _batch() -> list[Sample]:
    made: list[Sample] = []
    for shape in ((4, 3), (4, 3, 5), (2, 3, 4, 2), (2, 3, 2, 2, 2)):
        image: Given = given(*shape)
        made += [
            sample(image, _MEAN, _VAR, given(3), given(3)),
            sample(image, _MEAN, _VAR, given(3), given(3), True),
            sample(image, None, None, given(3), None, training=True, eps=1e-3),
        ]
    return [
        *made,
        sample(given(4, 3), _MEAN, _VAR),
        sample(given(4, 3), _MEAN, _VAR, training=True, momentum=0.3),
        sample(given(4, 3, dtype="float64"), None, None, training=True),
        sample(given(1, 3), None, None, training=True).but(fails=True),
        sample(given(4, 2), _MEAN, _VAR).but(fails=True),
        sample(given(4, 3), None, None).but(fails=True),
    ]


SAMPLES: dict[str, list[Sample]] = {
    "nn.functional.batch_norm": _batch(),
    "nn.functional.instance_norm": [
        sample(given(4, 3, 5)),
        sample(given(2, 3, 4, 2), _MEAN, _VAR, given(3), given(3)),
        sample(given(2, 3, 4, 2), _MEAN, _VAR, given(3), given(3), False).but(graph=False),
        sample(given(2, 3, 2, 2, 2), eps=1e-3),
        sample(given(2, 3, 1)).but(fails=True),
    ],
    "layer_norm": [
        sample(given(3, 4), (4,), given(4), given(4)),
        sample(given(3, 4), [4]),
        sample(given(2, 3, 4), (3, 4), given(3, 4), None, 1e-3),
        sample(given(3, 4, dtype="float64"), (4,)),
        sample(given(3, 4, dtype="bfloat16"), (4,)),
        sample(given(3, 4), (3,)).but(fails=True),
        sample(given(3, 4), (4,), given(3)).but(fails=True),
        sample(given(3, 4, dtype="int64"), (4,)).but(fails=True),
    ],
    "rms_norm": [
        sample(given(3, 4), (4,), given(4)),
        sample(given(2, 3, 4), (3, 4), None, 1e-3),
        sample(given(3, 4, dtype="float64"), (4,)),
        sample(given(3, 4), (3,)).but(fails=True),
    ],
    "group_norm": [
        sample(given(2, 6), 3, given(6), given(6)),
        sample(given(2, 6, 5), 2),
        sample(given(2, 6, 3, 4), 1, given(6), given(6), 1e-3),
        sample(given(2, 6, 3, 4), 6, given(6)),
        sample(given(2, 6, 3), 4).but(fails=True),
        sample(given(2, 6, 3), 3, given(3)).but(fails=True),
    ],
    "nn.functional.local_response_norm": [
        sample(given(2, 5, 4), 2),
        sample(given(2, 5, 4, 3), 3, 1e-2, 0.5, 2.0),
        sample(given(2, 5, 3, 2, 2), 2),
        sample(given(3, 4), 2).but(fails=True),
    ],
}
