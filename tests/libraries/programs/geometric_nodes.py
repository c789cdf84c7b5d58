"""torch_geometric: convolutions trained on a graph of communities, kinds of nodes, aggregations, functions."""

import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import (
    GATConv,
    GCNConv,
    GINConv,
    HeteroConv,
    NNConv,
    RGCNConv,
    SAGEConv,
    Sequential,
)  # fmt: skip
from torch_geometric.nn.aggr import MultiAggregation, SoftmaxAggregation
from torch_geometric.transforms import AddSelfLoops, NormalizeFeatures, RandomNodeSplit
from torch_geometric.utils import (
    add_self_loops,
    degree,
    dense_to_sparse,
    k_hop_subgraph,
    negative_sampling,
    scatter,
    softmax,
    subgraph,
    to_dense_adj,
    to_dense_batch,
    to_undirected,
)  # fmt: skip

torch.manual_seed(0)


def show(name, numbers):
    print(name, *(f"{number:.4f}" for number in torch.as_tensor(numbers).detach().flatten().tolist()))


# Communities: three groups of ten nodes, more edges within than between.
group = torch.arange(30) // 10
chance = torch.where(group[:, None] == group, 0.4, 0.03)
edge_index = to_undirected(dense_to_sparse((torch.rand(30, 30) < chance).float().triu(1))[0])
data = Data(x=torch.rand(30, 8) + F.one_hot(group, 8), edge_index=edge_index, y=group)
data = NormalizeFeatures()(RandomNodeSplit(num_val=6, num_test=6)(data))
print(data)
print(data.num_nodes, data.num_edges, data.has_isolated_nodes(), data.is_undirected(), data.validate())


class Net(nn.Module):
    def __init__(self, conv):
        super().__init__()
        self.first, self.second = conv(8, 16), conv(16, 3)

    def forward(self, x, edges):
        return self.second(F.dropout(self.first(x, edges).relu(), training=self.training), edges)


convolutions = {
    "GCN": GCNConv, "SAGE": SAGEConv, "GAT": lambda a, b: GATConv(a, b, heads=2, concat=False),
    "GIN": lambda a, b: GINConv(nn.Linear(a, b), train_eps=True),
}  # fmt: skip
for name, convolution in convolutions.items():
    torch.manual_seed(1)
    model = Net(convolution)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for step in range(3):
        model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data.x, data.edge_index)[data.train_mask], data.y[data.train_mask])
        loss.backward()
        optimizer.step()
        print(name, step, f"{loss.item():.4f}")
    model.eval()
    found = model(data.x, data.edge_index).argmax(dim=1)
    print(name, int((found[data.test_mask] == data.y[data.test_mask]).sum()), model.first)


# Several kinds of nodes, relations and features of edges.
hetero = HeteroData()
hetero["user"].x, hetero["film"].x = torch.rand(4, 3), torch.rand(5, 2)
hetero["user", "rates", "film"].edge_index = torch.tensor([[0, 1, 2, 3, 0], [0, 1, 2, 3, 4]])
hetero["film", "rated by", "user"].edge_index = torch.tensor([[0, 1, 2, 3, 4], [0, 1, 2, 3, 0]])
both = HeteroConv({kind: SAGEConv((-1, -1), 4) for kind in hetero.edge_types}, aggr="sum")
print(hetero.metadata())
for name, found in both(hetero.x_dict, hetero.edge_index_dict).items():
    show(name, found.mean(0))
kinds = torch.arange(edge_index.size(1)) % 3
show("relations", RGCNConv(8, 4, num_relations=3, num_bases=2)(data.x, edge_index, kinds).mean(0))
nn_conv = NNConv(8, 4, nn.Linear(2, 32), aggr="mean")
show("of edges", nn_conv(data.x, edge_index, torch.rand(edge_index.size(1), 2)).mean(0))
chained = Sequential("x, edges", [(GCNConv(8, 8), "x, edges -> x"), nn.ReLU(), (GCNConv(8, 2), "x, edges -> x")])
show("chained", chained(data.x, edge_index).mean(0))
many = MultiAggregation(["mean", "std", "median", SoftmaxAggregation(learn=True)])
show("aggregated", many(data.x, group).mean(0)[:8])

# Functions.
show("degree", degree(edge_index[0], 30)[:6])
show("softmax", softmax(torch.arange(6.0), torch.tensor([0, 0, 1, 1, 1, 2])))
for reduce in ("sum", "mean", "max", "min", "mul"):
    show(reduce, scatter(torch.arange(1.0, 7.0), torch.tensor([0, 0, 1, 1, 3, 3]), reduce=reduce))
dense, mask = to_dense_batch(torch.arange(6.0)[:, None], torch.tensor([0, 0, 1, 1, 1, 2]))
show("dense", dense)
print(mask.tolist(), to_dense_adj(edge_index).sum().item(), add_self_loops(edge_index)[0].shape)
print(subgraph(torch.arange(5), edge_index)[0].tolist(), k_hop_subgraph(0, 1, edge_index)[0].tolist())
print(negative_sampling(edge_index, num_neg_samples=5).shape, AddSelfLoops()(data))
