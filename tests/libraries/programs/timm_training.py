"""timm: a ViT with mixup, layer-wise rates, a warm-up and an average of weights; features of a ResNet; checkpoints."""

import tempfile

import numpy as np
import timm
import torch
from PIL import Image
from timm.data import Mixup, create_transform, resolve_model_data_config
from timm.loss import AsymmetricLossMultiLabel, BinaryCrossEntropy, LabelSmoothingCrossEntropy, SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2, param_groups_layer_decay
from timm.scheduler import CosineLRScheduler
from timm.utils import AverageMeter, CheckpointSaver, ModelEmaV3, accuracy, dispatch_clip_grad

torch.manual_seed(0)
np.random.seed(0)
model = timm.create_model("test_vit", img_size=64, num_classes=5, drop_path_rate=0.1)
print(type(model).__name__, sum(p.numel() for p in model.parameters()), model.num_features)
groups = param_groups_layer_decay(model, weight_decay=0.05, layer_decay=0.75)
print("groups", len(groups), [round(group["lr_scale"], 4) for group in groups])
optimizer = create_optimizer_v2(groups, opt="lamb", lr=2e-2)
scheduler = CosineLRScheduler(optimizer, t_initial=8, lr_min=1e-4, warmup_t=2, warmup_lr_init=1e-3)
mixup = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, label_smoothing=0.1, num_classes=5)
average = ModelEmaV3(model, decay=0.8)
criterion = SoftTargetCrossEntropy()
losses = AverageMeter()
for step in range(5):
    scheduler.step(step)
    images, targets = mixup(torch.randn(4, 3, 64, 64), torch.randint(0, 5, (4,)))
    loss = criterion(model(images), targets)
    optimizer.zero_grad()
    loss.backward()
    dispatch_clip_grad(model.parameters(), 1.0)
    optimizer.step()
    average.update(model, step=step)
    losses.update(loss.item(), len(images))
    print(f"step {step} lr {optimizer.param_groups[-1]['lr']:.5f} loss {losses.val:.4f} ({losses.avg:.4f})")

pictures = np.random.default_rng(0).integers(0, 256, (2, 80, 90, 3), dtype=np.uint8)
transform = create_transform(**resolve_model_data_config(model), is_training=False)
batch = torch.stack([transform(Image.fromarray(picture)) for picture in pictures])
print("batch", tuple(batch.shape))
average.eval()
with torch.no_grad():
    scores = average(torch.nn.functional.interpolate(batch, 64))
print("top 1 and 3", [round(value.item(), 2) for value in accuracy(scores, torch.tensor([1, 3]), topk=(1, 3))])

with tempfile.TemporaryDirectory() as folder:
    saver = CheckpointSaver(model, optimizer, model_ema=average, checkpoint_dir=folder, recovery_dir=folder)
    saver.save_checkpoint(0, metric=0.5)
    again = timm.create_model("test_vit", img_size=64, num_classes=5, checkpoint_path=f"{folder}/last.pth.tar").eval()
with torch.no_grad():
    print("loaded", torch.equal(again(batch[:, :, :64, :64]), average.module(batch[:, :, :64, :64])))

features = timm.create_model("test_resnet", features_only=True, out_indices=(1, 3)).eval()
print("features", features.feature_info.channels(), features.feature_info.reduction())
with torch.no_grad():
    print([(tuple(level.shape), round(level.mean().item(), 4)) for level in features(torch.randn(1, 3, 64, 64))])
model.reset_classifier(3)
final, intermediate = model.forward_intermediates(torch.randn(1, 3, 64, 64), indices=2)
print("intermediate", tuple(final.shape), [tuple(level.shape) for level in intermediate])

logits, classes = torch.linspace(-2, 2, 10).reshape(2, 5), torch.tensor([4, 0])
print("losses", f"{LabelSmoothingCrossEntropy(0.1)(logits, classes).item():.4f}",
      f"{BinaryCrossEntropy(smoothing=0.1)(logits, classes).item():.4f}",
      f"{AsymmetricLossMultiLabel()(logits, (logits > 0).float()).item():.4f}")  # fmt: skip
