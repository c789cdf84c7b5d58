"""x-transformers: a decoder with rotary positions, GLU and RMSNorm trained on text and sampled; encoder-decoder."""

import torch
from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper, XTransformer

torch.manual_seed(0)
text = b"the quick brown fox jumps over the lazy dog. " * 8
data = torch.tensor([list(text[start : start + 33]) for start in range(0, 132, 11)])

layers = Decoder(dim=32, depth=2, heads=2, attn_dim_head=32, rotary_pos_emb=True, ff_glu=True, ff_swish=True,
                 use_rmsnorm=True, attn_qk_norm=True, attn_kv_heads=1)  # fmt: skip
model = AutoregressiveWrapper(TransformerWrapper(num_tokens=128, max_seq_len=64, attn_layers=layers))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(6):
    loss = model(data)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}: loss {loss.item():.4f} norm {norm.item():.3f}")
model.eval()
prompt = data[:1, :8]
greedy = model.generate(prompt, 6, temperature=0.0, cache_kv=True)
print("greedy", greedy.tolist())
print("the same without a cache", torch.equal(greedy, model.generate(prompt, 6, temperature=0.0, cache_kv=False)))

encoder = TransformerWrapper(
    num_tokens=64, max_seq_len=32, num_memory_tokens=2,
    attn_layers=Encoder(dim=32, depth=1, heads=2, attn_dim_head=16, alibi_pos_bias=True, alibi_num_heads=1),
)  # fmt: skip
tokens = torch.randint(1, 64, (3, 12))
mask = torch.arange(12)[None] < torch.tensor([[12], [7], [9]])
embeddings = encoder(tokens, mask=mask, return_embeddings=True)
print("encoder", tuple(embeddings.shape), f"{embeddings[mask].std().item():.4f}")

translator = XTransformer(
    dim=32, enc_num_tokens=32, enc_depth=1, enc_heads=2, enc_max_seq_len=16, dec_num_tokens=32, dec_depth=1,
    dec_heads=2, dec_max_seq_len=16, tie_token_emb=True, enc_attn_dim_head=16, dec_attn_dim_head=16,
)  # fmt: skip
source, target = torch.randint(2, 32, (4, 10)), torch.randint(2, 32, (4, 12))
optimizer = torch.optim.Adam(translator.parameters(), lr=2e-3)
for step in range(4):
    optimizer.zero_grad()
    loss = translator(source, target, mask=torch.ones(4, 10, dtype=torch.bool))
    loss.backward()
    optimizer.step()
    print(f"translator step {step}: loss {loss.item():.4f}")
