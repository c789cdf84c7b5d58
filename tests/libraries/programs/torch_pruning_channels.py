"""torch-pruning: channels that depend on each other, a small ResNet pruned by several importances, retrained."""

import torch
import torch_pruning as tp
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)
        self.short = nn.Conv2d(inputs, outputs, 1, stride) if stride > 1 or inputs != outputs else nn.Identity()

    def forward(self, x):
        out = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(out)) + self.short(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 1, 1), nn.BatchNorm2d(8), nn.ReLU())
        self.blocks = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2))
        self.pool, self.head = nn.AdaptiveAvgPool2d(1), nn.Linear(16, 5)

    def forward(self, x):
        return self.head(torch.flatten(self.pool(self.blocks(self.stem(x))), 1))


example = torch.randn(1, 3, 12, 12)
model = Net()
graph = tp.DependencyGraph().build_dependency(model, example_inputs=example)
group = graph.get_pruning_group(model.stem[0], tp.prune_conv_out_channels, idxs=[2, 6])
print(group)
if graph.check_pruning_group(group):
    group.prune()
print(model.stem[0], model.blocks[0].conv1, tuple(model(example).shape))

x, y = torch.randn(16, 3, 12, 12), torch.randint(0, 5, (16,))
kinds = {
    "magnitude": lambda: tp.importance.MagnitudeImportance(p=2), "taylor": lambda: tp.importance.TaylorImportance(),
    "bn scale": lambda: tp.importance.BNScaleImportance(), "lamp": lambda: tp.importance.LAMPImportance(),
    "hessian": lambda: tp.importance.HessianImportance(), "fpgm": lambda: tp.importance.FPGMImportance(),
}  # fmt: skip
for name, make in kinds.items():
    torch.manual_seed(1)
    model, importance = Net(), make()
    before = tp.utils.count_ops_and_params(model, example)
    pruner = tp.pruner.MetaPruner(model, example, importance=importance, pruning_ratio=0.5, iterative_steps=2,
                                  ignored_layers=[model.head], global_pruning=name == "magnitude")  # fmt: skip
    for _ in range(2):
        if name == "taylor":
            nn.functional.cross_entropy(model(x), y).backward()
        elif name == "hessian":
            importance.zero_grad()
            for loss in nn.functional.cross_entropy(model(x[:4]), y[:4], reduction="none"):
                model.zero_grad()
                loss.backward(retain_graph=True)
                importance.accumulate_grad(model)
        pruner.step()
    after = tp.utils.count_ops_and_params(model, example)
    print(name, before, after, model.blocks[1].conv1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    print(name, f"{loss.item():.5f}")
state = tp.state_dict(model)
again = Net()
tp.load_state_dict(again, state_dict=state)
print("loaded", torch.allclose(again.eval()(x), model.eval()(x), atol=1e-5))
