"""norse, spikingjelly: neurons that spike, in sequences and step by step, trained through surrogate gradients."""

import norse.torch as norse
import torch
from spikingjelly.activation_based import encoding, functional, layer, neuron, surrogate

torch.manual_seed(0)
times, labels = torch.rand(12, 8, 6), torch.arange(8) % 3
times[:, labels == 0, :2] += 1
times[:, labels == 1, 2:4] += 1
model = norse.SequentialState(
    torch.nn.Linear(6, 16), norse.LIFCell(norse.LIFParameters(method="super", alpha=torch.tensor(50.0)), dt=0.01),
    torch.nn.Linear(16, 3), norse.LICell(dt=0.01),
)  # fmt: skip
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(4):
    state, voltages = None, []
    for inputs in times:
        voltage, state = model(3 * inputs, state)
        voltages.append(voltage)
    loss = torch.nn.functional.cross_entropy(torch.stack(voltages).amax(0), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f}", state[1].v.sum().detach())
for cell in (
    norse.LIFRecurrent(6, 5),
    norse.LSNNRecurrent(6, 5),
    norse.LIFAdEx(),
    norse.Izhikevich(norse.tonic_spiking),
):
    spikes, state = cell(20 * times)
    print(type(cell).__name__, spikes.shape, spikes.sum().detach(), state.v.sum().detach())
print(
    norse.PoissonEncoder(5, f_max=500)(torch.tensor([0.1, 0.9])).shape,
    norse.ConstantCurrentLIFEncoder(20)(torch.tensor([2.0, 5.0])).sum(0),
)

network = torch.nn.Sequential(
    layer.Linear(6, 16), neuron.LIFNode(tau=2.0, surrogate_function=surrogate.ATan(), detach_reset=True),
    layer.Linear(16, 3), neuron.ParametricLIFNode(surrogate_function=surrogate.Sigmoid(), v_reset=None),
)  # fmt: skip
optimizer = torch.optim.SGD(network.parameters(), lr=0.5, momentum=0.9)
for mode in ("m", "s"):
    functional.set_step_mode(network, mode)
    for _ in range(3):
        rates = (
            network(6 * times).mean(0)
            if mode == "m"
            else torch.stack([network(6 * inputs) for inputs in times]).mean(0)
        )
        loss = torch.nn.functional.mse_loss(rates, torch.nn.functional.one_hot(labels, 3).float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        functional.reset_net(network)
        print(mode, f"{loss.item():.5f}")
for node in (neuron.IFNode(), neuron.QIFNode(), neuron.EIFNode(), neuron.IzhikevichNode()):
    node.step_mode = "m"
    print(type(node).__name__, node(4 * times).sum().detach(), node.v.sum().detach())
torch.manual_seed(1)
print(encoding.PoissonEncoder()(times[0].clamp(max=1)).sum(), encoding.LatencyEncoder(5)(times[0].clamp(max=1)).sum())
