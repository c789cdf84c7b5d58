"""FrEIA: invertible networks of several blocks, graphs of them with conditions, trained by likelihood."""

import FrEIA.framework as ff
import FrEIA.modules as fm
import numpy as np
import torch

torch.manual_seed(0)
np.random.seed(0)


def subnet(inputs: int, outputs: int) -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(inputs, 16), torch.nn.ReLU(), torch.nn.Linear(16, outputs))


x = torch.randn(64, 4)
x[:, 1] = x[:, 0] ** 2 + 0.1 * x[:, 1]
for block, options in (
    (fm.AllInOneBlock, {"subnet_constructor": subnet, "permute_soft": True}),
    (fm.RNVPCouplingBlock, {"subnet_constructor": subnet}),
    (fm.GLOWCouplingBlock, {"subnet_constructor": subnet, "clamp": 1.5}),
    (fm.GINCouplingBlock, {"subnet_constructor": subnet}),
):
    flow = ff.SequenceINN(4)
    for _ in range(2):
        flow.append(block, **options)
        flow.append(fm.PermuteRandom, seed=0)
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
    for _ in range(4):
        z, jacobian = flow(x)
        loss = (0.5 * z.square().sum(1) - jacobian).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        z, jacobian = flow(x)
        back, other = flow(z, rev=True)
    print(
        block.__name__,
        f"{loss.item():.4f}",
        (back - x).abs().max() < 1e-3,
        torch.as_tensor(jacobian + other).abs().max() < 1e-3,
    )

pictures, condition = ff.InputNode(2, 8, 8, name="pictures"), ff.ConditionNode(10, name="digit")
nodes = [pictures, condition]
down = ff.Node(pictures, fm.HaarDownsampling, {}, name="down")
flat = ff.Node(down, fm.Flatten, {}, name="flat")
coupled = ff.Node(flat, fm.GLOWCouplingBlock, {"subnet_constructor": subnet}, conditions=condition, name="coupled")
split = ff.Node(coupled, fm.Split, {"section_sizes": (100, 28), "dim": 0}, name="split")
normed = ff.Node(split.out0, fm.ActNorm, {}, name="normed")
joined = ff.Node([normed.out0, split.out1], fm.Concat, {"dim": 0}, name="joined")
graph = ff.GraphINN([*nodes, down, flat, coupled, split, normed, joined, ff.OutputNode(joined, name="out")])
batch, digits = torch.randn(5, 2, 8, 8), torch.nn.functional.one_hot(torch.arange(5), 10).float()
z, jacobian = graph(batch, c=[digits])
back, _ = graph(z, c=[digits], rev=True)
print(z.shape, jacobian, (back - batch).abs().max() < 1e-3)
(z.square().mean() - jacobian.mean()).backward()
print(f"{sum(p.grad.abs().sum().item() for p in graph.parameters() if p.grad is not None):.2f}")
print(graph)
