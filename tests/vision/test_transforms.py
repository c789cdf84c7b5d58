"""Transforms do the same to PIL images and tensors, on the host and as ops, and draw what torchvision draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import distributions
from funcgrad.utils.data import DataLoader, Dataset
from funcgrad.vision import draws, transforms
from funcgrad.vision.transforms import functional as F
from funcgrad.vision.transforms import v2

Image = pytest.importorskip("PIL.Image")


def picture(height: int = 6, width: int = 8) -> Any:
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def test_to_tensor_scales_bytes_and_leaves_other_numbers() -> None:
    pic = picture()
    made = F.to_tensor(pic)
    assert made.dtype == fg.float32
    assert (made.numpy() == np.asarray(pic).transpose(2, 0, 1).astype(np.float32) / np.float32(255)).all()
    assert F.to_tensor(np.full((2, 3), 7.5)).tolist() == [[[7.5] * 3] * 2]
    assert F.to_tensor(Image.fromarray(np.full((2, 2), 70000, np.int32))).dtype == fg.int32
    assert F.pil_to_tensor(pic).dtype == fg.uint8
    assert (np.asarray(F.to_pil_image(made)) == np.asarray(pic)).all()
    with pytest.raises(TypeError, match="PIL Image or ndarray"):
        F.to_tensor([1, 2])


EITHER_WAY = [
    lambda x: F.hflip(x), lambda x: F.vflip(x), lambda x: F.crop(x, 1, 2, 3, 4), lambda x: F.crop(x, -1, 5, 4, 6),
    lambda x: F.center_crop(x, 4), lambda x: F.center_crop(x, (9, 3)), lambda x: F.pad(x, [1, 2, 3, 4]),
    lambda x: F.pad(x, (2, 1), padding_mode="reflect"), lambda x: F.pad(x, 2, padding_mode="edge"),
    lambda x: F.pad(x, 2, padding_mode="symmetric"), lambda x: F.pad(x, 1, fill=7), lambda x: F.invert(x),
    lambda x: F.solarize(x, 100), lambda x: F.posterize(x, 3), lambda x: F.rotate(x, 90),
    lambda x: F.affine(x, 0, [1, 0], 1.0, [0, 0]), lambda x: F.adjust_brightness(x, 0.5),
    lambda x: F.adjust_saturation(x, 1.0), lambda x: F.rgb_to_grayscale(x, 3), lambda x: F.adjust_contrast(x, 0.5),
    lambda x: F.adjust_saturation(x, 0.3), lambda x: F.adjust_hue(x, 0.2), lambda x: F.adjust_gamma(x, 2.0),
    lambda x: F.adjust_sharpness(x, 0.0), lambda x: F.equalize(x), lambda x: F.autocontrast(x),
    lambda x: F.gaussian_blur(x, 3), lambda x: F.resize(x, [3, 4]), lambda x: F.resize(x, 12),
    lambda x: F.five_crop(x, 3)[4],
]  # fmt: skip


@pytest.mark.parametrize("change", EITHER_WAY)
def test_a_tensor_is_changed_as_a_pil_image_is(change: Any) -> None:
    pic = picture(8, 8)
    as_picture, as_tensor = F.pil_to_tensor(change(pic)), change(F.pil_to_tensor(pic))
    difference = np.abs(as_picture.numpy().astype(int) - as_tensor.numpy().astype(int))
    assert difference.max() <= (13 if "hue" in change.__code__.co_names[-1] else 2)  # PIL's hues are bytes


@pytest.mark.parametrize(
    "change",
    [
        F.hflip, lambda x: F.crop(x, 1, 1, 4, 4), lambda x: F.pad(x, 2, padding_mode="reflect"),
        lambda x: F.normalize(x, [0.5, 0.4, 0.3], [0.1, 0.2, 0.3]), lambda x: F.erase(x, 1, 1, 2, 2, 0.5),
    ],
)  # fmt: skip
def test_the_host_and_the_ops_give_the_same(change: Any) -> None:
    x = fg.rand(3, 6, 6)
    with_history = x.clone().requires_grad_()
    by_ops = change(with_history)
    np.testing.assert_allclose(change(x).numpy(), by_ops.detach().numpy(), rtol=1e-6)
    by_ops.sum().backward()
    assert with_history.grad is not None


def test_normalize_on_the_host_compiles_nothing() -> None:
    change = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,) * 3, (0.5,) * 3)])
    change(picture())
    with fg.explain.counted() as seen:
        change(picture())
    assert (seen.runs, seen.misses) == (0, 0)
    with pytest.raises(ValueError, match="std evaluated to zero"):
        F.normalize(fg.ones(3, 2, 2), [0.0], [0.0])
    with pytest.raises(TypeError, match="float tensor"):
        F.normalize(fg.ones(3, 2, 2, dtype=fg.uint8), [0.0], [1.0])


def test_resizing_one_number_means_the_shorter_side() -> None:
    assert F.resize(picture(6, 12), 3).size == (6, 3)
    assert F.resize(fg.zeros(1, 12, 6), 3).shape == (1, 6, 3)
    assert F.resize(picture(6, 12), 3, max_size=5).size == (5, 2)
    assert transforms.Resize((4, 5))(picture()).size == (5, 4)
    with pytest.raises(TypeError, match="InterpolationMode"):
        F.resize(picture(), 3, "bilinear")


def test_dtypes_are_converted_with_their_range() -> None:
    x = fg.tensor([[[0, 128, 255]]], dtype=fg.uint8)
    floats = F.convert_image_dtype(x)
    assert floats.tolist() == [[[0.0, pytest.approx(128 / 255), 1.0]]]
    assert torch_equal(F.convert_image_dtype(floats, fg.uint8), x)
    assert F.convert_image_dtype(x, fg.int16).tolist() == [[[0, 128 * 128, 255 * 128]]]


def torch_equal(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and fg.equal(a, b)


def test_reprs_are_torchvisions() -> None:
    change = transforms.Compose([transforms.Resize(4), transforms.ToTensor(), transforms.Normalize((0.5,), (0.2,))])
    assert repr(change) == (
        "Compose(\n    Resize(size=4, interpolation=bilinear, max_size=None, antialias=True)\n    ToTensor()\n"
        "    Normalize(mean=(0.5,), std=(0.2,))\n)"
    )


def torchvisions_draws(torch: Any) -> list[Any]:
    """Draw with torch what torchvision's transforms draw, in their order."""

    def integer(high: int) -> int:
        return torch.randint(0, high, size=(1,)).item()

    def uniform(low: float, high: float) -> float:
        return torch.empty(1).uniform_(low, high).item()

    torch.manual_seed(11)
    crop = [integer(5), integer(9)]
    flips = [bool(torch.rand(1) < 0.5) for _ in range(8)]
    area = 24 * 28 * uniform(0.08, 1.0)
    ratio = torch.log(torch.tensor((3 / 4, 4 / 3)))
    shape = torch.exp(torch.empty(1).uniform_(ratio[0], ratio[1])).item()
    width, height = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
    resized = [integer(24 - height + 1), integer(28 - width + 1), height, width]
    jitter = [torch.randperm(4).tolist(), uniform(0.6, 1.4), uniform(0.5, 1.5), uniform(0.9, 1.1), uniform(-0.1, 0.1)]
    return [crop, flips, resized, jitter, uniform(-30.0, 30.0)]


