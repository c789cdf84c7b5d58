"""torch-optimizer, pytorch-ranger: some thirty optimizers of the zoo on one small net; state saved and loaded."""

import warnings

import torch
import torch_optimizer
from pytorch_ranger import Ranger as PlainRanger
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)
x, y = torch.randn(24, 6), torch.randint(0, 3, (24,))
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
start = {name: value.clone() for name, value in model.state_dict().items()}


def trained(optimizer: torch.optim.Optimizer, steps: int = 3) -> float:
    for _ in range(steps):

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward(create_graph=type(optimizer).__name__ == "Adahessian")
            return loss

        closure()
        optimizer.step()
    return nn.functional.cross_entropy(model(x), y).item()


names = [
    "AccSGD", "AdaBelief", "AdaBound", "AdaMod", "AdamP", "AggMo", "Apollo", "DiffGrad", "Lamb", "MADGRAD",
    "NovoGrad", "PID", "QHAdam", "QHM", "RAdam", "RangerQH", "RangerVA", "SGDP", "SGDW", "Shampoo", "SWATS", "Yogi",
    "LARS", "A2GradUni", "A2GradInc", "A2GradExp", "Adafactor",
]  # fmt: skip
for name in names:
    model.load_state_dict(start)
    kind = getattr(torch_optimizer, name)
    try:
        print(name, f"{trained(kind(model.parameters(), **({} if name.startswith('A2') else {'lr': 0.01}))):.4f}")
    except (TypeError, RuntimeError, AttributeError, NotImplementedError) as error:
        print(name, type(error).__name__)
model.load_state_dict(start)
print("Adahessian", f"{trained(torch_optimizer.Adahessian(model.parameters(), lr=0.1, seed=0)):.4f}")
model.load_state_dict(start)
ranger = PlainRanger([{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 0.01}], lr=0.05, k=2)
print("Ranger", f"{trained(ranger, 5):.4f}", sorted(ranger.state[model[0].weight]))
saved = ranger.state_dict()
other = PlainRanger([{"params": model[0].parameters()}, {"params": model[2].parameters()}], k=2)
other.load_state_dict(saved)
print("loaded", other.param_groups[1]["lr"], f"{trained(other, 2):.4f}")
model.load_state_dict(start)
ahead = torch_optimizer.Lookahead(torch_optimizer.Yogi(model.parameters(), lr=0.05), k=2, alpha=0.5)
print("Lookahead", f"{trained(ahead, 4):.4f}", repr(ahead).splitlines()[0])
