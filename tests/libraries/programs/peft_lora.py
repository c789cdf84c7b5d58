"""peft, transformers: LoRA on a small Llama: trained, merged, saved, loaded, two adapters, and IA3 beside it."""

import tempfile

import torch
from peft import (
    IA3Config,
    LoraConfig,
    PeftModel,
    get_peft_model,
    get_peft_model_state_dict,
    set_peft_model_state_dict,
)
from transformers import LlamaConfig, LlamaForCausalLM, logging, set_seed

logging.set_verbosity_error()
logging.disable_progress_bar()


def base() -> LlamaForCausalLM:
    set_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=50, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=32, bos_token_id=1, eos_token_id=2, pad_token_id=0,
        )
    )  # fmt: skip


def trained(model: torch.nn.Module, steps: int, lr: float) -> None:
    model.train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr)
    for step in range(steps):
        ids = torch.randint(3, 50, (4, 12))
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step} loss {loss.item():.4f}")
    model.eval()


config = LoraConfig(
    r=4, lora_alpha=8, lora_dropout=0.1, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM", use_rslora=True,
)  # fmt: skip
model = get_peft_model(base(), config)
model.print_trainable_parameters()
print(model.base_model.model.model.layers[0].self_attn.q_proj)
trained(model, 5, 1e-2)
state = get_peft_model_state_dict(model)
print(len(state), *sorted(state)[:2], sep="\n")
prompt = torch.tensor([[1, 7, 9, 4]])
with torch.no_grad():
    adapted = model(prompt).logits
    with model.disable_adapter():
        plain = model(prompt).logits
print(f"difference {(adapted - plain).abs().max().item():.4f}", adapted[0, -1, :4])
print(model.generate(input_ids=prompt, max_new_tokens=6, do_sample=False).tolist())
with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    again = PeftModel.from_pretrained(base(), folder).eval()
with torch.no_grad():
    print("loaded", torch.allclose(again(prompt).logits, adapted, atol=1e-5))
merged = again.merge_and_unload()
with torch.no_grad():
    print("merged", type(merged).__name__, torch.allclose(merged(prompt).logits, adapted, atol=1e-4))
model.add_adapter("other", LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights="gaussian"))
model.set_adapter("other")
trained(model, 2, 1e-2)
model.add_weighted_adapter(["default", "other"], [0.7, 0.3], "both", combination_type="svd", svd_rank=2)
model.set_adapter("both")
with torch.no_grad():
    print("both", model(prompt).logits[0, -1, :4])
dora = get_peft_model(base(), LoraConfig(r=4, target_modules="all-linear", use_dora=True, task_type="CAUSAL_LM"))
trained(dora, 3, 1e-2)
print(set_peft_model_state_dict(dora, get_peft_model_state_dict(dora)).unexpected_keys)
scaled = get_peft_model(
    base(), IA3Config(target_modules=["k_proj", "v_proj", "down_proj"], feedforward_modules=["down_proj"])
)
scaled.print_trainable_parameters()
trained(scaled, 3, 5e-2)
