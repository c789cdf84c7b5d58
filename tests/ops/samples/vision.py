"""Samples of resizing and of sampling at grids: every mode, sizes and factors, corners, paddings, refusals."""

from __future__ import annotations

from tests.ops.samples import Given, Sample, given, sample

_LINE, _IMAGE, _VOLUME = given(2, 3, 7), given(2, 3, 5, 6), given(1, 2, 3, 4, 5)


def _modes(image: Given, size: tuple[int, ...], linear: str) -> list[Sample]:
    made = []
    for mode in ("nearest", "nearest-exact", "area", linear):
        made += [
            sample(image, size, mode=mode),
            sample(image, 3, mode=mode),
            sample(image, scale_factor=2, mode=mode),
            sample(image, scale_factor=1.7, mode=mode),
            sample(image, scale_factor=0.6, mode=mode, recompute_scale_factor=True),
        ]
    return [
        *made,
        sample(image, size, mode=linear, align_corners=True),
        sample(image, scale_factor=(1.7,) * len(size), mode=linear, align_corners=True),
        sample(image, scale_factor=1.3, mode=linear),
        sample(image, 1, mode=linear, align_corners=True),
    ]


def _points(*shape: int) -> Given:
    return given(*shape, low=-1.4, high=1.4)


def _sampled() -> list[Sample]:
    made = []
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (True, False):
                options = {"mode": mode, "padding_mode": padding, "align_corners": corners}
                made.append(sample(_IMAGE, _points(2, 4, 3, 2), **options))
                if mode != "bicubic":
                    made.append(sample(_VOLUME, _points(1, 2, 3, 4, 3), **options))
    return made


SAMPLES: dict[str, list[Sample]] = {
    "nn.functional.interpolate": [
        *_modes(_LINE, (10,), "linear"),
        *_modes(_IMAGE, (8, 4), "bilinear"),
        *_modes(_VOLUME, (4, 3, 8), "trilinear"),
        sample(_IMAGE, (8, 4), mode="bicubic"),
        sample(_IMAGE, (8, 4), mode="bicubic", align_corners=True),
        sample(_IMAGE, scale_factor=1.3, mode="bicubic"),
        sample(_IMAGE, (3, 4), mode="bilinear", antialias=True),
        sample(_IMAGE, (3, 9), mode="bicubic", antialias=True),
        sample(_IMAGE, scale_factor=0.45, mode="bilinear", antialias=True, align_corners=True),
        sample(given(2, 3, 5, 6, dtype="float64"), (7, 4), mode="bilinear"),
        sample(_IMAGE).but(fails=True),
        sample(_IMAGE, 3, 2.0).but(fails=True),
        sample(_IMAGE, (3, 4, 5)).but(fails=True),
        sample(_IMAGE, 3, mode="linear").but(fails=True),
        sample(_IMAGE, 3, mode="cubic").but(fails=True),
        sample(_IMAGE, 3, align_corners=True).but(fails=True),
        sample(_LINE, 3, mode="linear", antialias=True).but(fails=True),
        sample(given(3, 4), 3).but(fails=True),
        sample(_IMAGE, (3, 9), mode="lanczos", antialias=True),
        sample(_IMAGE, (3, 9), mode="lanczos").but(fails=True),
    ],
    "nn.functional.upsample": [
        sample(_IMAGE, scale_factor=2),
        sample(_IMAGE, (7, 8), mode="bilinear", align_corners=True),
    ],
    "nn.functional.upsample_nearest": [sample(_IMAGE, scale_factor=2)],
    "nn.functional.upsample_bilinear": [sample(_IMAGE, scale_factor=2)],
    "nn.functional.grid_sample": [
        *_sampled(),
        sample(_IMAGE, _points(2, 4, 3, 2)),
        sample(given(2, 3, 5, 6, dtype="float64"), given(2, 4, 3, 2, dtype="float64", low=-1.4, high=1.4)),
        sample(_IMAGE, _points(1, 4, 3, 2)).but(fails=True),
        sample(_IMAGE, _points(2, 4, 3, 3)).but(fails=True),
        sample(_IMAGE, _points(2, 4, 3, 2), mode="linear").but(fails=True),
        sample(_VOLUME, _points(1, 2, 3, 4, 3), mode="bicubic").but(fails=True),
    ],
    "grid_sampler": [sample(_IMAGE, _points(2, 4, 3, 2), 0, 1, True)],
    "grid_sampler_2d": [
        sample(_IMAGE, _points(2, 4, 3, 2), 1, 2, False),
        sample(_IMAGE, _points(2, 4, 3, 2), 2, 0, True),
    ],
    "grid_sampler_3d": [sample(_VOLUME, _points(1, 2, 3, 4, 3), 0, 0, False)],
    "nn.functional.affine_grid": [
        sample(given(2, 2, 3), (2, 3, 4, 5), align_corners=False),
        sample(given(2, 2, 3), (2, 3, 4, 5), align_corners=True),
        sample(given(2, 3, 4), (2, 1, 3, 4, 2), align_corners=False),
        sample(given(2, 2, 3), [2, 3, 1, 5]),
        sample(given(2, 2, 2), (2, 3, 4, 5)).but(fails=True),
        sample(given(2, 2, 3), (2, 3, 4)).but(fails=True),
    ],
}
