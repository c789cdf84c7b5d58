"""local-attention, rotary-embedding-torch: windows with rotary positions, a local transformer trained, axial angles."""

import torch
from local_attention import LocalAttention, LocalTransformer
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

torch.manual_seed(0)
rotary = RotaryEmbedding(dim=8)
queries, keys = torch.randn(1, 2, 12, 16), torch.randn(1, 2, 12, 16)
turned, turned_keys = rotary.rotate_queries_or_keys(queries), rotary.rotate_queries_or_keys(keys)
print("turned", f"{turned.sum().item():.4f}", f"{(turned @ turned_keys.mT)[0, 1, 3, 7].item():.4f}")
step, cached = rotary.rotate_queries_with_cached_keys(queries[:, :, -1:], keys)
print("cached", torch.allclose(step, turned[:, :, -1:], atol=1e-5), torch.allclose(cached, turned_keys, atol=1e-5))
scaled = RotaryEmbedding(dim=8, use_xpos=True)
first, second = scaled.rotate_queries_and_keys(queries, keys)
print("xpos", f"{(first @ second.mT)[0, 0, 5, 2].item():.4f}")
pixels = RotaryEmbedding(dim=4, freqs_for="pixel", max_freq=10)
angles = pixels.get_axial_freqs(3, 5)
print("axial", tuple(angles.shape), f"{apply_rotary_emb(angles, torch.ones(1, 3, 5, 16)).sum().item():.4f}")

attention = LocalAttention(dim=16, window_size=4, causal=True, look_backward=1, autopad=True, exact_windowsize=True)
values = torch.randn(1, 2, 12, 16, requires_grad=True)
mask = torch.ones(1, 12, dtype=torch.bool)
mask[:, 10:] = False
found = attention(queries, keys, values, mask=mask)
found.square().sum().backward()
print("local", tuple(found.shape), f"{found.norm().item():.4f} {values.grad.norm().item():.4f}")

model = LocalTransformer(
    num_tokens=32, dim=32, depth=2, max_seq_len=64, causal=True, local_attn_window_size=8, heads=2, dim_head=16
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
tokens = torch.randint(0, 32, (4, 33))
for step in range(5):
    loss = model(tokens, return_loss=True)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step} loss {loss.item():.4f}")
model.eval()
with torch.no_grad():
    print("scores", [round(value, 3) for value in model(tokens[:, :20])[0, -1, :4].tolist()])
