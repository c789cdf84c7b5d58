"""torchvision.transforms.v2: transforms of a picture and of what comes with it, and those that v2 has more."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from funcgrad import nn
from funcgrad._base.dtypes import dtype as DType
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.pytree import leaves_of, with_leaves
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as NF
from funcgrad.vision import draws, transforms
from funcgrad.vision.images import dimensions, is_pil
from funcgrad.vision.transforms import functional as functional
from funcgrad.vision.transforms.geometry import InterpolationMode as InterpolationMode
from funcgrad.vision.transforms.strategies import AutoAugmentPolicy as AutoAugmentPolicy


def _pictures(leaves: Sequence[Any]) -> list[int]:
    """Return where the pictures are: all PIL images, else the first tensor."""
    found = [i for i, leaf in enumerate(leaves) if is_pil(leaf)]
    return found or [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)][:1]


def _sample(inputs: tuple[Any, ...]) -> Any:
    """Return what a transform was called with: one thing, or several as a tuple."""
    return inputs[0] if len(inputs) == 1 else inputs


def _through(change: Callable[[Any], Any], inputs: tuple[Any, ...]) -> Any:
    """Return the inputs, in whatever tuples, lists and dicts, with their pictures changed, all by the same draws."""
    sample = _sample(inputs)
    leaves = leaves_of(sample)
    chosen = _pictures(leaves)
    if not chosen:
        return with_leaves(sample, [change(leaf) if isinstance(leaf, np.ndarray) else leaf for leaf in leaves])
    start = draws.mark()
    for turn, i in enumerate(chosen):
        if turn:
            draws.rewind(start)
        leaves[i] = change(leaves[i])
    return with_leaves(sample, leaves)


def _of_samples(kind: type) -> Any:
    """Return a transform of pictures as one of samples: labels and whatever else comes along pass as they are."""

    def call(self: Any, *inputs: Any) -> Any:
        return _through(lambda picture: kind.__call__(self, picture), inputs)

    return type(kind.__name__, (kind,), {"__call__": call, "__module__": __name__, "__doc__": kind.__doc__})


def __getattr__(name: str) -> Any:
    """Make a transform of samples of the one of pictures at its first use."""
    if name not in transforms.__all__:
        raise AttributeError(f"module 'torchvision.transforms.v2' has no attribute {name!r}")
    found = globals()[name] = _of_samples(getattr(transforms, name))
    return found


def __dir__() -> list[str]:
    return sorted({*transforms.__all__, *globals()})


class Transform(nn.Module):
    """A transform of samples. Write `transform`, which changes one picture."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """Return the picture, changed."""
        return inpt

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Return what is drawn once for all pictures of a sample."""
        return {}

    def forward(self, *inputs: Any) -> Any:
        """Return the sample with its pictures changed."""
        sample = _sample(inputs)
        leaves = leaves_of(sample)
        params = self.make_params(leaves)
        for i in _pictures(leaves):
            leaves[i] = self.transform(leaves[i], params)
        return with_leaves(sample, leaves)


