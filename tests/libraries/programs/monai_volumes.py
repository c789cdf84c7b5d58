"""monai: transforms of volumes with their keys, a 3-d U-Net trained with DiceCE, whole volumes by windows, metrics."""

import torch
from monai.data import CacheDataset, DataLoader, decollate_batch
from monai.inferers import sliding_window_inference
from monai.losses import DiceCELoss, TverskyLoss
from monai.metrics import DiceMetric, HausdorffDistanceMetric
from monai.networks.nets import UNet
from monai.transforms import (
    AsDiscrete,
    Compose,
    EnsureTyped,
    NormalizeIntensityd,
    RandCropByPosNegLabeld,
    RandFlipd,
    RandGaussianNoised,
    ScaleIntensityRanged,
    Spacingd,
)
from monai.utils import set_determinism

set_determinism(0)
grid = torch.stack(torch.meshgrid(*[torch.linspace(-1, 1, 24)] * 3, indexing="ij"))
volumes = []
for radius in (0.5, 0.6, 0.7):
    label = (grid.norm(dim=0, keepdim=True) < radius).float()
    volumes.append({"image": label * 100 + torch.randn(1, 24, 24, 24) * 20, "label": label})

prepared = Compose([
    EnsureTyped(keys=["image", "label"]),
    ScaleIntensityRanged(keys="image", a_min=-50, a_max=150, b_min=0.0, b_max=1.0, clip=True),
    NormalizeIntensityd(keys="image", nonzero=True),
    RandCropByPosNegLabeld(keys=["image", "label"], label_key="label", spatial_size=(16, 16, 16), num_samples=2),
    RandFlipd(keys=["image", "label"], prob=0.5, spatial_axis=0),
    RandGaussianNoised(keys="image", prob=0.5, std=0.1),
])  # fmt: skip
prepared.set_random_state(seed=0)
data = CacheDataset(volumes, prepared, progress=False)
loader = DataLoader(data, batch_size=3)
model = UNet(spatial_dims=3, in_channels=1, out_channels=2, channels=(4, 8, 16), strides=(2, 2), num_res_units=1)
criterion = DiceCELoss(to_onehot_y=True, softmax=True)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for batch in loader:
        loss = criterion(model(batch["image"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} {tuple(batch['image'].shape)} {type(batch['image']).__name__} loss {loss.item():.4f}")

model.eval()
to_classes, to_onehot = AsDiscrete(argmax=True, to_onehot=2), AsDiscrete(to_onehot=2)
dice, distance = DiceMetric(include_background=False), HausdorffDistanceMetric(include_background=False)
whole = (volumes[0]["image"] - 50)[None] / 40
with torch.no_grad():
    scores = sliding_window_inference(whole, (16, 16, 16), 4, model, overlap=0.25, mode="gaussian")
found = [to_classes(each) for each in decollate_batch(scores)]
truth = [to_onehot(volumes[0]["label"])]
print("dice", f"{dice(found, truth).item():.3f}", f"mean {dice.aggregate().item():.3f}")
print("distance", f"{distance(found, truth).item():.2f}", tuple(scores.shape))
print("Tversky", f"{TverskyLoss(to_onehot_y=True, softmax=True)(scores, truth[0][None, 1:]).item():.4f}")
coarse = Spacingd(keys=["image"], pixdim=(2.0, 2.0, 2.0), mode="bilinear")({"image": data[0][0]["image"]})["image"]
print("coarse", tuple(coarse.shape), coarse.affine.diagonal().tolist(), len(coarse.applied_operations))
