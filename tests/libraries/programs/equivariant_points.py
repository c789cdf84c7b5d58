"""egnn-pytorch, equiformer-pytorch: networks of points in space whose answers turn as the points do, trained."""

import torch
from egnn_pytorch import EGNN, EGNN_Network
from equiformer_pytorch import Equiformer

torch.manual_seed(0)
layer = EGNN(dim=8, edge_dim=2, num_nearest_neighbors=3, norm_coors=True, soft_edges=True)
features, places = layer(torch.randn(1, 6, 8), torch.randn(1, 6, 3), torch.randn(1, 6, 6, 2))
print(features.shape, f"{features.sum().item():.4f} {places.sum().item():.4f}")
tokens, points = torch.randint(0, 9, (2, 6)), torch.randn(2, 6, 3)
near = (torch.arange(6)[:, None] - torch.arange(6)[None]).abs() <= 1
equiformer = Equiformer(
    num_tokens=9, dim=(4, 2), dim_head=(4, 2), heads=(2, 2), num_linear_attn_heads=0, num_degrees=2, depth=1,
    attend_self=True, reduce_dim_out=True, l2_dist_attention=False, num_neighbors=4,
)  # fmt: skip
nearest = EGNN_Network(num_tokens=9, num_positions=6, dim=8, depth=2, num_nearest_neighbors=3)
sparse = EGNN_Network(num_tokens=9, dim=8, depth=2, only_sparse_neighbors=True, num_adj_degrees=2, adj_dim=2)
models = {
    "nearest": (nearest, lambda: nearest(tokens, points, mask=torch.ones(2, 6).bool())[1]),
    "sparse": (sparse, lambda: sparse(tokens, points, adj_mat=near)[0]),
    "equiformer": (equiformer, lambda: equiformer(tokens, points, torch.ones(2, 6).bool()).type0),
}
for name, (model, answer) in models.items():
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for step in range(3):
        loss = answer().pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"{name} step {step} loss {loss.item():.4f}")
