"""kornia: filters, colours, warps by points, losses, augmentations with their matrices, a shift found by descent."""

import kornia
import kornia.augmentation as K
import torch
from kornia.geometry import conversions, transform

torch.manual_seed(0)
images = torch.rand(2, 3, 24, 32)
grey = kornia.color.rgb_to_grayscale(images)


def shown(name: str, x: torch.Tensor) -> None:
    print(f"{name} {tuple(x.shape)} {x.double().mean().item():.4f} {x.double().std().item():.4f}")


shown("gaussian", kornia.filters.gaussian_blur2d(images, (5, 5), (1.5, 1.5)))
shown("sobel", kornia.filters.sobel(grey))
shown("median", kornia.filters.median_blur(images, (3, 3)))
shown("bilateral", kornia.filters.bilateral_blur(images, (3, 3), 0.1, (1.5, 1.5)))
shown("canny", kornia.filters.canny(grey)[1])
shown("hsv", kornia.color.rgb_to_hsv(images))
shown("lab", kornia.color.lab_to_rgb(kornia.color.rgb_to_lab(images)) - images)
shown("equalised", kornia.enhance.equalize(images))
shown("clahe", kornia.enhance.equalize_clahe(grey, grid_size=(2, 2)))
shown("dilation", kornia.morphology.dilation(grey, torch.ones(3, 3)))
shown("harris", kornia.feature.harris_response(grey))

corners = torch.tensor([[[0.0, 0.0], [31.0, 0.0], [31.0, 23.0], [0.0, 23.0]]]).repeat(2, 1, 1)
moved = corners + torch.randn(2, 4, 2)
homography = transform.get_perspective_transform(corners, moved)
print("homography", [round(value, 4) for value in homography[0].flatten().tolist()])
shown("warped", transform.warp_perspective(images, homography, (24, 32)))
shown("rotated", transform.rotate(images, torch.tensor([30.0, -45.0])))
shown("resized", transform.resize(images, (12, 16), antialias=True))
shown("points", kornia.geometry.transform_points(homography, corners) - moved)
turns = conversions.axis_angle_to_rotation_matrix(torch.tensor([[0.1, 0.2, 0.3]]))
print("quaternion", [round(value, 4) for value in conversions.rotation_matrix_to_quaternion(turns)[0].tolist()])

blurred = kornia.filters.box_blur(images, (3, 3))
print("ssim", f"{kornia.losses.ssim_loss(images, blurred, 5).item():.4f}",
      f"psnr {kornia.metrics.psnr(blurred, images, 1.0).item():.4f}",
      f"tv {kornia.losses.total_variation(images).mean().item():.3f}")  # fmt: skip
scores, classes = torch.randn(2, 4, 6, 6), torch.randint(0, 4, (2, 6, 6))
print("focal", f"{kornia.losses.focal_loss(scores, classes, 0.5, reduction='mean').item():.4f}",
      f"dice {kornia.losses.dice_loss(scores, classes).item():.4f}")  # fmt: skip

augment = K.AugmentationSequential(
    K.RandomHorizontalFlip(p=1.0), K.RandomAffine(10.0, translate=(0.1, 0.1), p=1.0), K.ColorJiggle(0.1, 0.1, 0.1, 0.1),
    K.RandomErasing(p=1.0), data_keys=["input", "mask", "keypoints"],
)  # fmt: skip
image, mask, points = augment(images, (grey > 0.5).float(), corners)
shown("augmented", image)
shown("mask", mask)
shown("keypoints", points)
print("matrix", [round(value, 3) for value in augment.transform_matrix[1].flatten().tolist()])

target = transform.translate(kornia.filters.gaussian_blur2d(grey[:1], (7, 7), (3.0, 3.0)), torch.tensor([[1.5, -1.0]]))
source = kornia.filters.gaussian_blur2d(grey[:1], (7, 7), (3.0, 3.0))
shift = torch.zeros(1, 2, requires_grad=True)
optimizer = torch.optim.Adam([shift], lr=0.3)
for step in range(12):
    loss = torch.nn.functional.l1_loss(transform.translate(source, shift)[..., 4:-4, 4:-4], target[..., 4:-4, 4:-4])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        print(f"step {step} loss {loss.item():.5f} shift {[round(value, 2) for value in shift[0].tolist()]}")
