"""torchcde, torchdiffeq: splines through series with gaps, and a controlled equation trained to tell turns."""

import math

import torch
import torchcde

torch.manual_seed(0)
times = torch.linspace(0.0, 4 * math.pi, 20)
start = torch.rand(16) * 2 * math.pi
way = torch.where(torch.arange(16) < 8, 1.0, -1.0)
angle = start[:, None] + way[:, None] * times
series = torch.stack([times.expand(16, 20), angle.cos(), angle.sin()], dim=-1)
gaps = series.clone()
gaps[0, 3:6, 1] = float("nan")
gaps[2, -2:, 2] = float("nan")
for make, control in (
    (torchcde.hermite_cubic_coefficients_with_backward_differences, torchcde.CubicSpline),
    (torchcde.natural_cubic_coeffs, torchcde.CubicSpline),
    (torchcde.linear_interpolation_coeffs, torchcde.LinearInterpolation),
):
    for data in (series, gaps):
        path = control(make(data))
        print(make.__name__, path.evaluate(torch.tensor(4.4))[0], path.derivative(torch.tensor(4.4))[2])
print(torchcde.linear_interpolation_coeffs(gaps, rectilinear=0).shape)
print(torchcde.logsig_windows.__name__, path.interval, path.grid_points[:3])


class Field(torch.nn.Module):
    """The field that the series drives: for each hidden channel a row over the series' channels."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(8, 32), torch.nn.Linear(32, 24)

    def forward(self, t: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return self.outer(self.inner(z).relu()).tanh().view(-1, 8, 3)


field, first, last = Field(), torch.nn.Linear(3, 8), torch.nn.Linear(8, 1)
parameters = [*field.parameters(), *first.parameters(), *last.parameters()]
optimizer = torch.optim.Adam(parameters, lr=0.01)
coefficients = torchcde.hermite_cubic_coefficients_with_backward_differences(series)
for step in range(6):
    path = torchcde.CubicSpline(coefficients)
    hidden = torchcde.cdeint(
        X=path, func=field, z0=first(path.evaluate(path.interval[0])), t=path.interval, adjoint=step % 2 == 0,
        method="rk4", options={"step_size": 1.0},
    )  # fmt: skip
    loss = torch.nn.functional.binary_cross_entropy_with_logits(last(hidden[:, -1])[:, 0], (way > 0).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f}")
