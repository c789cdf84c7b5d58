"""Samples of losses: every reduction, weights, ignored classes, smoothing, broadcast, refused shapes and dtypes."""

from __future__ import annotations

from tests.ops.samples import Given, Sample, given, sample, values

_REDUCTIONS = ("mean", "sum", "none")


def _reduced(*args: object, **kwargs: object) -> list[Sample]:
    return [sample(*args, reduction=each, **kwargs) for each in _REDUCTIONS]


def _classes(*shape: int, count: int = 5) -> Given:
    return given(*shape, dtype="int64", low=0, high=count)


def _pairs() -> list[Sample]:
    return [
        *_reduced(given(3, 4), given(3, 4)),
        sample(given(3, 4, dtype="float64"), given(3, 4, dtype="float64", grad=False)),
        sample(given(3, 4), given(3, 4, grad=False)),
        sample(given(3, 4), given(3, 4), size_average=False),
        sample(given(3, 4), given(3, 4), reduce=False),
        sample(given(3, 4), given(3)).but(fails=True),
        sample(given(3, 4), given(3, 4), reduction="middle").but(fails=True),
    ]


def _of_classes(smoothing: bool) -> list[Sample]:
    made: list[Sample] = []
    for shape in ((4, 5), (2, 5, 3), (2, 5, 3, 2)):
        target = _classes(shape[0], *shape[2:])
        made += _reduced(given(*shape), target)
        made += _reduced(given(*shape), target, given(5, low=0.1, high=1, grad=False))
    made += [
        sample(given(5), _classes()),
        sample(given(4, 5, dtype="float64"), _classes(4)),
        sample(given(4, 5), values([0, 3, -100, 3], "int64")),
        sample(given(4, 5), values([0, 3, 1, 3], "int64"), ignore_index=3),
        sample(given(4, 5), values([0, 3, 1, 3], "int64"), given(5, low=0.1, high=1, grad=False), ignore_index=3),
        sample(given(4, 5), _classes(4), size_average=False),
        sample(given(4, 5), _classes(3)).but(fails=True),
        sample(given(4, 5), _classes(4, 1)).but(fails=True),
        sample(given(4, 5), given(4, dtype="int32", low=0, high=5)).but(fails=True),
        sample(given(4, 5), _classes(4), given(4, grad=False)).but(fails=True),
        sample(given(2, 5, 3), _classes(2, 4)).but(fails=True),
        sample(given(4, 5), _classes(4), reduction="middle").but(fails=True),
    ]
    if smoothing:
        for options in ({}, {"weight": given(5, low=0.1, high=1, grad=False)}):
            made += _reduced(given(4, 5), _classes(4), label_smoothing=0.2, **options)
            made += _reduced(given(4, 5), given(4, 5, low=0, high=1), label_smoothing=0.2, **options)
            made += _reduced(given(2, 5, 3), given(2, 5, 3, low=0, high=1, grad=False), **options)
        made += [
            sample(given(4, 5), values([0, 3, -100, 3], "int64"), label_smoothing=0.1),
            sample(given(4, 5), _classes(4, 5)).but(fails=True),
            sample(given(4, 5), _classes(4), label_smoothing=2.0).but(fails=True),
            sample(values([[50.0, -50.0, 0.0], [1e4, 0.0, -1e4]]), values([0, 1], "int64")),
        ]
    return made


_PROBABLE = given(3, 4, low=0.05, high=0.95)

