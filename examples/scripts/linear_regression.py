"""Linear and polynomial regression from raw tensors: the update written by hand in its usual spellings."""

import math

import torch

dtype = torch.float
device = torch.device("cpu")
torch.manual_seed(0)

# y = 2 a - 3.4 b + 4.2, with noise
true_w, true_b = torch.tensor([2, -3.4]), 4.2
X = torch.normal(0, 1, (500, 2))
y = torch.matmul(X, true_w) + true_b
y += torch.normal(0, 0.01, y.shape)
y = y.reshape((-1, 1))

w = torch.normal(0, 0.01, size=(2, 1), requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr, batch_size = 0.03, 25


def data_iter(batch_size, features, labels):
    order = torch.randperm(len(features)).tolist()
    for i in range(0, len(features), batch_size):
        batch_indices = torch.tensor(order[i : min(i + batch_size, len(features))])
        yield features[batch_indices], labels[batch_indices]


def squared_loss(y_hat, y):
    return (y_hat - y.reshape(y_hat.shape)) ** 2 / 2


def sgd(params, lr, batch_size):
    with torch.no_grad():
        for param in params:
            param -= lr * param.grad / batch_size
            param.grad.zero_()


for epoch in range(5):
    for features, targets in data_iter(batch_size, X, y):
        loss = squared_loss(torch.matmul(features, w) + b, targets)
        loss.sum().backward()
        sgd([w, b], lr, batch_size)
    with torch.no_grad():
        train_l = squared_loss(torch.matmul(X, w) + b, y)
        print(f"epoch {epoch + 1}, loss {float(train_l.mean()):f}")
print(f"error in estimating w: {true_w - w.reshape(true_w.shape)}")
print(f"error in estimating b: {true_b - b}")

# a cubic through a sine wave, by `.data`
x = torch.linspace(-math.pi, math.pi, 500, device=device, dtype=dtype)
y = torch.sin(x)
a, b, c, d = (torch.randn((), device=device, dtype=dtype, requires_grad=True) for _ in range(4))
learning_rate = 1e-6
for t in range(600):
    y_pred = a + b * x + c * x**2 + d * x**3
    loss = (y_pred - y).pow(2).sum()
    if t % 100 == 99:
        print(t, f"{loss.item():.4f}")
    loss.backward()
    for parameter in (a, b, c, d):
        parameter.data -= learning_rate * parameter.grad.data
        parameter.grad = None
print(f"Result: y = {a.item():.5f} + {b.item():.5f} x + {c.item():.5f} x^2 + {d.item():.5f} x^3")

# the same without autograd: the gradient by hand
x, y = torch.randn(64, 20), torch.randn(64, 5)
w1, w2 = torch.randn(20, 30), torch.randn(30, 5)
for t in range(200):
    h = x.mm(w1)
    h_relu = h.clamp(min=0)
    y_pred = h_relu.mm(w2)
    loss = (y_pred - y).pow(2).sum().item()
    if t % 40 == 39:
        print(t, f"{loss:.3f}")
    grad_y_pred = 2.0 * (y_pred - y)
    grad_w2 = h_relu.t().mm(grad_y_pred)
    grad_h = grad_y_pred.mm(w2.t())
    grad_h[h < 0] = 0
    w1 -= 1e-5 * x.t().mm(grad_h)
    w2 -= 1e-5 * grad_w2
