"""segmentation-models-pytorch, timm: a U-Net with attention trained by Dice and focal loss, scored, saved, loaded."""

import tempfile

import segmentation_models_pytorch as smp
import torch

torch.manual_seed(0)
images = torch.randn(2, 3, 64, 64)
masks = (images.mean(1, keepdim=True) > 0.2).float()
model = smp.Unet("tu-test_resnet", encoder_weights=None, decoder_channels=(32, 32, 16, 16, 16), classes=1,
                 decoder_attention_type="scse", aux_params={"classes": 3, "dropout": 0.0})  # fmt: skip
dice, focal = smp.losses.DiceLoss(mode="binary"), smp.losses.FocalLoss(mode="binary")
soft = smp.losses.SoftBCEWithLogitsLoss(smooth_factor=0.1)
groups = [{"params": model.decoder.parameters(), "lr": 1e-3}, {"params": model.encoder.parameters()}]
optimizer = torch.optim.Adam(groups, lr=1e-4)
for step in range(3):
    logits, labels = model(images)
    loss = dice(logits, masks) + focal(logits, masks) + soft(logits, masks)
    loss = loss + torch.nn.functional.cross_entropy(labels, torch.tensor([0, 2]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")

model.eval()
with torch.no_grad():
    logits, _ = model(images)
counts = smp.metrics.get_stats(logits.sigmoid(), masks.long(), mode="binary", threshold=0.5)
print("counts", [count.sum().item() for count in counts])
print("IoU", f"{smp.metrics.iou_score(*counts, reduction='micro').item():.3f}",
      f"F1 {smp.metrics.f1_score(*counts, reduction='micro-imagewise').item():.3f}")  # fmt: skip
with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    again = smp.from_pretrained(folder).eval()
with torch.no_grad():
    print("loaded", torch.equal(again(images)[0], logits))
print("scores of losses", *(f"{loss(logits, masks).item():.4f}" for loss in (
    smp.losses.JaccardLoss("binary"), smp.losses.TverskyLoss("binary", alpha=0.3, beta=0.7),
    smp.losses.LovaszLoss("binary"),
)))  # fmt: skip
