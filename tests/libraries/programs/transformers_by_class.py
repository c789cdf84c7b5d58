"""transformers: experts, recurrence, relative positions and n-grams ahead: trained, saved, loaded, made to write."""

import tempfile

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    logging,
    set_seed,
)

logging.set_verbosity_error()
SIZES = {
    "vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
AHEAD = {
    "num_encoder_layers": 1, "num_decoder_layers": 1, "num_encoder_attention_heads": 4,
    "num_decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "decoder_start_token_id": 1,
}  # fmt: skip
KINDS = {
    "mixtral": (AutoModelForCausalLM, {"num_key_value_heads": 2, "num_local_experts": 4}),
    "gemma2": (AutoModelForCausalLM, {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 4}),
    "mamba": (AutoModelForCausalLM, {"state_size": 4}),
    "deberta-v2": (AutoModelForMaskedLM, {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "prophetnet": (AutoModelForSeq2SeqLM, AHEAD),
}
set_seed(5)
words = torch.randint(3, 64, (3, 10))
mask = torch.ones_like(words)
mask[1, :4] = 0
for name, (kind, options) in KINDS.items():
    set_seed(0)
    sizes = {key: size for key, size in SIZES.items() if options is not AHEAD or key != "num_hidden_layers"}
    model = kind.from_config(AutoConfig.for_model(name, **sizes, **options))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for step in range(2):
        loss = model(input_ids=words, attention_mask=mask, labels=words).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"{name} step {step} loss {loss.item():.4f}")
    model.eval()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        loaded = kind.from_pretrained(folder)
    said = {"input_ids": words, "attention_mask": mask, **({"decoder_input_ids": words} if options is AHEAD else {})}
    with torch.no_grad():
        print(name, torch.allclose(model(**said).logits, loaded(**said).logits, atol=1e-6))
    if kind is not AutoModelForMaskedLM:
        print(name, model.generate(input_ids=words, attention_mask=mask, max_new_tokens=6, do_sample=False).tolist())
