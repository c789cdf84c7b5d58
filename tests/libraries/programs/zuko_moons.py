"""zuko: five kinds of flows fitted to two moons, their inverses, samples and files."""

import io

import torch
import zuko

torch.manual_seed(0)


def show(name, numbers):
    print(name, *(f"{number:.4f}" for number in torch.as_tensor(numbers).detach().flatten().tolist()))


def moons(n):
    angle = torch.pi * torch.rand(n)
    side = torch.randint(0, 2, (n,)).float()
    x = torch.stack((torch.cos(angle) + side - 0.5, torch.sin(angle) * (1 - 2 * side) + side / 2 - 0.25), dim=-1)
    return x + 0.1 * torch.randn_like(x), side[:, None]


flows = {
    "MAF": lambda: zuko.flows.MAF(2, 1, transforms=2, hidden_features=(16, 16)),
    "NSF": lambda: zuko.flows.NSF(2, 1, transforms=2, hidden_features=(16, 16)),
    "NICE": lambda: zuko.flows.NICE(2, 1, transforms=2, hidden_features=(16, 16)),
    "UNAF": lambda: zuko.flows.UNAF(2, 1, transforms=1, hidden_features=(16,)),
    "GMM": lambda: zuko.mixtures.GMM(2, 1, components=3, hidden_features=(16,)),
}
for name, make in flows.items():
    torch.manual_seed(1)
    flow = make()
    optimizer = torch.optim.Adam(flow.parameters(), lr=5e-3)
    for step in range(4):
        x, side = moons(64)
        loss = -flow(side).log_prob(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(name, step, f"{loss.item():.4f}")
    x, side = moons(3)
    with torch.no_grad():
        fitted = flow(side)
        if hasattr(fitted, "transform"):
            there = fitted.transform(x)
            show(f"{name} there", there)
            print(name, "back", torch.allclose(fitted.transform.inv(there), x, atol=1e-4))
            sample = fitted.rsample()
        else:
            sample = fitted.sample()
        show(f"{name} sample", sample)
    file = io.BytesIO()
    torch.save(flow.state_dict(), file)
    file.seek(0)
    again = make()
    print(name, again.load_state_dict(torch.load(file)), sum(p.numel() for p in again.parameters()))
    print(name, "again", torch.allclose(again(side).log_prob(x), flow(side).log_prob(x), atol=1e-5))

print(zuko.flows.NSF(2, transforms=1, hidden_features=(8,)))
box = zuko.distributions.BoxUniform(-torch.ones(2), torch.ones(2))
show("box", box.log_prob(torch.zeros(2)))
truncated = zuko.distributions.Truncated(torch.distributions.Normal(0.0, 1.0), -1.0, 2.0)
show("truncated", truncated.sample((4,)))
show("truncated", truncated.log_prob(torch.tensor([0.0, 1.5])))