class _Several(nn.Module):
    """Transforms made of transforms: samples go through them whole."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        super().__init__()
        if not isinstance(transforms, Sequence):
            raise TypeError("Argument transforms should be a sequence of callables")
        self.transforms = transforms

    def _all(self, inputs: tuple[Any, ...], chosen: Sequence[Callable[..., Any]]) -> Any:
        for transform in chosen:
            result = transform(*inputs)
            inputs = result if len(inputs) > 1 else (result,)
        return _sample(inputs)

    def extra_repr(self) -> str:
        """Return a transform a line."""
        return "\n".join(map(str, self.transforms))


class Compose(_Several):
    """One transform after the other."""

    def forward(self, *inputs: Any) -> Any:
        """Return the sample after all of them."""
        return self._all(inputs, self.transforms)


class RandomApply(_Several):
    """All of the transforms with probability p, else none."""

    def __init__(self, transforms: Sequence[Callable[..., Any]], p: float = 0.5) -> None:
        super().__init__(transforms)
        self.p = p

    def forward(self, *inputs: Any) -> Any:
        """Return the sample, changed or not."""
        return self._all(inputs, () if draws.uniform() >= self.p else self.transforms)


class RandomChoice(_Several):
    """One of the transforms. p: how likely each is, all alike by default."""

    def __init__(self, transforms: Sequence[Callable[..., Any]], p: Sequence[float] | None = None) -> None:
        super().__init__(transforms)
        given = [1.0] * len(transforms) if p is None else p
        if len(given) != len(transforms):
            raise ValueError(f"Length of p doesn't match the number of transforms: {len(given)} != {len(transforms)}")
        self.p = [one / sum(given) for one in given]

    def forward(self, *inputs: Any) -> Any:
        """Return the sample after one of them."""
        return self._all(inputs, [self.transforms[draws.place(self.p)]])


class RandomOrder(_Several):
    """All of the transforms, in an order that is drawn."""

    def forward(self, *inputs: Any) -> Any:
        """Return the sample after all of them."""
        return self._all(inputs, [self.transforms[i] for i in draws.permutation(len(self.transforms))])


class Lambda(nn.Module):
    """A function as a transform, of what is of one of these types (default: of everything)."""

    def __init__(self, lambd: Callable[[Any], Any], *types: type) -> None:
        super().__init__()
        self.lambd, self.types = lambd, types or (object,)

    def forward(self, *inputs: Any) -> Any:
        """Return the sample with what the function gives."""
        sample = _sample(inputs)
        return with_leaves(sample, [self.lambd(x) if isinstance(x, self.types) else x for x in leaves_of(sample)])


class ToImage(nn.Module):
    """A PIL image or an array becomes a tensor (C, H, W) of its own numbers."""

    def forward(self, *inputs: Any) -> Any:
        """Return the sample with tensors for pictures."""
        sample = _sample(inputs)
        return with_leaves(sample, [self._image(leaf) for leaf in leaves_of(sample)])

    def _image(self, item: Any) -> Any:
        if isinstance(item, np.ndarray):
            pixels = item[:, :, None] if item.ndim == 2 else item
            return from_host(np.ascontiguousarray(pixels.transpose(2, 0, 1)))
        return functional.pil_to_tensor(item) if is_pil(item) else item


class ToDtype(Transform):
    """A tensor in another dtype, scaled to its range or not. dtype: one, or a dict of them by type."""

    def __init__(self, dtype: DType | Mapping[Any, DType | None], scale: bool = False) -> None:
        super().__init__()
        self.dtype, self.scale = dtype, scale

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """Return the tensor in that dtype."""
        wanted = self.dtype
        if isinstance(wanted, Mapping):
            wanted = next((wanted[key] for key in (type(inpt), Tensor, "others") if key in wanted), None)
        if not isinstance(inpt, Tensor) or wanted is None:
            return inpt
        return functional.convert_image_dtype(inpt, wanted) if self.scale else inpt.to(wanted)


class ToPureTensor(nn.Module):
    """Pictures are plain tensors here."""

    def forward(self, *inputs: Any) -> Any:
        """Return what came."""
        return _sample(inputs)


class Identity(ToPureTensor):
    """Changes nothing."""


class RGB(Transform):
    """Three channels of a picture that has one."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """Return the picture in three channels."""
        if is_pil(inpt):
            return inpt.convert("RGB")
        return inpt.expand(*inpt.shape[:-3], 3, *inpt.shape[-2:]) if inpt.shape[-3] == 1 else inpt


class GaussianNoise(Transform):
    """Normal noise on a float picture. clip: keep the result in [0, 1]."""

    def __init__(self, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> None:
        super().__init__()
        self.mean, self.sigma, self.clip = mean, sigma, clip

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """Return the picture with noise; ValueError for pictures that are not of floats."""
        if not isinstance(inpt, Tensor) or not inpt.is_floating_point():
            raise ValueError("GaussianNoise: Input tensor is expected to be of a float dtype: use ToDtype before it")
        noise = from_host(draws.normals(tuple(inpt.shape))).to(inpt.dtype)
        noisy = inpt + (self.mean + noise * self.sigma)
        return noisy.clamp(0, 1) if self.clip else noisy


class RandomChannelPermutation(Transform):
    """The channels in an order that is drawn."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the order."""
        channels, _, _ = dimensions(flat_inputs[_pictures(flat_inputs)[0]])
        return {"order": draws.permutation(channels)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """Return the picture, its channels in that order."""
        if is_pil(inpt):
            return functional.to_pil_image(self.transform(functional.pil_to_tensor(inpt), params))
        return inpt[..., params["order"], :, :]


class _Resized(Transform):
    """A picture in a size that is drawn. Write `_size`: (height, width) for a picture's own."""

    def __init__(self, interpolation: Any = InterpolationMode.BILINEAR, antialias: bool | None = True) -> None:
        super().__init__()
        self.interpolation, self.antialias = interpolation, antialias

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the size."""
        return {"size": self._size(*query_size(flat_inputs))}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """Return the picture in that size."""
        return functional.resize(inpt, list(params["size"]), self.interpolation, antialias=self.antialias)


class RandomResize(_Resized):
    """The shorter edge in a length from min_size ... max_size - 1."""

    def __init__(self, min_size: int, max_size: int, interpolation: Any = InterpolationMode.BILINEAR,
                 antialias: bool | None = True) -> None:  # fmt: skip
        super().__init__(interpolation, antialias)
        self.min_size, self.max_size = min_size, max_size

    def _size(self, height: int, width: int) -> tuple[int, int]:
        short = draws.integer(self.max_size, self.min_size)
        long = int(short * max(height, width) / min(height, width))
        return (short, long) if height <= width else (long, short)


class RandomShortestSize(_Resized):
    """The shorter edge in one of some lengths, the longer at most `max_size`."""

    def __init__(self, min_size: Sequence[int] | int, max_size: int | None = None,
                 interpolation: Any = InterpolationMode.BILINEAR, antialias: bool | None = True) -> None:  # fmt: skip
        super().__init__(interpolation, antialias)
        self.min_size, self.max_size = [min_size] if isinstance(min_size, int) else list(min_size), max_size

    def _size(self, height: int, width: int) -> tuple[int, int]:
        wanted = self.min_size[draws.integer(len(self.min_size))]
        ratio = wanted / min(height, width)
        if self.max_size is not None:
            ratio = min(ratio, self.max_size / max(height, width))
        return int(height * ratio), int(width * ratio)


class ScaleJitter(_Resized):
    """A scale that is drawn, of the largest size that fits into `target_size`."""

    def __init__(self, target_size: tuple[int, int], scale_range: tuple[float, float] = (0.1, 2.0),
                 interpolation: Any = InterpolationMode.BILINEAR, antialias: bool | None = True) -> None:  # fmt: skip
        super().__init__(interpolation, antialias)
        self.target_size, self.scale_range = target_size, scale_range

    def _size(self, height: int, width: int) -> tuple[int, int]:
        low, high = self.scale_range
        scale = low + draws.uniform() * (high - low)
        ratio = min(self.target_size[1] / height, self.target_size[0] / width) * scale
        return int(height * ratio), int(width * ratio)


class _Mixed(nn.Module):
    """Mixes a batch with itself in another order, labels too. Write `_mix`."""

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None, labels_getter: Any = "default") -> None:
        super().__init__()
        self.alpha, self.num_classes, self.labels_getter = float(alpha), num_classes, labels_getter

    def forward(self, *inputs: Any) -> Any:
        """Return the batch with mixed pictures (N, C, H, W), and for labels (N) the classes' shares (N, num_classes).

        A batch is (images, labels), as one argument or two, or a dict that has "labels".
        """
        sample = _sample(inputs)
        leaves = leaves_of(sample)
        labels = self._labels(sample)
        images = next((x for x in leaves if isinstance(x, Tensor) and x.ndim == 4), None)
        if images is None:
            raise ValueError("Expected a batch of images (N, C, H, W) among the inputs")
        if labels.shape[0] != images.shape[0]:
            raise ValueError(f"The batch has {images.shape[0]} images, but {labels.shape[0]} labels")
        shares = self._one_hot(labels)
        mixed, share = self._mix(images, images.roll(1, 0), draws.symmetric_beta(self.alpha))
        mixed_labels = shares.roll(1, 0) * (1.0 - share) + shares * share
        return with_leaves(sample, [mixed if x is images else mixed_labels if x is labels else x for x in leaves])

    def _labels(self, sample: Any) -> Any:
        if callable(self.labels_getter):
            return self.labels_getter(sample)
        if isinstance(sample, Mapping):
            return sample["labels"]
        return sample[1]["labels"] if isinstance(sample[1], Mapping) else sample[1]

    def _one_hot(self, labels: Tensor) -> Tensor:
        if labels.ndim == 1:
            if self.num_classes is None:
                raise ValueError("num_classes must be given where labels are class numbers")
            labels = NF.one_hot(labels.long(), self.num_classes)
        return labels if labels.is_floating_point() else labels.float()


class MixUp(_Mixed):
    """Sums of two pictures. Source: https://arxiv.org/abs/1710.09412."""

    def _mix(self, images: Tensor, others: Tensor, share: float) -> tuple[Tensor, float]:
        return others * (1.0 - share) + images * share, share


class CutMix(_Mixed):
    """A rectangle of one picture in another. Source: https://arxiv.org/abs/1905.04899."""

    def _mix(self, images: Tensor, others: Tensor, share: float) -> tuple[Tensor, float]:
        _, high, wide = dimensions(images)
        x, y = draws.integer(wide), draws.integer(high)
        half = 0.5 * math.sqrt(1.0 - share)
        left, top = max(x - int(half * wide), 0), max(y - int(half * high), 0)
        right, bottom = min(x + int(half * wide), wide), min(y + int(half * high), high)
        mixed = images.clone()
        mixed[..., top:bottom, left:right] = others[..., top:bottom, left:right]
        return mixed, 1.0 - (right - left) * (bottom - top) / (wide * high)


def query_size(flat_inputs: Any) -> tuple[int, int]:
    """Return height and width of the first picture among the inputs."""
    _, high, wide = dimensions(flat_inputs[_pictures(flat_inputs)[0]])
    return high, wide


class ConvertImageDtype(ToDtype):
    """A tensor in another dtype, scaled to its range."""

    def __init__(self, dtype: DType) -> None:
        super().__init__(dtype, scale=True)


ConvertDtype = ConvertImageDtype
