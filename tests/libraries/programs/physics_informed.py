"""DeepXDE: networks that satisfy differential equations, an inverse problem, and an operator learnt by a DeepONet."""

import os

os.environ["DDE_BACKEND"] = "pytorch"
import deepxde as dde
import numpy as np

dde.config.set_random_seed(0)


def heat(x, y):
    return dde.grad.jacobian(y, x, i=0, j=1) - 0.4 * dde.grad.hessian(y, x, i=0, j=0)


place = dde.geometry.GeometryXTime(dde.geometry.Interval(0, 1), dde.geometry.TimeDomain(0, 1))
ends = dde.icbc.DirichletBC(place, lambda x: 0, lambda _, on_boundary: on_boundary)
start = dde.icbc.IC(place, lambda x: np.sin(np.pi * x[:, :1]), lambda _, on_initial: on_initial)
data = dde.data.TimePDE(place, heat, [ends, start], num_domain=60, num_boundary=10, num_initial=10, num_test=50)
model = dde.Model(data, dde.nn.FNN([2] + [16] * 2 + [1], "tanh", "Glorot normal"))
model.compile("adam", lr=1e-2, verbose=0)
losses, state = model.train(iterations=20, display_every=10, verbose=0)
print([np.round(loss, 4).tolist() for loss in losses.loss_train], state.best_step)
print(
    model.predict(np.array([[0.3, 0.2], [0.5, 0.5]])).round(4), model.predict(data.test_x[:2], operator=heat).round(3)
)

rate = dde.Variable(1.0)
line = dde.geometry.TimeDomain(0, 2)
times = np.linspace(0, 2, 9)[:, None]
seen = dde.icbc.PointSetBC(times, np.exp(-0.5 * times))
data = dde.data.PDE(
    line, lambda t, y: dde.grad.jacobian(y, t) + rate * y, [seen], num_domain=20, num_boundary=2, anchors=times
)
model = dde.Model(data, dde.nn.PFNN([1, [8], [8], 1], "swish", "He normal"))
model.compile("adam", lr=1e-2, external_trainable_variables=rate, loss_weights=[1, 10], verbose=0)
losses, _ = model.train(iterations=30, display_every=15, verbose=0)
print([np.round(loss, 4).tolist() for loss in losses.loss_train], f"{rate.item():.4f}")

space = dde.data.GRF(length_scale=0.3, N=20)
grid = np.linspace(0, 1, 10)[:, None]
functions = space.eval_batch(space.random(12), grid).astype(np.float32)
sums = np.cumsum(functions, axis=1) / 10
data = dde.data.TripleCartesianProd(
    (functions[:8], grid.astype(np.float32)), sums[:8], (functions[8:], grid.astype(np.float32)), sums[8:]
)
net = dde.nn.DeepONetCartesianProd([10, 12, 12], [1, 12, 12], "relu", "Glorot normal")
model = dde.Model(data, net)
model.compile("adam", lr=5e-3, metrics=["mean l2 relative error"], verbose=0)
losses, _ = model.train(iterations=20, display_every=20, verbose=0)
print([np.round(loss, 4).tolist() for loss in losses.loss_train], np.round(losses.metrics_test[-1], 3))
