"""ema-pytorch, lion-pytorch: Lion's steps, an average of the weights that follows them, saved and loaded; a closure."""

import io

import torch
from ema_pytorch import EMA
from lion_pytorch import Lion
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16, bias=False), nn.BatchNorm1d(16), nn.GELU(), nn.Linear(16, 3))
ema = EMA(model, beta=0.9, update_after_step=2, update_every=2, include_online_model=False)
optimizer = Lion([{"params": model[0].parameters(), "lr": 3e-3}, {"params": model[1:].parameters()}], lr=1e-3,
                 betas=(0.9, 0.98), weight_decay=1e-2)  # fmt: skip
x, y = torch.randn(32, 6), torch.randint(0, 3, (32,))
for step in range(10):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    ema.update()
    if step % 3 == 0:
        print(f"step {step} loss {loss.item():.4f} decay {ema.get_current_decay():.4f}")
model.eval()
ema.ema_model.eval()
with torch.no_grad():
    print("online ", model(x)[0].tolist())
    print("average", ema(x)[0].tolist())
print("steps", ema.step.item(), "initted", ema.initted.item())

file = io.BytesIO()
torch.save({"ema": ema.state_dict(), "optimizer": optimizer.state_dict()}, file)
file.seek(0)
saved = torch.load(file)
again = EMA(model, beta=0.9, update_after_step=2, update_every=2, include_online_model=False)
again.ema_model.eval()
again.load_state_dict(saved["ema"])
print("loaded", torch.equal(again(x), ema(x)), len(saved["ema"]))
optimizer.load_state_dict(saved["optimizer"])
print("moments", f"{sum(state['exp_avg'].abs().sum() for state in optimizer.state.values()).item():.5f}")
ema.copy_params_from_ema_to_model()
with torch.no_grad():
    print("copied", torch.allclose(model(x), ema(x)))

closed = Lion(model.parameters(), lr=1e-3, weight_decay=0.1)
for step in range(3):

    def closure() -> torch.Tensor:
        closed.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        return loss

    print(f"closed {step} loss {closed.step(closure).item():.4f}")
