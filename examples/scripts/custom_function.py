"""New operations by autograd.Function: a Legendre polynomial, a straight-through estimator, reversed gradients."""

import math

import torch
import torch.nn as nn
from torch.autograd import Function, gradcheck


class LegendrePolynomial3(torch.autograd.Function):
    """P3(x) = (5 x^3 - 3 x) / 2."""

    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


class BinarizeSTE(Function):
    """The sign of the input; its gradient passes straight through where the input is small."""

    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.sign()

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input.abs() > 1] = 0
        return grad_input


class ReverseLayerF(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.alpha, None


class LinearFunction(Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


torch.manual_seed(0)
inputs = (
    torch.randn(4, 3, dtype=torch.double, requires_grad=True),
    torch.randn(5, 3, dtype=torch.double, requires_grad=True),
)
print("gradcheck of the linear function:", gradcheck(LinearFunction.apply, inputs, eps=1e-6, atol=1e-4))
points = torch.linspace(-1, 1, 5, dtype=torch.double, requires_grad=True)
print("gradcheck of the polynomial:", gradcheck(LegendrePolynomial3.apply, (points,)))

# y = a + b P3(c + d x) fitted to a sine wave
x = torch.linspace(-math.pi, math.pi, 400)
y = torch.sin(x)
a = torch.full((), 0.0, requires_grad=True)
b = torch.full((), -1.0, requires_grad=True)
c = torch.full((), 0.0, requires_grad=True)
d = torch.full((), 0.3, requires_grad=True)
learning_rate = 5e-6
for t in range(500):
    P3 = LegendrePolynomial3.apply
    y_pred = a + b * P3(c + d * x)
    loss = (y_pred - y).pow(2).sum()
    if t % 100 == 99:
        print(t, f"{loss.item():.5f}")
    loss.backward()
    with torch.no_grad():
        a -= learning_rate * a.grad
        b -= learning_rate * b.grad
        c -= learning_rate * c.grad
        d -= learning_rate * d.grad
        a.grad = None
        b.grad = None
        c.grad = None
        d.grad = None
print(f"Result: y = {a.item():.5f} + {b.item():.5f} * P3({c.item():.5f} + {d.item():.5f} x)")


class BinaryNet(nn.Module):
    """A hidden layer of signs, a head for the task, and an adversary that must not see the domain."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 32)
        self.weight = nn.Parameter(torch.empty(2, 32).normal_(0, 0.1))
        self.bias = nn.Parameter(torch.zeros(2))
        self.domain = nn.Linear(32, 2)

    def forward(self, x, alpha):
        h = BinarizeSTE.apply(self.hidden(x))
        return LinearFunction.apply(h, self.weight, self.bias), self.domain(ReverseLayerF.apply(h, alpha))


net = BinaryNet()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
data = torch.randn(256, 6)
label = (data[:, :3].sum(1) > 0).long()
domain = (data[:, 5] > 0).long()
for step in range(100):
    alpha = 2.0 / (1.0 + math.exp(-10 * step / 100)) - 1
    class_output, domain_output = net(data, alpha)
    err_label, err_domain = criterion(class_output, label), criterion(domain_output, domain)
    optimizer.zero_grad()
    (err_label + err_domain).backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} label {err_label.item():.5f} domain {err_domain.item():.5f}")
