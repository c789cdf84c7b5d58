"""A graph convolutional network: which of four communities does a node of a random graph belong to?"""

import argparse
import math
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


def load_data(nodes=240, classes=4, features=32, seed=0):
    """A stochastic block model whose nodes carry noisy words of their community."""
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, classes, nodes)
    same = labels[:, None] == labels[None, :]
    upper = np.triu(rng.rand(nodes, nodes) < np.where(same, 0.08, 0.01), 1)
    edges = np.stack(np.nonzero(upper | upper.T))
    words = (rng.rand(classes, features) < 0.25)[labels]
    observed = (words ^ (rng.rand(nodes, features) < 0.3)).astype(np.float32)
    observed /= observed.sum(1, keepdims=True)
    order = torch.randperm(nodes)
    return (
        torch.from_numpy(edges).long(),
        torch.FloatTensor(observed),
        torch.LongTensor(labels),
        order[:40],
        order[40:100],
        order[100:],
    )


def gcn_norm(edge_index, num_nodes):
    """Add self-loops and return the edges with the weights of D^-1/2 A D^-1/2."""
    loops = torch.arange(num_nodes).repeat(2, 1)
    edge_index = torch.cat([edge_index, loops], dim=1)
    row, col = edge_index
    deg = torch.zeros(num_nodes).scatter_add_(0, col, torch.ones(col.size(0)))
    deg_inv_sqrt = deg.pow(-0.5)
    deg_inv_sqrt[deg_inv_sqrt == float("inf")] = 0
    return edge_index, deg_inv_sqrt[row] * deg_inv_sqrt[col]


class GraphConvolution(Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        if bias:
            self.bias = Parameter(torch.FloatTensor(out_features))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        if self.bias is not None:
            self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, edge_index, edge_weight):
        support = torch.mm(input, self.weight)
        row, col = edge_index
        messages = support.index_select(0, row) * edge_weight.view(-1, 1)
        output = torch.zeros_like(support).index_add_(0, col, messages)
        if self.bias is not None:
            return output + self.bias
        return output

    def __repr__(self):
        return f"{self.__class__.__name__} ({self.in_features} -> {self.out_features})"


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super().__init__()
        self.gc1 = GraphConvolution(nfeat, nhid)
        self.gc2 = GraphConvolution(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, edge_index, edge_weight):
        x = F.relu(self.gc1(x, edge_index, edge_weight))
        x = F.dropout(x, self.dropout, training=self.training)
        x = self.gc2(x, edge_index, edge_weight)
        return F.log_softmax(x, dim=1)


def accuracy(output, labels):
    preds = output.max(1)[1].type_as(labels)
    correct = preds.eq(labels).double()
    return correct.sum() / len(labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fastmode", action="store_true", default=False, help="no validation while training")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--weight_decay", type=float, default=5e-4)
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("--dropout", type=float, default=0.5)
    args = parser.parse_args()
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed(args.seed)

    edge_index, features, labels, idx_train, idx_val, idx_test = load_data()
    edge_index, edge_weight = gcn_norm(edge_index, features.shape[0])
    model = GCN(features.shape[1], args.hidden, labels.max().item() + 1, args.dropout)
    print(model)
    optimizer = optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)

    for epoch in range(args.epochs):
        t = time.time()
        model.train()
        optimizer.zero_grad()
        output = model(features, edge_index, edge_weight)
        loss_train = F.nll_loss(output[idx_train], labels[idx_train])
        acc_train = accuracy(output[idx_train], labels[idx_train])
        loss_train.backward()
        optimizer.step()
        if not args.fastmode:
            model.eval()
            output = model(features, edge_index, edge_weight)
        loss_val = F.nll_loss(output[idx_val], labels[idx_val])
        acc_val = accuracy(output[idx_val], labels[idx_val])
        if epoch % 5 == 4:
            print(
                f"Epoch: {epoch + 1:04d} loss_train: {loss_train.item():.5f} acc_train: {acc_train.item():.4f} "
                f"loss_val: {loss_val.item():.5f} acc_val: {acc_val.item():.4f} time: {time.time() - t:.4f}s"
            )

    model.eval()
    output = model(features, edge_index, edge_weight)
    loss_test = F.nll_loss(output[idx_test], labels[idx_test])
    acc_test = accuracy(output[idx_test], labels[idx_test])
    print(f"Test set results: loss= {loss_test.item():.5f} accuracy= {acc_test.item():.4f}")


if __name__ == "__main__":
    main()
