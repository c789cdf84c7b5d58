"""torchquad: integrals in several dimensions by grids and at random, and gradients through them."""

import torch
import torchquad
from torchquad import VEGAS, Boole, GaussLegendre, MonteCarlo, Simpson, Trapezoid

torchquad.set_log_level("ERROR")
torch.manual_seed(0)


def bump(points: torch.Tensor) -> torch.Tensor:
    return torch.sin(points[:, 0]) + torch.exp(points[:, 1])


box = [[0, 1], [-1, 1]]
for rule, size in ((Trapezoid, 441), (Simpson, 441), (Boole, 625), (GaussLegendre, 400)):
    print(rule.__name__, rule().integrate(bump, dim=2, N=size, integration_domain=box, backend="torch"))
print(MonteCarlo().integrate(bump, dim=2, N=2000, integration_domain=box, seed=3, backend="torch"))
print(VEGAS().integrate(bump, dim=2, N=4000, integration_domain=box, seed=3).item() > 4)
ends = torch.tensor([[0.0, 1.0], [-1.0, 1.0]], requires_grad=True)
area = Simpson().integrate(bump, dim=2, N=441, integration_domain=ends)
area.backward()
print(area, ends.grad)
rule = Trapezoid()
compiled = rule.get_jit_compiled_integrate(dim=2, N=441, integration_domain=torch.tensor(box, dtype=torch.float32))
print(compiled(bump, torch.tensor([[0.0, 2.0], [0.0, 1.0]])))
