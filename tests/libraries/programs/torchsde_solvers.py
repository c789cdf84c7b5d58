"""torchsde: solvers of Ito and Stratonovich equations, logqp, and a latent SDE trained through the adjoint."""

import torch
import torchsde
from torch import nn

torch.manual_seed(0)
batch, state = 16, 2
times = torch.linspace(0, 1, 5)


def show(name, numbers):
    print(name, *(f"{number:.4f}" for number in torch.as_tensor(numbers).detach().flatten().tolist()))


class Equation(nn.Module):
    def __init__(self, sde_type, noise_type):
        super().__init__()
        torch.manual_seed(1)
        self.sde_type, self.noise_type = sde_type, noise_type
        self.mu = nn.Sequential(nn.Linear(state, 8), nn.Tanh(), nn.Linear(8, state))
        self.sigma = nn.Linear(
            state, {"diagonal": state, "general": state * 3, "scalar": state, "additive": 1}[noise_type]
        )

    def f(self, t, y):
        return self.mu(y) - y

    def g(self, t, y):
        if self.noise_type == "diagonal":
            return torch.sigmoid(self.sigma(y))
        if self.noise_type == "additive":
            return torch.sigmoid(t) * torch.ones(y.shape[0], state, 3)
        return torch.sigmoid(self.sigma(y)).view(y.shape[0], state, -1)

    def h(self, t, y):
        return -0.5 * y


for sde_type, noise_type, method, width in (
    ("ito", "diagonal", "euler", state), ("ito", "diagonal", "milstein", state), ("ito", "diagonal", "srk", state),
    ("ito", "additive", "srk", 3), ("ito", "general", "euler", 3), ("stratonovich", "general", "midpoint", 3),
    ("stratonovich", "diagonal", "reversible_heun", state), ("stratonovich", "scalar", "heun", 1),
):  # fmt: skip
    equation = Equation(sde_type, noise_type)
    y0 = torch.full((batch, state), 0.1)
    brownian = torchsde.BrownianInterval(0.0, 1.0, size=(batch, width), entropy=7, levy_area_approximation="space-time")
    with torch.no_grad():
        ys = torchsde.sdeint(equation, y0, times, bm=brownian, method=method, dt=0.1)
    show(f"{sde_type} {noise_type} {method}", ys[-1].mean(0))

brownian = torchsde.BrownianInterval(0.0, 1.0, size=(3,), entropy=5)
show("brownian", brownian(0.2, 0.7))
show("parts", brownian(0.2, 0.4) + brownian(0.4, 0.7))


def path(entropy):
    return torchsde.BrownianInterval(
        0.0, 1.0, size=(batch, state), entropy=entropy, levy_area_approximation="space-time"
    )


def training(name, solve, sde_type="ito", **options):
    equation = Equation(sde_type, "diagonal")
    optimizer = torch.optim.Adam(equation.parameters(), lr=0.05)
    for step in range(4):
        optimizer.zero_grad()
        y0 = torch.full((batch, state), 0.1)
        brownian = path(step)
        ys = solve(equation, y0, times, bm=brownian, dt=0.1, **options)
        loss = ((ys - 0.5) ** 2).mean()
        loss.backward()
        optimizer.step()
        print(name, step, f"{loss.item():.4f}")


training("through the solver", torchsde.sdeint)
training("adjoint", torchsde.sdeint_adjoint, "stratonovich", method="midpoint", adjoint_method="midpoint")
training("reversible", torchsde.sdeint_adjoint, "stratonovich", method="reversible_heun",
         adjoint_method="adjoint_reversible_heun")  # fmt: skip


class Latent(Equation):
    def h(self, t, y):
        return -y


equation, y0 = Latent("ito", "diagonal"), torch.full((batch, state), 0.1)
brownian = torchsde.BrownianInterval(0.0, 1.0, size=(batch, state + 1), entropy=3)
ys, logqp = torchsde.sdeint(equation, y0, times, bm=brownian, dt=0.1, logqp=True, method="euler")
show("logqp", logqp.mean(1))
with torch.no_grad():
    brownian = path(3)
    ys = torchsde.sdeint(equation, y0, times, bm=brownian, dt=0.1, method="euler", adaptive=True, rtol=1e-2, atol=1e-2)
    show("adaptive", ys[-1].mean(0))
