"""snntorch: leaky, synaptic and recurrent neurons trained through surrogate gradients on trains of spikes."""

import snntorch as snn
import snntorch.functional as SF
import torch
from snntorch import backprop, spikegen, surrogate, utils
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.rand(24, 16)
y = (x[:, :8].sum(1) > x[:, 8:].sum(1)).long()
print("rate", spikegen.rate(x, num_steps=5).sum((1, 2))[:6].tolist())
print("latency", spikegen.latency(x, num_steps=5, normalize=True, linear=True).sum((1, 2)).tolist())
print("delta", spikegen.delta(x, threshold=0.3).sum().item(), tuple(spikegen.targets_convert(y, 2, code="rate").shape))

current = torch.linspace(0, 0.6, 10)[:, None]
for name, neuron in {
    "leaky": snn.Leaky(beta=0.8),
    "lapicque": snn.Lapicque(R=5, C=1e-3, time_step=1e-3),
    "synaptic": snn.Synaptic(alpha=0.9, beta=0.8),
    "alpha": snn.Alpha(alpha=0.9, beta=0.8),
    "recurrent": snn.RLeaky(beta=0.8, all_to_all=False),
    "zero": snn.Leaky(0.8, reset_mechanism="zero"),
}.items():
    states = {"leaky": 1, "lapicque": 1, "synaptic": 2, "alpha": 3, "recurrent": 2, "zero": 1}[name]
    state = neuron.init_leaky() if name in ("leaky", "zero") else neuron.reset_mem()
    state = state if isinstance(state, tuple) else (state,)
    spikes = []
    for step in range(10):
        spike, *state = neuron(current[step], *state)
        spikes.append(spike.item())
    print(name, spikes, round(state[-1].item(), 4), states == len(state))


class Net(nn.Module):
    def __init__(self, gradient):
        super().__init__()
        self.fc1, self.lif1 = nn.Linear(16, 24), snn.Leaky(beta=0.9, spike_grad=gradient, learn_beta=True)
        self.fc2, self.lif2 = nn.Linear(24, 2), snn.Leaky(beta=0.9, spike_grad=gradient, threshold=0.8)

    def forward(self, spikes):
        first, second = self.lif1.init_leaky(), self.lif2.init_leaky()
        out, voltages = [], []
        for step in spikes:
            spike, first = self.lif1(self.fc1(step), first)
            spike, second = self.lif2(self.fc2(spike), second)
            out.append(spike)
            voltages.append(second)
        return torch.stack(out), torch.stack(voltages)


losses = {
    "rate": (SF.ce_rate_loss(), surrogate.fast_sigmoid(slope=25)),
    "count": (SF.ce_count_loss(), surrogate.atan()),
    "mse": (SF.mse_count_loss(correct_rate=0.8, incorrect_rate=0.2), surrogate.sigmoid()),
}
for name, (measure, gradient) in losses.items():
    torch.manual_seed(1)
    model = Net(gradient)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    for _ in range(6):
        spikes, voltages = model(spikegen.rate(x, num_steps=8))
        loss = measure(spikes, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{name} {loss.item():.4f} accuracy {SF.accuracy_rate(spikes, y):.3f} beta {model.lif1.beta.item():.4f}")

torch.manual_seed(2)
lazy = nn.Sequential(
    nn.Linear(16, 12),
    snn.Leaky(beta=0.8, init_hidden=True),
    nn.Linear(12, 2),
    snn.Leaky(beta=0.8, init_hidden=True, output=True),
)
loader = DataLoader(TensorDataset(x, y), batch_size=8)
optimizer = torch.optim.Adam(lazy.parameters(), lr=1e-2)
for epoch in range(2):
    loss = backprop.BPTT(lazy, loader, optimizer=optimizer, criterion=SF.ce_rate_loss(), num_steps=5, time_var=False)
    print(f"bptt {epoch} {loss.item():.4f}")
utils.reset(lazy)
print(lazy)
