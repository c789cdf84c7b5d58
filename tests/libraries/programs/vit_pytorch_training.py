"""vit-pytorch: a ViT and a SimpleViT trained, one distilled, one compact; attention and embeddings read."""

import torch
from torch import nn
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cct import CCT
from vit_pytorch.distill import DistillableViT, DistillWrapper
from vit_pytorch.extractor import Extractor
from vit_pytorch.recorder import Recorder

torch.manual_seed(0)
images, labels = torch.randn(6, 3, 32, 32), torch.tensor([0, 1, 2, 3, 0, 1])

shape = {"image_size": 32, "num_classes": 4, "heads": 2, "dim_head": 16}
vit = ViT(patch_size=8, dim=32, depth=2, mlp_dim=48, emb_dropout=0.1, **shape)
optimizer = torch.optim.Adam(vit.parameters(), lr=3e-3)
for step in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(vit(images), labels)
    loss.backward()
    optimizer.step()
    print(f"ViT step {step}: loss {loss.item():.4f}")

vit.eval()
recorder = Recorder(vit)
with torch.no_grad():
    scores, attention = recorder(images)
print("attention", tuple(attention.shape), f"{attention[0, 1, 0, 0].tolist()[0]:.4f}", f"{attention.sum().item():.3f}")
vit = recorder.eject()
extractor = Extractor(vit)
with torch.no_grad():
    _, embeddings = extractor(images)
print("embeddings", tuple(embeddings.shape), f"{embeddings.std().item():.4f}")
vit = extractor.eject()

simple = SimpleViT(patch_size=8, dim=32, depth=1, mlp_dim=48, **shape)
optimizer = torch.optim.SGD(simple.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4, nesterov=True)
for step in range(4):
    loss = nn.functional.cross_entropy(simple(images), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(simple.parameters(), 1.0)
    optimizer.step()
    print(f"SimpleViT step {step}: loss {loss.item():.4f}")

student = DistillableViT(patch_size=16, dim=24, depth=1, mlp_dim=32, **shape)
distiller = DistillWrapper(student=student, teacher=simple, temperature=3, alpha=0.5, hard=False)
optimizer = torch.optim.Adam(distiller.parameters(), lr=3e-3)
for step in range(4):
    loss = distiller(images, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"student step {step}: loss {loss.item():.4f}")

compact = CCT(img_size=32, embedding_dim=32, n_conv_layers=1, kernel_size=7, stride=2, padding=3, pooling_kernel_size=3,
              pooling_stride=2, pooling_padding=1, num_layers=1, num_heads=2, mlp_ratio=2.0, num_classes=4,
              positional_embedding="learnable")  # fmt: skip
compact.eval()
scores = compact(images)
scores.logsumexp(-1).sum().backward()
print("CCT", [round(value, 4) for value in scores[0].tolist()])
print("gradient", f"{compact.tokenizer.conv_layers[0][0].weight.grad.norm().item():.4f}")