@pytest.mark.parity
def test_draws_are_torchs_in_torchvisions_order() -> None:
    expected = torchvisions_draws(pytest.importorskip("torch"))
    fg.manual_seed(11)
    pic = fg.zeros(3, 24, 28)
    crop = list(transforms.RandomCrop.get_params(pic, (20, 20))[:2])
    flips = [draws.uniform() < 0.5 for _ in range(8)]
    resized = list(transforms.RandomResizedCrop.get_params(pic, (0.08, 1.0), (3 / 4, 4 / 3)))
    change = transforms.ColorJitter(0.4, 0.5, 0.1, 0.1)
    jitter = list(change.get_params(change.brightness, change.contrast, change.saturation, change.hue))
    found = [crop, flips, resized, jitter, transforms.RandomRotation.get_params((-30.0, 30.0))]
    assert found[:3] == expected[:3]
    assert found[3][0] == expected[3][0]
    assert [*found[3][1:], found[4]] == pytest.approx([*expected[3][1:], expected[4]], rel=1e-6)


class Draws(Dataset[Any]):
    """What one transform draws, for each index."""

    def __getitem__(self, index: int) -> float:
        return draws.uniform()

    def __len__(self) -> int:
        return 12


def test_workers_draw_by_themselves_and_the_same_for_a_seed() -> None:
    def drawn() -> list[float]:
        fg.manual_seed(5)
        return [x for batch in DataLoader(Draws(), batch_size=3, num_workers=2) for x in batch.tolist()]

    first = drawn()
    assert first == drawn()
    assert len(set(first)) == 12


@pytest.mark.parametrize(
    "change",
    [
        transforms.RandomErasing(1.0, value="random"), transforms.RandomAffine(10, (0.1, 0.1), (0.8, 1.2), 5),
        transforms.RandomApply([transforms.RandomCrop(4)], 1.0), transforms.RandomRotation(20, fill=0.5),
        transforms.RandomResizedCrop(5), transforms.RandomGrayscale(1.0), transforms.ColorJitter(0.3, 0.3, 0.3, 0.3),
        transforms.RandomHorizontalFlip(1.0), transforms.GaussianBlur(3), transforms.RandomOrder([transforms.Pad(1)]),
        transforms.RandomChoice([transforms.CenterCrop(3)]),
    ],
)  # fmt: skip
def test_random_transforms_change_a_tensor_within_its_range(change: Any) -> None:
    x = fg.rand(3, 8, 8)
    result = change(x)
    assert result.shape[0] == 3
    assert not (result.shape == x.shape and fg.equal(result, x))
    if not isinstance(change, transforms.RandomErasing):
        assert 0.0 <= result.min().item() <= result.max().item() <= 1.0001


