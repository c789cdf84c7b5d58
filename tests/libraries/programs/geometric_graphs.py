"""torch_geometric: batches of graphs of other sizes each, a layer of one's own by MessagePassing, pooling."""

import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import (
    GINEConv,
    MessagePassing,
    SAGPooling,
    TopKPooling,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)  # fmt: skip
from torch_geometric.utils import to_undirected


class Edges(MessagePassing):
    def __init__(self, inputs, outputs):
        super().__init__(aggr="max")
        self.mlp = nn.Sequential(nn.Linear(2 * inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs))

    def forward(self, x, edge_index, weight=None):
        return self.propagate(edge_index, x=x, weight=weight)

    def message(self, x_i, x_j, weight):
        message = self.mlp(torch.cat([x_i, x_j - x_i], dim=1))
        return message if weight is None else weight[:, None] * message


class Graphs(nn.Module):
    def __init__(self):
        super().__init__()
        self.edges, self.pool = Edges(4, 16), TopKPooling(16, ratio=0.8)
        self.gine = GINEConv(nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16)), edge_dim=2)
        self.sag, self.head = SAGPooling(16), nn.Linear(48, 2)

    def forward(self, batch):
        x = self.edges(batch.x, batch.edge_index).relu()
        x, edges, attributes, of, _, _ = self.pool(x, batch.edge_index, batch.edge_attr, batch.batch)
        x = self.gine(x, edges, attributes).relu()
        x, edges, attributes, of, _, _ = self.sag(x, edges, attributes, of)
        pooled = [global_mean_pool(x, of), global_max_pool(x, of), global_add_pool(x, of)]
        return self.head(torch.cat(pooled, dim=1))


def main() -> None:
    torch.manual_seed(0)
    # Graphs of other sizes each, in batches.
    graphs = []
    for i in range(24):
        n = 4 + i % 5
        ring = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
        edges = to_undirected(ring) if i % 2 else to_undirected(torch.cat([ring, torch.tensor([[0], [2]])], dim=1))
        graphs.append(Data(x=torch.rand(n, 4), edge_index=edges, edge_attr=torch.rand(edges.size(1), 2), y=i % 2))
    print(Batch.from_data_list(graphs[:3]), Batch.from_data_list(graphs[:3]).get_example(1))
    model = Graphs()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(2):
        for batch in DataLoader(graphs, batch_size=8, shuffle=True):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(batch), batch.y)
            loss.backward()
            optimizer.step()
            print("graphs", epoch, tuple(batch.x.shape), f"{loss.item():.4f}")


if __name__ == "__main__":  # MessagePassing reads the file of a layer of one's own once more
    main()
