"""A physics-informed network for Burgers' equation: u_t + u u_x = nu u_xx, by derivatives of derivatives."""

from collections import OrderedDict

import numpy as np
import torch

device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
np.random.seed(1234)
torch.manual_seed(1234)


class DNN(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.depth = len(layers) - 1
        layer_list = []
        for i in range(self.depth - 1):
            layer_list.append((f"layer_{i}", torch.nn.Linear(layers[i], layers[i + 1])))
            layer_list.append((f"activation_{i}", torch.nn.Tanh()))
        layer_list.append((f"layer_{self.depth - 1}", torch.nn.Linear(layers[-2], layers[-1])))
        self.layers = torch.nn.Sequential(OrderedDict(layer_list))

    def forward(self, x):
        return self.layers(x)


class PhysicsInformedNN:
    def __init__(self, X_u, u, X_f, layers, nu):
        self.x_u = torch.tensor(X_u[:, 0:1], requires_grad=True).float().to(device)
        self.t_u = torch.tensor(X_u[:, 1:2], requires_grad=True).float().to(device)
        self.x_f = torch.tensor(X_f[:, 0:1], requires_grad=True).float().to(device)
        self.t_f = torch.tensor(X_f[:, 1:2], requires_grad=True).float().to(device)
        self.u = torch.tensor(u).float().to(device)
        self.nu = nu
        self.dnn = DNN(layers).to(device)
        self.optimizer = torch.optim.LBFGS(
            self.dnn.parameters(),
            lr=1.0,
            max_iter=40,
            max_eval=60,
            history_size=50,
            tolerance_grad=1e-5,
            tolerance_change=1.0 * np.finfo(float).eps,
            line_search_fn="strong_wolfe",
        )
        self.iter = 0

    def net_u(self, x, t):
        return self.dnn(torch.cat([x, t], dim=1))

    def net_f(self, x, t):
        """The residual of the equation."""
        u = self.net_u(x, t)
        ones = torch.ones_like(u)
        u_t = torch.autograd.grad(u, t, grad_outputs=ones, retain_graph=True, create_graph=True)[0]
        u_x = torch.autograd.grad(u, x, grad_outputs=ones, retain_graph=True, create_graph=True)[0]
        u_xx = torch.autograd.grad(u_x, x, grad_outputs=ones, retain_graph=True, create_graph=True)[0]
        return u_t + u * u_x - self.nu * u_xx

    def losses(self):
        loss_u = torch.mean((self.u - self.net_u(self.x_u, self.t_u)) ** 2)
        loss_f = torch.mean(self.net_f(self.x_f, self.t_f) ** 2)
        return loss_u, loss_f

    def loss_func(self):
        self.optimizer.zero_grad()
        loss_u, loss_f = self.losses()
        loss = loss_u + loss_f
        loss.backward()
        self.iter += 1
        if self.iter % 10 == 0:
            print(
                f"Iter {self.iter}, Loss: {loss.item():.5e}, Loss_u: {loss_u.item():.5e}, Loss_f: {loss_f.item():.5e}"
            )
        return loss

    def train(self, adam_steps):
        self.dnn.train()
        adam = torch.optim.Adam(self.dnn.parameters(), lr=2e-3)
        for step in range(adam_steps):
            adam.zero_grad()
            loss_u, loss_f = self.losses()
            loss = loss_u + loss_f
            loss.backward()
            adam.step()
            if step % 25 == 0:
                print(f"Adam {step}, Loss: {loss.item():.5e}")
        self.optimizer.step(self.loss_func)

    def predict(self, X):
        x = torch.tensor(X[:, 0:1], requires_grad=True).float().to(device)
        t = torch.tensor(X[:, 1:2], requires_grad=True).float().to(device)
        self.dnn.eval()
        return self.net_u(x, t).detach().cpu().numpy(), self.net_f(x, t).detach().cpu().numpy()


if __name__ == "__main__":
    # u(x, 0) = -sin(pi x) and u(-1, t) = u(1, t) = 0, and points inside where the equation must hold
    x0 = np.random.uniform(-1, 1, (40, 1))
    initial = np.hstack([x0, np.zeros_like(x0)]), -np.sin(np.pi * x0)
    tb = np.random.uniform(0, 1, (40, 1))
    sides = np.hstack([np.where(np.arange(40)[:, None] % 2, 1.0, -1.0), tb]), np.zeros((40, 1))
    X_u, u = np.vstack([initial[0], sides[0]]), np.vstack([initial[1], sides[1]])
    X_f = np.hstack([np.random.uniform(-1, 1, (400, 1)), np.random.uniform(0, 1, (400, 1))])

    model = PhysicsInformedNN(X_u, u, X_f, [2, 20, 20, 20, 1], nu=0.01 / np.pi)
    model.train(adam_steps=150)
    u_pred, f_pred = model.predict(np.array([[0.5, 0.25], [-0.5, 0.25], [0.25, 0.5]]))
    print("u:", np.round(u_pred.ravel(), 3), "residual:", np.round(np.abs(f_pred).max(), 2))
