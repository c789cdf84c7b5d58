"""efficientnet-pytorch: a small EfficientNet from a configuration of its own, trained; its features and head."""

import torch
from efficientnet_pytorch import EfficientNet
from efficientnet_pytorch.utils import BlockDecoder, GlobalParams

torch.manual_seed(0)
blocks = BlockDecoder.decode(
    ["r1_k3_s11_e1_i32_o16_se0.25", "r2_k3_s22_e6_i16_o24_se0.25", "r1_k5_s22_e6_i24_o40_se0.25"]
)
options = GlobalParams(
    width_coefficient=0.5, depth_coefficient=1.0, image_size=32, dropout_rate=0.2, num_classes=4,
    batch_norm_momentum=0.99, batch_norm_epsilon=1e-3, drop_connect_rate=0.2, depth_divisor=8, min_depth=None,
    include_top=True,
)  # fmt: skip
model = EfficientNet(blocks, options)
print("parameters", sum(p.numel() for p in model.parameters()), len(model._blocks))
images, labels = torch.randn(6, 3, 32, 32), torch.tensor([0, 1, 2, 3, 0, 1])
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, alpha=0.9, momentum=0.9, eps=1e-3)
for step in range(3):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
model.eval()
with torch.no_grad():
    print("features", tuple(model.extract_features(images).shape))
    print("endpoints", {name: tuple(x.shape) for name, x in model.extract_endpoints(images).items()})
model.set_swish(memory_efficient=False)
with torch.no_grad():
    print("scores", [round(value, 4) for value in model(images)[0].tolist()])
