"""Model-agnostic meta-learning of sine waves: an outer gradient through an inner gradient step."""

import argparse
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class SineTask:
    def __init__(self, rng):
        self.amplitude = rng.uniform(0.1, 5.0)
        self.phase = rng.uniform(0, np.pi)
        self.rng = rng

    def sample(self, count):
        x = self.rng.uniform(-5, 5, (count, 1)).astype(np.float32)
        y = (self.amplitude * np.sin(x + self.phase)).astype(np.float32)
        return torch.from_numpy(x), torch.from_numpy(y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(1, 40)
        self.fc2 = nn.Linear(40, 40)
        self.fc3 = nn.Linear(40, 1)

    def forward(self, x, params=None):
        if params is None:
            params = OrderedDict(self.named_parameters())
        x = torch.tanh(F.linear(x, params["fc1.weight"], params["fc1.bias"]))
        x = torch.tanh(F.linear(x, params["fc2.weight"], params["fc2.bias"]))
        return F.linear(x, params["fc3.weight"], params["fc3.bias"])


def adapt(model, x, y, lr, steps, first_order=False):
    """The weights after a few steps of gradient descent on a task's support set, still attached to the initial ones."""
    params = OrderedDict(model.named_parameters())
    for _ in range(steps):
        loss = F.mse_loss(model(x, params), y)
        grads = torch.autograd.grad(loss, params.values(), create_graph=not first_order)
        params = OrderedDict((name, p - lr * g) for (name, p), g in zip(params.items(), grads, strict=True))
    return params


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--meta-lr", type=float, default=1e-3)
    parser.add_argument("--inner-lr", type=float, default=0.02)
    parser.add_argument("--inner-steps", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--tasks", type=int, default=4)
    parser.add_argument("--shots", type=int, default=10)
    args = parser.parse_args()
    torch.manual_seed(0)
    rng = np.random.RandomState(0)
    model = Net()
    meta_optimizer = torch.optim.Adam(model.parameters(), lr=args.meta_lr)

    for iteration in range(1, args.iterations + 1):
        meta_loss = 0.0
        for _ in range(args.tasks):
            task = SineTask(rng)
            x_support, y_support = task.sample(args.shots)
            x_query, y_query = task.sample(args.shots)
            fast = adapt(model, x_support, y_support, args.inner_lr, args.inner_steps)
            meta_loss = meta_loss + F.mse_loss(model(x_query, fast), y_query)
        meta_loss = meta_loss / args.tasks
        meta_optimizer.zero_grad()
        meta_loss.backward()
        meta_optimizer.step()
        if iteration % 20 == 0:
            print(f"iteration {iteration}: meta loss {meta_loss.item():.6f}")

    task = SineTask(rng)
    x, y = task.sample(args.shots)
    x_test, y_test = task.sample(100)
    for steps in (0, 1, 5):
        fast = adapt(model, x, y, args.inner_lr, steps, first_order=True)
        print(f"new task after {steps} steps: loss {F.mse_loss(model(x_test, fast), y_test).item():.6f}")


if __name__ == "__main__":
    main()