@pytest.mark.parametrize(
    "change", [transforms.RandAugment(), transforms.TrivialAugmentWide(), transforms.AutoAugment()]
)
def test_strategies_keep_a_pictures_size(change: Any) -> None:
    for _ in range(20):
        assert change(picture(16, 16)).size == (16, 16)


def test_v2_takes_arrays_and_mixes_batches() -> None:
    change = v2.Compose([v2.ToImage(), v2.ToDtype(fg.float32, scale=True)])
    x, label = change(np.full((4, 5, 3), 255, np.uint8), 3)
    assert (x.shape, x.max().item(), label) == ((3, 4, 5), 1.0, 3)
    batch, labels = fg.rand(4, 3, 8, 8), fg.tensor([0, 1, 2, 3])
    for mix in (v2.MixUp(num_classes=4), v2.CutMix(num_classes=4)):
        mixed, shares = mix(batch, labels)
        assert mixed.shape == batch.shape
        assert shares.sum(1).tolist() == pytest.approx([1.0] * 4)


def test_v2_changes_the_picture_of_a_sample_and_lets_the_rest_pass() -> None:
    change = v2.Compose([v2.RandomHorizontalFlip(1.0), v2.Resize(4), v2.ToImage(), v2.ToDtype({fg.Tensor: fg.float32})])
    sample = {"image": picture(8, 8), "label": 3, "box": (1, 2)}
    changed = change(sample)
    assert changed["image"].shape == (3, 4, 4) and changed["image"].dtype is fg.float32
    assert (changed["label"], changed["box"]) == (3, (1, 2))
    image, label = v2.Normalize([0.5], [0.5])(fg.ones(1, 2, 2), fg.tensor(7))
    assert image.flatten().tolist() == [1.0] * 4 and label.item() == 7


def test_v2_changes_all_pictures_of_a_sample_alike() -> None:
    crop, one = v2.RandomCrop(4), picture(16, 16)
    for _ in range(5):
        first, second = crop(one, one.copy())
        assert np.array_equal(np.asarray(first), np.asarray(second))


def test_v2_chooses_by_torchs_numbers_and_mixes_a_collated_batch() -> None:
    fg.manual_seed(0)
    drawn = [int(fg.multinomial(fg.tensor([0.25, 0.75]), 1)) for _ in range(8)]
    fg.manual_seed(0)
    choice = v2.RandomChoice([v2.Lambda(lambda x: 0), v2.Lambda(lambda x: 1)], p=[1, 3])
    assert [choice(5) for _ in range(8)] == drawn
    batch = fg.rand(4, 3, 8, 8), fg.tensor([0, 1, 2, 3])
    mixed, shares = v2.RandomChoice([v2.MixUp(num_classes=4), v2.CutMix(num_classes=4)])(*batch)
    assert mixed.shape == batch[0].shape and shares.shape == (4, 4)
    fg.manual_seed(3)
    share = distributions.Beta(fg.tensor(1.0), fg.tensor(1.0)).sample().item()
    fg.manual_seed(3)
    mixed, shares = v2.MixUp(num_classes=4)(batch)
    assert shares.diagonal().tolist() == pytest.approx([share] * 4)
    assert fg.allclose(mixed, batch[0] * share + batch[0].roll(1, 0) * (1 - share))


@pytest.mark.parametrize(
    ("change", "shorter"),
    [
        (v2.RandomResize(5, 9), range(5, 9)),
        (v2.RandomShortestSize([4, 6]), (4, 6)),
        (v2.ScaleJitter((8, 8)), range(17)),
    ],
)
def test_v2_resizes_to_a_size_that_is_drawn(change: Any, shorter: Any) -> None:
    assert min(change(picture(16, 12)).size) in shorter


def test_v2_adds_noise_and_permutes_channels() -> None:
    image = fg.rand(3, 6, 6)
    noisy = v2.GaussianNoise(sigma=0.1)(image)
    assert 0 < (noisy - image).abs().max().item() < 1 and noisy.min().item() >= 0
    permuted = v2.RandomChannelPermutation()(image)
    assert sorted(permuted.sum((1, 2)).tolist()) == pytest.approx(sorted(image.sum((1, 2)).tolist()))
    with pytest.raises(ValueError, match="float dtype"):
        v2.GaussianNoise()(picture(4, 4))
