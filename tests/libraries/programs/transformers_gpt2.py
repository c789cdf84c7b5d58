"""transformers: a small GPT-2 trained by hand, made to write text greedily and at random, saved and loaded."""

import tempfile

import torch
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    get_linear_schedule_with_warmup,
    logging,
    set_seed,
)

logging.set_verbosity_error()
logging.disable_progress_bar()
SMALL = {"vocab_size": 67, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}


def small_gpt2(attention: str) -> GPT2LMHeadModel:
    config = GPT2Config(n_positions=64, n_embd=32, n_layer=2, n_head=4, attn_implementation=attention, **SMALL)
    return GPT2LMHeadModel(config)


def batch() -> dict[str, torch.Tensor]:
    ids = torch.randint(3, 67, (4, 16))
    mask = torch.ones_like(ids)
    mask[1, :5] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


set_seed(0)
model = small_gpt2("sdpa")
print(type(model).__name__, sum(p.numel() for p in model.parameters()))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
schedule = get_linear_schedule_with_warmup(optimizer, 2, 8)
model.train()
for step in range(5):
    loss = model(**batch()).loss
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    print(f"step {step} loss {loss.item():.4f} norm {norm.item():.3f} lr {schedule.get_last_lr()[0]:.5f}")
model.eval()
prompt = torch.tensor([[1, 5, 9, 7], [1, 8, 3, 11]])
print("greedy", model.generate(prompt, max_new_tokens=8, do_sample=False).tolist())
torch.manual_seed(1)
print("sampled", model.generate(prompt, max_new_tokens=8, do_sample=True, top_k=20, top_p=0.9).tolist())
with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    again = AutoModelForCausalLM.from_pretrained(folder).eval()
with torch.no_grad():
    first, second = (m(prompt, output_hidden_states=True, output_attentions=False) for m in (model, again))
print("same after loading", torch.allclose(first.logits, second.logits), len(second.hidden_states))
print(second.logits[:, -1, :4])
