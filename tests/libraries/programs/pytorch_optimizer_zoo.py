"""pytorch_optimizer: some forty optimizers by name, wrappers of them, schedulers and losses."""

import torch
from pytorch_optimizer import (
    SAM,
    BCEFocalLoss,
    BiTemperedLogisticLoss,
    CosineAnnealingWarmupRestarts,
    DiceLoss,
    JaccardLoss,
    LDAMLoss,
    Lookahead,
    LovaszHingeLoss,
    REXScheduler,
    SoftF1Loss,
    TverskyLoss,
    get_supported_optimizers,
    load_optimizer,
)
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(32, 8), torch.randint(0, 4, (32,))


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))


def train(model, optimizer, steps=4):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.5f}")
    return losses


names = """\
AdaBelief AdaBound AdaFactor AdaNorm AdaPNM AdEMAMix ADOPT AdaMod AdamP AdaSmooth Adai Adalite Adan AdaShift AggMo
Aida Amos ApolloDQN AvaGrad CAME DiffGrad EXAdam FAdam FTRL Fromage Gravity Grams Kate LARS Lamb LaProp Lion MADGRAD
MARS MSVAG NovoGrad Muon PAdam PID QHAdam QHM Ranger Ranger21 ScheduleFreeAdamW SOAP SophiaH StableAdamW SWATS Shampoo
Tiger Yogi
"""
print(len(get_supported_optimizers("*adam*")) > 10, str(load_optimizer("adamp")))
for name in names.split():
    model = network()
    make = load_optimizer(name.lower())
    extra = {"Ranger21": {"num_iterations": 10}, "Muon": {}}.get(name, {})
    if name == "Muon":
        matrices = [p for p in model.parameters() if p.ndim == 2]
        others = [p for p in model.parameters() if p.ndim != 2]
        optimizer = make([{"params": matrices, "use_muon": True}, {"params": others, "use_muon": False}], lr=1e-2)
    else:
        optimizer = make(model.parameters(), lr=1e-2, **extra)
    if name == "SophiaH":
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward(create_graph=True)
        optimizer.step()
        optimizer.zero_grad()
        print(name, f"{model[0].weight.norm().item():.5f}")
        continue
    print(name, *train(model, optimizer))

model = network()
optimizer = SAM(model.parameters(), load_optimizer("lion"), lr=1e-3, rho=0.1, adaptive=True)
for _ in range(3):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.first_step(zero_grad=True)
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.second_step(zero_grad=True)
print(f"SAM {loss.item():.5f}")
model = network()
optimizer = Lookahead(load_optimizer("yogi")(model.parameters(), lr=1e-2), k=2, alpha=0.5)
print("Lookahead", *train(model, optimizer))

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
restarts = CosineAnnealingWarmupRestarts(
    optimizer, first_cycle_steps=6, max_lr=0.1, min_lr=0.01, warmup_steps=2, gamma=0.5
)
rates = []
for _ in range(8):
    optimizer.step()
    restarts.step()
    rates.append(round(optimizer.param_groups[0]["lr"], 5))
print(rates)
rex = REXScheduler(torch.optim.SGD(model.parameters(), lr=0.1), total_steps=6, max_lr=0.1, min_lr=0.0)
print([round(rex.step(), 5) for _ in range(6)])

logits = torch.randn(4, 3, 6, 6, requires_grad=True)
masks = torch.randint(0, 3, (4, 6, 6))
binary = (torch.rand(4, 1, 6, 6) > 0.5).float()
for name, loss, first, second in [
    ("dice", DiceLoss(mode="multiclass"), logits, masks),
    ("jaccard", JaccardLoss(mode="multiclass"), logits, masks),
    ("tversky", TverskyLoss(), logits[:, :1], binary),
    ("focal", BCEFocalLoss(), logits[:, :1].sigmoid(), binary),
    ("f1", SoftF1Loss(), logits[:, :1].sigmoid(), binary),
    ("lovasz", LovaszHingeLoss(), logits[:, 0], binary[:, 0]),
    (
        "bitempered",
        BiTemperedLogisticLoss(t1=0.8, t2=1.4, label_smooth=0.1),
        logits[:, :, 0, 0],
        torch.eye(3)[masks[:, 0, 0]],
    ),
    ("ldam", LDAMLoss(num_class_list=[10, 5, 2], max_m=0.5), logits[:, :, 0, 0], masks[:, 0, 0]),
]:
    logits.grad = None
    value = loss(first, second)
    value.backward()
    print(name, f"{value.item():.5f} {logits.grad.norm().item():.5f}")
