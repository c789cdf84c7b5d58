"""pypose, qpth: rotations and poses found by Levenberg-Marquardt, splines of them, and quadratic programs as layers."""

import pypose as pp
import torch
from qpth.qp import QPFunction

torch.manual_seed(0)
turns = pp.randn_SO3(3, requires_grad=True)
points = turns.Act(torch.randn(3, 3))
points.sum().backward()
print(points)
print(turns.grad)
print(turns.Log(), turns.Inv())
poses = pp.randn_SE3(2)
print(poses, bool((poses @ poses.Inv()).Log().abs().max() < 1e-5))
print(pp.se3(torch.randn(2, 6)).Exp().translation())


class Inverse(torch.nn.Module):
    """Poses that undo others."""

    def __init__(self):
        super().__init__()
        self.pose = pp.Parameter(pp.randn_SE3(2))

    def forward(self, poses):
        """Return what is left to undo."""
        return (self.pose @ poses).Log().tensor()


for name, kind, options in (
    ("LM", pp.optim.LM, {"strategy": pp.optim.strategy.Constant(damping=1e-4)}),
    ("GN", pp.optim.GN, {"solver": pp.optim.solver.PINV()}),
):
    optimizer = kind(Inverse(), **options)
    for step in range(3):
        print(f"{name} step {step} error {optimizer.step(poses):.4f}")

print(pp.chspline(torch.randn(1, 5, 3), 0.5))
still = pp.module.IMUPreintegrator(torch.zeros(3), pp.identity_SO3(), torch.zeros(3))
moved = still(torch.full((1, 4, 1), 0.1), torch.randn(1, 4, 3), torch.randn(1, 4, 3))
print(moved["pos"], moved["rot"].shape)
print(pp.mat2SO3(turns.detach().matrix()), pp.euler2SO3(torch.randn(2, 3)))

squares = torch.eye(4, dtype=torch.double) * 2
line, walls = (torch.randn(n, 4, dtype=torch.double, requires_grad=True) for n in (3, 5))
room = torch.rand(5, dtype=torch.double) + 0.5
equal, to = torch.randn(2, 4, dtype=torch.double), torch.randn(2, dtype=torch.double) * 0.1
best = QPFunction(verbose=-1)(squares, line, walls, room, equal, to)
best.pow(2).sum().backward()
print(best)
print(line.grad, walls.grad)
