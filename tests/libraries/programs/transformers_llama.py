"""transformers: a small Llama with eager attention trained by hand, made to write text by beams, saved and loaded."""

import tempfile

import torch
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    get_linear_schedule_with_warmup,
    logging,
    set_seed,
)

logging.set_verbosity_error()
logging.disable_progress_bar()
SMALL = {"vocab_size": 67, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}


def small_llama(attention: str) -> LlamaForCausalLM:
    config = LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=64, attn_implementation=attention, **SMALL,
    )  # fmt: skip
    return LlamaForCausalLM(config)


def batch() -> dict[str, torch.Tensor]:
    ids = torch.randint(3, 67, (4, 16))
    mask = torch.ones_like(ids)
    mask[1, :5] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


set_seed(0)
model = small_llama("eager")
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
beams = model.generate(
    prompt, max_new_tokens=6, num_beams=3, num_return_sequences=2, output_scores=True, return_dict_in_generate=True
)
print("beams", beams.sequences.tolist(), [round(score, 4) for score in beams.sequences_scores.tolist()])
with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    again = AutoModelForCausalLM.from_pretrained(folder).eval()
with torch.no_grad():
    first, second = (m(prompt, output_hidden_states=True, output_attentions=False) for m in (model, again))
print("same after loading", torch.allclose(first.logits, second.logits, atol=1e-5), len(second.hidden_states))
print(second.logits[:, -1, :4])
