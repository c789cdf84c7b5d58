"""torchdiffeq: solvers on a spiral, a neural ODE trained through the adjoint, bouncing balls found by events."""

import torch
from torch import nn
from torchdiffeq import odeint, odeint_adjoint, odeint_event

torch.manual_seed(0)
matrix = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
start = torch.tensor([[2.0, 0.0]])
times = torch.linspace(0.0, 1.0, 8)


def show(name, numbers):
    print(name, *(f"{number:.4f}" for number in torch.as_tensor(numbers).detach().flatten().tolist()))


class Spiral(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, t, y):
        self.calls += 1
        return (y**3) @ matrix.to(y.dtype)


with torch.no_grad():
    for method in ("dopri5", "bosh3", "fehlberg2", "euler", "midpoint", "heun3", "rk4"):
        spiral = Spiral()
        options = {"step_size": 0.05} if method in ("euler", "midpoint", "heun3", "rk4") else {}
        show(method, odeint(spiral, start, times, method=method, rtol=1e-4, atol=1e-4, options=options)[-1])
        print(method, spiral.calls)
    for method in ("explicit_adams", "implicit_adams"):
        show(method, odeint(Spiral(), start, times, method=method, options={"step_size": 0.05, "max_order": 4})[-1])
    show("dopri8", odeint(Spiral().double(), start.double(), times.double(), method="dopri8")[-1])
    show("tuple", odeint(lambda t, y: (y[1], -y[0]), (torch.ones(2), torch.zeros(2)), times)[0][-1])
    show("backwards", odeint(Spiral(), start, times.flip(0), rtol=1e-4, atol=1e-4)[-1])
true = odeint(Spiral(), start, times).detach()


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 2))
        for layer in self.net[::2]:
            nn.init.normal_(layer.weight, std=0.1)
            nn.init.zeros_(layer.bias)

    def forward(self, t, y):
        return self.net(y**3)


def training(name, solve, **options):
    torch.manual_seed(1)
    field = Field()
    optimizer = torch.optim.RMSprop(field.parameters(), lr=1e-2)
    for step in range(4):
        optimizer.zero_grad()
        first = torch.randint(0, 3, (4,))
        seen = solve(field, true[first], times[:4], **options)
        target = torch.stack([true[first + i] for i in range(4)])
        loss = (seen - target).abs().mean()
        loss.backward()
        optimizer.step()
        print(name, step, f"{loss.item():.4f}")
    show(name, field.net[0].weight.grad.norm())


training("through the solver", odeint, method="rk4")
training("adaptive", odeint, rtol=1e-3, atol=1e-3)
training("adjoint", odeint_adjoint, rtol=1e-3, atol=1e-3)
training("seminorm", odeint_adjoint, rtol=1e-3, atol=1e-3, adjoint_options={"norm": "seminorm"})


class Ball(nn.Module):
    def __init__(self):
        super().__init__()
        self.gravity = nn.Parameter(torch.tensor([9.8]))
        self.bounce = nn.Parameter(torch.tensor([0.8]))

    def forward(self, t, state):
        return state[1], -self.gravity

    def lands(self, t, state):
        return state[0]


ball = Ball().double()
t, state = (
    torch.zeros(1, dtype=torch.float64),
    (torch.full((1,), 10.0, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)),
)
for landing in range(2):
    t, solution = odeint_event(
        ball, state, t, event_fn=ball.lands, atol=1e-7, rtol=1e-7, odeint_interface=odeint_adjoint
    )
    state = (solution[0][-1] + 1e-3, -ball.bounce * solution[1][-1])
    show(f"landing {landing}", t)
t.sum().backward()
show("by gravity", ball.gravity.grad)
show("by bounce", ball.bounce.grad)
