"""neurodiffeq: networks that solve ordinary and partial differential equations; generators, bundles and operators."""

import warnings

import numpy as np
import torch
from neurodiffeq import diff
from neurodiffeq.conditions import IVP, BundleIVP, DirichletBVP2D
from neurodiffeq.generators import Generator1D, Generator2D
from neurodiffeq.networks import FCNN, SinActv
from neurodiffeq.operators import curl, div, grad, laplacian
from neurodiffeq.solvers import BundleSolver1D, Solver1D, Solver2D

warnings.simplefilter("ignore")
torch.manual_seed(0)
np.random.seed(0)
torch.set_default_dtype(torch.float64)


def hunters(u, v, t):
    return [diff(u, t) - (u - u * v), diff(v, t) - (u * v - v)]


solver = Solver1D(
    hunters, [IVP(t_0=0.0, u_0=1.5), IVP(t_0=0.0, u_0=1.0)], t_min=0.1, t_max=3.0,
    nets=[FCNN(actv=SinActv, hidden_units=(16, 16)) for _ in range(2)],
)  # fmt: skip
solver.fit(max_epochs=12, tqdm_file=None)
print({name: [round(value, 6) for value in values[-3:]] for name, values in solver.metrics_history.items()})
print(solver.get_solution()(np.linspace(0.1, 3.0, 4), to_numpy=True))

solver = Solver2D(
    lambda u, x, y: [diff(u, x, order=2) + diff(u, y, order=2)],
    [DirichletBVP2D(0, lambda y: torch.sin(np.pi * y), 1, lambda y: 0, 0, lambda x: 0, 1, lambda x: 0)],
    xy_min=(0, 0), xy_max=(1, 1), nets=[FCNN(2, 1, hidden_units=(16,))],
    train_generator=Generator2D((6, 6), (0, 0), (1, 1), method="equally-spaced-noisy"),
)  # fmt: skip
solver.fit(max_epochs=6, tqdm_file=None)
print(solver.get_solution()(torch.tensor([0.2, 0.5]), torch.tensor([0.3, 0.5])))
print(solver.get_residuals(torch.tensor([0.2]), torch.tensor([0.3])))

solver = BundleSolver1D(
    lambda u, t, rate: [diff(u, t) + rate * u], [BundleIVP(t_0=0.0, u_0=1.0)], t_min=0.0, t_max=1.0,
    theta_min=[0.5], theta_max=[2.0], eq_param_index=(0,), n_batches_valid=1,
)  # fmt: skip
solver.fit(max_epochs=4, tqdm_file=None)
print(solver.get_solution()(torch.tensor([0.5, 1.0]), torch.tensor([1.0, 1.0])))

x, y, z = (torch.rand(5, 1, requires_grad=True) for _ in range(3))
u = x * y**2 + torch.sin(z)
print(torch.cat(grad(u, x, y, z), dim=1), div(x * y, y * z, z * x, x, y, z)[:2])
print(laplacian(u, x, y, z)[:2], torch.cat(curl(u, x * z, y, x, y, z), dim=1)[0])
both = Generator1D(4, 0.0, 1.0, method="uniform") + Generator1D(3, 1.0, 2.0, method="chebyshev")
print(both.get_examples(), (Generator1D(2) * Generator1D(2)).get_examples())
