"""pytorch-metric-learning: losses with miners, distances, reducers, proxies and a memory; trained, then evaluated."""

import warnings

import torch
from pytorch_metric_learning import distances, losses, miners, reducers, regularizers, samplers
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)
labels = torch.arange(48) % 4
points = torch.randn(4, 10)[labels] + 0.7 * torch.randn(48, 10)
trunk = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 6))
start = {name: value.clone() for name, value in trunk.state_dict().items()}
cosine = distances.CosineSimilarity()
own = {
    "contrastive": losses.ContrastiveLoss(),
    "triplet": losses.TripletMarginLoss(0.2, distance=cosine, reducer=reducers.ThresholdReducer(low=0)),
    "multi similarity": losses.MultiSimilarityLoss(2, 50, base=0.5),
    "nt-xent": losses.NTXentLoss(0.1),
    "supervised": losses.SupConLoss(0.1),
    "circle": losses.CircleLoss(0.4, 40, embedding_regularizer=regularizers.LpRegularizer()),
    "n pairs": losses.NPairsLoss(),
    "angular": losses.AngularLoss(),
}
for name, loss_function in own.items():
    trunk.load_state_dict(start)
    trunk.zero_grad()
    loss = loss_function(trunk(points), labels)
    loss.backward()
    print(f"{name} {loss:.4f} gradient {trunk[0].weight.grad.norm():.4f}")

proxies = {
    "arc face": losses.ArcFaceLoss(4, 6, margin=20.0, scale=16),
    "cos face": losses.CosFaceLoss(4, 6),
    "proxy nca": losses.ProxyNCALoss(4, 6),
    "proxy anchor": losses.ProxyAnchorLoss(4, 6),
    "normalized softmax": losses.NormalizedSoftmaxLoss(4, 6),
}
for name, loss_function in proxies.items():
    trunk.load_state_dict(start)
    optimizer = torch.optim.Adam([*trunk.parameters(), *loss_function.parameters()], lr=5e-3)
    for _ in range(3):
        optimizer.zero_grad()
        loss = loss_function(trunk(points), labels)
        loss.backward()
        optimizer.step()
    print(f"{name} {loss:.4f}")

embeddings = trunk(points).detach()
for miner in (
    miners.MultiSimilarityMiner(0.1), miners.TripletMarginMiner(0.2, type_of_triplets="semihard"),
    miners.BatchHardMiner(), miners.PairMarginMiner(), miners.AngularMiner(20), miners.HDCMiner(0.3),
    miners.BatchEasyHardMiner(), miners.UniformHistogramMiner(20),
):  # fmt: skip
    found = miner(embeddings, labels)
    print(type(miner).__name__, [len(part) for part in found])

trunk.load_state_dict(start)
memory = losses.CrossBatchMemory(losses.ContrastiveLoss(), 6, memory_size=32, miner=miners.MultiSimilarityMiner())
triplets, miner = losses.TripletMarginLoss(), miners.TripletMarginMiner(0.2, type_of_triplets="hard")
optimizer = torch.optim.Adam(trunk.parameters(), lr=1e-2)
sampler = samplers.MPerClassSampler(labels, m=4, length_before_new_iter=48)
print(len(list(sampler)))
for step in range(6):
    batch = torch.arange(16) + 16 * (step % 3)
    optimizer.zero_grad()
    embedded = trunk(points[batch])
    loss = memory(embedded, labels[batch]) + triplets(embedded, labels[batch], miner(embedded, labels[batch]))
    loss.backward()
    optimizer.step()
    print(f"step {step} {loss:.4f} triplets {miner.num_triplets}")
augmented = losses.SelfSupervisedLoss(losses.NTXentLoss(0.2))
print(f"two views {augmented(trunk(points), trunk(points + 0.1)):.4f}")
print(cosine(trunk(points[:2]), trunk(points[2:4])))