SAMPLES: dict[str, list[Sample]] = {
    "nn.functional.cross_entropy": _of_classes(True),
    "nn.functional.nll_loss": _of_classes(False),
    "nn.functional.mse_loss": [
        *_pairs(),
        sample(given(3, 4), given(4)),
        *_reduced(given(3, 4), given(3, 4), weight=given(3, 4, low=0.1, high=1)),
        sample(given(3, dtype="int64"), given(3, dtype="int64")).but(fails=True),
    ],
    "nn.functional.l1_loss": [
        *_pairs(),
        sample(given(3, 4), given(4)),
        *_reduced(given(3, 4), given(3, 4), weight=given(3, 4, low=0.1, high=1)),
        sample(values([1.0, 2.0]), values([1.0, 3.0])),
        sample(given(3, dtype="int64"), given(3, dtype="int64")).but(fails=True),
    ],
    "nn.functional.smooth_l1_loss": [
        *_pairs(),
        *_reduced(given(3, 4), given(3, 4), beta=0.3),
        sample(given(3, 4), given(3, 4), beta=0.0),
        sample(given(3, 4), given(3, 4), beta=-1.0).but(fails=True),
    ],
    "nn.functional.huber_loss": [
        *_reduced(given(3, 4), given(3, 4), delta=0.7),
        *_reduced(given(3, 4), given(3, 4), weight=given(3, 4, low=0.1, high=1)),
        sample(given(3, 4), given(3, 4), delta=-1.0).but(fails=True),
    ],
    "nn.functional.binary_cross_entropy": [
        *_reduced(_PROBABLE, given(3, 4, low=0, high=1)),
        *_reduced(_PROBABLE, given(3, 4, low=0, high=1, grad=False), given(4, low=0, high=1, grad=False)),
        sample(values([0.0, 1.0, 0.0, 1.0]), values([0.0, 1.0, 1.0, 0.0], grad=False)),
        sample(_PROBABLE, given(3, low=0, high=1)).but(fails=True),
        sample(_PROBABLE, given(3, 4, dtype="int64", low=0, high=2)).but(fails=True),
    ],
    "nn.functional.binary_cross_entropy_with_logits": [
        *_reduced(given(3, 4), given(3, 4, low=0, high=1)),
        *_reduced(
            given(3, 4),
            given(3, 4, low=0, high=1),
            given(4, low=0, high=1, grad=False),
            pos_weight=given(4, low=0, high=2, grad=False),
        ),
        sample(values([0.0, 90.0, -90.0, 90.0, -90.0]), values([1.0, 1.0, 1.0, 0.0, 0.0], grad=False)),
        sample(given(3, 4), given(3, low=0, high=1)).but(fails=True),
        sample(given(3), given(3, dtype="int64", low=0, high=2)).but(fails=True),
    ],
    "nn.functional.kl_div": [
        *(each.but(graph=False) for each in _reduced(given(3, 4, low=-3, high=0), given(3, 4, low=0.05, high=1))),
        *_reduced(given(3, 4, low=-3, high=0), given(3, 4, low=0.05, high=1, grad=False)),
        *_reduced(given(3, 4, low=-3, high=0), given(3, 4, low=-3, high=0), log_target=True),
        sample(given(3, 4, low=-3, high=0), given(3, 4, low=0.05, high=1, grad=False), reduction="batchmean"),
        sample(given(3), values([0.0, 0.5, 0.5], grad=False)),
        sample(given(3), given(3, dtype="int64", low=0, high=2)).but(fails=True),
        sample(given(3, 4), given(3)).but(fails=True),
    ],
    "nn.functional.poisson_nll_loss": [
        *_reduced(given(3, 4), given(3, 4, low=0, high=4)),
        *_reduced(given(3, 4, low=0.1, high=3), given(3, 4, low=0, high=4), log_input=False),
        *_reduced(given(3, 4), given(3, 4, low=0, high=4, grad=False), full=True),
    ],
    "nn.functional.gaussian_nll_loss": [
        *_reduced(given(3, 4), given(3, 4), given(3, 4, low=0.1, high=2)),
        *_reduced(given(3, 4), given(3, 4), given(3, low=0.1, high=2), full=True),
        sample(given(3, 4), given(3, 4), values([[0.0], [1.0], [2.0]])),
        sample(given(3, 4), given(3, 4), given(5, low=0.1, high=2)).but(fails=True),
    ],
    "nn.functional.hinge_embedding_loss": [
        *_reduced(given(2, 3), values([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]], grad=False)),
        sample(given(2, 3), values([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]], grad=False), margin=0.3),
    ],
    "nn.functional.margin_ranking_loss": [
        *_reduced(given(4), given(4), values([1.0, -1.0, 1.0, -1.0], grad=False)),
        sample(given(4), given(4), values([1.0, -1.0, 1.0, -1.0], grad=False), margin=0.7),
        sample(given(4), given(4), given(2, 2)).but(fails=True),
    ],
    "nn.functional.cosine_embedding_loss": [
        *_reduced(given(4, 3), given(4, 3), values([1.0, -1.0, 1.0, -1.0], grad=False)),
        sample(given(4, 3), given(4, 3), values([1.0, -1.0, 1.0, -1.0], grad=False), margin=0.3),
        sample(given(3), given(3), values(1.0, grad=False)),
        sample(given(4, 3), given(4, 3), given(4, 1)).but(fails=True),
    ],
    "nn.functional.triplet_margin_loss": [
        *_reduced(given(4, 3), given(4, 3), given(4, 3)),
        sample(given(4, 3), given(4, 3), given(4, 3), margin=0.2, p=1.0).but(graph=False),
        sample(given(4, 3), given(4, 3), given(4, 3), swap=True),
        sample(given(4, 3), given(3), given(4, 3)).but(fails=True),
    ],
    "nn.functional.soft_margin_loss": [
        *_reduced(given(2, 3), values([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]], grad=False)),
    ],
    "nn.functional.multi_margin_loss": [
        *_reduced(given(4, 5), _classes(4)),
        *_reduced(given(4, 5), _classes(4), p=2, margin=0.5, weight=given(5, low=0.1, high=1, grad=False)),
        sample(given(5), _classes()),
        sample(given(4, 5), _classes(4), p=3).but(fails=True),
        sample(given(4, 5), _classes(3)).but(fails=True),
    ],
    "nn.functional.multilabel_margin_loss": [
        *_reduced(given(3, 4), values([[1, 3, -1, 0], [0, -1, 1, 2], [-1, 0, 0, 0]], "int64")),
        sample(given(4), values([2, 0, -1, 1], "int64")),
        sample(given(3, 4), _classes(3)).but(fails=True),
    ],
    "nn.functional.multilabel_soft_margin_loss": [
        *_reduced(given(3, 4), given(3, 4, low=0, high=1, grad=False)),
        *_reduced(given(3, 4), given(3, 4, low=0, high=1, grad=False), given(4, low=0, high=1, grad=False)),
    ],
}
