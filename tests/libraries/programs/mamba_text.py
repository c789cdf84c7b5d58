"""mambapy: Mamba by its parallel scan and step by step, trained on text, and Jamba, which has experts and writes."""

from types import SimpleNamespace

import torch
import torch.nn.functional as F
from mambapy.jamba import JambaLM, JambaLMConfig, load_balancing_loss
from mambapy.mamba import Mamba, MambaConfig
from torch import nn

torch.manual_seed(0)
config = MambaConfig(d_model=16, n_layers=2, d_state=4)
model = Mamba(config)
x = torch.randn(2, 13, 16)
parallel = model(x)
config.pscan = False
for layer in model.layers:
    layer.mixer.config.pscan = False
print("scan", tuple(parallel.shape), f"{parallel.norm().item():.5f}", torch.allclose(parallel, model(x), atol=1e-4))
caches = [(None, torch.zeros(2, config.d_inner, config.d_conv - 1)) for _ in model.layers]
steps = []
for i in range(13):
    step, caches = model.step(x[:, i], caches)
    steps.append(step)
print("steps", torch.allclose(torch.stack(steps, 1), parallel, atol=1e-4))

text = "the scan goes up the tree and down the tree again. " * 12
letters = sorted(set(text))
codes = torch.tensor([letters.index(letter) for letter in text])


class Letters:
    """A tokenizer, as far as `generate` needs one."""

    def __call__(self, prompt, return_tensors):
        return SimpleNamespace(input_ids=torch.tensor([[letters.index(letter) for letter in prompt]]))

    eos_token_id = -1

    def decode(self, written, **_):
        return "".join(letters[code] for code in written)


def batch():
    starts = torch.randint(0, len(codes) - 17, (8,))
    rows = torch.stack([codes[start : start + 17] for start in starts])
    return rows[:, :-1], rows[:, 1:]


torch.manual_seed(1)
embed, model, head = (
    nn.Embedding(len(letters), 32),
    Mamba(MambaConfig(d_model=32, n_layers=2, d_state=8)),
    nn.Linear(32, len(letters)),
)
whole = nn.Sequential(embed, model, head)
print(sum(parameter.numel() for parameter in whole.parameters()))
optimizer = torch.optim.AdamW(whole.parameters(), lr=1e-2)
for step in range(12):
    read, wanted = batch()
    loss = F.cross_entropy(whole(read).flatten(0, 1), wanted.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(whole.parameters(), 1.0)
    optimizer.step()
    if step % 3 == 0:
        print(f"step {step} loss {loss.item():.4f}")

torch.manual_seed(2)
config = JambaLMConfig(
    d_model=16,
    n_layers=4,
    mlp_size=32,
    d_state=4,
    attn_layer_offset=1,
    attn_layer_period=2,
    expert_layer_offset=1,
    expert_layer_period=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    num_experts=4,
    num_experts_per_tok=2,
    vocab_size=len(letters),
)
model = JambaLM(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(6):
    read, wanted = batch()
    logits, routed = model(read)
    loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten())
    balance = load_balancing_loss(routed, config.num_experts, config.num_experts_per_tok)
    optimizer.zero_grad()
    (loss + 0.01 * balance).backward()
    optimizer.step()
    print(f"jamba {step} {loss.item():.5f} {balance.item():.5f}")
print(repr(model.generate(Letters(), "the sc", max_tokens=12, sample=False, top_k=3)))
