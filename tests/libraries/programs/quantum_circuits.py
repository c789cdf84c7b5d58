"""pennylane: circuits as functions of tensors: gradients through them, by shifted parameters, and a layer in a net."""

import pennylane as qml
import torch

torch.manual_seed(0)
device = qml.device("default.qubit", wires=2)


@qml.qnode(device, interface="torch", diff_method="backprop")
def entangled(x, weights):
    """Return an expectation and the probabilities of a wire."""
    qml.AngleEmbedding(x, wires=range(2))
    qml.StronglyEntanglingLayers(weights, wires=range(2))
    return qml.expval(qml.PauliZ(0)), qml.probs(wires=1)


@qml.qnode(device, interface="torch", diff_method="parameter-shift")
def shifted(angles):
    """Return an expectation whose gradient is measured."""
    qml.RX(angles[0], 0)
    qml.RY(angles[1], 1)
    qml.CNOT([0, 1])
    return qml.expval(qml.PauliZ(1))


@qml.qnode(device, interface="torch")
def layer(inputs, weights):
    """Return an expectation of each wire."""
    qml.AngleEmbedding(inputs, wires=range(2))
    qml.BasicEntanglerLayers(weights, wires=range(2))
    return [qml.expval(qml.PauliZ(wire)) for wire in range(2)]


weights = torch.randn(2, 2, 3, requires_grad=True, dtype=torch.double)
x = torch.randn(2, dtype=torch.double)
value, probabilities = entangled(x, weights)
(value + probabilities[0]).backward()
print(value, probabilities)
print(weights.grad)
print(torch.autograd.functional.hessian(lambda x: entangled(x, weights.detach())[0], x))

angles = torch.tensor([0.3, 0.4], requires_grad=True)
value = shifted(angles)
value.backward()
print(value, angles.grad)

net = torch.nn.Sequential(
    torch.nn.Linear(3, 2), qml.qnn.TorchLayer(layer, {"weights": (2, 2)}), torch.nn.Linear(2, 1)
)  # fmt: skip
optimizer = torch.optim.Adam(net.parameters(), 0.05)
samples = torch.randn(5, 3)
for step in range(3):
    loss = net(samples).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.5f}")
