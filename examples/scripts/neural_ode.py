"""A neural ordinary differential equation: learn a spiral's dynamics through a Runge-Kutta solver written out."""

import argparse
import time

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

parser = argparse.ArgumentParser("ODE demo")
parser.add_argument("--method", choices=["euler", "rk4"], default="rk4")
parser.add_argument("--data_size", type=int, default=200)
parser.add_argument("--batch_time", type=int, default=6)
parser.add_argument("--batch_size", type=int, default=16)
parser.add_argument("--niters", type=int, default=120)
parser.add_argument("--test_freq", type=int, default=20)
args = parser.parse_args()
torch.manual_seed(0)
np.random.seed(0)


def rk4_step(func, t, dt, y):
    k1 = func(t, y)
    k2 = func(t + dt / 2, y + dt * k1 / 2)
    k3 = func(t + dt / 2, y + dt * k2 / 2)
    k4 = func(t + dt, y + dt * k3)
    return (k1 + 2 * k2 + 2 * k3 + k4) * dt / 6


def euler_step(func, t, dt, y):
    return func(t, y) * dt


def odeint(func, y0, t, method=args.method):
    step = {"euler": euler_step, "rk4": rk4_step}[method]
    solution = [y0]
    for t0, t1 in zip(t[:-1], t[1:], strict=True):
        solution.append(solution[-1] + step(func, t0, t1 - t0, solution[-1]))
    return torch.stack(solution, dim=0)


class Lambda(nn.Module):
    """The true dynamics: a cubic spiral that turns inwards."""

    def forward(self, t, y):
        return torch.mm(y**3, true_A)


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 50), nn.Tanh(), nn.Linear(50, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y**3)


class RunningAverageMeter:
    def __init__(self, momentum=0.99):
        self.momentum = momentum
        self.val, self.avg = None, 0

    def update(self, val):
        self.avg = val if self.val is None else self.avg * self.momentum + val * (1 - self.momentum)
        self.val = val


true_y0 = torch.tensor([[2.0, 0.0]])
t = torch.linspace(0.0, 8.0, args.data_size)
true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
with torch.no_grad():
    true_y = odeint(Lambda(), true_y0, t, method="rk4")
print("truth ends at", true_y[-1].numpy().round(4))


def get_batch():
    choices = np.random.choice(
        np.arange(args.data_size - args.batch_time, dtype=np.int64), args.batch_size, replace=False
    )
    s = torch.from_numpy(choices)
    batch_y0 = true_y[s]
    batch_t = t[: args.batch_time]
    batch_y = torch.stack([true_y[s + i] for i in range(args.batch_time)], dim=0)
    return batch_y0, batch_t, batch_y


func = ODEFunc()
optimizer = optim.RMSprop(func.parameters(), lr=1e-3)
loss_meter = RunningAverageMeter(0.97)
end = time.time()
for itr in range(1, args.niters + 1):
    optimizer.zero_grad()
    batch_y0, batch_t, batch_y = get_batch()
    pred_y = odeint(func, batch_y0, batch_t)
    loss = torch.mean(torch.abs(pred_y - batch_y))
    loss.backward()
    optimizer.step()
    loss_meter.update(loss.item())
    if itr % args.test_freq == 0:
        with torch.no_grad():
            pred_y = odeint(func, true_y0, t)
            loss = torch.mean(torch.abs(pred_y - true_y))
            print(
                f"Iter {itr:04d} | Total Loss {loss.item():.6f} | "
                f"average {loss_meter.avg:.6f} | {time.time() - end:.2f} s"
            )
