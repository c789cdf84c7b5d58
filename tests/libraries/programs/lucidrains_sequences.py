"""performer-pytorch, electra-pytorch, reformer-pytorch, conformer: attention by features, hashes, convolutions."""

import torch
from conformer import Conformer
from electra_pytorch import Electra
from performer_pytorch import PerformerLM
from reformer_pytorch import ReformerLM
from torch import nn

torch.manual_seed(0)
words = torch.randint(1, 40, (2, 17))
sound = torch.randn(2, 12, 16)


def next_word(model):
    """Return the loss of each next word."""
    return nn.functional.cross_entropy(model(words[:, :-1]).transpose(1, 2), words[:, 1:])


causal = PerformerLM(
    num_tokens=40, max_seq_len=16, dim=16, depth=2, heads=2, dim_head=8, causal=True, nb_features=8,
    feature_redraw_interval=2, reversible=True, use_scalenorm=True,
)  # fmt: skip
hashed = ReformerLM(
    num_tokens=40, dim=16, depth=2, max_seq_len=16, heads=2, bucket_size=4, n_hashes=2, ff_chunks=2, causal=True,
    weight_tie=True, lsh_dropout=0.1,
)  # fmt: skip
small = {"num_tokens": 40, "emb_dim": 8, "dim": 16, "heads": 2, "depth": 1, "max_seq_len": 16, "bucket_size": 4}
writer, judge = ReformerLM(**small, ff_mult=2), ReformerLM(**small)
writer.token_emb = judge.token_emb
electra = Electra(
    writer, judge, discr_dim=16, discr_layer="reformer", mask_token_id=2, pad_token_id=0, mask_prob=0.3,
    mask_ignore_token_ids=[],
)  # fmt: skip
conformer = Conformer(
    dim=16, depth=2, dim_head=8, heads=2, ff_mult=2, conv_expansion_factor=2, conv_kernel_size=7, conv_dropout=0.1
)  # fmt: skip
losses = {
    "Performer": (causal, lambda: next_word(causal)),
    "Reformer": (hashed, lambda: next_word(hashed)),
    "Electra": (electra, lambda: electra(words[:, :16]).loss),
    "Conformer": (conformer, lambda: conformer(sound).pow(2).mean()),
}
for name, (model, of) in losses.items():
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for step in range(3):
        loss = of()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"{name} step {step} loss {loss.item():.4f}")
